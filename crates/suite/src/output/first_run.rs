//! A board's first run (`only=first`). Each step is announced before it is taken, so that the last
//! line names the step from which the board does not return.

use alloc::format;
use core::fmt::{self, Write};

use crate::measure::Facts;
use crate::model::{Label, Run, Totals};
use crate::plan::{Plan, ScenarioId};
use hardware::text::prose::paragraph;

/// Numbers and announces the steps. In any other run, it announces nothing.
pub(crate) struct FirstRun {
    is_on: bool,
    /// The CPU that takes the steps, if there is one besides the lead.
    cpu: Option<Label>,
    /// The number of the current step; 0 before the first one.
    step: u32,
}

impl FirstRun {
    /// Returns the steps of `run`, before the first one.
    pub(crate) fn new(plan: &Plan, run: &Run, facts: &Facts) -> Self {
        let other = run.cpu_indices().find(|cpu| *cpu != facts.lead);
        Self {
            is_on: plan.scenarios.is_first(),
            cpu: other.map(|cpu| run.label(cpu)),
            step: 0,
        }
    }

    /// Announces a scenario.
    pub(crate) fn announce_scenario(&mut self, out: &mut dyn Write, id: ScenarioId) -> fmt::Result {
        match id.descriptor().first_step {
            Some(clause) => self.announce(out, clause),
            None => Ok(()),
        }
    }

    /// Announces the trial of a state.
    pub(crate) fn announce_trial(&mut self, out: &mut dyn Write, power_state: u32) -> fmt::Result {
        let clause = format!("try to suspend it to {power_state:#010x} and to wake it");
        self.announce(out, &clause)
    }

    fn announce(&mut self, out: &mut dyn Write, clause: &str) -> fmt::Result {
        if !self.is_on {
            return Ok(());
        }
        self.step += 1;
        let step = self.step;
        let cpu = self.cpu.map_or_else(
            || ", without a second CPU".into(),
            |cpu| format!(", CPU {cpu}"),
        );
        paragraph(out, &format!("Step {step}{cpu}: "), 2, &clause)
    }

    /// Returns true if the run ends with the current step, because it has failed. Adds the step and
    /// the CPUs that were lost in it to the totals.
    pub(crate) fn ends(&self, totals: &mut Totals, has_failed: bool, lost: usize) -> bool {
        let is_end = self.is_on && has_failed;
        if is_end {
            totals.failed_step = Some(self.step);
            totals.lost = totals.lost.max(lost as u32);
        }
        is_end
    }
}

/// Prints what to do after a board's first run.
pub(crate) fn print_next(out: &mut dyn Write, totals: &Totals) -> fmt::Result {
    let text = match totals.failed_step {
        Some(step) => format!("the causes of a failure in step {step}: docs/first-boot.md"),
        None => "turn the board off and on, and measure one scenario, only=cpu_susp_serial; then \
                 all six, without only="
            .into(),
    };
    paragraph(out, "Next: ", 2, &text)
}
