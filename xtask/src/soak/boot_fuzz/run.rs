//! `cargo xtask fuzz boot`: boots wrong device trees and parameter blocks in QEMU
//! under TF-A.
//!
//! Firmware and payload are built once; each run has another image in the
//! flash. A run is good if it ends by itself with a last line, and if a PASS has
//! the figures of the unmutated run. [`super::judge`] defines both,
//! [`super::classes`] the mutations. Equal seeds give equal images.

use std::collections::BTreeMap;
use std::io::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;
use std::{fs, thread};

use anyhow::{Context, Result};
use psci_bench::model::Verdict;

use super::blob::Blob;
use super::classes::{BLOCKS, Change, Class, TREES};
use super::judge::{Judged, Outcome, Reference, Rows};
use super::mutations::Random;
use crate::board::firmware_kind::Firmware;
use crate::board::{self, Conduit, Gic, GivenStates, StateFormat};
use crate::build::firmware::Variant;
use crate::build::image;
use crate::build::image_contents::{Contents, ImageWish, contents};
use crate::build::payload::{self, Tree};
use crate::qemu::prepare::{self, Prepared};
use crate::qemu::run_spec::{Payload, RunSpec};
use crate::qemu::stream::Ending;
use crate::setup::progress::{Progress, say};
use crate::setup::workspace::Workspace;
use crate::soak::keep::Keep;

const BOARD: &str = "qemu";
const CPUS: u32 = 4;
pub(super) const PLAN: &str = "only=susp_deep_serial,cpu_susp_serial iterations=2 warmup=0";
/// Time limit of a run, in seconds; on an idle host a run takes less than one.
const TIMEOUT: u64 = 30;
/// Exit code if mutants were not judged: the unmutated run does not pass, or the user
/// has interrupted the command.
const EXIT_NOT_JUDGED: u8 = 3;

/// The options of a run.
#[derive(Clone, Debug, clap::Args)]
pub struct Options {
    /// Number of mutated device trees to boot.
    #[arg(long, value_name = "N", default_value_t = 1000)]
    pub trees: u32,
    /// Number of mutated parameter blocks to boot.
    #[arg(long, value_name = "N", default_value_t = 100)]
    pub blocks: u32,
    /// Seed of the mutations: equal seeds give equal mutations.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Number of machines at a time.
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u16).range(1..=64))]
    pub jobs: u16,
}

/// The parts of the sound image, of which mutants are made.
pub(super) struct Base {
    flat: Vec<u8>,
    contents: Contents,
}

/// An image with one mutation, which `what` describes.
pub(super) struct Mutant {
    pub(super) class: &'static Class,
    pub(super) what: String,
    pub(super) image: Vec<u8>,
}

impl Base {
    pub(super) fn of(workspace: &Workspace, args: &str) -> Result<Self> {
        let board = board::load(workspace, BOARD)?;
        let wish = ImageWish {
            cpus: CPUS,
            gic: Gic::V3,
            firmware: Firmware::TfA,
            conduit: Conduit::Smc,
            variant: Variant::default(),
            args: Some(args),
            states: GivenStates::default(),
            emulated: true,
        };
        Ok(Self {
            flat: payload::flat(workspace)?,
            contents: contents(&board, &wish, &Tree::Board)?,
        })
    }

    pub(super) fn tree(&self) -> &[u8] {
        self.contents.tree.as_deref().unwrap_or_default()
    }

    pub(super) fn image(&self, tree: &[u8]) -> Result<Vec<u8>> {
        let Contents {
            emergency, cpus, ..
        } = self.contents;
        image::assemble(self.flat.clone(), Some(tree), emergency, cpus)
    }

    /// Makes mutant `number`; the classes take turns. `number` and `seed` alone determine
    /// the mutation.
    pub(super) fn mutant(
        &self,
        classes: &'static [Class],
        number: usize,
        seed: u64,
    ) -> Result<Mutant> {
        let mut random = Random(seed ^ (number as u64 + 1) << 32 ^ classes.len() as u64);
        let class = &classes[number % classes.len()];
        let (what, image) = match class.change {
            Change::Tree(change) => loop {
                let mut tree = Blob::read(self.tree());
                if let Some(what) = change(&mut tree, &mut random) {
                    break (what, self.image(&tree.write())?);
                }
            },
            Change::Bytes(change) => {
                let mut tree = self.tree().to_vec();
                (change(&mut tree, &mut random), self.image(&tree)?)
            }
            Change::Block(change) => {
                let mut image = self.image(self.tree())?;
                (change(&mut image, &mut random), image)
            }
        };
        Ok(Mutant { class, what, image })
    }
}

