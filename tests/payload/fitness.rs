//! Runs `only=fitness` under real firmware. Correct firmware passes every check, and each fault in
//! the firmware makes the corresponding checks fail.

use std::time::Duration;

use hardware::board::CpuIndex;
use runner::qemu::run_spec::RunSpec;
use suite::measure::Reason;
use suite::model::Function::{
    self, AffinityInfo, CpuOff, CpuOn, CpuSuspend, Migrate, NodeHwState, SetSuspendMode, StatCount,
    StatResidency, SystemSuspend,
};
use suite::model::Verdict::{Fail, Pass};
use suite::model::{Check, CheckEnd};
use suite::plan::ScenarioId;

use crate::common::{self, Log, Ran};

/// The CPU that the faults affect, the last of two in the second cluster.
const VICTIM: usize = 5;
const SIX_CPUS: &str = "--smp 6";

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
fn working(checks: &[Check], function: Function, rule: &str) -> usize {
    let found = checks
        .iter()
        .find(|check| (check.function, check.rule.key) == (function, rule))
        .unwrap_or_else(|| panic!("no {function:?} {rule:?}"));
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
        assert_eq!(working(&checks, AffinityInfo, "is-on"), cpus, "{options}");
        if cpus > 1 {
            assert_eq!(working(&checks, CpuOn, "arrives"), cpus - 1, "{options}");
            assert_eq!(working(&checks, CpuOff, "goes-off"), cpus - 1, "{options}");
            assert_eq!(working(&checks, CpuSuspend, "sgi"), cpus, "{options}");
            assert_eq!(
                working(&checks, CpuSuspend, "interrupts-kept"),
                cpus,
                "{options}"
            );
            working(&checks, CpuOn, "pending");
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
        .map(|check| (check.function, check.rule.key, check.answer))
        .collect();
    let expected = (SetSuspendMode, "wrong-mode", Some(0));
    assert_eq!(kinds, [expected]);
    working(&checks, CpuOn, "wrong-mpidr");
    let mut tolerated = Vec::new();
    for check in &checks {
        if check.end == CheckEnd::Tolerated {
            tolerated.push((check.function, check.rule.key));
        }
    }
    assert_eq!(tolerated, [(CpuOn, "wrong-address")]);
}

/// QEMU's own PSCI has neither power-down states nor PMF.
#[test]
fn firmware_of_the_emulator_passes_every_check() {
    let spec = common::spec("--icount --firmware builtin --smp 4", "only=fitness");
    let checks = checks(&common::expect_pass(&spec));
    assert_eq!(working(&checks, CpuOn, "arrives"), 3);
}

/// Each fault, with the checks on the victim that must fail because of it.
const FAULTS: &[(&str, &[(Function, &str)])] = &[
    ("cpu-on-internal-failure", &[(CpuOn, "arrives")]),
    ("cpu-on-denied", &[(CpuOn, "arrives")]),
    ("cpu-on-already-on", &[(CpuOn, "arrives")]),
    ("cpu-on-pending", &[(CpuOn, "arrives")]),
    ("cpu-on-invalid-address", &[(CpuOn, "arrives")]),
    ("cpu-on-lost", &[(CpuOn, "arrives")]),
    ("cpu-on-wrong-context", &[(CpuOn, "arrives")]),
    // These strike while CPU_SUSPEND is being checked.
    ("cpu-on-lost,skip=1", &[(CpuOn, "arrives")]),
    ("cpu-on-denied,skip=3", &[(CpuOn, "arrives")]),
    ("cpu-off-denied,skip=1", &[(CpuOff, "goes-off")]),
    ("affinity-never-off,skip=9", &[(CpuOff, "goes-off")]),
    ("cpu-off-denied", &[(CpuOff, "goes-off")]),
    ("cpu-off-returns-success", &[(CpuOff, "goes-off")]),
    ("cpu-off-not-supported", &[(CpuOff, "goes-off")]),
    ("cpu-off-absent", &[(CpuOff, "goes-off")]),
    (
        "affinity-never-off",
        &[(AffinityInfo, "is-off"), (CpuOff, "goes-off")],
    ),
    (
        "affinity-error",
        &[(AffinityInfo, "is-off"), (AffinityInfo, "is-on")],
    ),
    ("suspend-invalid-parameters", BOTH),
    ("suspend-denied", BOTH),
    ("suspend-internal-failure", BOTH),
    ("suspend-not-supported", BOTH),
    ("suspend-abandoned-2.12", BOTH),
    ("suspend-abandoned-2.13", BOTH),
    ("suspend-early", BOTH),
    ("suspend-never", &[(CpuSuspend, "own-timer")]),
    ("suspend-wrong-context", BOTH),
    ("suspend-shallow", &[(StatCount, "rises")]),
    ("spurious-sgi", BOTH),
    // PSCI_STAT_RESIDENCY is in microseconds, which the firmware derives from CNTFRQ_EL0.
    ("cntfrq", &[(StatResidency, "rises")]),
    ("serror", &[(CpuOn, "arrives")]),
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

/// Each fault that breaks only one rule, with options for the machine, and the rule.
const RULE_FAULTS: &[(&str, &str, (Function, &str))] = &[
    (OSI, "osi-sibling-ignored", (CpuSuspend, "sibling-runs")),
    (
        OSI,
        "osi-standby-ignored",
        (CpuSuspend, "sibling-in-standby"),
    ),
    (OSI, "osi-denial-forgotten", (CpuSuspend, "after-denial")),
    // TF-A forgets until commit 5e7b6c795 that the CPU is running.
    (OSI, "platform-denies,cpu=0x4", (StatCount, "after-denial")),
    (OSI, "osi-last-denied", (CpuSuspend, "last-down")),
    (OSI, "mode-while-on", (SetSuspendMode, "mode-while-on")),
    (
        OSI,
        "mode-while-on,arg=1",
        (SetSuspendMode, "mode-while-suspended"),
    ),
    (
        TWO_CPUS,
        "affinity-suspended-off",
        (AffinityInfo, "suspended-is-on"),
    ),
    (TWO_CPUS, "affinity-of-level,arg=1", (AffinityInfo, "level")),
    (
        FIVE_CPUS,
        "affinity-of-level,cpu=0x4",
        (AffinityInfo, "level-off"),
    ),
    (FOUR_CPUS, "cpu-on-twice", (CpuOn, "two-callers")),
    (FOUR_CPUS, "cpu-on-overtaken,cpu=0x3", (CpuOn, "on-at-once")),
    (FOUR_CPUS, "cpu-off-one-by-one", (CpuOff, "off-at-once")),
    (
        TWO_CPUS,
        "migrate-succeeds",
        (Migrate, "nothing-to-migrate"),
    ),
    // NODE_HW_STATE.
    (
        TWO_CPUS,
        "feature-hidden,arg=0xd",
        (NodeHwState, "features-agree"),
    ),
    (
        TWO_CPUS,
        "entry-state,cpu=0x1,arg=0",
        (CpuOn, "entry-masked"),
    ),
    (
        TWO_CPUS,
        "entry-state,cpu=0x1,arg=1",
        (CpuOn, "entry-uncached"),
    ),
    (
        TWO_CPUS,
        "entry-state,cpu=0x1,arg=2",
        (CpuOn, "entry-endianness"),
    ),
    (
        TWO_CPUS,
        "entry-state,cpu=0x1,arg=5",
        (CpuOn, "entry-level"),
    ),
];

/// Faults that break only one rule about invalid arguments, and the rule.
const ARGUMENT_FAULTS: &[(&str, (Function, &str))] = &[
    ("accepts-invalid,arg=0x1", (CpuSuspend, "wrong-state")),
    ("accepts-invalid,arg=0x3", (CpuOn, "wrong-mpidr")),
    // The levels that exist and the MPIDRs come first.
    (
        "accepts-invalid,arg=0x4,skip=19",
        (AffinityInfo, "wrong-level"),
    ),
    ("accepts-invalid,arg=0xe", (SystemSuspend, "not-alone")),
];

/// Firmware with OS-initiated mode, and two CPUs in the second cluster.
const OSI: &str = "--variant osi=1 --smp 6";
const TWO_CPUS: &str = "--smp 2";
const FOUR_CPUS: &str = "--smp 4";
const FIVE_CPUS: &str = "--smp 5";

/// The rule that TF-A 2.12.1 breaks in OS-initiated mode. Commit ea2335fbe mends it.
const BROKEN_BY_TF_A: (Function, &str) = (CpuSuspend, "child-stays-on");

/// Returns the rules that a run breaks, except the one that TF-A 2.12.1 breaks.
fn broken_rules(options: &str, args: &str) -> Vec<(Function, &'static str)> {
    let checks = common::expect_verdict(&common::spec(options, args), Fail).checks();
    let failed = checks.iter().filter(|check| check.has_failed());
    let mut rules: Vec<_> = failed
        .map(|check| (check.function, check.rule.key))
        .filter(|rule| *rule != BROKEN_BY_TF_A)
        .collect();
    rules.dedup_by_key(|(_, key)| *key);
    rules
}

#[test]
fn each_fault_breaks_its_own_rule() {
    for (machine, fault, broken) in RULE_FAULTS {
        let options = format!("--icount {machine} --fault {fault}");
        assert_eq!(broken_rules(&options, "only=fitness"), [*broken], "{fault}");
    }
}

/// Without `--icount`, because a CPU that is lost may stop the instruction clock.
#[test]
fn each_accepted_argument_breaks_its_own_rule() {
    for (fault, broken) in ARGUMENT_FAULTS {
        let options = format!("{TWO_CPUS} --fault {fault}");
        let broken_rules = broken_rules(&options, "only=fitness fitness=destructive");
        assert_eq!(broken_rules, [*broken], "{fault}");
    }
}

#[test]
fn tf_a_2_12_breaks_one_rule_in_os_initiated_mode() {
    let spec = common::spec(&format!("--icount {OSI}"), "only=fitness");
    let checks = common::expect_verdict(&spec, Fail).checks();
    let failed = checks.iter().filter(|check| check.has_failed());
    let rules: Vec<_> = failed
        .map(|check| (check.function, check.rule.key))
        .collect();
    assert_eq!(rules, [BROKEN_BY_TF_A]);
    for rule in [
        "sibling-runs",
        "sibling-in-standby",
        "after-denial",
        "last-down",
    ] {
        working(&checks, CpuSuspend, rule);
    }
    working(&checks, SetSuspendMode, "mode-while-on");
    working(&checks, SetSuspendMode, "mode-while-suspended");
}

/// Two entry rules only ask for what software sets itself.
#[test]
fn entry_that_software_does_not_rely_on_is_tolerated() {
    for (which, rule) in [(3, "entry-stack"), (4, "entry-reserved")] {
        let options = format!("--icount --smp 2 --fault entry-state,cpu=0x1,arg={which}");
        let checks = common::expect_verdict(&common::spec(&options, "only=fitness"), Pass).checks();
        let tolerated: Vec<_> = checks
            .iter()
            .filter(|check| check.end == CheckEnd::Tolerated)
            .map(|check| (check.function, check.rule.key))
            .collect();
        assert_eq!(tolerated, [(CpuOn, rule), (CpuSuspend, rule)]);
    }
}

/// Faults that have their own tests.
const SPECIAL: &[&str] = &[
    // In gaps.rs.
    "secure-timer",
    // In stress.rs.
    "cpu-on-beside-off",
    "suspend-keeps-lock",
    "cluster-beside-wake",
    "e2h-set",
    "secure-interrupt",
    "smc-hang",
    "suspend-bad-return",
];

/// Both ways of waking a CPU.
const BOTH: &[(Function, &str)] = &[(CpuSuspend, "own-timer"), (CpuSuspend, "sgi")];

#[test]
fn each_fault_fails_its_own_check() {
    for (fault, expected) in FAULTS {
        let options = format!("--icount {SIX_CPUS} --fault {fault},cpu={VICTIM:#x}");
        let ran = common::expect_verdict(&common::spec(&options, "only=fitness"), Fail);
        let failed: Vec<Check> = ran.checks().into_iter().filter(Check::has_failed).collect();
        for check in &failed {
            let kind = (check.function, check.rule.key);
            assert!(expected.contains(&kind), "{fault}: {check:?}");
            let cpus = check.cpus.iter().map(CpuIndex::index);
            assert!(cpus.eq([VICTIM]), "{fault}: {check:?}");
        }
        for kind in *expected {
            let is_it = |check: &Check| (check.function, check.rule.key) == *kind;
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
        if (check.function, check.rule.key) == (CpuOn, "arrives") {
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
    let of_rules = RULE_FAULTS.iter().map(|(_, fault, _)| fault);
    let of_arguments = ARGUMENT_FAULTS.iter().map(|(fault, _)| fault);
    let others = HARMLESS
        .iter()
        .chain(SPECIAL)
        .chain(of_rules)
        .chain(of_arguments);
    tried.extend(others.filter_map(|fault| fault.split(',').next()));
    names.sort_unstable();
    tried.sort_unstable();
    tried.dedup();
    assert_eq!(tried, names);
}

#[test]
fn harmless_fault_passes() {
    for fault in HARMLESS {
        let options = format!("--icount {SIX_CPUS} --fault {fault},cpu={VICTIM:#x}");
        let checks = common::expect_verdict(&common::spec(&options, "only=fitness"), Pass).checks();
        let is_lost = |check: &&Check| {
            check.rule.key == "interrupts-kept" && check.end == CheckEnd::Tolerated
        };
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
            (check.function, check.rule.key),
            (CpuSuspend, "own-timer"),
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
