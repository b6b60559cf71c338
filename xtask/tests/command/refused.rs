//! Bad input gets a message that says what to do, and exit code 2; nothing is written.

use std::fs::{self, File};
use std::process::Command;

use crate::support::packages::{boards_files, material, trusted};
use crate::support::{End, PASS, called, outcome, path_with, script, stub, xtask};
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

/// Commands of a shell in which a file has at most a KiB, and $X is `cargo xtask`.
const FILES: &str = "\
# A disk that is full, before and after other files.
$X fip create --out new --nt-fw large => error: --out new: File too large
$X fip unpack fip.bin --out new => error: --out new/soc-fw.bin: File too large
$X fip unpack fip.bin --out folder --force => error: --out folder/soc-fw.bin: File too large
$X image --board qemu --base payload.bin -o new => error: --output new: File too large
$X image --board rk3399 --base payload.bin -o new => error: --output new: File too large
$X fip create --out /dev/full --nt-fw old => error: --out /dev/full: No space left
$X fip info fip.bin > /dev/full => error: stdout: No space left
TMPDIR=gone $X qemu --firmware builtin --image old => error: TMPDIR gone: No such file
TMPDIR=gone $X fip build --board qemu --payload payload.bin --base base.bin --nt-fw-key nt.pem \
-o new => error: --base base.bin: TMPDIR gone: No such file
# Files that would keep a reader waiting.
$X fip info fifo => error: the FIP fifo: this is a named pipe
$X fip create --out new --nt-fw fifo => error: --nt-fw fifo: this is a named pipe
$X image --dtb fifo -o new => error: --dtb fifo: this is a named pipe
$X report fifo => error: fifo: this is a named pipe
$X report old --baseline fifo => error: fifo: this is a named pipe
$X report /dev/zero => error: /dev/zero: this is a device
$X fip info sparse => error: the FIP sparse: more than the 536870912 bytes
# Pipes that are open, and the file that stdin is.
cat old | $X report /dev/stdin => error: /dev/stdin: no run in its 1 line
cat old | $X report - => error: stdin: no run in its 1 line
cat fip.bin | $X fip info /dev/stdin > /dev/full => error: stdout: No space left
$X report - -o old < old => error: -o old: this is the file of LOG
$X report --serial - --log old < old => error: --log old: this is the file of --serial
# Board files; the other boards are listed.
$X boards large => platforms/large/board.toml: more than the 65536 bytes
$X boards | grep -q QEMU~virt && $X boards => large/board.toml: more than
$X boards => error: platforms/broken/board.toml:2: ";

#[test]
fn files_are_refused_at_once_by_option_and_path() {
    let scratch = boards_files();
    let qemu = include_str!("../../../platforms/qemu/board.toml");
    trusted(&scratch, "ecdsa", "sha256", "");
    scratch.write("large", &[1; 2000]);
    scratch.write("folder/tb-fw.bin", "mine");
    scratch.write("platforms/qemu/board.toml", qemu);
    scratch.write("platforms/broken/board.toml", "# A key alone.\nkey");
    scratch.write("xtask/empty", "");
    for (name, size) in [("sparse", 4 << 30), ("platforms/large/board.toml", 1 << 30)] {
        scratch.write(name, "");
        let file = File::options().write(true).open(scratch.path(name));
        file.expect("there").set_len(size).expect("a sparse file");
    }
    scratch.theirs("mkfifo fifo");
    for row in FILES.lines().filter(|row| !row.starts_with('#')) {
        let (line, expected) = row.split_once(" => ").expect(row);
        // Who ignores SIGXFSZ gets an error. Little memory: nothing large is read.
        let limits = "trap '' XFSZ; ulimit -f 2; ulimit -v 400000;";
        let line = format!("{limits} {}", line.replace('~', " "));
        let mut shell = Command::new("sh");
        shell.args(["-c", &line]).current_dir(scratch.path(""));
        shell.env("X", xtask(&[]).get_program());
        if row.starts_with("$X boards") {
            shell.env("CARGO_MANIFEST_DIR", scratch.path("xtask"));
        }
        let (code, said) = outcome(&mut shell);
        assert!(
            code == 2 && said.contains(expected),
            "{row}: {code}: {said}"
        );
        assert!(!scratch.path("new").exists(), "{row}");
    }
    assert_eq!(fs::read_dir(scratch.path("folder")).expect("it").count(), 1);
    assert_eq!(scratch.read("folder/tb-fw.bin"), b"mine");
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
        (&[][..], true, "Or install qemu-system-arm yourself"),
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
