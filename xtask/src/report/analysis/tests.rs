//! Findings, worst cases and the cost of instrumentation, of made-up runs.

use psci_bench::findings::{Detail, findings_of};
use psci_bench::measure::{Metric, Waker};
use psci_bench::model::{
    Confidence, Failure, Finding, How, Kind, Measure, Point, Row, Scenario, ScenarioKey, Statistic,
    Status, Variant, WakeSource,
};
use psci_bench::plan::{Method, ScenarioId};
use psci_bench::spec::pmf::ReadError;

use super::findings::findings;
use super::made_up::{cells, point, run, scenario, set_summary, suite, with_points};
use super::overhead::{Unit, overhead};
use super::worst_case::{IdleState, TimerInState, idle_states};
use crate::report::log::{LoggedRun, made_up_run};

/// Returns the findings of one kind in a scenario.
fn of_kind(run: &LoggedRun, nth: usize, kind: Kind) -> Vec<Finding> {
    let all = findings(run, &run.run.scenarios[nth]).into_iter();
    all.filter(|it| it.kind == kind).collect()
}

#[test]
fn sample_far_from_the_others_is_an_outlier() {
    let samples: Vec<u64> = (0..20).map(|k| 1000 + k % 3).chain([9000]).collect();
    let mut run = suite();
    for scenario in &mut run.run.scenarios {
        set_summary(&mut scenario.rows[1], Metric::Wakeup, 1001, &samples);
    }
    let [far] = &of_kind(&run, 3, Kind::Outlier)[..] else {
        panic!("one outlier")
    };
    assert_eq!(
        far.sentence,
        "Outliers: of 21 samples at least one of Wakeup on CPU 0.1 far from the others, the \
         farthest 144.00 us against a median of 16.02 us, MAD 16 ns."
    );
    assert_eq!(
        (far.cpus, far.confidence),
        ([1].into_iter().collect(), Confidence::Counts)
    );
    // A figure depends on the place in the queue.
    assert!(of_kind(&run, 2, Kind::Outlier).is_empty());
    // A row of a line is no evidence; of lines alone that is said once.
    let row = &mut run.run.scenarios[3].rows[1];
    row.attempts = None;
    let end = " Not verified, as it rests on a line without a checksum of CPU 0.1.";
    assert!(of_kind(&run, 3, Kind::Outlier)[0].sentence.ends_with(end));
    run.integrity.records = None;
    assert!(!of_kind(&run, 3, Kind::Outlier)[0].sentence.ends_with(end));
}

#[test]
fn finding_of_the_log_stays_if_no_computed_one_contains_it() {
    let mut run = suite();
    let recorded = Finding {
        kind: Kind::LastMan,
        sentence: "Last man down in cluster 9.".to_owned(),
        ..of_points(ScenarioId::ContendSweep, &[(1, 5), (2, 6), (3, 7)])[0].clone()
    };
    run.run.scenarios[0].findings.push(recorded.clone());
    assert_eq!(of_kind(&run, 0, Kind::LastMan), [recorded]);
    assert!(of_kind(&run, 0, Kind::NotTold).is_empty());
}

#[test]
fn finding_of_a_whole_log_has_its_second_sentences() {
    let mut logged = suite();
    logged.run = made_up_run::run();
    for nth in 0..logged.run.scenarios.len() {
        let of = |run: &LoggedRun, detail| {
            let run = &run.run;
            findings_of(run, &run.scenarios[nth], detail)
        };
        logged.run.scenarios[nth].findings = of(&logged, Detail::Short);
        let all = findings(&logged, &logged.run.scenarios[nth]);
        let computed = of(&logged, Detail::Full);
        for it in computed.iter().filter(|it| it.kind != Kind::NotTold) {
            assert!(all.contains(it), "{it:#?} in {all:#?}");
        }
        assert!(all.len() >= logged.run.scenarios[nth].findings.len());
    }
}

