//! A profile in the order of reading.

use itertools::Itertools as _;

use super::difference::{self, PhaseChange};
use super::flame;
use super::profile::{Phase, Profile, ScenarioProfile};
use crate::report::export::{Block, Table};

/// The most functions of a phase that are named.
const NAMED_MAX: usize = 12;
/// The least share of a phase that a function has to have.
const SHARE_LEAST: f64 = 0.005;

pub(super) const NOTES: &str = "\
Figures are instructions of a mean call on QEMU, where each takes the same time: they say what firmware \
executes, and nothing about memory, caches and power controllers of hardware. A CPU's own instructions are \
what it executes itself; PMF's ticks are those of all CPUs, so that the rest is what others execute \
meanwhile. A function's instructions are its own, without its callees'. In a flame graph a function is as \
wide as its instructions with its callees', and callees are below it.";

/// Returns the document; with a baseline, that of the differences.
pub(super) fn document(profile: &Profile, baseline: Option<&Profile>) -> Vec<Block<'static>> {
    let mut all = vec![
        Block::Title(title(profile, baseline)),
        Block::Definitions(definitions(profile, baseline)),
    ];
    match baseline {
        None => all.extend(phase_table(profile).map(Block::Table)),
        Some(baseline) => {
            let (changes, lone) = difference::changes(baseline, profile);
            let lone = lone.iter().map(|it| format!("Only one side has {it}."));
            all.extend(change_table(&changes).map(Block::Table));
            all.push(Block::Remarks(lone.collect()));
            all.extend(function_changes(&changes).map(Block::Table));
        }
    }
    for scenario in &profile.scenarios {
        let phases = scenario.phases();
        if phases.iter().all(|it| it.all.stacks.is_empty()) {
            continue;
        }
        all.push(Block::Heading(scenario.name.clone()));
        if baseline.is_none() {
            all.extend(functions(scenario, &phases).map(Block::Table));
        }
        let old = baseline.and_then(|it| it.scenarios.iter().find(|it| it.name == scenario.name));
        let old = old.map(ScenarioProfile::phases).unwrap_or_default();
        let figures = phases.iter().map(|phase| {
            let name = difference::figure_name(&scenario.name, &phase.all.name);
            let old = old.iter().find(|it| it.all.name == phase.all.name);
            let old = old.filter(|it| !it.all.stacks.is_empty());
            let id = name.replace([':', '/'], "-");
            flame::figure(
                id,
                format!("{}: {}", scenario.name, phase.all.name),
                phase,
                old,
            )
        });
        all.push(Block::Drawings(figures.collect()));
    }
    all
}

/// Returns the title of the document.
pub(super) fn title(profile: &Profile, baseline: Option<&Profile>) -> String {
    let of = format!("PSCI calls of {}", profile.board);
    match baseline {
        None => format!("{of} by firmware function"),
        Some(_) => format!("{of}: what changed, by firmware function"),
    }
}

fn definitions(profile: &Profile, baseline: Option<&Profile>) -> Vec<(&'static str, String)> {
    let samples = profile.scenarios.iter().flat_map(|it| &it.cpus);
    let samples: u64 = samples.map(|it| it.samples).sum();
    let mut all = vec![("Firmware", profile.firmware.clone())];
    all.extend(baseline.map(|it| ("Baseline", it.firmware.clone())));
    all.push((
        "Samples",
        format!("{samples}, each phase equal to PMF's ticks"),
    ));
    all.push((
        "Unit",
        "instructions of a mean call, on QEMU's instruction clock".to_owned(),
    ));
    all
}

/// Returns a mean as text: as a whole number if it is one.
pub(super) fn number(mean: f64) -> String {
    match mean.fract() {
        0.0 => format!("{mean:.0}"),
        _ => format!("{mean:.1}"),
    }
}

/// Returns a change as text.
pub(super) fn signed(change: f64) -> String {
    match change.fract() {
        0.0 => format!("{change:+.0}"),
        _ => format!("{change:+.1}"),
    }
}

