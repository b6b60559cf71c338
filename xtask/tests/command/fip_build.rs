//! The files for a board, built from TF-A source.

use std::fs;
use std::process::Command;

use host::process;
use runner::build::tf_a::TF_A;
use runner::setup::workspace::Workspace;

use crate::support::PROGRAM;
use crate::support::packages::payload;
use crate::support::scratch::Scratch;

/// TF-A's own makefile and fiptool create the same FIP from the same images. The test runs
/// the commands that `--dry-run` prints.
#[test]
fn junos_fip_is_that_of_tf_as_own_build() {
    let scratch = Scratch::with_tf_a_tools(PROGRAM);
    scratch.write("payload.bin", &payload());
    scratch.write("scp.bin", &[0x5a; 80_000]);
    let build = "fip build --board juno --scp-fw scp.bin --payload payload.bin \
                 --make ARM_DISABLE_TRUSTED_WDOG=1";
    let stderr = scratch.ours(&format!("{build} -o sd"));
    assert!(
        stderr.contains("PMF timestamps: read by the payload"),
        "{stderr}"
    );
    assert!(
        stderr.ends_with("sd/README.md explains what to do with each\n"),
        "{stderr}"
    );

    let (code, lines, stderr) = scratch.called(&format!("{build} --dry-run -o by-hand"));
    assert_eq!(code, 0, "{stderr}");
    assert!(lines.contains(" ARM_DISABLE_TRUSTED_WDOG=1 "), "{lines}");
    let lines = lines.replace("cargo xtask", env!("CARGO_BIN_EXE_xtask"));
    let mut shell = Command::new("sh");
    shell
        .args(["-e", "-c", &lines])
        .current_dir(scratch.path(""));
    process::output(&mut shell).expect("the TF-A build");
    for file in ["fip.bin", "bl1.bin"] {
        let ours = scratch.read(&format!("sd/SOFTWARE/{file}"));
        assert!(
            ours == scratch.read(&format!("by-hand/SOFTWARE/{file}")),
            "{file}"
        );
    }

    let page = String::from_utf8(scratch.read("sd/README.md")).expect("text");
    let size = scratch.read("sd/SOFTWARE/fip.bin").len();
    assert!(
        page.contains(&format!("| `SOFTWARE/fip.bin` | {size} | Copy it")),
        "{page}"
    );
    let built = "It was built with `ARM_DISABLE_TRUSTED_WDOG=1`.";
    assert!(page.contains(built), "{page}");
    // A file that the user has added to the output directory is not deleted.
    scratch.write("sd/SOFTWARE/run.log", "");
    scratch.refuses(
        &format!("{build} -o sd"),
        "SOFTWARE/run.log, which this tool did not write",
    );
    fs::remove_file(scratch.path("sd/SOFTWARE/run.log")).expect("removed");
    scratch.ours(&format!("{build} -o sd"));
}

/// Options that specify unsuitable images, with part of each error message.
#[rustfmt::skip]
const BAD_IMAGES: &[(&str, &str)] = &[
    ("--board juno", "--scp-fw juno-bl2.bin (SCP firmware 2.12.0), from"),
    ("--board juno", "curl --fail --location --remote-name https://downloads.trustedfirmware.org/\
                      tf-a/css_scp_2.12.0/juno/release/juno-bl2.bin"),
    ("--board n1sdp --scp-fw fits", "--mcp-fw n1sdp-mcp-bl2.bin (MCP RAM"),
    ("--board juno --mcp-fw fits", "--mcp-fw: Arm Juno r0, r1, r2 does not need this image"),
    ("--board juno --scp-fw empty", "--scp-fw empty: the file is empty"),
    ("--board juno --scp-fw page", "--scp-fw page: the file is a web page"),
    ("--board juno --scp-fw large", "147457 bytes, but SCP firmware 2.12.0 is limited to 147456"),
    ("--board juno --scp-fw gone", "--scp-fw gone: No such file"),
    ("--board juno --scp-fw fits --mbedtls .", "--mbedtls: Arm Juno r0, r1, r2 does not need"),
    ("--board qemu --mbedtls .", "--mbedtls: QEMU virt does not need Mbed TLS"),
    ("--board rpi4 --smp 64 --dry-run", "--smp 64: Raspberry Pi 4 can have 1 to 4 CPUs"),
    ("--board rpi4 --dtb fits --dry-run", "--dtb fits: "),
    ("--board rpi4 --payload fits", "--payload fits: shorter than"),
    ("--board juno --make PLAT=fvp", "PLAT is set by this command"),
    ("--board juno --make debug", "expected NAME=VALUE, such as"),
    ("--board tc4", "platforms/tc4/board.toml does not specify how to build TF-A"),
    ("--board rpi4 --args iterations=x", "--args"),
];

