//! Sets the linker script for the bare-metal binary.
//!
//! Link arguments are set here rather than in RUSTFLAGS, because RUSTFLAGS from the environment
//! override those from a configuration file.

fn main() {
    println!("cargo::rerun-if-changed=linker/payload.ld");
    let bare_metal = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "none");
    let Ok(root) = std::env::var("CARGO_MANIFEST_DIR") else {
        return;
    };
    if bare_metal {
        println!("cargo::rustc-link-arg-bins=-T{root}/linker/payload.ld");
        // A position-independent executable with 4 KiB pages and no dynamic
        // linker. The entry code applies its relocations, including those in
        // read-only data (notext), while the MMU is off. Cortex-A53 erratum
        // 843419: an ADRP at the end of a page may cause a later load or store
        // to use the wrong address.
        let arguments = "-pie --no-dynamic-linker -zmax-page-size=4096 -znorelro -znotext \
            --pack-dyn-relocs=relr --orphan-handling=error --fix-cortex-a53-843419 --icf=all";
        for argument in arguments.split_whitespace() {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
    }
}
