//! Sweeps, idle states and SYSTEM_SUSPEND against the fake machine.

use smccc::psci::SuspendMode;

use super::*;
use crate::measure::Waker;
use crate::scenario::fake::{CORE_LINES, QUEUE_STEP};

/// One `point` record: its words up to the metric, and its median.
fn points(text: &str, scenario: u32) -> Vec<(String, u64)> {
    let mut found: Vec<(String, u64)> = Vec::new();
    let first = text.split(" end records=").next().unwrap_or_default();
    let begin = std::format!(" point t={scenario} ");
    for line in first
        .lines()
        .filter_map(|line| Some(line.split_once(&begin)?.1))
    {
        let (key, rest) = line.split_once("metric=").expect("a metric");
        let metric = rest.split(' ').next().expect("its name");
        let key = std::format!("{key}{metric}");
        let median = rest.split(' ').find_map(|word| word.strip_prefix("med="));
        if let Some(median) = median {
            found.push((key, median.parse().expect("a number")));
        }
    }
    found
}

fn median(points: &[(String, u64)], key: &str) -> u64 {
    let mut of = points.iter().filter(|point| point.0 == key);
    of.next()
        .unwrap_or_else(|| panic!("no {key} in {points:#?}"))
        .1
}

#[test]
fn flush_by_dirty_bytes() {
    let mut fake = Fake::new(5);
    let args = "only=dirty_sweep dirty=0,16K,1M iterations=3 warmup=0";
    let (text, verdict) = run(&mut fake, args, 5);
    assert_eq!(verdict, Verdict::Pass, "{text}");
    assert!(!text.contains("TEST COMPLETE"), "{text}");
    let points = points(&text, 14);
    // By two states on five CPUs and by CPU_OFF on four, in three steps, with
    // three figures each.
    assert_eq!(points.len(), 3 * 3 * (5 + 5 + 4), "{points:#?}");
    let flush = |cpu: &str, variant: &str, bytes: u64| {
        let key = std::format!("mpidr={cpu} how=alone var={variant} x={bytes} metric=cflush");
        median(&points, &key.replace("metric=", ""))
    };
    for (bytes, lines) in [(0, 0), (16 << 10, 256), (1 << 20, 16384)] {
        // Alone in its cluster, a CPU flushes all of that; the others keep to
        // their own, of which no more than what it holds is dirty.
        assert_eq!(flush("0x100", "deepest", bytes), CLUSTER_FLUSH + lines);
        let own = CORE_FLUSH + lines.min(CORE_LINES);
        assert_eq!(flush("0x1", "deepest", bytes), own);
        assert_eq!(flush("0x100", "core", bytes), own);
        assert_eq!(flush("0x100", "off", bytes), CLUSTER_FLUSH + lines);
        assert_eq!(flush("0x2", "off", bytes), own);
    }
    assert!(
        text.contains("* core: longest median of cflush by bytes: 0: "),
        "{text}"
    );
    // What is read back has nothing to do with it.
    let asked = fake.asked.iter().filter(|round| round.dirty == 1 << 20);
    assert!(asked.count() > 3 * 14);
}

#[test]
fn the_steps_follow_from_the_cache() {
    let mut fake = Fake::new(1);
    let args = "only=dirty_sweep iterations=1 warmup=0 core=0x1010022";
    let (text, verdict) = run(&mut fake, args, 1);
    assert_eq!(verdict, Verdict::Pass, "{text}");
    let points = points(&text, 14);
    // 0, 16 KiB to 2 MiB; one state, and nobody who could go off.
    assert_eq!(points.len(), 3 * 9, "{points:#?}");
    assert!(
        points[points.len() - 1].0.contains(" x=2097152 "),
        "{points:#?}"
    );

    let mut fake = Fake::new(2).without_cache_size();
    let (text, verdict) = run(&mut fake, args, 2);
    assert_eq!(verdict, Verdict::Fail, "nothing was measured");
    assert!(text.contains("dirty= can give steps"), "{text}");
    assert!(
        text.contains("tag=dirty_sweep status=skipped why=no-cache-size"),
        "{text}"
    );
}

