//! The longest time of a run for which the user gives none.

use std::time::Duration;

use run::plan::{LOOPS_LIMIT_S, Plan, ScenarioId, steps};

/// The shortest time that is given unasked.
pub(super) const LEAST: Duration = Duration::from_secs(120);
/// The longest time that QEMU can be given, in seconds: a day.
pub const TIMEOUT_MAX: u64 = 24 * 60 * 60;

/// About twice what a sample takes where 32 CPUs share two.
const A_SAMPLE: Duration = Duration::from_millis(25);
/// About four times what a loop's operation takes, a call to the firmware, where
/// the host's CPUs are shared.
const AN_OPERATION: Duration = Duration::from_micros(40);
/// The kinds of operation that a loop has at most, each alone and on all CPUs.
const LOOPS: u64 = 6;
/// The time that a second of looking at timers may take under emulation, apart from a
/// sample's time for each CPU: they are gathered once a second.
const A_SECOND: Duration = Duration::from_secs(2);
/// The states to suspend to that a sweep has, CPU_OFF included.
const STATES: u64 = 3;
/// The steps of `idle_states`: the trees of boards name up to four states, of
/// which each is tried in sequence, at once, and in OS-initiated mode.
const IDLE_STEPS: u64 = 4 * 3;

/// Returns the timeout of a run for which the user gives none: by the number of samples,
/// those for warm-up included, of operations, and of seconds that timers are looked at.
pub fn timeout(cpus: u32, plan: &Plan) -> Duration {
    let rounds = u64::from(plan.iterations) + u64::from(plan.warmup);
    let samples = plan.scenarios.iter().map(|id| samples(id, cpus, plan));
    let samples = samples.fold(0, u64::saturating_add).saturating_mul(rounds);
    let time = times(A_SAMPLE, samples).saturating_add(of_loops(cpus, plan));
    let time = time.saturating_add(of_timers(cpus, plan));
    time.clamp(LEAST, Duration::from_secs(TIMEOUT_MAX))
}

fn times(time: Duration, count: u64) -> Duration {
    time.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Returns the number of samples of a round of `id`, those of all its steps together.
fn samples(id: ScenarioId, cpus: u32, plan: &Plan) -> u64 {
    let all = u64::from(cpus);
    match id {
        ScenarioId::TimerLatency => 0,
        ScenarioId::DirtySweep => {
            let steps = plan.dirty.map(|steps| steps.as_slice().len());
            STATES * all * steps.unwrap_or(steps::DIRTY_STEPS) as u64
        }
        ScenarioId::ContendSweep => {
            let steps = plan
                .contend
                .unwrap_or_else(|| steps::contend(cpus as usize));
            // A step with more CPUs than there are is skipped.
            let steps = steps.as_slice().iter().filter(|step| **step <= cpus);
            (STATES - 1) * steps.map(|step| u64::from(*step)).sum::<u64>()
        }
        ScenarioId::IdleStates => IDLE_STEPS * all,
        ScenarioId::SystemSuspend => 1,
        _ if id.is_suite() => plan.methods.iter().count() as u64 * all,
        _ => all,
    }
}

fn of_loops(cpus: u32, plan: &Plan) -> Duration {
    let loops = plan.scenarios.iter().filter(|id| id.is_micro()).count() as u64;
    let (batch, batches) = plan.batches();
    // Without loops= the payload has a limit in time, and goes on for some batches more.
    let (batches, limit) = match plan.loops {
        Some(_) => (u64::from(batches), Duration::ZERO),
        None => (200, Duration::from_secs(LOOPS_LIMIT_S.into())),
    };
    let batches = (batches + u64::from(plan.warmup)) * loops * LOOPS;
    let operations = batches.saturating_mul(u64::from(cpus) * u64::from(batch));
    times(AN_OPERATION, operations).saturating_add(times(limit, loops))
}

/// Returns the time for each load: one stretch for each CPU whose timer is looked at alone,
/// and one for all together.
fn of_timers(cpus: u32, plan: &Plan) -> Duration {
    if !plan.scenarios.contains(ScenarioId::TimerLatency) {
        return Duration::ZERO;
    }
    let timer = &plan.timer;
    let alone = |load| timer.alone_under(load, cpus as usize) as u64;
    let stretches = timer
        .loads()
        .map(|load| u64::from(timer.all()) + alone(load));
    let seconds = stretches.sum::<u64>().saturating_mul(timer.duration.into());
    let second = A_SECOND.saturating_add(times(A_SAMPLE, cpus.into()));
    times(second, seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_work_takes_longer() {
        let timers = "only=timer_latency duration=130";
        let sweep = "iterations=99 warmup=1 only=dirty_sweep";
        let contend = "iterations=99 warmup=1 only=contend_sweep";
        let most = "iterations=1000000 warmup=10000 only=all dirty=0-64M contend=1-512";
        for (cpus, args, more, seconds) in [
            (8, "", "", 120),
            // It takes 5 to 8 minutes where 32 CPUs share two.
            (32, "iterations=100 method=tftf,warm", "", 979),
            (8, "only=micro loops=1024 batch=64", "", 120),
            (u32::MAX, most, "", TIMEOUT_MAX),
            // One stretch; then one for each CPU, and each load.
            (2, timers, "timers=all stress=idle period=100000", 266),
            (2, timers, "", 1599),
            // A lone CPU has no other to put a load on.
            (1, timers, "", 789),
            (2, "duration=86400", "", 120),
            (8, sweep, "dirty=0,1M,2M,3M", 240),
            (8, sweep, "", 900),
            // A step with more CPUs than there are is not measured.
            (32, contend, "contend=32,33", 160),
            (8, contend, "", 180),
            (8, "iterations=99 warmup=1 only=idle_states", "", 240),
        ] {
            let plan = Plan::parse(&format!("{args} {more}")).expect("good words");
            let timeout = timeout(cpus, &plan).as_secs();
            assert_eq!(timeout, seconds, "{cpus} {args} {more}");
        }
        let loops = |args| timeout(8, &Plan::parse(args).expect("good words")).as_secs();
        let usual = loops("only=null_call");
        assert!(usual > u64::from(LOOPS_LIMIT_S) + 120, "{usual}");
        assert!(loops("only=null_call loops=1048576") > usual);
    }
}
