//! The `verify` verb.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use host::exit_code::FAILED;
use host::progress::say;
use host::stdout::Out;
use host::{interrupt, read_file};
use runner::build::payload;
use runner::build::test_programs::TestPrograms;
use runner::qemu::run_spec::RunSpec;
use runner::setup::workspace::Workspace;
use thiserror::Error;

use super::findings::PlacedFinding;
use super::mutations::{self, Killer};
use super::run::{CheckedRun, Checker};

/// Check cache maintenance using a cache model and mutations.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  {program} verify
  {program} verify --quick
  {program} verify --tf-a ../trusted-firmware-a

Exit codes: 1 for a finding, a run that does not pass, or an undetected mutation
Details: tools/coherence/README.md")]
pub struct VerifyArguments {
    /// Run only two CPUs and the mutations.
    #[arg(long)]
    pub quick: bool,
    /// Also run on qemu-sbsa, with this TF-A checkout.
    #[arg(long, value_name = "DIR")]
    pub tf_a: Option<PathBuf>,
}

/// A run: its options, its boot arguments, and whether to show (but not count) findings in the
/// firmware.
type RunToVerify = (&'static str, &'static str, bool);

const SUITE: &str = "iterations=1 records=none";
const WARM: &str = "iterations=1 records=none method=warm";
/// Measures only the shallowest power-down, because a deeper one flushes the L2 cache, which would
/// hide a missing clean.
const SHALLOW: &str = "iterations=1 records=none only=cpu_susp_serial";
/// Measures each idle state separately, because a deeper one flushes more than a shallower one.
const STATES: &str = "iterations=1 records=none only=idle_states,system_suspend";

const QUICK: &[RunToVerify] = &[("--smp 2 --variant coherency=sw", SUITE, true)];
const ALL: &[RunToVerify] = &[
    ("--smp 2 --variant coherency=sw", SUITE, true),
    ("--smp 2 --variant coherency=sw", STATES, false),
    ("--smp 8 --variant coherency=sw", SUITE, false),
    ("--smp 8 --variant coherency=sw", SHALLOW, false),
    ("--smp 8 --variant coherency=sw", WARM, false),
    ("--smp 8 --variant coherency=sw --gic 2", SUITE, false),
    ("--smp 8 --variant coherency=sw,timer-stop=1", SUITE, false),
    ("--smp 8 --variant coherency=sw,gic-reset=1", SUITE, false),
    ("--smp 8 --variant coherency=hw", SUITE, false),
];

/// TF-A's own platform for sbsa-ref.
const SBSA: &[RunToVerify] = &[
    ("--board qemu-sbsa --smp 2", SUITE, true),
    ("--board qemu-sbsa --smp 2", STATES, false),
    ("--board qemu-sbsa --smp 9", SUITE, false),
    ("--board qemu-sbsa --smp 9", WARM, false),
];

pub fn run(arguments: &VerifyArguments) -> Result<u8> {
    let mut out = Out::default();
    let mut is_good = true;
    let mut runs = Vec::new();
    // A checkout that cannot be built ends the command before any other run.
    if let Some(tf_a) = arguments.tf_a.as_deref() {
        for run in SBSA {
            runs.push((run, Some(tf_a)));
        }
    }
    for run in if arguments.quick { QUICK } else { ALL } {
        runs.push((run, None));
    }
    writeln!(out, "Runs without a finding in the payload")?;
    for ((options, args, with_firmware), tf_a) in runs {
        let checker = prepare(options, args, tf_a)?;
        let image = checker.image().to_vec();
        let checked = checker.check(options, image)?;
        let is_ours = |finding: &&PlacedFinding| finding.is_of_payload();
        let found = checked.findings.iter().filter(is_ours).count();
        let (blocks, maintenance) = (checked.covered.blocks, checked.covered.maintenance);
        writeln!(
            out,
            "  {options}, {args}: {found} findings, and {} in the firmware; {blocks} blocks, \
             {maintenance} maintenance instructions; {}",
            checked.findings.len() - found,
            checked.line
        )?;
        let shown = checked
            .findings
            .iter()
            .filter(|finding| *with_firmware || finding.is_of_payload());
        shown
            .into_iter()
            .try_for_each(|finding| writeln!(out, "    {finding}"))?;
        is_good &= found == 0 && checked.is_passed;
    }
    is_good &= mutate(&mut out)?;
    if !arguments.quick {
        is_good &= test(&mut out)?;
    }
    let line = if is_good {
        "verified"
    } else {
        "not verified: see above"
    };
    writeln!(out, "psci-bench: {line}")?;
    out.flush()?;
    Ok(if is_good { 0 } else { FAILED })
}

