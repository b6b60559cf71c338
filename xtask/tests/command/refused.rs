//! Bad input gets a message that says what to do, and exit code 2; nothing is written.

use std::process::Stdio;
use std::time::Duration;
use std::{fs, thread};

use crate::support::packages::{boards_files, material};
use crate::support::{End, PASS, called, interrupt, outcome, path_with, script, stub, xtask};
use xtask::build::tf_a::TF_A;

#[test]
fn commands_are_refused_by_name() {
    let scratch = material();
    let mut rows: Vec<String> = Vec::new();
    for line in include_str!("../data/refused.txt").lines() {
        match rows.last_mut() {
            _ if line.is_empty() || line.starts_with('#') => {}
            Some(row) if line.starts_with(' ') => row.push_str(line),
            _ => rows.push(line.into()),
        }
    }
    assert!(rows.len() > 150, "{}", rows.len());
    let mut wrong = String::new();
    for row in rows {
        let (line, parts) = row.split_once("=> ").expect("a command and its message");
        let said = scratch.refused(&line.replace("\\uffff", "\u{ffff}"));
        for part in parts.split(" | ").map(str::trim) {
            let is_there = match part.strip_prefix('!') {
                Some(part) => !said.contains(part),
                None => said.contains(part),
            };
            if !is_there {
                wrong += &format!("{line}: {part:?} in\n{said}\n");
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

#[test]
fn help_is_no_error() {
    let (code, out, _) = called(&mut xtask(&["--help"]));
    assert!(code == 0 && !out.is_empty());
}

/// One cell that is wrong keeps the good ones from being written.
#[test]
fn all_cells_are_written_or_none() {
    let scratch = boards_files();
    let juno = "lab --board juno --payload payload.bin -o set";
    scratch.ours(&format!("{juno} --base board.zip"));
    scratch.refuses(
        &format!("{juno} --base new=board.zip --base board.zip"),
        "lava-juno-board exists already",
    );
    let cells = fs::read_dir(scratch.path("set")).expect("there");
    assert_eq!(cells.count(), 1);
    // LAVA would look for a file called `re`.
    let url = "--url https://files.example.com/lab";
    scratch.ours(&format!("{juno} --base board.zip -o re#al {url}").replace("-o set ", ""));
}

/// Other files in a cell's folder stay, and so does what is read.
#[test]
fn what_is_not_from_here_is_not_replaced() {
    let scratch = boards_files();
    let line = "lab --board juno --payload payload.bin --force -o set --base";
    scratch.ours(&format!("{line} v=board.zip"));
    let inside = "set/lava-juno-v/board.zip";
    scratch.write(inside, &scratch.read("board.zip"));
    scratch.refuses(
        &format!("{line} v=board.zip"),
        "board.zip was not written by this tool",
    );
    fs::remove_file(scratch.path(inside)).expect("removed");
    scratch.refuses(
        &format!("{line} v=set/lava-juno-v/recovery.zip"),
        "copy it elsewhere",
    );
    // A file that is read for another cell is in no cell's way.
    scratch.ours(&format!("{line} w=set/lava-juno-v/recovery.zip"));
    scratch.ours(&format!("{line} v=board.zip"));
    let cells = fs::read_dir(scratch.path("set")).expect("there");
    assert_eq!(cells.count(), 2);
}

/// stderr of `cargo xtask qemu`, which is refused, where these scripts come first or are
/// all programs that there are.
fn refused_with(scripts: &[(&str, &str)], is_all: bool, no_install: bool) -> String {
    let dir = tempfile::tempdir().expect("a temporary directory");
    for (name, body) in scripts {
        script(dir.path(), name, body);
    }
    let mut command = xtask(&["qemu"]);
    command.env("CARGO_TARGET_DIR", dir.path());
    match is_all {
        true => command.env("PATH", dir.path()),
        false => command.env("PATH", path_with(dir.path())),
    };
    if no_install {
        command.env("PSCI_BENCH_NO_INSTALL", "1");
    }
    let (code, said) = outcome(&mut command);
    assert_eq!(code, 2, "{said}");
    said
}

/// A failed install shows the end of its output, and keeps all of it.
#[test]
fn output_of_an_install_is_kept_in_a_file() {
    let of_apt = |code: u8| {
        let body = format!("for i in $(/usr/bin/seq 300); do echo $1 $i; done; exit {code}");
        refused_with(&[("apt-get", &body), ("sudo", "exec \"$@\"")], true, false)
    };
    let not_found = "xtask: installing qemu-system-arm\n\
                     xtask: error: qemu-system-arm was installed, and is still not found\n";
    assert_eq!(of_apt(0), not_found);
    let said = of_apt(7);
    assert!(
        said.contains("\nupdate 300\nall of its output is in "),
        "{said}"
    );
    assert!(said.ends_with("psci-bench/install.log\n"), "{said}");
    assert!(said.lines().count() < 50 && !said.contains('\r'), "{said}");
}

#[test]
fn an_interrupted_install_ends_in_one_line() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let body = "echo > $CARGO_TARGET_DIR/begun; exec /bin/sleep 60";
    script(dir.path(), "apt-get", body);
    script(dir.path(), "sudo", "exec \"$@\"");
    let mut command = xtask(&["qemu"]);
    command
        .env("CARGO_TARGET_DIR", dir.path())
        .env("PATH", dir.path());
    let child = command
        .stderr(Stdio::piped())
        .spawn()
        .expect("it can be started");
    while !dir.path().join("begun").exists() {
        thread::sleep(Duration::from_millis(10));
    }
    interrupt(&child.id().to_string());
    let end = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&end.stderr);
    assert_eq!(
        said,
        "xtask: installing qemu-system-arm\nxtask: interrupted\n"
    );
    assert_eq!(end.status.code(), Some(3));
}

/// Neither is anything fetched.
#[test]
fn a_path_with_a_space_is_refused_first() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let place = dir.path().join("a b");
    for verb in ["qemu", "setup", "test"] {
        let (code, said) = outcome(xtask(&[verb]).env("CARGO_TARGET_DIR", &place));
        assert_eq!((code, said.lines().count()), (2, 1), "{said}");
        assert!(
            said.contains("a b: TF-A's makefiles") && said.contains("move"),
            "{said}"
        );
        assert!(!place.join("psci-bench/tf-a").exists());
    }
}

#[test]
fn a_qemu_that_lacks_is_named_with_what_to_do() {
    let apt_fails = [
        ("apt-get", "echo \"called: $*\" >&2; exit 100"),
        ("sudo", "exec \"$@\""),
    ];
    let old = [("qemu-system-aarch64", "echo QEMU emulator version 5.2.0")];
    let none = [("qemu-system-aarch64", "echo something else")];
    let said = refused_with(&[], true, true);
    let install = "apt-get install -y --no-install-recommends qemu-system-arm";
    assert!(said.contains(install), "{said}");
    for (scripts, is_all, parts) in [
        (&[][..], true, "cannot install qemu-system-arm: is there"),
        (&apt_fails, true, "called: update"),
        (&old, false, "is QEMU 5.2, and 7.2 or later is needed"),
        (&none, false, "not a QEMU version: \"something else\""),
    ] {
        let said = refused_with(scripts, is_all, false);
        assert!(said.contains(parts), "{said}");
    }
}

/// The machine's own apt cannot fetch TF-A's source through a proxy that does not listen.
#[test]
fn no_network() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let (image, conf) = (dir.path().join("image"), dir.path().join("apt.conf"));
    fs::write(&image, stub(PASS, End::Off)).expect("written");
    let proxy = "\"http://127.0.0.1:9\";\n";
    let proxies = format!("Acquire::http::Proxy {proxy}Acquire::https::Proxy {proxy}");
    fs::write(&conf, proxies).expect("written");
    let mut command = xtask(&["qemu", "--image"]);
    command
        .arg(&image)
        .env("CARGO_TARGET_DIR", dir.path())
        .env("APT_CONFIG", &conf);
    let (code, said) = outcome(&mut command);
    assert_eq!(code, 2, "{said}");
    let source = "cannot fetch Debian's source package arm-trusted-firmware 2.12.1+dfsg-1";
    for part in [source, "the tag v2.12.1", "--tf-a"] {
        assert!(said.contains(part), "{said}");
    }
    let place = dir.path().join("psci-bench").join("tf-a");
    for entry in fs::read_dir(place).expect("the state's folder") {
        let name = entry.expect("an entry").file_name();
        let lock = format!("{}.lock", TF_A.version);
        assert_eq!(name.to_string_lossy(), lock, "half of something is left");
    }
}
