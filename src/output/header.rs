//! What the run is: the part of a report that makes its figures comparable.

use core::fmt::{self, Write};

use super::frame;
use crate::board::{LabelSource, NoWatchdog};
use crate::image::Conduit;
use crate::measure::Identity;
use crate::model::{Label, Run};
use crate::plan::{ScenarioId, TimerPlan, WakePattern};
use crate::spec::prose::{Many, Prose, paragraph};
use crate::spec::ticks::Hundredths;

/// Blanks before a line that goes on: as wide as a line's name.
const INDENT: usize = 15;

/// Prints the first lines of a run.
///
/// # Errors
/// Those of `out`.
pub fn header(out: &mut dyn Write, run: &Run<'_>) -> fmt::Result {
    if run.has_frame() {
        frame::begin(out, run)?;
    }
    writeln!(out, "\npsci-bench {}", run.version)?;
    line(out, "  Board      : ", format_args!("{}", run.model))?;
    cpus(out, run)?;
    let caches = run.facts.own.caches;
    if !caches.is_empty() {
        line(out, "  Caches     : ", format_args!("{caches}: the lead's"))?;
    }
    if run.facts.kvm {
        line(
            out,
            "  Caches     : ",
            format_args!("not known: KVM makes up what CCSIDR_EL1 says to its guests"),
        )?;
    }
    if let Some(mhz) = run.facts.own.clock_mhz {
        line(
            out,
            "  CPU clock  : ",
            format_args!("{mhz} MHz: the lead's"),
        )?;
    }
    firmware(out, run)?;
    clock(out, run)?;
    overheads(out, run)?;
    plan(out, run)?;
    out.write_char('\n')
}

fn line(out: &mut dyn Write, name: &str, text: fmt::Arguments<'_>) -> fmt::Result {
    paragraph(out, name, INDENT, &mut |prose| prose.write_fmt(text))
}

fn cpus(out: &mut dyn Write, run: &Run<'_>) -> fmt::Result {
    let lead = run.facts.lead;
    let source = match run.labels {
        LabelSource::CpuMap => "cpu-map",
        LabelSource::Mpidr => "MPIDR, as there is no cpu-map",
    };
    line(
        out,
        "  CPUs       : ",
        format_args!(
            "{} in {}, by {source}; the lead is {} (MPIDR {:#x}, MIDR {:#x})",
            run.cpus.len(),
            Many(run.cluster_heads().count() as u64, "cluster"),
            run.label(lead),
            run.cpu(lead).mpidr,
            run.facts.own.midr
        ),
    )
}

/// A version: major in bits 30:16, minor in 15:0.
struct Version(u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let version = u64::from(self.0);
        write!(f, "{}.{}", version >> 16 & 0x7fff, version & 0xffff)
    }
}

/// SMCCC_VERSION in a list, where it is known.
struct Smccc(Option<u32>);

impl fmt::Display for Smccc {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(version) => write!(f, ", SMCCC {}", Version(version)),
            None => Ok(()),
        }
    }
}

fn firmware(out: &mut dyn Write, run: &Run<'_>) -> fmt::Result {
    let facts = run.facts;
    let conduit = match facts.conduit {
        Conduit::Smc => "SMC",
        Conduit::Hvc => "HVC",
    };
    let format = facts.state_format.name();
    line(
        out,
        "  Firmware   : ",
        format_args!(
            "PSCI {} by {conduit} from EL{}{}{}, power_state in the {format} format",
            Version(facts.psci_version),
            u64::from(facts.exception_level),
            if facts.e2h { ", E2H fixed at 1" } else { "" },
            Smccc(facts.smccc)
        ),
    )?;
    match facts.pmf {
        Ok(interface) => line(
            out,
            "  Timestamps : ",
            format_args!("PMF's, by {interface}"),
        ),
        Err(error) => line(
            out,
            "  Timestamps : ",
            format_args!("the caller's only; PMF's can not be read: {error}"),
        ),
    }
}

fn clock(out: &mut dyn Write, run: &Run<'_>) -> fmt::Result {
    let facts = run.facts;
    let (counter, hz) = (facts.counter, facts.frequency);
    match facts.clock().tick_ps() {
        Some(tick) => line(
            out,
            "  Counter    : ",
            format_args!(
                "{counter} at {hz} Hz, a tick is {} ns",
                Hundredths(tick / 10)
            ),
        )?,
        None => line(
            out,
            "  Counter    : ",
            format_args!("{counter}; {hz} Hz can not be right: all figures are in ticks"),
        )?,
    }
    paragraph(out, "  Wake-up    : ", INDENT, &mut |prose| {
        if facts.gic == 0 {
            return prose.write_str("none: there is no GIC");
        }
        write!(
            prose,
            "{}, interrupt {}, GICv{}",
            facts.timer.word(),
            u64::from(facts.timer_intid),
            u64::from(facts.gic)
        )?;
        match facts.frame {
            Ok(frame) => write!(prose, "; where that stops, {frame}"),
            Err(_) => Ok(()),
        }
    })?;
    match facts.watchdog {
        Ok(watchdog) => line(
            out,
            "  Watchdog   : ",
            format_args!("{watchdog}, should the lead not come back"),
        ),
        // As on most boards.
        Err(NoWatchdog::NotInTree) => Ok(()),
        Err(why) => line(out, "  Watchdog   : ", format_args!("{why}")),
    }
}