/// Returns the findings of a sweep: what was varied, and the ticks of Cache Flush or
/// Powerdown.
fn of_points(id: ScenarioId, points: &[(u64, u64)]) -> Vec<Finding> {
    let (measure, unit) = match id {
        ScenarioId::DirtySweep => (Measure::CacheFlush, 1024),
        _ => (Measure::Powerdown, 1),
    };
    let point = |(x, ticks): &(u64, u64)| Point {
        measure,
        ..point(0, Variant::Core, Some(x * unit), &[*ticks])
    };
    let run = with_points(id, points.iter().map(point).collect());
    findings(&run, &run.run.scenarios[0])
}

/// A sweep, its CPUs or KiB with ticks, and the beginning of its finding.
const SWEEPS: &str = "
    contend_sweep|1:100 2:200 3:300|Contention (core): the longest Powerdown grows by 1.60 us \
        with each CPU that goes down at the same time (1.60 us with 1 CPU, 4.80 us with 3 CPUs). \
        Straight line through 3 points: R² 100 %, the farthest is 0.00 ns off.
    contend_sweep|1:300 2:200 3:100|No contention to be seen (core): the longest Powerdown does not
    contend_sweep|1:100 2:400 3:390 4:410|Contention (core): the longest Powerdown grows by \
        1.47 us with each CPU that goes down at the same time, though not evenly
    dirty_sweep|0:10 1:20 2:30 4:50|Dirty lines (core): Cache Flush grows by 160.00 ns with each \
        KiB that is dirty, from 160.00 ns up to 4 KiB, the most that was tried. Straight line \
        through 4 points
    dirty_sweep|0:10 1:20 2:30 4:50 8:50 16:50 32:50|Dirty lines (core): Cache Flush grows by \
        160.00 ns with each KiB that is dirty, from 160.00 ns up to 4 KiB, and is 800.00 ns from \
        there on: no more than that stays dirty
    dirty_sweep|0:1000 1:1001 2:1002|Dirty lines (core): Cache Flush does not depend on how much \
        is dirty: 16.00 us with 0 KiB, 16.03 us with 2 KiB.
    dirty_sweep|0:1000 1:500 2:1002|Dirty lines (core): Cache Flush does not grow evenly with \
        what is dirty: 8.00 us to 16.03 us.";

#[test]
fn sweeps_have_a_line_and_its_limits() {
    for row in cells(SWEEPS) {
        let id = row[0].parse().expect("a scenario");
        let points = row[1].split(' ').map(|point| {
            let (x, ticks) = point.split_once(':').expect("two numbers");
            (
                x.parse().expect("a number"),
                ticks.parse().expect("a number"),
            )
        });
        let found = of_points(id, &points.collect::<Vec<_>>());
        let sentence = found[0].sentence.as_str();
        assert!(
            found.len() == 1 && sentence.starts_with(row[2]),
            "{sentence}"
        );
        assert!(matches!(found[0].confidence, Confidence::Fit(fit) if !fit.by_stamps));
    }
    assert!(of_points(ScenarioId::ContendSweep, &[(1, 1), (2, 2)]).is_empty());
}

#[test]
fn operation_is_net_of_its_loop() {
    let batch = |cpu, variant, ticks| Point {
        per: 100,
        ..point(cpu, variant, None, &[ticks])
    };
    let points = vec![
        batch(0, Variant::Loop, 100),
        batch(0, Variant::PsciVersion, 1100),
        batch(0, Variant::SmcccVersion, 1300),
        batch(1, Variant::PsciVersion, 2100),
    ];
    let mut run = with_points(ScenarioId::NullCall, points);
    let text = |run: &LoggedRun| {
        let found = of_kind(run, 0, Kind::Net);
        found
            .first()
            .map(|it| it.sentence.clone())
            .unwrap_or_default()
    };
    let expected = "Net of the loop (16.00 ns), one CPU alone: psci_version 160.00 ns, \
                    smccc_version 192.00 ns; medians of 2 CPUs.";
    assert_eq!(text(&run), expected);
    // The loop of another scenario.
    let own = run.run.scenarios[0].points.remove(0);
    assert_eq!(text(&run), "");
    let empty = with_points(ScenarioId::Empty, vec![own])
        .run
        .scenarios
        .remove(0);
    run.run.scenarios.push(empty);
    assert_eq!(text(&run), expected);
    assert!(of_kind(&run, 1, Kind::Net).is_empty());
}

