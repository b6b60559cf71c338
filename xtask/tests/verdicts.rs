//! From what a machine says and does to verdict and exit code, with stubs in
//! place of the payload and real TF-A below them.

mod support;

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use std::{fs, thread};

use psci_bench::model::Verdict;
use support::{End, FAIL, PASS, outcome, run, stub, stub_spec, xtask};
use xtask::board::Gic;
use xtask::board::firmware_kind::Firmware;
use xtask::qemu::Level;
use xtask::qemu::run_spec::RunSpec;
use xtask::qemu::stream::Ending;

#[test]
fn the_closing_line_decides() {
    for (line, verdict, code) in [
        (PASS, Verdict::Pass, 0),
        (FAIL, Verdict::Fail, 1),
        (
            "psci-bench: INCOMPLETE: bad input: no device tree",
            Verdict::BadInput,
            2,
        ),
        (
            "psci-bench: INCOMPLETE: exception on CPU 0.3",
            Verdict::Incomplete,
            3,
        ),
    ] {
        let result = run(&stub_spec(&format!("{line}\r\n"), End::Off));
        assert_eq!(
            (result.verdict, result.exit_code()),
            (verdict, code),
            "{}",
            result.text()
        );
        assert_eq!(result.ending, Ending::Exited { success: true });
        assert_eq!(result.diagnosis, None);
        assert!(
            result.text().contains("NOTICE:  BL31: v2.12"),
            "{}",
            result.text()
        );
    }
}

#[test]
fn a_long_reason_is_repeated_in_full() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let image = dir.path().join("image");
    let text = "ERROR:   device tree: /a/b reg: a long\r\n         reason\r\n\
                psci-bench: INCOMPLETE: bad input: device tree: .../b reg: a ...\r\n";
    fs::write(&image, stub(text, End::Off)).expect("written");
    let mut command = xtask(&["qemu", "--smp", "1", "--firmware", "builtin", "--image"]);
    let (code, said) = outcome(command.arg(&image));
    assert_eq!(code, 2, "{said}");
    assert!(
        said.ends_with(": device tree: /a/b reg: a long reason\n"),
        "{said}"
    );
}

#[test]
fn the_last_of_two_counts() {
    let text = format!("{PASS}\r\nboom\r\npsci-bench: INCOMPLETE: exception on CPU 0.0\r\n");
    assert_eq!(
        run(&stub_spec(&text, End::Off)).verdict,
        Verdict::Incomplete
    );
}

#[test]
fn no_closing_line_is_incomplete() {
    let text = "psci-bench 0.1.0\r\n> Executing 'A'\r\n> Executing 'B c'\r\n";
    let result = run(&stub_spec(text, End::Off));
    assert_eq!(
        (result.verdict, result.exit_code()),
        (Verdict::Incomplete, 3)
    );
    let said = result.diagnosis.expect("a diagnosis");
    assert!(
        said.contains("'B c'") && said.contains("turned off or reset"),
        "{said}"
    );
    // A line that lost its end on the way is none.
    let result = run(&stub_spec(&PASS[..40], End::Off));
    assert_eq!(result.verdict, Verdict::Incomplete);
}

#[test]
fn a_hang_ends_at_the_deadline() {
    let mut spec = stub_spec("psci-bench 0.1.0\r\n> Executing 'A'\r\n", End::Hang);
    spec.timeout = Duration::from_secs(4);
    let result = run(&spec);
    assert_eq!((result.exit_code(), result.ending), (3, Ending::TimedOut));
    assert!(result.elapsed >= spec.timeout && result.elapsed < Duration::from_secs(60));
    let said = result.diagnosis.expect("a diagnosis");
    assert!(
        said.contains("within 4 s") && said.contains("'A'"),
        "{said}"
    );
}

#[test]
fn who_parks_after_the_closing_line_is_not_waited_for() {
    let result = run(&stub_spec(&format!("{PASS}\r\n"), End::Hang));
    assert_eq!(
        (result.verdict, result.ending),
        (Verdict::Pass, Ending::Parked)
    );
}

