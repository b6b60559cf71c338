//! Bad input gets a message that says what to do, and exit code 2.

mod support;

use std::fs;
use std::path::Path;

use support::{End, PASS, outcome, path_with, script, stub, xtask};
use xtask::board::{self, Conduit, Gic};
use xtask::build::device_tree::{self, Choices};
use xtask::build::tf_a;
use xtask::setup::workspace::Workspace;

/// stderr of the program, which must refuse `arguments` by exit code 2.
fn refused(arguments: &[&str]) -> String {
    let (code, said) = outcome(&mut xtask(arguments));
    assert_eq!(code, 2, "{arguments:?}: {said}");
    assert!(!said.contains("panicked"), "{said}");
    said
}

fn holds(said: &str, what: &str) {
    assert!(said.contains(what), "{what:?} is not in:\n{said}");
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path in UTF-8")
}

#[test]
fn numbers_of_cpus() {
    holds(
        &refused(&["qemu", "--smp", "0"]),
        "--smp 0: with firmware tf-a there can be 1 to 32",
    );
    holds(&refused(&["qemu", "--smp", "33"]), "1 to 32");
    holds(
        &refused(&["qemu", "--smp", "9", "--gic", "2"]),
        "with a GICv2 there can be 1 to 8",
    );
    holds(
        &refused(&["qemu", "--smp", "513", "--firmware", "builtin"]),
        "1 to 512",
    );
    holds(&refused(&["qemu", "--smp", "two"]), "invalid value 'two'");
    holds(&refused(&["image", "--smp", "0"]), "--smp 0");
}

#[test]
fn unknown_words() {
    holds(&refused(&["qemu", "--gic", "4"]), "use 2 or 3");
    holds(&refused(&["qemu", "--el", "3"]), "3 is not in 1..=2");
    for timeout in ["0", "86401", "18446744073709551615"] {
        let said = refused(&["qemu", "--timeout", timeout]);
        holds(&said, &format!("{timeout} is not in 1..=86400"));
    }
    holds(
        &refused(&["qemu", "--variant", "pmf=none"]),
        "pmf=new|sip|off",
    );
    holds(
        &refused(&["qemu", "--firmware", "uefi"]),
        "[possible values: tf-a, tf-a-stock, builtin, kvm]",
    );
    holds(
        &refused(&["image", "--board", "moon"]),
        "there is no board \"moon\"",
    );
    holds(&refused(&["qemy"]), "unrecognized subcommand 'qemy'");
    holds(&refused(&[]), "Usage: cargo xtask");
    let said = refused(&["qemu", "--cpu", "z80"]);
    holds(&said, "--cpu z80: QEMU has no such model; it has");
    holds(&said, "cortex-a72");
}

#[test]
fn help_is_no_error() {
    for arguments in [
        &["--help"][..],
        &["qemu", "--help"],
        &["fip", "create", "--help"],
    ] {
        let output = xtask(arguments).output().expect("it can be started");
        assert_eq!(output.status.code(), Some(0));
        assert!(!output.stdout.is_empty());
    }
}

#[test]
fn not_a_tf_a() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let said = refused(&["qemu", "--tf-a", text(dir.path())]);
    holds(
        &said,
        "this is not a source tree of TF-A: there is no Makefile in it",
    );
    let nowhere = dir.path().join("nowhere");
    holds(
        &refused(&["qemu", "--tf-a", text(&nowhere)]),
        "No such file or directory",
    );
    for file in ["Makefile", "bl31/bl31.mk", "plat/qemu/qemu/platform.mk"] {
        let path = dir.path().join(file);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, "VERSION_MAJOR := 2\nVERSION_MINOR := 9\n").expect("written");
    }
    let said = refused(&["qemu", "--tf-a", text(dir.path())]);
    holds(&said, "TF-A 2.9; versions from 2.12 on can be used");
}

#[test]
fn a_tf_a_whose_own_platform_does_not_power_down() {
    let said = refused(&["qemu", "--firmware", "tf-a-stock"]);
    holds(
        &said,
        "--firmware tf-a-stock: the qemu platform of this TF-A 2.12.1 parks",
    );
    let said = refused(&["qemu", "--firmware", "tf-a-stock", "--variant", "pmf=off"]);
    holds(
        &said,
        "--variant is about TF-A as it is built for --firmware tf-a, and this is",
    );
}

