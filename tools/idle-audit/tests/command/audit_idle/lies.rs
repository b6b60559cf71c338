//! Planted lies: each is found with its state and CPU, and nothing else is.

use hardware::spec::psci::ReturnCode;
use hardware::spec::stat::Reached;
use idle_audit::audit::{IdleAudit, audit};
use report::log::LoggedRun;
use suite::measure::{Cause, Loss, RoundPhase};
use suite::model::{Cell, Failure, Skip, Status, WakeSource};
use suite::plan::{ActiveCpus, ScenarioId};

use super::{BOARD, Edit, MARGIN, edit, edited, sample, source, tree, wrong};

const ENTRY: &str = "entry-latency-us";
const EXIT: &str = "exit-latency-us";
const WAKEUP: &str = "wakeup-latency-us";
const RESIDENCY: &str = "min-residency-us";
const TIMER: &str = "local-timer-stop";

/// A lie: the state and the changes to its properties, and the start of each verdict that must
/// follow: rule, CPU, verdict, and the start of the reason.
type Lie = (
    &'static str,
    &'static [(&'static str, Edit)],
    &'static [&'static str],
);

use Edit::{Absent, Present, Us};

/// The tree declares these values, in this order: entry 7, 85, 7000, 7000; exit 6, 28, 250, 270;
/// minimum residency 13, 115, 7300, 7400.
const LIES: &[Lie] = &[
    // Too small.
    (
        "core-standby",
        &[(ENTRY, Us(4))],
        &["entry-latency-us 0.0 too small: too small by 0.69 us"],
    ),
    (
        "core-standby",
        &[(EXIT, Us(3))],
        &["exit-latency-us 0.0 too small: too small by 0.87 us"],
    ),
    (
        "core-off",
        &[(ENTRY, Us(56))],
        &["entry-latency-us 0.0 too small: too small by 0.37 us"],
    ),
    (
        "core-off",
        &[(EXIT, Us(10))],
        &["exit-latency-us 0.0 too small: too small by"],
    ),
    (
        "cluster-off",
        &[(ENTRY, Us(4636))],
        &["entry-latency-us 1.0 too small: too small by 0.98 us"],
    ),
    (
        "cluster-off",
        &[(EXIT, Us(168))],
        &["exit-latency-us 1.3 too small: too small by 0.14 us"],
    ),
    (
        "system-off",
        &[(ENTRY, Us(4650))],
        &[
            "entry-latency-us 1.0 too small: too small by 3.62 us",
            "wakeup-order - contradictory: the wake-up latency 4920 is less than the 7250",
        ],
    ),
    (
        "system-off",
        &[(EXIT, Us(17))],
        &[
            "exit-latency-us 1.3 too small: too small by 158.22 us",
            "wakeup-order - contradictory: the wake-up latency 7017 is less than the 7250",
        ],
    ),
    (
        "core-off",
        &[(WAKEUP, Us(60))],
        &["wakeup-latency-us 0.0 too small: too small by 14."],
    ),
    (
        "cluster-off",
        &[(WAKEUP, Us(4000))],
        &["wakeup-latency-us 1.0, 1.3 too small: too small by 805.12 us"],
    ),
    (
        "core-off",
        &[(ENTRY, Us(20)), (EXIT, Us(20)), (RESIDENCY, Us(50))],
        &[
            "entry-latency-us 0.0 too small",
            "wakeup-latency-us 0.0 too small",
            "min-residency-us 0.0 too small: too small by 24.38 us: time alone",
        ],
    ),
    (
        "core-standby",
        &[(RESIDENCY, Us(5))],
        &[
            "min-residency-us 0.0 too small: too small by 3.56 us: time alone gives a lower bound",
            "residency-covers-latency - contradictory",
        ],
    ),
    // Too large.
    (
        "core-standby",
        &[(ENTRY, Us(11)), (RESIDENCY, Us(17))],
        &["entry-latency-us 0.0 too large: too large by a factor of 2.2"],
    ),
    (
        "core-standby",
        &[(EXIT, Us(9)), (RESIDENCY, Us(16))],
        &["exit-latency-us 0.0 too large: too large by a factor of 2.2"],
    ),
    (
        "core-off",
        &[(ENTRY, Us(115)), (RESIDENCY, Us(143))],
        &["entry-latency-us 0.0 too large: too large by a factor of 2.0"],
    ),
    (
        "core-off",
        &[(EXIT, Us(40)), (RESIDENCY, Us(125))],
        &["exit-latency-us 0.0 too large"],
    ),
    (
        "system-off",
        &[(ENTRY, Us(10_000)), (RESIDENCY, Us(10_270))],
        &[
            "entry-latency-us 1.0 too large",
            "wakeup-latency-us 1.0, 1.3 too large",
        ],
    ),
    (
        "system-off",
        &[(EXIT, Us(2300)), (RESIDENCY, Us(9300))],
        &["exit-latency-us 1.3 too large: too large by a factor of 13.1"],
    ),
    (
        "system-off",
        &[
            (ENTRY, Us(9308)),
            (EXIT, Us(352)),
            (WAKEUP, Us(9661)),
            (RESIDENCY, Us(9700)),
        ],
        &[
            "wakeup-latency-us 1.0, 1.3 too large: too large by a factor of 2.0",
            "wakeup-within-sum - contradictory: wakeup-latency-us 9661 exceeds 9660",
        ],
    ),
    (
        "core-off",
        &[(TIMER, Present)],
        &["local-timer-stop 0.0 too large: too cautious"],
    ),
    (
        "system-off",
        &[(TIMER, Present)],
        &["local-timer-stop 0.0 too large: too cautious"],
    ),
    // Contradictory.
    (
        "core-off",
        &[(WAKEUP, Us(20))],
        &[
            "wakeup-latency-us 0.0 too small",
            "exit-within-wakeup - contradictory: wakeup-latency-us 20 is less than \
             exit-latency-us 28",
        ],
    ),
    (
        "core-off",
        &[(WAKEUP, Us(120)), (RESIDENCY, Us(120))],
        &["wakeup-within-sum - contradictory: wakeup-latency-us 120 exceeds 113"],
    ),
    (
        "core-off",
        &[(RESIDENCY, Us(112))],
        &["residency-covers-latency - contradictory: min-residency-us 112 is less than 113"],
    ),
    (
        "cluster-off",
        &[(RESIDENCY, Us(7249))],
        &["residency-covers-latency - contradictory: min-residency-us 7249 is less than 7250"],
    ),
    (
        "cluster-off",
        &[(RESIDENCY, Us(8000))],
        &[
            "(system-off) residency-order - contradictory: min-residency-us 7400 is less than the \
             8000 of cluster-off",
        ],
    ),
    (
        "core-off",
        &[(RESIDENCY, Us(7301))],
        &[
            "(cluster-off) residency-order - contradictory: min-residency-us 7300 is less than \
             the 7301 of core-off",
        ],
    ),
    (
        "cluster-off",
        &[(EXIT, Us(300))],
        &[
            "(system-off) wakeup-order - contradictory: the wake-up latency 7270 is less than the \
             7300 of cluster-off",
        ],
    ),
    (
        "core-off",
        &[(RESIDENCY, Absent)],
        &["required - contradictory: without min-residency-us, Linux"],
    ),
    (
        "cluster-off",
        &[(ENTRY, Absent)],
        &["required - contradictory: without entry-latency-us, Linux"],
    ),
    (
        "system-off",
        &[(EXIT, Absent)],
        &["required - contradictory: without exit-latency-us, Linux"],
    ),
    (
        "core-off",
        &[(ENTRY, Absent), (EXIT, Absent), (WAKEUP, Us(60))],
        &["wakeup-latency-us 0.0 too small"],
    ),
];

