//! What was left out and why, and which CPUs were lost.

use super::finding::{Confidence, Finding, Kind, Side, basis};
use crate::report::model::words::cpus;
use crate::report::model::{Row, Run, Test};
use crate::setup::plural::many;

pub(super) fn not_counted(run: &Run, test: &Test) -> Vec<Finding> {
    let reasons = test.reasons();
    let total: u64 = reasons.iter().map(|reason| reason.1).sum();
    if total == 0 {
        return Vec::new();
    }
    let each = reasons.iter().map(|(reason, count)| {
        let has = |row: &&Row| row.reasons.iter().any(|it| it.0 == *reason && it.1 > 0);
        let here = test.rows.iter().filter(has).map(|row| row.cpu);
        format!("{count} {reason} ({})", cpus(run, here))
    });
    let attempts = many(usize::try_from(total).unwrap_or(usize::MAX), "attempt");
    let mut sentence = format!(
        "Not counted: {attempts}: {}",
        each.collect::<Vec<_>>().join(", ")
    );
    // A companion is never the cause: it only shared the round.
    let first = test.rows.iter().find_map(|row| {
        let first = row.first_rejection.as_ref()?;
        (first.word != "companion").then_some((row.cpu, first))
    });
    if let Some((cpu, first)) = first {
        sentence.push_str(&format!("; the first on CPU {}: {first}", run.label(cpu)));
    }
    sentence.push('.');
    let rows = test.rows.iter().filter(|row| !row.reasons.is_empty());
    vec![Finding {
        kind: Kind::NotCounted,
        sentence,
        basis: rows
            .map(|row| basis(Side::Run, run, test, row.cpu, None))
            .collect(),
        confidence: Confidence::Counts,
    }]
}

pub(super) fn lost(run: &Run, test: &Test) -> Vec<Finding> {
    let rows = test.rows.iter();
    rows.filter_map(|row| {
        let lost = row.lost.as_ref()?;
        let label = run.label(row.cpu);
        let mpidr = run.cpus.get(row.cpu).and_then(|cpu| cpu.mpidr);
        let mpidr = mpidr.map_or(String::new(), |mpidr| format!(" (MPIDR {mpidr:#x})"));
        Some(Finding {
            kind: Kind::Lost,
            sentence: format!(
                "Lost: CPU {label}{mpidr}: {lost}. It may be on, and keep up its cluster, so that \
                 others in it do not flush it."
            ),
            basis: vec![basis(Side::Run, run, test, row.cpu, None)],
            confidence: Confidence::Counts,
        })
    })
    .collect()
}
