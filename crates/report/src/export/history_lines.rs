//! The `csv` lines of a history, one per figure and release.

use serde::Serialize;

use super::object::object;
use crate::analysis::figure::FigureKey;
use crate::analysis::history::{History, HistoryRow, ScenarioHistory};
use crate::log::LoggedRun;

/// Returns the lines, with one field per column.
pub(super) fn history_lines(history: &History, runs: &[LoggedRun]) -> Vec<impl Serialize> {
    let scenarios = history.scenarios.iter();
    let figures = scenarios.flat_map(|scenario| {
        let figures = scenario.figures.iter();
        figures.map(move |figure| (scenario, figure))
    });
    let rows = figures.flat_map(|(scenario, figure)| {
        let rows = figure.rows.iter();
        rows.map(move |row| (scenario, figure.key, row))
    });
    let lines = rows.flat_map(|(scenario, key, row)| {
        let releases = 0..runs.len();
        releases.map(move |release| line((history, runs), scenario, (key, row), release))
    });
    lines.collect()
}

/// Returns a line, leaving the figure empty if the release does not include it.
fn line(
    (history, runs): (&History, &[LoggedRun]),
    scenario: &ScenarioHistory,
    (key, row): (FigureKey, &HistoryRow),
    release: usize,
) -> impl Serialize {
    let (run, point) = (&runs[release], row.points[release].as_ref());
    // In a row for a rank, the CPU may differ between releases; in a row for a CPU, it is the same
    // in all releases.
    let mut points = runs.iter().zip(&row.points);
    let any = points.find_map(|(run, point)| Some((run, point.as_ref()?)));
    let own = point.map(|point| (run, point));
    let cpu = own.or(any.filter(|_| row.place.is_none()));
    let cpu = cpu.map(|(run, point)| run.run.cpu(point.cpu));
    let helper = scenario.key.helper;
    let step = key.is_of_step().then_some(key.step);
    let value = point.map(|point| point.value);
    let change = row.change(release);
    object! {
        release: history.releases[release].clone(),
        input: run.source.input.clone(),
        scenario: scenario.key.id.tag(),
        method: scenario.key.method.word(),
        helper: helper.map(|it| run.run.label(it).to_string()),
        metric: key.word(),
        // From here to `x`, the fields are empty unless the row is for a step.
        how: step.map(|it| it.cpus.word()),
        variant: step.map(|it| it.variant.word()),
        x: step.and_then(|it| it.value),
        // The rank by size, counting from 1; only in rows for ranks.
        place: row.place.map(|it| it + 1),
        mpidr: cpu.and_then(|it| it.mpidr).map(|it| it.to_string()),
        cluster: cpu.map(|it| it.cluster),
        core: cpu.map(|it| it.core),
        thread: cpu.map(|it| it.thread),
        figure: value.map(|it| it.figure),
        unit: key.scale(run.clock()).name(),
        // 1 if the figure is from a record.
        verified: value.map(|it| u8::from(!it.is_doubtful && !run.integrity.tables)),
        // The earlier release that the change is relative to.
        since: change.map(|it| history.releases[it.releases[0]].clone()),
        change_percent: change.and_then(|it| it.percent()),
        outcome: change.map(|it| it.outcome.word()),
    }
}
