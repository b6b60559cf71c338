//! `dt`: a device tree's `idle-states` node, with the worst that was measured.
//!
//! The binding asks for worst cases. So each latency is the maximum over all
//! CPUs, all scenarios that suspend to the state, and all samples, the cold
//! first one included:
//!
//! * `entry-latency-us` of Powerdown: in parallel that holds the queue for
//!   the firmware's locks, and for a last man the cluster's flush;
//! * `exit-latency-us` of Wakeup, and of Wake, which is the same as the
//!   caller sees it, from the instant at which the wake-up was due; not where
//!   the lead's SGI wakes them one after another, which is no latency of
//!   theirs.
//!
//! `min-residency-us` is a matter of energy, which nobody measured here: what
//! is given is its lower bound, entry and exit.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::{Result, bail};
use psci_bench::plan::{ScenarioId, WakePattern};
use psci_bench::sample::Metric;

use super::super::model::{Report, Row, Run, Term, Test, heading};
use super::{Exporter, Options, only_run};

/// The exporter.
pub(super) struct DeviceTree;

/// A worst case, and where it was seen.
#[derive(Clone, Copy)]
struct Worst<'r> {
    ticks: u64,
    metric: Metric,
    test: &'r Test,
    row: &'r Row,
    /// Whether it is the first sample of all, which no statistic has.
    cold: bool,
}

/// An idle state.
struct State<'r> {
    power_state: u32,
    /// Of a scenario that suspends to the deepest level.
    deepest: bool,
    tests: Vec<&'r Test>,
}

impl Exporter for DeviceTree {
    fn name(&self) -> &'static str {
        "dt"
    }

    fn about(&self) -> &'static str {
        "a device tree's idle-states node, of the worst that was measured"
    }

    fn write(&self, report: &Report, _: &Options, out: &mut dyn Write) -> Result<()> {
        let run = only_run(report, "dt")?;
        check(run)?;
        let states = states(run);
        for state in &states {
            all_cpus(run, state)?;
        }
        if states.is_empty() {
            bail!(
                "{}: no scenario has suspended a CPU: there is nothing for idle-states",
                run.source.input
            );
        }
        let mut text = header(run);
        text.push_str("idle-states {\n\tentry-method = \"psci\";\n");
        for state in &states {
            text.push('\n');
            text.push_str(&node(run, state)?);
        }
        text.push_str("};\n");
        out.write_all(text.as_bytes())?;
        Ok(())
    }
}

/// Worst cases are of all samples or of none.
fn check(run: &Run) -> Result<()> {
    let input = &run.source.input;
    if run.integrity.records.is_none() {
        bail!("{input}: no records: what is in lines without a checksum is no worst case");
    }
    if !run.integrity.is_verified() || !run.is_complete() {
        bail!(
            "{input}: not all records came through, or the run did not reach its end: the worst \
             case may be in what is missing"
        );
    }
    if !run.clock().is_known() {
        bail!("{input}: the counter's frequency is not known, and idle-states are in us");
    }
    Ok(())
}

/// Refuses a state that was not measured on every CPU: the worst case may be
/// that of the one which is missing.
fn all_cpus(run: &Run, state: &State<'_>) -> Result<()> {
    for test in &state.tests {
        let measured = |cpu: usize| test.row(cpu).is_some_and(|row| !row.figures.is_empty());
        let missing = (0..run.cpus.len()).find(|cpu| !measured(*cpu));
        let Some(cpu) = missing.and_then(|cpu| run.cpus.get(cpu)) else {
            continue;
        };
        bail!(
            "{}: {} has no sample of CPU {}.{}, which may be the worst case{}",
            run.source.input,
            test.scenario.word(),
            cpu.cluster,
            run.core_number(cpu),
            test.why
                .as_ref()
                .map_or_else(String::new, |why| format!(" ({why})"))
        );
    }
    Ok(())
}

fn states(run: &Run) -> Vec<State<'_>> {
    let mut all: Vec<State<'_>> = Vec::new();
    for test in &run.tests {
        let deepest = match test.scenario {
            Term::Known(ScenarioId::SuspendDeepParallel | ScenarioId::SuspendDeepSerial) => true,
            Term::Known(ScenarioId::CpuSuspendParallel | ScenarioId::CpuSuspendSerial) => false,
            _ => continue,
        };
        let Some(power_state) = test.power_state.filter(|_| !test.rows.is_empty()) else {
            continue;
        };
        match all.iter_mut().find(|it| it.power_state == power_state) {
            Some(state) => {
                state.tests.push(test);
                state.deepest &= deepest;
            }
            None => all.push(State {
                power_state,
                deepest,
                tests: vec![test],
            }),
        }
    }
    // The binding lists states from the shallowest.
    all.sort_by_key(|state| (state.deepest, state.power_state));
    all
}

/// The most that any sample of `state` has for one of `metrics`.
fn worst<'r>(run: &Run, state: &State<'r>, metrics: &[Metric]) -> Option<Worst<'r>> {
    let mut all: Vec<Worst<'r>> = Vec::new();
    for test in &state.tests {
        for row in &test.rows {
            let of = |metric, ticks, cold| Worst {
                ticks,
                metric,
                test,
                row,
                cold,
            };
            let own = wakes_itself(run, test);
            for metric in metrics.iter().filter(|it| **it != Metric::Wake || own) {
                let term = Term::Known(*metric);
                let summary = row.summary(&term);
                all.extend(summary.map(|it| of(*metric, it.max, false)));
                let cold = row.cold.iter().find(|figure| figure.0 == term);
                all.extend(cold.map(|figure| of(*metric, figure.1, true)));
            }
        }
    }
    all.into_iter().rev().max_by_key(|it| it.ticks)
}

