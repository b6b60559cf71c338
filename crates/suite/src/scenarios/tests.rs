//! Runs the scenarios on the fake machine.

mod fitness;
mod gaps;
mod loops;
mod masked;
mod race;
mod skips;
mod sweeps;
mod timers;
mod wake;

use core::cell::RefCell;
use core::sync::atomic::{AtomicU64, Ordering};
use std::rc::Rc;
use std::string::String;
use std::vec::Vec;

use crate::measure::{
    Action, ActionDetails, ActionEnd, AfterRound, Machine, Metric, Outcome, Participants, Reason,
    Round, SampleCount, Summary, Waker,
};
use crate::model::{
    Cell, CellSeries, Conditions, Counts, Failure, Function, Job, Scenario, Skip, Status, Totals,
    WakeSource, jobs,
};
use crate::plan::{ActiveCpus, Plan, ScenarioId, Variant, WakePattern};
use crate::testing::board;
use crate::testing::fake::{CLUSTER_FLUSH, CORE_FLUSH, Fake, LOSS};
use hardware::board::{CpuIndex, IdleState, StateSet};
use hardware::spec::counter_value::CounterValue;
use hardware::spec::pmf::Stamp;
use smccc::psci::{Error, PSCI_CPU_SUSPEND_64, PSCI_SET_SUSPEND_MODE, PSCI_SYSTEM_SUSPEND_64};

use crate::bench::{Needs, Setting, States, WakeSources, measure};

const CORE: u32 = 0x0001_0002;
const CLUSTER: u32 = 0x0101_0022;

pub(crate) const STATES: [IdleState<'static>; 2] =
    [state("core-off", CORE, 0), state("cluster-off", CLUSTER, 1)];

const fn state(name: &str, power_state: u32, level: u8) -> IdleState<'_> {
    IdleState {
        name,
        power_state,
        level: Some(level),
        local_timer_stop: false,
        deeper_than: StateSet::all_before(0),
        is_on_all_cpus: true,
    }
}

struct Ran {
    fake: Fake,
    scenarios: Vec<Scenario>,
    totals: Totals,
    wake_sources: WakeSources,
    /// The lines printed while scenarios were measured.
    printed: String,
}

