//! QEMU machines started with a raw command line, and their output.

#![allow(dead_code, reason = "tools' tests include this file, too")]

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use follow::RunWatcher;
use follow::stream::{self, MachineEnding, TimeLimits};
use memchr::memmem;
use runner::build::image::Emergency;
use runner::build::payload;
use runner::qemu;
use runner::qemu::machine_process::MachineProcess;
use runner::setup::{self, Need};
use suite::model::Verdict;
use tempfile::TempDir;

use crate::common::{self, Log, workspace};

/// Boot arguments that request only a few samples, because tests only check that samples are
/// present.
pub const FEW: &str = "iterations=2 warmup=0";

/// The time limit for a run, which is long enough even on a busy host.
const TIMEOUT: Duration = Duration::from_secs(100);

/// The file that QEMU logs exceptions to, and QEMU's names for firmware calls.
const RECORD: &str = "exceptions.log";
const CALLS: [&str; 2] = ["[Secure Monitor Call]", "[Hypervisor Call]"];

/// A command line under construction, and the files that it uses.
pub struct Machine {
    words: Vec<OsString>,
    dir: TempDir,
}

impl Machine {
    /// Creates a command line that starts with `-M` and these space-separated arguments.
    pub fn new(machine: &str) -> Self {
        setup::ensure(&workspace(), &[Need::Qemu]).expect("QEMU");
        Self {
            words: Vec::new(),
            dir: tempfile::tempdir().expect("a directory"),
        }
        .with("-display none -nic none -monitor none -no-reboot -M")
        .with(machine)
    }

    pub fn with(mut self, words: &str) -> Self {
        self.words.extend(words.split_whitespace().map(Into::into));
        self
    }

    /// Adds `option` and its value, which may contain spaces.
    pub fn option(mut self, option: &str, value: impl Into<OsString>) -> Self {
        self.words.extend([option.into(), value.into()]);
        self
    }

    fn written(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.dir.path().join(name);
        fs::write(&path, bytes).expect("a file");
        path
    }

    /// Adds `option` and the name of a file that contains these bytes.
    pub fn file(self, option: &str, name: &str, bytes: &[u8]) -> Self {
        let path = self.written(name, bytes);
        self.option(option, path)
    }

    /// Loads these bytes into memory. `more` contains additional loader options.
    pub fn loaded(self, name: &str, bytes: &[u8], address: u64, more: &str) -> Self {
        let path = self.written(name, bytes);
        let file = path.display();
        let device = format!("loader,file={file},addr={address:#x},force-raw=on{more}");
        self.option("-device", device)
    }

    /// Adds a disk with one FAT volume that contains these files.
    pub fn stick(self, files: &[(&str, &[u8])]) -> Self {
        let root = self.dir.path().join("stick");
        for (name, bytes) in files {
            let path = root.join(name);
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, bytes).expect("a file");
        }
        let drive = format!("file=fat:rw:{},format=raw,if=virtio", root.display());
        self.option("-drive", drive)
    }

    /// Adds a drive that contains these bytes. `more` contains additional options.
    pub fn drive(self, name: &str, bytes: &[u8], more: &str) -> Self {
        let path = self.written(name, bytes);
        self.option("-drive", format!("file={},{more}", path.display()))
    }

    /// Adds a file to the QEMU firmware configuration device.
    pub fn firmware_file(self, name: &str, bytes: &[u8]) -> Self {
        let path = self.written(&name.replace('/', "-"), bytes);
        self.option("-fw_cfg", format!("name={name},file={}", path.display()))
    }

    /// Adds the payload as the kernel, with these boot arguments.
    pub fn kernel(self, bootargs: &str) -> Self {
        self.file("-kernel", "Image", &plain())
            .option("-append", bootargs)
    }

    /// Records all exceptions taken, including calls.
    pub fn recorded(self) -> Self {
        let record = self.dir.path().join(RECORD);
        self.with("-d int").option("-D", record)
    }

    /// Runs until the machine exits or parks after its last line.
    pub fn run(self) -> Seen {
        self.run_until(None)
    }

    /// Runs until the machine exits or the UART output contains `mark`.
    pub fn run_until(self, mark: Option<&str>) -> Seen {
        let mut command = qemu::command(&self.words);
        if !self.words.iter().any(|word| word == "-serial") {
            command.args(["-serial", "stdio"]);
        }
        let is_seen = AtomicBool::new(false);
        let mut uart = MarkFinder {
            bytes: Vec::new(),
            mark,
            is_seen: &is_seen,
        };
        let mut watcher = RunWatcher::with_output(&mut uart);
        let limits = TimeLimits::from(TIMEOUT);
        let outcome = MachineProcess::start(&mut command)
            .and_then(|machine| machine.follow(limits, &is_seen, &mut watcher, &mut || {}))
            .expect("QEMU runs");
        let text = String::from_utf8_lossy(&outcome.log).replace("\r\n", "\n");
        common::fits_terminal(&text);
        let record = fs::read_to_string(self.dir.path().join(RECORD)).ok();
        let is_call = |line: &&str| CALLS.iter().any(|call| line.contains(call));
        Seen {
            calls: record.map(|record| record.lines().filter(is_call).count()),
            plain: common::one_line(&text),
            text: format!("{:?}\n{}\n{text}", self.words, outcome.stderr),
            verdict: stream::find_verdict(&outcome.log),
            ending: outcome.ending,
            log: outcome.log,
        }
    }
}

