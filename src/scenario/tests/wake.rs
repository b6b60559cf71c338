//! States in which the CPUs' own timers stop, with a timer frame and without.

use crate::devices::timer_frame::FrameProperty;
use std::string::String;
use std::vec::Vec;

use super::{Fake, LOSS, STATES, rt_instr, run_with};
use crate::measure::{Action, End, Loss, Outcome, Round, Step, Waker, Who};
use crate::model::{Skip, Verdict};

const DEEPEST: u32 = 0x0101_0022;

/// Runs on four CPUs whose timers stop in the deepest state.
fn run(fake: &mut Fake, bootargs: &str) -> (String, Verdict) {
    let mut states = STATES;
    states[1].local_timer_stop = true;
    run_with(fake, bootargs, 4, &states)
}

fn suspends(action: Action, state: u32) -> bool {
    matches!(action, Action::Suspend { power_state, .. } if power_state == state)
}

fn suspends_to(round: &Round, state: u32) -> bool {
    suspends(round.action, state)
}

/// The CPUs that suspend to a state in each round, and what wakes them.
fn wakes(fake: &Fake, state: u32) -> Vec<(Who, Waker)> {
    let rounds = fake.asked.iter().filter(|round| suspends_to(round, state));
    rounds.map(|round| (round.who, round.waker)).collect()
}

#[test]
fn without_a_frame_an_awake_cpu_wakes_the_others() {
    let mut fake = Fake::new(8).with_statistics();
    let mut states = STATES;
    states
        .iter_mut()
        .for_each(|state| state.local_timer_stop = true);
    let (text, verdict) = run_with(&mut fake, "iterations=2 warmup=0", 8, &states);
    assert_eq!(verdict, Verdict::Pass, "{text}");
    assert!(text.contains("6 passed, 0 skipped, 0 failed"), "{text}");
    assert!(text.contains(", 0 rows skipped, "), "{text}");
    // Another CPU first, from each state the shallowest first, then the lead.
    let trials: Vec<_> = fake.asked[..4]
        .iter()
        .map(|r| (r.who, r.waker, r.action))
        .collect();
    let [core, deepest] = STATES.map(|state| Action::Suspend {
        power_state: state.power_state,
        powerdown: true,
    });
    let (other, lead) = (Who::Only(1), Who::Only(0));
    let expected = [
        (other, Waker::Helper(0), core),
        (other, Waker::Helper(0), deepest),
        (lead, Waker::Helper(4), core),
        (lead, Waker::Helper(4), deepest),
    ];
    assert_eq!(trials, expected);
    let said = "Wake-up trials: an SGI woke CPU 0.1 from 0x00010002, 0x01010022; one from CPU \
                1.0 woke the lead, as the device tree has no timer frame";
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains(said), "{text}");
    // In series each other CPU by the lead, the lead by a CPU of another cluster;
    // in parallel by the lead, and once more by a CPU of another cluster.
    for (who, waker) in wakes(&fake, DEEPEST) {
        let helpers: &[usize] = match who {
            Who::Only(0) => &[4],
            Who::Only(_) => &[0],
            _ => &[0, 4],
        };
        assert!(
            waker.helper().is_some_and(|it| helpers.contains(&it)),
            "{who:?}"
        );
    }
    for tag in [
        "susp_deep_parallel",
        "cpu_susp_parallel",
        "susp_deep_serial",
    ] {
        let rows = text
            .matches(&std::format!("<RT_INSTR:test_rt_instr_{tag}\t"))
            .count();
        assert_eq!(rows, 8, "{tag}: {text}");
    }
    for title in ["", ": spread of the samples"] {
        for helper in ["0.0", "1.0"] {
            let title = std::format!("in parallel, woken by CPU {helper}{title} (us)");
            assert_eq!(text.matches(&title).count(), 2, "{title}: {text}");
        }
    }
    // A cluster with an awake CPU in it stays on, and so does the system.
    let said = "* Reached, by PSCI_STAT_COUNT: 0x00010002 (CPU 0.1, 0.2, 0.3), 0x01010022 (CPU \
                1.0, 1.1, 1.2, 1.3).";
    assert!(text.contains(said), "{text}");
    assert!(!text.contains("Warning"), "{text}");
    for record in [
        "test t=1 by=tftf helper=0 tag=",
        "test t=1 by=tftf helper=4 tag=",
        "row t=1 by=tftf helper=4 mpidr=0x0 powerdown=",
        "row t=2 by=tftf mpidr=0x0 woken_by=4 ",
        "row t=2 by=tftf mpidr=0x1 woken_by=0 ",
        " waker=helper ",
    ] {
        assert!(text.contains(record), "{record}: {text}");
    }
}

