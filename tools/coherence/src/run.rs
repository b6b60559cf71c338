//! Runs under the coherence checker.

use std::ffi::OsString;
use std::fs;

use anyhow::{Context, Result};
use follow::RunWatcher;
use hardware::board::Region;
use host::TmpdirContext as _;
use host::progress::StepProgress;
use host::{interrupt, read_file};
use object::{Object, ObjectSymbol};
use runner::build::plugin;
use runner::qemu::prepare;
use runner::qemu::prepared::Prepared;
use runner::qemu::run_spec::RunSpec;
use runner::setup::newer_qemu;
use runner::setup::workspace::Workspace;
use serde::Deserialize;

use super::findings::{self, Covered, PlacedFinding};

/// The name of this tool's table in a board file.
const TOOL: &str = "coherence";
/// The package of the plugin.
const PLUGIN: &str = "coherence-plugin";
/// Functions in which a CPU discards the state that it loses in a power-down, or would lose on a
/// board. BL31 contains one of them: on the overlay platform, the first; on TF-A's own platforms
/// for QEMU, the second, in which a CPU waits to be started again. In both functions, the CPU's
/// caches are already off.
const POWER_LOSS: [&str; 2] = ["lose_system_registers", "plat_secondary_cold_boot_setup"];
/// Part of an exception dump.
const DUMP: &str = "ESR";

/// This tool's table in a board file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct BoardTable {
    /// The memory of QEMU's machine that only the secure world can access.
    secure_memory: Region,
}

/// A machine that runs with the checker.
#[derive(Debug)]
pub struct Checker {
    prepared: Prepared,
    plugin: OsString,
    power_loss: u64,
}

/// The result of a run.
#[derive(Debug)]
pub struct CheckedRun {
    /// All findings.
    pub findings: Vec<PlacedFinding>,
    /// The code that was executed.
    pub covered: Covered,
    /// The verdict and duration of the run.
    pub line: String,
    /// True if the run passed and CPUs lost power during it.
    pub is_passed: bool,
    /// True if a CPU printed an exception dump.
    pub has_dump: bool,
}

/// Returns the plugin's arguments for the machine's memory and clusters.
fn memory(spec: &RunSpec) -> Result<String> {
    let board = boards::load(&spec.board)?;
    let recipe = board
        .qemu
        .as_ref()
        .context("QEMU does not emulate this board")?;
    let firmware = board.firmware(spec.firmware.name())?;
    let clusters = board.with_clusters_of(firmware).all_clusters();
    let cluster = clusters.first().map_or(1, Vec::len);
    let begin = board.memory_base();
    let end = begin + (recipe.memory_mib << 20);
    let table = board.tool_table::<BoardTable>(TOOL)?;
    let secure = table
        .with_context(|| format!("the board file of {} has no [tool.coherence]", spec.board))?
        .secure_memory;
    Ok(format!(
        ",memory={begin:x}-{end:x},secure={:x}-{:x},cluster=0-{cluster:x}",
        secure.base,
        secure.end()
    ))
}

impl Checker {
    /// Prepares `spec` with a QEMU that supports the plugin.
    pub fn prepare(spec: &RunSpec) -> Result<Self> {
        let workspace = Workspace::find()?;
        let mut spec = spec.clone();
        spec.icount = true;
        let mut prepared = prepare::prepare(&spec)?;
        prepared.set_path(newer_qemu(&workspace)?);
        let mut plugin = OsString::from(plugin::build(&workspace, PLUGIN)?);
        plugin.push(memory(&spec)?);
        let bl31 = prepared.bl31().context("the checker needs TF-A in flash")?;
        let elf = read_file::read_own(&bl31)?;
        let file = object::File::parse(&*elf)?;
        let loss = POWER_LOSS
            .iter()
            .find_map(|name| file.symbol_by_name(name))
            .with_context(|| format!("bl31.elf contains none of {}", POWER_LOSS.join(", ")))?;
        Ok(Self {
            prepared,
            plugin,
            power_loss: loss.address(),
        })
    }

    /// Returns BL33.
    pub fn image(&self) -> &[u8] {
        &self.prepared.boot().image
    }

    /// Runs with `image` as BL33, which must have the same size as [`Self::image`].
    pub fn check(&self, what: &str, image: Vec<u8>) -> Result<CheckedRun> {
        let mut prepared = self.prepared.with_image(image)?;
        let dir = tempfile::tempdir().tmpdir_context()?;
        let out = dir.path().join("findings");
        let map = &self.prepared.boot().map;
        // The loaded image occupies whole pages of memory.
        let (begin, end) = (map.image, map.image + map.size.next_multiple_of(4096));
        let mut argument = self.plugin.clone();
        let loss = self.power_loss;
        argument.push(format!(
            ",entry={begin:x}-{end:x},loss={loss:x}-{loss:x},out="
        ));
        argument.push(&out);
        prepared.add_plugin(&argument);
        let progress = StepProgress::on_terminal(what);
        let mut watcher = RunWatcher::with_progress(progress);
        let ran = prepared.run(interrupt::watch()?, &mut watcher);
        drop(watcher);
        let result = ran?;
        interrupt::check()?;
        let text = fs::read_to_string(&out).with_context(|| result.line())?;
        let (findings, covered) = findings::read(&text, map).with_context(|| result.line())?;
        Ok(CheckedRun {
            findings,
            is_passed: result.exit_code() == 0 && covered.losses > 0,
            has_dump: result.text().contains(DUMP),
            covered,
            line: result.line(),
        })
    }
}
