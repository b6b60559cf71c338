//! What a scenario found: the figures behind every table, line and record.

use super::point::{LEFT_OUT, Point, Spread};
use crate::board::NoFrame;
use crate::measure::{Fault, Loss, METRICS, Metric, Outcome, REASONS, Rejection, Summary};
use crate::plan::{Method, ScenarioId};
use crate::spec::psci;
use crate::spec::stat::Reached;
use crate::spec::words::words;

/// The figures shown for one CPU in the main table, in ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Figures {
    /// PMF powerdown; PMF latency in PSCI_VERSION's scenario.
    pub powerdown: Option<u64>,
    /// PMF wakeup.
    pub wakeup: Option<u64>,
    /// PMF cache flush.
    pub cache_flush: Option<u64>,
}

/// One CPU's results in one scenario.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// Index of the CPU in the board's order.
    pub cpu: u16,
    /// Parallel scenarios: from the round that is shown. Serial: each the
    /// median of its own samples.
    pub figures: Figures,
    /// The sample that stands for this CPU: its part of the round shown, or
    /// the serial sample whose first figure is the median.
    pub shown: Option<Outcome>,
    /// The first sample of all, which no statistic includes.
    pub cold: Option<Outcome>,
    /// Statistics in ticks, by [`Metric`]; n = 0 where there is no sample.
    pub summaries: [Summary; METRICS],
    /// Attempts that did not count, by [`crate::measure::Reason`]. Trial and
    /// warm-up rounds are not among them.
    pub rejected: [u32; REASONS],
    /// The first of them.
    pub first_rejection: Option<Rejection>,
    /// Whether the scenario is to give samples of this CPU at all; a skipped
    /// row's value is ignored.
    pub expected: bool,
    /// The CPU, by index, that stayed awake and woke this one; None where a timer
    /// did.
    pub helper: Option<u16>,
    /// Why the row is skipped: it then has no samples, and lacks none.
    pub skipped: Option<Skip>,
    /// Samples that count.
    pub valid: u32,
    /// When and why the CPU was lost, if it was.
    pub lost: Option<Loss>,
    /// Whether no trial of this CPU was good, so that it has no samples.
    pub given_up: bool,
    /// What PSCI_STAT says of a suspend of its own, where there is one.
    pub reached: Option<Reached>,
}

impl Default for Row {
    fn default() -> Self {
        Self::new(0)
    }
}

impl Row {
    /// The row of a CPU, by its index, of which nothing is known yet.
    #[must_use]
    pub fn new(cpu: u16) -> Self {
        Self {
            cpu,
            figures: Figures::default(),
            shown: None,
            cold: None,
            // Not derived: that would build each of them by itself.
            summaries: [Summary::default(); METRICS],
            rejected: [0; REASONS],
            first_rejection: None,
            expected: false,
            helper: None,
            skipped: None,
            valid: 0,
            lost: None,
            given_up: false,
            reached: None,
        }
    }

    /// The statistics of one metric, when there is a sample.
    #[must_use]
    pub fn summary(&self, metric: Metric) -> Option<&Summary> {
        Some(&self.summaries[metric as usize]).filter(|s| s.n > 0)
    }

    /// Whether the scenario lacks samples where this row has none.
    #[must_use]
    pub fn needs_samples(&self) -> bool {
        self.expected && self.skipped.is_none()
    }

    /// Attempts that did not count.
    #[must_use]
    pub fn rejected_total(&self) -> u32 {
        self.rejected.iter().sum()
    }
}

