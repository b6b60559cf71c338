//! A prepared run.

use std::ffi::{OsStr, OsString};
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use anyhow::{Result, bail};
use follow::RunWatcher;
use follow::stream::{self, MachineEnding, TimeLimits};
use host::TmpdirContext as _;
use host::hex::hex;
use sha2::{Digest, Sha256};
use suite::model::Verdict;
use tempfile::TempDir;

use super::boot::Boot;
use super::command_line::{self, CommandLine};
use super::diagnosis::{self, diagnose};
use super::guest_samples::GuestSamples;
use super::loader::Loader;
use super::machine_process::{MachineProcess, MachineResult};
use super::monitor::Socket;
use super::run_result::RunResult;
use super::validated_run::ValidatedRun;
use super::{positions, tftf_verdict};
use crate::build::firmware_kind::FirmwareKind;

/// A run that has been fully prepared and can be repeated.
#[derive(Debug)]
pub struct Prepared {
    firmware: FirmwareKind,
    loader: &'static dyn Loader,
    timeout: Duration,
    /// The first address in memory.
    memory: u64,
    boot: Boot,
    line: CommandLine,
    /// The PATH used to find QEMU, unless the installed QEMU is used.
    path: Option<OsString>,
    /// The temporary folder for the files that the machine boots.
    _dir: TempDir,
}

impl Prepared {
    /// Prepares to start `run` with `boot`, whose files it writes to a temporary folder.
    pub(super) fn new(run: &ValidatedRun<'_>, boot: Boot) -> Result<Self> {
        let dir = tempfile::tempdir().tmpdir_context()?;
        let mut line = run.machine.command_line();
        line.rest.clone_from(&boot.arguments);
        boot.write(dir.path(), &mut line)?;
        Ok(Self {
            firmware: run.spec.firmware,
            loader: run.machine.loader,
            timeout: run.spec.timeout,
            memory: run.board.memory_base(),
            boot,
            line,
            path: None,
            _dir: dir,
        })
    }

    /// Returns the same machine with `image` as BL33.
    pub fn with_image(&self, image: Vec<u8>) -> Result<Self> {
        let boot = self.boot.with_image(image)?;
        let dir = tempfile::tempdir().tmpdir_context()?;
        let mut line = self.line.clone();
        boot.write(dir.path(), &mut line)?;
        Ok(Self {
            boot,
            line,
            path: self.path.clone(),
            _dir: dir,
            ..*self
        })
    }

    /// Returns what the machine boots.
    pub fn boot(&self) -> &Boot {
        &self.boot
    }

    /// Sets the value of PATH used to find QEMU.
    pub fn set_path(&mut self, path: OsString) {
        self.path = Some(path);
    }

    /// Adds a TCG plugin. `argument` is the plugin file followed by its arguments.
    pub fn add_plugin(&mut self, argument: &OsStr) {
        self.line.rest.extend(["-plugin".into(), argument.into()]);
    }

    /// Returns the path of the BL31 ELF file, or None if BL33 is not an image of the payload under
    /// TF-A.
    pub fn bl31(&self) -> Option<PathBuf> {
        Some(self.boot.tf_a()?.dir.join("bl31.elf"))
    }

    /// Returns a hash of the machine and everything that it starts. Identical runs have the same
    /// hash.
    pub fn identity(&self) -> String {
        let mut hash = Sha256::new();
        let in_memory = self.boot.in_memory.iter().map(|(bytes, _)| bytes);
        let file = self.boot.file.iter().map(|file| &file.contents);
        for bytes in file.chain(in_memory) {
            hash.update(bytes);
        }
        hash.update(self.line.machine_text());
        hex(&hash.finalize())
    }

    /// Returns the QEMU command line. The files that it names exist as long as `self` does.
    pub fn command_line(&self) -> &CommandLine {
        &self.line
    }

    /// Returns the payload's sample count in the memory of the machine that `process` runs, or None
    /// if its place is unknown.
    fn samples(&self, process: u32) -> Option<GuestSamples> {
        // A guest's image address is in the guest's own address space, so it is not an offset in
        // this memory.
        let offset = self.boot.map.image.checked_sub(self.memory)? + self.boot.map.samples?;
        let size = self.line.memory_mib.parse::<u64>().ok()? << 20;
        Some(GuestSamples::new(process, size, offset))
    }

    /// Runs the machine and determines the verdict. `watcher` receives the UART output as it
    /// arrives, and `interrupt` ends the run.
    pub fn run(&self, interrupt: &AtomicBool, watcher: &mut RunWatcher<'_>) -> Result<RunResult> {
        let mut command = command_line::command(&self.line.arguments());
        command.envs(self.path.iter().map(|path| ("PATH", path)));
        let dir = tempfile::tempdir().tmpdir_context()?;
        // The positions of a hypervisor's CPUs reveal nothing about its guest's CPUs.
        let socket = match self.loader.is_on_machine_cpus() {
            true => Socket::within(dir.path()),
            false => None,
        };
        command.args(socket.iter().flat_map(Socket::arguments));
        let mut positions = Vec::new();
        let mut at_deadline = || {
            if let Some(socket) = &socket {
                positions = positions::read_positions(socket, &self.boot.map);
            }
        };
        let mut limits = TimeLimits::from(self.timeout);
        if let Some(linger) = self.loader.linger() {
            limits.linger = linger;
        }
        let process = MachineProcess::start(&mut command)?;
        watcher.samples = match self.samples(process.id()) {
            Some(mut samples) => Some(Box::new(move || samples.read())),
            None => None,
        };
        let outcome = process.follow(limits, interrupt, watcher, &mut at_deadline)?;
        self.judge(outcome, positions)
    }

    /// Determines the verdict. `positions` describes where each CPU was at the deadline.
    ///
    /// # Errors
    /// Returns an error if the machine did not start, or could not run as requested.
    fn judge(&self, outcome: MachineResult, positions: Vec<String>) -> Result<RunResult> {
        let verdict = match outcome.ending {
            MachineEnding::Interrupted => None,
            _ => stream::find_verdict(&outcome.log)
                .or_else(|| tftf_verdict::read_verdict(&self.boot.image, &outcome.log)),
        };
        if let Some(failure) = self.loader.find_failure(&outcome.log) {
            bail!(failure);
        }
        if let Some(message) = diagnosis::refused_fault(&outcome.log) {
            bail!("--fault: the firmware reports {message}");
        }
        let context = diagnosis::Context {
            firmware: self.firmware,
            loader: self.loader,
            cpu: &self.line.cpu,
            timeout: self.timeout.as_secs(),
            image: &self.boot.image,
        };
        let diagnosis = || diagnose(&outcome, &context);
        if diagnosis::is_option_refused(&outcome) {
            bail!(diagnosis());
        }
        Ok(RunResult {
            verdict: verdict.unwrap_or(Verdict::Incomplete),
            diagnosis: verdict.is_none().then(diagnosis),
            positions,
            ending: outcome.ending,
            elapsed: outcome.elapsed,
            log: outcome.log,
        })
    }
}
