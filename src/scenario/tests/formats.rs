//! Idle states of the format that the firmware does not take.

use std::format;

use super::*;
use crate::measure::Round;
use crate::spec::psci::StateFormat;

/// Scenarios that suspend, of the suite and of those asked for by name.
const ARGS: &str = "only=suite,dirty_sweep,contend_sweep,idle_states dirty=0 contend=2 \
                    iterations=2 warmup=0";

#[test]
fn a_mismatch_is_named_and_nothing_is_sent() {
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
        let mut fake = Fake::taking(2, format);
        let (text, verdict) = run_with(&mut fake, ARGS, 2, &states);
        // CPU_OFF and PSCI_VERSION take no power_state.
        assert_eq!(verdict, Verdict::Pass, "{text}");
        let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (takes, has) = (format.name(), format.other().name());
        let said = format!(
            "the firmware takes {takes} power_state values; the device tree has {has} ones."
        );
        // Four of the suite and two of the sweeps; the third has rows of CPU_OFF.
        let skipped = plain.matches(&format!("Skipped: {said}")).count();
        assert_eq!(skipped, 6, "{text}");
        assert!(
            plain.contains(&format!("* States left out: {said}")),
            "{text}"
        );
        let record = format!(" why=other-format takes={takes} ");
        assert_eq!(text.matches(&record).count(), 2 * 6, "{text}");
        let is_suspend = |round: &Round| matches!(round.action, Action::Suspend { .. });
        assert!(!fake.asked.iter().any(is_suspend), "{format:?}");
    }
}

#[test]
fn states_that_the_user_names_are_sent_in_spite_of_a_mismatch() {
    let mut fake = Fake::taking(2, StateFormat::Extended);
    let args = "iterations=2 core=0x40000002 deepest=0x40000022";
    let (text, verdict) = run(&mut fake, args, 2);
    assert_eq!(verdict, Verdict::Pass, "{text}");
    assert!(!text.contains("Skipped:"), "{text}");
}