/// Adds statistics of a metric, and the first sample of all.
fn add(row: &mut Row, metric: Metric, samples: &[u64], cold: u64) {
    set_summary(row, metric, samples[0], samples);
    let last: &mut Statistic = row.statistics.last_mut().expect("it was added");
    last.cold = Some(cold);
}

/// Two CPUs that suspend to the deepest level, one after another.
fn suspends() -> LoggedRun {
    let mut made = run(2);
    let rows = (0..2).map(|cpu| {
        let mut row = super::made_up::row(cpu, &[[100, 50, 10], [200, 60, 10]]);
        add(&mut row, Metric::Wakeup, &[60, 70], 900 + u64::from(cpu));
        add(&mut row, Metric::Wake, &[500, 800 + u64::from(cpu)], 10);
        row
    });
    let serial = scenario(ScenarioId::SuspendDeepSerial, rows.collect());
    made.run.scenarios.push(serial);
    made
}

#[test]
fn worst_case_is_of_all_samples_and_cpus() {
    let made = suspends();
    let [state] = &idle_states(&made).expect("states")[..] else {
        panic!("one state")
    };
    assert_eq!((state.power_state, state.is_deepest), (2, true));
    assert_eq!(state.timer, TimerInState::WakesCpu);
    // Of equal ones the first.
    assert_eq!(
        (
            state.entry.ticks,
            state.entry.figure.cpu,
            state.entry.is_cold
        ),
        (200, 0, false)
    );
    assert_eq!(
        (state.exit.ticks, state.exit.figure.cpu, state.exit.is_cold),
        (901, 1, true)
    );

    let refusal = |edit: fn(&mut Scenario)| {
        let mut made = suspends();
        edit(&mut made.run.scenarios[0]);
        format!("{:#}", idle_states(&made).expect_err("refused"))
    };
    let lost = refusal(|it| {
        it.status = Status::Failed(Failure::NotStated);
        it.rows.remove(0);
    });
    assert!(
        lost.contains("has no sample of CPU 0.0, which may be the worst case (not-stated)"),
        "{lost}"
    );
    let caller = refusal(|it| {
        for row in &mut it.rows {
            row.statistics.retain(|it| it.metric != Metric::Powerdown);
        }
    });
    assert!(
        caller.contains("ENABLE_RUNTIME_INSTRUMENTATION=1"),
        "{caller}"
    );
    let none = refusal(|it| it.conditions = None);
    assert!(none.contains("no scenario has suspended a CPU"), "{none}");
}

#[test]
fn each_placement_has_the_helper_of_the_other() {
    let mut made = suspends();
    let serial = &mut made.run.scenarios[0];
    serial.conditions.as_mut().expect("a record").wake_source = WakeSource::Helper;
    for helper in 0..2 {
        let mut parallel = serial_as_parallel(&made.run.scenarios[0], helper);
        parallel.rows.retain(|row| row.cpu != helper);
        made.run.scenarios.push(parallel);
    }
    let states = idle_states(&made).expect("all CPUs were measured");
    assert_eq!(states[0].timer, TimerInState::Stops);
    // No CPU wakes itself: Wake is that of the one that was woken.
    assert_eq!(states[0].exit.ticks, 901);
    made.run.scenarios.pop();
    let error = idle_states(&made).expect_err("CPU 0.0 is only the helper");
    assert!(error.to_string().contains("CPU 0.0"), "{error}");
}

fn serial_as_parallel(serial: &Scenario, helper: u16) -> Scenario {
    Scenario {
        id: ScenarioId::SuspendDeepParallel,
        helper: Some(helper),
        ..serial.clone()
    }
}

#[test]
fn timer_of_a_state_is_known_by_the_interrupts_of_points() {
    let with = |waker, how| {
        let points = [Measure::Powerdown, Measure::Wakeup].map(|measure| Point {
            measure,
            waker,
            how,
            ..point(0, Variant::Serial, Some(5), &[7])
        });
        let mut made = with_points(ScenarioId::IdleStates, points.to_vec());
        made.run.cpus.truncate(1);
        let timer = |it: &IdleState<'_>| it.timer;
        timer(&idle_states(&made).expect("a state")[0])
    };
    use TimerInState::{NotMeasured, Stops, WakesCpu};
    for (waker, how, expected) in [
        (Waker::OwnTimers, How::Alone, WakesCpu),
        (Waker::OwnTimers, How::All, NotMeasured),
        (Waker::Helper(1), How::Alone, Stops),
        (Waker::Frame, How::All, Stops),
    ] {
        assert_eq!(with(waker, how), expected, "{waker:?} {how:?}");
    }
}

