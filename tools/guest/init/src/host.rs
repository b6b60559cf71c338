//! Runs as PID 1: starts a guest on a bare kernel, then powers off the machine.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::fs::OFlags;
use rustix::mount::{MountFlags, mount};
use rustix::system::{RebootCommand, reboot};
use rustix::termios::{self, OptionalActions};

/// The file that contains the program and its arguments, one per line.
const COMMAND: &str = "/vmm";

/// Runs the guest, then powers off the machine.
pub fn run() -> ! {
    match guest() {
        Ok(how) => say(&format!("the VMM ended {how}")),
        Err(error) => say(&format!("{error:#}")),
    }
    loop {
        // `reboot` returns only if it fails, and the kernel reports the failure.
        let _ = reboot(RebootCommand::PowerOff);
        thread::sleep(Duration::from_secs(1));
    }
}

/// Prints a line on the console, which does not translate line endings.
pub fn say(text: &str) {
    let mut out = io::stdout().lock();
    // There is nowhere else to report an error.
    let _ = write!(out, "kvm-host: {text}\r\n").and_then(|()| out.flush());
}

fn guest() -> Result<String> {
    raw_console();
    for (kind, place) in [("devtmpfs", "/dev"), ("proc", "/proc")] {
        mount(kind, place, kind, MountFlags::empty(), None)
            .with_context(|| format!("{place} cannot be mounted"))?;
    }
    const VERSION: &str = "/proc/sys/kernel/osrelease";
    let version = fs::read_to_string(VERSION).context(VERSION)?;
    say(&format!("Linux {}", version.trim()));
    say_kernel_log();
    File::open("/dev/kvm").context("KVM is not available: /dev/kvm")?;
    let text = fs::read_to_string(COMMAND).context(COMMAND)?;
    let mut words = text.lines();
    let program = words.next().context("/vmm does not specify a program")?;
    let status = Command::new(program)
        .args(words)
        .stdin(Stdio::null())
        .status()
        .with_context(|| program.to_owned())?;
    Ok(match status.code() {
        Some(code) => format!("with exit code {code}"),
        None => {
            let signal = status.signal();
            format!(
                "by signal {}",
                signal.expect("a process without an exit code was killed by a signal")
            )
        }
    })
}

/// Disables newline translation on the terminal, because the guest already ends its lines with CR
/// LF.
fn raw_console() {
    let stdin = io::stdin();
    if let Ok(mut settings) = termios::tcgetattr(&stdin) {
        settings.make_raw();
        // If this fails, lines have an extra CR, which log readers accept.
        let _ = termios::tcsetattr(&stdin, OptionalActions::Now, &settings);
    }
}

/// Prints the kernel messages about KVM.
fn say_kernel_log() {
    let mut options = OpenOptions::new();
    let flags = OFlags::NONBLOCK.bits() as i32;
    let Ok(mut log) = options.read(true).custom_flags(flags).open("/dev/kmsg") else {
        return;
    };
    let mut record = [0; 8192];
    // Each read returns one message, `PRIORITY,NUMBER,TIME,FLAGS;TEXT`; after the last one, a read
    // fails.
    while let Ok(length @ 1..) = log.read(&mut record) {
        let text = String::from_utf8_lossy(&record[..length]);
        let message = text
            .split_once(';')
            .and_then(|(_, message)| message.lines().next());
        let Some(line) = message else {
            continue;
        };
        if line.contains("kvm") && !line.contains("Kernel command line") {
            say(line);
        }
    }
}
