//! Scenarios and rows that are skipped.

use super::*;
use crate::scenario::Setting;
use crate::scenario::bench::Bench;
use crate::scenario::serial::measure_serial;
use crate::spec::psci::StateFormat;

#[test]
fn without_states_or_a_gic_no_cpu_is_suspended() {
    for (mut fake, states, skip) in [
        (Fake::new(2), &[][..], Skip::NoIdleState),
        (Fake::new(2).without_gic(), &STATES, Skip::NoGic),
    ] {
        let ran = run_with(&mut fake, "iterations=2", 2, states);
        // CPU_OFF and PSCI_VERSION take no power_state.
        assert_eq!((ran.counts(), ran.totals.rows_skipped), ([2, 4, 0], 1));
        let skipped = Status::Skipped(skip);
        let count = ran.statuses().iter().filter(|it| **it == skipped).count();
        assert_eq!(count, 4, "{:?}", ran.statuses());
        // The lead's row of CPU_OFF is skipped for the same reason.
        let lead = ran.of(ScenarioId::CpuOffSerial).row(0);
        assert_eq!(lead.and_then(|row| row.skipped), Some(skip));
        assert!(!fake.asked.is_empty() && !fake.asked.iter().any(is_suspend));
    }
}

#[test]
fn each_lack_of_a_lone_cpu_skips_by_name() {
    let bare = || Fake::without_pmf(1).without_gic();
    let refused = Fake::new(1).with(refusing(|_, _| true, -1));
    let no_pmu = Fake::new(1).with_facts(|facts| facts.pmu = false);
    let no_suspend = Skip::NotSupported(PSCI_CPU_SUSPEND_64);
    for (mut fake, only, states, skip) in [
        // A lead alone measures nothing of CPU_OFF but its own suspend.
        (Fake::new(1), "cpu_off_serial", &[][..], Skip::NoIdleState),
        (refused, "cpu_off_serial", &STATES, no_suspend),
        (no_pmu, "sysreg_trap", &[], Skip::NoPmu),
        (bare(), "self_sgi", &[], Skip::NoSgi),
        (bare(), "pmf_read", &[], Skip::NoPmf),
        (bare(), "cpu_on", &[], Skip::OneCpu),
        (bare(), "timer_latency", &[], Skip::NoInterrupts),
    ] {
        let args = std::format!("only={only} iterations=2 loops=4");
        let ran = run_with(&mut fake, &args, 1, states);
        assert_eq!(ran.statuses(), [Status::Skipped(skip)], "{only}");
        assert_eq!(ran.totals.rows_skipped, 0);
    }
    assert_eq!(
        run(&mut bare(), "only=empty loops=4", 1).counts(),
        [1, 0, 0]
    );
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
    let measure = |bench: &mut Bench<'_, Fake>| {
        bench.step.action = Action::Suspend {
            power_state: 0x0001_0002,
            powerdown: true,
        };
        let measured = measure_serial(bench);
        measured.is_ok() && bench.machine.asked.iter().all(|it| it.who == Who::Only(0))
    };
    let alone = with_rows(Some(Skip::NoGic), measure);
    assert_eq!(alone, (true, std::vec![20, 0]));
    assert_eq!(with_rows(None, measure), (false, std::vec![20, 20]));
}
