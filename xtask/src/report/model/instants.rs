//! One sample's instants, for time lines and for figures of single samples.

use psci_bench::measure::Metric;
use psci_bench::spec::pmf::Stamp;

/// A point in a sample's time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Point {
    /// The caller's counter read just before the call.
    Before,
    /// One of PMF's timestamps.
    Stamp(Stamp),
    /// The earliest instant at which the wake-up was due.
    Due,
    /// The caller's counter read just after the call, or first in the entry
    /// point.
    After,
    /// When the lead called CPU_ON for this CPU.
    TurnedOn,
    /// This CPU's first instruction after CPU_ON.
    Entered,
    /// When the lead saw AFFINITY_INFO say OFF.
    SeenOff,
}

/// How many points there are.
pub const POINTS: usize = 12;

impl Point {
    /// All of them: PMF's in the order in which a power-down passes them.
    pub const ALL: [Self; POINTS] = [
        Self::Before,
        Self::Stamp(Stamp::EnterPsci),
        Self::Stamp(Stamp::EnterCflush),
        Self::Stamp(Stamp::ExitCflush),
        Self::Stamp(Stamp::EnterHwLowPwr),
        Self::Stamp(Stamp::ExitHwLowPwr),
        Self::Stamp(Stamp::ExitPsci),
        Self::Due,
        Self::After,
        Self::TurnedOn,
        Self::Entered,
        Self::SeenOff,
    ];

    /// The key that stands for it in records.
    #[must_use]
    pub const fn key(self) -> &'static str {
        match self {
            Self::Before => "before",
            Self::Stamp(Stamp::EnterPsci) => "s0",
            Self::Stamp(Stamp::ExitPsci) => "s1",
            Self::Stamp(Stamp::EnterHwLowPwr) => "s2",
            Self::Stamp(Stamp::ExitHwLowPwr) => "s3",
            Self::Stamp(Stamp::EnterCflush) => "s4",
            Self::Stamp(Stamp::ExitCflush) => "s5",
            Self::Due => "due",
            Self::After => "after",
            Self::TurnedOn => "turned_on",
            Self::Entered => "entered",
            Self::SeenOff => "seen_off",
        }
    }

    /// The point of a key.
    #[must_use]
    pub fn of(key: &str) -> Option<Self> {
        // A match and no search: there may be millions of keys.
        Some(match key {
            "before" => Self::Before,
            "s0" => Self::Stamp(Stamp::EnterPsci),
            "s1" => Self::Stamp(Stamp::ExitPsci),
            "s2" => Self::Stamp(Stamp::EnterHwLowPwr),
            "s3" => Self::Stamp(Stamp::ExitHwLowPwr),
            "s4" => Self::Stamp(Stamp::EnterCflush),
            "s5" => Self::Stamp(Stamp::ExitCflush),
            "due" => Self::Due,
            "after" => Self::After,
            "turned_on" => Self::TurnedOn,
            "entered" => Self::Entered,
            "seen_off" => Self::SeenOff,
            _ => return None,
        })
    }

    const fn index(self) -> usize {
        match self {
            Self::Stamp(stamp) => stamp as usize,
            Self::Before => 6,
            Self::Due => 7,
            Self::After => 8,
            Self::TurnedOn => 9,
            Self::Entered => 10,
            Self::SeenOff => 11,
        }
    }
}

/// No instant: nothing lies so far before its base.
const NONE: i64 = i64::MIN;

/// The instants of one sample, in ticks of the run's counter.
///
/// There may be millions: they are kept in one size, without a heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instants {
    /// The counter's value at the round's agreed start or, where there was
    /// none, just before the call. None where that record was lost.
    pub base: Option<u64>,
    at: [i64; POINTS],
}

impl Default for Instants {
    fn default() -> Self {
        Self {
            base: None,
            at: [NONE; POINTS],
        }
    }
}

impl Instants {
    /// Ticks from [`Instants::base`] to `point`; None where the sample has no
    /// such instant.
    #[must_use]
    pub fn at(&self, point: Point) -> Option<i64> {
        let at = self.at.get(point.index()).copied();
        at.filter(|at| *at != NONE)
    }

    /// Sets a point.
    pub fn set(&mut self, point: Point, ticks: i64) {
        if let Some(at) = self.at.get_mut(point.index()) {
            *at = ticks;
        }
    }

    /// The counter's value at `point`: comparable between the CPUs of a run.
    #[must_use]
    pub fn counter(&self, point: Point) -> Option<u64> {
        self.base?.checked_add_signed(self.at(point)?)
    }

    /// Ticks between two points.
    #[must_use]
    pub fn span(&self, from: Point, to: Point) -> Option<u64> {
        let ticks = self.at(to)?.checked_sub(self.at(from)?)?;
        u64::try_from(ticks).ok()
    }

    /// The figure that a metric is of this sample, as the payload derives it.
    ///
    /// The instants do not say which metrics the call has: ask for those that
    /// the row has ([`super::results::Row::summaries`]).
    #[must_use]
    pub fn figure(&self, metric: Metric) -> Option<u64> {
        use Point::{After, Before, Due, Entered, SeenOff, TurnedOn};
        let stamps = |from, to| self.span(Point::Stamp(from), Point::Stamp(to));
        match metric {
            Metric::Powerdown => stamps(Stamp::EnterPsci, Stamp::EnterHwLowPwr),
            Metric::Wakeup => stamps(Stamp::ExitHwLowPwr, Stamp::ExitPsci),
            Metric::CacheFlush => stamps(Stamp::EnterCflush, Stamp::ExitCflush),
            Metric::Latency => stamps(Stamp::EnterPsci, Stamp::ExitPsci),
            Metric::Call => self.span(Before, After),
            Metric::Wake => self.span(Due, After),
            Metric::TurnOff => self.span(Before, SeenOff),
            Metric::TurnOn => self.span(TurnedOn, Entered),
            Metric::Lateness => u64::try_from(self.at(Before)?).ok(),
        }
    }
}

/// One sample, by its place in time: the same place in a parallel scenario is
/// the same round on all CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Its place, from 0.
    pub place: u32,
    /// Its instants.
    pub instants: Instants,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_have_places_of_their_own() {
        let mut places: Vec<_> = Point::ALL.iter().map(|point| point.index()).collect();
        places.sort_unstable();
        assert!(places.into_iter().eq(0..POINTS));
        for point in Point::ALL {
            assert_eq!(Point::of(point.key()), Some(point));
        }
    }

    #[test]
    fn figures() {
        let mut instants = Instants::default();
        assert_eq!(instants.figure(Metric::Powerdown), None);
        for (key, ticks) in [("before", 5), ("s0", 10), ("s2", 60), ("turned_on", -7)] {
            let point = Point::of(key).expect("a point");
            instants.set(point, ticks);
        }
        assert_eq!(instants.figure(Metric::Powerdown), Some(50));
        assert_eq!(instants.figure(Metric::Lateness), Some(5));
        assert_eq!(instants.counter(Point::TurnedOn), None);
        instants.base = Some(100);
        assert_eq!(instants.counter(Point::TurnedOn), Some(93));
    }
}
