//! Profiles, which show how the instructions in PSCI calls are distributed across firmware
//! functions: runs QEMU with the profile plugin. The `attribution` crate makes a profile from a run.

use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use follow::RunWatcher;
use host::TmpdirContext as _;
use host::hex::hex;
use host::log_file::LogFile;
use host::progress::StepProgress;
use host::{interrupt, read_file};
use runner::build::firmware_kind::FirmwareKind;
use runner::build::plugin;
use runner::qemu::prepared::Prepared;
use runner::qemu::run_result::RunResult;
use runner::qemu::run_spec::RunSpec;
use runner::qemu::{ICOUNT_NS, Level, prepare};
use runner::setup;
use runner::setup::newer_qemu;
use runner::setup::workspace::Workspace;
use sha2::{Digest, Sha256};
use suite::plan::{EndAction, Plan, ScenarioId};

use crate::attribution::{Code, attribute};
use crate::profile::profile::{Profile, log_hash};

const NEEDS_PMF: &str =
    "a profile needs TF-A with PMF in flash; use --firmware tf-a on --board qemu";
const NEEDS_SCENARIO: &str =
    "a profile needs a scenario that suspends CPUs, turns them off or calls PSCI_VERSION";

/// A folder with less free space than this, in bytes, is considered full.
const ROOM: usize = 1 << 16;

/// Rejects a run whose calls cannot be profiled, before anything is built.
pub fn check_plan(spec: &RunSpec) -> Result<()> {
    if spec.variant.has("pmf=off") {
        bail!("--variant pmf=off: {NEEDS_PMF}");
    }
    if !matches!(spec.firmware, FirmwareKind::TfA | FirmwareKind::TfAStock) {
        bail!("--firmware {}: {NEEDS_PMF}", spec.firmware.name());
    }
    // The payload itself rejects arguments that are not valid.
    let args = spec.args.as_deref().unwrap_or_default();
    let Ok(plan) = Plan::parse(args) else {
        return Ok(());
    };
    let has_stamps = ScenarioId::follows_method;
    if !plan.scenarios.iter().any(has_stamps) {
        bail!("--args {args}: {NEEDS_SCENARIO}");
    }
    Ok(())
}

/// Builds the plugin.
pub fn build_plugin(workspace: &Workspace) -> Result<PathBuf> {
    plugin::build(workspace, "profile-plugin")
}

/// Returns an error if there is no space for a file in `dir`, the folder for temporary files.
fn check_room(dir: &Path) -> Result<()> {
    let room = fs::write(dir.join("room"), [0; ROOM]).tmpdir_context();
    room.context("no space for the run's record; free up space, or set TMPDIR to another folder")
}

/// Returns the profile, or the reason why the run does not have one.
///
/// # Errors
/// Returns an error if `dir`, which contains the run's record, is full: in that case, the
/// missing profile is not the firmware's fault.
fn check_profile(profile: Option<Result<Profile>>, dir: &Path) -> Result<Option<Result<Profile>>> {
    if !matches!(profile, Some(Ok(_))) {
        check_room(dir)?;
    }
    Ok(profile.map(|profile| profile.context("cannot make a profile")))
}

/// A prepared run, with everything needed to profile it.
#[derive(Debug)]
pub struct ProfiledRun {
    prepared: Prepared,
    /// A hash of everything that the profile depends on.
    pub identity: String,
    conditions: String,
    code: Code,
    plugin: OsString,
}

