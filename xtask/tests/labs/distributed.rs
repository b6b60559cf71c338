//! labgrid as a lab has it: a coordinator, an exporter with two serial ports,
//! and the tests of two boards at a time. The boards are QEMU, which waits
//! until somebody opens its port.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use xtask::qemu;
use xtask::qemu::prepare::{self, Prepared};
use xtask::qemu::run_spec::RunSpec;

use crate::engines::logs;
use crate::support::xtask;
use crate::tools::{Tools, said, tools};

/// A program that ends with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(command: &mut Command, log: &Path) -> Running {
    let file = fs::File::create(log).expect("a log");
    let both = file.try_clone().expect("a log");
    command.stdin(Stdio::null()).stdout(file).stderr(both);
    Running(command.spawn().expect("it can be started"))
}

/// Ports that are free at the moment.
fn ports<const N: usize>() -> [u16; N] {
    let held: [TcpListener; N] =
        std::array::from_fn(|_| TcpListener::bind("127.0.0.1:0").expect("a port"));
    held.map(|port| port.local_addr().expect("its address").port())
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(begun.elapsed() < Duration::from_secs(30), "{what}");
        sleep(Duration::from_millis(100));
    }
}

/// QEMU with its UART at a TCP port, in front of which it waits.
fn board(prepared: &Prepared, port: u16, log: &Path) -> Running {
    let serial = format!("tcp:127.0.0.1:{port},server=on,wait=on");
    let mut arguments = prepared.command_line().arguments();
    let stdio = arguments.iter_mut().find(|word| *word == "stdio");
    *stdio.expect("a serial port") = serial.into();
    start(&mut qemu::command(&arguments), log)
}

struct Lab<'t> {
    tools: &'t Tools,
    coordinator: String,
}

impl Lab<'_> {
    fn client(&self, place: &str, words: &[&str]) {
        let mut client = Command::new(self.tools.labgrid.join("labgrid-client"));
        client.args(["-x", &self.coordinator, "-p", place]);
        let said = said(client.args(words));
        assert_eq!(said.code, 0, "{words:?}: {}{}", said.out, said.err);
    }

    /// pytest on a cell, for 100 s.
    fn pytest(&self, cell: &Path) -> Command {
        let program = self.tools.labgrid.join("pytest");
        let mut pytest = Command::new("timeout");
        pytest.arg("100").arg(program).current_dir(cell);
        pytest.args(["--lg-coordinator", &self.coordinator]);
        pytest.args(["--lg-env", "env.yaml"]);
        pytest.args(["--junit-xml", "results/junit.xml"]);
        pytest
    }
}

#[test]
fn two_boards_at_a_coordinator() {
    let tools = tools();
    let dir = tempfile::tempdir().expect("a directory");
    let at = |name: &str| dir.path().join(name);
    let [coordinator, one, two] = ports();
    let lab_at = Lab {
        tools,
        coordinator: format!("127.0.0.1:{coordinator}"),
    };
    let mut program = Command::new(tools.labgrid.join("labgrid-coordinator"));
    program
        .args(["-l", &lab_at.coordinator])
        .current_dir(dir.path());
    let _coordinator = start(&mut program, &at("coordinator.out"));
    until("the coordinator listens", || {
        TcpStream::connect(&lab_at.coordinator).is_ok()
    });
    let port = |name: &str, port: u16| {
        format!("{name}:\n  NetworkSerialPort: {{host: 127.0.0.1, port: {port}, protocol: raw}}\n")
    };
    let exported = port("bench-1", one) + &port("bench-2", two);
    fs::write(at("exporter.yaml"), exported).expect("written");
    let mut program = Command::new(tools.labgrid.join("labgrid-exporter"));
    program.args(["-c", &lab_at.coordinator, "-n", "here", "exporter.yaml"]);
    let _exporter = start(program.current_dir(dir.path()), &at("exporter.out"));

    let set = at("set");
    let args = "iterations=1 warmup=0";
    let spec = RunSpec {
        smp: Some(2),
        args: Some(format!("{args} end=park")),
        ..RunSpec::default()
    };
    let prepared = prepare::prepare(&spec).expect("a machine");
    let mut boards = Vec::new();
    let mut tests = Vec::new();
    for (place, bench, port) in [("left", "bench-1", one), ("right", "bench-2", two)] {
        let mut write = xtask(&["lab", "--engine", "labgrid", "--smp", "2", "--args", args]);
        write
            .args(["--place", place, "--name", place, "-o"])
            .arg(&set);
        assert_eq!(said(&mut write).code, 0);
        boards.push(board(&prepared, port, &at(&format!("{place}.qemu"))));
        lab_at.client(place, &["create"]);
        let port = format!("here/{bench}/NetworkSerialPort");
        lab_at.client(place, &["add-match", &port]);
        lab_at.client(place, &["acquire"]);
        let cell = set.join(format!("labgrid-qemu-{place}"));
        fs::create_dir(cell.join("results")).expect("made");
        let mut pytest = lab_at.pytest(&cell);
        tests.push(start(&mut pytest, &cell.join("results/pytest.out")));
    }
    for test in &mut tests {
        let status = test.0.wait().expect("it ends");
        assert!(status.success(), "{status}\n{}", logs(&set));
    }
    let mut report = xtask(&["report", "--matrix"]);
    let report = said(report.arg(&set)).ends(0, "");
    assert!(report.out.contains("left (labgrid)"), "{}", report.out);
    assert!(report.out.contains("right (labgrid)"), "{}", report.out);
}
