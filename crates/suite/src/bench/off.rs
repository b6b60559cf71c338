//! CPU_OFF: each CPU except the lead is turned on and off in turn. Then the lead suspends to the
//! deepest level. Finally, each of the other CPUs is turned on again to read the timestamps left by
//! its CPU_OFF. "Wakeup" is the warm boot during that second CPU_ON. The warm method turns each CPU
//! on again right after its CPU_OFF.

use crate::measure::{
    Action, ActionDetails, ActionEnd, AfterRound, Outcome, Participants, PowerCycle, Reason, Round,
};
use crate::model::Status;
use crate::plan::Method;
use hardware::board::CpuIndex;
use hardware::spec::counter_value::ticks_between;
use hardware::spec::pmf::Stamp;

use super::bench::{AttemptUse, Bench};
use super::calibrate::{
    SLEEP_MIN_US, UNKNOWN_SLEEP_US, calibrate, lengthen_wait, no_cpu_can_suspend, not_supported,
};
use super::cell_state::CellState;
use super::serial::skip_lead_without_helper;
use super::waits::SLEEP_MAX_US;

/// Measures CPU_OFF, and the lead's suspend if there is a state for it.
pub(crate) fn measure_off(bench: &mut Bench<'_>) -> Result<(), Status> {
    let (lead, action) = (bench.lead(), bench.step().action);
    skip_lead_without_helper(bench);
    let has_waker = bench.cell(lead).skipped().is_none();
    let mut failure = None;
    if has_waker && action.sleeps() {
        failure = calibrate(bench, Participants::Only(lead)).err();
    }
    // If the firmware rejected the state, the lead has no row and the scenario fails. The other
    // CPUs' rows do not depend on the state.
    let suspends = has_waker && action.sleeps() && failure.is_none();
    if failure.is_some() && no_cpu_can_suspend(bench.outcomes()) {
        bench.cell_mut(lead).skip(not_supported(action));
        failure = None;
    }
    bench.expect_samples(|cpu| cpu != lead || suspends);
    // The first pass is cold for all CPUs except the lead, which has already slept.
    bench.count_trial();
    let off = if !bench.has_pmf() {
        0
    } else if suspends {
        // Other CPUs take about as long to power down as the lead, whose sleep includes a margin.
        bench.waits.sleep()
    } else {
        bench.us(UNKNOWN_SLEEP_US)
    };
    bench.waits.set_lead_idle(off);
    run_pass(bench, suspends, AttemptUse::Cold);
    calibrate_lead_idle(bench);
    for _ in 0..bench.plan().warmup {
        bench.count_attempt();
        run_pass(bench, suspends, AttemptUse::WarmUp);
    }
    while !is_complete(bench) && !bench.retries_are_exhausted(bench.totals().attempts) {
        bench.count_attempt();
        run_pass(bench, suspends, AttemptUse::Measure);
    }
    bench.show_medians();
    failure.map_or(Ok(()), |failure| Err(Status::Failed(failure)))
}

/// Returns true if every CPU that can still provide samples has provided all of them.
fn is_complete(bench: &Bench<'_>) -> bool {
    bench.cells().iter().all(|state| {
        !state.needs_samples()
            || state.valid() >= bench.plan().iterations
            || bench.is_lost(state.cpu())
    })
}

/// Measures each CPU once.
fn run_pass(bench: &mut Bench<'_>, suspends: bool, attempt_use: AttemptUse) {
    let lead = bench.lead();
    let others = CpuIndex::all(bench.cpu_count()).filter(|cpu| *cpu != lead);
    match bench.method() {
        Method::Tftf => {
            // After helping, a helper powers off again, which overwrites the timestamps of its
            // sample. If there is a helper, the lead is therefore measured last.
            let is_helped = bench.waker(Participants::Only(lead)).helper().is_some();
            for cpu in others.clone() {
                turn_off(bench, cpu);
            }
            if suspends && !is_helped {
                suspend_lead(bench, attempt_use);
            }
            for cpu in others {
                read_back(bench, cpu, attempt_use);
            }
            if suspends && is_helped {
                suspend_lead(bench, attempt_use);
            }
        }
        Method::Warm => {
            for cpu in others {
                turn_off(bench, cpu);
                read_back(bench, cpu, attempt_use);
            }
            if suspends {
                suspend_lead(bench, attempt_use);
            }
        }
    }
}

