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
//! The scenario `idle_states`, which suspends to every state of the device
//! tree, counts as those of TFTF's suite do, and has states that these do not.
//!
//! `min-residency-us` is a matter of energy, which nobody measured here: what
//! is given is its lower bound, entry and exit.

use std::fmt::Write as _;
use std::io::Write;

use anyhow::{Result, bail};
use psci_bench::measure::Metric;
use psci_bench::model::{How, WakeSource};
use psci_bench::plan::{ScenarioId, TAG_PREFIX, WakePattern};

use super::exporter::{Exporter, Options, Report, only_run};
use crate::report::model::{IDLE_STATES, Measured, Run, Term, Test, heading, measure_heading};

/// The exporter.
pub(super) struct DeviceTree;

/// A worst case, and where it was seen.
struct Worst<'r> {
    ticks: u64,
    metric: String,
    test: &'r Test,
    cpu: usize,
    /// How many samples there are.
    n: u32,
    /// Whether it is the first sample of all, which no statistic has.
    cold: bool,
    /// The variant of a point.
    variant: Option<&'r str>,
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
        let mut taken: Vec<&str> = Vec::new();
        for state in &states {
            let (label, _) = names(run, state);
            let again = taken.iter().filter(|it| **it == label).count();
            taken.push(label);
            text.push('\n');
            text.push_str(&node(run, state, again)?);
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
        let measured = |cpu: usize| {
            let of = |it: &Measured| it.cpu == cpu && it.x == Some(u64::from(state.power_state));
            // A helper is measured while another CPU is the helper.
            let same = |it: &&&Test| (&it.scenario, &it.method) == (&test.scenario, &test.method);
            state.tests.iter().filter(same).any(|test| {
                test.row(cpu).is_some_and(|row| !row.figures.is_empty())
                    || test.points.iter().any(of)
            })
        };
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

fn states<'r>(run: &'r Run) -> Vec<State<'r>> {
    let mut all: Vec<State<'r>> = Vec::new();
    let mut add = |power_state, deepest, test: &'r Test| match all
        .iter_mut()
        .find(|it: &&mut State<'r>| it.power_state == power_state)
    {
        Some(state) => {
            if !state.tests.iter().any(|it| std::ptr::eq(*it, test)) {
                state.tests.push(test);
            }
            state.deepest &= deepest;
        }
        None => all.push(State {
            power_state,
            deepest,
            tests: vec![test],
        }),
    };
    for test in &run.tests {
        let deepest = match test.scenario {
            Term::Known(ScenarioId::SuspendDeepParallel | ScenarioId::SuspendDeepSerial) => true,
            Term::Known(ScenarioId::CpuSuspendParallel | ScenarioId::CpuSuspendSerial) => false,
            _ => continue,
        };
        if let Some(power_state) = test.power_state.filter(|_| !test.rows.is_empty()) {
            add(power_state, deepest, test);
        }
    }
    for test in run.tests.iter().filter(|it| is_of_all_states(it)) {
        for point in &test.points {
            let state = point.x.and_then(|x| u32::try_from(x).ok());
            // Whether it is more than a core's is the suite's to tell, which
            // came first where both have it.
            let known = |state| all_deepest(run, state);
            if let Some(state) = state {
                add(state, known(state), test);
            }
        }
    }
    // The binding lists states from the shallowest.
    all.sort_by_key(|state| (state.deepest, state.power_state));
    all
}

/// Whether the suite suspends to this state as to the deepest.
fn all_deepest(run: &Run, state: u32) -> bool {
    run.tests.iter().any(|test| {
        test.power_state == Some(state)
            && matches!(
                test.scenario,
                Term::Known(ScenarioId::SuspendDeepParallel | ScenarioId::SuspendDeepSerial)
            )
    })
}

/// The most that any sample of `state` has for one of `metrics`.
fn worst<'r>(run: &Run, state: &State<'r>, metrics: &[Metric]) -> Option<Worst<'r>> {
    let mut all: Vec<Worst<'r>> = Vec::new();
    for test in &state.tests {
        for row in &test.rows {
            let own = wakes_itself(run, test);
            for metric in metrics.iter().filter(|it| **it != Metric::Wake || own) {
                let term = Term::Known(*metric);
                let summary = row.summary(&term);
                let of = |ticks, cold| Worst {
                    ticks,
                    metric: heading(&term).to_owned(),
                    test,
                    cpu: row.cpu,
                    n: summary.map_or(0, |it| it.n),
                    cold,
                    variant: None,
                };
                all.extend(summary.map(|it| of(it.max, false)));
                let cold = row.cold.iter().find(|figure| figure.0 == term);
                all.extend(cold.map(|figure| of(figure.1, true)));
            }
        }
        let own = |it: &&Measured| it.x == Some(u64::from(state.power_state));
        for point in test.points.iter().filter(own) {
            let asked = metrics.iter().any(|it| it.key() == point.metric.word());
            all.extend(asked.then(|| Worst {
                ticks: point.summary.max / u64::from(point.per.max(1)),
                metric: measure_heading(&point.metric).to_owned(),
                test,
                cpu: point.cpu,
                n: point.summary.n,
                cold: false,
                variant: Some(&point.variant),
            }));
        }
    }
    all.into_iter().rev().max_by_key(|it| it.ticks)
}