/// Checks the verdicts that call for a change. A verdict starts with the state in parentheses if
/// it is not `state`.
fn check(found: &IdleAudit, state: &str, expected: &[&str]) {
    let found = wrong(found);
    assert_eq!(
        found.len(),
        expected.len(),
        "{state} {expected:?}: {found:#?}"
    );
    for (line, start) in found.iter().zip(expected) {
        let start = match start.strip_prefix('(') {
            Some(other) => other.replacen(')', "", 1),
            None => format!("{state} {start}"),
        };
        assert!(line.starts_with(&start), "{line}\n{start}");
        // A verdict that no measurement decided names the CPUs that use the state.
        assert!(
            !line.contains(" - ") || line.contains("(CPU 0x0, 0x1"),
            "{line}"
        );
    }
}

#[test]
fn each_lie_in_the_tree_is_named_and_its_correction_leaves_none() {
    assert!(LIES.len() >= 30, "{}", LIES.len());
    let runs = [sample()];
    for (state, edits, expected) in LIES {
        let lie = edited(|tree| {
            for (property, what) in *edits {
                edit(tree, state, property, *what);
            }
        });
        let mut source = source(&lie);
        let found = audit(&source, BOARD, &runs, MARGIN).expect("an audit");
        check(&found, state, expected);
        for (declared, audited) in source.declared.states.iter_mut().zip(&found.states) {
            audited
                .changes
                .iter()
                .for_each(|change| change.apply(declared));
        }
        let corrected = audit(&source, BOARD, &runs, MARGIN).expect("an audit");
        let rest: Vec<_> = corrected
            .judgements()
            .filter(|(_, judgement)| judgement.verdict.calls_for_change())
            .collect();
        // States in the wrong order cannot be corrected by values.
        let is_order = expected.iter().all(|order| order.contains("-order "));
        assert_eq!(!rest.is_empty(), is_order, "{state} {edits:?}: {rest:#?}");
    }
}

