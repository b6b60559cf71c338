//! The frame of a run: the machine, the plan, the CPUs and their names.

use crate::board::{Cpu, LabelSource};
use crate::measure::{Facts, Identity};
use crate::plan::{Method, Plan, ScenarioId};
use crate::spec::ticks::Unit;

/// What is the same for all scenarios of a run.
#[derive(Clone, Copy, Debug)]
pub struct Run<'r> {
    /// What the payload found out about the machine.
    pub facts: &'r Facts,
    /// What was asked for.
    pub plan: &'r Plan,
    /// The board's name.
    pub model: &'r str,
    /// The CPUs in the board's order, which is MPIDR's.
    pub cpus: &'r [Cpu],
    /// Where the CPUs' labels come from.
    pub labels: LabelSource,
    /// What the CPU of an index says of itself, once it has been up.
    pub identity: fn(usize) -> Option<Identity>,
    /// The payload's version.
    pub version: &'static str,
}

impl Run<'_> {
    pub(crate) fn unit(&self) -> Unit {
        Unit(self.facts.clock())
    }

    /// Whether TFTF's frame is printed at all.
    pub(crate) fn has_frame(&self) -> bool {
        let suite = self.plan.scenarios.suite();
        !suite.is_empty() && self.plan.methods.iter().any(|m| m == Method::Tftf)
    }
}

/// Whether TFTF's lines stand around it.
pub(crate) fn is_framed(scenario: ScenarioId, method: Method) -> bool {
    scenario.is_suite() && method == Method::Tftf
}
