//! The header of a run: the conditions that make its figures comparable.

use alloc::format;
use alloc::string::String;
use core::fmt::{self, Display, Write};

use super::frame;
use crate::board::{LabelSource, NoWatchdog};
use crate::image::Conduit;
use crate::measure::{Facts, Identity};
use crate::model::{Head, Label, Run};
use crate::plan::{Plan, ScenarioId, TimerPlan, WakePattern};
use crate::spec::prose::{Many, append, paragraph};
use crate::spec::ticks::Hundredths;

/// Blanks before a line that goes on: as wide as a line's name.
const INDENT: usize = 15;

/// Prints the first lines of a run.
///
/// # Errors
/// Those of `out`.
pub fn header(out: &mut dyn Write, run: &Run) -> fmt::Result {
    let (Some(head), Some(facts), Some(plan)) = (&run.head, &run.facts, &run.plan) else {
        return Ok(());
    };
    if run.has_frame() {
        frame::begin(out, facts.exception_level)?;
    }
    writeln!(out, "\npsci-bench {}", head.version)?;
    line(out, "  Board      : ", &head.model)?;
    line(out, "  CPUs       : ", &cpus(run, head, facts))?;
    let caches = facts.own.caches;
    if !caches.is_empty() {
        line(
            out,
            "  Caches     : ",
            &format_args!("{caches}: the lead's"),
        )?;
    }
    if facts.kvm {
        let unknown = "not known: KVM makes up what CCSIDR_EL1 says to its guests";
        line(out, "  Caches     : ", &unknown)?;
    }
    if let Some(mhz) = facts.own.clock_mhz {
        line(
            out,
            "  CPU clock  : ",
            &format_args!("{mhz} MHz: the lead's"),
        )?;
    }
    firmware(out, facts)?;
    clock(out, facts)?;
    line(out, "  Overheads  : ", &overheads(run, facts))?;
    line(out, "  Plan       : ", &of_plan(plan))?;
    out.write_char('\n')
}

fn line(out: &mut dyn Write, name: &str, text: &dyn Display) -> fmt::Result {
    paragraph(out, name, INDENT, text)
}

fn cpus(run: &Run, head: &Head, facts: &Facts) -> String {
    let lead = facts.lead as u16;
    let source = match head.labels {
        LabelSource::CpuMap => "cpu-map",
        LabelSource::Mpidr => "MPIDR, as there is no cpu-map",
    };
    format!(
        "{} in {}, by {source}; the lead is {} (MPIDR {:#x}, MIDR {:#x})",
        run.cpus.len(),
        Many(run.cluster_heads().count() as u64, "cluster"),
        run.label(lead),
        run.cpu(lead).mpidr.unwrap_or(0),
        facts.own.midr
    )
}

/// A version: major in bits 30:16, minor in 15:0.
struct Version(u32);

impl Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.0 >> 16 & 0x7fff, self.0 & 0xffff)
    }
}

fn firmware(out: &mut dyn Write, facts: &Facts) -> fmt::Result {
    let conduit = match facts.conduit {
        Conduit::Smc => "SMC",
        Conduit::Hvc => "HVC",
    };
    let (psci, level) = (Version(facts.psci_version), facts.exception_level);
    let e2h = if facts.e2h { ", E2H fixed at 1" } else { "" };
    let smccc = facts
        .smccc
        .map(|version| format!(", SMCCC {}", Version(version)));
    let (smccc, format) = (smccc.unwrap_or_default(), facts.state_format.name());
    line(
        out,
        "  Firmware   : ",
        &format_args!(
            "PSCI {psci} by {conduit} from EL{level}{e2h}{smccc}, power_state in the {format} format"
        ),
    )?;
    let timestamps = match facts.pmf {
        Ok(interface) => format!("PMF's, by {interface}"),
        Err(error) => format!("the caller's only; PMF's can not be read: {error}"),
    };
    line(out, "  Timestamps : ", &timestamps)
}

fn clock(out: &mut dyn Write, facts: &Facts) -> fmt::Result {
    let (counter, hz) = (facts.counter, facts.frequency);
    let text = match facts.clock().tick_ps() {
        Some(tick) => {
            let tick = Hundredths(tick / 10);
            format!("{counter} at {hz} Hz, a tick is {tick} ns")
        }
        None => format!("{counter}; {hz} Hz can not be right: all figures are in ticks"),
    };
    line(out, "  Counter    : ", &text)?;
    let (timer, intid) = (facts.timer.word(), facts.timer_intid);
    let wake_up = match (facts.gic, facts.frame) {
        (0, _) => "none: there is no GIC".into(),
        (gic, Ok(frame)) => {
            format!("{timer}, interrupt {intid}, GICv{gic}; where that stops, {frame}")
        }
        (gic, Err(_)) => format!("{timer}, interrupt {intid}, GICv{gic}"),
    };
    line(out, "  Wake-up    : ", &wake_up)?;
    let watchdog = match facts.watchdog {
        Ok(watchdog) => format!("{watchdog}, should the lead not come back"),
        // As on most boards.
        Err(NoWatchdog::NotInTree) => return Ok(()),
        Err(why) => format!("{why}"),
    };
    line(out, "  Watchdog   : ", &watchdog)
}

