//! The scenarios, run against the fake machine.

mod loops;
mod memory;
mod reached;
mod skips;
mod sweeps;
mod timers;
mod wake;

use core::fmt;
use std::vec::Vec;

use super::fake::{CLUSTER_FLUSH, CORE_FLUSH, Fake, LOSS};
use super::progress::{Progress, Stretch};
use super::{Setting, States, Wakers, jobs, measure};
use crate::board::IdleState;
use crate::measure::{Account, Action, After, End, Machine, Metric, Outcome, Reason, Round, Who};
use crate::model::{Cpu, Failure, Measure, Point, Row, Scenario, Skip, Status, Totals, Variant};
use crate::plan::{Load, Plan, ScenarioId, WakePattern};
use smccc::psci::{Error, PSCI_CPU_SUSPEND_64, PSCI_SET_SUSPEND_MODE, PSCI_SYSTEM_SUSPEND_64};

pub(crate) const STATES: [IdleState<'static>; 2] = [
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

/// The results of a run.
struct Ran {
    scenarios: Vec<Scenario>,
    totals: Totals,
    wakers: Wakers,
    log: Log,
}

/// The windows and the ends of stretches.
#[derive(Default)]
struct Log {
    without_zero: bool,
    windows: Vec<Account>,
    ends: Vec<Stretch>,
}

impl Progress for Log {
    fn without_zero(&mut self) -> fmt::Result {
        self.without_zero = true;
        Ok(())
    }

    fn begin(&mut self, _: &Stretch, _: Option<u64>, _: Load) -> fmt::Result {
        Ok(())
    }

    fn window(&mut self, stretch: &mut Stretch, sum: &Account) -> fmt::Result {
        stretch.all.merge(sum);
        self.windows.push(*sum);
        Ok(())
    }

    fn end(&mut self, stretch: &Stretch) -> fmt::Result {
        self.ends.push(*stretch);
        Ok(())
    }
}

/// Returns so many CPUs, in clusters of four.
pub(crate) fn board(cpus: usize) -> Vec<Cpu> {
    let cpu = |index: usize| Cpu {
        mpidr: Some((index / 4 * 0x100 + index % 4) as u64),
        cluster: (index / 4) as u16,
        core: (index % 4) as u16,
        ..Cpu::default()
    };
    (0..cpus).map(cpu).collect()
}

/// Runs a plan, as `output::run_all` does.
fn run_with(fake: &mut Fake, bootargs: &str, cpus: usize, idle_states: &[IdleState<'_>]) -> Ran {
    let plan = &Plan::parse(bootargs).expect("a good plan");
    let (cpus, format) = (&board(cpus), fake.facts().state_format);
    let states = &States::choose(idle_states, plan, format);
    let stopping = states.that_stop_timers(plan);
    let wakers = Wakers::try_out(fake, cpus, &stopping);
    let setting = Setting {
        plan,
        cpus,
        states,
        wakers: &wakers,
    };
    let mut log = Log::default();
    let (mut scenarios, mut totals) = (Vec::new(), Totals::default());
    for job in jobs(plan) {
        let group = measure(fake, setting, job, &mut log).expect("no error");
        totals.add(&group);
        scenarios.extend(group);
    }
    Ran {
        scenarios,
        totals,
        wakers,
        log,
    }
}

fn run(fake: &mut Fake, bootargs: &str, cpus: usize) -> Ran {
    run_with(fake, bootargs, cpus, &STATES)
}

impl Ran {
    /// Returns the results of a scenario, by its first placement.
    fn of(&self, id: ScenarioId) -> &Scenario {
        let mut all = self.scenarios.iter();
        all.find(|it| it.id == id).expect("the scenario")
    }

    fn points(&self) -> impl Iterator<Item = &Point> + Clone {
        self.scenarios.iter().flat_map(|it| &it.points)
    }

    fn rows(&self) -> impl Iterator<Item = &Row> + Clone {
        self.scenarios.iter().flat_map(|it| &it.rows)
    }

    /// Returns the points of these variant, x and measure.
    fn select(&self, variant: Variant, x: u64, measure: Measure) -> Vec<&Point> {
        let is = |it: &&Point| (it.variant, it.x, it.measure) == (variant, Some(x), measure);
        self.points().filter(is).collect()
    }

    /// Returns the median of a CPU among those.
    fn median(&self, cpu: u16, variant: Variant, x: u64, measure: Measure) -> u64 {
        let of = self.select(variant, x, measure);
        let point = of.iter().find(|it| it.cpu == cpu).expect("a point");
        point.figures.median
    }

    /// Returns passed, skipped and failed scenarios.
    fn counts(&self) -> [u32; 3] {
        let Totals {
            passed,
            skipped,
            failed,
            ..
        } = self.totals;
        [passed, skipped, failed]
    }

    fn statuses(&self) -> Vec<Status> {
        self.scenarios.iter().map(|it| it.status).collect()
    }

    /// Returns the one reason why scenarios failed.
    fn failure(&self) -> Option<Failure> {
        let failures = self.statuses().into_iter().filter_map(|it| match it {
            Status::Failed(failure) => Some(failure),
            _ => None,
        });
        let failures: Vec<_> = failures.collect();
        assert!(
            failures.windows(2).all(|two| two[0] == two[1]),
            "{failures:?}"
        );
        failures.first().copied()
    }

    /// Returns the rows' rejections by reason, summed up.
    fn rejected(&self, reason: Reason) -> u32 {
        let attempts = self.rows().filter_map(|row| row.attempts.as_ref());
        let rejected = attempts.flat_map(|it| &it.rejected);
        let of_reason = rejected.filter(|it| it.0 == reason);
        of_reason.map(|it| it.1).sum()
    }
}

fn has_figures(row: &&Row) -> bool {
    row.figures.powerdown.is_some()
}

fn is_suspend(round: &Round) -> bool {
    matches!(round.action, Action::Suspend { .. })
}

/// Returns code `code` to each suspend for which `of` holds.
fn refusing(
    of: impl Fn(usize, u32) -> bool + 'static,
    code: i32,
) -> impl FnMut(u64, usize, &mut Outcome) {
    move |_, cpu, outcome| {
        if let Action::Suspend { power_state, .. } = outcome.action
            && of(cpu, power_state)
        {
            (outcome.end, outcome.code) = (End::Returned, code);
        }
    }
}

/// Loses a CPU in this round.
fn losing(of: usize, in_round: u64) -> impl FnMut(u64, usize, &mut Outcome) {
    move |round, cpu, outcome| {
        if (round, cpu) == (in_round, of) {
            outcome.end = End::Lost(LOSS);
        }
    }
}

fn lost(cpu: u16) -> Status {
    Status::Failed(Failure::CpuLost { cpu, loss: LOSS })
}

#[test]
fn in_series_the_last_of_a_cluster_flushes_it_unless_the_lead_is_in_it() {
    let ran = run(&mut Fake::new(8), "only=susp_deep_serial iterations=3", 8);
    for row in ran.rows() {
        let expected = match row.cpu {
            1..=3 => CORE_FLUSH,
            _ => CLUSTER_FLUSH,
        };
        assert_eq!(row.figures.cache_flush, Some(expected), "{}", row.cpu);
        assert_eq!(
            row.shown.and_then(|it| it.figure(Metric::CacheFlush)),
            Some(expected)
        );
    }
}

#[test]
fn parallel_rows_are_of_one_round() {
    let ran = run(&mut Fake::new(8), "only=susp_deep_parallel iterations=7", 8);
    for cluster in 0..2 {
        let rows = ran.rows().filter(|row| row.cpu / 4 == cluster);
        let last = rows.filter(|row| row.figures.cache_flush == Some(CLUSTER_FLUSH));
        assert_eq!(last.count(), 1, "one last CPU in cluster {cluster}");
    }
    let skew = ran.scenarios[0].conditions.as_ref().and_then(|it| it.skew);
    assert_eq!(skew.map(|it| (it.n, it.median)), Some((7, 7)));
}

#[test]
fn statistics_samples_and_the_first_sample_are_in_the_row() {
    let args = "only=cpu_susp_serial iterations=4 warmup=1 samples=all";
    let ran = run(&mut Fake::new(2), args, 2);
    for row in ran.rows() {
        let places: Vec<u32> = row.samples.iter().map(|it| it.place).collect();
        assert_eq!((places, row.valid()), (std::vec![0, 1, 2, 3], 4));
        let metrics: Vec<Metric> = row.statistics.iter().map(|it| it.metric).collect();
        use Metric::{CacheFlush, Call, Lateness, Powerdown, Wake, Wakeup};
        assert_eq!(
            metrics,
            [Powerdown, Wakeup, CacheFlush, Call, Wake, Lateness]
        );
        for it in &row.statistics {
            let figure = |sample: &crate::model::Sample| sample.instants.figure(it.metric);
            let mut figures: Vec<u64> = row.samples.iter().filter_map(figure).collect();
            assert_eq!(it.summary, crate::measure::Summary::of(&mut figures));
            assert!(it.cold.is_some(), "the sample of the trial");
        }
    }
    let args = "only=cpu_susp_serial iterations=4";
    let ran = run(&mut Fake::new(2), args, 2);
    assert!(ran.rows().all(|row| row.samples.is_empty()));
}

#[test]
fn tftf_turns_cpus_on_for_each_sample_and_warm_does_not() {
    let args = "only=cpu_susp_serial iterations=3 warmup=1";
    let mut fake = Fake::new(4);
    run(&mut fake, args, 4);
    assert!(fake.asked.iter().all(|round| round.after == After::Off));
    // One trial each, then all CPUs in turn, the lead last, four times.
    let turns: Vec<Who> = fake.asked.iter().map(|round| round.who).collect();
    let once = [1, 2, 3, 0].map(Who::Only);
    assert_eq!(turns, once.repeat(5));

    let mut fake = Fake::new(4);
    run(&mut fake, &std::format!("{args} method=warm"), 4);
    assert!(fake.asked.iter().all(|round| round.after == After::Stay));
    let turns: Vec<Who> = fake.asked[4..].iter().map(|round| round.who).collect();
    let expected: Vec<Who> = once.iter().flat_map(|who| [*who; 4]).collect();
    assert_eq!(turns, expected);
}

#[test]
fn cpu_off_goes_as_tftf_does() {
    let mut fake = Fake::new(3);
    run(&mut fake, "only=cpu_off_serial iterations=1 warmup=0", 3);
    let step = |round: &Round| (round.who, round.action == Action::Off);
    let steps: Vec<(Who, bool)> = fake.asked[1..].iter().map(step).collect();
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
    let ran = run(&mut fake, "only=susp_deep_parallel iterations=2", 16);
    assert_eq!(ran.counts(), [1, 0, 0]);
    let way_down = 16 * 600 + CLUSTER_FLUSH;
    let last = fake.asked.last().map_or(0, |round| round.sleep);
    assert!(last > 2 * way_down, "{last}");
    assert!(fake.asked[0].sleep < last);
}

#[test]
fn a_state_that_is_refused_fails_by_name() {
    let mut fake = Fake::new(4).with(refusing(|_, state| state == 0x0101_0022, -2));
    let ran = run(&mut fake, "iterations=2", 4);
    for scenario in &ran.scenarios {
        use ScenarioId::{CpuOffSerial, SuspendDeepParallel, SuspendDeepSerial};
        let refused = |cpu| {
            Status::Failed(Failure::StateRefused {
                power_state: 0x0101_0022,
                error: Error::InvalidParameters.into(),
                cpu,
            })
        };
        let expected = match scenario.id {
            SuspendDeepSerial => refused(1),
            SuspendDeepParallel | CpuOffSerial => refused(0),
            // The core's own state is not touched by that.
            _ => Status::Passed,
        };
        assert_eq!(scenario.status, expected, "{:?}", scenario.id);
    }
}

#[test]
fn a_state_that_is_refused_to_one_cpu_costs_that_cpu() {
    // NOT_SUPPORTED: the other CPUs have the function.
    for (code, error) in [(-3, Error::Denied.into()), (-1, Error::NotSupported.into())] {
        let mut fake = Fake::new(4).with(refusing(|cpu, _| cpu == 2, code));
        let args = "iterations=3 only=susp_deep_serial,susp_deep_parallel";
        let ran = run(&mut fake, args, 4);
        let refused = Failure::StateRefused {
            power_state: 0x0101_0022,
            error,
            cpu: 2,
        };
        assert_eq!((ran.failure(), ran.counts()), (Some(refused), [0, 0, 2]));
        assert_eq!(ran.rows().filter(has_figures).count(), 3);
    }
}

#[test]
fn firmware_without_cpu_suspend_is_no_failure() {
    let ran = run(
        &mut Fake::new(4).with(refusing(|_, _| true, -1)),
        "iterations=3",
        4,
    );
    let skip = Skip::NotSupported(PSCI_CPU_SUSPEND_64);
    assert_eq!(ran.counts(), [2, 4, 0]);
    let skipped = Status::Skipped(skip);
    assert_eq!(
        ran.statuses().iter().filter(|it| **it == skipped).count(),
        4
    );
    // The lead's part of CPU_OFF.
    let rows: Vec<_> = ran.rows().filter(|row| row.skipped.is_some()).collect();
    assert_eq!(
        (rows.len(), rows[0].cpu, rows[0].skipped),
        (1, 0, Some(skip))
    );
}

#[test]
fn an_abandoned_sample_is_counted_and_made_up_for() {
    let mut fake = Fake::new(4).with(|round, cpu, outcome| {
        if round == 5 && cpu == 2 && outcome.end == End::Resumed {
            outcome.end = End::Returned;
        }
    });
    let ran = run(&mut fake, "only=cpu_susp_parallel iterations=5", 4);
    assert_eq!(ran.counts(), [1, 0, 0]);
    assert_eq!((ran.totals.samples, ran.totals.rejected), (20, 4));
    let counts = [Reason::Abandoned, Reason::Companion].map(|it| ran.rejected(it));
    assert_eq!(counts, [1, 3]);
}

#[test]
fn retries_end() {
    let mut fake = Fake::new(2).with(|round, cpu, outcome| {
        if round > 3 && cpu == 1 {
            outcome.stamps.0[0] = 3;
        }
    });
    let ran = run(
        &mut fake,
        "only=cpu_susp_parallel iterations=10 warmup=1",
        2,
    );
    let few = Failure::TooFewSamples {
        cpu: 1,
        valid: 2,
        asked: 10,
    };
    assert_eq!(ran.failure(), Some(few));
    // A trial, a warm-up, and at most four times as many as asked for.
    assert!(fake.rounds <= 1 + 1 + 40, "{}", fake.rounds);
    assert_eq!(u64::from(ran.rejected(Reason::Stale)), fake.rounds - 4);
}

#[test]
fn a_lost_cpu_is_named_and_left_out() {
    let ran = run(&mut Fake::new(4).with(losing(3, 4)), "iterations=4", 4);
    assert_eq!(ran.statuses(), [lost(3); 6]);
    assert_eq!((ran.counts(), ran.totals.lost), ([0, 0, 6], 1));
    for scenario in &ran.scenarios[1..] {
        // The other CPUs' samples are complete.
        let counts: Vec<_> = scenario.rows.iter().map(Row::valid).collect();
        assert_eq!(counts, [4, 4, 4, 0], "{:?}", scenario.id);
        let attempts = scenario.rows[3].attempts.as_ref();
        assert_eq!(attempts.map(|it| it.rejected_total()), Some(0));
    }
}

#[test]
fn a_cpu_that_is_lost_in_another_ones_turn_is_lost() {
    let args = "only=susp_deep_serial iterations=4 method=warm";
    let mut fake = Fake::new(4).with_statistics();
    run(&mut fake, args, 4);
    for round in 0..fake.rounds {
        let mut fake = Fake::new(4).with_statistics().without(2, round);
        let ran = run(&mut fake, args, 4);
        assert_eq!((ran.statuses(), ran.totals.lost), (std::vec![lost(2)], 1));
        // States that were reached before are not those that are reached now.
        assert!(ran.rows().all(|row| row.reached.is_none()), "{round}");
    }
}

/// Rounds with and without it are not mixed.
#[test]
fn a_loss_begins_a_parallel_scenario_anew() {
    let mut fake = Fake::new(4).with(losing(3, 3));
    let ran = run(
        &mut fake,
        "only=susp_deep_parallel iterations=4 warmup=0",
        4,
    );
    assert_eq!(ran.statuses(), [lost(3)]);
    assert_eq!(ran.rows().filter(has_figures).count(), 3);
    assert_eq!(ran.totals.samples, 12);
    let counts = [Reason::Lost, Reason::Overlap, Reason::Companion].map(|it| ran.rejected(it));
    // Two rounds of four CPUs, and three parts of the third.
    assert_eq!(counts, [1, 0, 11]);
    // A trial, two that were kept, the loss, and all four once more.
    assert_eq!(fake.rounds, 1 + 2 + 1 + 4);
}

#[test]
fn a_wake_up_before_all_are_down_spoils_the_round() {
    // Just before the first wake-up, in the same tick, and after it.
    for (late, overlaps) in [(29, 0), (30, 1), (35, 1)] {
        let mut fake = Fake::new(4).with(move |round, cpu, outcome| {
            if round == 4 && cpu == 2 {
                let down = outcome.due + late;
                outcome.stamps.0[2] = down;
                outcome.stamps.0[3] = down + 100;
                outcome.stamps.0[1] = down + 120;
            }
        });
        let ran = run(&mut fake, "only=cpu_susp_parallel iterations=4", 4);
        let totals = (ran.totals.samples, ran.totals.rejected);
        assert_eq!(totals, (16, 4 * overlaps), "{late}");
        assert_eq!(u64::from(ran.rejected(Reason::Overlap)), overlaps);
    }
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
