//! The scenarios, run against the fake machine.

mod formats;
mod loops;
mod reached;
mod skips;
mod sweeps;
mod timers;
mod wake;

use std::string::String;
use std::vec::Vec;

use super::fake::{CLUSTER_FLUSH, CORE_FLUSH, Fake, LOSS};
use super::needs::{Needs, Workspace};
use crate::board::{Cpu, IdleState, LabelSource};
use crate::measure::{Action, After, End, Machine, Outcome, Who};
use crate::model::{Point, Row, Run, Spread, Verdict};
use crate::output::run_all;
use crate::plan::{Plan, WakePattern};

const STATES: [IdleState<'static>; 2] = [
    IdleState {
        name: "core-off",
        power_state: 0x0001_0002,
        level: Some(0),
        local_timer_stop: false,
    },
    IdleState {
        name: "cluster-off",
        power_state: 0x0101_0022,
        level: Some(1),
        local_timer_stop: false,
    },
];

/// Runs a plan, and returns what was printed and the verdict.
fn run_with(
    fake: &mut Fake,
    bootargs: &str,
    cpus: usize,
    states: &[IdleState<'_>],
) -> (String, Verdict) {
    let plan = Plan::parse(bootargs).expect("a good plan");
    let cpus: Vec<Cpu> = (0..cpus)
        .map(|i| Cpu {
            mpidr: (i / 4 * 0x100 + i % 4) as u64,
            cluster: (i / 4) as u16,
            core: (i % 4) as u16,
            thread: 0,
        })
        .collect();
    let needs = Needs::of(&plan, cpus.len()).expect("a small plan");
    let mut outcomes = std::vec![Outcome::default(); needs.outcomes];
    let mut firsts = outcomes.clone();
    let mut kept = std::vec![Outcome::default(); needs.kept];
    let mut column = std::vec![0; needs.column];
    let mut rows = std::vec![Row::default(); needs.rows];
    let mut points = std::vec![Point::default(); needs.points];
    let mut histograms = std::vec![Spread::default(); needs.histograms];
    let facts = *fake.facts();
    let run = Run {
        facts: &facts,
        plan: &plan,
        model: "Fake",
        cpus: &cpus,
        labels: LabelSource::CpuMap,
        identity: |_| None,
        version: "0.0.0",
    };
    let workspace = Workspace {
        outcomes: &mut outcomes,
        firsts: &mut firsts,
        kept: &mut kept,
        column: &mut column,
        rows: &mut rows,
        points: &mut points,
        histograms: &mut histograms,
    };
    let mut out = String::new();
    let verdict = run_all(fake, &run, states, workspace, &mut out).expect("strings never fail");
    (out, verdict)
}

fn run(fake: &mut Fake, bootargs: &str, cpus: usize) -> (String, Verdict) {
    run_with(fake, bootargs, cpus, &STATES)
}

/// The numbers of the RT_INSTR lines: cluster, core, and the figures in ns.
fn rt_instr(text: &str) -> Vec<Vec<u64>> {
    text.lines()
        .filter(|line| line.starts_with("<RT_INSTR:"))
        .map(|line| {
            let numbers = line.trim_end_matches("/>").split('\t').skip(1);
            numbers.map(|n| n.parse().expect("a number")).collect()
        })
        .collect()
}

/// A golden file, or with `PSCI_BENCH_BLESS` set, its new contents.
fn assert_golden(name: &str, got: &str) {
    let path = std::format!(
        "{}/src/scenario/expected/{name}.txt",
        env!("CARGO_MANIFEST_DIR")
    );
    if std::env::var_os("PSCI_BENCH_BLESS").is_some() {
        std::fs::write(&path, got).expect("the golden file is written");
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(
        expected == got,
        "{path} differs; PSCI_BENCH_BLESS=1 takes it over\n--- got\n{got}"
    );
}

#[test]
fn all_six_byte_for_byte() {
    let (text, verdict) = run(&mut Fake::new(8), "iterations=5", 8);
    assert_eq!(verdict, Verdict::Pass);
    assert_golden("all-six", &text);
}

#[test]
fn both_methods_without_pmf_byte_for_byte() {
    let mut fake = Fake::without_pmf(4);
    let (text, verdict) = run(&mut fake, "iterations=3 method=tftf,warm", 4);
    assert_eq!(verdict, Verdict::Pass);
    assert_golden("without-pmf", &text);
}

#[test]
fn serial_last_man_pays_unless_the_lead_is_in_his_cluster() {
    let (text, _) = run(&mut Fake::new(8), "only=susp_deep_serial iterations=3", 8);
    let ns = 16;
    let flushes: Vec<u64> = rt_instr(&text).iter().map(|row| row[4]).collect();
    let expected: Vec<u64> = (0..8)
        .map(|cpu| match cpu {
            1..=3 => CORE_FLUSH * ns,
            _ => CLUSTER_FLUSH * ns,
        })
        .collect();
    assert_eq!(flushes, expected);
}

#[test]
fn parallel_rows_are_of_one_round() {
    let (text, _) = run(&mut Fake::new(8), "only=susp_deep_parallel iterations=7", 8);
    let rows = rt_instr(&text);
    for cluster in 0..2 {
        let payers = rows
            .iter()
            .filter(|row| row[0] == cluster && row[4] == CLUSTER_FLUSH * 16);
        assert_eq!(
            payers.count(),
            1,
            "one last man in cluster {cluster}: {rows:?}"
        );
    }
}

#[test]
fn tftf_turns_cpus_on_for_each_sample_and_warm_does_not() {
    let mut fake = Fake::new(4);
    run(&mut fake, "only=cpu_susp_serial iterations=3 warmup=1", 4);
    assert!(fake.asked.iter().all(|round| round.after == After::Off));
    // One trial each, then all CPUs in turn, the lead last, four times.
    let turns: Vec<Who> = fake.asked.iter().map(|round| round.who).collect();
    let once = [1, 2, 3, 0].map(Who::Only);
    assert_eq!(turns, once.repeat(5));

    let mut fake = Fake::new(4);
    run(
        &mut fake,
        "only=cpu_susp_serial iterations=3 warmup=1 method=warm",
        4,
    );
    assert!(fake.asked.iter().all(|round| round.after == After::Stay));
    let turns: Vec<Who> = fake.asked[4..].iter().map(|round| round.who).collect();
    let expected: Vec<Who> = once.iter().flat_map(|who| [*who; 4]).collect();
    assert_eq!(turns, expected);
}

#[test]
fn cpu_off_goes_as_tftf_does() {
    let mut fake = Fake::new(3);
    run(&mut fake, "only=cpu_off_serial iterations=1 warmup=0", 3);
    let steps: Vec<(Who, bool)> = fake.asked[1..]
        .iter()
        .map(|r| (r.who, r.action == Action::Off))
        .collect();
    let pass = [
        (Who::Only(1), true),
        (Who::Only(2), true),
        (Who::Only(0), false),
        (Who::Only(1), false),
        (Who::Only(2), false),
    ];
    assert_eq!(steps, pass.repeat(2));
}

#[test]
fn the_sleep_is_calibrated() {
    // 16 CPUs: the queue and two flushes take longer than the first sleep.
    let mut fake = Fake::new(16);
    let (_, verdict) = run(&mut fake, "only=susp_deep_parallel iterations=2", 16);
    assert_eq!(verdict, Verdict::Pass);
    let way_down = 16 * 600 + CLUSTER_FLUSH;
    let last = fake.asked.last().map_or(0, |round| round.sleep);
    assert!(last > 2 * way_down, "{last}");
    assert!(fake.asked[0].sleep < last);
}

#[test]
fn a_state_that_is_refused_fails_by_name() {
    let mut fake = Fake::new(4).with(|_, _, outcome| {
        if let Action::Suspend { power_state, .. } = outcome.action
            && power_state == 0x0101_0022
        {
            outcome.end = End::Returned;
            outcome.code = -2;
        }
    });
    let (text, verdict) = run(&mut fake, "iterations=2", 4);
    assert_eq!(verdict, Verdict::Fail);
    assert!(
        text.contains("INVALID_PARAMETERS") && text.contains("0x01010022"),
        "{text}"
    );
    // The core's own state is not touched by that.
    assert!(text.contains("<RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t3\t"));
}

/// All but the CPU to which the firmware refuses it are measured.
#[test]
fn a_state_that_is_refused_to_one_cpu_costs_that_cpu() {
    for code in [-3, -1] {
        let mut fake = Fake::new(4).with(move |_, cpu, outcome| {
            if cpu == 2 && matches!(outcome.action, Action::Suspend { .. }) {
                outcome.end = End::Returned;
                outcome.code = code;
            }
        });
        let args = "iterations=3 only=susp_deep_serial,susp_deep_parallel";
        let (text, verdict) = run(&mut fake, args, 4);
        assert_eq!(verdict, Verdict::Fail, "{text}");
        // Not a firmware without the function: the others have it.
        let name = if code == -1 {
            "NOT_SUPPORTED"
        } else {
            "DENIED"
        };
        let said = std::format!("refuses power_state 0x01010022 on CPU 0.2: {name}");
        assert_eq!(text.matches(&said).count(), 2, "{text}");
        assert_eq!(rt_instr(&text).len(), 3, "{text}");
    }
}

#[test]
fn firmware_without_cpu_suspend_is_no_failure() {
    let mut fake = Fake::new(4).with(|_, _, outcome| {
        if matches!(outcome.action, Action::Suspend { .. }) {
            outcome.end = End::Returned;
            outcome.code = -1;
        }
    });
    let (text, verdict) = run(&mut fake, "iterations=3", 4);
    assert_eq!(verdict, Verdict::Pass, "{text}");
    let why = "the firmware does not implement function 0xc4000001\n";
    let below = std::format!("\n  Skipped: {why}");
    assert_eq!(text.matches(&below).count(), 4, "{text}");
    // The lead's part of CPU_OFF is the last that the summary names.
    let row = std::format!("\nSkipped: test_rt_instr_cpu_off_serial, CPU 0.0: {why}\npsci-bench: ");
    assert!(text.contains(&row), "{text}");
    assert_eq!(text.matches(why).count(), 4 + 5, "{text}");
}

#[test]
fn an_abandoned_sample_is_counted_and_made_up_for() {
    let mut fake = Fake::new(4).with(|round, cpu, outcome| {
        if round == 5 && cpu == 2 && outcome.end == End::Resumed {
            outcome.end = End::Returned;
        }
    });
    let (text, verdict) = run(&mut fake, "only=cpu_susp_parallel iterations=5", 4);
    assert_eq!(verdict, Verdict::Pass);
    assert!(text.contains("20 samples, 4 not counted"), "{text}");
    assert!(text.contains("abandoned"), "{text}");
    assert!(text.contains("companion"), "{text}");
}

#[test]
fn retries_end() {
    let mut fake = Fake::new(2).with(|round, cpu, outcome| {
        if round > 3 && cpu == 1 {
            outcome.stamps.0[0] = 3;
        }
    });
    let (text, verdict) = run(
        &mut fake,
        "only=cpu_susp_parallel iterations=10 warmup=1",
        2,
    );
    assert_eq!(verdict, Verdict::Fail);
    // Calibration, a warm-up, and at most four times what was asked for.
    assert!(fake.rounds <= 1 + 1 + 40, "{}", fake.rounds);
    assert!(text.contains("stale"), "{text}");
}

#[test]
fn a_lost_cpu_is_named_and_left_out() {
    let mut fake = Fake::new(4).with(|round, cpu, outcome| {
        if round == 4 && cpu == 3 {
            outcome.end = End::Lost(LOSS);
        }
    });
    let (text, verdict) = run(&mut fake, "iterations=4", 4);
    assert_eq!(verdict, Verdict::Fail);
    let said = "Failed: CPU 0.3 was lost: timed out waiting for return from the call";
    assert_eq!(text.matches(said).count(), 6, "{text}");
    // The others' samples are complete in the scenarios that follow.
    assert!(
        text.contains("<RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t2\t"),
        "{text}"
    );
    assert!(
        !text.contains("<RT_INSTR:test_rt_instr_cpu_susp_serial\t0\t3\t"),
        "{text}"
    );
    // It has no sample there, and none of them passes without it.
    assert!(text.contains("0 passed, 0 skipped, 6 failed"), "{text}");
    assert!(text.contains("1 CPUs lost"), "{text}");
    for t in 2..=6 {
        let row = std::format!("row t={t} by=tftf mpidr=0x3 valid=0 rejected=0 ");
        assert!(text.contains(&row), "{t}: {text}");
    }
}

/// Between two turns, while another CPU has its own.
#[test]
fn a_cpu_that_is_lost_out_of_turn_is_lost_all_the_same() {
    let args = "only=susp_deep_serial iterations=4 method=warm";
    let rounds = {
        let mut fake = Fake::new(4).with_statistics();
        run(&mut fake, args, 4);
        fake.rounds
    };
    for round in 0..rounds {
        let mut fake = Fake::new(4).with_statistics().without(2, round);
        let (text, verdict) = run(&mut fake, args, 4);
        assert_eq!(verdict, Verdict::Fail, "{round}: {text}");
        assert!(text.contains("Failed: CPU 0.2 was lost"), "{round}: {text}");
        assert!(text.contains("1 CPUs lost"), "{round}: {text}");
        // What was reached while it was there says nothing any more.
        assert!(!text.contains("Reached, by"), "{round}: {text}");
    }
}

/// Rounds with and without it are not mixed.
#[test]
fn a_loss_begins_a_parallel_scenario_anew() {
    let mut fake = Fake::new(4).with(|round, cpu, outcome| {
        if round == 3 && cpu == 3 {
            outcome.end = End::Lost(LOSS);
        }
    });
    let args = "only=susp_deep_parallel iterations=4 warmup=0";
    let (text, verdict) = run(&mut fake, args, 4);
    assert_eq!(verdict, Verdict::Fail);
    assert_eq!(rt_instr(&text).len(), 3, "{text}");
    assert!(text.contains("12 samples"), "{text}");
    assert!(text.contains("1 lost (CPU 0.3)"), "{text}");
    assert!(!text.contains("overlap"), "{text}");
    // A trial, two that were kept, the loss, and all four once more.
    assert_eq!(fake.rounds, 1 + 2 + 1 + 4, "{text}");
}

#[test]
fn a_wake_up_before_all_are_down_spoils_the_round() {
    // Just before the first wake-up, in the same tick, and after it.
    for (late, not_counted) in [(29, 0), (30, 4), (35, 4)] {
        let mut fake = Fake::new(4).with(move |round, cpu, outcome| {
            if round == 4 && cpu == 2 {
                let down = outcome.due + late;
                outcome.stamps.0[2] = down;
                outcome.stamps.0[3] = down + 100;
                outcome.stamps.0[1] = down + 120;
            }
        });
        let (text, _) = run(&mut fake, "only=cpu_susp_parallel iterations=4", 4);
        assert_eq!(
            text.contains("1 overlap (CPU 0.2)"),
            not_counted > 0,
            "{text}"
        );
        let said = std::format!("16 samples, {not_counted} not counted");
        assert!(text.contains(&said), "{text}");
    }
}

#[test]
fn no_states_no_suspend() {
    let (text, verdict) = run_with(&mut Fake::new(2), "iterations=2", 2, &[]);
    assert_eq!(verdict, Verdict::Pass);
    assert!(text.contains("2 passed, 4 skipped, 0 failed"), "{text}");
    let row = "row t=5 by=tftf mpidr=0x0 skipped=no-idle-state valid=0 ";
    assert_eq!(text.matches(row).count(), 2, "{text}");
    assert!(text.contains(", 1 rows skipped, "), "{text}");
    let only = "only=cpu_susp_serial iterations=2";
    let (_, verdict) = run_with(&mut Fake::new(2), only, 2, &[]);
    assert_eq!(verdict, Verdict::Fail, "nothing measured is no success");
}

#[test]
fn without_a_gic_nobody_is_suspended() {
    let mut fake = Fake::new(2).without_gic();
    let (text, verdict) = run_with(&mut fake, "iterations=2", 2, &STATES);
    assert_eq!(verdict, Verdict::Pass);
    let reason = "Skipped: no GIC: nothing could wake a suspended CPU";
    assert_eq!(text.matches(reason).count(), 4, "{text}");
    assert!(text.contains("Wake-up    : none: there is no GIC"));
    assert!(text.contains("why=no-gic") && text.contains(" gic=0"));
    let suspends = |round: &crate::measure::Round| matches!(round.action, Action::Suspend { .. });
    assert!(!fake.asked.is_empty() && !fake.asked.iter().any(suspends));
}

#[test]
fn the_wake_pattern_is_passed_on() {
    let mut fake = Fake::new(2);
    run(
        &mut fake,
        "only=cpu_susp_parallel iterations=1 wake=chain",
        2,
    );
    assert!(fake.asked.iter().all(|r| r.wake == WakePattern::Chain));
}

#[test]
fn needs_grow_with_cpus_and_iterations_and_do_not_wrap() {
    let plan = Plan::parse("").expect("the default plan");
    let needs = Needs::of(&plan, 8).expect("a small plan");
    assert_eq!((needs.kept, needs.rows), (160, 64));
    let per_cpu = needs.bytes().map(|bytes| bytes / 8);
    // With a 16 KiB stack step the whole stays below 32 KiB a CPU.
    assert!(per_cpu.is_some_and(|bytes| bytes < 15 << 10), "{per_cpu:?}");
    assert!(Needs::of(&plan, usize::MAX).is_none());
}
