//! What figures show, in findings: data first, a sentence of it second.
//!
//! ```text
//! last_man ─ who was last down in each cluster, and what his flush cost
//! queue ──── the lock queue's step, and how well a straight line fits
//! wakeups ── which wake-ups waited for others
//! counts ─── what was left out, and which CPUs were lost
//! figures ── the tick against the figure; outliers
//! points ─── net of the loop; contention and dirty lines as straight lines
//! ```
//!
//! The words are those of the payload's own findings (`src/output/findings`).
//! What needs instants is never guessed from the size of a figure: a table of
//! figures alone has a finding that says what can not be told of it.

use std::fmt;

use psci_bench::measure::Metric;
use psci_bench::plan::{Method, ScenarioId};

use crate::report::model::{Run, Term, Test, heading};

/// Something that figures show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// Which kind it is.
    pub kind: Kind,
    /// What is to be said, as one or more sentences.
    pub sentence: String,
    /// The rows that it rests on.
    pub basis: Vec<Basis>,
    /// How it is known.
    pub confidence: Confidence,
}

/// Kinds of finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Who was the last man down in a cluster, and what his flush cost.
    LastMan,
    /// Whether CPUs that go down together wait for each other.
    LockQueue,
    /// Which wake-ups took far longer than others.
    Waited,
    /// Figures of so few ticks that the tick shows.
    Resolution,
    /// Attempts that do not count.
    NotCounted,
    /// CPUs that were lost.
    Lost,
    /// Samples far from the others of their row.
    Outlier,
    /// What the input does not tell.
    NotTold,
    /// What an operation costs without the loop round it.
    Net,
    /// How powerdown grows with the CPUs that go down together.
    Contention,
    /// How the flush grows with what is dirty.
    DirtyFlush,
    /// Comparing: the same figures on other CPUs.
    Reordered,
    /// Comparing: figures that moved together.
    Changed,
    /// Comparing: nothing moved beyond the tolerance.
    Unchanged,
    /// Comparing: who flushes a cluster-size cache.
    FlushOfCluster,
    /// Comparing: how the two sides differ besides figures.
    Conditions,
}

impl Kind {
    /// The word that stands for it in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::LastMan => "last-man",
            Self::LockQueue => "lock-queue",
            Self::Waited => "waited",
            Self::Resolution => "resolution",
            Self::NotCounted => "not-counted",
            Self::Lost => "lost",
            Self::Outlier => "outlier",
            Self::NotTold => "not-told",
            Self::Net => "net",
            Self::Contention => "contention",
            Self::DirtyFlush => "dirty-flush",
            Self::Reordered => "reordered",
            Self::Changed => "changed",
            Self::Unchanged => "unchanged",
            Self::FlushOfCluster => "flush-of-cluster",
            Self::Conditions => "conditions",
        }
    }
}

/// How a finding is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confidence {
    /// By the order of timestamps.
    Stamps,
    /// By counts that records have.
    Counts,
    /// By what lines without a checksum say.
    Lines,
    /// By a straight line.
    Fit(Fit),
    /// By figures alone.
    Figures,
    /// By figures whose intervals do not overlap.
    Intervals,
    /// It can not be told.
    Unknown,
}

/// How well a straight line fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fit {
    /// Number of points.
    pub n: u32,
    /// Coefficient of determination, in percent, rounded down.
    pub r2_percent: u8,
    /// The greatest distance of a point from the line, in nanoseconds, where
    /// the clock is known.
    pub residual_ns: Option<u64>,
    /// Whether the order of the points is that of timestamps. Else, of a lock
    /// queue, it is that of the figures themselves, which makes any line fit
    /// better; and of points that of what was varied.
    pub by_stamps: bool,
}

impl Confidence {
    /// The word that stands for it in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Stamps => "stamps",
            Self::Counts => "counts",
            Self::Lines => "lines",
            Self::Fit(_) => "fit",
            Self::Figures => "figures",
            Self::Intervals => "intervals",
            Self::Unknown => "unknown",
        }
    }
}

/// A row that a finding rests on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Basis {
    /// Whose it is.
    pub side: Side,
    /// The scenario.
    pub scenario: Term<ScenarioId>,
    /// By which method.
    pub method: Term<Method>,
    /// Whether its figures are from a line without a checksum.
    pub doubtful: bool,
    /// Index into that side's CPUs.
    pub cpu: usize,
    /// The CPU's name, such as `1.3`.
    pub label: String,
    /// Which figure of it; None where it is not one figure.
    pub metric: Option<Term<Metric>>,
}

/// Whose a row is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The run's.
    Run,
    /// The baseline's.
    Baseline,
}

impl Side {
    /// The word that stands for it in JSON.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Baseline => "baseline",
        }
    }
}

