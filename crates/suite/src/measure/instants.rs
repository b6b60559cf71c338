//! The instants of a sample, for timelines and for the figures of a single sample.

use hardware::spec::pmf::Stamp;
use serde::{Deserialize, Serialize};

use super::metric::Metric;

/// An instant in a sample. [`super::Outcome`] and its [`super::ActionDetails`] have a field for each
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(
    missing_docs,
    reason = "the fields of Outcome and ActionDetails are documented"
)]
pub enum Instant {
    Before,
    Stamp(Stamp),
    Due,
    After,
    TurnedOn,
    Entered,
    SeenOff,
}

/// The number of [`Instant`]s.
pub const INSTANTS: usize = 12;

impl Instant {
    /// All instants. A suspend's instants are in chronological order.
    pub const ALL: [Self; INSTANTS] = [
        Self::Before,
        Self::Stamp(Stamp::EnterPsci),
        Self::Stamp(Stamp::EnterCflush),
        Self::Stamp(Stamp::ExitCflush),
        Self::Stamp(Stamp::EnterHwLowPwr),
        Self::Due,
        Self::Stamp(Stamp::ExitHwLowPwr),
        Self::Stamp(Stamp::ExitPsci),
        Self::After,
        Self::TurnedOn,
        Self::Entered,
        Self::SeenOff,
    ];

    /// Returns the index in [`Self::ALL`].
    fn index(self) -> usize {
        let position = Self::ALL.iter().position(|other| *other == self);
        position.expect("ALL contains every instant")
    }
}

/// The instants of one sample, in ticks. Does not use the heap, because a run may have millions of
/// samples.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Instants {
    /// The counter at the round's agreed start or, if there is none, just before the call.
    #[serde(rename = "b")]
    pub base: u64,
    /// Ticks from the base.
    #[serde(rename = "i")]
    at: Offsets,
}

/// Ticks, in the same order as [`Instant::ALL`]. Serialized as a list with null for unknown
/// instants, but takes only half as much memory as such a list.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "[Option<i64>; INSTANTS]", into = "[Option<i64>; INSTANTS]")]
struct Offsets {
    /// One bit for each known instant.
    known: u16,
    /// The ticks; 0 if unknown.
    ticks: [i64; INSTANTS],
}

impl Offsets {
    fn get(&self, index: usize) -> Option<i64> {
        (self.known >> index & 1 != 0).then_some(self.ticks[index])
    }

    fn set(&mut self, index: usize, ticks: i64) {
        self.known |= 1 << index;
        self.ticks[index] = ticks;
    }
}

impl From<[Option<i64>; INSTANTS]> for Offsets {
    fn from(list: [Option<i64>; INSTANTS]) -> Self {
        let mut offsets = Self::default();
        for (index, ticks) in list.into_iter().enumerate() {
            if let Some(ticks) = ticks {
                offsets.set(index, ticks);
            }
        }
        offsets
    }
}

impl From<Offsets> for [Option<i64>; INSTANTS] {
    fn from(offsets: Offsets) -> Self {
        core::array::from_fn(|index| offsets.get(index))
    }
}

impl Instants {
    /// Returns one bit for each of [`Instant::ALL`], set if that instant is known.
    pub(crate) const fn known(&self) -> u16 {
        self.at.known
    }

    /// Returns the ticks from the previous known instant to each of [`Instant::ALL`].
    pub(crate) fn intervals(self) -> impl Iterator<Item = Option<i64>> + Clone {
        (0..INSTANTS).scan(0, move |last_ticks: &mut i64, index| {
            let at = self.at.get(index);
            Some(at.map(|ticks| ticks.wrapping_sub(core::mem::replace(last_ticks, ticks))))
        })
    }

    /// Builds the instants from the intervals that [`Self::intervals`] returns. Trailing intervals
    /// may be omitted.
    pub(crate) fn from_intervals(base: u64, intervals: impl Iterator<Item = Option<i64>>) -> Self {
        let mut instants = Self::new(base);
        let mut last = 0i64;
        for (index, interval) in (0..INSTANTS).zip(intervals) {
            if let Some(interval) = interval {
                last = last.wrapping_add(interval);
                instants.at.set(index, last);
            }
        }
        instants
    }

    /// Returns instants with only the base filled in.
    pub fn new(base: u64) -> Self {
        Self {
            base,
            at: Offsets::default(),
        }
    }

    /// Returns the ticks from the base to `instant`.
    pub fn at(&self, instant: Instant) -> Option<i64> {
        self.at.get(instant.index())
    }

    /// Sets the ticks from the base to `instant`.
    pub fn set(&mut self, instant: Instant, ticks: i64) {
        self.at.set(instant.index(), ticks);
    }

    /// Returns the counter value at `instant`, which is comparable between CPUs.
    pub fn counter(&self, instant: Instant) -> Option<u64> {
        self.base.checked_add_signed(self.at(instant)?)
    }

    /// Returns the ticks between two instants; None if they are in the wrong order.
    pub fn span(&self, from: Instant, to: Instant) -> Option<u64> {
        let ticks = self.at(to)?.checked_sub(self.at(from)?)?;
        u64::try_from(ticks).ok()
    }

    /// Returns a metric's figure in ticks, if its instants are known. No other code derives figures
    /// from instants. [`super::Outcome::metric`] defines the metrics of each action.
    pub fn metric(&self, metric: Metric) -> Option<u64> {
        use Instant::{After, Before, Due, Entered, SeenOff, TurnedOn};
        let stamps = |first_stamp, last_stamp| {
            self.span(Instant::Stamp(first_stamp), Instant::Stamp(last_stamp))
        };
        match metric {
            Metric::Powerdown => stamps(Stamp::EnterPsci, Stamp::EnterHwLowPwr),
            Metric::Wakeup => stamps(Stamp::ExitHwLowPwr, Stamp::ExitPsci),
            Metric::CacheFlush => stamps(Stamp::EnterCflush, Stamp::ExitCflush),
            Metric::Latency => stamps(Stamp::EnterPsci, Stamp::ExitPsci),
            Metric::Call | Metric::Time => self.span(Before, After),
            Metric::Wake => self.span(Due, After),
            Metric::TurnOff => self.span(Before, SeenOff),
            Metric::TurnOn => self.span(TurnedOn, Entered),
            Metric::Entry => self.span(Due, Entered),
            // Not derived from instants.
            Metric::Cycles
            | Metric::Handler
            | Metric::Masked
            | Metric::LastOffset
            | Metric::Gap
            | Metric::Stolen
            | Metric::Loop
            | Metric::Count
            | Metric::Residency => None,
        }
    }
}