/// Says whose CNTFRQ_EL0 is not the lead's, which all figures and deadlines go
/// by. An operating system will go by each CPU's own, or refuse the CPU.
///
/// # Errors
/// Those of `out`.
pub(crate) fn frequencies(out: &mut dyn Write, run: &Run<'_>) -> fmt::Result {
    let hz = run.facts.frequency;
    let own = |it: Identity| (it.frequency != hz).then_some(it.frequency);
    others(out, run, "Warning: ", &own, &|prose, own, cpu| {
        write!(
            prose,
            "CNTFRQ_EL0 is {own} Hz on CPU {cpu}, and {hz} Hz on the lead"
        )
    })
}

/// Prints the clock of a CPU that has another one than the lead, as a big core
/// and a little one have, by more than what measuring is wrong by.
///
/// # Errors
/// Those of `out`.
pub(crate) fn cpu_clocks(out: &mut dyn Write, run: &Run<'_>) -> fmt::Result {
    let Some(mhz) = run.facts.own.clock_mhz else {
        return Ok(());
    };
    let own = |it: Identity| it.clock_mhz.filter(|own| own.abs_diff(mhz) > mhz / 50);
    others(out, run, "Note: ", &own, &|prose, own, cpu| {
        write!(
            prose,
            "the clock of CPU {cpu} is {own} MHz, and the lead's {mhz} MHz"
        )
    })
}

/// Prints in which value other CPUs differ, by the first of them.
fn others(
    out: &mut dyn Write,
    run: &Run<'_>,
    name: &str,
    own: &dyn Fn(Identity) -> Option<u64>,
    say: &dyn Fn(&mut Prose<'_>, u64, Label) -> fmt::Result,
) -> fmt::Result {
    let mut others =
        (0..run.cpus.len()).filter_map(|index| Some((index, own((run.identity)(index)?)?)));
    let Some((first, value)) = others.next() else {
        return Ok(());
    };
    paragraph(out, name, name.len(), &mut |prose| {
        say(prose, value, run.label(first))?;
        match others.clone().count() as u64 {
            0 => prose.write_str("."),
            more => write!(prose, "; another one on {} more.", Many(more, "CPU")),
        }
    })
}

fn overheads(out: &mut dyn Write, run: &Run<'_>) -> fmt::Result {
    let (costs, unit) = (run.facts.overheads, run.unit());
    paragraph(out, "  Overheads  : ", INDENT, &mut |prose| {
        write!(
            prose,
            "counter read {}, empty timed region {}",
            unit.span(costs.counter),
            unit.span(costs.empty)
        )?;
        match costs.pmf_read {
            Some(read) => write!(prose, ", PMF read {}", unit.span(read)),
            None => Ok(()),
        }
    })
}

fn plan(out: &mut dyn Write, run: &Run<'_>) -> fmt::Result {
    let plan = run.plan;
    paragraph(out, "  Plan       : ", INDENT, &mut |prose| {
        write!(prose, "{}", Many(plan.scenarios.len() as u64, "scenario"))?;
        // Only what plays a part in one of them.
        let any = |takes: fn(ScenarioId) -> bool| plan.scenarios.iter().any(takes);
        let (suite, sweep) = (any(ScenarioId::is_suite), any(ScenarioId::is_sweep));
        let warmup = u64::from(plan.warmup);
        if suite || sweep || plan.scenarios.contains(ScenarioId::CpuOn) {
            write!(
                prose,
                ", {} a CPU after {warmup} for warm-up",
                Many(plan.iterations.into(), "sample")
            )?;
        }
        if suite || sweep {
            prose.write_char(';')?;
            // Sweeps are by the first alone.
            let methods = if suite { usize::MAX } else { 1 };
            for (place, method) in plan.methods.iter().take(methods).enumerate() {
                let wake = match plan.wake_by(method) {
                    WakePattern::Together => "all wake together",
                    WakePattern::Staggered => "wake-ups staggered",
                    WakePattern::Chain => "the lead wakes the others by SGI",
                };
                let mark = if place > 0 { ";" } else { "" };
                write!(prose, "{mark} method {}, {wake}", method.word())?;
            }
        }
        if any(|id| id.is_micro() && id != ScenarioId::CpuOn) {
            let (batch, batches) = plan.batches();
            let (batch, batches) = (u64::from(batch), Many(batches.into(), "batch"));
            write!(
                prose,
                "; loops of {batches} of {batch} after {warmup} for warm-up"
            )?;
        }
        if plan.scenarios.contains(ScenarioId::TimerLatency) {
            timer(prose, &plan.timer)?;
        }
        for (name, state) in [("deepest", plan.deepest), ("core", plan.core)] {
            if let Some(state) = state {
                write!(prose, "; {name}={:#010x}", u64::from(state))?;
            }
        }
        Ok(())
    })
}

/// What is asked of the timers.
fn timer(prose: &mut Prose<'_>, timer: &TimerPlan) -> fmt::Result {
    write!(
        prose,
        "; timers {} for {} s each, a period of {} us, loads {}",
        timer.timer_list(),
        u64::from(timer.duration),
        u64::from(timer.period),
        timer.load_list()
    )?;
    // None where no load writes.
    match timer.buffer() {
        0 => {}
        bytes => write!(prose, " over {} KiB a CPU", bytes >> 10)?,
    }
    match timer.threshold {
        Some(us) => write!(prose, ", threshold {} us", u64::from(us)),
        None => Ok(()),
    }
}

impl Run<'_> {
    /// The first CPU of each cluster, by index in the board's order.
    pub(crate) fn cluster_heads(&self) -> impl Iterator<Item = usize> {
        let is_first = |index: &usize| {
            let cluster = self.cpu(*index).cluster;
            let first = self.cpus.iter().position(|c| c.cluster == cluster);
            first == Some(*index)
        };
        (0..self.cpus.len()).filter(is_first)
    }
}
