//! Converts a profile to the blocks of a document, in reading order.

use std::cmp::Reverse;

use itertools::Itertools as _;

use super::difference::{self, FunctionChange, InstructionScope, PhaseChange, PhaseSide};
use super::event::{Event, EventCounts, EventGroup, unit_name};
use super::flame;
use super::profile::{Profile, ProfilePhase};
use crate::export::{Block, Chart, Table};

/// The maximum number of functions listed per phase.
const NAMED_MAX: usize = 12;
/// A function is listed if it accounts for at least this share of the phase.
const SHARE_MIN: f64 = 0.005;

/// The unit of all figures that are not events.
pub const UNIT: &str = "mean instructions per call, on QEMU's instruction clock";
/// Sentences that explain the figures.
pub const NOTES: &str = "\
Figures are mean instructions per call on QEMU, where every instruction takes the same amount \
of time: they show what the firmware executes, but say nothing about memory, caches or power \
controllers on real hardware. A CPU's own instructions are those that it executes itself. PMF's \
ticks also count the instructions that other CPUs execute during the phase. A function's \
instructions do not include its callees'. In a flame graph, the width of a function represents \
its instructions, including its callees', and callees are drawn below it. In a comparison, \
the color of a function depends on the change in its own instructions.";

/// Returns the document for a profile or, with a baseline, the document for the differences.
pub fn document(profile: &Profile, baseline: Option<&Profile>) -> Vec<Block<'static>> {
    let changes = baseline.map_or_else(Vec::new, |it| difference::changes(it, profile));
    let mut all = vec![
        Block::Title(title(profile, baseline)),
        Block::Definitions(definitions(profile, baseline)),
    ];
    all.extend(profile.notes.iter().cloned().map(Block::Warning));
    match baseline {
        None => {
            all.extend(phase_table(profile).map(Block::Table));
            if profile.unit.is_none() {
                all.extend(event_tables(profile).map(Block::Table));
            }
        }
        Some(baseline) => {
            let (here, there) = (&profile.conditions, &baseline.conditions);
            let warning = match there.as_str() {
                "" => "the baseline is a log; its ticks are instructions only if the run used \
                    --icount"
                    .into(),
                _ => format!("conditions differ: {here}; baseline: {there}"),
            };
            all.extend((here != there).then_some(Block::Warning(warning)));
            all.extend(
                baseline
                    .notes
                    .iter()
                    .map(|it| Block::Warning(format!("baseline: {it}"))),
            );
            all.extend(change_table(&changes, profile.unit).map(Block::Table));
            all.extend(function_changes(&changes).map(Block::Table));
        }
    }
    let (phases, old) = (profile.merged(), baseline.map(Profile::merged));
    let none = ProfilePhase::default();
    for phases in phases.chunk_by(|a, b| a.scenario == b.scenario) {
        let scenario = &phases[0].scenario;
        if baseline.is_none() {
            all.push(Block::Heading(scenario.clone()));
            all.extend(functions(scenario, phases, profile.unit).map(Block::Table));
        }
        let figures = phases.iter().filter_map(|phase| {
            // A phase that is missing from the baseline is compared with an empty one.
            let old = old.as_ref().map(|all| {
                let found = all.iter().find(|it| it.is_like(phase));
                found.unwrap_or(&none)
            });
            // With a baseline, only changes are listed.
            let is_it = |it: &&PhaseChange| it.figure == phase.figure_name();
            let change = changes.iter().find(is_it);
            let is_shown = match baseline {
                Some(_) => change.is_some_and(|it| it.changed_functions().next().is_some()),
                None => phase.own() > 0,
            };
            is_shown.then(|| flame::figure(phase, old, profile.unit))
        });
        let figures: Vec<Chart> = figures.collect();
        if baseline.is_some() && !figures.is_empty() {
            all.push(Block::DrawingHeading(scenario.clone()));
        }
        all.push(Block::Drawings(figures));
    }
    all
}

/// Returns the document's title.
pub fn title(profile: &Profile, baseline: Option<&Profile>) -> String {
    let of = format!("PSCI calls of {}", profile.board);
    match baseline {
        None => format!("{of} by firmware function"),
        Some(_) => format!("{of}: changes by firmware function"),
    }
}

fn definitions(profile: &Profile, baseline: Option<&Profile>) -> Vec<(&'static str, String)> {
    let merged = profile.merged();
    let scenarios = merged.chunk_by(|a, b| a.scenario == b.scenario);
    let samples: u64 = scenarios.map(|it| it[0].samples).sum();
    let mut all = vec![("Firmware", profile.firmware.clone())];
    all.extend(baseline.map(|it| ("Baseline", it.firmware.clone())));
    let samples = format!("{samples}; all phases match PMF's ticks");
    all.extend([("Samples", samples), ("Unit", unit_text(profile.unit))]);
    all
}

