//! `dt`: a device tree's `idle-states` node, filled with the measured worst cases.
//!
//! `min-residency-us` depends on energy, which is not measured. The node contains its lower bound,
//! the sum of the entry and exit latencies.

use std::io::Write;

use anyhow::Result;
use hardware::text::plural::many;
use report::log::LoggedRun;

use super::dts::comment_block;
use crate::worst_case::{Latency, TimerInState, WorstIdleState, worst_cases};

/// Writes the node with the worst cases measured in `logged`.
///
/// # Errors
/// Returns an error if the run may lack a worst case, or if `out` cannot be written to.
pub fn write_node(logged: &LoggedRun, out: &mut dyn Write) -> Result<()> {
    let states = worst_cases(logged)?;
    write!(
        out,
        "{}idle-states {{\n\tentry-method = \"psci\";\n",
        header(logged)
    )?;
    let mut names: Vec<&str> = Vec::new();
    for state in &states {
        let name = name(logged, state);
        let unique_name = match names
            .iter()
            .filter(|earlier_name| **earlier_name == name)
            .count()
        {
            0 => name.to_owned(),
            count => format!("{name}-{count}"),
        };
        names.push(name);
        out.write_all(node(logged, state, &unique_name).as_bytes())?;
    }
    writeln!(out, "}};")?;
    Ok(())
}

fn node(logged: &LoggedRun, state: &WorstIdleState<'_>, name: &str) -> String {
    let label = name.to_uppercase().replace('-', "_");
    let timer = match state.timer {
        TimerInState::Stops => "local-timer-stop;",
        TimerInState::WakesCpu => "/* No local-timer-stop: the CPU's own timer woke it. */",
        TimerInState::NotMeasured => {
            "/* Not measured: whether this state needs local-timer-stop. */"
        }
    };
    let entry = state.entry.us(logged);
    let exit = state.exit.us(logged);
    let param = state.power_state;
    let residency = entry.saturating_add(exit);
    let [entry_origin, exit_origin] =
        [&state.entry, &state.exit].map(|latency| origin_text(logged, latency));
    format!(
        "
\t{label}: {name} {{
\t\tcompatible = \"arm,idle-state\";
\t\tarm,psci-suspend-param = <{param:#010x}>;
\t\t{timer}
\t\t/* {entry_origin} */
\t\tentry-latency-us = <{entry}>;
\t\t/* {exit_origin} */
\t\texit-latency-us = <{exit}>;
\t\t/* Not measured: at least entry plus exit. The exact value depends on energy use. */
\t\tmin-residency-us = <{residency}>;
\t}};
"
    )
}

fn name(logged: &LoggedRun, state: &WorstIdleState<'_>) -> &'static str {
    let facts = logged.run.facts.as_ref();
    let is_down = facts.is_none_or(|facts| facts.state_format.is_powerdown(state.power_state));
    match (is_down, state.is_deepest) {
        (true, false) => "cpu-sleep",
        (true, true) => "cluster-sleep",
        (false, false) => "cpu-retention",
        (false, true) => "cluster-retention",
    }
}

/// Describes a latency and where it comes from.
fn origin_text(logged: &LoggedRun, latency: &Latency<'_>) -> String {
    let heading = latency.figure.key.heading();
    let duration = logged.duration(latency.ticks);
    let origin = latency.origin(logged);
    format!("{heading} {duration} us: {origin}.")
}

fn header(logged: &LoggedRun) -> String {
    let mut lines = vec!["Idle states, based on the worst case measured by psci-bench.".to_owned()];
    lines.push(format!("Board: {}", logged.board().unwrap_or("unknown")));
    lines.extend(
        logged
            .firmware_version()
            .map(|version| format!("Firmware: {version}")),
    );
    if let Some(plan) = &logged.run.plan {
        let cpus = many(logged.run.cpus.len(), "CPU");
        let samples = many(plan.iterations as usize, "sample");
        lines.push(format!("{cpus}, each with {samples} and a cold one"));
    }
    lines.push("A measured worst case is not an upper bound: leave a margin.".to_owned());
    comment_block(&lines)
}
