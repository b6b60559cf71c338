//! Boots invalid device trees and parameter blocks in QEMU under TF-A.
//!
//! The firmware and the payload are built once. Each run boots a different image from flash. A run
//! is good if it prints its last line, QEMU exits on its own and, for a PASS, its figures match the
//! unmutated run's. [`crate::judge`] defines the rules, and [`crate::classes`] the mutations.

use std::fs;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context, Result};
use boards::{Conduit, GicVersion, StateFormat};
use fdt_blob::Blob;
use hardware::image::{PARAMETER_BLOCK, PARAMETER_BLOCK_SIZE};
use host::progress::{StepProgress, above_steps, say};
use report::follow::stream::MachineEnding;
use run::model::Verdict;

use crate::classes::{BLOCKS, Class, TREES, TreeChange};
use crate::judge::{BootOutcome, JudgedBoot, Reference, Rows, read_rows};
use crate::mutations::{FuzzRandom, change_byte, change_field, flip};
use xtask::build::GivenStates;
use xtask::build::firmware::Variant;
use xtask::build::firmware_kind::FirmwareKind;
use xtask::build::image;
use xtask::build::image_contents::{Contents, ImageWish, contents};
use xtask::build::payload::{self, TreeSource};
use xtask::qemu::prepare::{self, Prepared};
use xtask::qemu::run_spec::{Payload, RunSpec};
use xtask::setup::workspace::Workspace;
use xtask::soak::Keep;
use xtask::soak::in_threads;

const BOARD: &str = "qemu";
const CPUS: u32 = 4;
pub const PLAN: &str = "only=susp_deep_serial,cpu_susp_serial iterations=2 warmup=0";
/// Time limit for a run, in seconds. A run takes less than a second on an idle host.
const TIMEOUT: u64 = 30;
/// Exit code if the mutants could not be evaluated because the unmutated run did not pass or the
/// user interrupted the command.
const EXIT_NOT_JUDGED: u8 = 3;

/// The command's options.
#[derive(Clone, Debug, clap::Args)]
pub struct FuzzOptions {
    /// Number of mutated device trees to boot.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub trees: u32,
    /// Number of mutated parameter blocks to boot.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub blocks: u32,
    /// Mutation seed. The same seed produces the same mutations.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Number of machines to run in parallel.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: u16,
}

/// The components of the unmutated image.
pub struct Base {
    flat: Vec<u8>,
    contents: Contents,
}

/// An image with one mutation. `what` describes the mutation.
pub struct Mutant {
    pub class: &'static Class,
    pub what: String,
    pub image: Vec<u8>,
}

impl Base {
    /// Builds the payload, and a tree with `args` as its boot arguments.
    pub fn of(workspace: &Workspace, args: &str) -> Result<Self> {
        let board = boards::load(BOARD)?;
        let wish = ImageWish {
            cpus: CPUS,
            gic: GicVersion::V3,
            firmware: FirmwareKind::TfA,
            conduit: Conduit::Smc,
            variant: Variant::default(),
            args: Some(args),
            states: GivenStates::default(),
            emulated: true,
        };
        Ok(Self {
            flat: payload::flat(workspace)?,
            contents: contents(&board, &wish, &TreeSource::Board)?,
        })
    }

    /// Returns the unmutated tree.
    pub fn tree(&self) -> &[u8] {
        let tree = self.contents.tree.as_deref();
        tree.expect("the board's tree was requested")
    }

    /// Returns the payload image with `tree` appended.
    pub fn image(&self, tree: &[u8]) -> Result<Vec<u8>> {
        let it = &self.contents;
        image::assemble(self.flat.clone(), Some(tree), it.emergency, it.cpus)
    }