/// Looks for a mark in the UART output.
struct MarkFinder<'s> {
    bytes: Vec<u8>,
    mark: Option<&'s str>,
    is_seen: &'s AtomicBool,
}

impl Write for MarkFinder<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.bytes.extend(bytes);
        let is_here = |mark: &str| memmem::find(&self.bytes, mark.as_bytes()).is_some();
        if self.mark.is_some_and(is_here) {
            self.is_seen.store(true, Ordering::Relaxed);
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

pub struct Seen {
    /// The command line and the log, for failure messages.
    text: String,
    /// The log, with wrapped lines joined.
    plain: String,
    verdict: Option<Verdict>,
    ending: MachineEnding,
    log: Vec<u8>,
    /// The number of SMCs and HVCs, if recorded.
    pub calls: Option<usize>,
}

impl Seen {
    /// Checks that the log contains none of these strings.
    pub fn lacks(&self, words: &[&str]) -> &Self {
        common::lacks_words(&self.plain, words, &self.text);
        self
    }

    fn check(&self, verdict: Verdict, ending: MachineEnding, words: &[&str]) {
        let ended = (self.verdict, &self.ending);
        assert_eq!(ended, (Some(verdict), &ending), "{}", self.text);
        common::has_words(&self.plain, words, &self.text);
    }

    /// Checks that the run ended with this verdict, printed these strings, and turned the machine
    /// off.
    pub fn ends(&self, verdict: Verdict, words: &[&str]) {
        self.check(verdict, MachineEnding::Exited { success: true }, words);
    }

    /// Checks that the run passed, turned the machine off, and printed these strings.
    pub fn passes(&self, words: &[&str]) -> Log {
        self.ends(Verdict::Pass, words);
        Log::new(&self.log)
    }

    /// Checks that the run was stopped after printing the expected mark, and that nothing was
    /// measured.
    pub fn stops(&self) {
        let ended = (self.verdict, &self.ending);
        assert_eq!(ended, (None, &MachineEnding::Interrupted), "{}", self.text);
    }

    /// Checks that the run ended with this verdict, printed these strings and parked, and that it
    /// made no firmware calls.
    pub fn parks(&self, verdict: Verdict, words: &[&str]) {
        self.lacks(&["Unhandled"])
            .check(verdict, MachineEnding::Parked, words);
        assert_eq!(self.calls, Some(0), "{}", self.text);
    }

    /// Checks that the run rejected its input, printed these strings, and turned the machine off.
    pub fn refuses(&self, words: &[&str]) {
        self.lacks(&["Unhandled"]).ends(Verdict::BadInput, words);
    }
}

/// Returns the payload with a tree and a parameter block.
pub fn image(tree: Option<&[u8]>, emergency: Emergency) -> Vec<u8> {
    payload::image(&workspace(), tree, emergency, 8).expect("an image")
}

/// Returns the payload without a device tree, for machines that pass their own.
pub fn plain() -> Vec<u8> {
    image(None, Emergency::default())
}

/// Returns the device tree compiled from a source file in tests/data.
pub fn compiled(source: &str) -> Vec<u8> {
    let path = workspace().root.join("tests/data").join(source);
    common::compile(&fs::read_to_string(path).expect("a device tree's source"))
}

pub fn with_tree(tree: &[u8]) -> Vec<u8> {
    image(Some(tree), Emergency::of_tree(tree))
}
