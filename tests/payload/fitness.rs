//! Runs `only=fitness` under real firmware. Correct firmware passes every check, and each fault in
//! the firmware makes the corresponding checks fail.

use std::time::Duration;

use hardware::board::CpuIndex;
use runner::qemu::run_spec::RunSpec;
use suite::measure::Reason;
use suite::model::Function::{
    self, AffinityInfo, CpuOff, CpuOn, CpuSuspend, StatCount, StatResidency,
};
use suite::model::Probe::{
    self, Arrives, GoesOff, InterruptsKept, IsOff, IsOn, OwnTimer, Pending, Rises, Sgi,
};
use suite::model::Verdict::{Fail, Pass};
use suite::model::{Check, CheckEnd};
use suite::plan::ScenarioId;

use crate::common::{self, Log, Ran};

/// The CPU that the faults affect.
const VICTIM: usize = 5;

impl Ran {
    fn checks(&self) -> Vec<Check> {
        checks(&self.log())
    }
}

fn checks(log: &Log) -> Vec<Check> {
    let scenarios = log.scenarios(ScenarioId::named("fitness"));
    scenarios
        .flat_map(|scenario| scenario.checks.clone())
        .collect()
}

/// Returns the number of CPUs in the first check of this kind. Panics if there is no such check, or
/// if its result is not [`CheckEnd::Works`].
fn working(checks: &[Check], function: Function, probe: Probe) -> usize {
    let found = checks
        .iter()
        .find(|check| (check.function, check.probe) == (function, probe))
        .unwrap_or_else(|| panic!("no {function:?} {probe:?}"));
    assert_eq!(found.end, CheckEnd::Works, "{found:?}");
    found.cpus.iter().count()
}

#[test]
fn correct_firmware_passes_every_check() {
    for (options, cpus) in [
        ("--icount", 8),
        ("--icount --gic 2 --el 1 --smp 4", 4),
        ("--icount --smp 1", 1),
        ("--icount --variant timer-stop=1", 8),
    ] {
        let checks = checks(&common::expect_pass(&common::spec(options, "only=fitness")));
        let failed: Vec<&Check> = checks.iter().filter(|check| check.has_failed()).collect();
        assert!(failed.is_empty(), "{options}: {failed:?}");
        assert_eq!(working(&checks, AffinityInfo, IsOn), cpus, "{options}");
        if cpus > 1 {
            assert_eq!(working(&checks, CpuOn, Arrives), cpus - 1, "{options}");
            assert_eq!(working(&checks, CpuOff, GoesOff), cpus - 1, "{options}");
            assert_eq!(working(&checks, CpuSuspend, Sgi), cpus, "{options}");
            assert_eq!(
                working(&checks, CpuSuspend, InterruptsKept),
                cpus,
                "{options}"
            );
            working(&checks, CpuOn, Pending);
        }
    }
}

/// The pinned TF-A has a defect: it accepts any suspend mode. It does not check entry points, which
/// PSCI permits. A CPU without memory takes one exception after another, which stops QEMU's clock
/// under `-icount`.
#[test]
fn wrong_arguments_are_accepted_by_tf_a_2_12() {
    let args = "only=fitness fitness=destructive";
    let ran = common::expect_verdict(&common::spec("--smp 4 --variant osi=1", args), Fail);
    let checks = ran.checks();
    let failed = checks.iter().filter(|check| check.has_failed());
    let kinds: Vec<_> = failed
        .map(|check| (check.function, check.probe, check.answer))
        .collect();
    let expected = (Function::SetSuspendMode, Probe::WrongMode, Some(0));
    assert_eq!(kinds, [expected]);
    working(&checks, CpuOn, Probe::WrongMpidr);
    let mut tolerated = Vec::new();
    for check in &checks {
        if check.end == CheckEnd::Tolerated {
            tolerated.push((check.function, check.probe));
        }
    }
    assert_eq!(tolerated, [(CpuOn, Probe::WrongAddress)]);
}

/// QEMU's own PSCI has neither power-down states nor PMF.
#[test]
fn firmware_of_the_emulator_passes_every_check() {
    let spec = common::spec("--icount --firmware builtin --smp 4", "only=fitness");
    let checks = checks(&common::expect_pass(&spec));
    assert_eq!(working(&checks, CpuOn, Arrives), 3);
}