/// Returns the unit of a profile's figures.
pub fn unit_text(event: Option<Event>) -> String {
    match event {
        None => UNIT.to_owned(),
        Some(_) => format!("mean number of {} per call", unit_name(event)),
    }
}

/// Returns what the columns for a CPU's own figures and for those of all CPUs contain. PMF's ticks
/// are instructions.
pub fn scopes_text(event: Option<Event>) -> String {
    let all = match event {
        None => ": PMF's ticks",
        Some(_) => "",
    };
    format!("a CPU's own {}, and all CPUs'{all}", unit_name(event))
}

/// Formats a mean, without decimals if it is an integer.
pub fn number(mean: f64) -> String {
    match mean.fract() {
        0.0 => format!("{mean:.0}"),
        _ => format!("{mean:.1}"),
    }
}

/// Formats a change.
pub fn signed(change: f64) -> String {
    match change.fract() {
        _ if change.abs() < 0.05 => "0".to_owned(),
        0.0 => format!("{change:+.0}"),
        _ => format!("{change:+.1}"),
    }
}

fn phase_table(profile: &Profile) -> Option<Table> {
    let mut table = Table::titled("Phases");
    table.words(["Scenario", "Phase"]);
    let all = match profile.unit {
        None => "All (PMF)",
        Some(_) => "All",
    };
    table.numbers(["Samples", "Own", "Of other CPUs", all]);
    for phase in profile.merged() {
        let (own, all) = (phase.own(), phase.elapsed);
        let figures = [own, all - own, all].map(|it| number(phase.mean(it)));
        let names = [phase.scenario, phase.name, phase.samples.to_string()];
        table.rows.push([names, figures].concat());
    }
    table.finished()
}

/// Returns a table of the events in each phase for each group of events that occur.
fn event_tables(profile: &Profile) -> impl Iterator<Item = Table> {
    let phases = profile.merged().into_iter();
    let phases: Vec<_> = phases.map(|phase| (phase.events(), phase)).collect();
    EventGroup::ALL
        .into_iter()
        .filter_map(move |group| event_table(group, &phases))
}

fn event_table(group: EventGroup, phases: &[(EventCounts, ProfilePhase)]) -> Option<Table> {
    let occurs = |event: &Event| phases.iter().any(|(counts, _)| counts[*event] > 0);
    let events = Event::ALL.into_iter().filter(|it| it.group() == group);
    let events: Vec<Event> = events.filter(occurs).collect();
    if events.is_empty() {
        return None;
    }
    let mut table = Table::titled(group.title());
    table.words(["Scenario", "Phase"]);
    table.numbers(events.iter().map(|event| event.heading()));
    for (counts, phase) in phases {
        let names = [phase.scenario.clone(), phase.name.clone()].into_iter();
        let means = events.iter().map(|event| phase.mean(counts[*event]));
        table.rows.push(names.chain(means.map(number)).collect());
    }
    table.finished()
}

fn functions(scenario: &str, phases: &[ProfilePhase], unit: Option<Event>) -> Option<Table> {
    let mut table = Table::titled(format!("{scenario}: functions"));
    table.words(["Phase", "Function"]);
    table.numbers([unit.map_or("Instructions", Event::heading)]);
    table.numbers(["Share", "Calls"]);
    table.words(["Called by"]);
    for phase in phases.iter().filter(|phase| phase.own() > 0) {
        let all = phase.own() as f64;
        let mut row = |name: String, instructions: u64, calls: String, caller: String| {
            let mean = number(phase.mean(instructions));
            let share = format!("{:.1} %", 100.0 * instructions as f64 / all);
            let cells = [phase.name.clone(), name, mean, share, calls, caller];
            table.rows.push(cells.into());
        };
        let (mut others, mut instructions) = (0, 0);
        let functions = phase.functions().into_iter();
        let functions = functions.sorted_by_key(|it| Reverse(it.1.instructions));
        for (place, (name, cost)) in functions.enumerate() {
            if place < NAMED_MAX && cost.instructions as f64 >= SHARE_MIN * all {
                let calls = number(phase.mean(cost.calls));
                let caller = phase.caller(name).unwrap_or("").to_owned();
                row(name.to_owned(), cost.instructions, calls, caller);
            } else {
                (others, instructions) = (others + 1, instructions + cost.instructions);
            }
        }
        if others > 0 {
            let name = format!("({others} others)");
            row(name, instructions, String::new(), String::new());
        }
    }
    table.finished()
}