/// Lies that only the measured values reveal are not found without a log.
#[test]
fn without_a_log_only_contradictions_are_found() {
    for (state, edits, expected) in LIES {
        let lie = edited(|tree| {
            for (property, what) in *edits {
                edit(tree, state, property, *what);
            }
        });
        let found = audit(&source(&lie), BOARD, &[], MARGIN).expect("an audit");
        let is_static = |line: &&&str| line.contains(" - contradictory");
        let expected: Vec<&str> = expected.iter().filter(is_static).copied().collect();
        check(&found, state, &expected);
    }
}

/// Applies `edit` to the cells of a state in the `idle_states` scenario.
fn with_cells(power_state: u32, edit: impl Fn(&mut Cell)) -> LoggedRun {
    let mut logged = sample();
    for scenario in &mut logged.run.scenarios {
        let conditions = scenario.conditions.as_mut();
        let is_of_suite = scenario.id.is_suite();
        let suite_state = conditions.and_then(|conditions| conditions.power_state);
        let is_own = |cell: &Cell| match is_of_suite {
            true => suite_state == Some(power_state),
            false => cell.power_state == Some(power_state),
        };
        scenario
            .cells
            .iter_mut()
            .filter(|cell| is_own(cell))
            .for_each(&edit);
    }
    logged
}

const CORE: u32 = 0x1_0002;
const CLUSTER: u32 = 0x101_0022;
const SYSTEM: u32 = 0x201_0222;

fn check_run(logged: LoggedRun, state: &str, expected: &[&str]) {
    let found = audit(&source(&tree()), BOARD, &[logged], MARGIN).expect("an audit");
    check(&found, state, expected);
}