fn phase_table(profile: &Profile) -> Option<Table> {
    let mut table = Table::titled("Phases");
    table.words(["Scenario", "Phase"]);
    table.numbers(["Samples", "Own", "Of other CPUs", "All (PMF)"]);
    for scenario in &profile.scenarios {
        for phase in scenario.phases() {
            let (own, all) = (phase.all.own(), phase.all.elapsed);
            let figures = [own, all - own, all].map(|it| number(phase.mean(it)));
            let names = [scenario.name.clone(), phase.all.name.clone()];
            let cells = names.into_iter().chain([phase.samples.to_string()]);
            table.rows.push(cells.chain(figures).collect());
        }
    }
    table.finished()
}

fn functions(scenario: &ScenarioProfile, phases: &[Phase]) -> Option<Table> {
    let mut table = Table::titled(format!("{}: functions", scenario.name));
    table.words(["Phase", "Function"]);
    table.numbers(["Instructions", "Share", "Calls"]);
    table.words(["Called by"]);
    for phase in phases {
        let all = phase.all.own() as f64;
        let functions = phase.functions().into_iter();
        let functions = functions.sorted_by_key(|it| std::cmp::Reverse(it.1.instructions));
        let is_named = |(place, it): &(usize, (&str, super::calls::Cost))| {
            *place < NAMED_MAX && it.1.instructions as f64 >= SHARE_LEAST * all
        };
        let (named, rest): (Vec<_>, Vec<_>) = functions.enumerate().partition(is_named);
        let mut row = |name: &str, instructions: u64, calls: String, callers: String| {
            let (mean, share) = (phase.mean(instructions), 100.0 * instructions as f64 / all);
            let (phase, name) = (phase.all.name.clone(), name.to_owned());
            let share = format!("{share:.1} %");
            table
                .rows
                .push(vec![phase, name, number(mean), share, calls, callers]);
        };
        for (_, (name, cost)) in named {
            let callers = callers(phase, name);
            row(
                name,
                cost.instructions,
                number(phase.mean(cost.calls)),
                callers,
            );
        }
        if !rest.is_empty() {
            let instructions = rest.iter().map(|it| it.1.1.instructions).sum();
            row(
                &format!("({} others)", rest.len()),
                instructions,
                String::new(),
                String::new(),
            );
        }
    }
    table.finished()
}

/// Returns the caller of a function that calls it most, and how many others there are.
fn callers(phase: &Phase, function: &str) -> String {
    match phase.callers(function)[..] {
        [] => String::new(),
        [first] => first.to_owned(),
        [first, ref others @ ..] => format!("{first}, {} more", others.len()),
    }
}

pub(super) fn change_table(changes: &[PhaseChange]) -> Option<Table> {
    let mut table = Table::titled("Phases");
    table.words(["Scenario", "Phase"]);
    table.numbers(["Baseline", "Now", "Change", "Share"]);
    for it in changes {
        let share = match it.share() {
            share if share.is_finite() => format!("{:+.2} %", 100.0 * share),
            _ => "from zero".to_owned(),
        };
        let figures = [
            number(it.old),
            number(it.new),
            signed(it.new - it.old),
            share,
        ];
        let names = [it.scenario.clone(), it.phase.clone()];
        table.rows.push(names.into_iter().chain(figures).collect());
    }
    table.finished()
}

pub(super) fn function_changes(changes: &[PhaseChange]) -> Option<Table> {
    let mut table = Table::titled("Functions that changed");
    table.words(["Scenario", "Phase", "Function"]);
    table.numbers(["Baseline", "Now", "Change", "Calls, baseline", "Calls, now"]);
    for it in changes {
        for function in it.functions.iter().take(NAMED_MAX) {
            let (old, new) = (function.old, function.new);
            let names = [&it.scenario, &it.phase, &function.name].map(String::clone);
            let figures = [number(old), number(new), signed(new - old)];
            let calls = [function.old_calls, function.new_calls].map(number);
            table.rows.push([&names[..], &figures, &calls].concat());
        }
        let rest = it.functions.iter().skip(NAMED_MAX);
        let (mut count, mut old, mut new) = (0, 0.0, 0.0);
        rest.for_each(|it| (count, old, new) = (count + 1, old + it.old, new + it.new));
        if count > 0 {
            let name = format!("({count} others)");
            let mut cells = vec![it.scenario.clone(), it.phase.clone(), name];
            cells.extend([number(old), number(new), signed(new - old)]);
            cells.resize(8, String::new());
            table.rows.push(cells);
        }
    }
    table.finished()
}
