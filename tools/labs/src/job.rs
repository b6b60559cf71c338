//! A job: the folder for one board, one firmware and one lab engine.
//!
//! `lab.sh` runs all the jobs below a folder. `manifest.json` marks a folder as a job.

use std::fmt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use host::folder::{self, FolderFile};
use minijinja::context;
use minijinja::value::{Serde, Value};
use runner::qemu::boot::Boot;
use runner::qemu::prepared::Prepared;
use runner::qemu::{CommandLine, PROGRAM};
use serde::Serialize;
use suite::plan::{Method, Plan};

use super::{monitors, templates};

/// The default time limit for a job on QEMU, in minutes, unless the plan needs more.
const QEMU_MINUTES: u32 = 10;
const BOARD_MINUTES: u32 = 30;
/// The time that an engine needs to copy files and start a board, in minutes.
const ENGINE_MINUTES: u32 = 2;

/// The file that marks a folder as a job.
const MANIFEST: &str = "manifest.json";

const NO_BOOT_FILE: &str = "an engine needs a file that QEMU boots from";

/// A lab engine, with its own option.
#[derive(Clone, Debug)]
pub enum Engine {
    /// LAVA, with the URL of the folder that contains the job.
    Lava { url: String },
    /// labgrid, with the place on its coordinator.
    Labgrid { place: Option<String> },
}

impl Engine {
    /// Returns the value for the payload's `end=` boot argument. LAVA waits for QEMU to exit. The
    /// labgrid driver fails if QEMU exits on its own.
    pub fn end(&self) -> &'static str {
        match self {
            Self::Lava { .. } => "off",
            Self::Labgrid { .. } => "park",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lava { .. } => "lava",
            Self::Labgrid { .. } => "labgrid",
        })
    }
}

/// A job that has not been written yet.
pub struct LabJob {
    pub engine: Engine,
    /// The board's folder in `platforms`.
    pub board: String,
    /// The user's name for the firmware.
    pub firmware: String,
    pub plan: Plan,
    pub cpus: u32,
    /// The plan's maximum duration, which is also the minimum time limit for a job.
    pub run: Duration,
    /// True if the job fails when anything is skipped.
    pub deny_skipped: bool,
    /// The machine, unless the job runs on a board.
    pub qemu: Option<Box<Prepared>>,
}

/// The contents of [`MANIFEST`], which `lab.sh` reads.
#[derive(Serialize)]
struct JobManifest<'j> {
    engine: String,
    board: &'j str,
    firmware: &'j str,
    /// A job's time limit.
    minutes: u32,
    deny_skipped: bool,
}

/// Rejects plans and CPU counts that `engine` does not support.
pub fn check(engine: &Engine, plan: &Plan, cpus: u32) -> Result<()> {
    if plan.lists_scenarios() {
        bail!("--args only=help: this only lists scenarios, so no job can pass");
    }
    if !plan.methods.iter().any(|method| method == Method::Tftf) {
        bail!("--args method=warm: engines need the output of method=tftf; use method=tftf,warm");
    }
    if plan.scenarios.suite().is_empty() {
        bail!("--args only=: engines need at least one scenario from TF-A's suite");
    }
    if matches!(engine, Engine::Lava { .. }) && cpus > monitors::CPUS_MAX {
        bail!(
            "LAVA looks for a result in the last 4000 characters, but the rows for {cpus} \
             CPUs may be longer; use --smp {} or less, or `cargo xtask lab labgrid`",
            monitors::CPUS_MAX
        );
    }
    Ok(())
}

/// Returns the name of the folder for a job.
pub fn folder_name(engine: &Engine, board: &str, firmware: &str) -> String {
    format!("{engine}-{board}-{firmware}")
}