/// Sets how long the lead waits before it first polls a CPU that is powering off: twice the longest
/// CPU_OFF in the previous pass, according to PMF. Without PMF, the lead calls AFFINITY_INFO
/// continuously, because the time until OFF is measured.
fn calibrate_lead_idle(bench: &mut Bench<'_>) {
    let powerdown_ticks =
        |sample: &Outcome| ticks_between(sample.before, sample.stamp(Stamp::EnterHwLowPwr));
    let cold = bench.cells().iter().filter_map(CellState::cold);
    let turned_off = cold.filter(|sample| sample.action == Action::ReadBack);
    if let Some(longest) = turned_off.map(powerdown_ticks).max()
        && bench.has_pmf()
    {
        bench
            .waits
            .set_lead_idle((2 * longest).max(bench.us(SLEEP_MIN_US)));
    }
}

/// Turns the CPU on and off, which is the first half of its sample.
fn turn_off(bench: &mut Bench<'_>, cpu: CpuIndex) {
    let outcome = if bench.is_lost(cpu) {
        Outcome::default()
    } else {
        let mut round = bench.round(Participants::Only(cpu), Action::Off);
        round.spans.sleep = bench.waits.lead_idle();
        round.spans.quiet = 0;
        bench.run_round(&round);
        bench.outcome(cpu)
    };
    bench.keep_off_outcome(cpu, outcome);
}

/// Turns the CPU on again to read its timestamps, which form a sample if both halves are valid.
fn read_back(bench: &mut Bench<'_>, cpu: CpuIndex, attempt_use: AttemptUse) {
    let first = bench.off_outcome(cpu);
    let outcome = if matches!(first.end, ActionEnd::WentOff) && !bench.is_lost(cpu) {
        join_halves(&first, bench.run_alone(cpu, Action::ReadBack))
    } else if !first.took_part() {
        // The loss has already been counted.
        return;
    } else {
        first
    };
    take_outcome(bench, cpu, outcome, attempt_use);
}

/// Returns the sample that consists of a CPU_OFF and the read-back after the subsequent CPU_ON.
fn join_halves(off: &Outcome, read_back: Outcome) -> Outcome {
    let (ActionDetails::PowerCycle(down), ActionDetails::PowerCycle(up)) =
        (off.details, read_back.details)
    else {
        return read_back;
    };
    Outcome {
        start: off.start,
        before: off.before,
        details: ActionDetails::PowerCycle(PowerCycle {
            lead_active_at: down.lead_active_at,
            seen_off: down.seen_off,
            ..up
        }),
        ..read_back
    }
}

/// Suspends the lead, and evaluates the attempt.
fn suspend_lead(bench: &mut Bench<'_>, attempt_use: AttemptUse) {
    let lead = bench.lead();
    bench.run_round(&Round {
        afterwards: AfterRound::Off,
        ..bench.round(Participants::Only(lead), bench.step().action)
    });
    take_outcome(bench, lead, bench.outcome(lead), attempt_use);
}

/// Evaluates a CPU's attempt, and lengthens the wait that was too short, if any.
fn take_outcome(bench: &mut Bench<'_>, cpu: CpuIndex, outcome: Outcome, attempt_use: AttemptUse) {
    let Some(rejection) = bench.judge_attempt(cpu, &outcome, attempt_use) else {
        return;
    };
    let is_lead = cpu == bench.lead();
    if rejection.reason == Reason::Overlap && !is_lead {
        bench.waits.lengthen_lead_idle(bench.us(SLEEP_MAX_US));
    } else if rejection.reason == Reason::LateReturn || is_lead {
        lengthen_wait(bench, rejection);
    }
}
