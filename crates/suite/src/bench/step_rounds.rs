//! What the CPUs do in the rounds of a step.

use hardware::board::CpuIndex;
use hardware::spec::stat::Ladder;

use super::states::UsableState;
use crate::measure::{Action, Metric, Participants};
use crate::plan::ActiveCpus;

/// The rounds in a scenario, or in one of its steps.
#[derive(Clone, Copy)]
pub(crate) struct StepRounds {
    /// The CPUs that are active at the same time: one, or all of [`Self::participants`].
    pub(crate) cpus: ActiveCpus,
    /// The action of each CPU. If CPUs turn off, the action of the lead.
    pub(crate) action: Action,
    /// True if the CPUs other than the lead call CPU_OFF, one after another.
    pub(crate) turns_off: bool,
    /// The states whose PSCI_STAT values are read.
    pub(crate) ladder: Ladder,
    pub(crate) timers_stop: bool,
    /// The neighbor whose SGI wakes a CPU that suspends alone. [`ActiveCpus::Alone`] selects the wake
    /// source that the state needs.
    pub(crate) woken_by: ActiveCpus,
    /// The step's only figure; None for those of its action.
    pub(crate) metric: Option<Metric>,
    /// The CPUs in a multi-CPU round.
    pub(crate) participants: Participants,
    /// The CPU that stays awake in multi-CPU rounds.
    pub(crate) helper: Option<CpuIndex>,
    pub(crate) dirty: usize,
    /// True in OS-initiated mode, in which CPUs request the states in `ladder`.
    pub(crate) osi: bool,
}

impl StepRounds {
    /// Returns a step in which all CPUs are woken by their own timers.
    pub(crate) fn new(cpus: ActiveCpus, action: Action) -> Self {
        Self {
            cpus,
            action,
            turns_off: false,
            ladder: Ladder::default(),
            timers_stop: false,
            woken_by: ActiveCpus::Alone,
            metric: None,
            participants: Participants::All,
            helper: None,
            dirty: 0,
            osi: false,
        }
    }

    /// Returns the figures of each CPU.
    pub(crate) fn metrics(&self, has_pmf: bool) -> &[Metric] {
        match &self.metric {
            Some(metric) => core::slice::from_ref(metric),
            None => self.action.step_metrics(has_pmf),
        }
    }

    /// Returns a step in which the CPUs other than the lead turn off, one after another.
    pub(crate) fn off(action_of_lead: Action) -> Self {
        Self {
            turns_off: true,
            ..Self::new(ActiveCpus::Alone, action_of_lead)
        }
    }

    /// Returns a step in which all CPUs suspend to an idle state.
    pub(crate) fn to_state(cpus: ActiveCpus, state: UsableState) -> Self {
        Self {
            ladder: state.ladder,
            timers_stop: state.timer_stops,
            ..Self::new(cpus, state.action())
        }
    }
}
