//! `cargo xtask report --serial`: a run that is followed, by a pseudo terminal
//! and by a pipe.

#[path = "support/made_up_run.rs"]
mod made_up_run;
mod support;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use psci_bench::plan::Records;

use support::xtask;

/// Returns the log of a run, in the order in which the payload prints it.
fn log() -> &'static [u8] {
    static LOG: LazyLock<String> =
        LazyLock::new(|| made_up_run::log(&made_up_run::run(), Records::Once));
    LOG.as_bytes()
}

/// Both ends of a serial line: ours, and the device file of the other.
fn line() -> (File, String) {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let ours: OwnedFd = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo terminal");
    grantpt(&ours).expect("granted");
    unlockpt(&ours).expect("unlocked");
    let name = ptsname(&ours, Vec::new()).expect("a name");
    (File::from(ours), name.into_string().expect("UTF-8"))
}

fn start(dir: &Path, arguments: &[&str]) -> Child {
    let log = dir.join("run.log");
    let log = log.to_str().expect("UTF-8");
    let mut command = xtask(&[&["report", "--log", log], arguments].concat());
    command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .stdin(Stdio::piped());
    command.spawn().expect("it can be started")
}

/// Exit code, stdout, stderr, and the log that was kept.
fn ended(dir: &Path, mut child: Child) -> (i32, String, String, Vec<u8>) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while child.try_wait().expect("it is ours").is_none() {
        if Instant::now() > deadline {
            child.kill().expect("it is ours");
            panic!("it did not end");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let (mut out, mut said) = (String::new(), String::new());
    child
        .stdout
        .take()
        .expect("piped")
        .read_to_string(&mut out)
        .expect("UTF-8");
    child
        .stderr
        .take()
        .expect("piped")
        .read_to_string(&mut said)
        .expect("UTF-8");
    let code = child
        .wait()
        .expect("it has ended")
        .code()
        .expect("not killed");
    (
        code,
        out,
        said,
        fs::read(dir.join("run.log")).expect("the log"),
    )
}

#[test]
fn a_serial_port_is_followed_to_the_last_line() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut ours, name) = line();
    let out = dir.path().join("report.txt");
    let child = start(
        dir.path(),
        &["--serial", &name, "-o", out.to_str().expect("UTF-8")],
    );
    // The other side has to have opened it, or its terminal would echo.
    std::thread::sleep(Duration::from_millis(500));
    for chunk in log().chunks(1000) {
        ours.write_all(chunk).expect("written");
    }
    let (code, _, said, kept) = ended(dir.path(), child);
    assert_eq!(code, 0, "{said}");
    assert!(kept == log(), "{} bytes of {}", kept.len(), log().len());
    assert!(
        said.contains("0 %, Suspend to deepest power level on all cores in parallel"),
        "{said}"
    );
    assert!(
        said.contains("25 %, CPU suspend on all cores in sequence"),
        "{said}"
    );
    assert!(said.contains("the run has ended"), "{said}");
    let report = fs::read_to_string(out).expect("a report");
    assert!(report.contains("Last man down in cluster 0"), "{report}");
}

#[test]
fn a_board_that_falls_silent_is_not_waited_for_for_ever() {
    let dir = tempfile::tempdir().expect("a directory");
    let (mut ours, name) = line();
    let started = Instant::now();
    let child = start(dir.path(), &["--serial", &name, "--timeout", "3"]);
    std::thread::sleep(Duration::from_millis(500));
    let half = &log()[..log().len() / 2];
    for chunk in half.chunks(1000) {
        ours.write_all(chunk).expect("written");
    }
    let (code, out, said, kept) = ended(dir.path(), child);
    assert!(started.elapsed() < Duration::from_secs(20));
    assert_eq!(code, 3, "{said}");
    assert!(
        said.contains("the time is up") && said.contains("incomplete"),
        "{said}"
    );
    assert!(kept == half && out.contains("Powerdown"), "{out}");
}

#[test]
fn stdin_is_followed_and_what_came_is_kept() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut child = start(dir.path(), &["--serial", "-"]);
    let mut pipe = child.stdin.take().expect("piped");
    pipe.write_all(log()).expect("written");
    // Still open: the last line is what ends it.
    let (code, out, said, kept) = ended(dir.path(), child);
    drop(pipe);
    assert_eq!((code, kept == log()), (0, true), "{said}");
    assert!(out.contains("Last man down"), "{out}");

    // Ctrl-C: the report is made of what there is.
    fs::remove_file(dir.path().join("run.log")).expect("it was there");
    let mut child = start(dir.path(), &["--serial", "-"]);
    let mut pipe = child.stdin.take().expect("piped");
    pipe.write_all(&log()[..log().len() / 2]).expect("written");
    let kept = dir.path().join("run.log");
    let deadline = Instant::now() + Duration::from_secs(20);
    while fs::metadata(&kept).map_or(0, |it| it.len()) < 1000 && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).expect("it is ours");
    let (code, _, said, _) = ended(dir.path(), child);
    drop(pipe);
    assert_eq!((code, said.contains("interrupted")), (3, true), "{said}");

    let nobody = start(dir.path(), &["--serial", "/dev/no-such-port"]);
    let output = nobody.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2));
}