impl Finding {
    /// The rows, in words: `Powerdown, Wakeup in SCENARIO: CPU 0.0, 0.1` for
    /// each scenario. Of more than a few CPUs their number, the first and the
    /// last.
    #[must_use]
    pub fn rows(&self) -> String {
        let mut parts: Vec<Part<'_>> = Vec::new();
        for basis in &self.basis {
            let metric = basis.metric.as_ref().map_or("all figures", heading);
            let by = match basis.method.is(Method::Tftf) {
                true => String::new(),
                false => format!(", method {}", basis.method),
            };
            let place = format!("{}{by}", basis.scenario.word());
            let is_same = |it: &Part<'_>| it.place == place && it.metrics == [metric];
            let at = parts.iter().position(is_same).unwrap_or_else(|| {
                parts.push(Part {
                    place,
                    metrics: vec![metric],
                    sides: [Vec::new(), Vec::new()],
                });
                parts.len() - 1
            });
            let side = usize::from(basis.side == Side::Baseline);
            parts[at].sides[side].push((basis.cpu, &basis.label));
        }
        // What rests on the same rows is told at once.
        let mut told: Vec<Part<'_>> = Vec::new();
        for part in parts {
            let is_same = |it: &&mut Part<'_>| (&it.place, &it.sides) == (&part.place, &part.sides);
            match told.iter_mut().find(is_same) {
                Some(same) => same.metrics.extend(part.metrics),
                None => told.push(part),
            }
        }
        let each: Vec<String> = told.iter().map(ToString::to_string).collect();
        each.join("; ")
    }
}

/// Figures of one scenario that a finding rests on.
struct Part<'f> {
    /// The scenario, and the method where it is not TFTF's.
    place: String,
    metrics: Vec<&'f str>,
    /// The CPUs of the run and of the baseline, each with its name.
    sides: [Vec<(usize, &'f str)>; 2],
}

impl fmt::Display for Part<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        /// The most CPUs that are named one by one.
        const NAMED_MAX: usize = 8;
        let sorted = |cpus: &[(usize, &str)]| {
            let mut labels: Vec<String> = cpus.iter().map(|it| it.1.to_owned()).collect();
            labels.sort_unstable();
            labels
        };
        let what = format!("{} in {}", self.metrics.join(", "), self.place);
        let [run, baseline] = &self.sides;
        let sides: &[(&str, &Vec<(usize, &str)>)] = if sorted(run) == sorted(baseline) {
            &[(" on both sides", run)]
        } else {
            &[("", run), (" in the baseline", baseline)]
        };
        let mut mark = "";
        for (whose, cpus) in sides.iter().filter(|it| !it.1.is_empty()) {
            write!(f, "{mark}{what}{whose}: ")?;
            mark = "; ";
            let ends = (cpus.iter().min(), cpus.iter().max());
            match ends {
                (Some(first), Some(last)) if cpus.len() > NAMED_MAX => {
                    write!(f, "{} CPUs, {} to {}", cpus.len(), first.1, last.1)?;
                }
                _ => {
                    let labels: Vec<&str> = cpus.iter().map(|it| it.1).collect();
                    write!(f, "CPU {}", labels.join(", "))?;
                }
            }
        }
        Ok(())
    }
}

impl Finding {
    /// The finding, with a word on the rows that it rests on and that are not
    /// verified. Where there are no records at all, which `has_records` tells
    /// of a side, that is said of the whole.
    pub(crate) fn with_doubts(mut self, has_records: impl Fn(Side) -> bool) -> Self {
        let mut labels: Vec<String> = Vec::new();
        for basis in self
            .basis
            .iter()
            .filter(|it| it.doubtful && has_records(it.side))
        {
            let label = match basis.side {
                Side::Run => format!("CPU {}", basis.label),
                Side::Baseline => format!("the baseline's CPU {}", basis.label),
            };
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
        if !labels.is_empty() {
            self.sentence.push_str(&format!(
                " Not verified, as it rests on a line without a checksum of {}.",
                labels.join(", ")
            ));
        }
        self
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.sentence)
    }
}

