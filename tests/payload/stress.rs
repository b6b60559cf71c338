//! Runs `only=stress` under real firmware. Correct firmware passes, and each injected race is found,
//! again and again with the same seed.

use suite::measure::{StressViolation, Violation};
use suite::model::Verdict::Fail;
use suite::model::{Check, CheckEnd, Function};
use suite::plan::ScenarioId;

use crate::common::{self, Ran};

fn checks(ran: &Ran) -> Vec<Check> {
    let log = ran.log();
    let scenarios = log.scenarios(ScenarioId::named("stress"));
    scenarios
        .flat_map(|scenario| scenario.checks.clone())
        .collect()
}

#[test]
fn correct_firmware_answers_all_random_calls_rightly() {
    for options in [
        "--icount",
        "--icount --gic 2 --smp 4",
        "--icount --variant coherency=sw",
        "--icount --firmware builtin --smp 4",
        "--smp 2",
    ] {
        let spec = common::spec(options, "only=stress duration=5 seed=9");
        let log = common::expect_pass(&spec);
        let mut scenarios = log.scenarios(ScenarioId::named("stress"));
        let checks = &scenarios.next().expect("the scenario").checks;
        assert_eq!(checks.len(), 4, "{options}: {checks:?}");
        for check in checks {
            assert_eq!(check.end, CheckEnd::Works, "{options}: {check:?}");
            assert!(check.value.is_some_and(|calls| calls > 500), "{check:?}");
        }
    }
}

#[test]
fn other_scenarios_find_the_cpus_off() {
    let args = "only=stress,fitness duration=1";
    common::expect_pass(&common::spec("--icount --smp 2", args));
}

/// Each race in the firmware, the function whose calls show it, and what is wrong. Nothing is wrong
/// with the calls if the CPU is lost in one.
const RACES: &[(&str, Function, &[Violation])] = &[
    (
        "cpu-on-twice",
        Function::CpuOn,
        &[Violation::WasOn, Violation::AcceptedTwice],
    ),
    (
        "cpu-on-beside-off",
        Function::CpuOn,
        &[Violation::NotArrived],
    ),
    ("suspend-keeps-lock", Function::CpuSuspend, &[]),
    (
        "cluster-beside-wake",
        Function::CpuSuspend,
        &[Violation::WrongContext],
    ),
    (
        "cpu-off-one-by-one",
        Function::CpuOff,
        &[Violation::StillOn],
    ),
    (
        "affinity-suspended-off",
        Function::AffinityInfo,
        &[Violation::WrongAnswer],
    ),
];

fn run(fault: &str, seed: u32) -> Ran {
    let options = format!("--icount --fault {fault}");
    let args = format!("only=stress duration=20 seed={seed}");
    common::expect_verdict(&common::spec(&options, &args), Fail)
}

/// Returns the violation that the function's first failed check shows; None if a CPU was lost.
fn violation(checks: &[Check], function: Function) -> Option<StressViolation> {
    let mut failed = checks.iter().filter(|check| check.has_failed());
    let first = failed.find(|check| check.function == function);
    match first.map(|check| check.end) {
        Some(CheckEnd::Violation(violation)) => Some(violation),
        Some(CheckEnd::NoEffect(_)) => None,
        other => panic!("{other:?}: {checks:?}"),
    }
}

#[test]
fn each_race_is_found_and_its_seed_shows_it_again() {
    for (fault, function, expected) in RACES {
        let first = run(fault, 1);
        let found = violation(&checks(&first), *function);
        match found {
            Some(violation) => assert!(expected.contains(&violation.what), "{fault}: {found:?}"),
            None => assert!(expected.is_empty(), "{fault}"),
        }
        let seed = found.map_or(1, |violation| violation.seed);
        let again = violation(&checks(&run(fault, seed)), *function);
        assert_eq!(again, found, "{fault}");
        // CPUs that are lost afterwards are consequences, and are not reported.
        let is_loss = |check: &Check| matches!(check.end, CheckEnd::NoEffect(_));
        let has_loss = checks(&first).iter().any(is_loss);
        assert_eq!(has_loss, found.is_none(), "{fault}");
        first.says(&["us: CPU_ON"]);
    }
}
