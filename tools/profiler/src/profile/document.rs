//! Converts a profile to the blocks of a document, in reading order.

use std::cmp::Reverse;

use itertools::Itertools as _;
use report::export::{Block, Chart, Table, percent_text};

use super::difference::{self, InstructionScope, PhaseChange, PhaseSide};
use super::event::{Event, EventCounts, EventGroup, unit_name};
use super::flame;
use super::profile::{Profile, ProfilePhase};

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
    let mut blocks = vec![
        Block::Title(title(profile, baseline)),
        Block::Definitions(definitions(profile, baseline)),
    ];
    blocks.extend(profile.notes.iter().cloned().map(Block::Warning));
    match baseline {
        None => add_figures(&mut blocks, profile),
        Some(baseline) => add_changes(&mut blocks, profile, baseline),
    }
    blocks
}

/// Adds the sections about a profile without a baseline.
fn add_figures(blocks: &mut Vec<Block<'static>>, profile: &Profile) {
    for phases in by_scenario(&profile.merged()) {
        let scenario = &phases[0].scenario;
        blocks.push(Block::Heading(scenario.clone()));
        let graphs = phases
            .iter()
            .filter(|phase| phase.own() > 0)
            .map(|phase| flame::figure(phase, None, profile.unit));
        blocks.push(Block::Drawings(graphs.collect()));
        blocks.extend(functions(scenario, phases, profile.unit).map(Block::Table));
    }
    blocks.push(Block::Heading("All phases".to_owned()));
    blocks.extend(phase_table(profile).map(Block::Table));
    if profile.unit.is_none() {
        blocks.extend(event_tables(profile).map(Block::Table));
    }
}

/// Adds the sections about the differences between two profiles. Phases whose functions did not
/// change have no flame graph.
fn add_changes(blocks: &mut Vec<Block<'static>>, profile: &Profile, baseline: &Profile) {
    blocks.extend(conditions_warning(profile, baseline).map(Block::Warning));
    let notes = baseline.notes.iter();
    blocks.extend(notes.map(|note| Block::Warning(format!("baseline: {note}"))));
    let changes = difference::changes(baseline, profile);
    blocks.extend(change_table(&changes, profile.unit).map(Block::Table));
    let has_changed = |phase: &&ProfilePhase| {
        let figure = phase.figure_name();
        let change = changes.iter().find(|change| change.figure_name == figure);
        change.is_some_and(|change| change.changed_functions().next().is_some())
    };
    let old_phases = baseline.merged();
    // A phase that is missing from the baseline is compared with an empty one.
    let none = ProfilePhase::default();
    for phases in by_scenario(&profile.merged()) {
        let graphs: Vec<Chart> = phases
            .iter()
            .filter(has_changed)
            .map(|phase| {
                let old = phase.find_in(&old_phases).unwrap_or(&none);
                flame::figure(phase, Some(old), profile.unit)
            })
            .collect();
        if !graphs.is_empty() {
            blocks.push(Block::DrawingHeading(phases[0].scenario.clone()));
        }
        blocks.push(Block::Drawings(graphs));
    }
    blocks.extend(function_changes(&changes).map(Block::Table));
}

/// Groups phases by scenario. No group is empty.
fn by_scenario(phases: &[ProfilePhase]) -> impl Iterator<Item = &[ProfilePhase]> {
    phases.chunk_by(|one, other| one.scenario == other.scenario)
}

/// Describes the conditions if they differ.
fn conditions_warning(profile: &Profile, baseline: &Profile) -> Option<String> {
    let (new, old) = (&profile.conditions, &baseline.conditions);
    if new == old {
        None
    } else if old.is_empty() {
        Some(
            "the baseline is a log; its ticks are instructions only if the run used --icount"
                .to_owned(),
        )
    } else {
        Some(format!("conditions differ: {new}; baseline: {old}"))
    }
}

/// Returns the document's title.
pub fn title(profile: &Profile, baseline: Option<&Profile>) -> String {
    let board = &profile.board;
    match baseline {
        None => format!("PSCI calls of {board} by firmware function"),
        Some(_) => format!("PSCI calls of {board}: changes by firmware function"),
    }
}

fn definitions(profile: &Profile, baseline: Option<&Profile>) -> Vec<(&'static str, String)> {
    let merged = profile.merged();
    let samples: u64 = by_scenario(&merged).map(|phases| phases[0].samples).sum();
    let mut lines = vec![("Firmware", profile.firmware.clone())];
    lines.extend(baseline.map(|baseline| ("Baseline", baseline.firmware.clone())));
    lines.push((
        "Samples",
        format!("{samples}; all phases match PMF's ticks"),
    ));
    lines.push(("Unit", unit_text(profile.unit)));
    lines
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
    let ticks = match event {
        None => ": PMF's ticks",
        Some(_) => "",
    };
    format!("a CPU's own {}, and all CPUs'{ticks}", unit_name(event))
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
    let all_heading = match profile.unit {
        None => "All (PMF)",
        Some(_) => "All",
    };
    table.numbers(["Samples", "Own", "Of other CPUs", all_heading]);
    for phase in profile.merged() {
        let (own, all) = (phase.own(), phase.elapsed);
        let figures = [own, all - own, all].map(|sum| number(phase.mean(sum)));
        let names = [phase.scenario, phase.name, phase.samples.to_string()];
        table.rows.push([names, figures].concat());
    }
    table.finished()
}