#[test]
fn a_cpu_s_row_is_by_a_helper_of_another_cluster() {
    let mut fake = Fake::new(8);
    let mut states = STATES;
    states[1].local_timer_stop = true;
    let args = "only=susp_deep_parallel iterations=3";
    let (text, _) = run_with(&mut fake, args, 8, &states);
    let by_helper = |place: usize| -> Vec<Vec<u64>> {
        let tables = text.split(".. table:: ").skip(1);
        let main: Vec<&str> = tables.filter(|table| !table.contains("Median")).collect();
        let rows = main[place]
            .lines()
            .filter(|line| line.starts_with("   |  "));
        let figure = |cell: &str| cell.trim().replace('.', "").parse().expect("a number");
        rows.map(|row| row.split('|').skip(1).take(3).map(figure).collect())
            .collect()
    };
    let rows = rt_instr(&text);
    assert_eq!(rows.len(), 8, "{text}");
    for row in &rows {
        // The lead stays awake first, so cluster 0 is by the second placement.
        let of_table = by_helper(usize::from(row[0] == 0));
        let powerdown = of_table
            .iter()
            .find(|it| it[..2] == row[..2])
            .map(|it| it[2]);
        assert_eq!(powerdown, Some((row[2] + 5) / 10), "{row:?}: {text}");
    }
}

#[test]
fn an_sgi_that_does_not_wake_costs_one_cpu_and_no_other() {
    let mut fake = Fake::new(4).with(|_, cpu, outcome| {
        if cpu == 1 && suspends(outcome.action, DEEPEST) {
            outcome.end = End::Lost(LOSS);
        }
    });
    let (text, verdict) = run(&mut fake, "iterations=2");
    assert_eq!(verdict, Verdict::Fail, "a CPU is lost");
    let said = "Skipped: SGI did not wake CPU 0x1 from 0x01010022\n";
    assert_eq!(text.matches(said).count(), 2, "{text}");
    assert_eq!(wakes(&fake, DEEPEST).len(), 1);
    // Where timers go on, the others are measured.
    let rows = rt_instr(&text);
    assert!(rows.iter().any(|row| row[..2] == [0, 3]), "{text}");
}

/// Loses this CPU before it has its orders in the round of this number.
fn never_arrives(of: usize, in_round: u64) -> impl Fn(u64, usize, &mut Outcome) {
    move |round, cpu, outcome| {
        if cpu == of && round == in_round {
            outcome.end = End::Lost(Loss {
                step: Step::Arrive,
                ..LOSS
            });
        }
    }
}

#[test]
fn a_cpu_that_never_arrives_is_not_one_that_an_sgi_did_not_wake() {
    let mut fake = Fake::new(4).with(never_arrives(1, 0));
    let (text, verdict) = run(&mut fake, "iterations=2");
    assert_eq!(verdict, Verdict::Fail, "a CPU is lost");
    assert!(!text.contains("SGI did not wake"), "{text}");
    assert_eq!(wakes(&fake, DEEPEST)[1].0, Who::Only(2), "{text}");
    assert!(
        text.contains("an SGI woke CPU 0.2 from 0x01010022"),
        "{text}"
    );
    let rows = rt_instr(&text);
    let deep = rows.iter().filter(|row| row[..2] == [0, 3]);
    assert!(deep.count() >= 4, "{text}");
}

