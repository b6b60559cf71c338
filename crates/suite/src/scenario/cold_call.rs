//! The `cold_call` scenario, which times a firmware call. The call is measured warm, after
//! evicting the caller's own cache lines, and as the first call after a wake-up from each idle
//! state.

use crate::measure::{Action, Metric, Preparation, SingleCall};
use crate::model::{Skip, Variant};

use super::bench::{BenchStep, Rounds};
use super::states::Chosen;
use super::steps::Sweep;

/// A call and its variants.
struct ColdCall {
    call: SingleCall,
    warm: Variant,
    evicted: Variant,
    woken: Variant,
}

const CALLS: [ColdCall; 2] = [
    ColdCall {
        call: SingleCall::Version,
        warm: Variant::VersionWarm,
        evicted: Variant::VersionEvicted,
        woken: Variant::VersionWoken,
    },
    ColdCall {
        call: SingleCall::ReadStamp,
        warm: Variant::StampWarm,
        evicted: Variant::StampEvicted,
        woken: Variant::StampWoken,
    },
];

impl ColdCall {
    fn action(&self, after: Preparation) -> Action {
        let call = self.call;
        Action::ColdCall { call, after }
    }
}

pub(crate) fn measure_steps(sweep: &mut Sweep<'_>) {
    for it in calls(sweep) {
        for (variant, after) in [
            (it.warm, Preparation::Warm),
            (it.evicted, Preparation::Evict),
        ] {
            let step = BenchStep::new(Rounds::Serial, it.action(after));
            sweep.step(variant, None, step);
        }
    }
    let states = sweep.bench.setting.states;
    if states.accepted.is_empty() {
        sweep.leave_out(states.explain(Skip::NoIdleState));
    }
    // The `Call` metric is measured for every call.
    sweep.each_state(Metric::Call, measure_woken);
}

fn measure_woken(sweep: &mut Sweep<'_>, state: Chosen) {
    let after = Preparation::Suspend {
        power_state: state.power_state,
        powerdown: state.powerdown,
    };
    for it in calls(sweep) {
        let step = BenchStep {
            timers_stop: state.timer_stops,
            ..BenchStep::new(Rounds::Serial, it.action(after))
        };
        sweep.step(it.woken, Some(state.power_state.into()), step);
    }
}

/// Returns the calls that the firmware implements.
fn calls(sweep: &Sweep<'_>) -> &'static [ColdCall] {
    match sweep.bench.pmf {
        true => &CALLS,
        false => &CALLS[..1],
    }
}
