//! Gives the bare-metal binary its linker script.
//!
//! Link arguments stand here and not in RUSTFLAGS, because RUSTFLAGS from the
//! environment replace those of a configuration file.

fn main() {
    println!("cargo::rerun-if-changed=linker/payload.ld");
    let bare_metal = std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "none");
    let Ok(root) = std::env::var("CARGO_MANIFEST_DIR") else {
        return;
    };
    if bare_metal {
        println!("cargo::rustc-link-arg-bins=-T{root}/linker/payload.ld");
        // A position-independent executable whose relocations the entry code
        // applies itself, those in constants too (notext), while the MMU is
        // off; no dynamic linker, and pages of 4 KiB. Cortex-A53: an ADRP at the
        // end of a page may give a wrong address to a load or store that follows.
        let arguments = "-pie --no-dynamic-linker -zmax-page-size=4096 -znorelro -znotext \
            --pack-dyn-relocs=relr --orphan-handling=error --fix-cortex-a53-843419";
        for argument in arguments.split_whitespace() {
            println!("cargo::rustc-link-arg-bins={argument}");
        }
    }
}
