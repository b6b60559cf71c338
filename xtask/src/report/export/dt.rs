//! `dt`: a device tree's `idle-states` node, of the worst cases that were measured.
//!
//! `min-residency-us` depends on energy, which is not measured: the node has its
//! lower bound, the sum of entry and exit.

use std::io::Write;

use anyhow::Result;
use psci_bench::plan::TAG_PREFIX;

use super::report_data::Report;
use crate::report::analysis::figure::Origin;
use crate::report::analysis::worst_case::{IdleState, Latency, TimerInState, worst_cases};
use crate::report::log::LoggedRun;

pub(super) fn write(report: &Report, out: &mut dyn Write) -> Result<()> {
    let run = report.only_run("dt")?;
    let states = worst_cases(run)?;
    let mut text = header(run) + "idle-states {\n\tentry-method = \"psci\";\n";
    let mut labels: Vec<&str> = Vec::new();
    for state in &states {
        let (label, name) = names(run, state);
        let (mut own, mut of_node) = (label.to_owned(), name.to_owned());
        let again = labels.iter().filter(|it| **it == label).count();
        if again > 0 {
            own += &format!("_{again}");
            of_node += &format!("-{again}");
        }
        labels.push(label);
        text += &node(run, state, &own, &of_node);
    }
    text += "};\n";
    out.write_all(text.as_bytes())?;
    Ok(())
}

fn node(run: &LoggedRun, state: &IdleState<'_>, label: &str, name: &str) -> String {
    let timer = match state.timer {
        TimerInState::Stops => "local-timer-stop;",
        TimerInState::WakesCpu => "/* No local-timer-stop: the CPU's own timer has woken it. */",
        TimerInState::NotMeasured => {
            "/* Whether local-timer-stop belongs here was not measured. */"
        }
    };
    let (entry, exit) = (us(run, state.entry.ticks), us(run, state.exit.ticks));
    let residency = entry.saturating_add(exit);
    let lines = [
        "compatible = \"arm,idle-state\";".to_owned(),
        format!("arm,psci-suspend-param = <{:#010x}>;", state.power_state),
        timer.to_owned(),
        format!("/* {} */", origin_text(run, &state.entry)),
        format!("entry-latency-us = <{entry}>;"),
        format!("/* {} */", origin_text(run, &state.exit)),
        format!("exit-latency-us = <{exit}>;"),
        "/* Not measured: the lower bound, entry and exit. Energy decides how much more. */"
            .to_owned(),
        format!("min-residency-us = <{residency}>;"),
    ];
    let lines = lines.map(|line| format!("\t\t{line}\n")).concat();
    format!("\n\t{label}: {name} {{\n{lines}\t}};\n")
}

/// Returns label and name of a state's node, as the binding wants them.
fn names(run: &LoggedRun, state: &IdleState<'_>) -> (&'static str, &'static str) {
    let facts = run.run.facts.as_ref();
    let is_down = facts.is_none_or(|facts| facts.state_format.is_powerdown(state.power_state));
    match (is_down, state.is_deepest) {
        (true, false) => ("CPU_SLEEP", "cpu-sleep"),
        (true, true) => ("CLUSTER_SLEEP", "cluster-sleep"),
        (false, false) => ("CPU_RETENTION", "cpu-retention"),
        (false, true) => ("CLUSTER_RETENTION", "cluster-retention"),
    }
}

/// Returns the scenario, the CPU and the samples of a latency.
fn origin_text(run: &LoggedRun, it: &Latency<'_>) -> String {
    let tag = it.scenario.id.tag();
    let tag = tag.strip_prefix(TAG_PREFIX).unwrap_or(tag);
    let n = it.figure.summary.map_or(0, |summary| summary.n);
    let samples = match it.is_cold {
        true => format!("its cold first sample, apart from {n} others"),
        false => format!("the most of {n} samples"),
    };
    let by = match it.figure.origin {
        Origin::Point(point) => point.variant.word(),
        Origin::Row(_) => it.scenario.method.word(),
    };
    let (heading, cpu) = (it.figure.key.heading(), run.run.label(it.figure.cpu));
    let duration = run.duration(it.ticks);
    format!("{heading} {duration} us: {tag} ({by}), CPU {cpu}, {samples}.")
}

/// Returns ticks in microseconds, rounded up.
fn us(run: &LoggedRun, ticks: u64) -> u64 {
    // A nanosecond more, as ns() is truncated.
    let ns = run.ns(ticks);
    ns.map_or(0, |ns| ns.saturating_add(1).div_ceil(1000))
}

fn header(run: &LoggedRun) -> String {
    let mut lines = vec![
        "Idle states, by the worst case that psci-bench measured.".to_owned(),
        format!("Board: {}", run.board().unwrap_or("unknown")),
    ];
    lines.extend(run.firmware_version().map(|it| format!("Firmware: {it}")));
    if let Some(plan) = &run.run.plan {
        let (cpus, samples) = (run.run.cpus.len(), plan.iterations);
        lines.push(format!(
            "{cpus} CPUs, {samples} samples each and a cold one"
        ));
    }
    lines.push("A worst case that was measured is no bound: leave a margin.".to_owned());
    // No line of a log may end the comment.
    let lines = lines
        .iter()
        .map(|line| format!(" * {}\n", line.replace("*/", "* /")));
    format!("/*\n{} */\n", lines.collect::<String>())
}