/// `tests/machine.rs` does the same with real firmware.
#[test]
fn state_that_stops_timers_or_reaches_less_is_named() {
    let rung = |cell: &mut Cell| cell.wake_source = Some(WakeSource::Helper);
    for (state, power_state) in [
        ("core-off", CORE),
        ("cluster-off", CLUSTER),
        ("system-off", SYSTEM),
    ] {
        let logged = with_cells(power_state, rung);
        check_run(
            logged,
            state,
            &["local-timer-stop 0.0 contradictory: a trial showed"],
        );
    }
    for (state, power_state) in [("cluster-off", CLUSTER), ("system-off", SYSTEM)] {
        // Only CPU 1.2, and only if all CPUs suspend together.
        let logged = with_cells(power_state, |cell| {
            if cell.step.cpus == ActiveCpus::All && cell.cpu == 6.into() {
                let reached = cell.reached.expect("PSCI_STAT values");
                let state = Some(CORE);
                cell.reached = Some(Reached { state, ..reached });
            }
        });
        let expected = format!("reached 1.2 contradictory: PSCI_STAT counted {CORE:#010x}");
        check_run(logged, state, &[&expected]);
    }
}

/// Removes a cell's samples.
fn clear(cell: &mut Cell) {
    cell.series.clear();
    cell.shown = None;
    cell.reached = None;
    if let Some(counts) = &mut cell.counts {
        counts.valid = 0;
    }
}

#[test]
fn state_that_is_never_entered_is_named() {
    let mut refused = with_cells(CLUSTER, clear);
    let mut scenarios = refused.run.scenarios.iter_mut();
    let idle = scenarios.find(|scenario| scenario.id == ScenarioId::named("idle_states"));
    idle.expect("the scenario").status = Status::Failed(Failure::StateRefused {
        power_state: CLUSTER,
        error: ReturnCode(-2),
        cpu: 3.into(),
    });
    let expected = "entered 0.3 contradictory: never entered: CPU_SUSPEND returned \
                    INVALID_PARAMETERS";
    check_run(refused, "cluster-off", &[expected]);
    let lost = with_cells(CLUSTER, |cell| {
        clear(cell);
        cell.lost = Some(Loss {
            phase: RoundPhase::Finish,
            cause: Cause::Timeout,
        });
    });
    let expected = "entered 0.0 contradictory: never entered: it was lost: timed out";
    check_run(lost, "cluster-off", &[expected]);
    for (skip, expected) in [
        (
            Skip::NothingWoke {
                mpidr: hardware::board::Mpidr::new(7),
                power_state: CLUSTER,
            },
            &["entered 1.3 contradictory: never entered: neither its timer nor an SGI woke"][..],
        ),
        (Skip::NoHelper, &[]),
    ] {
        let skipped = with_cells(CLUSTER, |cell| {
            clear(cell);
            cell.counts = None;
            cell.power_state = None;
            cell.step.value = Some(CLUSTER.into());
            cell.skipped = Some(skip);
        });
        check_run(skipped, "cluster-off", expected);
    }
}

/// A state that was measured only on some CPUs, or never on all of them together, has no verdict
/// that would need the worst case.
#[test]
fn worst_case_that_may_be_missing_is_not_judged() {
    let large = edited(|tree| edit(tree, "core-off", EXIT, Us(2000)));
    let serial = with_cells(CORE, |cell| {
        if cell.step.cpus == ActiveCpus::All {
            clear(cell);
        }
    });
    let found = audit(&source(&large), BOARD, &[serial], MARGIN).expect("an audit");
    let state = &found.states[1];
    let judgement_of_rule = |rule| {
        state
            .judgements
            .iter()
            .find(|judgement| judgement.rule == rule)
    };
    let judged = judgement_of_rule(EXIT).expect("a verdict");
    assert_eq!(judged.verdict.word(), "cannot be told", "{judged:?}");
    assert!(
        judged.reason.contains("never measured while all CPUs"),
        "{judged:?}"
    );
    let some = with_cells(CORE, |cell| {
        if cell.cpu == 2.into() {
            clear(cell);
        }
    });
    let found = audit(&source(&tree()), BOARD, &[some], MARGIN).expect("an audit");
    let judgement_of_rule = |rule| {
        found.states[1]
            .judgements
            .iter()
            .find(|judgement| judgement.rule == rule)
    };
    let judged = judgement_of_rule("entered").expect("a verdict");
    assert_eq!(judged.verdict.word(), "not measured", "{judged:?}");
    assert!(judged.reason.contains("CPU 0.2"), "{judged:?}");
}