/// Why a scenario, or one CPU's row of it, was not run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Skip {
    /// The board names no idle state of the kind, and the user none either.
    NoIdleState,
    /// The firmware takes power_state values of this format, and all power-down
    /// states of the board have the other one.
    OtherFormat(psci::StateFormat),
    /// The firmware does not implement the function.
    NotSupported(u32),
    /// The state stops the per-CPU timers, and there is no other wake source,
    /// for this reason.
    TimerStops(NoFrame),
    /// The state stops the per-CPU timers, and no trial of it was good.
    NotTried {
        /// The CPU of the trial.
        mpidr: u64,
        /// The value that was asked for.
        power_state: u32,
    },
    /// The state stops the per-CPU timers, and there is no second CPU to wake
    /// the first.
    NoHelper,
    /// There is no GIC, so that no interrupt wakes a suspended CPU.
    NoGic,
    /// There is no GIC, and so no timer's interrupt.
    NoInterrupts,
    /// DC ZVA is prohibited, and nothing else was asked for.
    NoZero,
    /// There is no GIC, and so no SGI.
    NoSgi,
    /// There is no performance monitors unit.
    NoPmu,
    /// PMF's timestamps can not be read.
    NoPmf,
    /// There is one CPU only.
    OneCpu,
    /// How large the caches are is not known, and no `dirty=` was given.
    NoCacheSize,
    /// There are fewer CPUs than any step of `contend=` takes.
    TooFewCpus,
    /// SET_SUSPEND_MODE is advertised, and returns this error.
    ModeRefused(psci::ReturnCode),
    /// The state stops the per-CPU timers, and an SGI ended no suspend to it
    /// in the trial.
    SgiDidNotWake {
        /// The CPU of the trial.
        mpidr: u64,
        /// The value that was asked for.
        power_state: u32,
    },
}

/// Why a scenario failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// Fewer than 90 % of the samples asked for are valid on some CPU.
    TooFewSamples {
        /// The CPU with the fewest, by index.
        cpu: u16,
        /// How many it has.
        valid: u32,
        /// How many were asked for.
        asked: u32,
    },
    /// The firmware refuses the `power_state`.
    StateRefused {
        /// The value that was asked for.
        power_state: u32,
        /// The firmware's answer.
        error: psci::ReturnCode,
        /// The CPU that got it, by index.
        cpu: u16,
    },
    /// A CPU was lost.
    CpuLost {
        /// The CPU, by index.
        cpu: u16,
        /// Where and why.
        loss: Loss,
    },
    /// In no trial round did all CPUs go down before the first wake-up.
    NotCalibrated {
        /// The longest sleep that was tried, in ticks.
        sleep: u64,
        /// What was wrong with the last trial.
        last: Rejection,
        /// The CPU it was wrong on, by index.
        cpu: u16,
    },
    /// A look at a timer ended before its time.
    Timer {
        /// The CPU, by index.
        cpu: u16,
        /// Why.
        fault: Fault,
    },
    /// A loop was given up before its end: what it waits for did not come.
    GaveUp {
        /// Which, by its variant's name.
        variant: &'static str,
        /// The CPU that it was on, by index.
        cpu: u16,
    },
    /// The firmware does not leave OS-initiated mode.
    ModeStuck(psci::ReturnCode),
    /// A call did not come back with what it has to.
    WrongAnswer {
        /// Which, by its variant's name.
        variant: &'static str,
        /// The low word of X0.
        answer: i32,
        /// The CPU that got it, by index.
        cpu: u16,
    },
}

/// How a scenario ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Measured, with enough valid samples on every CPU.
    Passed,
    /// Not run.
    Skipped(Skip),
    /// Run, and not good enough.
    Failed(Failure),
}

words! {
    /// What wakes the CPUs of a scenario.
    #[derive(Default)]
    pub enum WakeSource, word {
        /// Each CPU's own timer.
        #[default]
        OwnTimers = "timer",
        /// The timer frame wakes the lead, and the lead the others by SGI.
        Frame = "frame",
        /// A CPU that stays awake wakes the others by SGI.
        Helper = "helper",
    }
}

/// The status of a scenario over all placements of its helper.
#[must_use]
pub fn status(group: &[TestReport<'_>]) -> Status {
    let mut all = group.iter().map(|test| test.status);
    let failed = all
        .clone()
        .find(|status| matches!(status, Status::Failed(_)));
    failed.or(all.next()).unwrap_or(Status::Passed)
}

/// The row that stands for a CPU: of the first placement whose helper is in
/// another cluster, else in another core. The cluster of a CPU is told by its
/// index.
#[must_use]
pub fn row_of<'g, 'r>(
    group: &'g [TestReport<'r>],
    cpu: u16,
    cluster: &dyn Fn(u16) -> u16,
) -> Option<(&'g TestReport<'r>, &'r Row)> {
    let rows = group.iter().filter_map(|test| {
        let row = test.rows.iter().find(|row| row.cpu == cpu)?;
        (test.helper != Some(cpu)).then_some((test, row))
    });
    let far = |test: &TestReport<'_>| test.helper.is_none_or(|it| cluster(it) != cluster(cpu));
    rows.clone()
        .find(|(test, _)| far(test))
        .or(rows.clone().next())
}

