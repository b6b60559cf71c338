//! The `cold_call` scenario, which times a firmware call. The call is measured warm, after
//! evicting the caller's own cache lines, and as the first call after a wake-up from each idle
//! state.

use alloc::string::String;

use crate::bench::states::UsableState;
use crate::bench::step_rounds::StepRounds;
use crate::bench::steps::{self, Steps};
use crate::measure::{Action, Metric, Preparation, SingleCall};
use crate::model::{Run, Scenario, Skip};
use crate::plan::{ActiveCpus, Axis, UsedStates, Variant};

use super::descriptor::{ColdVariants, Descriptor, requested};

pub(super) const COLD_CALL: Descriptor = Descriptor {
    tag: "cold_call",
    name: "Calls to the firmware, warm and cold",
    axis: Some(Axis::PowerState),
    states: UsedStates::All,
    variants: &[
        VERSION.variants.warm,
        VERSION.variants.evicted,
        VERSION.variants.woken,
        STAMP.variants.warm,
        STAMP.variants.evicted,
        STAMP.variants.woken,
    ],
    cold_calls: &[VERSION.variants, STAMP.variants],
    // Two functions, each called warm, with the caller's cache lines evicted, and after each idle
    // state.
    cells: |size| 2 * size.cpus * (2 + size.idle_states),
    explanation,
    measure: |request| steps::measure(request, measure_steps),
    ..Descriptor::STEPS
};

/// A call and its variants.
struct ColdCall {
    call: SingleCall,
    variants: ColdVariants,
}

const VERSION: ColdCall = ColdCall {
    call: SingleCall::Version,
    variants: ColdVariants {
        function: "PSCI_VERSION",
        warm: Variant::new("version_warm"),
        evicted: Variant::new("version_evicted"),
        woken: Variant::new("version_woken"),
    },
};
const STAMP: ColdCall = ColdCall {
    call: SingleCall::ReadStamp,
    variants: ColdVariants {
        function: "Reading a PMF timestamp",
        warm: Variant::new("stamp_warm"),
        evicted: Variant::new("stamp_evicted"),
        woken: Variant::new("stamp_woken"),
    },
};

fn explanation(run: &Run, scenario: &Scenario) -> String {
    let mut text = requested(run, scenario);
    if !scenario.has_pmf() {
        text += "Without PMF, the timestamp call is not measured. ";
    }
    text
}

impl ColdCall {
    fn action(&self, preparation: Preparation) -> Action {
        let call = self.call;
        Action::ColdCall { call, preparation }
    }
}

fn measure_steps(steps: &mut Steps<'_>) {
    for cold_call in calls(steps) {
        for (variant, preparation) in [
            (cold_call.variants.warm, Preparation::Warm),
            (cold_call.variants.evicted, Preparation::Evict),
        ] {
            let step = StepRounds::new(ActiveCpus::Alone, cold_call.action(preparation));
            steps.run_step(variant, None, step);
        }
    }
    let states = steps.bench.setting().states;
    if states.accepted.is_empty() {
        steps.leave_out(states.explain(Skip::NoIdleState));
    }
    // The `Call` metric is measured for every call.
    steps.measure_each_state(Metric::Call, measure_woken);
}

fn measure_woken(steps: &mut Steps<'_>, state: UsableState) {
    let preparation = Preparation::Suspend {
        power_state: state.power_state,
        powerdown: state.powerdown,
    };
    for cold_call in calls(steps) {
        let step = StepRounds {
            timers_stop: state.timer_stops,
            ..StepRounds::new(ActiveCpus::Alone, cold_call.action(preparation))
        };
        steps.run_step(
            cold_call.variants.woken,
            Some(state.power_state.into()),
            step,
        );
    }
}

/// Returns the calls that the firmware implements.
fn calls(steps: &Steps<'_>) -> &'static [ColdCall] {
    if steps.bench.has_pmf() {
        &[VERSION, STAMP]
    } else {
        &[VERSION]
    }
}