/// What `test` of `run` shows by itself.
#[must_use]
pub fn explain(run: &Run, test: &Test) -> Vec<Finding> {
    let each = [
        super::last_man::last_man,
        super::queue::queue,
        super::wakeups::waited,
        super::figures::resolution,
        super::figures::outliers,
        super::counts::not_counted,
        super::counts::lost,
        super::points::net,
        super::points::contention,
        super::points::dirty,
    ];
    let has_records = run.integrity.records.is_some();
    let all = each.iter().flat_map(|find| find(run, test));
    all.map(|it| it.with_doubts(|_| has_records)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::log::read_bytes;

    const QEMU: &[u8] = include_bytes!("../../../../tests/data/report/qemu-4cpu.log");

    const FACTS: &[u8] = include_bytes!("../../../../tests/data/report/qemu-facts.log");

    fn run() -> Run {
        read_bytes("a.log", QEMU).expect("a run").runs.remove(0)
    }

    fn facts() -> Run {
        read_bytes("a.log", FACTS).expect("a run").runs.remove(0)
    }

    #[test]
    fn what_the_payload_says_is_said_in_its_words() {
        let mut told = 0;
        // The first log is of a payload that counted a last man's flush as a step.
        let mut lasts = [("49.14", "0.0", "0.1, 0.2, 0.3, 0.0")].into_iter();
        for (run, test) in [&run(), &facts()]
            .iter()
            .flat_map(|it| it.tests.iter().map(move |test| (it, test)))
        {
            let ours = explain(run, test);
            for own in &test.findings {
                // What is added comes behind the payload's sentence.
                let same = |it: &&Finding| it.sentence.starts_with(own.as_str());
                if ours.iter().any(|it| same(&it)) {
                    told += 1;
                } else if own.starts_with("Lock queue") {
                    let ours = ours.iter().find(|it| it.kind == Kind::LockQueue);
                    let ours = ours.map(|it| it.sentence.as_str()).unwrap_or_default();
                    let (step, last, order) = lasts.next().expect("a log for each");
                    assert_eq!(
                        ours,
                        format!(
                            "Lock queue: powerdown grows by {step} us with each place in the \
                             order of ENTER_HW_LOW_PWR (4 CPUs, R2 99 %), without the longer \
                             cache flush of CPU {last}, which those behind wait for. They go \
                             down one after another; no figure is farther from the line than \
                             1.74 us. In this order: CPU {order}."
                        )
                    );
                } else {
                    assert!(
                        own.starts_with("Reached, by PSCI_STAT_COUNT: "),
                        "{own}\n{ours:#?}"
                    );
                }
            }
        }
        assert_eq!(told, 1 + 3);
    }

    #[test]
    fn the_tick_is_told_in_its_words() {
        let payload =
            include_str!("../../../../../src/output/tests/expected/psci_version_parallel.txt");
        let own = payload
            .lines()
            .find_map(|line| line.strip_prefix("* Resolution: "));
        let mut run = run();
        let test = run.tests.last_mut().expect("PSCI_VERSION");
        for (place, row) in test.rows.iter_mut().enumerate() {
            row.figures[0].1 = 3 + place as u64 % 3;
        }
        let test = run.tests.last().expect("PSCI_VERSION");
        let ours = explain(&run, test)
            .into_iter()
            .find(|it| it.kind == Kind::Resolution);
        let ours = ours.expect("few ticks").sentence;
        assert!(
            ours.starts_with(&format!("Resolution: {}", own.expect("it has one"))),
            "{ours}"
        );
        assert!(
            ours.ends_with("only many in a row tell what one costs."),
            "{ours}"
        );
    }

    #[test]
    fn who_was_last_and_what_it_cost() {
        let run = run();
        let deep = run.tests.first().expect("it is there");
        let last = explain(&run, deep)
            .into_iter()
            .find(|it| it.kind == Kind::LastMan);
        let last = last.expect("there are timestamps");
        assert_eq!(last.confidence, Confidence::Stamps);
        assert_eq!(
            last.sentence,
            "Last man down in cluster 0, by ENTER_HW_LOW_PWR: CPU 0.0, cache flush 2133.81 us; \
             the others' 35.18 us. It cost him 2098.62 us more than their median. Of 2 rounds: \
             CPU 0.0 in 2."
        );
        assert_eq!(
            last.rows(),
            "Cache Flush in test_rt_instr_susp_deep_parallel: CPU 0.0, 0.1, 0.2, 0.3"
        );

        // Without one CPU's instants it may be that one.
        let mut lossy = run.clone();
        lossy.tests[0].rows[2].event = None;
        let told = explain(&lossy, &lossy.tests[0]);
        assert!(told.iter().all(|it| it.kind != Kind::LastMan), "{told:#?}");
        assert!(told.iter().any(|it| {
            it.sentence
                .contains("CPU 0.2 in cluster 0 has no timestamps")
        }));

        let serial = explain(&run, &run.tests[1]);
        let reached = serial
            .iter()
            .find(|it| it.kind == Kind::LastMan)
            .expect("PSCI_STAT");
        assert_eq!(reached.confidence, Confidence::Counts);
        assert!(
            reached
                .sentence
                .contains("CPU 0.0 reached 0x02010222, cache flush 2133.81 us")
        );
    }

    #[test]
    fn outliers_are_far_and_counted() {
        let mut run = run();
        let test = &mut run.tests[3];
        assert!(!test.is_parallel());
        let row = &mut test.rows[1];
        let mut values: Vec<u64> = (0..20).map(|k| 1000 + k % 3).chain([9000]).collect();
        let summary = psci_bench::measure::Summary::of(&mut values);
        for it in row
            .summaries
            .iter_mut()
            .filter(|it| it.0.is(Metric::Powerdown))
        {
            it.1 = summary;
        }
        let (cpu, test) = (row.cpu, &run.tests[3]);
        let far: Vec<Finding> = explain(&run, test)
            .into_iter()
            .filter(|it| it.kind == Kind::Outlier)
            .collect();
        assert_eq!(far.len(), 1, "{far:#?}");
        assert!(
            far[0]
                .sentence
                .starts_with("Outliers: of 21 samples at least one of Powerdown on CPU 0.1"),
            "{}",
            far[0]
        );
        assert_eq!(far[0].basis[0].cpu, cpu);
    }
}