    /// Creates mutant `number`. Cycles through `classes`. The mutation depends only on `number` and
    /// `seed`.
    pub fn mutant(&self, classes: &'static [Class], number: usize, seed: u64) -> Result<Mutant> {
        let mut random = FuzzRandom(seed ^ (number as u64 + 1) << 32 ^ classes.len() as u64);
        let random = &mut random;
        let class = &classes[number % classes.len()];
        let mut image = self.image(self.tree())?;
        // Marks are written before exceptions can be handled.
        image::enable_boot_log(&mut image)?;
        let block = &mut image[PARAMETER_BLOCK..][..PARAMETER_BLOCK_SIZE];
        let what = match class.change {
            TreeChange::Tree(change) => loop {
                let mut tree = Blob::read(self.tree());
                if let Some(what) = change(&mut tree, random) {
                    image = self.image(&tree.write())?;
                    break what;
                }
            },
            TreeChange::Field(at) => change_field(block, random, at),
            TreeChange::Byte(at, size) => {
                let at = at + random.below(size);
                change_byte(block, random, at)
            }
            TreeChange::Bits => flip(block, random),
        };
        Ok(Mutant { class, what, image })
    }
}

/// The number of mutants with each outcome, and the number of findings.
type OutcomeCounts = ([u32; BootOutcome::ALL.len()], u32);

struct FuzzBench<'b> {
    base: Base,
    prepared: Prepared,
    reference: Reference,
    interrupt: &'b AtomicBool,
    seed: u64,
}

/// Boots mutants and writes the number of runs with each outcome to `out`. Returns the exit code,
/// which is 1 if there are findings.
pub fn run(options: &FuzzOptions, interrupt: &AtomicBool, out: &mut dyn Write) -> Result<u8> {
    let workspace = Workspace::find()?;
    let spec = RunSpec {
        smp: Some(CPUS),
        icount: true,
        // A placeholder, which `with_image` replaces for each run.
        payload: Payload::Image(vec![0]),
        timeout: Duration::from_secs(TIMEOUT),
        ..RunSpec::default()
    };
    let prepared = prepare::prepare(&spec)?;
    let Some(reference) = reference(&workspace, &prepared, interrupt)? else {
        return Ok(EXIT_NOT_JUDGED);
    };
    let bench = FuzzBench {
        base: Base::of(&workspace, PLAN)?,
        prepared,
        reference,
        interrupt,
        seed: options.seed,
    };
    let keep = Keep::in_next(&workspace.state().join("fuzz").join("boot"))?;
    let dir = keep.dir().to_owned();
    let trees = (0..options.trees).map(|number| (TREES, number));
    let blocks = (0..options.blocks).map(|number| (BLOCKS, number));
    let jobs: Vec<_> = trees.chain(blocks).collect();
    let (counts, findings) = run_all(&bench, &jobs, options.jobs, keep)?;
    for (count, outcome) in counts.iter().zip(BootOutcome::ALL) {
        writeln!(out, "{count:>6} {}", outcome.name())?;
    }
    writeln!(out, "findings: {findings}, in {}", dir.display())?;
    Ok(match findings {
        _ if interrupt.load(Ordering::Relaxed) => EXIT_NOT_JUDGED,
        0 => 0,
        _ => 1,
    })
}

/// Runs the unmutated image, first with the plan used for mutants and then with each power-down
/// state in turn, and returns the resulting rows. Returns None if any run does not pass.
fn reference(
    workspace: &Workspace,
    prepared: &Prepared,
    interrupt: &AtomicBool,
) -> Result<Option<Reference>> {
    let board = boards::load(BOARD)?;
    let firmware = board.firmware(FirmwareKind::TfA.name())?;
    let states = firmware.idle_states(StateFormat::Original);
    let states = states.iter().filter(|state| state.is_powerdown());
    let values = states.map(|state| state.power_state);
    let plans = values.map(|value| format!("{PLAN} deepest={value:#x} core={value:#x}"));
    let mut reference: Option<Reference> = None;
    for plan in [PLAN.to_owned()].into_iter().chain(plans) {
        let base = Base::of(workspace, &plan)?;
        let prepared = prepared.with_image(base.image(base.tree())?)?;
        let result = prepared.run(interrupt, &mut io::sink())?;
        let rows = read_rows(&result.log);
        if result.verdict != Verdict::Pass || rows.is_empty() {
            let line = result.line();
            say(&format!(
                "the unmutated run with {plan:?} did not pass: {line}"
            ));
            return Ok(None);
        }
        let reference = reference.get_or_insert_with(|| Reference {
            unmutated: rows.clone(),
            all: Rows::default(),
            uart: base.contents.emergency.uart,
        });
        reference.all.extend(rows);
    }
    Ok(reference)
}

