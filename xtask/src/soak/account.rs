//! What became of every attempt of one run, by the records in its log.
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

use std::collections::BTreeMap;

use psci_bench::output::record::Type;
use psci_bench::plan::ScenarioId;
use psci_bench::verdict::{self, Verdict};

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
    #[must_use]
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

/// What became of the attempts of one run.
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

/// How much of a log's records there is.
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
    #[must_use]
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
        let lost = records.all(Type::Lost).filter_map(|lost| lost.0.get(2));
        let lost: std::collections::BTreeSet<&String> = lost.collect();
        account.lost = lost.len() as u64;
        if let Some(closing) = Closing::of(log) {
            let rows = records.all(Type::Row);
            let rejected = rows.filter_map(|row| number(row.1, "rejected")).sum();
            account.in_no_row = closing.rejected.saturating_sub(rejected);
            account.lost = account.lost.max(closing.lost);
        }
        account
    }

    /// All attempts without a known reason.
    #[must_use]
    pub fn unexplained(&self) -> u64 {
        self.suspends.unexplained + self.others.unexplained + self.in_no_row
    }

    /// Adds one scenario.
    fn test(&mut self, records: &Records, place: &[String], test: &Fields, lead: Option<&str>) {
        let [t, _] = place else { return };
        let scenario = t.parse().ok().and_then(ScenarioId::from_number);
        let Some(scenario) = scenario else { return };
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

    fn calls(&mut self, is_suspend: bool) -> &mut Calls {
        if is_suspend {
            &mut self.suspends
        } else {
            &mut self.others
        }
    }
}

/// How many parts in `rounds` are not in `row`, and should be.
fn missing(row: &Row, shape: Shape, rounds: u64, asked: u64) -> u64 {
    let excused = match shape {
        Shape::Off => row.samples >= asked || row.is_lead && row.made() == 0,
        _ => false,
    };
    if excused || row.is_lost {
        return 0;
    }
    rounds.saturating_sub(row.made())
}

/// How many of the `attempts` on all CPUs together are in none of `rows`.
fn missing_in_all(rows: &[Row], attempts: u64, warmup: u64) -> u64 {
    let made: u64 = rows.iter().map(Row::made).sum();
    let warm = rows.iter().filter(|row| row.made() > 0).count() as u64;
    let missing = attempts.saturating_sub(made + warm * warmup);
    // Who was lost in the warm-up has made some of it, nobody knows how much.
    let lost = rows.iter().filter(|row| row.is_lost && row.made() == 0);
    missing.saturating_sub(lost.count() as u64 * warmup)
}

/// The lead's MPIDR, as records write it.
fn lead(records: &Records) -> Option<&str> {
    let (_, facts) = records.all(Type::Facts).next()?;
    let index = facts.get("lead")?;
    let cpu = records.get(Type::Cpu, std::slice::from_ref(index))?;
    cpu.get("mpidr").map(String::as_str)
}