/// One scenario's results.
#[derive(Clone, Copy, Debug)]
pub struct TestReport<'r> {
    /// Which scenario.
    pub scenario: ScenarioId,
    /// By which method.
    pub method: Method,
    /// How it ended.
    pub status: Status,
    /// Whether PMF's timestamps were used; otherwise only the caller's view.
    pub pmf: bool,
    /// The `power_state` that was asked for, in suspend scenarios.
    pub power_state: Option<u32>,
    /// What woke the CPUs from it.
    pub wake_source: WakeSource,
    /// Parallel scenarios: the CPU that stayed awake for the others, by index.
    pub helper: Option<u16>,
    /// Samples asked for on each CPU.
    pub asked: u32,
    /// Attempts made: parallel rounds, or serial attempts on all CPUs.
    pub attempts: u32,
    /// Ticks from start to first wake-up, as calibrated; 0 without a suspend.
    pub sleep: u64,
    /// Rounds apart from the attempts: to find how long to sleep, and to see
    /// which state is reached.
    pub trials: u32,
    /// Parallel: ticks between the first and the last CPU's call, over the
    /// rounds that count.
    pub skew: Summary,
    /// One row for each CPU, in the board's order; empty when skipped, and
    /// outside TFTF's suite.
    pub rows: &'r [Row],
    /// What was found outside TFTF's suite.
    pub points: &'r [Point],
    /// Why a part of the scenario was left out: states, and OS-initiated mode.
    pub left_out: [Option<Skip>; 2],
    /// Batches of the shortest warm-up, where the time cut one short.
    pub warmed: Option<u32>,
    /// What did not count for a point, by reason.
    pub rejected: [u32; REASONS],
    /// How some of that is spread.
    pub histograms: &'r [Spread],
    /// Every sample, where the plan asks for them: for each place in time, one
    /// for each CPU, of which the first [`Row::valid`] count.
    pub samples: &'r [Outcome],
}

/// Tests by result, as the TFTF frame and the closing line count them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Scenarios measured well.
    pub passed: u32,
    /// Scenarios not run.
    pub skipped: u32,
    /// Scenarios that failed.
    pub failed: u32,
    /// Of those that passed, the ones measured from the caller's side only.
    pub caller_side: u32,
    /// Samples that count, over all CPUs and scenarios.
    pub samples: u64,
    /// Attempts that do not.
    pub rejected: u64,
    /// Rows skipped, and steps and states left out, of scenarios that were not.
    pub rows_skipped: u64,
    /// CPUs lost.
    pub lost: u32,
}

impl Totals {
    /// Adds one scenario, by each placement of its helper.
    pub fn add(&mut self, group: &[TestReport<'_>]) {
        let status = status(group);
        match status {
            Status::Passed => self.passed += 1,
            Status::Skipped(_) => self.skipped += 1,
            Status::Failed(_) => self.failed += 1,
        }
        if status == Status::Passed && group.iter().any(|test| !test.pmf) {
            self.caller_side += 1;
        }
        group.iter().for_each(|test| self.add_samples(test));
    }

    fn add_samples(&mut self, test: &TestReport<'_>) {
        for row in test.rows {
            self.samples += u64::from(row.valid);
            self.rejected += u64::from(row.rejected_total());
            self.rows_skipped += u64::from(row.skipped.is_some());
        }
        if !matches!(test.status, Status::Skipped(_)) {
            let left_out = test.points.iter().filter(|it| it.variant == LEFT_OUT);
            self.rows_skipped += left_out.count() as u64;
        }
        // Other figures of the same samples do not make more of them.
        let mut of = None;
        for point in test.points {
            if *of.get_or_insert(point.measure) == point.measure {
                self.samples += u64::from(point.figures.n);
                self.rejected += point.lost;
            }
        }
        // A CPU that was lost stays lost: each scenario says so again.
        let lost = test.rows.iter().filter(|row| row.lost.is_some());
        let lost = (lost.count() as u32).max(match test.status {
            Status::Failed(Failure::CpuLost { .. }) => 1,
            _ => 0,
        });
        self.lost = self.lost.max(lost);
    }
}
