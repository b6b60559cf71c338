//! Accounts of runs that are made up.

use psci_bench::measure::{Cause, Loss, Reason, Step};
use psci_bench::model::{Attempts, Measure, Point, Row as RunRow, Skip, Variant};

use super::*;
use crate::report::log::{Missing, made_up_run};

fn row(cpu: u16, valid: u32, rejected: &[(Reason, u32)]) -> RunRow {
    let (rejected, mut row) = (rejected.to_vec(), RunRow::default());
    let first = None;
    row.cpu = cpu;
    row.attempts = Some(Attempts {
        valid,
        rejected,
        first,
    });
    row
}

fn lost(mut row: RunRow) -> RunRow {
    let (step, cause) = (Step::Finish, Cause::Timeout);
    row.lost = Some(Loss { step, cause });
    row
}

fn scenario(id: ScenarioId, attempts: u32, rows: &[RunRow]) -> Scenario {
    let mut scenario = made_up_run::suspend(id, None, &[]);
    let conditions = scenario.conditions.get_or_insert_default();
    (conditions.asked, conditions.attempts) = (5, attempts);
    scenario.rows = rows.to_vec();
    scenario
}

/// Returns a run with all its records, without its end; CPU 1 is the lead.
fn run(scenario: Scenario) -> LoggedRun {
    let mut made = LoggedRun {
        run: made_up_run::run(),
        ..LoggedRun::default()
    };
    made.run.facts.as_mut().expect("facts").lead = 1;
    made.run.plan = Plan::parse("iterations=5 warmup=2").ok();
    made.run.cpus.truncate(2);
    (made.run.scenarios, made.run.end) = (vec![scenario], None);
    let records = made.integrity.records.get_or_insert_default();
    records.expected = Some(9);
    made
}

fn account(id: ScenarioId, attempts: u32, rows: &[RunRow]) -> Account {
    Account::of_run(&run(scenario(id, attempts, rows)))
}

#[test]
fn parallel_rounds_have_a_part_of_each_cpu() {
    let id = ScenarioId::SuspendDeepParallel;
    let early = row(0, 5, &[(Reason::EarlyWake, 1)]);
    let abandoned = row(1, 5, &[(Reason::Abandoned, 1)]);
    let good = [early.clone(), abandoned.clone()];
    let sound = account(id, 8, &good);
    assert_eq!((sound.suspends.attempts(), sound.unexplained()), (12, 0));
    assert_eq!(sound.suspends.rejected["early-wake"], 1);
    assert_eq!(sound.others, Calls::default());
    assert_eq!(sound.records, Found::All);
    // A round more.
    assert_eq!(account(id, 9, &good).suspends.unexplained, 2);
    // A CPU whose row is skipped has a part in none.
    let mut skipped = row(1, 0, &[]);
    skipped.skipped = Some(Skip::NoGic);
    let skipped = account(id, 9, &[early.clone(), skipped]);
    assert_eq!(skipped.suspends.unexplained, 1);
    // A lost CPU has no part in later rounds.
    let lost = account(id, 9, &[early, lost(abandoned)]);
    assert_eq!((lost.lost, lost.suspends.unexplained), (1, 1));
}

#[test]
fn serial_attempts_are_those_of_all_rows_together() {
    let id = ScenarioId::CpuSuspendSerial;
    let first = row(0, 5, &[(Reason::Stale, 1)]);
    for (attempts, other, unexplained) in [
        (15, row(1, 5, &[]), 0),
        (16, row(1, 5, &[]), 1),
        // No trial of it was good.
        (8, row(1, 0, &[]), 0),
        (9, row(1, 0, &[]), 1),
        // Lost in its first or second warm-up.
        (9, lost(row(1, 0, &[])), 0),
        (10, lost(row(1, 0, &[])), 0),
        (11, lost(row(1, 0, &[])), 1),
    ] {
        let account = account(id, attempts, &[first.clone(), other]);
        assert_eq!(account.suspends.unexplained, unexplained, "{attempts}");
    }
}

