//! The account of every attempt of one run, by the records in its log.
//!
//! An attempt is one CPU's part in a round of a scenario that is to give
//! samples: trials and warm-ups are none. It counts as a sample, or is under
//! one of the reasons. Whether there are others can be proved in this far:
//!
//! * Every scenario: a row says how many attempts it has refused, and that
//!   has to be the sum of its reasons.
//! * Parallel: the number of rounds is known, and each CPU has a part in
//!   each, until it is lost.
//! * In sequence: the number of attempts is known for all CPUs together, and
//!   each CPU that has any has made all its warm-ups before.
//! * CPU_OFF: the number of passes is known, and each CPU has a part in each
//!   until it has all its samples; what it does in later ones counts nowhere.
//!
//! An attempt that is missing by one of these has no known reason.
//!
//! Scenarios outside the suite have points and no rows. Those of sweeps are
//! suspends, but for the variant `off`, and their records say how many
//! attempts a point has lost, and not by which reason. The others are no
//! attempts: a loop, or a look at a timer.

use std::collections::BTreeMap;

use psci_bench::model as verdict;
use psci_bench::model::{Measure, Verdict};
use psci_bench::plan::{Plan, ScenarioId};
use psci_bench::record::line::Type;

use super::records::{Fields, Records, count, number};

/// The attempts of one kind of call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Calls {
    /// Samples that count.
    pub samples: u64,
    /// Attempts that do not, by the reason's key.
    pub rejected: BTreeMap<String, u64>,
    /// Attempts that are neither.
    pub unexplained: u64,
}

impl Calls {
    /// All attempts.
    pub fn attempts(&self) -> u64 {
        self.samples + self.rejected.values().sum::<u64>() + self.unexplained
    }

    /// Adds those of `other`.
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
    /// CPU_OFFs with the CPU_ON behind each, and PSCI_VERSIONs.
    pub others: Calls,
    /// Attempts that do not count by the last line, and are in no row.
    pub in_no_row: u64,
    /// CPUs lost.
    pub lost: u64,
    /// Which of the log's records are there.
    pub records: Found,
}

/// The completeness of a log's records.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Found {
    /// Every one.
    All,
    /// Some are in neither copy.
    Some,
    /// None: the run ended before them.
    #[default]
    None,
}

/// The word for the reasons of a sweep, which its table alone has.
const IN_SWEEPS: &str = "see-sweep";

/// Returns true if a run of `plan` attempts CPU_SUSPENDs that are counted.
pub fn has_suspends(plan: &Plan) -> bool {
    let is_suspend = |id: ScenarioId| match id {
        ScenarioId::PsciVersionParallel => false,
        id => id.is_suite() || id.is_sweep(),
    };
    !plan.list && plan.scenarios.iter().any(is_suspend)
}

/// The shape of a scenario, which decides what can be proved.
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
    /// By the row itself, or by its reasons, whichever is more.
    rejected: u64,
}

impl Row {
    fn made(&self) -> u64 {
        self.samples + self.rejected
    }
}

impl Account {
    /// The account of the run that left `log`.
    pub fn of(log: &[u8]) -> Self {
        let records = Records::of(log);
        let mut account = Self {
            records: match (records.whole, records.all(Type::Row).next()) {
                (true, _) => Found::All,
                (false, Some(_)) => Found::Some,
                (false, None) => Found::None,
            },
            ..Self::default()
        };
        let lead = lead(&records);
        for (place, test) in records.all(Type::Test) {
            account.test(&records, place, test, lead);
        }
        let lost = records.all(Type::Lost).filter_map(|lost| lost.0.get(3));
        let lost: std::collections::BTreeSet<&String> = lost.collect();
        account.lost = lost.len() as u64;
        if let Some(closing) = Closing::of(log) {
            let rows = records.all(Type::Row);
            let rejected: u64 = rows.filter_map(|row| number(row.1, "rejected")).sum();
            let rejected = rejected.saturating_add(lost_in_points(&records));
            account.in_no_row = closing.rejected.saturating_sub(rejected);
            account.lost = account.lost.max(closing.lost);
        }
        account
    }

    /// All attempts without a known reason.
    pub fn unexplained(&self) -> u64 {
        self.suspends.unexplained + self.others.unexplained + self.in_no_row
    }

    /// Adds one scenario.
    fn test(&mut self, records: &Records, place: &[String], test: &Fields, lead: Option<&str>) {
        let [t, ..] = place else { return };
        let scenario = t.parse().ok().and_then(ScenarioId::from_number);
        let Some(scenario) = scenario else { return };
        if !scenario.is_suite() {
            if scenario.is_sweep() {
                self.sweep(records, t);
            }
            return;
        }
        let shape = match scenario {
            ScenarioId::CpuOffSerial => Shape::Off,
            other if other.is_parallel() => Shape::Parallel,
            _ => Shape::Serial,
        };
        let mut rows = Vec::new();
        for (key, fields) in records.within(Type::Row, place) {
            let is_lead = key.last().map(String::as_str) == lead;
            let is_suspend = match shape {
                Shape::Off => is_lead,
                _ => scenario != ScenarioId::PsciVersionParallel,
            };
            let mut calls = Calls {
                samples: number(fields, "valid").unwrap_or(0),
                ..Calls::default()
            };
            for (reason, digits) in records.get(Type::Rejected, key).into_iter().flatten() {
                let count = count(digits).unwrap_or(0);
                calls.rejected.insert(reason.replace('_', "-"), count);
            }
            let reasons = calls.rejected.values().sum();
            let rejected = number(fields, "rejected").unwrap_or(0).max(reasons);
            calls.unexplained = rejected - reasons;
            self.calls(is_suspend).add(&calls);
            rows.push(Row {
                is_suspend,
                is_lead,
                is_lost: records.get(Type::Lost, key).is_some(),
                is_skipped: fields.contains_key("skipped"),
                samples: calls.samples,
                rejected,
            });
        }
        // Where rows are missing, nothing follows from their sums.
        let plan = records.all(Type::Plan).next();
        let warmup = plan.and_then(|plan| number(plan.1, "warmup"));
        let counts = (number(test, "attempts"), number(test, "asked"), warmup);
        if let (true, (Some(attempts), Some(asked), Some(warmup))) = (records.whole, counts) {
            match shape {
                Shape::Parallel | Shape::Off => {
                    let rounds = attempts.saturating_sub(warmup);
                    for row in rows {
                        let missing = missing(&row, shape, rounds, asked);
                        self.calls(row.is_suspend).unexplained += missing;
                    }
                }
                Shape::Serial => {
                    self.suspends.unexplained += missing_in_all(&rows, attempts, warmup);
                }
            }
        }
    }

