//! The account of each attempt of one run, by the records in its log.
//!
//! An attempt is one CPU's part in a round that shall give a sample: trials and
//! warm-ups are no attempts. An attempt is a sample, or has one of the reasons. Other
//! attempts, which are missing in the log, can be found as follows:
//!
//! * Parallel: the number of rounds is known, and each CPU has a part in
//!   each, until it is lost.
//! * In sequence: the number of attempts is known for all CPUs together. A CPU
//!   with attempts has made all its warm-ups.
//! * CPU_OFF: the number of passes is known, and each CPU has a part in each
//!   until it has all its samples; its parts in later passes count nowhere.
//!
//! An attempt that is missing by one of these rules has no known reason.
//!
//! Scenarios outside the suite have points and no rows. The attempts of sweeps are
//! suspends, except for the variant `off`; a point has the number of its lost
//! attempts without their reasons. Other scenarios have no attempts.

use std::collections::{BTreeMap, BTreeSet};

use psci_bench::model::{How, Measure, Scenario, Totals, Variant};
use psci_bench::plan::{Plan, ScenarioId};

use crate::report::log::{LoggedRun, read_bytes};

/// The attempts of one kind of call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    pub(crate) samples: u64,
    /// Attempts that are no sample, by the reason's key.
    pub(crate) rejected: BTreeMap<String, u64>,
    pub(crate) unexplained: u64,
}

impl Calls {
    /// Returns the number of all attempts.
    pub fn attempts(&self) -> u64 {
        self.samples + self.rejected.values().sum::<u64>() + self.unexplained
    }

    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Self) {
        self.samples += other.samples;
        self.unexplained += other.unexplained;
        for (reason, count) in &other.rejected {
            *self.rejected.entry(reason.clone()).or_default() += count;
        }
    }
}

/// The account of the attempts of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// CPU_SUSPENDs.
    pub suspends: Calls,
    /// CPU_OFFs, each with the CPU_ON after it, and PSCI_VERSIONs.
    pub others: Calls,
    /// Attempts that the last line counts as rejected, and no row contains.
    pub in_no_row: u64,
    pub(crate) lost: u64,
    /// The counts of the `end` record, else of the last line; None if the run did
    /// not reach its end.
    pub(crate) totals: Option<Totals>,
    pub(crate) records: Found,
}

/// The part of a run's records that its log contains.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Found {
    All,
    Some,
    #[default]
    None,
}

/// The key for attempts that a sweep lost: records do not have their reasons.
const IN_SWEEPS: &str = "see-sweep";

/// The largest count that is believed, so that sums of counts do not overflow.
const COUNT_MAX: u64 = 1 << 40;

/// Returns true if a run of `plan` attempts CPU_SUSPENDs that are counted.
pub fn has_suspends(plan: &Plan) -> bool {
    let is_suspend = |id: ScenarioId| match id {
        ScenarioId::PsciVersionParallel => false,
        id => id.is_suite() || id.is_sweep(),
    };
    !plan.list && plan.scenarios.iter().any(is_suspend)
}

/// A CPU's step of a sweep.
type Step = (u16, How, Variant, Option<u64>);

/// The shape of a scenario: it decides which attempts can be proved.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Parallel,
    Serial,
    Off,
}

/// One CPU in one scenario.
struct Row {
    is_suspend: bool,
    is_lead: bool,
    is_lost: bool,
    is_skipped: bool,
    samples: u64,
    made: u64,
}

impl Account {
    /// Returns the account of the run that left `log`.
    pub fn of(log: &[u8]) -> Self {
        let runs = read_bytes("log", log).ok();
        let last = runs.and_then(|mut runs| runs.pop());
        last.map_or_else(Self::default, |run| Self::of_run(&run))
    }

    fn of_run(run: &LoggedRun) -> Self {
        let scenarios = &run.run.scenarios;
        let rows = || scenarios.iter().flat_map(|scenario| &scenario.rows);
        let end = run.run.end.as_ref().map(|end| end.totals);
        let closing = run.closing.as_ref();
        let mut account = Self {
            totals: end.or_else(|| closing?.totals()),
            records: match run.integrity.is_whole() {
                true => Found::All,
                false if rows().any(|row| !row.is_from_line()) => Found::Some,
                false => Found::None,
            },
            ..Self::default()
        };
        let mut counted = Totals::default();
        for scenario in scenarios {
            account.add_scenario(run, scenario);
            counted.add(std::slice::from_ref(scenario));
        }
        let lost = rows().filter(|row| row.lost.is_some());
        let lost: BTreeSet<u16> = lost.map(|row| row.cpu).collect();
        account.lost = lost.len() as u64;
        if let Some(totals) = &account.totals {
            account.in_no_row = totals.rejected.saturating_sub(counted.rejected);
            account.lost = account.lost.max(totals.lost.into());
        }
        account
    }