#[test]
fn an_interruption_ends_it() {
    let flag = Arc::new(AtomicBool::new(false));
    let other = Arc::clone(&flag);
    let spec = stub_spec("waiting\r\n", End::Hang);
    // What has to be built is built before the clock runs.
    run(&stub_spec(PASS, End::Off));
    let waiter = thread::spawn(move || xtask::qemu::run::run(&spec, &other, &mut std::io::sink()));
    thread::sleep(Duration::from_millis(500));
    flag.store(true, Ordering::Relaxed);
    let result = waiter.join().expect("no panic").expect("a run");
    assert_eq!(
        (result.ending, result.exit_code()),
        (Ending::Interrupted, 3)
    );
}

/// A Ctrl-C at a terminal goes to all that runs in its foreground.
#[test]
fn an_interruption_of_all_is_told_as_one() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let image = dir.path().join("image");
    fs::write(&image, stub("waiting\r\n", End::Hang)).expect("written");
    let mut command = xtask(&["qemu", "--smp", "1", "--firmware", "builtin", "--image"]);
    command.arg(&image).process_group(0);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it can be started");
    let uart = child.stdout.take().expect("a pipe");
    let mut line = String::new();
    let mut uart = BufReader::new(uart);
    uart.read_line(&mut line).expect("a line");
    assert_eq!(line.trim_end(), "waiting");
    let group = format!("-{}", child.id());
    let mut kill = Command::new("sh");
    let status = kill.args(["-c", "kill -s INT -- \"$0\"", &group]).status();
    assert!(status.expect("it can be started").success());
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains(": interrupted"), "{said}");
}

#[test]
fn a_reader_who_leaves_changes_nothing() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let image = dir.path().join("image");
    let log = dir.path().join("log");
    let text = format!("{}\r\n{FAIL}\r\n", "many words\r\n".repeat(1000));
    fs::write(&image, stub(&text, End::Off)).expect("written");
    let mut command = xtask(&["qemu", "--smp", "1", "--firmware", "builtin", "--image"]);
    command.arg(&image).arg("--log").arg(&log);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("it can be started");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(!said.contains("pipe"), "{said}");
    assert_eq!(fs::read(&log).expect("a log"), text.as_bytes());
}

#[test]
fn every_machine_starts_a_stub() {
    let text = format!("{PASS}\r\n");
    for gic in [Gic::V2, Gic::V3] {
        for level in [Level::El1, Level::El2] {
            for firmware in [Firmware::TfA, Firmware::Builtin] {
                let hvc = firmware == Firmware::Builtin && level == Level::El1;
                let spec = RunSpec {
                    gic: Some(gic),
                    level,
                    firmware,
                    ..stub_spec(&text, if hvc { End::OffByHvc } else { End::Off })
                };
                let result = run(&spec);
                assert_eq!(
                    result.verdict,
                    Verdict::Pass,
                    "{spec:?}: {:?}",
                    result.diagnosis
                );
            }
        }
    }
}

#[test]
fn icount_repeats_the_firmwares_boot() {
    let spec = RunSpec {
        icount: true,
        smp: Some(8),
        ..stub_spec(&format!("{PASS}\r\n"), End::Off)
    };
    let first = run(&spec);
    assert!(first.text().contains("PMF:cpu 0"), "{}", first.text());
    assert_eq!(first.log, run(&spec).log);
}

#[test]
fn the_program_passes_log_and_code_on() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let image = dir.path().join("image");
    let log = dir.path().join("log");
    fs::write(&image, stub(&format!("{FAIL}\r\n"), End::Off)).expect("written");
    let mut command = xtask(&["qemu", "--smp", "1", "--image"]);
    command.arg(&image).arg("--log").arg(&log);
    let output = command.output().expect("it can be started");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(fs::read(&log).expect("a log"), output.stdout);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.trim_end().ends_with(FAIL), "{text}");

    fs::write(&image, stub("hello\r\n", End::Hang)).expect("written");
    let mut command = xtask(&["qemu", "--smp", "1", "--timeout", "3", "--image"]);
    let (code, said) = outcome(command.arg(&image));
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("no closing line within 3 s"), "{said}");
}
