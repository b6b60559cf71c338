//! The `csv` lines of a history, one per figure and release.

use serde::Serialize;

use super::object::object;
use crate::analysis::figure::FigureKey;
use crate::analysis::history::{History, HistoryRow, ScenarioHistory};
use crate::log::LoggedRun;

/// Returns the lines, with one field per column.
pub(super) fn history_lines(history: &History, runs: &[LoggedRun]) -> Vec<impl Serialize> {
    let mut lines = Vec::new();
    for scenario in &history.scenarios {
        for figure in &scenario.figures {
            for row in &figure.rows {
                lines.extend((0..runs.len()).map(|release_index| {
                    line((history, runs), scenario, (figure.key, row), release_index)
                }));
            }
        }
    }
    lines
}

/// Returns a line, leaving the figure empty if the release does not include it.
fn line(
    (history, runs): (&History, &[LoggedRun]),
    scenario: &ScenarioHistory,
    (key, row): (FigureKey, &HistoryRow),
    release: usize,
) -> impl Serialize {
    let logged = &runs[release];
    let point = row.points[release].as_ref();
    // In a row for a rank, the CPU may differ between releases; in a row for a CPU, it is the same
    // in all releases.
    let source = match point {
        Some(point) => Some((logged, point)),
        None if row.rank.is_none() => runs
            .iter()
            .zip(&row.points)
            .find_map(|(logged, point)| Some((logged, point.as_ref()?))),
        None => None,
    };
    let cpu = source.map(|(logged, point)| logged.run.cpu(point.cpu));
    let helper = scenario.key.helper;
    let step = key.is_of_step().then_some(key.step);
    let value = point.map(|point| point.value);
    let change = row.change(release);
    object! {
        release: history.releases[release].clone(),
        input: logged.source.input.clone(),
        scenario: scenario.key.id.tag(),
        method: scenario.key.method.word(),
        helper: helper.map(|helper| logged.run.label(helper).to_string()),
        metric: key.word(),
        // From here to `x`, the fields are empty unless the row is for a step.
        how: step.map(|step| step.cpus.word()),
        variant: step.map(|step| step.variant.word()),
        x: step.and_then(|step| step.value),
        // The rank by size, counting from 1; only in rows for ranks.
        place: row.rank.map(|rank| rank + 1),
        mpidr: cpu.and_then(|cpu| cpu.mpidr).map(|mpidr| mpidr.to_string()),
        cluster: cpu.map(|cpu| cpu.cluster),
        core: cpu.map(|cpu| cpu.core),
        thread: cpu.map(|cpu| cpu.thread),
        figure: value.map(|value| value.figure),
        unit: key.scale(logged.clock()).name(),
        // 1 if the figure is from a record.
        verified: value.map(|value| u8::from(!value.is_doubtful && !logged.integrity.tables)),
        // The earlier release that the change is relative to.
        since: change.map(|change| history.releases[change.releases[0]].clone()),
        change_percent: change.and_then(|change| change.percent()),
        outcome: change.map(|change| change.outcome.word()),
    }
}
