//! What the tests of the host programs share.
//!
//! | file | task |
//! |---|---|
//! | [`scratch`] | a folder in which a program is run |
//! | [`acpi_dump`] | ACPI tables as text |
//! | [`code`] | the instructions in the linked image |
//! | [`packages`] | Firmware Image Packages and what they are made of |
//! | [`tree_text`] | device trees as text |
//! | [`mutations`] | mutations of a parser's inputs |
//! | [`rst_page`] | pages of TF-A's documentation |
//! | [`browser`] | a browser that checks HTML pages |
//! | [`sphinx`] | Sphinx, which builds TF-A's documentation |
//! | [`examples`] | the commands in help texts and on pages |
//!
//! Its functions panic if something fails, because that is how a test fails.

#![forbid(unsafe_code)]

pub mod acpi_dump;
pub mod browser;
pub mod code;
pub mod examples;
pub mod mutations;
pub mod packages;
pub mod rst_page;
pub mod scratch;
pub mod sphinx;
pub mod tree_text;

use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};

use boards::GicVersion;
use boards::device_tree::{self, Choices};
use cli::program::XTASK;
use runner::qemu::prepare;
use runner::qemu::run_result::RunResult;
use runner::qemu::run_spec::{Payload, RunSpec};

/// A closing line with the verdict PASS.
pub const PASS: &str =
    "psci-bench: PASS (6 passed, 0 skipped, 0 failed; 0 rows skipped, 0 CPUs lost)";
/// A closing line with the verdict FAIL.
pub const FAIL: &str =
    "psci-bench: FAIL (5 passed, 0 skipped, 1 failed; 0 rows skipped, 0 CPUs lost)";

/// How a stub ends after printing its output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// Calls SYSTEM_OFF via SMC.
    Off,
    /// Hangs forever.
    Hang,
    /// Repeats the output forever.
    Repeat,
}

/// Returns an image that prints `text` on QEMU's PL011 and then ends as specified by `end`.
pub fn stub(text: &str, end: End) -> Vec<u8> {
    let call = match end {
        End::Off => 0xd400_0003u32, // smc #0
        End::Hang => 0xd503_207f,   // wfi
        End::Repeat => 0x17ff_fff8, // b    the first instruction
    };
    let code = [
        0x1000_0161, //    adr  x1, text
        0xd2a1_2002, //    mov  x2, #0x09000000
        0x3840_1423, // 1: ldrb w3, [x1], #1
        0x3400_0063, //    cbz  w3, 2f
        0x3900_0043, //    strb w3, [x2]
        0x17ff_fffd, //    b    1b
        0x52b0_8000, // 2: mov  w0, #0x84000000
        0x7280_0100, //    movk w0, #8
        call,        //    PSCI SYSTEM_OFF, or as `end` specifies
        0xd503_207f, // 3: wfi
        0x17ff_ffff, //    b    3b
    ];
    let mut image = vec![0; 0x80];
    image[..4].copy_from_slice(&0x1400_0020u32.to_le_bytes()); // b 0x80
    image[0x10..0x18].copy_from_slice(&0x10_0000u64.to_le_bytes()); // image_size
    image[0x18] = 0xa; // flags: little-endian, 4 KiB, anywhere
    image[0x38..0x3c].copy_from_slice(b"ARM\x64");
    image.extend(code.iter().flat_map(|word: &u32| word.to_le_bytes()));
    image.extend(text.bytes());
    image.push(0);
    image
}

/// Runs `spec`.
pub fn run(spec: &RunSpec) -> RunResult {
    prepare::prepare_and_run(spec).expect("the run can be started")
}

/// Returns a device tree built from the QEMU board file for two CPUs and this GIC, without idle
/// states.
pub fn tree_with(gic: GicVersion, bootargs: &str) -> Vec<u8> {
    let board = boards::load("qemu").expect("a board");
    let choices = Choices {
        cpus: 2,
        gic,
        conduit: board.psci.conduit,
        cpu_off: true,
        idle_states: &[],
    };
    device_tree::build(&board, &choices, bootargs).expect("a tree")
}

/// Returns the spec for running a stub.
pub fn stub_spec(text: &str, end: End) -> RunSpec {
    RunSpec {
        payload: Payload::Image(stub(text, end)),
        smp: Some(2),
        ..RunSpec::default()
    }
}

/// Returns a command that runs `program` with `arguments`. A program of another package is run as
/// `cargo xtask` runs it.
pub fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    if !program.ends_with("/xtask") {
        command.arg0(XTASK);
    }
    command.args(arguments).stdin(Stdio::null());
    command.env_remove("PSCI_BENCH_NO_INSTALL");
    command
}

/// The start of the line that says that a verb's program is being built.
const BUILDING: &str = "xtask: building psci-";

/// Runs `command`, which must not panic, and returns its exit code, stdout and stderr. The line that
/// says that a verb's program is being built is left out, because it depends on the time that takes.
pub fn called(command: &mut Command) -> (i32, String, String) {
    let output = command.output().expect("the program starts");
    let code = output.status.code().expect("not killed");
    let [out, stderr] =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    assert!(!stderr.contains("panicked"), "{stderr}");
    let lines = stderr.split_inclusive('\n');
    let stderr = lines.filter(|line| !line.starts_with(BUILDING)).collect();
    (code, out, stderr)
}

/// The output of a finished command.
#[derive(Debug)]
pub struct CommandOutput {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub out: String,
    /// Standard error.
    pub err: String,
}

impl CommandOutput {
    /// Runs a command, which must not panic, until it ends.
    pub fn of(command: &mut Command) -> Self {
        let (code, out, err) = called(command);
        Self { code, out, err }
    }

    /// Checks that the exit code is `code` and that stderr contains `words`.
    #[track_caller]
    pub fn ends(self, code: i32, words: &str) -> Self {
        assert_eq!(self.code, code, "{}{}", self.out, self.err);
        assert!(self.err.contains(words), "{words}: {}", self.err);
        self
    }
}

/// Runs `command` and returns its exit code and stderr.
pub fn outcome(command: &mut Command) -> (i32, String) {
    let (code, _, stderr) = called(command);
    (code, stderr)
}

/// Writes the shell script `name` to `dir`.
pub fn script(dir: &Path, name: &str, body: &str) {
    let path = dir.join(name);
    std::fs::write(&path, format!("#!/bin/sh\n{body}\n")).expect("written");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(path, executable).expect("made executable");
}

/// Returns a PATH that starts with `dir`.
pub fn path_with(dir: &Path) -> String {
    let path = std::env::var("PATH").expect("PATH");
    format!("{}:{path}", dir.display())
}

/// Returns our end of a pseudo terminal and the path of the device file for the other end.
pub fn pseudo_terminal() -> (File, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo terminal");
    grantpt(&ours).expect("granted");
    unlockpt(&ours).expect("unlocked");
    let name = ptsname(&ours, Vec::new()).expect("a name");
    (File::from(ours), name.into_string().expect("UTF-8"))
}

/// Sends SIGINT to a process, or to a process group if the number is negative.
pub fn interrupt(process: &str) {
    send("INT", process);
}

/// Sends the signal with this name.
pub fn send(signal: &str, process: &str) {
    let mut kill = Command::new("sh");
    let words = ["-c", "kill -s \"$0\" -- \"$1\"", signal, process];
    let status = kill.args(words).status();
    assert!(status.expect("the program starts").success());
}
