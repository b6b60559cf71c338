//! Tests how a machine's log and exit status determine the verdict and the exit code. Uses real
//! TF-A with stubs instead of the payload.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use follow::stream::MachineEnding;
use suite::model::Verdict;

use crate::support::{End, FAIL, PASS, run, stub, stub_spec, xtask};

#[test]
fn the_closing_line_decides() {
    let off = MachineEnding::Exited { success: true };
    let bad_input = "psci-bench: INCOMPLETE: bad input: no device tree";
    let exception = "psci-bench: INCOMPLETE: exception on CPU 0.3";
    let last = format!("{PASS}\r\nboom\r\n{exception}");
    for (line, end, verdict, code, ending) in [
        (PASS, End::Off, Verdict::Pass, 0, off),
        (FAIL, End::Off, Verdict::Fail, 1, off),
        (bad_input, End::Off, Verdict::BadInput, 2, off),
        // If there are two closing lines, the second one counts.
        (&last, End::Off, Verdict::Incomplete, 3, off),
        // The tool does not wait for a machine that parks after its closing line.
        (PASS, End::Hang, Verdict::Pass, 0, MachineEnding::Parked),
    ] {
        let result = run(&stub_spec(&format!("{line}\r\n"), end));
        let text = result.text();
        assert_eq!(
            (result.verdict, result.exit_code()),
            (verdict, code),
            "{text}"
        );
        assert_eq!((result.ending, result.diagnosis), (ending, None), "{text}");
        assert!(text.contains("NOTICE:  BL31: v2.12"), "{text}");
    }
}

/// Returns `cargo xtask qemu` with a stub and one CPU, along with the folder that contains the
/// stub.
pub fn with_stub(text: &str, end: End, options: &[&str]) -> (Command, tempfile::TempDir) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let image = dir.path().join("image");
    fs::write(&image, stub(text, end)).expect("written");
    let mut command = xtask(&["qemu", "--smp", "1"]);
    command.args(options).arg("--image").arg(image);
    (command, dir)
}

pub const BUILTIN: [&str; 2] = ["--firmware", "builtin"];

/// Pressing Ctrl-C on a terminal interrupts all foreground programs.
#[test]
fn an_interruption_of_all_programs_is_reported_once() {
    let (mut command, _dir) = with_stub("waiting\r\n", End::Hang, &BUILTIN);
    command.process_group(0);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut line = String::new();
    let mut uart = BufReader::new(child.stdout.take().expect("a pipe"));
    uart.read_line(&mut line).expect("a line");
    assert_eq!(line.trim_end(), "waiting");
    crate::support::interrupt(&format!("-{}", child.id()));
    let output = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{stderr}");
    assert!(stderr.contains(": interrupted"), "{stderr}");
}

#[test]
fn a_reader_that_leaves_changes_nothing() {
    let text = format!("{}\r\n{FAIL}\r\n", "many words\r\n".repeat(1000));
    let (mut command, dir) = with_stub(&text, End::Off, &BUILTIN);
    let log = dir.path().join("log");
    command.arg("--log").arg(&log);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(!stderr.contains("pipe"), "{stderr}");
    assert_eq!(fs::read(&log).expect("a log"), text.as_bytes());
}