#[test]
fn powerdown_by_cpus_that_go_down_together() {
    let mut fake = Fake::new(8);
    let args = "only=contend_sweep contend=1,4,7,9 iterations=8 warmup=0";
    let (text, verdict) = run(&mut fake, args, 8);
    assert_eq!(verdict, Verdict::Pass, "{text}");
    let points = points(&text, 15);
    // The lead and the first of the others; nine there are not.
    assert_eq!(points.len(), 2 * 3 * (1 + 4 + 7) + 1, "{points:#?}");
    assert!(text.contains(", 1 rows skipped, "), "{text}");
    let longest = |count: u64| {
        let end = std::format!("how=all var=core x={count} powerdown");
        let of = points.iter().filter(|point| point.0.ends_with(&end));
        of.map(|point| point.1).max().expect("points")
    };
    assert!(longest(4) >= longest(1) + QUEUE_STEP, "{points:#?}");
    assert!(longest(7) >= longest(4) + QUEUE_STEP, "{points:#?}");
    for round in &fake.asked {
        assert!(matches!(round.who, Who::First(1 | 4 | 7)), "{round:?}");
    }
    let left_out = "* Steps of contend= left out: 9, as there are 8 CPUs.";
    assert!(text.contains(left_out), "{text}");
    let (text, _) = run(&mut Fake::new(2), "only=contend_sweep contend=3", 2);
    assert!(text.contains("fewer CPUs than contend= asks for"), "{text}");
}

#[test]
fn a_step_that_lacks_a_cpu_is_skipped_by_name() {
    let mut states = STATES;
    states[1].local_timer_stop = true;
    let run = |cpus: usize, args: &str| {
        let args = std::format!("only=contend_sweep iterations=2 warmup=0 {args}");
        let (text, verdict) = run_with(&mut Fake::new(cpus), &args, cpus, &states);
        let words: Vec<&str> = text.split_whitespace().collect();
        (words.join(" "), verdict)
    };
    let why = "there are fewer CPUs than contend= asks for; where the CPUs' own timers stop, one \
               more stays awake";
    // By default, too, one of the steps is of all CPUs.
    for args in ["contend=2,4", ""] {
        let (text, verdict) = run(4, args);
        assert_eq!(verdict, Verdict::Pass, "{text}");
        let said = "* deepest: step 4 left out, as one of the 4 CPUs stays awake.";
        assert!(text.contains(said), "{text}");
        assert!(!text.contains("core: step"), "{text}");
        let said = std::format!("Skipped: contend_sweep, contend=4: {why}");
        assert!(text.contains(&said), "{text}");
        assert!(text.contains(", 1 rows skipped, "), "{text}");
    }
    // Nothing fits.
    let (text, verdict) = run(4, "contend=4 core=0x01010022");
    assert_eq!(verdict, Verdict::Fail, "{text}");
    assert!(text.contains(&std::format!("Skipped: {why}")), "{text}");
    assert!(text.contains("=skipped why=too-few-cpus "), "{text}");
    assert!(text.contains(", 0 rows skipped, "), "{text}");
}

const STANDBY: IdleState<'static> = IdleState {
    name: "core-standby",
    power_state: 1,
    level: Some(0),
    local_timer_stop: false,
};

/// What is counted of each state and variant: the CPUs that have a figure.
fn counted(points: &[(String, u64)], state: u32, variant: &str, metric: &str) -> usize {
    let end = std::format!(" var={variant} x={state} {metric}");
    points
        .iter()
        .filter(|point| point.0.ends_with(&end))
        .count()
}

#[test]
fn every_state_in_every_way() {
    let states = [STANDBY, STATES[0], STATES[1]];
    let mut fake = Fake::new(5).with_modes().with_statistics();
    let args = "only=idle_states iterations=2 warmup=0";
    let (text, verdict) = run_with(&mut fake, args, 5, &states);
    assert_eq!(verdict, Verdict::Pass, "{text}");
    let points = points(&text, 16);
    for (state, variants) in [
        (1, &["serial", "parallel"][..]),
        (0x1_0002, &["serial", "parallel"]),
        (0x101_0022, &["serial", "parallel", "osi"]),
    ] {
        for variant in ["serial", "parallel", "osi"] {
            let all = if variants.contains(&variant) { 5 } else { 0 };
            assert_eq!(counted(&points, state, variant, "powerdown"), all);
            assert_eq!(counted(&points, state, variant, "count"), all);
            let flushes = if state == 1 { 0 } else { all };
            assert_eq!(counted(&points, state, variant, "cflush"), flushes);
        }
    }
    // In the fake, the lead keeps its cluster up where it is awake.
    let count = |cpu: &str, variant: &str| {
        let how = if variant == "serial" { "alone" } else { "all" };
        let key = std::format!("mpidr={cpu} how={how} var={variant} x=16842786 count");
        median(&points, &key)
    };
    assert_eq!((count("0x1", "serial"), count("0x100", "serial")), (0, 1));
    assert_eq!(count("0x1", "parallel"), 1);
    // The last of each cluster asks for it, and pays; the mode is set back.
    let flush = |cpu: &str| {
        median(
            &points,
            &std::format!("mpidr={cpu} how=all var=osi x=16842786 cflush"),
        )
    };
    assert_eq!(
        ["0x0", "0x2", "0x3", "0x100"].map(flush),
        [CORE_FLUSH, CORE_FLUSH, CLUSTER_FLUSH, CLUSTER_FLUSH]
    );
    assert_eq!(fake.mode, SuspendMode::PlatformCoordinated);
}

