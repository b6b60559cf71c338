//! CPU_ON soon after CPU_OFF. For 500 us after a CPU is reported as OFF, the firmware either
//! rejects CPU_ON, or accepts it but powers off the CPU anyway.

use suite::measure::Metric;
use suite::model::Verdict;
use suite::plan::ScenarioId;

use crate::common::{self, Ran, rt_instr, spec};

/// Runs four CPUs under this firmware variant.
fn run(variant: &str, args: &str, verdict: Verdict) -> Ran {
    let options = format!("--smp 4 --icount --variant {variant}");
    let all_args = format!("iterations=2 warmup=1 {args}");
    common::expect_verdict(&spec(&options, &all_args), verdict)
}

#[test]
fn cpu_off_for_a_millisecond_arrives_at_the_same_cost() {
    let args = "only=suite,cpu_on method=tftf,warm";
    let [usual, races] = ["cpu-on-race=0", "cpu-on-race=500"].map(|variant| {
        let ran = run(variant, args, Verdict::Pass);
        let rows = rt_instr(&ran.says(&["cpu-on-after=1000"]).log().text);
        let serial = rows
            .into_iter()
            .filter(|(test, _)| test.contains("_serial"));
        serial.collect::<Vec<_>>()
    });
    assert_eq!(usual.len(), 3);
    assert_eq!(races, usual);
}

#[test]
fn a_cpu_turned_on_immediately_after_its_off_is_lost() {
    let args = "only=cpu_on cpu-on-after=0";
    let words = [
        "cpu-on-after=0",
        "CPU 0.1 was lost: CPU_ON returned SUCCESS, but the CPU did not arrive in time",
    ];
    run("cpu-on-race=500", args, Verdict::Fail).says(&words);
}

#[test]
fn an_internal_failure_that_passes_loses_no_cpu() {
    let variant = "cpu-on-race=500,cpu-on-answer=failure";
    let log = run(variant, "only=cpu_on cpu-on-after=0", Verdict::Pass).log();
    // The time during which the firmware rejected the call is not included in the power-up time.
    let cells = log.cells(ScenarioId::named("cpu_on"));
    let ways_up = cells.filter_map(|(_, cell)| cell.series_of(Metric::TurnOn));
    let longest = ways_up.map(|series| series.summary.max).max();
    assert!(
        longest.is_some_and(|ticks| ticks < log.facts().ticks(500)),
        "{longest:?}"
    );
}