#[test]
fn cpu_off_passes_until_a_cpu_has_its_samples() {
    let off = |attempts, lead, other| {
        let rows = [row(0, other, &[]), row(1, lead, &[])];
        account(ScenarioId::CpuOffSerial, attempts, &rows)
    };
    // The lead suspends, the other one is turned off.
    let sound = off(8, 5, 5);
    assert_eq!((sound.suspends.samples, sound.others.samples), (5, 5));
    assert_eq!(sound.unexplained(), 0);
    let short = off(8, 5, 4);
    assert_eq!(short.others.unexplained, 2);
    assert_eq!(short.suspends.unexplained, 0);
    // There is no state for the lead.
    let without = off(7, 0, 5);
    assert_eq!((without.suspends.attempts(), without.unexplained()), (0, 0));
}

#[test]
fn points_of_sweeps_alone_suspend() {
    let point = |(variant, x, measure, n, lost)| {
        let mut point = Point::new(0, variant, measure);
        (point.x, point.figures.n, point.lost) = (Some(x), n, lost);
        point
    };
    // Samples and attempts of suspends, and of other calls.
    let counts = |id, points: &[_], rejected| {
        let mut scenario = scenario(id, 4096, &[]);
        scenario.points = points.iter().copied().map(point).collect();
        let mut run = run(scenario);
        let mut end = made_up_run::end(&run.run);
        end.totals.rejected = rejected;
        run.run.end = Some(end);
        let account = Account::of_run(&run);
        assert_eq!(account.unexplained(), 0);
        let count = |it: &Calls| (it.samples, it.attempts());
        [count(&account.suspends), count(&account.others)]
    };
    for (id, variant, measure) in [
        (ScenarioId::NullCall, Variant::PsciVersion, Measure::Ticks),
        (ScenarioId::TimerLatency, Variant::Idle, Measure::Handler),
    ] {
        assert_eq!(counts(id, &[(variant, 0, measure, 99, 3)], 3), [(0, 0); 2]);
    }
    let sweep = [
        (Variant::Deepest, 0, Measure::Call, 5, 1),
        (Variant::Deepest, 0, Measure::Wake, 5, 1),
        (Variant::Deepest, 0, Measure::Count, 1, 0),
        (Variant::Deepest, 4096, Measure::Call, 5, 0),
        (Variant::Off, 0, Measure::TurnOn, 4, 1),
    ];
    let expected = [(10, 11), (4, 5)];
    assert_eq!(counts(ScenarioId::DirtySweep, &sweep, 1), expected);
}

#[test]
fn plans_without_suspends() {
    let has = |args: &str| has_suspends(&Plan::parse(args).expect("good words"));
    for args in ["", "only=micro,dirty_sweep", "only=cpu_off_serial"] {
        assert!(has(args), "{args}");
    }
    for scenario in ["micro", "timer_latency", "psci_version_parallel", "help"] {
        assert!(!has(&format!("only={scenario}")), "{scenario}");
    }
}

#[test]
fn last_line_counts_without_records() {
    let line = "psci-bench: FAIL (5 passed, 0 skipped, 1 failed; 955 samples, 9 not counted, \
                2 CPUs lost)\r\n";
    let alone = Account::of(line.as_bytes());
    assert_eq!((alone.unexplained(), alone.lost), (9, 2));
    assert_eq!(alone.records, Found::None);
    assert_eq!(alone.totals.map(|it| it.samples), Some(955));
    let absurd = line.replace("955", &u64::MAX.to_string());
    for other in [&absurd, "psci-bench: INCOMPLETE: 1 2 3 4 5 6\n", "", "x"] {
        assert_eq!(Account::of(other.as_bytes()), Account::default(), "{other}");
    }
}

#[test]
fn damaged_records_prove_nothing() {
    let rows = [row(0, 5, &[]), row(1, 5, &[])];
    let mut run = run(scenario(ScenarioId::SuspendDeepParallel, 9, &rows));
    let sound = Account::of_run(&run);
    assert_eq!((sound.records, sound.unexplained()), (Found::All, 4));
    let gap = Missing { first: 7, last: 7 };
    run.integrity.records.as_mut().expect("records").missing = vec![gap];
    let damaged = Account::of_run(&run);
    assert_eq!((damaged.records, damaged.unexplained()), (Found::Some, 0));
}