impl LabJob {
    /// Writes the job to `folder`, which must not exist yet. `lab.sh` never sees an
    /// incomplete job: until it is complete, the folder's name begins with a dot.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let files = self.files()?;
        folder::write_new(folder, &files).with_context(|| folder.display().to_string())
    }

    /// Returns the files.
    fn files(&self) -> Result<Vec<FolderFile>> {
        let mut files = match &self.qemu {
            Some(run) => boot_files(run.boot())?,
            None => Vec::new(),
        };
        let line = self.qemu.as_ref().map(|run| run.command_line());
        let qemu = line.map(qemu).transpose()?;
        let names: &[&'static str] = match self.engine {
            Engine::Lava { .. } => &["job.yaml", "device.yaml"],
            Engine::Labgrid { .. } => &["env.yaml", "test_psci_bench.py", "pytest.ini"],
        };
        for (name, text) in templates::render(names, &self.context(qemu))? {
            files.push(FolderFile::new(name, text));
        }
        let manifest = JobManifest {
            engine: self.engine.to_string(),
            board: &self.board,
            firmware: &self.firmware,
            minutes: self.minutes(),
            deny_skipped: self.deny_skipped,
        };
        let json = serde_json::to_string_pretty(&manifest)? + "\n";
        files.push(FolderFile::new(MANIFEST, json));
        Ok(files)
    }

    fn minutes(&self) -> u32 {
        let usual = if self.qemu.is_some() {
            QEMU_MINUTES
        } else {
            BOARD_MINUTES
        };
        usual.max(minutes_of(self.run))
    }

    /// Returns the values for the templates of the job's engine.
    fn context(&self, qemu: Option<Value>) -> Value {
        let (board, firmware) = (&self.board, &self.firmware);
        let both = context! { board, firmware, minutes => self.minutes(), qemu };
        let engine_values = match &self.engine {
            Engine::Lava { url } => {
                let folder = folder_name(&self.engine, board, firmware);
                let monitors = monitors::list(&self.plan, self.cpus, self.deny_skipped);
                context! { url => format!("{url}/{folder}"), monitors => Serde(&monitors) }
            }
            Engine::Labgrid { place } => {
                let suite = self.plan.scenarios.suite();
                let scenarios: Vec<_> = suite
                    .iter()
                    .map(|scenario| (scenario.tag(), scenario.name()))
                    .collect();
                context! { place, deny_skipped => self.deny_skipped, scenarios }
            }
        };
        context! { ..both, ..engine_values }
    }
}

/// Returns the QEMU command line for the templates: each option with its value, the option for
/// `firmware.bin`, and the address of `payload.bin` if it is loaded into memory before the machine
/// starts. Engines add the display, network, monitor and serial port. Because engines split options
/// at spaces, arguments that contain spaces or quotes are rejected.
fn qemu(line: &CommandLine) -> Result<Value> {
    let words = [&line.machine, &line.cpu, &line.memory_mib];
    for word in words.into_iter().chain(&line.options) {
        if word.contains([' ', '\'', '"', '\\']) {
            bail!("{word:?}: an engine cannot pass spaces, quotes or backslashes to QEMU");
        }
    }
    let (boot_option, _) = line.boot.as_ref().context(NO_BOOT_FILE)?;
    let options = line
        .options
        .chunk_by(|_, next_option| !next_option.starts_with('-'));
    Ok(context! {
        program => PROGRAM,
        machine => &line.machine,
        cpu => &line.cpu,
        memory_mib => &line.memory_mib,
        options => options.map(|words| words.join(" ")).collect::<Vec<_>>(),
        boot => *boot_option,
        address => line.preload.first().map(|preload| format!("{:#x}", preload.1)),
    })
}

/// Returns the files that QEMU boots.
fn boot_files(boot: &Boot) -> Result<Vec<FolderFile>> {
    let firmware = boot.file.as_ref().context(NO_BOOT_FILE)?;
    let mut files = vec![FolderFile::new("firmware.bin", &*firmware.contents)];
    for (payload, _) in &boot.in_memory {
        files.push(FolderFile::new("payload.bin", &**payload));
    }
    Ok(files)
}

/// Returns the time limit, in minutes, for a job whose run takes at most `run`.
fn minutes_of(run: Duration) -> u32 {
    let minutes = u32::try_from(run.as_secs().div_ceil(60)).unwrap_or(u32::MAX);
    minutes.saturating_add(ENGINE_MINUTES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qemu_gets_an_option_with_its_value_and_no_blanks() {
        let options = "-smp 4 -no-reboot -fw_cfg name=a,string=b,,c".split(' ');
        let mut line = CommandLine {
            machine: "virt,secure=on".to_owned(),
            cpu: "max".to_owned(),
            memory_mib: "1024".to_owned(),
            options: options.map(str::to_owned).collect(),
            serial: 0,
            boot: Some(("-bios", "/x/boot.bin".into())),
            preload: Vec::new(),
            rest: Vec::new(),
        };
        let options = qemu(&line).expect("taken apart").get_attr("options");
        let expected = "['-smp 4', '-no-reboot', '-fw_cfg name=a,string=b,,c']";
        assert_eq!(options.expect("a list").to_string(), expected);
        line.options.push("a=b c".to_owned());
        let error = qemu(&line).expect_err("a blank").to_string();
        assert!(error.contains("cannot pass spaces"), "{error}");
    }

    #[test]
    fn job_has_the_time_of_its_run() {
        assert_eq!(minutes_of(Duration::from_secs(7_201)), 121 + ENGINE_MINUTES);
        assert_eq!(minutes_of(Duration::MAX), u32::MAX);
    }
}