/// Each fault, with the checks on the victim that must fail because of it.
const FAULTS: &[(&str, &[(Function, Probe)])] = &[
    ("cpu-on-internal-failure", &[(CpuOn, Arrives)]),
    ("cpu-on-denied", &[(CpuOn, Arrives)]),
    ("cpu-on-already-on", &[(CpuOn, Arrives)]),
    ("cpu-on-pending", &[(CpuOn, Arrives)]),
    ("cpu-on-invalid-address", &[(CpuOn, Arrives)]),
    ("cpu-on-lost", &[(CpuOn, Arrives)]),
    ("cpu-on-wrong-context", &[(CpuOn, Arrives)]),
    // These strike while CPU_SUSPEND is being checked.
    ("cpu-on-lost,skip=1", &[(CpuOn, Arrives)]),
    ("cpu-on-denied,skip=3", &[(CpuOn, Arrives)]),
    ("cpu-off-denied,skip=1", &[(CpuOff, GoesOff)]),
    ("affinity-never-off,skip=9", &[(CpuOff, GoesOff)]),
    ("cpu-off-denied", &[(CpuOff, GoesOff)]),
    ("cpu-off-returns-success", &[(CpuOff, GoesOff)]),
    ("cpu-off-not-supported", &[(CpuOff, GoesOff)]),
    ("cpu-off-absent", &[(CpuOff, GoesOff)]),
    (
        "affinity-never-off",
        &[(AffinityInfo, IsOff), (CpuOff, GoesOff)],
    ),
    (
        "affinity-error",
        &[(AffinityInfo, IsOff), (AffinityInfo, IsOn)],
    ),
    ("suspend-invalid-parameters", BOTH),
    ("suspend-denied", BOTH),
    ("suspend-internal-failure", BOTH),
    ("suspend-not-supported", BOTH),
    ("suspend-abandoned-2.12", BOTH),
    ("suspend-abandoned-2.13", BOTH),
    ("suspend-early", BOTH),
    ("suspend-never", &[(CpuSuspend, OwnTimer)]),
    ("suspend-wrong-context", BOTH),
    ("suspend-shallow", &[(StatCount, Rises)]),
    ("spurious-sgi", BOTH),
    // PSCI_STAT_RESIDENCY is in microseconds, which the firmware derives from CNTFRQ_EL0.
    ("cntfrq", &[(StatResidency, Rises)]),
    ("serror", &[(CpuOn, Arrives)]),
    // The interrupts start after the trials have shown that the CPU's timer wakes it.
    ("interrupt-storm,skip=50,arg=100", BOTH),
];

/// Faults under which PSCI still works. (Other scenarios measure delays and check timestamps.)
const HARMLESS: &[&str] = &[
    "cpu-on-late",
    "suspend-late",
    "gic-enables-lost",
    "stall-locked",
    "suspend-keeps-power",
    "wake-lost",
    // CPU_SUSPEND.
    "stall,function=1",
    "pmf-absent",
    "pmf-sip-only",
    "pmf-fid-left",
    "pmf-bad-tid",
    "pmf-fails-later",
    "pmf-stale",
    "pmf-disorder",
    "pmf-before-call",
    "pmf-future",
    "pmf-counter-stopped",
    "pmf-zero",
];

/// Faults that have their own tests.
const SPECIAL: &[&str] = &[
    "e2h-set",
    "secure-interrupt",
    "smc-hang",
    "suspend-bad-return",
];

/// Both ways of waking a CPU.
const BOTH: &[(Function, Probe)] = &[(CpuSuspend, OwnTimer), (CpuSuspend, Sgi)];

#[test]
fn each_fault_fails_its_own_check() {
    for (fault, expected) in FAULTS {
        let options = format!("--icount --fault {fault},cpu={VICTIM:#x}");
        let ran = common::expect_verdict(&common::spec(&options, "only=fitness"), Fail);
        let failed: Vec<Check> = ran.checks().into_iter().filter(Check::has_failed).collect();
        for check in &failed {
            let kind = (check.function, check.probe);
            assert!(expected.contains(&kind), "{fault}: {check:?}");
            let cpus = check.cpus.iter().map(CpuIndex::index);
            assert!(cpus.eq([VICTIM]), "{fault}: {check:?}");
        }
        for kind in *expected {
            let is_it = |check: &Check| (check.function, check.probe) == *kind;
            assert!(failed.iter().any(is_it), "{fault}: {kind:?} is missing");
        }
    }
}