    /// Returns the number of attempts without a known reason.
    pub fn unexplained(&self) -> u64 {
        self.suspends.unexplained + self.others.unexplained + self.in_no_row
    }

    fn add_scenario(&mut self, run: &LoggedRun, scenario: &Scenario) {
        if !scenario.id.is_suite() {
            if scenario.id.is_sweep() {
                self.add_sweep(scenario);
            }
            return;
        }
        let shape = match scenario.id {
            ScenarioId::CpuOffSerial => Shape::Off,
            other if other.is_parallel() => Shape::Parallel,
            _ => Shape::Serial,
        };
        let mut rows = Vec::new();
        for row in scenario.rows.iter().filter(|row| !row.is_from_line()) {
            let is_lead = run.run.lead() == Some(row.cpu.into());
            let is_suspend = match shape {
                Shape::Off => is_lead,
                _ => scenario.id != ScenarioId::PsciVersionParallel,
            };
            let mut calls = Calls {
                samples: row.valid().into(),
                ..Calls::default()
            };
            let reasons = row.attempts.iter().flat_map(|it| &it.rejected);
            for (reason, count) in reasons {
                *calls.rejected.entry(reason.key().to_owned()).or_default() += u64::from(*count);
            }
            self.calls(is_suspend).add(&calls);
            rows.push(Row {
                is_suspend,
                is_lead,
                is_lost: row.lost.is_some(),
                is_skipped: row.skipped.is_some(),
                samples: calls.samples,
                made: calls.attempts(),
            });
        }
        // Nothing follows from the sums of rows if some are missing.
        let is_whole = self.records == Found::All;
        let conditions = scenario.conditions.as_ref().filter(|_| is_whole);
        if let (Some(conditions), Some(plan)) = (conditions, &run.run.plan) {
            let attempts = u64::from(conditions.attempts);
            let warmup = u64::from(plan.warmup);
            match shape {
                Shape::Parallel | Shape::Off => {
                    let rounds = attempts.saturating_sub(warmup);
                    for row in rows {
                        let missing = missing(&row, shape, rounds, conditions.asked.into());
                        self.calls(row.is_suspend).unexplained += missing;
                    }
                }
                Shape::Serial => {
                    self.suspends.unexplained += missing_in_all(&rows, attempts, warmup);
                }
            }
        }
    }

    /// Adds a sweep by its points: a CPU's figures in a step are of the same
    /// attempts.
    fn add_sweep(&mut self, scenario: &Scenario) {
        let mut steps: BTreeMap<Step, (u64, u64)> = BTreeMap::new();
        for point in &scenario.points {
            // These two are counts by the firmware, and no samples.
            if matches!(point.measure, Measure::Count | Measure::Residency) {
                continue;
            }
            let step = (point.cpu, point.how, point.variant, point.x);
            let (samples, lost) = steps.entry(step).or_default();
            *samples = u64::from(point.figures.n).max(*samples);
            *lost = point.lost.min(COUNT_MAX).max(*lost);
        }
        for ((_, _, variant, _), (samples, lost)) in steps {
            let mut calls = Calls {
                samples,
                ..Calls::default()
            };
            if lost > 0 {
                calls.rejected.insert(IN_SWEEPS.to_owned(), lost);
            }
            self.calls(variant != Variant::Off).add(&calls);
        }
    }

    fn calls(&mut self, is_suspend: bool) -> &mut Calls {
        match is_suspend {
            true => &mut self.suspends,
            false => &mut self.others,
        }
    }
}

/// Returns the number of `rounds` for which `row` has no attempt.
fn missing(row: &Row, shape: Shape, rounds: u64, asked: u64) -> u64 {
    let excused = match shape {
        Shape::Off => row.samples >= asked || row.is_lead && row.made == 0,
        _ => false,
    };
    if excused || row.is_lost || row.is_skipped {
        return 0;
    }
    rounds.saturating_sub(row.made)
}

/// Returns the number of `attempts` on all CPUs together that are in no row.
fn missing_in_all(rows: &[Row], attempts: u64, warmup: u64) -> u64 {
    let made: u64 = rows.iter().map(|row| row.made).sum();
    let warm = rows.iter().filter(|row| row.made > 0).count() as u64;
    let missing = attempts.saturating_sub(made + warm * warmup);
    // A CPU that was lost in the warm-up has made an unknown part of it.
    let lost = rows.iter().filter(|row| row.is_lost && row.made == 0);
    missing.saturating_sub(lost.count() as u64 * warmup)
}

#[cfg(test)]
mod tests;