#[test]
fn what_is_left_out_is_said() {
    let mut stops = STATES[1];
    stops.local_timer_stop = true;
    let states = [STATES[0], stops];
    let (text, verdict) = run_with(
        &mut Fake::new(1),
        "only=idle_states iterations=1 warmup=0",
        1,
        &states,
    );
    assert_eq!(verdict, Verdict::Pass, "{text}");
    assert_eq!(
        counted(&points(&text, 16), 0x101_0022, "left_out", "powerdown"),
        1
    );
    let plain: Vec<&str> = text.split_whitespace().collect();
    let plain = plain.join(" ");
    assert!(
        plain.contains("* States left out: the idle state stops the CPUs' own timers"),
        "{text}"
    );
    assert!(
        plain.contains(
            "* OS-initiated mode left out: the firmware does not implement function 0x8400000f"
        ),
        "{text}"
    );
    // All of them: nothing is measured.
    let (text, _) = run_with(&mut Fake::new(1), "only=idle_states", 1, &[stops]);
    assert!(
        text.contains("tag=idle_states status=skipped why=no-helper"),
        "{text}"
    );
    let (text, _) = run_with(
        &mut Fake::new(2).without_gic(),
        "only=idle_states",
        2,
        &states,
    );
    assert!(
        text.contains("tag=idle_states status=skipped why=no-gic"),
        "{text}"
    );
}

#[test]
fn points_name_what_woke_the_cpu() {
    let mut states = STATES;
    states[1].local_timer_stop = true;
    let args = "iterations=1 warmup=0 dirty=0 contend=2 only=idle_states,contend_sweep,dirty_sweep";
    for (mut fake, word) in [
        (Fake::new(5), "helper"),
        (Fake::new(5).with_frame(), "frame"),
    ] {
        let (text, verdict) = run_with(&mut fake, args, 5, &states);
        assert_eq!(verdict, Verdict::Pass, "{text}");
        let waker = std::format!(" waker={word} asked=");
        assert_eq!(text.matches(&waker).count(), 2 * 3, "{text}");
        // The lead is woken by a CPU of another cluster, or by the frame.
        let of = |mpidr: u64, variant: &str, x: u32| -> String {
            let key = std::format!(" mpidr={mpidr:#x} ");
            let point = std::format!(" var={variant} x={x} metric=powerdown ");
            let is = |line: &&str| line.contains(&key) && line.contains(&point);
            let mut fields = text.lines().filter(is).flat_map(|it| it.split(' '));
            assert!(fields.clone().next().is_some(), "no{key}{point}: {text}");
            let found = fields.find(|it| it.starts_with("waker=") || it.starts_with("woken_by="));
            found.unwrap_or_default().into()
        };
        let by_lead = "woken_by=0";
        let of_lead = match word {
            "helper" => "woken_by=4",
            _ => "waker=frame",
        };
        let together = if word == "helper" {
            by_lead
        } else {
            "waker=frame"
        };
        assert_eq!(of(0, "serial", 0x0101_0022), of_lead, "{text}");
        assert_eq!(of(1, "serial", 0x0101_0022), by_lead, "{text}");
        assert_eq!(of(1, "parallel", 0x0101_0022), together, "{text}");
        assert_eq!(of(1, "deepest", 0), by_lead, "{text}");
        assert_eq!(of(1, "deepest", 2), together, "{text}");
        // Where timers go on, and by CPU_OFF, nothing else woke it.
        for (variant, x) in [("serial", 0x1_0002), ("core", 0), ("core", 2), ("off", 0)] {
            assert_eq!(of(1, variant, x), "", "{variant} {x}: {text}");
        }
        let said = match word {
            "helper" => {
                "* In states that stop the CPUs' own timers: the lead wakes each other CPU by SGI"
            }
            _ => "* In states that stop the CPUs' own timers: the timer frame wakes the lead, and",
        };
        assert_eq!(text.matches(said).count(), 3, "{text}");
        let awake = "; CPU 1.0 stays awake and wakes the lead.";
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let times = if word == "helper" { 2 } else { 0 };
        assert_eq!(words.matches(awake).count(), times, "{text}");
    }
}

#[test]
fn a_firmware_that_stays_in_the_mode_fails() {
    let mut fake = Fake::new(2).with_modes();
    fake.stuck = true;
    let (text, verdict) = run(&mut fake, "only=idle_states iterations=1 warmup=0", 2);
    assert_eq!(verdict, Verdict::Fail);
    assert!(
        text.contains("stays in OS-initiated mode: SET_SUSPEND_MODE returned DENIED"),
        "{text}"
    );
    assert!(text.contains("why=mode-stuck"), "{text}");
}

