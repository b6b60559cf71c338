//! What PSCI_STAT says of the states that were reached.

use std::vec::Vec;

use super::{run, run_with};
use crate::board::IdleState;
use crate::measure::Action;
use crate::model::Verdict;
use crate::scenario::fake::Fake;
use crate::spec::stat::Ladder;

#[test]
fn who_is_awake_keeps_his_cluster_up() {
    let mut fake = Fake::new(8).with_statistics();
    let args = "iterations=2 warmup=0 only=susp_deep_parallel,susp_deep_serial";
    let (text, verdict) = run(&mut fake, args, 8);
    assert_eq!(verdict, Verdict::Pass, "{text}");
    let said: Vec<&str> = text.lines().filter(|l| l.contains("Reached")).collect();
    assert_eq!(
        said,
        [
            "* Reached, by PSCI_STAT_COUNT: 0x01010022 (CPU 0.0, 0.1, 0.2, 0.3, 1.0, 1.1, 1.2, 1.3).",
            "* Reached, by PSCI_STAT_COUNT: 0x00010002 (CPU 0.1, 0.2, 0.3), 0x01010022 (CPU 0.0, 1.0, 1.1, 1.2, 1.3).",
        ],
        "{text}"
    );
    assert!(!text.contains("Warning"), "{text}");
    // A round of its own, the statistics of which are no sample.
    let asked = fake.asked.iter();
    let with_ladder = asked.filter(|round| round.ladder != Ladder::default());
    assert_eq!(with_ladder.count(), 1 + 8);
    assert!(text.contains("reached t=1 by=tftf mpidr=0x101 due=0x1010022 state=0x1010022 rose=1"));
}

/// What the firmware says when `edit` has been at its counts.
fn told(edit: fn(&mut crate::spec::stat::Rise)) -> std::string::String {
    let mut fake = Fake::new(4).with_statistics().with(move |_, cpu, outcome| {
        if cpu == 2 && matches!(outcome.action, Action::Suspend { .. }) {
            edit(&mut outcome.rise);
        }
    });
    let args = "iterations=2 warmup=0 only=susp_deep_parallel";
    let (text, verdict) = run(&mut fake, args, 4);
    // A warning: the figures are what they are.
    assert_eq!(verdict, Verdict::Pass, "{text}");
    text
}

#[test]
fn what_does_not_fit_is_warned_of() {
    let text = told(|rise| rise.counts[3] = 0);
    assert!(
        text.contains("Warning: CPU 0.2 should have reached 0x01010022, and reached 0x00010002."),
        "{text}"
    );
    let text = told(|rise| rise.counts = [0; 4]);
    assert!(
        text.contains("should have reached 0x01010022, and reached none"),
        "{text}"
    );
    let text = told(|rise| rise.counts[3] = 2);
    assert!(
        text.contains("rose by 2 over one suspend of CPU 0.2"),
        "{text}"
    );
    let text = told(|rise| rise.residency_us = 0);
    assert!(text.contains("PSCI_STAT_RESIDENCY rose by 0 us"), "{text}");
    let text = told(|rise| rise.residency_us = 999_999);
    assert!(text.contains("rose by 999999 us"), "{text}");
}

#[test]
fn nothing_is_said_where_nothing_is_known() {
    // Levels that neither the format nor the board tells: what a CPU alone is
    // to reach beside an awake lead nobody knows.
    let states = [IdleState {
        name: "deep",
        power_state: 0x0001_0002,
        level: None,
        local_timer_stop: false,
    }];
    let mut fake = Fake::new(4);
    let (text, _) = run_with(&mut fake, "iterations=2 only=susp_deep_serial", 4, &states);
    assert!(!text.contains("Reached"), "{text}");
    // A CPU that is lost may be on, and keep others up.
    let lost = |round, cpu, outcome: &mut crate::measure::Outcome| {
        if round == 0 && cpu == 3 {
            outcome.end = crate::measure::End::Lost(super::LOSS);
        }
    };
    let mut fake = Fake::new(4).with_statistics().with(lost);
    let (text, verdict) = run(&mut fake, "iterations=2 only=susp_deep_parallel", 4);
    assert_eq!(verdict, Verdict::Fail);
    assert!(
        text.contains("Reached: not known, as a CPU was lost"),
        "{text}"
    );
}
