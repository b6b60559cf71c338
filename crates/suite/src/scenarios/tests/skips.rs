//! Scenarios and rows that are skipped.

use hardware::spec::psci::StateFormat;

use super::*;

#[test]
fn without_states_or_a_gic_no_cpu_is_suspended() {
    for (fake, states, skip) in [
        (Fake::new(2), &[][..], Skip::NoIdleState),
        (Fake::new(2).without_gic(), &STATES, Skip::NoGic),
    ] {
        let ran = run_with(fake, "iterations=2", states);
        // CPU_OFF and PSCI_VERSION have no power_state argument.
        assert_eq!((ran.counts(), ran.totals.rows_skipped), ([2, 4, 0], 1));
        assert_eq!(ran.skipped(skip), 4, "{:?}", ran.statuses());
        // The lead's CPU_OFF row is skipped for the same reason.
        let lead = ran.of(ScenarioId::CPU_OFF_SERIAL).cell(0.into());
        assert_eq!(lead.and_then(|row| row.skipped), Some(skip));
        assert!(!ran.fake.requested_rounds.is_empty() && !ran.asks(is_suspend));
    }
}

#[test]
fn each_lack_of_a_lone_cpu_skips_by_name() {
    let bare_fake = || Fake::without_pmf(1).without_gic();
    let refused = Fake::new(1).with(refusing(|_, _| true, -1));
    let no_pmu = Fake::new(1).with_facts(|facts| facts.pmu = false);
    let no_suspend = Skip::NotSupported(PSCI_CPU_SUSPEND_64);
    for (fake, only, states, skip) in [
        // In the CPU_OFF scenario, a lead without other CPUs can only measure its own suspend.
        (Fake::new(1), "cpu_off_serial", &[][..], Skip::NoIdleState),
        (refused, "cpu_off_serial", &STATES, no_suspend),
        (no_pmu, "sysreg_trap", &[], Skip::NoPmu),
        (bare_fake(), "self_sgi", &[], Skip::NoSgi),
        (bare_fake(), "pmf_read", &[], Skip::NoPmf),
        (bare_fake(), "cpu_on", &[], Skip::OneCpu),
        (bare_fake(), "timer_latency", &[], Skip::NoInterrupts),
    ] {
        let args = std::format!("only={only} iterations=2 loops=4");
        let ran = run_with(fake, &args, states);
        assert_eq!(ran.statuses(), [Status::Skipped(skip)], "{only}");
        assert_eq!(ran.totals.rows_skipped, 0);
    }
    let ran = run(bare_fake(), "only=empty loops=4");
    assert_eq!(ran.counts(), [1, 0, 0]);
}

#[test]
fn no_state_of_the_other_format_is_sent() {
    // The suite, and other scenarios that suspend CPUs.
    let suspending = "only=suite,dirty_sweep,contend_sweep,idle_states dirty=0 contend=2 \
                      iterations=2 warmup=0";
    let fake_with_format =
        |format| Fake::new(2).with_facts(move |facts| facts.state_format = format);
    // States that stop timers are tried before any scenario runs.
    let original = stopping(0);
    let extended = original.map(|state| IdleState {
        power_state: 1 << 30 | state.power_state & 0xffff,
        ..state
    });
    for (format, states) in [
        (StateFormat::Extended, original),
        (StateFormat::Original, extended),
    ] {
        let ran = run_with(fake_with_format(format), suspending, &states);
        // Four suite scenarios and two others are skipped; `dirty_sweep` still measures CPU_OFF.
        let why = Skip::OtherFormat(format);
        assert_eq!((ran.counts(), ran.skipped(why)), ([3, 6, 0], 6));
        let dirty_sweep = ran.of(ScenarioId::named("dirty_sweep"));
        let conditions = dirty_sweep.conditions.as_ref().expect("conditions");
        assert_eq!(conditions.states_left_out, Some(why));
        assert!(!ran.asks(is_suspend), "{format:?}");
    }
    // The user specifies states in the firmware's format.
    let args = "iterations=2 core=0x40000002 deepest=0x40000022";
    let ran = run(fake_with_format(StateFormat::Extended), args);
    assert_eq!(ran.counts(), [6, 0, 0]);
}