#[test]
fn system_suspend_has_to_be_there_and_to_be_asked_for() {
    let args = "only=system_suspend iterations=3";
    let mut fake = Fake::new(3).with_modes();
    let (text, verdict) = run(&mut fake, args, 3);
    assert_eq!(verdict, Verdict::Pass, "{text}");
    let points = points(&text, 17);
    assert_eq!(points.len(), 3, "{points:#?}");
    assert_eq!(
        median(&points, "mpidr=0x0 how=alone var=system cflush"),
        CLUSTER_FLUSH
    );
    assert!(fake.asked.iter().all(|round| round.who == Who::Only(0)));

    let (text, _) = run(&mut Fake::new(3), args, 3);
    assert!(
        text.contains("does not implement function 0xc400000e"),
        "{text}"
    );
    // What would wake the lead?
    let mut stops = STATES[1];
    stops.local_timer_stop = true;
    let (text, _) = run_with(&mut Fake::new(3).with_modes(), args, 3, &[stops]);
    assert!(
        text.contains("tag=system_suspend status=skipped why=timer-stops"),
        "{text}"
    );
    let mut fake = Fake::new(3).with_modes().with_frame();
    let (_, verdict) = run_with(&mut fake, args, 3, &[stops]);
    assert_eq!(verdict, Verdict::Pass);
    let own = fake
        .asked
        .iter()
        .filter(|round| round.action == Action::SystemSuspend);
    assert!(own.clone().count() > 3 && own.clone().all(|round| round.waker == Waker::Frame));
    // A CPU that is lost may be on.
    let mut fake = Fake::new(3).with_modes().without(2, 0);
    let args = "only=susp_deep_serial,system_suspend iterations=3";
    let (text, verdict) = run(&mut fake, args, 3);
    assert_eq!(verdict, Verdict::Fail);
    let said = "tag=system_suspend status=failed why=cpu-lost why_cpu=2";
    assert!(text.contains(said), "{text}");
    let plan = Plan::parse("only=all").expect("a group");
    assert!(
        !plan
            .scenarios
            .contains(crate::plan::ScenarioId::SystemSuspend)
    );
}

#[test]
fn one_step_fails_and_the_others_are_measured() {
    // CPU 1 is never down with a lot to flush.
    let mut fake = Fake::new(2).with(|_, cpu, outcome| {
        if cpu == 1 && outcome.stamps.0[5] > outcome.stamps.0[4] + CORE_FLUSH + 100 {
            outcome.end = End::Returned;
        }
    });
    let args = "only=dirty_sweep dirty=0,64K iterations=2 warmup=0";
    let (text, verdict) = run(&mut fake, args, 2);
    assert_eq!(verdict, Verdict::Fail, "{text}");
    let points = points(&text, 14);
    assert!(median(&points, "mpidr=0x1 how=alone var=deepest x=0 cflush") > 0);
    assert!(median(&points, "mpidr=0x0 how=alone var=deepest x=65536 cflush") > 0);
    // Without a sample there is a point all the same.
    assert_eq!(
        median(&points, "mpidr=0x1 how=alone var=deepest x=65536 powerdown"),
        0
    );
}

#[test]
fn what_does_not_count_is_said_by_reason() {
    let mut fake = Fake::new(2).with(|round, cpu, outcome| {
        if cpu == 1 && round % 5 == 4 {
            outcome.end = End::WrongContext;
        }
    });
    let args = "only=contend_sweep contend=2 iterations=9 warmup=0";
    let (text, verdict) = run(&mut fake, args, 2);
    assert_eq!(verdict, Verdict::Pass, "{text}");
    let said = "* Not counted: 8 attempts: 4 wrong-context, 4 companion.";
    assert!(text.contains(said), "{text}");
    assert!(text.contains("lost=2"), "{text}");
}

#[test]
fn without_pmf_the_caller_has_figures() {
    let mut fake = Fake::without_pmf(2);
    let args = "only=dirty_sweep,contend_sweep,idle_states dirty=0 contend=2 iterations=2 warmup=0";
    let (text, verdict) = run(&mut fake, args, 2);
    assert_eq!(verdict, Verdict::Pass, "{text}");
    for (scenario, end) in [
        (14, "mpidr=0x1 how=alone var=deepest x=0 call"),
        (14, "mpidr=0x1 how=alone var=off x=0 turnon"),
        (15, "mpidr=0x1 how=all var=deepest x=2 wake"),
        (16, "mpidr=0x1 how=alone var=serial x=65538 call"),
    ] {
        assert!(median(&points(&text, scenario), end) > 0, "{end}");
    }
    assert!(!text.contains("metric=powerdown"), "{text}");
}
