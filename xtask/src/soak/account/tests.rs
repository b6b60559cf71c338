//! Tests that the attempts in made-up runs are accounted for.

use report::log::Missing;
use report::made_up_run;
use run::measure::Reason;
use run::model::{Cell, CellStep, Counts, Variant};

use super::*;

fn cell(cpu: u16, step: CellStep, valid: u32, rejected: &[(Reason, u32)]) -> Cell {
    Cell {
        counts: Some(Counts {
            valid,
            rejected: rejected.to_vec(),
            first: None,
        }),
        ..Cell::new(cpu.into(), step)
    }
}

/// Returns a run of `scenario` with all its records except the `end` record. CPU 1 is the lead.
fn run(scenario: Scenario) -> LoggedRun {
    let mut made = LoggedRun {
        run: made_up_run::run(),
        ..LoggedRun::default()
    };
    made.run.facts.as_mut().expect("facts").lead = 1.into();
    made.run.cpus.truncate(2);
    (made.run.scenarios, made.run.end) = (vec![scenario], None);
    let records = made.integrity.records.get_or_insert_default();
    records.expected = Some(9);
    made
}

/// Returns the number of suspends attempted, and the number of attempts at any call that produced
/// no sample.
fn counts(scenario: Scenario) -> (u64, u64) {
    let account = SoakAccount::of_run(&run(scenario));
    assert_eq!(account.records, FoundRecords::All);
    (account.suspends, account.rejected.values().sum())
}

#[test]
fn attempts_are_suspends_by_scenario_and_cpu() {
    for (id, suspends) in [
        (ScenarioId::SuspendDeepParallel, 11),
        (ScenarioId::CpuSuspendSerial, 11),
        (ScenarioId::PsciVersionParallel, 0),
        // The lead suspends; the other CPU is off.
        (ScenarioId::CpuOffSerial, 4),
    ] {
        let mut scenario = made_up_run::suspend(id, None, &[]);
        let rejected = [(Reason::EarlyWake, 1), (Reason::Abandoned, 1)];
        let step = CellStep::default();
        scenario.cells = vec![cell(0, step, 5, &rejected), cell(1, step, 4, &[])];
        assert_eq!(counts(scenario), (suspends, 2), "{id:?}");
    }
}

#[test]
fn steps_of_sweeps_alone_suspend() {
    for (id, steps, expected) in [
        (
            ScenarioId::NullCall,
            &[(Variant::PsciVersion, 0, 99, 3)][..],
            (0, 0),
        ),
        (
            ScenarioId::DirtySweep,
            &[
                (Variant::Deepest, 0, 5, 1),
                (Variant::Deepest, 4096, 5, 0),
                (Variant::Off, 0, 4, 1),
            ],
            (11, 2),
        ),
    ] {
        let mut scenario = made_up_run::suspend(id, None, &[]);
        let cells = steps.iter().map(|(variant, x, valid, rejected)| {
            let step = CellStep {
                x: Some(*x),
                ..CellStep::of(*variant)
            };
            cell(0, step, *valid, &[(Reason::EarlyWake, *rejected)])
        });
        scenario.cells = cells.collect();
        assert_eq!(counts(scenario), expected, "{id:?}");
    }
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
    let line = "psci-bench: FAIL (5 passed, 0 skipped, 1 failed; \
                3 rows skipped, 2 CPUs lost)\r\n";
    let alone = SoakAccount::of(line.as_bytes());
    assert_eq!((alone.lost, alone.records), (2, FoundRecords::None));
    assert_eq!(alone.totals.map(|it| it.rows_skipped), Some(3));
    let absurd = line.replace("3 rows", &format!("{} rows", u64::MAX));
    for other in [&absurd, "psci-bench: INCOMPLETE: 1 2 3 4 5 6\n", "", "x"] {
        assert_eq!(
            SoakAccount::of(other.as_bytes()),
            SoakAccount::default(),
            "{other}"
        );
    }
}

#[test]
fn lost_records_are_noted() {
    let mut run = run(made_up_run::suspend(
        ScenarioId::SuspendDeepParallel,
        None,
        &[0, 1],
    ));
    let missing = vec![Missing { first: 7, last: 7 }];
    run.integrity.records.as_mut().expect("records").missing = missing;
    assert_eq!(SoakAccount::of_run(&run).records, FoundRecords::Some);
}
