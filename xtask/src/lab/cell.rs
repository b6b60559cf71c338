//! A cell: the folder for one board, one firmware and one lab engine.
//!
//! `docs/ci/lab.sh` runs all the cells below a folder. `cell.json` identifies the board, the firmware
//! and the engine.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use boards::{BoardFile, Deploy, MINUTES_MAX};
use clap::Args;
use minijinja::context;
use minijinja::value::{Serde, Value};
use run::plan::{Method, Plan};

use super::cell_folder::{CellFolder, Ready};
use super::engine::{Engine, Names};
use super::mark::{MARK, Mark};
use super::{monitors, templates, words};
use crate::build::package;
use crate::qemu::prepare::Prepared;
use crate::qemu::{CommandLine, PROGRAM};

/// The default time limit for a job on QEMU, in minutes, unless the plan needs more.
const QEMU_MINUTES: u32 = 10;
const BOARD_MINUTES: u32 = 30;
/// The time that an engine needs to copy files and start a board, in minutes.
const ENGINE_MINUTES: u32 = 2;

/// The file that the board boots from.
pub enum Content {
    Qemu(Box<Prepared>),
    Recovery(Vec<u8>),
    /// A file that the user has to copy to the board.
    Loose(Vec<u8>),
}

const RECOVERY: &str = "recovery.zip";

/// Options for a job.
#[derive(Clone, Debug, Default, Args)]
pub struct JobOptions {
    /// Minutes for a job [default: the board file's].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MINUTES_MAX)))]
    pub minutes: Option<u32>,
    /// A job fails if it skips a scenario or a CPU's row.
    #[arg(long)]
    pub deny_skipped: bool,
}

/// The options for a LAVA job.
#[derive(Clone, Debug, Default, Args)]
pub struct LavaOptions {
    /// Address of the -o directory [default: file:// and its path].
    #[arg(long, value_name = "URL", value_parser = words::url)]
    pub url: Option<String>,
    /// Device type [default: the board file's].
    #[arg(long, value_name = "TYPE", value_parser = words::device_type)]
    pub device_type: Option<String>,
    /// Tags that the device must have.
    #[arg(long, value_name = "TAG,…", value_delimiter = ',', value_parser = words::tag)]
    pub tags: Vec<String>,
}

/// The options for a labgrid job.
#[derive(Clone, Debug, Default, Args)]
pub struct LabgridOptions {
    /// Place on the coordinator [default: the board name].
    #[arg(long, value_name = "PLACE", value_parser = words::printable)]
    pub place: Option<String>,
}

/// The engine for a job, and its options.
#[derive(Clone, Copy, Debug)]
pub enum EngineOptions<'o> {
    Lava(&'o LavaOptions),
    Labgrid(&'o LabgridOptions),
}

impl EngineOptions<'_> {
    /// Returns the engine.
    pub fn engine(self) -> Engine {
        match self {
            Self::Lava(_) => Engine::Lava,
            Self::Labgrid(_) => Engine::Labgrid,
        }
    }
}

/// A cell that has not been written yet.
pub struct LabCell<'c> {
    pub names: Names,
    pub place: CellFolder,
    pub board: &'c BoardFile,
    pub plan: Plan,
    pub cpus: u32,
    /// The plan's maximum duration, which is also the minimum time limit for a job.
    pub run: Duration,
    pub options: &'c JobOptions,
    pub engine: EngineOptions<'c>,
    pub content: Content,
}

/// Rejects plans and CPU counts that `engine` does not support.
pub fn check(engine: Engine, plan: &Plan, cpus: u32) -> Result<()> {
    if plan.list {
        bail!("--args only=help: this only lists scenarios, so no job can pass");
    }
    if !plan.methods.iter().any(|method| method == Method::Tftf) {
        bail!("--args method=warm: engines need the output of method=tftf; use method=tftf,warm");
    }
    if plan.scenarios.suite().is_empty() {
        bail!("--args only=: engines need at least one scenario from TF-A's suite");
    }
    if engine == Engine::Lava && cpus > monitors::CPUS_MAX {
        bail!(
            "LAVA looks for a result in the last 4000 characters, but the rows for {cpus} \
             CPUs may be longer; use --smp {} or less, or `cargo xtask lab labgrid`",
            monitors::CPUS_MAX
        );
    }
    Ok(())
}