/// Returns a table of the events in each phase for each group of events that occur.
fn event_tables(profile: &Profile) -> impl Iterator<Item = Table> {
    let merged = profile.merged().into_iter();
    let counted: Vec<_> = merged.map(|phase| (phase.events(), phase)).collect();
    EventGroup::ALL
        .into_iter()
        .filter_map(move |group| event_table(group, &counted))
}

fn event_table(group: EventGroup, phases: &[(EventCounts, ProfilePhase)]) -> Option<Table> {
    let occurs = |event: &Event| phases.iter().any(|(counts, _)| counts[*event] > 0);
    let events: Vec<Event> = Event::ALL
        .into_iter()
        .filter(|event| event.group() == group)
        .filter(occurs)
        .collect();
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
        let total = phase.own() as f64;
        let mut add_row = |name: String, instructions: u64, calls: String, caller: String| {
            let mean = number(phase.mean(instructions));
            let share = format!("{:.1} %", 100.0 * instructions as f64 / total);
            let entries = [phase.name.clone(), name, mean, share, calls, caller];
            table.rows.push(entries.into());
        };
        let (mut other_count, mut other_instructions) = (0, 0);
        let costs = phase.functions().into_iter();
        let largest_first = costs.sorted_by_key(|(_, cost)| Reverse(cost.instructions));
        for (index, (name, cost)) in largest_first.enumerate() {
            if index < NAMED_MAX && cost.instructions as f64 >= SHARE_MIN * total {
                let calls = number(phase.mean(cost.calls));
                let caller = phase.caller(name).unwrap_or("").to_owned();
                add_row(name.to_owned(), cost.instructions, calls, caller);
            } else {
                other_count += 1;
                other_instructions += cost.instructions;
            }
        }
        if other_count > 0 {
            let name = format!("({other_count} others)");
            add_row(name, other_instructions, String::new(), String::new());
        }
    }
    table.finished()
}

/// Returns the table of changes: a CPU's own instructions, the instructions of all CPUs, and the
/// instructions that other CPUs execute at the same time. For a log, only the total for all CPUs is
/// known.
pub fn change_table(changes: &[PhaseChange], unit: Option<Event>) -> Option<Table> {
    let has_own = changes
        .iter()
        .flat_map(|change| [change.old, change.new])
        .filter_map(PhaseSide::figure)
        .all(|figure| figure.own.is_some());
    let scopes: &[InstructionScope] = if has_own {
        &InstructionScope::BOTH
    } else {
        &[InstructionScope::All]
    };
    let mut table = Table::titled(format!("Phases ({})", scopes_text(unit)));
    table.words(["Figure"]);
    if has_own {
        table.numbers(["Own, baseline", "Own, now", "Share"]);
    }
    table.numbers(["All, baseline", "All, now", "Share"]);
    if has_own {
        table.numbers(["Waiting"]);
    }
    for change in changes {
        let mut entries = vec![change.figure_name.clone()];
        for scope in scopes {
            entries.extend([change.old, change.new].map(|side| side_text(side, *scope)));
            entries.push(change.share(*scope).map_or_else(String::new, share_text));
        }
        if has_own {
            entries.push(change.waiting().map_or_else(String::new, signed));
        }
        table.rows.push(entries);
    }
    table.finished()
}

fn side_text(side: PhaseSide, scope: InstructionScope) -> String {
    match side {
        PhaseSide::NotMeasured => "not measured".to_owned(),
        PhaseSide::NoSuchPhase => "no such phase".to_owned(),
        PhaseSide::Measured(figure) => scope.select(figure).map_or_else(String::new, number),
    }
}

/// Formats a share.
pub fn share_text(share: f64) -> String {
    if share == 0.0 {
        "0".to_owned()
    } else {
        percent_text(share.is_finite().then_some(100.0 * share))
    }
}

/// Returns the table of functions that changed; None if no function changed.
pub fn function_changes(changes: &[PhaseChange]) -> Option<Table> {
    let mut table = Table::titled("Functions that changed");
    table.words(["Figure", "Function"]);
    table.numbers(["Baseline", "Now", "Change", "Calls, baseline", "Calls, now"]);
    for change in changes {
        let mut add_row = |name: String, [old_count, new_count]: [f64; 2], calls: [String; 2]| {
            let figures = [
                number(old_count),
                number(new_count),
                signed(new_count - old_count),
            ];
            let entries = [&[change.figure_name.clone(), name][..], &figures, &calls];
            table.rows.push(entries.concat());
        };
        let named_count = change.functions.len().min(NAMED_MAX);
        let (named, others) = change.functions.split_at(named_count);
        for function in named {
            let counts = [function.old, function.new];
            add_row(function.label(), counts, function.calls.map(number));
        }
        if !others.is_empty() {
            let old = others.iter().map(|function| function.old).sum();
            let new = others.iter().map(|function| function.new).sum();
            let name = format!("({} others)", others.len());
            add_row(name, [old, new], Default::default());
        }
    }
    table.finished()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the rows of the table that lists the changes from `old` to `new`.
    fn rows(old: &[(&str, &str, u64, u64)], new: &[(&str, &str, u64, u64)]) -> Vec<Vec<String>> {
        let changes = difference::changes(&Profile::synthetic(old), &Profile::synthetic(new));
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
        let entries = [&["parallel:entry"][..], &own, &all, &["+440417.5"]].concat();
        assert_eq!(rows, [entries]);
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