#[test]
fn a_trial_that_a_cpu_fails_is_made_of_another() {
    let early = |cpus: core::ops::Range<usize>| {
        move |_: u64, cpu: usize, outcome: &mut Outcome| {
            if cpus.contains(&cpu) && suspends(outcome.action, DEEPEST) {
                outcome.after = outcome.due - 1;
            }
        }
    };
    let mut fake = Fake::new(4).with(early(1..2));
    let (text, _) = run(&mut fake, "iterations=2");
    assert!(
        text.contains("an SGI woke CPU 0.2 from 0x01010022"),
        "{text}"
    );
    // Of nobody was it good: that is a failure, as where no timer stops.
    let mut fake = Fake::new(4).with(early(0..4));
    let (text, verdict) = run(&mut fake, "iterations=2");
    assert_eq!(verdict, Verdict::Fail, "{text}");
    assert!(text.contains("Failed: no trial round was good"), "{text}");
    assert!(!text.contains("Wake-up trials"), "{text}");
}

#[test]
fn what_the_firmware_refuses_woke_nobody() {
    let mut fake = Fake::new(4).with(|_, _, outcome| {
        if suspends(outcome.action, DEEPEST) {
            outcome.code = -2;
        }
    });
    let (text, verdict) = run(&mut fake, "iterations=2");
    assert_eq!(verdict, Verdict::Fail, "{text}");
    assert!(text.contains("refuses power_state 0x01010022"), "{text}");
    assert!(!text.contains("Wake-up trials"), "{text}");
}

#[test]
fn one_cpu_alone_is_not_suspended() {
    for fake in [Fake::new(1), Fake::new(1).with_frame()] {
        let mut fake = fake;
        let mut states = STATES;
        states[1].local_timer_stop = true;
        let (text, _) = run_with(&mut fake, "iterations=2", 1, &states);
        assert!(wakes(&fake, DEEPEST).is_empty());
        let said = "there is no second CPU to wake the first";
        assert!(
            text.contains(said) && text.contains("=no-helper "),
            "{text}"
        );
    }
}

#[test]
fn woken_by_the_frame_once_it_has_woken_the_lead() {
    for wake in ["together", "staggered", "chain"] {
        let mut fake = Fake::new(4).with_frame();
        let (text, verdict) = run(&mut fake, &std::format!("iterations=2 wake={wake}"));
        assert_eq!(verdict, Verdict::Pass, "{text}");
        assert!(text.contains("6 passed, 0 skipped, 0 failed"), "{text}");
        let wakes = wakes(&fake, DEEPEST);
        let trials = [
            (Who::Only(1), Waker::Helper(0)),
            (Who::Only(0), Waker::FrameTrial(1)),
        ];
        assert_eq!(wakes[..2], trials);
        for (who, waker) in &wakes[2..] {
            let by_lead = matches!(who, Who::Only(1..));
            let expected = if by_lead {
                Waker::Helper(0)
            } else {
                Waker::Frame
            };
            assert_eq!(*waker, expected);
        }
        let own = fake
            .asked
            .iter()
            .filter(|round| !suspends_to(round, DEEPEST));
        assert!(own.clone().all(|round| round.waker == Waker::OwnTimers));
        // The header names the frame, and each such scenario that it was used.
        let frame = "CNTP, interrupt 30, GICv3; where that stops, timer frame at 0x2a830000, \
                     interrupt 92";
        assert!(text.contains(frame), "{text}");
        assert!(
            text.contains("; the timer frame at 0x2a830000, interrupt 92, woke"),
            "{text}"
        );
        let used = text.matches("the timer frame wakes the lead").count();
        assert_eq!(used, 3, "{text}");
        assert_eq!(text.matches(" waker=frame ").count(), 2 * 3, "{text}");
        assert!(text.contains(" frame=0x2a830000 frame_intid=92 "), "{text}");
    }
}