impl LabCell<'_> {
    /// Returns all the files in the cell without writing them. The last file marks the folder as a
    /// cell.
    pub fn ready(&self) -> Result<Ready> {
        let (mut files, qemu) = match &self.content {
            Content::Qemu(run) => {
                let line = run.command_line();
                (read_files(line)?, Some(qemu(line)?))
            }
            Content::Recovery(data) => (vec![(RECOVERY.to_owned(), data.clone())], None),
            Content::Loose(data) => {
                let file = package::package(self.board)?.file.clone();
                (vec![(file, data.clone())], None)
            }
        };
        let names: &[&'static str] = match (self.engine, &qemu) {
            (EngineOptions::Lava(_), Some(_)) => &["job.yaml", "device.yaml", "device.jinja2"],
            (EngineOptions::Lava(_), None) => &["job.yaml"],
            (EngineOptions::Labgrid(_), _) => &["env.yaml", "test_psci_bench.py", "pytest.ini"],
        };
        for (name, text) in templates::render(names, &self.context(qemu)?)? {
            files.push((name.to_owned(), text.into_bytes()));
        }
        let mark = Mark {
            engine: self.names.engine.to_string(),
            board: self.names.board.clone(),
            firmware: self.names.firmware.clone(),
            minutes: self.minutes(),
            deny_skipped: self.options.deny_skipped,
        };
        let mark = serde_json::to_string_pretty(&mark)? + "\n";
        files.push((MARK.to_owned(), mark.into_bytes()));
        let place = self.place.clone();
        Ok(Ready { place, files })
    }

    fn minutes(&self) -> u32 {
        let usual = match (&self.content, &self.board.lab) {
            (Content::Qemu(_), _) => QEMU_MINUTES,
            (_, Some(lab)) => lab.minutes,
            (_, None) => BOARD_MINUTES,
        };
        self.options
            .minutes
            .unwrap_or(usual.max(minutes_of(self.run)))
    }

    /// Returns the values for the templates of the cell's engine.
    fn context(&self, qemu: Option<Value>) -> Result<Value> {
        let (board, firmware) = (&self.names.board, &self.names.firmware);
        let both = context! { board, firmware, minutes => self.minutes(), qemu };
        let of_engine = match self.engine {
            EngineOptions::Lava(options) => self.for_lava(options)?,
            EngineOptions::Labgrid(options) => {
                let suite = self.plan.scenarios.suite();
                let scenarios: Vec<_> = suite.iter().map(|it| (it.tag(), it.name())).collect();
                let (place, deny_skipped) = (&options.place, self.options.deny_skipped);
                context! { place, deny_skipped, scenarios }
            }
        };
        Ok(context! { ..both, ..of_engine })
    }

    fn for_lava(&self, options: &LavaOptions) -> Result<Value> {
        let url = match &options.url {
            Some(url) => format!("{}/{}", url.trim_end_matches('/'), self.names.folder()),
            None => file_url(&self.place.path)?,
        };
        let lab = match (&self.content, &self.board.lab) {
            (Content::Qemu(_), _) => None,
            (Content::Recovery(_), Some(lab)) => Some(lab),
            _ => bail!(
                "{}: its board file has no [lab] table to define how LAVA installs files; use \
                 `cargo xtask lab labgrid`",
                self.board.title
            ),
        };
        let usual = lab.map_or("qemu", |lab| &lab.device_type);
        let device_type = options.device_type.as_deref().unwrap_or(usual);
        let monitors = monitors::list(&self.plan, self.cpus, self.options.deny_skipped);
        Ok(context! {
            url,
            device_type,
            tags => &options.tags,
            monitors => Serde(&monitors),
            recovery => RECOVERY,
            is_vemsd => lab.is_some_and(|lab| lab.deploy == Deploy::Vemsd),
            console => lab.and_then(|lab| lab.console.as_ref()),
            prompt => lab.and_then(|lab| lab.prompt.as_ref()),
        })
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
    let options = line.options.chunk_by(|_, next| !next.starts_with('-'));
    Ok(context! {
        program => PROGRAM,
        machine => &line.machine,
        cpu => &line.cpu,
        memory_mib => &line.memory_mib,
        options => options.map(|words| words.join(" ")).collect::<Vec<_>>(),
        boot => boot(line)?.0,
        address => line.preload.first().map(|it| format!("{:#x}", it.1)),
    })
}

fn boot(line: &CommandLine) -> Result<&(&'static str, PathBuf)> {
    let lacking = "an engine needs a file that QEMU boots from";
    line.boot.as_ref().context(lacking)
}

fn read_files(line: &CommandLine) -> Result<Vec<(String, Vec<u8>)>> {
    let payload = line.preload.iter().map(|it| ("payload.bin", &it.0));
    let files = [("firmware.bin", &boot(line)?.1)];
    let files = files.into_iter().chain(payload);
    let read = |(name, path): (&str, &PathBuf)| {
        let data = fs::read(path).with_context(|| path.display().to_string())?;
        Ok((name.to_owned(), data))
    };
    files.map(read).collect()
}

/// Returns the URL of the folder at `place` for a LAVA dispatcher on this machine. The dispatcher
/// does not decode `%` escapes, so some characters cannot be represented.
fn file_url(place: &Path) -> Result<String> {
    let at = || {
        format!(
            "-o {}: a file:// URL cannot represent this folder; use --url",
            place.display()
        )
    };
    let path = place.to_str().with_context(at)?;
    if words::parts(path).is_some() || words::printable(path).is_err() {
        bail!(
            "{}, or a name that contains no '?', '#' or control characters",
            at()
        );
    }
    Ok(format!("file://{path}"))
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
