//! Scenarios and rows that are skipped.

use super::*;
use crate::scenario::Setting;
use crate::scenario::bench::Bench;
use crate::scenario::serial::measure_serial;
use crate::spec::psci::StateFormat;
use crate::spec::stat::Ladder;

#[test]
fn each_lack_skips_by_name() {
    let none: &[IdleState<'_>] = &[];
    let bare = || Fake::without_pmf(1).without_gic();
    for (mut fake, args, cpus, states, counts, skip) in [
        // CPU_OFF and PSCI_VERSION take no power_state.
        (
            Fake::new(2),
            "only=suite",
            2,
            none,
            [2, 4, 0],
            Skip::NoIdleState,
        ),
        (
            Fake::new(2).without_gic(),
            "only=suite",
            2,
            &STATES,
            [2, 4, 0],
            Skip::NoGic,
        ),
        (
            Fake::new(1),
            "only=cpu_off_serial",
            1,
            none,
            [0, 1, 0],
            Skip::NoIdleState,
        ),
        (
            // A lead alone measures nothing of CPU_OFF but its own suspend.
            Fake::new(1).with(refusing(|_, _| true, -1)),
            "only=cpu_off_serial",
            1,
            &STATES,
            [0, 1, 0],
            Skip::NotSupported(function::CPU_SUSPEND),
        ),
        (
            bare(),
            "only=self_sgi,empty",
            1,
            none,
            [1, 1, 0],
            Skip::NoSgi,
        ),
        (
            bare().with_facts(|facts| facts.pmu = false),
            "only=sysreg_trap",
            1,
            none,
            [0, 1, 0],
            Skip::NoPmu,
        ),
        (bare(), "only=pmf_read", 1, none, [0, 1, 0], Skip::NoPmf),
        (bare(), "only=cpu_on", 1, none, [0, 1, 0], Skip::OneCpu),
        (
            bare(),
            "only=timer_latency",
            1,
            none,
            [0, 1, 0],
            Skip::NoInterrupts,
        ),
    ] {
        let ran = run_with(
            &mut fake,
            &std::format!("{args} iterations=2 loops=4"),
            cpus,
            states,
        );
        assert_eq!(ran.counts(), counts, "{args}");
        let skipped = Status::Skipped(skip);
        let count = ran.statuses().iter().filter(|it| **it == skipped).count();
        assert_eq!(count, counts[1] as usize, "{args}: {:?}", ran.statuses());
        assert!(skip != Skip::NoGic || !fake.asked.iter().any(is_suspend));
        // The lead's row of CPU_OFF is skipped for the same reason.
        let rows = ran.rows().filter(|row| row.skipped.is_some());
        assert_eq!(rows.clone().count(), usize::from(args == "only=suite"));
        assert!(rows.clone().all(|row| row.skipped == Some(skip)));
        assert_eq!(ran.totals.rows_skipped, rows.count() as u64);
    }
}

/// Scenarios that suspend, of the suite and of those asked for by name.
const SUSPENDING: &str = "only=suite,dirty_sweep,contend_sweep,idle_states dirty=0 contend=2 \
                          iterations=2 warmup=0";

fn with_format(cpus: usize, format: StateFormat) -> Fake {
    Fake::new(cpus).with_facts(|facts| facts.state_format = format)
}

#[test]
fn no_state_of_the_other_format_is_sent() {
    // States that stop timers have a trial before the scenarios.
    let original = STATES.map(|state| IdleState {
        local_timer_stop: true,
        ..state
    });
    let extended = original.map(|state| IdleState {
        power_state: 1 << 30 | state.power_state & 0xffff,
        ..state
    });
    for (format, states) in [
        (StateFormat::Extended, original),
        (StateFormat::Original, extended),
    ] {
        let mut fake = with_format(2, format);
        let ran = run_with(&mut fake, SUSPENDING, 2, &states);
        // Four of the suite and two of the sweeps; the third has CPU_OFF.
        assert_eq!(ran.counts(), [3, 6, 0]);
        let why = Skip::OtherFormat(format);
        let count = ran
            .statuses()
            .into_iter()
            .filter(|it| *it == Status::Skipped(why));
        assert_eq!(count.count(), 6);
        let dirty = ran.of(ScenarioId::DirtySweep).conditions.as_ref();
        assert_eq!(dirty.and_then(|it| it.states_left_out), Some(why));
        assert!(!fake.asked.iter().any(is_suspend), "{format:?}");
    }
    // The user names states of the firmware's format.
    let mut fake = with_format(2, StateFormat::Extended);
    let ran = run(
        &mut fake,
        "iterations=2 core=0x40000002 deepest=0x40000022",
        2,
    );
    assert_eq!(ran.counts(), [6, 0, 0]);
}

/// Measures with two CPUs' rows, of which the second is skipped for that reason, and
/// returns the result and each row's samples.
fn with_rows<T>(
    skipped: Option<Skip>,
    measure: impl FnOnce(&mut Bench<'_, Fake>) -> T,
) -> (T, Vec<u32>) {
    let mut fake = Fake::new(2);
    let plan = Plan::default();
    let cpus = board(2);
    let wakers = Wakers::try_out(&mut fake, &cpus, &[]);
    let setting = Setting {
        plan: &plan,
        cpus: &cpus,
        states: &States::default(),
        idle_states: &[],
        wakers: &wakers,
    };
    let mut bench = Bench::new(&mut fake, setting, crate::plan::Method::Tftf);
    for (cpu, state) in bench.rows.iter_mut().enumerate() {
        (state.is_expected, state.row.cpu) = (true, cpu as u16);
    }
    bench.rows[1].row.skipped = skipped;
    let made = measure(&mut bench);
    (made, bench.rows.iter().map(|row| row.valid()).collect())
}

#[test]
fn a_skipped_row_lacks_no_samples() {
    let status = |bench: &mut Bench<'_, Fake>| {
        let iterations = bench.setting.plan.iterations as usize;
        bench.rows[0].kept.resize(iterations, Outcome::default());
        bench.status()
    };
    let (lacking, _) = with_rows(None, status);
    assert!(matches!(lacking, Status::Failed(_)));
    assert_eq!(with_rows(Some(Skip::NoGic), status).0, Status::Passed);
}

#[test]
fn a_skipped_row_is_not_measured() {
    let action = Action::Suspend {
        power_state: 0x0001_0002,
        powerdown: true,
    };
    let measure = |bench: &mut Bench<'_, Fake>| {
        let measured = measure_serial(bench, action, &Ladder::default());
        measured.is_ok() && bench.machine.asked.iter().all(|it| it.who == Who::Only(0))
    };
    let alone = with_rows(Some(Skip::NoGic), measure);
    assert_eq!(alone, (true, std::vec![20, 0]));
    assert_eq!(with_rows(None, measure), (false, std::vec![20, 20]));
}
