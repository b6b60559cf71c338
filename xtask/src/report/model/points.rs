//! What scenarios outside TFTF's suite found: points, each a figure of one CPU
//! in one circumstance.

use psci_bench::point::{How, Measure, Unit};
use psci_bench::report::WakeSource;
use psci_bench::stats::Summary;

use super::term::Term;

/// A `point` record: one figure of one CPU in one circumstance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// Index into [`super::run::Run::cpus`].
    pub cpu: usize,
    /// On how many CPUs it was measured.
    pub how: Term<How>,
    /// Which kind of the scenario's operation.
    pub variant: String,
    /// What was varied, in the scenario's own unit.
    pub x: Option<u64>,
    /// Which figure.
    pub metric: Term<Measure>,
    /// Operations in a sample, at least 1: the figure of one is that part of
    /// [`Measured::summary`].
    pub per: u32,
    /// The samples, in the metric's unit, each of `per` operations.
    pub summary: Summary,
    /// Samples that were taken and do not count.
    pub lost: u64,
    /// The interrupt that woke the CPU, where it was suspended.
    pub wake_source: WakeSource,
    /// How the samples are spread, where the run tells.
    pub histogram: Option<Histogram>,
}

/// How samples are spread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Histogram {
    /// The classes that have any samples, in their order.
    pub classes: Vec<Class>,
}

/// Samples from one figure up to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Class {
    /// The least figure in it.
    pub from: u64,
    /// How wide it is; 0: all from there on.
    pub width: u64,
    /// How many samples are in it.
    pub count: u64,
}

/// The word for the variant that is a scenario's own loop with nothing in it.
pub const LOOP: &str = "loop";

impl Measured {
    /// What its figures count.
    #[must_use]
    pub fn unit(&self) -> Unit {
        self.metric.known().map_or(Unit::Ticks, Measure::unit)
    }

    /// What it is of, whichever CPU it is of, and however many operations a
    /// sample has.
    #[must_use]
    pub fn kind(&self) -> (&Term<How>, &str, Option<u64>, &Term<Measure>) {
        (&self.how, &self.variant, self.x, &self.metric)
    }

    /// Whether two points of a scenario are of one question, whichever CPUs
    /// they are of. Samples of more operations are of another one: what stands
    /// around a loop has a smaller part in them.
    #[must_use]
    pub fn is_of_kind(&self, other: &Self) -> bool {
        (self.kind(), self.per) == (other.kind(), other.per)
    }

    /// The circumstance in words that part at dots, for names of figures:
    /// `alone.psci_version.ticks`.
    #[must_use]
    pub fn key(&self) -> String {
        let mut parts = vec![self.how.word().to_owned(), self.variant.clone()];
        parts.extend(self.x.map(|x| x.to_string()));
        parts.push(self.metric.word().to_owned());
        parts.join(".")
    }
}

impl Histogram {
    /// How many samples are in it; None where nobody can have taken so many.
    #[must_use]
    pub fn count(&self) -> Option<u64> {
        let mut counts = self.classes.iter().map(|class| class.count);
        counts.try_fold(0u64, |sum, count| sum.checked_add(count))
    }
}

/// Tags of scenarios whose `x` has a meaning.
pub const DIRTY_SWEEP: &str = "dirty_sweep";
/// Likewise.
pub const CONTEND_SWEEP: &str = "contend_sweep";
/// Likewise.
pub const IDLE_STATES: &str = "idle_states";

/// A figure's name as a heading of tables.
#[must_use]
pub fn measure_heading(metric: &Term<Measure>) -> &str {
    match metric {
        Term::Known(Measure::Ticks) => "Time",
        Term::Known(Measure::Cycles) => "Cycles",
        Term::Known(Measure::Entry) => "Expiry to Vector",
        Term::Known(Measure::Handler) => "Expiry to Handler",
        Term::Known(Measure::Powerdown) => "Powerdown",
        Term::Known(Measure::Wakeup) => "Wakeup",
        Term::Known(Measure::CacheFlush) => "Cache Flush",
        Term::Known(Measure::Call) => "Call",
        Term::Known(Measure::Wake) => "Wake",
        Term::Known(Measure::TurnOff) => "Turn Off",
        Term::Known(Measure::TurnOn) => "Turn On",
        Term::Known(Measure::Count) => "PSCI_STAT_COUNT",
        Term::Known(Measure::Residency) => "PSCI_STAT_RESIDENCY",
        Term::Other(word) => word,
    }
}
