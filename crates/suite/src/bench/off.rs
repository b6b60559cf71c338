//! CPU_OFF: each CPU except the lead is turned on and off in turn. Then the lead suspends to the
//! deepest level. Finally, each of the other CPUs is turned on again to read the timestamps left by
//! its CPU_OFF. "Wakeup" is the warm boot during that second CPU_ON. The warm method turns each CPU
//! on again right after its CPU_OFF.

use crate::measure::{Action, ActionEnd, After, Outcome, Reason, Round, Who};
use crate::model::Status;
use crate::plan::Method;
use hardware::board::CpuIndex;
use hardware::spec::counter_value::ticks_between;
use hardware::spec::pmf::Stamp;

use super::bench::{AttemptUse, Bench};
use super::calibrate::{
    LEAST_US, LONGEST_US, UNKNOWN_US, calibrate, lengthen_wait, no_cpu_can_suspend, not_supported,
};
use super::serial::{show_medians, skip_lead_without_helper};

/// Measures CPU_OFF, and the lead's suspend if there is a state for it.
pub(crate) fn measure_off(bench: &mut Bench<'_>) -> Result<(), Status> {
    let (lead, action) = (bench.lead(), bench.step.action);
    skip_lead_without_helper(bench);
    let has_waker = bench.cells[lead.index()].cell.skipped.is_none();
    let mut failure = None;
    if has_waker && action.sleeps() {
        failure = calibrate(bench, Who::Only(lead)).err();
    }
    // If the firmware rejected the state, the lead has no row and the scenario fails. The other
    // CPUs' rows do not depend on the state.
    let suspends = has_waker && action.sleeps() && failure.is_none();
    if failure.is_some() && no_cpu_can_suspend(&bench.outcomes) {
        bench.cells[lead.index()].cell.skipped = Some(not_supported(action));
        failure = None;
    }
    for (cpu, state) in CpuIndex::all(bench.cells.len()).zip(&mut bench.cells) {
        state.is_expected = cpu != lead || suspends;
    }
    // The first pass is cold for all CPUs except the lead, which has already slept.
    bench.trials += 1;
    bench.sleep.off = if !bench.pmf {
        0
    } else if suspends {
        // Other CPUs take about as long to power down as the lead, whose sleep includes a margin.
        bench.sleep.now
    } else {
        bench.us(UNKNOWN_US)
    };
    run_pass(bench, suspends, AttemptUse::Cold);
    calibrate_off(bench);
    for _ in 0..bench.setting.plan.warmup {
        bench.attempts += 1;
        run_pass(bench, suspends, AttemptUse::WarmUp);
    }
    while !is_complete(bench) && !bench.retries_are_exhausted(bench.attempts) {
        bench.attempts += 1;
        run_pass(bench, suspends, AttemptUse::Measure);
    }
    show_medians(bench);
    failure.map_or(Ok(()), |failure| Err(Status::Failed(failure)))
}

/// Returns true if every CPU that can still provide samples has provided all of them.
fn is_complete(bench: &Bench<'_>) -> bool {
    bench.cells.iter().all(|state| {
        !state.needs_samples()
            || state.valid() >= bench.setting.plan.iterations
            || bench.machine.is_lost(state.cell.cpu)
    })
}

/// Measures each CPU once.
fn run_pass(bench: &mut Bench<'_>, suspends: bool, attempt_use: AttemptUse) {
    let lead = bench.lead();
    let others = CpuIndex::all(bench.cells.len()).filter(|cpu| *cpu != lead);
    match bench.method {
        Method::Tftf => {
            // After helping, a helper powers off again, which overwrites the timestamps of its
            // sample. If there is a helper, the lead is therefore measured last.
            let is_helped = bench.waker(Who::Only(lead)).helper().is_some();
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
fn calibrate_off(bench: &mut Bench<'_>) {
    let powerdown_ticks =
        |sample: Outcome| ticks_between(sample.before, sample.stamps.at(Stamp::EnterHwLowPwr));
    let cold = bench.cells.iter().filter_map(|state| state.cold);
    let turned_off = cold.filter(|sample| sample.action == Action::ReadBack);
    if let Some(longest) = turned_off.map(powerdown_ticks).max()
        && bench.pmf
    {
        bench.sleep.off = (2 * longest).max(bench.us(LEAST_US));
    }
}

/// Turns the CPU on and off, which is the first half of its sample.
fn turn_off(bench: &mut Bench<'_>, cpu: CpuIndex) {
    bench.off_outcomes[cpu.index()] = if bench.machine.is_lost(cpu) {
        Outcome::default()
    } else {
        let round = Round {
            sleep: bench.sleep.off,
            quiet: 0,
            ..bench.round(Who::Only(cpu), Action::Off)
        };
        bench.machine.run(&round, &mut bench.outcomes);
        bench.outcomes[cpu.index()]
    };
}

/// Turns the CPU on again to read its timestamps, which form a sample if both halves are valid.
fn read_back(bench: &mut Bench<'_>, cpu: CpuIndex, attempt_use: AttemptUse) {
    let first = bench.off_outcomes[cpu.index()];
    let outcome = if matches!(first.end, ActionEnd::WentOff) && !bench.machine.is_lost(cpu) {
        Outcome {
            start: first.start,
            before: first.before,
            due: first.due,
            seen_off: first.seen_off,
            ..bench.run_alone(cpu, Action::ReadBack)
        }
    } else if !first.took_part() {
        // The loss has already been counted.
        return;
    } else {
        first
    };
    take_outcome(bench, cpu, outcome, attempt_use);
}

/// Suspends the lead, and evaluates the attempt.
fn suspend_lead(bench: &mut Bench<'_>, attempt_use: AttemptUse) {
    let lead = bench.lead();
    let round = Round {
        afterwards: After::Off,
        ..bench.round(Who::Only(lead), bench.step.action)
    };
    bench.machine.run(&round, &mut bench.outcomes);
    take_outcome(bench, lead, bench.outcomes[lead.index()], attempt_use);
}

/// Evaluates a CPU's attempt, and lengthens the wait that was too short, if any.
fn take_outcome(bench: &mut Bench<'_>, cpu: CpuIndex, outcome: Outcome, attempt_use: AttemptUse) {
    let verdict = outcome.judge(bench.pmf);
    bench.record_attempt(cpu, &outcome, verdict, attempt_use);
    let Err(rejection) = verdict else {
        return;
    };
    let is_lead = cpu == bench.lead();
    if rejection.reason == Reason::Overlap && !is_lead {
        bench.sleep.off = (bench.sleep.off * 2).min(bench.us(LONGEST_US));
    } else if rejection.reason == Reason::LateReturn || is_lead {
        lengthen_wait(bench, rejection);
    }
}