/// The counts of one class, by outcome, and its findings.
#[derive(Clone, Debug, Default)]
struct Counts {
    outcomes: [u32; Outcome::ALL.len()],
    findings: u32,
}

struct Bench<'b> {
    base: Base,
    prepared: Prepared,
    reference: Reference,
    interrupt: &'b AtomicBool,
    seed: u64,
}

/// Boots mutants, and writes a table of their outcomes to `out`. Returns the exit code:
/// 1 with findings.
pub fn run(options: &Options, interrupt: &AtomicBool, out: &mut dyn Write) -> Result<u8> {
    let workspace = Workspace::find()?;
    let spec = RunSpec {
        smp: Some(CPUS),
        icount: true,
        // A placeholder: `with_image` replaces it for each run.
        payload: Payload::Image(vec![0]),
        timeout: Duration::from_secs(TIMEOUT),
        ..RunSpec::default()
    };
    let prepared = prepare::prepare(&spec)?;
    let Some(reference) = reference(&workspace, &prepared, interrupt)? else {
        return Ok(EXIT_NOT_JUDGED);
    };
    let bench = Bench {
        base: Base::of(&workspace, PLAN)?,
        prepared,
        reference,
        interrupt,
        seed: options.seed,
    };
    let keep = Keep::in_next(&workspace.state().join("fuzz").join("boot"))?;
    let dir = keep.dir().to_owned();
    let (trees, blocks) = (options.trees as usize, options.blocks as usize);
    let trees = (0..trees).map(|number| (TREES, number));
    let jobs: Vec<_> = trees.chain((0..blocks).map(|n| (BLOCKS, n))).collect();
    let counts = run_all(&bench, &jobs, options.jobs.into(), keep)?;
    write!(out, "{}", table(&counts))?;
    let findings: u32 = counts.values().map(|it| it.findings).sum();
    writeln!(out, "\nfindings: {findings}, in {}", dir.display())?;
    Ok(match findings {
        _ if interrupt.load(Ordering::Relaxed) => EXIT_NOT_JUDGED,
        0 => 0,
        _ => 1,
    })
}

/// Runs the unmutated image with the mutants' plan, and once for each power-down state,
/// and returns their rows. None if one of these runs does not pass.
fn reference(
    workspace: &Workspace,
    prepared: &Prepared,
    interrupt: &AtomicBool,
) -> Result<Option<Reference>> {
    let board = board::load(workspace, BOARD)?;
    let states = board
        .firmware(Firmware::TfA.name())?
        .idle_states(StateFormat::Original);
    let states = states.iter().filter(|state| state.is_powerdown());
    let plans = states.map(|state| {
        let value = state.power_state;
        format!("{PLAN} deepest={value:#x} core={value:#x}")
    });
    let mut reference: Option<Reference> = None;
    for plan in [PLAN.to_owned()].into_iter().chain(plans) {
        let base = Base::of(workspace, &plan)?;
        let prepared = prepared.with_image(base.image(base.tree())?)?;
        let result = prepared.run(interrupt, &mut std::io::sink())?;
        let rows = Rows::of(&result.log);
        if result.verdict != Verdict::Pass || rows.count() == 0 {
            let said = result.diagnosis.as_deref().unwrap_or(result.word());
            say(&format!(
                "the unmutated run with {plan:?} does not PASS: {said}"
            ));
            return Ok(None);
        }
        match &mut reference {
            Some(reference) => reference.all.extend(rows),
            None => {
                reference = Some(Reference {
                    unmutated: rows.clone(),
                    all: rows,
                    uart: base.contents.emergency.uart,
                });
            }
        }
    }
    Ok(reference)
}

