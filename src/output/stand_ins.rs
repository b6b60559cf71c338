//! Stand-ins for the printers and the findings of the new model, until both are here.

use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::model::new::{Finding, Row, Run, Scenario, Totals};
use crate::model::{self, ClosingLine, Verdict};
use crate::plan::{Method, Plan, ScenarioId};
use crate::scenario::Wakers;

#[derive(Clone, Copy)]
pub(crate) enum Detail {
    Short,
}

pub(crate) fn findings_of(_: &Run, _: &Scenario, _: Detail) -> Vec<Finding> {
    Vec::new()
}

pub(crate) fn header(_: &mut dyn Write, _: &Run) -> fmt::Result {
    Ok(())
}

pub(crate) fn wake_trials(_: &mut dyn Write, _: &Run, _: &Wakers) -> fmt::Result {
    Ok(())
}

pub(crate) fn begin_scenario(out: &mut dyn Write, id: ScenarioId, _: Method) -> fmt::Result {
    writeln!(out, "> Executing '{}'", id.name())
}

pub(crate) fn scenario(out: &mut dyn Write, run: &Run, group: &[Scenario]) -> fmt::Result {
    let cluster = |cpu: u16| run.cpu(cpu).cluster;
    for cpu in 0..run.cpus.len() as u16 {
        if let Some((of, row)) = Scenario::row_of(group, cpu, &cluster) {
            rt_instr(out, run, of, row)?;
        }
    }
    let status = Scenario::status_of(group);
    writeln!(out, "  TEST COMPLETE {status:?}")
}

fn rt_instr(out: &mut dyn Write, run: &Run, of: &Scenario, row: &Row) -> fmt::Result {
    let ns = |ticks: Option<u64>| run.clock().ns(ticks?);
    if !of.has_pmf() || !of.is_framed() || row.skipped.is_some() {
        return Ok(());
    }
    let Some(first) = ns(row.figures.powerdown) else {
        return Ok(());
    };
    let cpu = run.cpu(row.cpu);
    let core = run.core_number(&cpu);
    write!(out, "<RT_INSTR:{}\t{}\t{core}", of.id.tag(), cpu.cluster)?;
    match ns(row.figures.wakeup) {
        None => write!(out, "\t{first}")?,
        Some(wakeup) => {
            let flush = ns(row.figures.cache_flush).unwrap_or(0);
            write!(out, "\t{first:02}\t{wakeup:02}\t{flush:02}")?;
        }
    }
    out.write_str("/>\n")
}

pub(crate) struct Summary(Totals);

impl Summary {
    pub(crate) fn new(_: &Plan) -> Self {
        Self(Totals::default())
    }

    pub(crate) fn add(&mut self, group: &[Scenario]) {
        self.0.add(group);
    }
}

fn totals(summary: &Summary) -> model::Totals {
    let Totals {
        passed,
        skipped,
        failed,
        caller_side,
        samples,
        rejected,
        rows_skipped,
        lost,
    } = summary.0;
    model::Totals {
        passed,
        skipped,
        failed,
        caller_side,
        samples,
        rejected,
        rows_skipped,
        lost,
    }
}

pub(crate) fn verdict(summary: &Summary) -> Verdict {
    Verdict::from_totals(&totals(summary))
}

pub(crate) fn closing(out: &mut dyn Write, _: &Run, summary: &Summary) -> fmt::Result {
    let totals = totals(summary);
    writeln!(out, "{}", ClosingLine::Ended(&totals))
}