/// If the lead were suspended too, it could be lost, along with all results.
#[test]
fn lead_is_not_suspended_if_all_other_cpus_are_lost() {
    let spec = common::spec("--icount --smp 3 --fault cpu-on-lost", "only=fitness");
    let checks = common::expect_verdict(&spec, Fail).checks();
    let mut lost = 0;
    for check in &checks {
        if (check.function, check.probe) == (CpuOn, Arrives) {
            assert!(check.has_failed(), "{check:?}");
            lost += check.cpus.iter().count();
        }
        if check.function == CpuSuspend {
            assert!(matches!(check.end, CheckEnd::NotTried(_)), "{check:?}");
        }
    }
    assert_eq!(lost, 2, "{checks:?}");
}

/// Reads the firmware's list of faults, which is otherwise used only by C code.
#[test]
fn each_fault_of_the_firmware_is_tried() {
    let list = include_str!(
        "../../platforms/qemu/tf-a/plat/psci_bench_qemu/include/psci_bench_fault_list.h"
    );
    let name_in = |line: &'static str| {
        let row = line.trim().strip_prefix("FAULT(")?;
        row.split('"').nth(1)
    };
    let mut names: Vec<&str> = list.lines().filter_map(name_in).collect();
    let faults = FAULTS
        .iter()
        .filter_map(|(fault, _)| fault.split(',').next());
    let mut tried: Vec<&str> = faults.collect();
    let others = HARMLESS.iter().chain(SPECIAL);
    tried.extend(others.filter_map(|fault| fault.split(',').next()));
    names.sort_unstable();
    tried.sort_unstable();
    tried.dedup();
    assert_eq!(tried, names);
}

#[test]
fn harmless_fault_passes() {
    for fault in HARMLESS {
        let options = format!("--icount --fault {fault},cpu={VICTIM:#x}");
        let checks = common::expect_verdict(&common::spec(&options, "only=fitness"), Pass).checks();
        let is_lost =
            |check: &&Check| check.probe == InterruptsKept && check.end == CheckEnd::Tolerated;
        let lost = checks.iter().filter(is_lost).count();
        // The firmware has three power-down states.
        assert_eq!(
            lost,
            if *fault == "gic-enables-lost" { 3 } else { 0 },
            "{fault}"
        );
    }
    let options = format!("--icount --cpu max --fault e2h-set,cpu={VICTIM:#x}");
    common::expect_verdict(&common::spec(&options, "only=fitness"), Pass);
}

fn is_loss(end: CheckEnd) -> bool {
    match end {
        CheckEnd::NoEffect(rejection) => rejection.reason == Reason::Lost,
        _ => false,
    }
}

/// A CPU that faults without vectors stops QEMU's clock under `-icount`.
#[test]
fn cpu_that_resumes_at_a_wrong_address_is_lost() {
    for how in [0, 1] {
        let options = format!("--fault suspend-bad-return,cpu={VICTIM:#x},arg={how}");
        let checks = common::expect_verdict(&common::spec(&options, "only=fitness"), Fail).checks();
        // The clock is the host's, so a busy host may delay the return of another CPU.
        let lost: Vec<&Check> = checks.iter().filter(|check| is_loss(check.end)).collect();
        let [check] = lost[..] else {
            panic!("{how}: {checks:?}");
        };
        assert_eq!(
            (check.function, check.probe),
            (CpuSuspend, OwnTimer),
            "{how}"
        );
        assert!(
            check.cpus.contains(CpuIndex::new(VICTIM)),
            "{how}: {check:?}"
        );
    }
}

#[test]
fn function_that_never_returns_is_named_in_the_last_line() {
    // 0x4 is the function number of AFFINITY_INFO.
    let spec = RunSpec {
        timeout: Duration::from_secs(20),
        ..common::spec("--fault smc-hang,arg=0x4", "only=fitness")
    };
    let result = common::run_spec(&spec);
    let text = result.text();
    assert!(text.trim_end().ends_with("AFFINITY_INFO ..."), "{text}");
}