/// Runs all mutants, `at_a_time` of them in parallel, and keeps the findings. Stops early if
/// interrupted.
fn run_all(
    bench: &FuzzBench<'_>,
    jobs: &[(&'static [Class], u32)],
    at_a_time: u16,
    keep: Keep,
) -> Result<OutcomeCounts> {
    let progress = StepProgress::start(&format!("booting {} mutants", jobs.len()));
    let next = AtomicUsize::new(0);
    let done = Mutex::new((OutcomeCounts::default(), keep));
    let work = || -> Result<()> {
        while let index = next.fetch_add(1, Ordering::Relaxed)
            && let Some((classes, number)) = jobs.get(index)
        {
            let mutant = bench.base.mutant(classes, *number as usize, bench.seed)?;
            let Some((judged, log)) = bench.judge(&mutant)? else {
                break;
            };
            let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
            let ((counts, findings), keep) = &mut *done;
            for (count, outcome) in counts.iter_mut().zip(BootOutcome::ALL) {
                *count += u32::from(outcome == judged.0);
            }
            *findings += u32::from(judged.1.is_some());
            above_steps(|| note(keep, *number, &mutant, &judged, &log))?;
            progress.percent(100.0 * index as f32 / jobs.len() as f32);
        }
        Ok(())
    };
    in_threads(at_a_time.into(), work)?;
    let done = done.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(done.0)
}

/// Adds a run to the summary. If the run is a finding, also keeps its image and log.
fn note(
    keep: &mut Keep,
    number: u32,
    mutant: &Mutant,
    (outcome, finding): &JudgedBoot,
    log: &[u8],
) -> Result<()> {
    let (name, what) = (mutant.class.name, mutant.what.escape_default());
    let line = format!("{name} {number}: {}: {what}", outcome.name());
    keep.note(&line)?;
    let Some(finding) = finding else {
        return Ok(());
    };
    let file = |ending| keep.dir().join(format!("{name}-{number}.{ending}"));
    let image = file("img");
    for (path, bytes) in [(&image, mutant.image.as_slice()), (&file("log"), log)] {
        fs::write(path, bytes).with_context(|| path.display().to_string())?;
    }
    let again = format!("cargo xtask qemu --icount --smp {CPUS} --timeout {TIMEOUT} --image");
    let found = format!("{finding}\n  again: {again} {}", image.display());
    say(&format!("FOUND {line}\n  {found}"));
    keep.note(&format!("  FOUND: {found}"))
}

impl FuzzBench<'_> {
    /// Runs a mutant. If the result is a finding, runs the mutant again and returns the second
    /// result, because findings must be reproducible. Returns None if the user interrupts a run.
    fn judge(&self, mutant: &Mutant) -> Result<Option<(JudgedBoot, Vec<u8>)>> {
        let prepared = self.prepared.with_image(mutant.image.clone())?;
        let mut is_second = false;
        loop {
            let result = prepared.run(self.interrupt, &mut io::sink())?;
            if result.ending == MachineEnding::Interrupted || self.interrupt.load(Ordering::Relaxed)
            {
                return Ok(None);
            }
            let judged = self.reference.judge(mutant.class, &mutant.image, &result);
            if judged.1.is_none() || is_second {
                return Ok(Some((judged, result.log)));
            }
            is_second = true;
        }
    }
}