#[test]
fn states_that_are_not_of_the_format() {
    for (words, said) in [
        (
            "qemu --core 0x40000002",
            "--core 0x40000002: it sets bits that the original format",
        ),
        (
            "image --core 0x10002 --deepest 0x40000022",
            "--deepest 0x40000022: it sets bits that the original format",
        ),
        (
            "image --board juno --state-format extended",
            "--state-format extended: the board file of Arm Juno",
        ),
        (
            "lab --core 0x1 -o nowhere",
            "--core 0x1: this is no power-down state in the original",
        ),
        ("image --core 2", "invalid value '2' for '--core <0x"),
        ("image --deepest 0x10002", "--core <0x"),
        ("qemu --core 0x10002 --image x", "cannot be used with"),
        (
            "image --bare --state-format original",
            "cannot be used with",
        ),
    ] {
        let words: Vec<&str> = words.split(' ').collect();
        holds(&refused(&words), said);
    }
}

#[test]
fn not_a_device_tree() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("a.dtb");
    for garbage in [
        &b""[..],
        b"\xd0\x0d\xfe\xed\0\0\x10\0 cut off",
        &[0xee; 4096],
    ] {
        fs::write(&path, garbage).expect("written");
        let said = refused(&["qemu", "--dtb", text(&path)]);
        holds(&said, "error: --dtb ");
    }
    holds(
        &refused(&["qemu", "--dtb", "/nonexistent"]),
        "--dtb /nonexistent: No such file",
    );
    holds(
        &refused(&["qemu", "--dtb", text(dir.path())]),
        "a directory",
    );
    holds(
        &refused(&["qemu", "--args", "x=\u{fc}"]),
        "only printable ASCII",
    );
}

/// What has no end is not read to its end.
#[test]
fn endless_files() {
    for arguments in [
        &["qemu", "--dtb"][..],
        &["qemu", "--image"],
        &["fip", "info"],
        &["fip", "create", "--out", "/nonexistent/fip", "--nt-fw"],
    ] {
        let said = refused(&[arguments, &["/dev/zero"]].concat());
        holds(&said, "/dev/zero: ");
    }
    holds(
        &refused(&["qemu", "--image", "/dev/zero"]),
        "--image /dev/zero: more than the 66846720 bytes",
    );
}

#[test]
fn a_tree_for_another_gic() {
    let workspace = Workspace::find().expect("the repository");
    let board = board::load(&workspace, "qemu").expect("a good board");
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("a.dtb");
    for (gic, its, others) in [(Gic::V2, "2", "3"), (Gic::V3, "3", "2")] {
        let choices = Choices {
            cpus: 2,
            gic,
            conduit: Conduit::Smc,
            idle_states: &[],
            bootargs: "",
        };
        let blob = device_tree::build(&board, &choices).expect("a tree");
        fs::write(&path, blob).expect("written");
        let said = refused(&["qemu", "--smp", "2", "--gic", others, "--dtb", text(&path)]);
        let what = format!(" describes a GICv{its}, and the machine has a GICv{others}: use");
        holds(&said, &what);
    }
}

/// What the payload would find only on the board.
#[test]
fn a_tree_of_no_use() {
    let workspace = Workspace::find().expect("the repository");
    let board = board::load(&workspace, "qemu").expect("a good board");
    let choices = Choices {
        cpus: 2,
        gic: Gic::V3,
        conduit: Conduit::Smc,
        idle_states: &[],
        bootargs: "",
    };
    let mut blob = device_tree::build(&board, &choices).expect("a tree");
    let from = [0x900_0000u64, 0x1000].map(u64::to_be_bytes).concat();
    let mut windows = blob.windows(from.len());
    let at = windows.position(|bytes| bytes == from).expect("the UART");
    blob[at..][..8].copy_from_slice(&0x800_0000u64.to_be_bytes());
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (tree, out) = (dir.path().join("a.dtb"), dir.path().join("out"));
    fs::write(&tree, blob).expect("written");
    let said = refused(&["image", "--dtb", text(&tree), "-o", text(&out)]);
    let what = format!("--dtb {}: the console at 0x8000000 overlaps", text(&tree));
    holds(&said, &what);
    assert!(!out.exists());
}

