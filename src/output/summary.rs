//! The end of a run: counts over all scenarios, and what was skipped.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write};

use crate::findings::list;
use crate::model::{CpuSet, Row, Run, Scenario, Skip, Status, Totals, Variant};
use crate::plan::steps::Steps;
use crate::plan::{Method, Plan, ScenarioId};
use crate::spec::prose::paragraph;

/// Places for what one scenario skips, by both placements of its helper: itself, or
/// two reasons of rows each, or steps.
const PLACES: usize = 4;

/// Results that the end of a run prints of scenarios that are gone by then.
///
/// All memory is reserved at the beginning.
#[derive(Debug, Default)]
pub struct Summary {
    pub(crate) totals: Totals,
    pub(crate) framed: Framed,
    skipped: Vec<Skipped>,
}

#[derive(Debug, Default)]
pub(crate) struct Framed {
    pub(crate) skipped: u64,
    /// Passed, with PMF's timestamps.
    pub(crate) passed: u64,
    /// Passed, from the caller's side.
    pub(crate) without_pmf: u64,
    pub(crate) failed: u64,
}

#[derive(Debug)]
struct Skipped {
    id: ScenarioId,
    method: Method,
    part: Part,
    why: Skip,
}

#[derive(Debug)]
enum Part {
    Whole,
    Cpus(CpuSet),
    /// Steps of `contend=`, or the values of `power_state`.
    Steps(Steps),
}

impl Summary {
    /// Reserves the memory that `plan` needs.
    pub fn new(plan: &Plan) -> Self {
        Self {
            skipped: Vec::with_capacity(PLACES * plan.tests()),
            ..Self::default()
        }
    }

    /// Adds one scenario, by each placement of its helper.
    pub fn add(&mut self, group: &[Scenario]) {
        self.totals.add(group);
        if group.iter().all(Scenario::is_framed) {
            let has_pmf = group.iter().all(Scenario::has_pmf);
            let count = match Scenario::status_of(group) {
                Status::Failed(_) | Status::Crashed => &mut self.framed.failed,
                Status::Passed if has_pmf => &mut self.framed.passed,
                Status::Passed => &mut self.framed.without_pmf,
                Status::Skipped(_) | Status::Unknown => &mut self.framed.skipped,
            };
            *count += 1;
        }
        group.iter().for_each(|scenario| self.add_skips(scenario));
    }

    fn add_skips(&mut self, scenario: &Scenario) {
        match scenario.status {
            Status::Skipped(skip) => self.push(scenario, Part::Whole, skip),
            _ => self.add_left_out(scenario),
        }
        let rows = &scenario.rows;
        for (place, row) in rows.iter().enumerate() {
            let is_same = |other: &&Row| other.skipped == row.skipped;
            if let Some(skip) = row.skipped
                && rows.iter().position(|it| is_same(&it)) == Some(place)
            {
                let cpus = rows.iter().filter(is_same).map(|row| row.cpu);
                self.push(scenario, Part::Cpus(cpus.collect()), skip);
            }
        }
    }

    /// Adds the steps and states that a scenario left out.
    fn add_left_out(&mut self, scenario: &Scenario) {
        let why = if scenario.id == ScenarioId::ContendSweep {
            Some(Skip::TooFewCpus)
        } else {
            let conditions = scenario.conditions.as_ref();
            conditions.and_then(|conditions| conditions.states_left_out)
        };
        let points = scenario.points.iter();
        let left_out = points.filter(|point| point.variant == Variant::LeftOut);
        let mut steps = Steps::EMPTY;
        for step in left_out.filter_map(|point| u32::try_from(point.x?).ok()) {
            // A sweep has no more steps than there is room for.
            let _ = steps.add(step);
        }
        if let Some(why) = why.filter(|_| !steps.as_slice().is_empty()) {
            self.push(scenario, Part::Steps(steps), why);
        }
    }

    fn push(&mut self, scenario: &Scenario, part: Part, why: Skip) {
        debug_assert!(self.skipped.len() < self.skipped.capacity());
        if self.skipped.len() < self.skipped.capacity() {
            let (id, method) = (scenario.id, scenario.method);
            self.skipped.push(Skipped {
                id,
                method,
                part,
                why,
            });
        }
    }

    /// Writes what was skipped, and why; nothing if nothing was.
    pub(crate) fn write_skips(&self, out: &mut dyn Write, run: &Run) -> fmt::Result {
        for skipped in &self.skipped {
            paragraph(out, "Skipped: ", 2, &skipped.text(run))?;
        }
        match self.skipped.as_slice() {
            [] => Ok(()),
            _ => out.write_char('\n'),
        }
    }
}

impl Skipped {
    fn text(&self, run: &Run) -> String {
        let is_warm = self.id.is_suite() && self.method == Method::Warm;
        let method = if is_warm { ", method warm" } else { "" };
        let part = match &self.part {
            Part::Whole => String::new(),
            Part::Cpus(cpus) => format!(", CPU {}", list(cpus.iter().map(|cpu| run.label(cpu)))),
            Part::Steps(steps) if self.id == ScenarioId::ContendSweep => {
                format!(", contend={}", list(steps.as_slice().iter()))
            }
            Part::Steps(steps) => {
                let states = steps.as_slice().iter().map(|it| format!("{it:#010x}"));
                format!(", power_state {}", list(states))
            }
        };
        format!("{}{method}{part}: {}", self.id.tag(), self.why)
    }
}
