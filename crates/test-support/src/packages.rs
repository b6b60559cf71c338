//! FIPs and other input files for commands.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use boards::GicVersion;
use hardware::image::{
    MAGIC, MAGIC_OFFSET, PARAMETER_BLOCK, PARAMETER_BLOCK_SIZE, PARAMETER_MAGIC, PARAMETER_VERSION,
};

use super::scratch::Scratch;

/// Returns a fake released payload that can be packed but would not run.
pub fn payload() -> Vec<u8> {
    let mut flat = vec![0xa5; 0x1234];
    flat[..PARAMETER_BLOCK + PARAMETER_BLOCK_SIZE].fill(0);
    flat[MAGIC_OFFSET..][..4].copy_from_slice(&MAGIC);
    flat[PARAMETER_BLOCK..][..8].copy_from_slice(&PARAMETER_MAGIC);
    flat[PARAMETER_BLOCK + 8..][..4].copy_from_slice(&PARAMETER_VERSION.to_le_bytes());
    flat[PARAMETER_BLOCK + 12] = PARAMETER_BLOCK_SIZE as u8;
    runner::build::image::bare(flat).expect("an image")
}

/// Returns a directory that holds the FIP for a board, and a payload to insert into it.
pub fn boards_files(program: &'static str) -> Scratch {
    let scratch = Scratch::with_tf_a_tools(program);
    scratch.write("payload.bin", &payload());
    for part in ["bl2", "bl31", "scp", "conf", "old"] {
        scratch.write(part, part.repeat(300).as_bytes());
    }
    scratch.theirs(
        "fiptool create --tb-fw bl2 --soc-fw bl31 --scp-fw scp --fw-config conf --tb-fw-config \
         conf --hw-config conf --nt-fw old fip.bin",
    );
    scratch
}

/// Writes a tree for each GIC version, plus one in which the console overlaps the GIC.
fn write_trees(scratch: &Scratch) {
    let [v2, v3] = [GicVersion::V2, GicVersion::V3].map(|gic| super::tree_with(gic, ""));
    let mut console = v3.clone();
    let from = [0x900_0000u64, 0x1000].map(u64::to_be_bytes).concat();
    let mut windows = console.windows(from.len());
    let at = windows.position(|bytes| bytes == from).expect("the UART");
    console[at..][..8].copy_from_slice(&0x800_0000u64.to_be_bytes());
    for (name, tree) in [("v2.dtb", v2), ("v3.dtb", v3), ("console.dtb", console)] {
        scratch.write(name, &tree);
    }
}

/// Returns the directory from [`boards_files`] with faulty files added to it.
pub fn material(program: &'static str) -> Scratch {
    let scratch = boards_files(program);
    write_trees(&scratch);
    let fip = scratch.read("fip.bin");
    scratch.theirs("fiptool create --nt-fw old one.fip");
    let one = scratch.read("one.fip");
    for (name, data) in [
        ("empty", &b""[..]),
        ("a", b"a"),
        ("key.pem", b"-----BEGIN PRIVATE KEY-----"),
        ("stub", &super::stub(super::PASS, super::End::Off)),
        ("locked.fip", &fip),
        ("cut.fip", &one[..one.len() - 1]),
        ("cut.dtb", b"\xd0\x0d\xfe\xed\0\0\x10\0 cut off"),
        ("garbage.dtb", &[0xee; 4096]),
        ("payload.dtb", &payload()),
        ("out.bin.dtb", &payload()),
        ("out.bin.its", &payload()),
    ] {
        scratch.write(name, data);
    }
    fs::hard_link(scratch.path("a"), scratch.path("link")).expect("linked");
    for folder in [
        "folder",
        "dir.its",
        "old-tf-a/bl31",
        "old-tf-a/plat/qemu/qemu",
    ] {
        fs::create_dir_all(scratch.path(folder)).expect("made");
    }
    for file in ["Makefile", "bl31/bl31.mk", "plat/qemu/qemu/platform.mk"] {
        let version = b"VERSION_MAJOR := 2\nVERSION_MINOR := 7\n";
        scratch.write(&format!("old-tf-a/{file}"), version);
    }
    let locked = fs::Permissions::from_mode(0o444);
    fs::set_permissions(scratch.path("locked.fip"), locked).expect("set");
    scratch
}

/// The command that creates a chain of trust, with its options.
pub const CERT_CREATE: &str = "cert_create -n --tfw-nvctr 3 --ntfw-nvctr 7";

/// Creates a chain of trust with cert_create. BL33's counter is 7.
pub fn trusted(scratch: &Scratch, algorithm: &str, hash: &str, config: &str) {
    for name in ["bl2", "bl31", "bl33", "config"] {
        scratch.write(name, name.repeat(50).as_bytes());
    }
    for name in ["rot.pem", "nt.pem", "world.pem"] {
        let _ = fs::remove_file(scratch.path(name));
    }
    let keys = "--rot-key rot.pem --nt-fw-key nt.pem --non-trusted-world-key world.pem";
    let certificates = "--trusted-key-cert t.crt --tb-fw-cert b.crt --soc-fw-key-cert sk.crt \
        --soc-fw-cert s.crt --nt-fw-key-cert nk.crt --nt-fw-cert n.crt";
    let images = format!("--tb-fw bl2 --soc-fw bl31 --nt-fw bl33 {config}");
    scratch.theirs(&format!(
        "{CERT_CREATE} -k --key-alg {algorithm} --hash-alg {hash} {keys} {certificates} {images}"
    ));
    scratch.theirs(&format!("fiptool create {certificates} {images} base.bin"));
}
