//! The default timeout for a run.

use std::time::Duration;

use follow::stream::TIMEOUT_MAX_S;
use suite::plan::{Plan, RunSize};

/// The shortest default timeout.
pub(super) const TIMEOUT_MIN: Duration = Duration::from_secs(120);

/// About twice as long as a sample takes when 32 CPUs share two host CPUs.
const A_SAMPLE: Duration = Duration::from_millis(25);
/// About four times as long as one loop operation (a firmware call) takes when several CPUs share a
/// host CPU.
const AN_OPERATION: Duration = Duration::from_micros(40);
/// The time that emulation may take per second of timer observation.
const A_SECOND: Duration = Duration::from_secs(2);
/// The maximum number of idle states on a board. Board device trees have up to four.
const IDLE_STATES: usize = 4;

/// Returns the default timeout for a run, computed from the number of samples (including warm-up),
/// the number of operations, and the number of seconds for which timers are observed.
pub fn timeout(cpus: u32, plan: &Plan) -> Duration {
    let size = RunSize {
        plan,
        cpus: cpus as usize,
        idle_states: IDLE_STATES,
    };
    // Timer results are collected once a second.
    let timer_second = A_SECOND.saturating_add(times(A_SAMPLE, cpus.into()));
    let mut time = Duration::ZERO;
    for work in plan.scenarios.iter().map(|id| id.work(&size)) {
        time = time
            .saturating_add(times(A_SAMPLE, work.samples))
            .saturating_add(times(AN_OPERATION, work.operations))
            .saturating_add(Duration::from_secs(work.limit_s))
            .saturating_add(times(timer_second, work.timers_s));
    }
    time.clamp(TIMEOUT_MIN, Duration::from_secs(TIMEOUT_MAX_S))
}

fn times(time: Duration, count: u64) -> Duration {
    time.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod tests {
    use suite::plan::LOOPS_LIMIT_S;

    use super::*;

    #[test]
    fn more_work_takes_longer() {
        let timers = "only=timer_latency duration=130";
        let sweep = "iterations=99 warmup=1 only=dirty_sweep";
        let contend = "iterations=99 warmup=1 only=contend_sweep";
        let most = "iterations=1000000 warmup=10000 only=all dirty=0-64M contend=1-512";
        for (cpus, args, more, seconds) in [
            (8, "", "", 120),
            // This run takes 5 to 8 minutes when 32 CPUs share two host CPUs.
            (32, "iterations=100 method=tftf,warm", "", 979),
            (8, "only=micro loops=1024 batch=64", "", 120),
            (u32::MAX, most, "", TIMEOUT_MAX_S),
            // A single period. In the next case, each load takes one period for all CPUs together
            // and one for each CPU.
            (2, timers, "timers=all stress=idle period=100000", 266),
            (2, timers, "", 1599),
            // With a single CPU, there is no other CPU to execute a load.
            (1, timers, "", 789),
            (2, "duration=86400", "", 120),
            (8, sweep, "dirty=0,1M,2M,3M", 240),
            (8, sweep, "", 900),
            // A step with more CPUs than the machine has is not measured.
            (32, contend, "contend=32,33", 165),
            (8, contend, "", 200),
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
