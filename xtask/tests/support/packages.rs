//! What FIPs are made of.

use psci_bench::image::{
    MAGIC, MAGIC_OFFSET, PARAMETER_BLOCK, PARAMETER_BLOCK_SIZE, PARAMETER_MAGIC, PARAMETER_VERSION,
};

use super::scratch::Scratch;

/// A released payload as far as packing goes: it would not run.
pub fn payload() -> Vec<u8> {
    let mut flat = vec![0xa5; 0x1234];
    flat[..PARAMETER_BLOCK + PARAMETER_BLOCK_SIZE].fill(0);
    flat[MAGIC_OFFSET..][..4].copy_from_slice(&MAGIC);
    flat[PARAMETER_BLOCK..][..8].copy_from_slice(&PARAMETER_MAGIC);
    flat[PARAMETER_BLOCK + 8..][..4].copy_from_slice(&PARAMETER_VERSION.to_le_bytes());
    flat[PARAMETER_BLOCK + 12] = PARAMETER_BLOCK_SIZE as u8;
    xtask::build::image::bare(flat).expect("an image")
}

/// A chain of trust by cert_create, with BL33's counter at 7.
pub fn trusted(scratch: &Scratch, algorithm: &str, hash: &str, config: &str) {
    for name in ["bl2", "bl31", "bl33", "config"] {
        scratch.write(name, name.repeat(50).as_bytes());
    }
    let keys = "--rot-key rot.pem --nt-fw-key nt.pem --non-trusted-world-key world.pem";
    let certificates = "--trusted-key-cert t.crt --tb-fw-cert b.crt --soc-fw-key-cert sk.crt \
        --soc-fw-cert s.crt --nt-fw-key-cert nk.crt --nt-fw-cert n.crt";
    let images = format!("--tb-fw bl2 --soc-fw bl31 --nt-fw bl33 {config}");
    scratch.theirs(&format!(
        "cert_create -n -k --key-alg {algorithm} --hash-alg {hash} --tfw-nvctr 3 --ntfw-nvctr 7 \
         {keys} {certificates} {images}"
    ));
    scratch.theirs(&format!("fiptool create {certificates} {images} base.bin"));
}