    /// Adds the sweep with the number `t`, by its points: a CPU's figures in a
    /// step are of the same attempts.
    fn sweep(&mut self, records: &Records, t: &String) {
        let mut steps: BTreeMap<&[String], (u64, u64)> = BTreeMap::new();
        for (place, fields) in records.within(Type::Point, std::slice::from_ref(t)) {
            // What the firmware counts is no sample.
            let Some((metric, step)) = place.split_last() else {
                continue;
            };
            let of = |measure: Measure| metric == measure.key();
            if of(Measure::Count) || of(Measure::Residency) {
                continue;
            }
            let (samples, lost) = steps.entry(step).or_default();
            *samples = number(fields, "n").unwrap_or(0).max(*samples);
            *lost = number(fields, "lost").unwrap_or(0).max(*lost);
        }
        for (step, (samples, lost)) in steps {
            let is_suspend = step.get(3).is_none_or(|variant| variant != "off");
            let mut calls = Calls {
                samples,
                ..Calls::default()
            };
            if lost > 0 {
                calls.rejected.insert(IN_SWEEPS.to_owned(), lost);
            }
            self.calls(is_suspend).add(&calls);
        }
    }

    fn calls(&mut self, is_suspend: bool) -> &mut Calls {
        if is_suspend {
            &mut self.suspends
        } else {
            &mut self.others
        }
    }
}

/// Returns the number of parts in `rounds` that are missing in `row`.
fn missing(row: &Row, shape: Shape, rounds: u64, asked: u64) -> u64 {
    let excused = match shape {
        Shape::Off => row.samples >= asked || row.is_lead && row.made() == 0,
        _ => false,
    };
    if excused || row.is_lost || row.is_skipped {
        return 0;
    }
    rounds.saturating_sub(row.made())
}

/// Returns the number of `attempts` on all CPUs that are in none of `rows`.
fn missing_in_all(rows: &[Row], attempts: u64, warmup: u64) -> u64 {
    let made: u64 = rows.iter().map(Row::made).sum();
    let warm = rows.iter().filter(|row| row.made() > 0).count() as u64;
    let missing = attempts.saturating_sub(made + warm * warmup);
    // A CPU lost in the warm-up has made an unknown part of it.
    let lost = rows.iter().filter(|row| row.is_lost && row.made() == 0);
    missing.saturating_sub(lost.count() as u64 * warmup)
}

/// Returns the losses of points, as the last line counts them: other figures of the same
/// samples do not make more of them, and a scenario's first one counts.
fn lost_in_points(records: &Records) -> u64 {
    let mut scenarios: BTreeMap<&String, (usize, u64)> = BTreeMap::new();
    for (place, fields) in records.all(Type::Point) {
        let (Some(t), Some(metric)) = (place.first(), place.last()) else {
            continue;
        };
        let rank = Measure::ALL.iter().position(|it| it.key() == metric);
        let rank = rank.unwrap_or(usize::MAX);
        let own = scenarios.entry(t).or_insert((rank, 0));
        if rank < own.0 {
            *own = (rank, 0);
        }
        if rank == own.0 {
            own.1 = own.1.saturating_add(number(fields, "lost").unwrap_or(0));
        }
    }
    scenarios
        .values()
        .fold(0, |sum, own| sum.saturating_add(own.1))
}

/// The lead's MPIDR, as records write it.
fn lead(records: &Records) -> Option<&str> {
    let (_, facts) = records.all(Type::Facts).next()?;
    let index = facts.get("lead")?;
    let cpu = records.get(Type::Cpu, std::slice::from_ref(index))?;
    cpu.get("mpidr").map(String::as_str)
}

/// The counts of a last line with PASS or FAIL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Closing {
    /// Samples that count.
    pub samples: u64,
    /// Attempts that do not.
    pub rejected: u64,
    /// CPUs lost.
    pub lost: u64,
}

impl Closing {
    /// The counts of the last last line in `log`.
    pub fn of(log: &[u8]) -> Option<Self> {
        let mut lines = log.split(|byte| *byte == b'\n').rev();
        let line = lines.find(|line| {
            let verdict = verdict::parse_line(line);
            matches!(verdict, Some(Verdict::Pass | Verdict::Fail))
        })?;
        let counts = line.split(|byte| !byte.is_ascii_digit());
        let mut counts = counts
            .filter(|digits| !digits.is_empty())
            .map(|digits| count(std::str::from_utf8(digits).ok()?))
            .skip(3);
        Some(Self {
            samples: counts.next()??,
            rejected: counts.next()??,
            // Lines of version 0.1.0 have no number of rows skipped before it.
            lost: counts.last()??,
        })
    }
}

#[cfg(test)]
mod tests;
