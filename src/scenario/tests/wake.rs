//! States in which the CPUs' own timers stop, with a timer frame and without.

use std::string::String;

use super::{Fake, STATES, run_with};
use crate::plan::WakePattern;
use crate::report::Skip;
use crate::round::{Round, Who};
use crate::sample::{Action, End};
use crate::verdict::Verdict;

const DEEPEST: u32 = 0x0101_0022;

/// Runs on four CPUs whose timers stop in the deepest state.
fn run(fake: &mut Fake, bootargs: &str) -> (String, Verdict) {
    let mut states = STATES;
    states[1].local_timer_stop = true;
    run_with(fake, bootargs, 4, &states)
}

fn suspends_to(round: &Round, state: u32) -> bool {
    matches!(round.action, Action::Suspend { power_state, .. } if power_state == state)
}

#[test]
fn not_tried_without_a_frame_and_said_why() {
    let mut fake = Fake::new(4);
    let (text, verdict) = run(&mut fake, "iterations=2");
    assert_eq!(verdict, Verdict::Pass);
    assert!(!fake.asked.iter().any(|r| suspends_to(r, DEEPEST)));
    assert!(fake.asked.iter().all(|r| !r.timers_stop));
    // CPU_OFF of the others is measured, without the lead's row.
    assert!(text.contains("4 passed, 2 skipped, 0 failed"), "{text}");
    assert!(text.contains(", 1 rows skipped, "), "{text}");
    let why = "Skipped: the idle state stops the CPUs' own timers, and the device tree has no \
               timer frame (arm,armv7-timer-mem)\n";
    assert_eq!(text.matches(why).count(), 2, "{text}");
    assert_eq!(
        text.matches(" no_frame=the_device_tree_has_no_").count(),
        6,
        "{text}"
    );
    // The same where the user names the state.
    let mut fake = Fake::new(4);
    run(&mut fake, "iterations=2 core=0x01010022");
    assert!(!fake.asked.iter().any(|r| suspends_to(r, DEEPEST)));
}

#[test]
fn woken_by_the_frame_and_in_a_chain_whatever_the_plan_says() {
    for wake in ["together", "staggered", "chain"] {
        let mut fake = Fake::new(4).with_frame();
        let (text, verdict) = run(&mut fake, &std::format!("iterations=2 wake={wake}"));
        assert_eq!(verdict, Verdict::Pass, "{text}");
        assert!(text.contains("6 passed, 0 skipped, 0 failed"), "{text}");
        let mut lead_alone = 0;
        for round in &fake.asked {
            let suspends = matches!(round.action, Action::Suspend { .. });
            if suspends_to(round, DEEPEST) {
                assert!(round.timers_stop && round.wake == WakePattern::Chain);
                lead_alone += u32::from(round.who == Who::Only(0));
            } else if suspends {
                assert!(!round.timers_stop);
                assert_eq!(round.wake.word(), wake);
            }
        }
        assert!(
            lead_alone >= 4,
            "in series, and beside CPU_OFF: {lead_alone}"
        );
        // The header names the frame, and each such scenario that it was used.
        let frame = "CNTP, interrupt 30, GICv3; where that stops, timer frame at 0x2a830000, \
                     interrupt 92";
        assert!(text.contains(frame), "{text}");
        let used = text.matches("the timer frame wakes the lead").count();
        assert_eq!(used, 3, "{text}");
        assert_eq!(text.matches(" timers_stop=1 ").count(), 2 * 3, "{text}");
        assert!(text.contains(" frame=0x2a830000 frame_intid=92 "), "{text}");
    }
}

#[test]
fn not_used_where_no_timer_stops() {
    let mut fake = Fake::new(4).with_frame();
    let (text, _) = run_with(&mut fake, "iterations=2", 4, &STATES);
    assert!(fake.asked.iter().all(|r| !r.timers_stop));
    assert!(!text.contains("timers_stop=1"), "{text}");
}

#[test]
fn a_lead_that_only_its_own_timer_woke_is_no_sample() {
    // The frame was silent: the lead's own timer, set far later, woke it.
    let mut fake = Fake::new(4).with_frame().with(|_, cpu, outcome| {
        if cpu == 0 && outcome.end == End::Resumed {
            outcome.end = End::NotRung;
        }
    });
    let only = "iterations=2 only=susp_deep_parallel";
    let (text, verdict) = run(&mut fake, only);
    assert_eq!(verdict, Verdict::Fail);
    assert!(text.contains("not-rung"), "{text}");
}

#[test]
fn each_reason_has_its_own_words() {
    use crate::board::NoFrame;
    let reasons = [
        NoFrame::NotInTree,
        NoFrame::Property("reg"),
        NoFrame::Property("interrupts"),
        NoFrame::NotThere,
        NoFrame::NoAccess,
        NoFrame::OtherCount,
        NoFrame::Silent,
    ];
    let words = reasons.map(|reason| std::format!("{reason}"));
    for (place, word) in words.iter().enumerate() {
        assert!(!words[..place].contains(word), "{word}");
    }
    assert_ne!(
        Skip::TimerStops(NoFrame::NotInTree),
        Skip::TimerStops(NoFrame::Silent)
    );
}