/// Prints which CPUs have another CNTFRQ_EL0 than the lead, which all figures and
/// deadlines go by. An operating system will go by each CPU's own, or refuse the
/// CPU.
pub(crate) fn frequencies(out: &mut dyn Write, run: &Run) -> fmt::Result {
    let hz = run.clock().hz;
    let own = |it: Identity| (it.frequency != hz).then_some(it.frequency);
    others(out, run, "Warning: ", &own, &|own, cpu| {
        format!("CNTFRQ_EL0 is {own} Hz on CPU {cpu}, and {hz} Hz on the lead")
    })
}

/// Prints the clock of a CPU that has another one than the lead, as a big core
/// and a little one have, by more than the error of the measurement.
pub(crate) fn cpu_clocks(out: &mut dyn Write, run: &Run) -> fmt::Result {
    let Some(mhz) = run.facts.and_then(|facts| facts.own.clock_mhz) else {
        return Ok(());
    };
    let own = |it: Identity| it.clock_mhz.filter(|own| own.abs_diff(mhz) > mhz / 50);
    others(out, run, "Note: ", &own, &|own, cpu| {
        format!("the clock of CPU {cpu} is {own} MHz, and the lead's {mhz} MHz")
    })
}

/// Prints a value in which other CPUs differ, by the first of them.
fn others(
    out: &mut dyn Write,
    run: &Run,
    name: &str,
    own: &dyn Fn(Identity) -> Option<u64>,
    describe: &dyn Fn(u64, Label) -> String,
) -> fmt::Result {
    let differing = |(index, cpu): (u16, &crate::model::Cpu)| Some((index, own(cpu.identity?)?));
    let mut others = (0..).zip(&run.cpus).filter_map(differing);
    let Some((first, value)) = others.next() else {
        return Ok(());
    };
    let mut text = describe(value, run.label(first));
    text += &match others.count() as u64 {
        0 => ".".into(),
        more => format!("; another one on {} more.", Many(more, "CPU")),
    };
    paragraph(out, name, name.len(), &text)
}

fn overheads(run: &Run, facts: &Facts) -> String {
    let (costs, clock) = (facts.overheads, run.clock());
    let (counter, empty) = (clock.span(costs.counter), clock.span(costs.empty));
    let mut text = format!("counter read {counter}, empty timed region {empty}");
    if let Some(read) = costs.pmf_read {
        append(&mut text, format_args!(", PMF read {}", clock.span(read)));
    }
    text
}

/// Describes the plan by the arguments that its scenarios use.
fn of_plan(plan: &Plan) -> String {
    let mut text = format!("{}", Many(plan.scenarios.len() as u64, "scenario"));
    let any = |takes: fn(ScenarioId) -> bool| plan.scenarios.iter().any(takes);
    let (suite, sweep) = (any(ScenarioId::is_suite), any(ScenarioId::is_sweep));
    let warmup = plan.warmup;
    if suite || sweep || plan.scenarios.contains(ScenarioId::CpuOn) {
        let samples = Many(plan.iterations.into(), "sample");
        append(
            &mut text,
            format_args!(", {samples} a CPU after {warmup} for warm-up"),
        );
    }
    // Sweeps are by the first method alone.
    let methods = match (suite, sweep) {
        (true, _) => usize::MAX,
        (false, sweep) => sweep.into(),
    };
    for method in plan.methods.iter().take(methods) {
        let wake = match plan.wake_by(method) {
            WakePattern::Together => "all wake together",
            WakePattern::Staggered => "wake-ups staggered",
            WakePattern::Chain => "the lead wakes the others by SGI",
        };
        append(
            &mut text,
            format_args!("; method {}, {wake}", method.word()),
        );
    }
    if any(|id| id.is_micro() && id != ScenarioId::CpuOn) {
        let (batch, batches) = plan.batches();
        let batches = Many(batches.into(), "batch");
        append(
            &mut text,
            format_args!("; loops of {batches} of {batch} after {warmup} for warm-up"),
        );
    }
    if plan.scenarios.contains(ScenarioId::TimerLatency) {
        text += &of_timers(&plan.timer);
    }
    for (name, state) in [("deepest", plan.deepest), ("core", plan.core)] {
        if let Some(state) = state {
            append(&mut text, format_args!("; {name}={state:#010x}"));
        }
    }
    text
}

/// Describes what the plan asks of the timers.
fn of_timers(timer: &TimerPlan) -> String {
    let mut text = format!(
        "; timers {} for {} s each, a period of {} us, loads {}",
        timer.timer_list(),
        timer.duration,
        timer.period,
        timer.load_list()
    );
    // None if no load writes.
    let bytes = timer.buffer();
    if bytes > 0 {
        append(&mut text, format_args!(" over {} KiB a CPU", bytes >> 10));
    }
    if let Some(us) = timer.threshold {
        append(&mut text, format_args!(", threshold {us} us"));
    }
    text
}