fn node(run: &Run, state: &State<'_>) -> Result<String> {
    let what = format!("power_state {:#010x}", state.power_state);
    let Some(entry) = worst(run, state, &[Metric::Powerdown]) else {
        bail!(
            "{what}: nobody measured how long entering it takes: that needs the firmware's \
             timestamps (ENABLE_RUNTIME_INSTRUMENTATION=1, ENABLE_PMF=1)"
        );
    };
    let Some(exit) = worst(run, state, &[Metric::Wakeup, Metric::Wake]) else {
        bail!("{what}: nobody measured how long leaving it takes");
    };
    let (label, name) = names(run, state);
    let (entry_us, exit_us) = (us(run, entry.ticks), us(run, exit.ticks));
    let mut text = format!("\t{label}: {name} {{\n\t\tcompatible = \"arm,idle-state\";\n");
    let mut line = |text_of: std::fmt::Arguments<'_>| {
        // A String takes all.
        let _ = writeln!(text, "\t\t{text_of}");
    };
    line(format_args!(
        "arm,psci-suspend-param = <{:#010x}>;",
        state.power_state
    ));
    line(format_args!("{}", timer(run, state)));
    line(format_args!("/* {} */", said(run, &entry)));
    line(format_args!("entry-latency-us = <{entry_us}>;"));
    line(format_args!("/* {} */", said(run, &exit)));
    line(format_args!("exit-latency-us = <{exit_us}>;"));
    line(format_args!(
        "/* Not measured: the lower bound, entry and exit. Energy decides how much more. */"
    ));
    line(format_args!(
        "min-residency-us = <{}>;",
        entry_us.saturating_add(exit_us)
    ));
    text.push_str("\t};\n");
    Ok(text)
}

/// Label and name of a state's node, as the binding wants them.
fn names(run: &Run, state: &State<'_>) -> (&'static str, &'static str) {
    let format = run.facts.state_format.as_ref();
    let format = format.and_then(Term::known);
    let down = format.is_none_or(|format| format.is_powerdown(state.power_state));
    match (down, state.deepest) {
        (true, false) => ("CPU_SLEEP", "cpu-sleep"),
        (true, true) => ("CLUSTER_SLEEP", "cluster-sleep"),
        (false, false) => ("CPU_RETENTION", "cpu-retention"),
        (false, true) => ("CLUSTER_RETENTION", "cluster-retention"),
    }
}

/// Whether the CPU's timer goes on in the state: it does if it has woken it.
fn timer(run: &Run, state: &State<'_>) -> &'static str {
    let own = matches!(
        run.facts.timer.as_deref(),
        Some("CNTP" | "CNTHP" | "CNTV" | "CNTHV")
    );
    if state.tests.iter().any(|test| test.timers_stop) {
        "local-timer-stop;"
    } else if own && state.tests.iter().any(|test| wakes_itself(run, test)) {
        "/* No local-timer-stop: the CPU's own timer has woken it. */"
    } else {
        "/* Whether local-timer-stop belongs here was not measured. */"
    }
}

/// Whether each CPU of a scenario has its own timer wake it, instead of the
/// lead's SGI.
fn wakes_itself(run: &Run, test: &Test) -> bool {
    let wake = run.plan.wake.as_ref();
    let wake = wake.and_then(Term::known);
    let own = matches!(wake, Some(WakePattern::Together | WakePattern::Staggered));
    own && !test.timers_stop
}

/// How a figure came about.
fn said(run: &Run, it: &Worst<'_>) -> String {
    let tag = it.test.scenario.word();
    let tag = tag.strip_prefix("test_rt_instr_").unwrap_or(tag);
    let n = it.row.summary(&Term::Known(it.metric)).map_or(0, |it| it.n);
    let which = if it.cold {
        format!("its cold first sample, apart from {n} others")
    } else {
        format!("the most of {n} samples")
    };
    format!(
        "{} {} us: {tag} ({}), CPU {}, {which}.",
        heading(&Term::Known(it.metric)),
        run.shown(it.ticks),
        it.test.method,
        run.label(it.row.cpu),
    )
}

/// Ticks in microseconds, rounded up.
fn us(run: &Run, ticks: u64) -> u64 {
    // A nanosecond more, as ns() has cut off what was left of it.
    run.ns(ticks)
        .map_or(0, |ns| ns.saturating_add(1).div_ceil(1000))
}

fn header(run: &Run) -> String {
    let mut lines = vec![
        "Idle states, by the worst case that psci-bench measured.".to_owned(),
        format!("Board: {}", run.model.as_deref().unwrap_or("unknown")),
    ];
    lines.extend(run.firmware_version().map(|it| format!("Firmware: {it}")));
    let cpus = run.cpus.len();
    if let Some(iterations) = run.plan.iterations {
        lines.push(format!(
            "{cpus} CPUs, {iterations} samples each and a cold one"
        ));
    }
    lines.push("A worst case that was measured is no bound: leave a margin.".to_owned());
    let mut text = "/*\n".to_owned();
    for line in lines {
        // What a log says is not to end the comment.
        text.push_str(&format!(" * {}\n", line.replace("*/", "* /")));
    }
    text.push_str(" */\n");
    text
}