/// Runs all mutants, `at_a_time` of them in parallel, and keeps those that are findings.
fn run_all(
    bench: &Bench<'_>,
    jobs: &[(&'static [Class], usize)],
    at_a_time: usize,
    keep: Keep,
) -> Result<BTreeMap<&'static str, Counts>> {
    let progress = Progress::start(&format!("booting {} mutants", jobs.len()));
    let next = AtomicUsize::new(0);
    let done = Mutex::new((BTreeMap::<&str, Counts>::new(), keep));
    let work = || -> Result<()> {
        loop {
            let index = next.fetch_add(1, Ordering::Relaxed);
            let Some((classes, number)) = jobs.get(index) else {
                return Ok(());
            };
            let mutant = bench.base.mutant(classes, *number, bench.seed)?;
            let Some(((outcome, finding), log)) = bench.judge(&mutant)? else {
                return Ok(());
            };
            let mut done = done.lock().unwrap_or_else(|broken| broken.into_inner());
            let (counts, keep) = &mut *done;
            let counts = counts.entry(mutant.class.name).or_default();
            let column = Outcome::ALL.iter().position(|it| *it == outcome);
            if let Some(count) = column.and_then(|column| counts.outcomes.get_mut(column)) {
                *count += 1;
            }
            counts.findings += u32::from(finding.is_some());
            note(keep, *number, &mutant, outcome, finding.as_deref(), &log)?;
            progress.percent(100.0 * index as f32 / jobs.len() as f32);
        }
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..at_a_time).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .try_for_each(|worker| worker.join().unwrap_or(Ok(())))
    })?;
    Ok(done.into_inner().unwrap_or_else(|it| it.into_inner()).0)
}

/// Adds a run to the summary, and keeps image and log of a finding.
fn note(
    keep: &mut Keep,
    number: usize,
    mutant: &Mutant,
    outcome: Outcome,
    finding: Option<&str>,
    log: &[u8],
) -> Result<()> {
    let (name, what) = (mutant.class.name, mutant.what.escape_default());
    let line = format!("{name} {number}: {}: {what}", outcome.name());
    keep.note(&line)?;
    let Some(finding) = finding else {
        return Ok(());
    };
    let file = |ending| keep.dir().join(format!("{name}-{number}.{ending}"));
    for (path, bytes) in [(file("img"), mutant.image.as_slice()), (file("log"), log)] {
        fs::write(&path, bytes).with_context(|| path.display().to_string())?;
    }
    let image = file("img");
    let again = format!(
        "  again: cargo xtask qemu --icount --smp {CPUS} --timeout {TIMEOUT} --image {}",
        image.display()
    );
    say(&format!("FOUND {line}\n  {finding}\n{again}"));
    keep.note(&format!("  FOUND: {finding}\n{again}"))
}

impl Bench<'_> {
    /// Runs a mutant, and a second time if the first run is a finding: only a second one
    /// counts. None if the user has interrupted the run.
    fn judge(&self, mutant: &Mutant) -> Result<Option<(Judged, Vec<u8>)>> {
        let prepared = self.prepared.with_image(mutant.image.clone())?;
        let mut attempts = 0;
        loop {
            let result = prepared.run(self.interrupt, &mut std::io::sink())?;
            if result.ending == Ending::Interrupted || self.interrupt.load(Ordering::Relaxed) {
                return Ok(None);
            }
            let judged = self.reference.judge(mutant.class, &mutant.image, &result);
            attempts += 1;
            if judged.1.is_none() || attempts == 2 {
                return Ok(Some((judged, result.log)));
            }
        }
    }
}

/// Returns the summary: a line for each class, one for all, and notes on the columns.
fn table(counts: &BTreeMap<&str, Counts>) -> String {
    let mut lines = format!("{:<20}", "class");
    for outcome in Outcome::ALL {
        lines.push_str(&format!("{:>11}", outcome.name()));
    }
    lines.push_str("   findings\n");
    let mut total = Counts::default();
    let mut line = |name: &str, counts: &Counts| {
        lines.push_str(&format!("{name:<20}"));
        for count in counts.outcomes {
            lines.push_str(&format!("{count:>11}"));
        }
        lines.push_str(&format!("{:>11}\n", counts.findings));
    };
    for (name, counts) in counts {
        line(name, counts);
        for (sum, count) in total.outcomes.iter_mut().zip(counts.outcomes) {
            *sum += count;
        }
        total.findings += counts.findings;
    }
    line("all", &total);
    lines.push_str(
        "\nmoved: the console moved to the tree's UART, and the last line names that UART.\n\
         mute: neither parameter block nor tree names the machine's UART. lost: a hang, or an\n\
         end without a last line.\n",
    );
    for class in TREES {
        for (what, why) in [
            ("states", class.other_states),
            ("figures", class.other_figures),
        ] {
            if let Some(why) = why {
                lines.push_str(&format!("{}: other {what} pass, as {why}.\n", class.name));
            }
        }
    }
    lines
}
