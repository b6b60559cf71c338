//! Process 1: from a bare kernel to a guest, and to the end of the machine.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use rustix::fs::OFlags;
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, reboot};
use rustix::termios::{self, OptionalActions};

/// The program and its arguments, one a line.
const COMMAND: &str = "/vmm";

/// Runs the guest, and turns the machine off.
pub fn run() -> ! {
    match guest() {
        Ok(how) => say(&format!("the VMM ended {how}")),
        Err(error) => say(&error),
    }
    loop {
        // This returns only if it fails, which the kernel then says.
        let _ = reboot(RebootCommand::PowerOff);
        thread::sleep(Duration::from_secs(1));
    }
}

/// A line on the console, whose line ends are not translated.
pub fn say(text: &str) {
    let mut out = io::stdout().lock();
    // There is no other reader of an error.
    let _ = write!(out, "kvm-host: {text}\r\n").and_then(|()| out.flush());
}

fn guest() -> Result<String, String> {
    raw_console();
    for (kind, place) in [("devtmpfs", "/dev"), ("proc", "/proc")] {
        mount(kind, place, kind, MountFlags::empty(), None)
            .map_err(|error| format!("{place} cannot be mounted: {error}"))?;
    }
    let version = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    say(&format!("Linux {}", version.trim()));
    for line in kernel_log("kvm") {
        say(&line);
    }
    File::open("/dev/kvm").map_err(|error| format!("there is no KVM: /dev/kvm: {error}"))?;
    let text = fs::read_to_string(COMMAND).map_err(|error| format!("{COMMAND}: {error}"))?;
    let mut words = text.lines();
    let program = words.next().unwrap_or_default();
    let status = Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .status()
        .map_err(|error| format!("{program}: {error}"))?;
    Ok(match (status.code(), status.signal()) {
        (Some(code), _) => format!("with exit code {code}"),
        (None, signal) => format!("by signal {}", signal.unwrap_or_default()),
    })
}

/// The guest ends its lines by CR LF; the terminal is to add nothing.
fn raw_console() {
    let stdin = io::stdin();
    if let Ok(mut settings) = termios::tcgetattr(&stdin) {
        settings.make_raw();
        // Without it lines have a CR more, which readers of logs bear.
        let _ = termios::tcsetattr(&stdin, OptionalActions::Now, &settings);
    }
}

/// The kernel's messages with `word` in them.
fn kernel_log(word: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut options = OpenOptions::new();
    let flags = OFlags::NONBLOCK.bits() as i32;
    let Ok(mut log) = options.read(true).custom_flags(flags).open("/dev/kmsg") else {
        return found;
    };
    let mut record = [0; 8192];
    // Each read yields one message, `PRIORITY,NUMBER,TIME,FLAGS;TEXT`, and at
    // the end of them an error.
    while let Ok(length) = log.read(&mut record) {
        let text = String::from_utf8_lossy(record.get(..length).unwrap_or_default());
        let message = text.split_once(';').map_or("", |(_, message)| message);
        let line = message.lines().next().unwrap_or_default();
        if length == 0 {
            break;
        }
        if line.contains(word) && !line.contains("Kernel command line") {
            found.push(line.to_owned());
        }
    }
    found
}