/// A run of the caller's figures, with so many ticks of Call more.
fn caller(more: u64) -> LoggedRun {
    let mut made = suite();
    for scenario in &mut made.run.scenarios {
        for (row, nth) in scenario.rows.iter_mut().zip(0..) {
            let call = [100 + nth + more, 100 + nth + more];
            add(row, Metric::Call, &call, 0);
            if scenario.id == ScenarioId::CpuSuspendSerial {
                add(row, Metric::Wake, &call, 0);
            }
        }
    }
    let point = |how, variant| Point {
        how,
        per: 4,
        ..point(1, variant, None, &[400 + more])
    };
    let points = vec![
        point(How::Alone, Variant::Loop),
        point(How::Alone, Variant::PsciVersion),
        point(How::All, Variant::PsciVersion),
    ];
    let key = ScenarioKey {
        id: ScenarioId::NullCall,
        method: Method::Tftf,
        helper: None,
    };
    let loops = Scenario {
        points,
        ..Scenario::new(key)
    };
    made.run.scenarios.push(loops);
    made
}

fn without_pmf(mut made: LoggedRun) -> LoggedRun {
    let facts = made.run.facts.as_mut().expect("a record");
    facts.pmf = Err(ReadError::NotImplemented);
    made
}

#[test]
fn instrumentation_costs_what_the_caller_sees_of_one_cpu() {
    let (with, plain) = (caller(8), without_pmf(caller(0)));
    let found = overhead(&with, &plain, Unit::Instructions { ns: 4 }).expect("costs");
    let costs = found.costs.iter().map(|it| {
        let typical = it.typical().expect("CPUs");
        (
            it.scenario.id,
            it.key.name(),
            it.cpus.len(),
            typical.difference(),
        )
    });
    let name = |name: &str| name.to_owned();
    use ScenarioId::{CpuOffSerial, CpuSuspendSerial, NullCall, PsciVersionParallel};
    assert_eq!(
        costs.collect::<Vec<_>>(),
        [
            (ScenarioId::SuspendDeepSerial, name("call"), 4, 32.0),
            (CpuSuspendSerial, name("wake"), 4, 32.0),
            (CpuOffSerial, name("call"), 4, 32.0),
            (PsciVersionParallel, name("call"), 4, 32.0),
            (NullCall, name("alone.psci_version.ticks"), 1, 8.0),
        ]
    );
    let first = &found.costs[0];
    let cleanest = first.cleanest().map(|it| it.label.as_str());
    assert_eq!(
        (found.unit_name, first.alike(), cleanest),
        ("instructions", 4, Some("0.0"))
    );
    assert!(!first.cpus[0].is_noise(), "{first:?}");
    let left_out = found.left_out.join("\n");
    for part in [
        "Powerdown, Wakeup, Cache Flush, Latency: PMF's own",
        "Points of all CPUs at once",
        "susp_deep_parallel, cpu_susp_parallel: CPUs wait for each other",
    ] {
        assert!(left_out.contains(part), "{left_out}");
    }
}

#[test]
fn runs_that_differ_in_more_than_pmf_have_no_cost() {
    let (with, plain) = (caller(8), without_pmf(caller(0)));
    let error = |with: &LoggedRun, plain: &LoggedRun, part: &str| {
        let error = overhead(with, plain, Unit::Time).expect_err("not comparable");
        assert!(error.to_string().contains(part), "{error}");
    };
    error(
        &plain,
        &with,
        "has no PMF: name the log of the instrumented build first",
    );
    error(&with, &with, "has PMF: name");
    let mut other = plain.clone();
    other.run.head.as_mut().expect("a record").model = "Juno".into();
    error(
        &with,
        &other,
        "the board is QEMU virt in a.log, and Juno in a.log",
    );
    other = plain.clone();
    other.run.scenarios.clear();
    error(&with, &other, "no scenario in common");
}