/// A state's node; `again` is how many of its name came before.
fn node(run: &Run, state: &State<'_>, again: usize) -> Result<String> {
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
    let (label, name) = match again {
        0 => (label.to_owned(), name.to_owned()),
        _ => (format!("{label}_{again}"), format!("{name}-{again}")),
    };
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
fn timer<'r>(run: &Run, state: &State<'r>) -> &'static str {
    let own = matches!(
        run.facts.timer.as_deref(),
        Some("CNTP" | "CNTHP" | "CNTV" | "CNTHV")
    );
    let points = |test: &'r Test| {
        let own = |it: &&Measured| it.x == Some(u64::from(state.power_state));
        test.points.iter().filter(own)
    };
    // A test of several states has its source with each point.
    let stops = |test: &'r Test| {
        let sources = points(test).map(|point| point.wake_source);
        let whole = Some(test.wake_source).filter(|_| !is_of_all_states(test));
        sources.chain(whole).any(|it| it != WakeSource::OwnTimers)
    };
    let wakes = |test: &'r Test| {
        let alone = |it: &Measured| it.how.is(How::Alone) && it.summary.n > 0;
        points(test).any(alone) || !is_of_all_states(test) && wakes_itself(run, test)
    };
    if state.tests.iter().copied().any(stops) {
        "local-timer-stop;"
    } else if own && state.tests.iter().copied().any(wakes) {
        "/* No local-timer-stop: the CPU's own timer has woken it. */"
    } else {
        "/* Whether local-timer-stop belongs here was not measured. */"
    }
}

/// Whether the test suspends to each state of the device tree, so that its
/// wake-up source is not that of one state.
fn is_of_all_states(test: &Test) -> bool {
    test.scenario.word() == IDLE_STATES
}

/// Whether each CPU of a scenario has its own timer wake it, instead of the
/// lead's SGI.
fn wakes_itself(run: &Run, test: &Test) -> bool {
    let wake = run.plan.wake.as_ref();
    let wake = wake.and_then(Term::known);
    let own = matches!(wake, Some(WakePattern::Together | WakePattern::Staggered));
    // One alone is woken by no SGI, whatever the pattern.
    (own || !test.is_parallel()) && test.wake_source == WakeSource::OwnTimers
}

/// How a figure came about.
fn said(run: &Run, it: &Worst<'_>) -> String {
    let tag = it.test.scenario.word();
    let tag = tag.strip_prefix(TAG_PREFIX).unwrap_or(tag);
    let n = it.n;
    let which = if it.cold {
        format!("its cold first sample, apart from {n} others")
    } else {
        format!("the most of {n} samples")
    };
    let by = match it.variant {
        Some(variant) => variant,
        None => it.test.method.word(),
    };
    format!(
        "{} {} us: {tag} ({by}), CPU {}, {which}.",
        it.metric,
        run.shown(it.ticks),
        run.label(it.cpu),
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::log::read_bytes;

    /// Two CPUs on QEMU whose timers stop.
    const HELPER: &[u8] = include_bytes!("../../../tests/data/report/qemu-helper.log");
    const STOPS: &str = "local-timer-stop;";
    const OWN: &str = "/* No local-timer-stop: the CPU's own timer has woken it. */";
    const UNKNOWN: &str = "/* Whether local-timer-stop belongs here was not measured. */";

    fn report() -> Report {
        read_bytes("a.log", HELPER).expect("a run").into()
    }

    fn written(report: &Report) -> Result<String> {
        let mut text = Vec::new();
        DeviceTree.write(report, &Options::default(), &mut text)?;
        Ok(String::from_utf8(text)?)
    }

    #[test]
    fn each_placement_has_the_helper_of_the_other() {
        let mut report = report();
        let text = written(&report).expect("all CPUs were measured");
        assert_eq!(text.matches(STOPS).count(), 2, "{text}");

        let second = |it: &Test| it.is_parallel() && it.helper == Some(1);
        report.runs[0].tests.retain(|it| !second(it));
        let error = written(&report).expect_err("CPU 0.0 was not measured");
        assert!(error.to_string().contains("CPU 0.0"), "{error}");
    }

    #[test]
    fn the_own_timer_wakes_where_the_log_says_so() {
        let run = report().runs.remove(0);
        let own = || Test::new(Term::of(IDLE_STATES), Term::of("serial"));
        let serial = || Test {
            scenario: Term::Known(ScenarioId::CpuSuspendSerial),
            ..own()
        };
        let helper = || Test {
            wake_source: WakeSource::Helper,
            ..serial()
        };
        for (tests, expected) in [
            (vec![own()], UNKNOWN),
            (vec![serial(), own()], OWN),
            (vec![helper(), own()], STOPS),
        ] {
            let state = State {
                power_state: 2,
                deepest: false,
                tests: tests.iter().collect(),
            };
            assert_eq!(timer(&run, &state), expected, "{tests:?}");
        }
    }
}