#[test]
fn boot_arguments() {
    for verb in ["qemu", "image"] {
        let said = refused(&[verb, "--args", "iterations=5 wakeup=chain"]);
        holds(&said, "error: --args: bootargs word 2 \"wakeup=chain\":");
        assert!(!said.contains("building"), "{said}");
    }
}

#[test]
fn options_that_would_be_ignored() {
    for option in [["--variant", "pmf=off"], ["--tf-a", "/"]] {
        for firmware in ["builtin", "kvm"] {
            let said = refused(&[&["qemu", "--firmware", firmware], &option[..]].concat());
            holds(&said, &format!("{} is about TF-A", option[0]));
        }
    }
}

/// All before anything is fetched.
#[test]
fn what_a_guest_of_kvm_is_not() {
    for (options, reason) in [
        (&["--icount"][..], "--icount: a guest of KVM"),
        (&["--el", "2"], "--el 2: a guest of KVM is entered at EL1"),
        (
            &["--smp", "9"],
            "with firmware kvm there can be 1 to 8 CPUs",
        ),
        (&["--board", "qemu-sbsa"], "kvm"),
    ] {
        let said = refused(&[&["qemu", "--firmware", "kvm"], options].concat());
        holds(&said, reason);
        assert!(!said.contains("fetching"), "{said}");
    }
}

/// A file is written only when there is something to write to it, and never
/// when it is what is read.
#[test]
fn files_are_kept() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("kept");
    let link = dir.path().join("link");
    fs::write(&path, "kept").expect("written");
    fs::hard_link(&path, &link).expect("linked");
    let (file, link) = (text(&path), text(&link));
    refused(&["qemu", "--smp", "0", "--log", file]);
    for arguments in [
        ["qemu", "--log", file, "--dtb", link],
        ["qemu", "--log", link, "--image", file],
        ["image", "--output", link, "--dtb", file],
    ] {
        holds(&refused(&arguments), "this is the file that --");
    }
    let said = refused(&["fip", "create", "--out", file, "--nt-fw", file]);
    holds(&said, "this is the file that --nt-fw reads");
    let said = refused(&["qemu", "--log", "/nonexistent/log"]);
    holds(&said, "--log /nonexistent/log: there is no directory");
    holds(&refused(&["qemu", "--log", "/"]), "this is a directory");
    assert_eq!(fs::read(&path).expect("it is there"), b"kept");
}

/// QEMU's own message about its own command line.
#[test]
fn what_qemu_refuses() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let image = dir.path().join("image");
    fs::write(&image, stub(PASS, End::Off)).expect("written");
    let builtin = ["qemu", "--firmware", "builtin", "--image", text(&image)];
    let cpu = ["--cpu", "cortex-a57,nonsense=1"];
    let said = refused(&[&builtin[..], &cpu].concat());
    holds(&said, "error: QEMU did not start: ");
    holds(&said, "nonsense");
}

#[test]
fn fip_files() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let path = dir.path().join("fip.bin");
    let image = dir.path().join("image");
    fs::write(&image, "data").expect("written");
    let create = ["fip", "create", "--out", text(&path)];
    holds(&refused(&create), "no image is given");
    holds(
        &refused(&[&create[..], &["--nt-fw", "/nonexistent"]].concat()),
        "/nonexistent: No such file",
    );
    holds(
        &refused(&[&create[..], &["--nt-fw", text(&image), "--align", "3"]].concat()),
        "power of two",
    );
    assert!(!path.exists());
    let good = [&create[..], &["--nt-fw", text(&image)]].concat();
    let (code, said) = outcome(&mut xtask(&good));
    assert_eq!(code, 0, "{said}");
    let output = xtask(&["fip", "info", text(&path)])
        .output()
        .expect("it can be started");
    assert_eq!(output.status.code(), Some(0));
    holds(&String::from_utf8_lossy(&output.stdout), "nt-fw");
    holds(
        &refused(&["fip", "info", text(&image)]),
        "offset 0x0: no FIP",
    );
    let mut file = fs::read(&path).expect("a FIP");
    file.truncate(file.len() - 1);
    fs::write(&path, file).expect("written");
    holds(
        &refused(&["fip", "info", text(&path)]),
        "entry 0 (nt-fw, Non-Trusted Firmware BL33)",
    );
}

