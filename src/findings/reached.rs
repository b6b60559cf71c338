//! Which states were reached, by PSCI_STAT, and what does not fit.

use core::fmt::Write;

use super::item::{Found, item};
use crate::model::{Row, Run, TestReport};
use crate::plan::ScenarioId;
use crate::spec::prose::listed;
use crate::spec::stat::{Mismatch, Reached};

/// Writes what was reached, and a warning for each thing that does not fit.
pub(crate) fn write(out: &mut dyn Write, run: &Run<'_>, test: &TestReport<'_>) -> Found {
    let rows = || {
        let rows = test.rows.iter();
        rows.filter_map(|row| Some((row, row.reached?)))
    };
    if rows().next().is_none() {
        return unknown(out, run, test);
    }
    item(out, &mut |prose| {
        prose.write_str("Reached, by PSCI_STAT_COUNT:")?;
        let mut said = None;
        let mut mark = " ";
        // Each state once, the shallowest first.
        while let Some(state) = rows().map(|r| r.1.state).filter(|s| *s > said).min() {
            let label = u64::from(state.unwrap_or(0));
            write!(prose, "{mark}{label:#010x} (CPU ")?;
            let here = rows().filter(|r| r.1.state == state);
            listed(prose, &mut here.map(|r| run.label(r.0.cpu.into())))?;
            prose.write_str(")")?;
            said = state;
            mark = ", ";
        }
        if said.is_none() {
            prose.write_str(" none of the states, by no CPU")?;
        }
        prose.write_str(".")
    })?;
    for mismatch in [Mismatch::State, Mismatch::Count, Mismatch::Residency] {
        warn(out, run, mismatch, &|| {
            let wrong = |r: &(&Row, Reached)| r.1.mismatch() == Some(mismatch);
            rows().find(wrong)
        })?;
    }
    Ok(true)
}

/// Says that it is not known what was reached, where it could be.
fn unknown(out: &mut dyn Write, run: &Run<'_>, test: &TestReport<'_>) -> Found {
    let suspends = test.power_state.is_some() && test.scenario != ScenarioId::CpuOffSerial;
    if !run.facts.stat || !suspends || test.rows.is_empty() {
        return Ok(false);
    }
    let lost = test.rows.iter().any(|row| row.lost.is_some());
    item(out, &mut |prose| {
        prose.write_str("Reached: not known, as ")?;
        prose.write_str(if lost {
            "a CPU was lost, and may be on."
        } else {
            "no round for it was good, or the states' levels are not told."
        })
    })?;
    Ok(true)
}

/// Warns of the first CPU that has this mismatch.
fn warn<'r>(
    out: &mut dyn Write,
    run: &Run<'_>,
    mismatch: Mismatch,
    first: &dyn Fn() -> Option<(&'r Row, Reached)>,
) -> Result<(), core::fmt::Error> {
    let Some((row, reached)) = first() else {
        return Ok(());
    };
    item(out, &mut |prose| {
        let cpu = run.label(row.cpu.into());
        match mismatch {
            Mismatch::State => {
                write!(
                    prose,
                    "Warning: CPU {cpu} should have reached {:#010x}, and reached ",
                    u64::from(reached.due)
                )?;
                match reached.state {
                    Some(state) => write!(prose, "{:#010x}", u64::from(state)),
                    None => prose.write_str("none that PSCI_STAT_COUNT tells of"),
                }?;
            }
            Mismatch::Count => write!(
                prose,
                "Warning: PSCI_STAT_COUNT rose by {} over one suspend of CPU {cpu}",
                u64::from(reached.times)
            )?,
            Mismatch::Residency => write!(
                prose,
                "Warning: PSCI_STAT_RESIDENCY rose by {} us over a suspend of CPU {cpu} of {} us at most",
                u64::from(reached.residency_us),
                reached.most_us.unwrap_or(0)
            )?,
        }
        prose.write_str(".")
    })
}