#[test]
fn bad_images_are_refused() {
    let scratch = Scratch::new(PROGRAM);
    for (name, data) in [
        ("empty", &b""[..]),
        ("page", b"\n<!DOCTYPE html>"),
        ("large", &[0; 0x2_4001]),
        ("fits", &[0; 9]),
    ] {
        scratch.write(name, data);
    }
    scratch.write("folder/mine", "");
    for (rest, expected) in BAD_IMAGES {
        scratch.refuses(&format!("fip build {rest} -o out"), expected);
    }
    for (out, expected) in [
        (
            "folder",
            "--output folder: this directory is not empty; specify a new one",
        ),
        ("folder/mine", "exists but is not a directory"),
        ("gone/out", "no such directory"),
    ] {
        scratch.refuses(&format!("fip build --board rpi4 -o {out}"), expected);
    }
}

/// Creates source trees that are too old, incomplete, or changed since their commit.
fn bad_trees(scratch: &Scratch) {
    scratch.write("empty/Makefile", "");
    for (name, minor) in [("old", 8), ("dirty", 12)] {
        let makefile = format!("VERSION_MAJOR := 2\nVERSION_MINOR := {minor}\n");
        scratch.write(&format!("{name}/Makefile"), &makefile);
        for file in [
            "bl31/bl31.mk",
            "plat/qemu/qemu/platform.mk",
            "plat/rpi/rpi4/platform.mk",
        ] {
            scratch.write(&format!("{name}/{file}"), "");
        }
    }
    scratch.theirs("git -C dirty init -q");
    scratch.theirs("git -C dirty add .");
    scratch.theirs("git -C dirty -c user.name=x -c user.email=x commit -qm x");
    scratch.write("dirty/bl31/bl31.mk", "changed");
}

#[test]
fn bad_sources_are_refused() {
    let scratch = Scratch::new(PROGRAM);
    let workspace = Workspace::find().expect("the repository");
    let source = TF_A.fetch(&workspace).expect("the TF-A source");
    bad_trees(&scratch);
    for (board, tf_a, expected) in [
        ("rpi4", "gone", "--tf-a gone: No such file"),
        (
            "rpi4",
            "empty",
            "--tf-a empty: not a TF-A source tree: it has no bl31",
        ),
        (
            "rpi4",
            "old",
            "this is TF-A 2.8; use version 2.9 or later with --tf-a",
        ),
        (
            "rpi4",
            "dirty",
            "--tf-a dirty: uncommitted changes; commit them, or add",
        ),
        (
            "rk3588",
            "dirty",
            "has no rk3588 platform; use --tf-a with a version that has it",
        ),
        (
            "rd-n2",
            &source.display().to_string(),
            "use version 2.14 or later with --tf-a",
        ),
    ] {
        let line = format!("fip build --board {board} --tf-a {tf_a} -o out");
        scratch.refuses(&line, expected);
    }
    // TF-A before 2.11 has no service to which a PMF handler could be added.
    let dry = "fip build --board rpi4 --tf-a dirty --allow-dirty --dry-run -o out";
    let (code, lines, stderr) = scratch.called(dry);
    assert_eq!(code, 0, "{stderr}");
    let why = "no PMF timestamps: TF-A 2.12 has no services/el3/ven_el3_svc.c";
    assert!(
        stderr.contains(why) && stderr.contains("from the caller"),
        "{stderr}"
    );
    assert!(!lines.contains("ENABLE_RUNTIME_INSTRUMENTATION"), "{lines}");
}