/// What a last line counts, where it says PASS or FAIL.
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
    #[must_use]
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
            lost: counts.next()??,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::records::tests::log;
    use super::*;

    const HEAD: [&str; 4] = [
        "facts lead=1",
        "plan iterations=5 warmup=2",
        "cpu i=0 mpidr=0x0 cluster=0 core=0",
        "cpu i=1 mpidr=0x1 cluster=0 core=1",
    ];

    fn account(bodies: &[&str]) -> Account {
        let all: Vec<&str> = HEAD.iter().chain(bodies).copied().collect();
        Account::of(&log(&all))
    }

    #[test]
    fn parallel_by_rows() {
        let good = [
            "test t=1 by=tftf asked=5 attempts=8",
            "row t=1 by=tftf mpidr=0x0 valid=5 rejected=1",
            "x t=1 by=tftf mpidr=0x0 early_wake=1",
            "row t=1 by=tftf mpidr=0x1 valid=5 rejected=1",
            "x t=1 by=tftf mpidr=0x1 abandoned=1",
        ];
        let sound = account(&good);
        assert_eq!((sound.suspends.attempts(), sound.unexplained()), (12, 0));
        assert_eq!(sound.suspends.rejected["early-wake"], 1);
        assert_eq!(sound.others, Calls::default());
        assert_eq!(sound.records, Found::All);

        // A reason less, and a round more.
        let mut bad = good;
        bad[2] = "first t=1 by=tftf mpidr=0x0 reason=early-wake";
        assert_eq!(account(&bad).unexplained(), 1);
        bad = good;
        bad[0] = "test t=1 by=tftf asked=5 attempts=9";
        assert_eq!(account(&bad).suspends.unexplained, 2);
        // Who is lost has no part in rounds any more.
        bad[4] = "lost t=1 by=tftf mpidr=0x1 step=finish cause=timeout";
        let lost = account(&bad);
        assert_eq!((lost.lost, lost.suspends.unexplained), (1, 2));
    }

    #[test]
    fn in_sequence_by_all_rows_together() {
        let rows = [
            "row t=2 by=warm mpidr=0x0 valid=5 rejected=1",
            "x t=2 by=warm mpidr=0x0 stale=1",
        ];
        for (attempts, other, unexplained) in [
            (15, "row t=2 by=warm mpidr=0x1 valid=5 rejected=0", 0),
            (16, "row t=2 by=warm mpidr=0x1 valid=5 rejected=0", 1),
            // No trial of it was good.
            (8, "row t=2 by=warm mpidr=0x1 valid=0 rejected=0", 0),
            (9, "row t=2 by=warm mpidr=0x1 valid=0 rejected=0", 1),
        ] {
            let test = format!("test t=2 by=warm asked=5 attempts={attempts}");
            let mut bodies = vec![test.as_str(), other];
            bodies.extend(rows);
            let account = account(&bodies);
            assert_eq!(account.suspends.unexplained, unexplained, "{attempts}");
        }
        // Lost in its first or second warm-up.
        for (attempts, unexplained) in [(9, 0), (10, 0), (11, 1)] {
            let test = format!("test t=2 by=warm asked=5 attempts={attempts}");
            let mut bodies = vec![
                test.as_str(),
                "row t=2 by=warm mpidr=0x1 valid=0 rejected=0",
                "lost t=2 by=warm mpidr=0x1 step=finish cause=timeout",
            ];
            bodies.extend(rows);
            let account = account(&bodies);
            assert_eq!(account.unexplained(), unexplained, "{attempts}");
        }
    }

    #[test]
    fn off_until_a_cpu_has_its_samples() {
        let off = |attempts: u32, lead: &str, other: &str| {
            let test = format!("test t=5 by=tftf asked=5 attempts={attempts}");
            let lead = format!("row t=5 by=tftf mpidr=0x1 {lead}");
            let other = format!("row t=5 by=tftf mpidr=0x0 {other}");
            account(&[&test, &lead, &other])
        };
        // The lead suspends, the other one is turned off.
        let sound = off(8, "valid=5 rejected=0", "valid=5 rejected=0");
        assert_eq!((sound.suspends.samples, sound.others.samples), (5, 5));
        assert_eq!(sound.unexplained(), 0);
        let short = off(8, "valid=5 rejected=0", "valid=4 rejected=0");
        assert_eq!(
            (short.others.unexplained, short.suspends.unexplained),
            (2, 0)
        );
        // There is no state for the lead.
        let without = off(7, "valid=0 rejected=0", "valid=5 rejected=0");
        assert_eq!((without.suspends.attempts(), without.unexplained()), (0, 0));
    }

    #[test]
    fn the_last_line_and_damage() {
        let line = "psci-bench: FAIL (5 passed, 0 skipped, 1 failed; 955 samples, 9 not counted, \
                    2 CPUs lost)\r\n";
        let closing = Closing::of(line.as_bytes());
        let counts = Closing {
            samples: 955,
            rejected: 9,
            lost: 2,
        };
        assert_eq!(closing, Some(counts));
        assert_eq!(Closing::of(b"psci-bench: INCOMPLETE: 1 2 3 4 5 6\n"), None);
        let alone = Account::of(line.as_bytes());
        assert_eq!((alone.unexplained(), alone.lost), (9, 2));
        assert_eq!(alone.records, Found::None);

        // Numbers that nobody has counted.
        let most = u64::MAX;
        let absurd = log(&[
            "facts lead=1",
            &format!("plan iterations=5 warmup={most}"),
            &format!("test t=2 by=tftf asked={most} attempts={most}"),
            &format!("row t=2 by=tftf mpidr=0x0 valid={most} rejected={most}"),
            &format!("x t=2 by=tftf mpidr=0x0 stale={most} early_wake={most}"),
            &format!("row t=2 by=tftf mpidr=0x1 valid={most} rejected=1"),
        ]);
        let counted = Account::of(&absurd);
        assert_eq!((counted.suspends.attempts(), counted.unexplained()), (1, 1));
        let absurd = line.replace("955", &most.to_string());
        assert_eq!(Closing::of(absurd.as_bytes()), None);

        // A row that no copy has: nothing is said of the rounds.
        let text = log(&[
            "plan iterations=5 warmup=2",
            "test t=1 by=tftf asked=5 attempts=9",
            "row t=1 by=tftf mpidr=0x0 valid=5 rejected=0",
            "row t=1 by=tftf mpidr=0x1 valid=5 rejected=0",
        ]);
        let text = String::from_utf8_lossy(&text).replace("mpidr=0x1", "mpidr=0x2");
        let damaged = Account::of(text.as_bytes());
        assert_eq!(damaged.records, Found::Some);
        assert_eq!((damaged.suspends.attempts(), damaged.unexplained()), (5, 0));
    }
}