fn prepare(options: &str, args: &str, tf_a: Option<&Path>) -> Result<Checker> {
    let mut spec = RunSpec::parse(options)?;
    spec.tf_a = tf_a.map(Path::to_path_buf);
    spec.args = Some(args.to_owned());
    Checker::prepare(&spec)
}

/// Runs all mutations. Returns true if every mutation is detected in the required way.
fn mutate(out: &mut Out) -> Result<bool> {
    let checker = prepare("--smp 2 --variant coherency=sw", SHALLOW, None)?;
    let path = payload::elf(&Workspace::find()?);
    let elf = read_file::read_own(&path)?;
    let mut is_good = true;
    writeln!(out, "Mutations")?;
    for mutation in mutations::ALL {
        let (at, name) = (mutation.at, mutation.name);
        say(&format!("{at}: {name}"));
        let checked = checker.check(name, mutation.apply(checker.image(), &elf)?)?;
        let outcome = match judge(mutation.killer, &checked) {
            Ok(found) => found,
            Err(error) => {
                is_good = false;
                format!("NOT FOUND: {error}")
            }
        };
        writeln!(out, "  {at}: {name}: {outcome}")?;
    }
    Ok(is_good)
}

/// The reason why a mutation was not detected.
#[derive(Debug, Error)]
enum NotFound<'c> {
    #[error("expected {fault}; {count} findings; {line}")]
    NoSuchFault {
        fault: &'static str,
        count: usize,
        line: &'c str,
    },
    #[error("{count} findings; {line}")]
    NoDump { count: usize, line: &'c str },
}

/// Returns how a mutation was detected.
fn judge(killer: Killer, checked: &CheckedRun) -> Result<String, NotFound<'_>> {
    let line = &*checked.line;
    let count = checked
        .findings
        .iter()
        .filter(|finding| finding.is_of_payload())
        .count();
    match killer {
        Killer::Checker(fault) => {
            let found = checked
                .findings
                .iter()
                .find(|finding| finding.fault == fault && finding.is_of_payload())
                .map(|finding| format!("{count} findings, such as {finding}"));
            found.ok_or(NotFound::NoSuchFault { fault, count, line })
        }
        Killer::Dump => match (count, checked.has_dump) {
            (0, true) => Ok(format!("exception dump without a finding; {line}")),
            _ => Err(NotFound::NoDump { count, line }),
        },
        Killer::Tests { program, reason } => match count {
            0 => Ok(format!("detected only by {program}: {reason}")),
            _ => Ok(format!("{count} findings")),
        },
    }
}

/// Returns the tests that execute the entry code on the cache model.
fn before_caches(workspace: &Workspace) -> TestPrograms {
    TestPrograms {
        packages: "--package coherence --test before_caches",
        options: "",
        environment: None,
        target: workspace.target.clone(),
    }
}

/// Runs the tests that do not need a machine, and returns true if they pass.
fn test(out: &mut Out) -> Result<bool> {
    let workspace = Workspace::find()?;
    let mut is_good = true;
    for (what, programs) in [
        (
            "All instructions before the caches are on",
            before_caches(&workspace),
        ),
        ("The hand-over between CPUs", TestPrograms::loom(&workspace)),
    ] {
        say(what);
        let mut command = programs.cargo_test(&workspace);
        command.args(["--quiet", "--", "--nocapture"]);
        let output = command.output().context("cannot run cargo")?;
        interrupt::check()?;
        is_good &= output.status.success();
        let text = String::from_utf8_lossy(&output.stdout);
        writeln!(out, "{what}")?;
        let lines = text
            .lines()
            .filter(|line| line.contains(" paths") || line.starts_with("test result"));
        lines
            .into_iter()
            .try_for_each(|line| writeln!(out, "  {line}"))?;
    }
    Ok(is_good)
}