#[test]
fn no_qemu() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let mut command = xtask(&["qemu"]);
    command
        .env("PATH", dir.path())
        .env("PSCI_BENCH_NO_INSTALL", "1");
    command.env("CARGO_TARGET_DIR", dir.path());
    let (code, said) = outcome(&mut command);
    assert_eq!(code, 2, "{said}");
    holds(
        &said,
        "apt-get install -y --no-install-recommends qemu-system-arm",
    );

    let mut command = xtask(&["qemu"]);
    command
        .env("PATH", dir.path())
        .env("CARGO_TARGET_DIR", dir.path());
    let (code, said) = outcome(&mut command);
    assert_eq!(code, 2, "{said}");
    holds(
        &said,
        "this machine has no apt-get: install qemu-system-arm yourself",
    );
}

#[test]
fn an_old_qemu() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    script(
        dir.path(),
        "qemu-system-aarch64",
        "echo QEMU emulator version 5.2.0",
    );
    let mut command = xtask(&["qemu"]);
    command
        .env("PATH", path_with(dir.path()))
        .env("CARGO_TARGET_DIR", dir.path());
    let (code, said) = outcome(&mut command);
    assert_eq!(code, 2, "{said}");
    holds(&said, "is QEMU 5.2, and 7.2 or later is needed");
    script(dir.path(), "qemu-system-aarch64", "echo something else");
    let (code, said) = outcome(&mut command);
    assert_eq!(code, 2, "{said}");
    holds(&said, "this is no QEMU version: \"something else\"");
}

/// A package that cannot be installed: the message names it, and what apt
/// said is not lost.
#[test]
fn apt_fails() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    script(dir.path(), "apt-get", "echo \"called: $*\" >&2; exit 100");
    script(dir.path(), "apt-cache", "exit 100");
    script(dir.path(), "sudo", "exec \"$@\"");
    let mut command = xtask(&["qemu"]);
    command
        .env("PATH", dir.path())
        .env("CARGO_TARGET_DIR", dir.path());
    let (code, said) = outcome(&mut command);
    assert_eq!(code, 2, "{said}");
    holds(&said, "called: update");
    holds(&said, "install qemu-system-arm yourself");
}

/// No network for the source of TF-A: the machine's own apt, with a proxy
/// that nobody listens at.
#[test]
fn no_network() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let image = dir.path().join("image");
    fs::write(&image, stub(PASS, End::Off)).expect("written");
    let conf = dir.path().join("apt.conf");
    let nobody = "\"http://127.0.0.1:9\";\n";
    let proxies = format!("Acquire::http::Proxy {nobody}Acquire::https::Proxy {nobody}");
    fs::write(&conf, proxies).expect("written");
    let mut command = xtask(&["qemu", "--image", text(&image)]);
    command
        .env("CARGO_TARGET_DIR", dir.path())
        .env("APT_CONFIG", &conf);
    let (code, said) = outcome(&mut command);
    assert_eq!(code, 2, "{said}");
    holds(
        &said,
        "cannot fetch Debian's source package arm-trusted-firmware 2.12.1+dfsg-1",
    );
    holds(&said, "the tag v2.12.1");
    holds(&said, "--tf-a");
    let place = dir.path().join("psci-bench").join("tf-a");
    for entry in fs::read_dir(place).expect("the state's folder") {
        let name = entry.expect("an entry").file_name();
        let name = name.to_string_lossy();
        assert_eq!(
            name,
            format!("{}.lock", tf_a::TF_A.version),
            "half of something is left"
        );
    }
}