impl ProfiledRun {
    /// Prepares a run of `spec` with the instruction clock and `samples=all`. In tests, the plugin
    /// can drop the block numbered `lose` from its record.
    pub fn prepare(spec: &RunSpec, lose: Option<u64>) -> Result<Self> {
        let mut spec = spec.clone();
        let mut args = spec.args.unwrap_or_default();
        let given = args
            .split_whitespace()
            .find(|word| word.starts_with("samples="));
        match given {
            None => args += " samples=all",
            Some("samples=all") => {}
            Some(other) => bail!("--args {other}: a profile needs samples=all"),
        }
        let park = format!("end={}", EndAction::Park.word());
        if args.split_whitespace().any(|word| word == park) {
            bail!("--args {park}: a profile needs a machine that exits when the run ends");
        }
        let conditions = format!("variant {}, args {args}", spec.variant);
        (spec.icount, spec.args) = (true, Some(args));
        check_plan(&spec)?;
        if spec.level == Level::El1 {
            bail!("--el 1: a profile identifies CPUs by VMPIDR_EL2; use --el 2");
        }
        let mut prepared = prepare::prepare(&spec)?;
        let workspace = Workspace::find()?;
        prepared.set_path(newer_qemu(&workspace)?);
        let path = prepared.bl31().context(NEEDS_PMF)?;
        let elf = read_file::read_own(&path)?;
        let code = Code::read(&elf).with_context(|| path.display().to_string())?;
        let plugin = build_plugin(&workspace)?;
        let mut hash = Sha256::new();
        hash.update(prepared.identity());
        hash.update(&elf);
        // The version also determines whether another QEMU is used instead.
        let qemu = setup::qemu_version()?;
        hash.update(format!("({}, {})", qemu.major, qemu.minor));
        hash.update(read_file::read_own(&plugin)?);
        let mut plugin = OsString::from(plugin);
        let (blocks, level) = (code.addresses(), code.power_down);
        plugin.push(format!(
            ",blocks={:x}-{:x},level={level:x}-{level:x}",
            blocks.start, blocks.end
        ));
        if let Some(block) = lose {
            plugin.push(format!(",lose={block}"));
        }
        let line = prepared.command_line();
        let machine = format!("{} {} {}", line.machine, line.cpu, line.options.join(" "));
        Ok(Self {
            identity: hex(&hash.finalize()),
            conditions: format!("{machine}; {conditions}"),
            prepared,
            code,
            plugin,
        })
    }

    /// Runs the machine and attributes the calls. UART output goes to `log`. A run without a
    /// verdict has no profile.
    pub fn run(
        mut self,
        log: Option<&mut LogFile>,
    ) -> Result<(RunResult, Option<Result<Profile>>)> {
        let dir = tempfile::tempdir().tmpdir_context()?;
        let record = dir.path().join("record");
        self.plugin.push(",out=");
        self.plugin.push(&record);
        self.prepared.add_plugin(&self.plugin);
        let progress = StepProgress::on_terminal("starting QEMU");
        let mut watcher = RunWatcher::with_progress(progress);
        watcher.log = log;
        let ran = self.prepared.run(interrupt::watch()?, &mut watcher);
        drop(watcher);
        let result = ran.map_err(|error| match format!("{error:#}").contains("-plugin") {
            true => {
                error.context("a profile needs a QEMU that supports TCG plugins, such as Debian's")
            }
            false => error,
        })?;
        let attribute = || self.attribute(&result, &record);
        let profile = (result.exit_code() <= 1).then(attribute);
        Ok((result, check_profile(profile, dir.path())?))
    }

    fn attribute(&self, result: &RunResult, record: &Path) -> Result<Profile> {
        let logged = report::log::read_complete(&result.log)?;
        let record = File::open(record).context("the plugin did not write a record")?;
        let log = log_hash(&result.log);
        let mut profile = attribute(&logged, log, record, &self.code, ICOUNT_NS)?;
        profile.conditions.clone_from(&self.conditions);
        Ok(profile)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use anyhow::anyhow;

    use super::*;

    #[test]
    fn a_full_folder_is_named_and_not_the_firmware() {
        let dir = tempfile::tempdir().expect("a folder");
        let failed = || Some(Err(anyhow!("the record is cut")));
        for profile in [None, failed()] {
            let is_failed = profile.is_some();
            let profile = check_profile(profile, dir.path()).expect("room");
            assert_eq!(profile.is_some_and(|profile| profile.is_err()), is_failed);
        }
        fs::remove_file(dir.path().join("room")).expect("the file");
        symlink("/dev/full", dir.path().join("room")).expect("a link");
        for profile in [None, failed()] {
            let error = check_profile(profile, dir.path()).expect_err("a full folder");
            let error = format!("{error:#}");
            let expected = "no space for the run's record; free up space, or set TMPDIR";
            assert!(error.starts_with(expected), "{error}");
            assert!(error.contains("No space left"), "{error}");
        }
        // If the profile already exists, no more space is needed.
        let made = Profile::synthetic(&[("s", "entry", 1, 1)]);
        assert!(check_profile(Some(Ok(made)), dir.path()).is_ok());
    }
}