/// Returns the table of changes: a CPU's own instructions, the instructions of all CPUs, and the
/// instructions that other CPUs execute at the same time. For a log, only the total for all CPUs is
/// known.
pub fn change_table(changes: &[PhaseChange], unit: Option<Event>) -> Option<Table> {
    let sides = || changes.iter().flat_map(|it| [it.old, it.new]);
    let has_own = sides()
        .filter_map(PhaseSide::figure)
        .all(|it| it.own.is_some());
    let mut table = Table::titled(format!("Phases ({})", scopes_text(unit)));
    table.words(["Figure"]);
    if has_own {
        table.numbers(["Own, baseline", "Own, now", "Share"]);
    }
    table.numbers(["All, baseline", "All, now", "Share"]);
    if has_own {
        table.numbers(["Waiting"]);
    }
    for it in changes {
        let parts = InstructionScope::BOTH
            .iter()
            .filter(|it| has_own || **it == InstructionScope::All);
        let mut cells = vec![it.figure.clone()];
        for part in parts {
            cells.extend([it.old, it.new].map(|side| side_text(side, *part)));
            cells.push(it.share(*part).map_or_else(String::new, share_text));
        }
        if has_own {
            cells.push(it.waiting().map_or_else(String::new, signed));
        }
        table.rows.push(cells);
    }
    table.finished()
}

fn side_text(side: PhaseSide, part: InstructionScope) -> String {
    match side {
        PhaseSide::NotMeasured => "not measured".to_owned(),
        PhaseSide::NoSuchPhase => "no such phase".to_owned(),
        PhaseSide::Measured(figure) => part.of(figure).map_or_else(String::new, number),
    }
}

/// Formats a share.
pub fn share_text(share: f64) -> String {
    match share {
        0.0 => "0".to_owned(),
        share if share.is_finite() => format!("{:+.2} %", 100.0 * share),
        _ => "from zero".to_owned(),
    }
}

/// Returns the table of functions that changed; None if no function changed.
pub fn function_changes(changes: &[PhaseChange]) -> Option<Table> {
    let mut table = Table::titled("Functions that changed");
    table.words(["Figure", "Function"]);
    table.numbers(["Baseline", "Now", "Change", "Calls, baseline", "Calls, now"]);
    for it in changes {
        let mut row = |name: String, [old, new]: [f64; 2], calls: [String; 2]| {
            let figures = [number(old), number(new), signed(new - old)];
            let cells = [&[it.figure.clone(), name][..], &figures, &calls];
            table.rows.push(cells.concat());
        };
        let (named, rest) = it.functions.split_at(it.functions.len().min(NAMED_MAX));
        for it in named {
            row(it.label(), [it.old, it.new], it.calls.map(number));
        }
        if !rest.is_empty() {
            let sum = |of: fn(&FunctionChange) -> f64| rest.iter().map(of).sum();
            let sums = [sum(|it| it.old), sum(|it| it.new)];
            row(format!("({} others)", rest.len()), sums, Default::default());
        }
    }
    table.finished()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rows of the table that lists the changes from `old` to `new`.
    fn rows(old: &[(&str, &str, u64, u64)], new: &[(&str, &str, u64, u64)]) -> Vec<Vec<String>> {
        let changes = difference::changes(&Profile::made_up(old), &Profile::made_up(new));
        change_table(&changes, None).expect("a table").rows
    }

    #[test]
    fn waiting_is_a_column_beside_own_and_all_instructions() {
        let rows = rows(
            &[("parallel", "entry", 2788, 63_435)],
            &[("parallel", "entry", 1544, 943_026)],
        );
        let own = ["1394", "772", "-44.62 %"];
        let all = ["31717.5", "471513", "+1386.60 %"];
        let cells = [&["parallel:entry"][..], &own, &all, &["+440417.5"]].concat();
        assert_eq!(rows, [cells]);
    }

    #[test]
    fn scenario_that_was_not_measured_has_no_figure_and_no_share() {
        let rows = rows(
            &[("parallel", "entry", 10, 10)],
            &[("serial", "entry", 10, 10)],
        );
        let none = "not measured";
        assert_eq!(
            rows,
            [
                ["serial:entry", none, "5", "", none, "5", "", ""],
                ["parallel:entry", "5", none, "", "5", none, "", ""],
            ]
        );
    }
}