/// Runs a plan in the same way as `run_all`.
fn run_with(fake: Fake, bootargs: &str, idle_states: &[IdleState<'_>]) -> Ran {
    run_counted(fake, bootargs, idle_states, &AtomicU64::new(0))
}

/// Like [`run_with`]; `samples` holds the sample count during the run.
fn run_counted(
    mut fake: Fake,
    bootargs: &str,
    idle_states: &[IdleState<'_>],
    samples: &AtomicU64,
) -> Ran {
    let plan = &Plan::parse(bootargs).expect("a valid plan");
    let (cpus, format) = (&board(fake.cpus()), fake.facts().state_format);
    let mut states = States::choose(&idle_states.into(), plan, format);
    let mut wake_sources = WakeSources::untried(fake.facts());
    let mut printed = String::new();
    let (mut scenarios, mut totals) = (Vec::new(), Totals::default());
    for job in jobs(plan) {
        let Job::Measure(key) = job else {
            let mut announce = |_| Ok(());
            let tried = wake_sources.try_out(&mut fake, (cpus, plan), &mut states, &mut announce);
            tried.expect("no error");
            continue;
        };
        let setting = Setting {
            plan,
            cpus,
            states: &states,
            wake_sources: &wake_sources,
            samples,
        };
        let group = measure(&mut fake, setting, key, &mut printed).expect("no error");
        totals.add(&group);
        scenarios.extend(group);
    }
    Ran {
        fake,
        scenarios,
        totals,
        wake_sources,
        printed,
    }
}

fn run(fake: Fake, bootargs: &str) -> Ran {
    run_with(fake, bootargs, &STATES)
}

/// Returns two states. States at index `first` and above stop the CPUs' own timers.
pub(crate) fn stopping(first: usize) -> [IdleState<'static>; 2] {
    let mut states = STATES;
    let stopping = states[first..].iter_mut();
    stopping.for_each(|state| state.local_timer_stop = true);
    states
}

impl Ran {
    fn of(&self, id: ScenarioId) -> &Scenario {
        let mut scenarios = self.scenarios.iter();
        scenarios
            .find(|scenario| scenario.id == id)
            .expect("the scenario")
    }

    fn conditions(&self) -> &Conditions {
        self.scenarios[0].conditions.as_ref().expect("conditions")
    }

    fn series(&self) -> impl Iterator<Item = CellSeries<'_>> + Clone {
        self.scenarios.iter().flat_map(Scenario::all_series)
    }

    fn cells(&self) -> impl Iterator<Item = &Cell> + Clone {
        self.scenarios.iter().flat_map(|scenario| &scenario.cells)
    }

    fn wake_sources(&self) -> impl Iterator<Item = WakeSource> {
        self.scenarios.iter().map(|scenario| {
            let conditions = scenario.conditions.as_ref();
            conditions.expect("conditions").wake_source
        })
    }

    fn median(&self, cpu: u16, variant: Variant, value: u64, metric: Metric) -> u64 {
        let cell = self.cell(cpu.into(), variant, Some(value));
        let summary = cell.expect("a cell").summary(metric);
        summary.expect("samples").median
    }

    fn cell(&self, cpu: CpuIndex, variant: Variant, value: Option<u64>) -> Option<&Cell> {
        let key = (cpu, variant, value);
        self.cells()
            .find(|cell| (cell.cpu, cell.step.variant, cell.step.value) == key)
    }

    fn counts(&self) -> [u32; 3] {
        [self.totals.passed, self.totals.skipped, self.totals.failed]
    }

    fn statuses(&self) -> Vec<Status> {
        self.scenarios
            .iter()
            .map(|scenario| scenario.status)
            .collect()
    }

    fn skipped(&self, why: Skip) -> usize {
        let statuses = self.statuses().into_iter();
        statuses
            .filter(|status| *status == Status::Skipped(why))
            .count()
    }

    /// Returns the only reason why scenarios failed.
    fn failure(&self) -> Option<Failure> {
        let mut failures = self.statuses().into_iter().filter_map(Status::failure);
        let first = failures.next()?;
        assert!(failures.all(|other| other == first), "{first:?}");
        Some(first)
    }

    /// Returns the total number of rejections for a reason, across all cells.
    fn rejected(&self, reason: Reason) -> u32 {
        let counts = self.cells().filter_map(|cell| cell.counts.as_ref());
        counts.map(|counts| counts.rejected_for(reason)).sum()
    }

    /// Returns true if any of the rounds is selected.
    fn asks(&self, is_selected: impl Fn(&Round) -> bool) -> bool {
        self.fake.requested_rounds.iter().any(is_selected)
    }
}

fn has_figures(cell: &&Cell) -> bool {
    cell.figure(Metric::Powerdown).is_some()
}

fn is_suspend(round: &Round) -> bool {
    matches!(round.action(), Action::Suspend { .. })
}

fn suspends(action: Action, state: u32) -> bool {
    matches!(action, Action::Suspend { power_state, .. } if power_state == state)
}

/// Returns an edit that makes each suspend selected by CPU and state return `code`.
fn refusing(
    is_selected: impl Fn(CpuIndex, u32) -> bool + 'static,
    code: i32,
) -> impl FnMut(u64, CpuIndex, &mut Outcome) {
    move |_, cpu, outcome| {
        if let Action::Suspend { power_state, .. } = outcome.action
            && is_selected(cpu, power_state)
        {
            (outcome.end, outcome.code) = (ActionEnd::Returned, Some(code));
        }
    }
}

fn refused(cpu: u16, error: Error) -> Status {
    Status::Failed(Failure::StateRefused {
        power_state: CLUSTER,
        error: error.into(),
        cpu: cpu.into(),
    })
}

/// Returns an edit that loses a CPU in a round.
fn losing(lost: u16, in_round: u64) -> impl FnMut(u64, CpuIndex, &mut Outcome) {
    move |round, cpu, outcome| {
        if (round, cpu) == (in_round, lost.into()) {
            outcome.end = ActionEnd::Lost(LOSS);
        }
    }
}

/// Sets one of the timestamps that the CPU has read.
fn set_stamp(outcome: &mut Outcome, stamp: Stamp, ticks: u64) {
    if let Ok(stamps) = &mut outcome.stamps {
        stamps.set(stamp, ticks);
    }
}

/// Sets when a suspended CPU's wake-up was due.
fn set_due(outcome: &mut Outcome, due: Option<CounterValue>) {
    if let ActionDetails::Suspend(suspended) = &mut outcome.details {
        suspended.due = due;
    }
}

/// Returns `instant`, shifted by `ticks`.
fn shifted(instant: Option<CounterValue>, ticks: i64) -> Option<CounterValue> {
    CounterValue::new(instant?.number().checked_add_signed(ticks)?)
}

/// Returns a selection that contains only this CPU.
fn only(cpu: u16) -> Participants {
    Participants::Only(cpu.into())
}

fn lost(cpu: u16) -> Status {
    Status::Failed(Failure::CpuLost {
        cpu: cpu.into(),
        loss: LOSS,
        others: 0,
    })
}

#[test]
fn series_samples_and_the_first_sample_are_in_the_cell() {
    let args = "only=cpu_susp_serial iterations=4 warmup=1";
    let ran = run(Fake::new(2), &std::format!("{args} samples=all"));
    for cell in ran.cells() {
        let indices: Vec<u32> = cell.samples.iter().map(|sample| sample.index).collect();
        assert_eq!((indices, cell.valid()), (std::vec![0, 1, 2, 3], 4));
        let metrics: Vec<Metric> = cell.series.iter().map(|series| series.metric).collect();
        use Metric::{CacheFlush, Call, Powerdown, Wake, Wakeup};
        let expected = [Powerdown, Wakeup, CacheFlush, Call, Wake];
        assert_eq!(metrics, expected);
        for series in &cell.series {
            let mut figures: Vec<u64> = cell
                .samples
                .iter()
                .filter_map(|sample| sample.instants.metric(series.metric))
                .collect();
            assert_eq!(series.summary, Summary::compute(&mut figures));
            assert!(series.cold.is_some(), "the trial's sample");
        }
    }
    let without_samples = run(Fake::new(2), args);
    assert!(without_samples.cells().all(|cell| cell.samples.is_empty()));
}

#[test]
fn tftf_turns_cpus_on_for_each_sample_and_warm_does_not() {
    // After one trial per CPU, each CPU is measured four times, with the lead last.
    let once = [1, 2, 3, 0].map(only);
    let warm = once.iter().chain(once.iter().flat_map(|cpu| [cpu; 4]));
    for (method, after, turns) in [
        ("tftf", AfterRound::Off, once.repeat(5)),
        ("warm", AfterRound::Stay, warm.copied().collect()),
    ] {
        let args = "only=cpu_susp_serial iterations=3 warmup=1 wake=chain";
        let ran = run(Fake::new(4), &std::format!("{args} method={method}"));
        let is_as_asked = |round: &Round| {
            round.afterwards == after && round.wake_up.pattern == WakePattern::Chain
        };
        assert!(!ran.asks(|round| !is_as_asked(round)));
        let requested = ran
            .fake
            .requested_rounds
            .iter()
            .map(|round| round.participants);
        assert_eq!(requested.collect::<Vec<_>>(), turns);
    }
}

#[test]
fn cpu_off_goes_as_tftf_does() {
    let ran = run(Fake::new(3), "only=cpu_off_serial iterations=1 warmup=0");
    let turn = |round: &Round| (round.participants, round.action() == Action::Off);
    let turns: Vec<(Participants, bool)> =
        ran.fake.requested_rounds[1..].iter().map(turn).collect();
    let pass = [(1, true), (2, true), (0, false), (1, false), (2, false)]
        .map(|(cpu, is_off)| (only(cpu), is_off));
    assert_eq!(turns, pass.repeat(2));
}

#[test]
fn retries_end() {
    let fake = Fake::new(2).with(|round, cpu, outcome| {
        if round > 3 && cpu.index() == 1 {
            set_stamp(outcome, Stamp::EnterPsci, 3);
        }
    });
    let ran = run(fake, "only=cpu_susp_parallel iterations=10 warmup=1");
    let (cpu, valid, requested) = (1, 2, 10);
    let few = Failure::TooFewSamples {
        cpu: cpu.into(),
        valid,
        requested,
    };
    assert_eq!(ran.failure(), Some(few));
    // There is a trial, a warm-up, and at most four times as many rounds as requested.
    let rounds = ran.fake.rounds;
    assert!(rounds <= 1 + 1 + 40, "{rounds}");
    assert_eq!(u64::from(ran.rejected(Reason::Stale)), rounds - 4);
}

/// A host under load spoils several attempts in a row.
#[test]
fn one_iteration_gets_as_many_retries_as_five() {
    let spoiled_fake = |last_round: u64| {
        Fake::new(2).with(move |round, cpu, outcome| {
            if (1..last_round).contains(&round) && cpu.index() == 1 {
                set_stamp(outcome, Stamp::EnterPsci, 3);
            }
        })
    };
    let plan = "only=cpu_susp_parallel iterations=1 warmup=0";
    assert_eq!(run(spoiled_fake(15), plan).failure(), None);
    let ran = run(spoiled_fake(u64::MAX), plan);
    assert!(ran.failure().is_some());
    // There is a trial.
    assert!(ran.fake.rounds <= 1 + 1 + 15, "{}", ran.fake.rounds);
}

/// Rounds with and without the lost CPU are not mixed.
#[test]
fn a_loss_begins_a_parallel_scenario_anew() {
    let args = "only=susp_deep_parallel iterations=4 warmup=0";
    let ran = run(Fake::new(4).with(losing(3, 3)), args);
    assert_eq!(ran.statuses(), [lost(3)]);
    assert_eq!(ran.totals.samples, 12);
    assert_eq!(ran.cells().filter(has_figures).count(), 3);
    let counts =
        [Reason::Lost, Reason::Overlap, Reason::Companion].map(|reason| ran.rejected(reason));
    // The discarded outcomes are those of four CPUs in two rounds, and of three CPUs in the third.
    assert_eq!(counts, [1, 0, 11]);
    // A trial, two rounds that were kept, the round with the loss, and four more.
    assert_eq!(ran.fake.rounds, 1 + 2 + 1 + 4);
}

#[test]
fn no_cpu_sleeps_for_less_than_the_shortest_sleep() {
    for (bootargs, least) in [("sleep=30000", 30_000), ("sleep=0", 500)] {
        let ran = run(
            Fake::new(4),
            &std::format!("iterations=2 method=tftf,warm {bootargs}"),
        );
        let sleeps = ran.fake.trials.iter().chain(&ran.fake.requested_rounds);
        let shortest = sleeps
            .filter(|round| round.action().sleeps())
            .map(|round| round.spans.sleep)
            .min();
        let ticks = ran.fake.facts().ticks(least);
        assert_eq!(shortest, Some(ticks), "{bootargs}");
    }
}

#[test]
fn a_wake_up_before_all_are_down_spoils_the_round() {
    // The CPU goes down before the first wake-up, in the same tick, or later.
    for (late, overlaps) in [(29, 0), (30, 1), (35, 1)] {
        let fake = Fake::new(4).with(move |round, cpu, outcome| {
            if (round, cpu.index()) == (4, 2) {
                let down = outcome.due().expect("a wake-up").number() + late;
                set_stamp(outcome, Stamp::EnterHwLowPwr, down);
                set_stamp(outcome, Stamp::ExitHwLowPwr, down + 100);
                set_stamp(outcome, Stamp::ExitPsci, down + 120);
            }
        });
        let ran = run(fake, "only=cpu_susp_parallel iterations=4");
        let totals = (ran.totals.samples, ran.totals.rejected);
        assert_eq!(totals, (16, 4 * overlaps), "{late}");
        assert_eq!(u64::from(ran.rejected(Reason::Overlap)), overlaps);
    }
}

#[test]
fn a_return_after_the_quiet_time_does_not_count_and_lengthens_it() {
    // The quiet time is 62,500 ticks in the trial, and at least 12,500 ticks in later rounds.
    let late_return = |first_round: u64| {
        move |round: u64, _: CpuIndex, outcome: &mut Outcome| {
            if round >= first_round && outcome.action.sleeps() {
                outcome.returned_at = shifted(outcome.due(), 20_000);
            }
        }
    };
    for (scenario, cpus) in [
        ("cpu_susp_parallel", 4),
        ("cpu_susp_serial", 1),
        ("cpu_off_serial", 1),
    ] {
        let args = std::format!("only={scenario} iterations=4 warmup=0");
        let ran = run(Fake::new(cpus).with(late_return(2)), &args);
        let late_returns = u64::from(ran.rejected(Reason::LateReturn));
        assert_eq!(ran.totals.samples, 4 * cpus as u64, "{scenario}");
        assert_eq!(late_returns, cpus as u64, "{scenario}");
        assert_eq!(ran.totals.rejected, late_returns, "{scenario}");
        let quiet = ran
            .fake
            .requested_rounds
            .last()
            .map(|round| round.spans.quiet);
        assert_eq!(quiet, Some(40_000), "{scenario}");
    }
}

#[test]
fn a_way_up_that_never_ends_in_time_ends_the_trials() {
    let fake = Fake::new(2).with(|_, _, outcome| {
        if outcome.action.sleeps() {
            outcome.returned_at = shifted(outcome.due(), 40_000_000);
        }
    });
    let ran = run(fake, "only=cpu_susp_parallel iterations=4");
    assert_eq!(ran.totals.samples, 0);
    // One trial has a quiet time of 1 ms, and three have the maximum of half a second.
    assert_eq!(ran.fake.rounds, 4);
}

#[test]
fn no_state_is_read_without_statistics_or_after_a_loss() {
    let args = "iterations=2 only=susp_deep_serial,susp_deep_parallel";
    let fake = || Fake::new(4).with_statistics();
    // A lost CPU may be on and keep others powered up.
    let loses = fake().with(losing(3, 0));
    for (fake, is_read) in [(Fake::new(4), false), (fake(), true), (loses, false)] {
        let ran = run(fake, args);
        assert!(ran.cells().all(|cell| cell.reached.is_some() == is_read));
    }
}

#[test]
fn the_round_that_reads_the_state_is_the_first_for_warm_up() {
    for (warmup, reads) in [(0, 1), (1, 0), (2, 0)] {
        let args =
            std::format!("iterations=3 only=susp_deep_serial,susp_deep_parallel warmup={warmup}");
        let rounds = |fake| run(fake, &args).fake.requested_rounds.len();
        // The state is read in three rounds: one with both CPUs, and one with each CPU alone.
        let more = reads * 3;
        let without_statistics = rounds(Fake::new(2));
        assert_eq!(
            rounds(Fake::new(2).with_statistics()),
            without_statistics + more
        );
    }
}

#[test]
fn needs_follow_from_the_plan() {
    let needs_of = |args: &str, cpus| {
        let plan = Plan::parse(args).expect("a plan");
        Needs::compute(&plan, cpus, STATES.len())
    };
    for (args, tallies, buffer) in [
        ("", 0, 0),
        ("only=timer_latency stress=idle timers=all", 4, 0),
        ("only=timer_latency stress=write footprint=16M", 4, 16 << 20),
    ] {
        let needs = needs_of(args, 4);
        assert_eq!((needs.tallies, needs.buffer), (tallies, buffer), "{args}");
    }
    let heap = needs_of("", 8).heap;
    // With a 16 KiB stack, the total stays below 32 KiB per CPU.
    assert!(heap < 8 * (15 << 10), "{heap}");
}

#[test]
fn each_round_reports_the_samples_before_it() {
    let samples = Rc::new(AtomicU64::new(0));
    let counts = Rc::new(RefCell::new(Vec::new()));
    let (word, log) = (Rc::clone(&samples), Rc::clone(&counts));
    let fake = Fake::new(2).with(move |_, _, _| {
        let count = SampleCount::from_word(word.load(Ordering::Relaxed));
        log.borrow_mut().push(count);
    });
    let args = "only=cpu_susp_serial method=warm iterations=2 warmup=0";
    run_counted(fake, args, &STATES, &samples);
    let logged = counts.borrow();
    let kept: Vec<u32> = logged.iter().map(|count| count.kept).collect();
    assert!(
        kept.is_sorted() && kept[0] == 0 && kept.ends_with(&[3]),
        "{kept:?}"
    );
    assert!(
        logged.iter().all(|count| count.requested == 4),
        "{logged:?}"
    );
}