#[test]
fn a_frame_that_fails_its_trial_is_not_used() {
    // The helper's SGI woke the lead.
    let mut fake = Fake::new(4).with_frame().with(|round, cpu, outcome| {
        if cpu == 0 && round == 1 {
            outcome.end = End::NotRung;
        }
    });
    let (text, verdict) = run(&mut fake, "iterations=2");
    assert_eq!(verdict, Verdict::Pass, "{text}");
    assert!(text.contains(", 0 rows skipped, "), "{text}");
    let failed = "the timer frame failed its trial: its interrupt did not wake the lead, an SGI";
    let words: Vec<&str> = text.split_whitespace().collect();
    assert!(words.join(" ").contains(failed), "{text}");
    assert!(
        wakes(&fake, DEEPEST)[2..]
            .iter()
            .all(|(_, waker)| waker.helper().is_some())
    );
    assert!(!text.contains(" frame=0x"), "{text}");
}

#[test]
fn not_used_where_no_timer_stops() {
    let mut fake = Fake::new(4).with_frame();
    let (text, _) = run_with(&mut fake, "iterations=2", 4, &STATES);
    assert!(fake.asked.iter().all(|r| r.waker == Waker::OwnTimers));
    assert!(
        !text.contains("Wake-up trials") && !text.contains(" waker="),
        "{text}"
    );
}

#[test]
fn of_cpu_off_the_lead_alone_is_woken() {
    let helped = "CPU 1.0 stays awake and wakes the lead by SGI; CPU_ON turns on each other CPU.";
    let framed = "the timer frame wakes the lead; CPU_ON turns on each other CPU.";
    let mut states = STATES;
    states[1].local_timer_stop = true;
    for (mut fake, said) in [(Fake::new(5), helped), (Fake::new(5).with_frame(), framed)] {
        let args = "only=cpu_off_serial iterations=2";
        let (text, verdict) = run_with(&mut fake, args, 5, &states);
        assert_eq!(verdict, Verdict::Pass, "{text}");
        let words: Vec<&str> = text.split_whitespace().collect();
        let said = std::format!("* The CPUs' own timers stop in this state: {said}");
        assert!(words.join(" ").contains(&said), "{text}");
        let of_lead = text.matches("mpidr=0x0 woken_by=4 ").count();
        let rows = text.matches(" woken_by=").count();
        assert_eq!(rows, of_lead, "{text}");
        assert_eq!(of_lead > 0, said.contains("CPU 1.0"), "{text}");
    }
}

#[test]
fn a_state_that_the_tree_lacks_is_tried_where_another_one_stops_timers() {
    let mut states = [STATES[0]];
    for stops in [true, false] {
        states[0].local_timer_stop = stops;
        let mut fake = Fake::new(4);
        let args = "iterations=2 deepest=0x01010022";
        let (text, verdict) = run_with(&mut fake, args, 4, &states);
        assert_eq!(verdict, Verdict::Pass, "{text}");
        let wakes = wakes(&fake, DEEPEST);
        assert!(
            wakes.iter().all(|it| it.1.helper().is_some() == stops),
            "{wakes:?}"
        );
        let said = "an SGI woke CPU 0.1 from 0x00010002, 0x01010022;";
        assert_eq!(text.contains(said), stops, "{text}");
    }
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
        NoFrame::Property(FrameProperty::Reg),
        NoFrame::Property(FrameProperty::Interrupts),
        NoFrame::NotThere,
        NoFrame::NoAccess,
        NoFrame::OtherCount,
        NoFrame::DidNotWake,
        NoFrame::NotTried,
    ];
    let words = reasons.map(|reason| std::format!("{reason}"));
    for (place, word) in words.iter().enumerate() {
        assert!(!words[..place].contains(word), "{word}");
    }
    assert_ne!(
        Skip::TimerStops(NoFrame::NotInTree),
        Skip::TimerStops(NoFrame::DidNotWake)
    );
}
