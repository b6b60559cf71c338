//! The counts that a CPU keeps while it is measured: by its timer's interrupt handler, or by a loop
//! that reads the counter.
//!
//! A periodic timer is due at start + k * period, for k >= 1. Expiries that have already passed
//! when the handler runs are *overruns*: they are not handled and do not produce samples. At any
//! time, expiries = handled + overruns.

use hardware::board::IntId;
use serde::{Deserialize, Serialize};

use super::histogram::Histogram;
use super::statistics::Summary;

/// The exact minimum, maximum and sum of a set of durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunningSummary {
    /// The number of durations. If there are none, all other fields are 0.
    pub n: u32,
    /// The minimum, in ticks.
    pub min: u64,
    /// The maximum, in ticks.
    pub max: u64,
    /// The sum, in ticks.
    pub sum: u64,
}

impl RunningSummary {
    /// Returns the minimum, if there is one.
    pub fn least(&self) -> Option<u64> {
        (self.n > 0).then_some(self.min)
    }

    /// Adds one duration.
    fn add(&mut self, ticks: u64) {
        self.merge(&Self {
            n: 1,
            min: ticks,
            max: ticks,
            sum: ticks,
        });
    }

    /// Adds the durations in `other`.
    fn merge(&mut self, other: &Self) {
        let least = [self.least(), other.least()].into_iter().flatten().min();
        self.n = self.n.saturating_add(other.n);
        self.min = least.unwrap_or(0);
        self.max = self.max.max(other.max);
        self.sum = self.sum.saturating_add(other.sum);
    }
}

/// A kind of duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DurationKind {
    /// From the programmed instant to the handler's first instruction.
    Entry,
    /// From the programmed instant to the first line of the Rust handler, after the registers
    /// are saved.
    Handler,
    /// From one read of the counter to the next, if that is longer than the loop's own time.
    Gap,
    /// The sum of the gaps in a window.
    Stolen,
    /// The shortest time from one read of the counter to the next, in each window.
    Loop,
}

impl DurationKind {
    /// Returns the kind's place in an array. In a window, a CPU only has durations of its timer, or
    /// only of the counter.
    const fn place(self) -> usize {
        match self {
            Self::Entry | Self::Gap => 0,
            Self::Handler | Self::Stolen => 1,
            Self::Loop => 2,
        }
    }
}

/// The outcome of a timer's expiries, or of reading the counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The durations, by the places of their kinds.
    series: [RunningSummary; 3],
    /// Completed expiries, including overruns.
    pub expiries: u32,
    /// Expiries that had already passed before they could be handled.
    pub overruns: u32,
    /// Spurious interrupts, which the GIC withdrew before they were acknowledged.
    pub spurious: u32,
}

impl Account {
    /// Returns the durations of one kind.
    pub fn durations(&self, kind: DurationKind) -> &RunningSummary {
        &self.series[kind.place()]
    }

    /// Adds the counts from `other`.
    pub fn merge(&mut self, other: &Self) {
        for (summary, more) in self.series.iter_mut().zip(&other.series) {
            summary.merge(more);
        }
        self.expiries = self.expiries.saturating_add(other.expiries);
        self.overruns = self.overruns.saturating_add(other.overruns);
        self.spurious = self.spurious.saturating_add(other.spurious);
    }
}

/// A timer's schedule while it is measured.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Ticks from one expiry to the next; not 0.
    pub period: u64,
    /// The number of expiries.
    pub expiries: u32,
    /// In ticks. A handler latency above this ends the measurement.
    pub threshold: Option<u64>,
}

/// A gap between two reads of the counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Gap {
    /// The instant of the first read.
    pub begin: u64,
    /// Ticks to the second read; 0 for no gap.
    pub length: u64,
}

/// How many of the longest gaps are kept.
pub const LONGEST_GAPS: usize = 8;

/// The counts that a CPU keeps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// The current or last window.
    pub window: Account,
    /// All settled windows.
    pub settled: Account,
    /// The durations across all windows, by the places of their kinds.
    histograms: [Histogram; 3],
    /// The longest gaps across all windows, the longest first.
    pub longest: [Gap; LONGEST_GAPS],
    /// The interrupt that ended the measurement, if it was not the timer's own.
    pub stray: Option<IntId>,
    /// The latency that ended the measurement by exceeding the threshold.
    pub exceeded: Option<u64>,
    schedule: Schedule,
    due: u64,
}

/// The number of spurious interrupts allowed in addition to one for each expiry.
const SPURIOUS_MAX: u32 = 1_000;

impl Tally {
    /// Starts a window and returns the instant of the first expiry.
    pub fn begin(&mut self, start: u64, schedule: &Schedule) -> u64 {
        self.window = Account::default();
        (self.stray, self.exceeded) = (None, None);
        let period = schedule.period.max(1);
        self.schedule = Schedule {
            period,
            ..*schedule
        };
        self.due = start + self.schedule.period;
        self.due
    }

    /// Records a timer interrupt whose vector was entered at `entry` and whose Rust handler was
    /// entered at `handler`. Returns the next expiry, or None after the last.
    pub fn expired(&mut self, entry: u64, handler: u64) -> Option<u64> {
        let Some(late) = entry.checked_sub(self.due) else {
            return self.spurious();
        };
        let to_handler = handler.saturating_sub(self.due);
        for (kind, latency) in [
            (DurationKind::Entry, late),
            (DurationKind::Handler, to_handler),
        ] {
            self.add(kind, latency);
        }
        let (period, expiries) = (self.schedule.period, self.schedule.expiries);
        let account = &mut self.window;
        account.expiries += 1;
        // Expiries that have passed in the meantime. If there are none, the division is skipped.
        let mut missed = 0;
        if to_handler >= period {
            let left = expiries.saturating_sub(account.expiries);
            missed = u32::try_from(to_handler / period)
                .map_or(left, |missed_count| missed_count.min(left));
        }
        account.overruns += missed;
        account.expiries += missed;
        self.due += period * u64::from(1 + missed);
        let threshold = self.schedule.threshold;
        if threshold.is_some_and(|most_ticks| to_handler > most_ticks) {
            self.exceeded = Some(to_handler);
            return None;
        }
        (account.expiries < expiries).then_some(self.due)
    }

    /// Records a spurious interrupt. Like [`Self::expired`], returns the next expiry or None.
    pub fn spurious(&mut self) -> Option<u64> {
        self.window.spurious += 1;
        let most = self.schedule.expiries.saturating_add(SPURIOUS_MAX);
        (self.window.spurious < most).then_some(self.due)
    }

    fn add(&mut self, kind: DurationKind, ticks: u64) {
        self.window.series[kind.place()].add(ticks);
        self.histograms[kind.place()].add(ticks);
    }

    /// Returns the durations of one kind across all windows, in bins.
    pub fn histogram(&self, kind: DurationKind) -> &Histogram {
        &self.histograms[kind.place()]
    }

    /// Returns the statistics of the durations of one kind in all settled windows.
    pub fn summary(&self, kind: DurationKind) -> Summary {
        let exact = self.settled.durations(kind);
        self.histogram(kind).summary(exact.min, exact.max)
    }

    /// Records a gap between two reads of the counter.
    pub fn add_gap(&mut self, gap: Gap) {
        self.add(DurationKind::Gap, gap.length);
        let rank = self
            .longest
            .partition_point(|other| other.length >= gap.length);
        if let Some(shorter @ [_, ..]) = self.longest.get_mut(rank..) {
            shorter.rotate_right(1);
            shorter[0] = gap;
        }
    }

    /// Records that the CPU has read the counter until the end of the window. `shortest` is the
    /// shortest time between two reads, in ticks.
    pub fn finish_reading(&mut self, shortest: u64) {
        let stolen = self.window.durations(DurationKind::Gap).sum;
        self.add(DurationKind::Stolen, stolen);
        self.add(DurationKind::Loop, shortest);
        self.window.expiries = self.schedule.expiries;
    }

    /// Returns true if all expiries in the window have been handled or missed.
    pub fn is_complete(&self) -> bool {
        self.window.expiries == self.schedule.expiries
    }

    /// Adds the window's counts to the totals for all settled windows.
    pub fn settle(&mut self) {
        self.settled.merge(&self.window);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEDULE: Schedule = Schedule {
        period: 100,
        expiries: 10,
        threshold: None,
    };

    fn run(tally: &mut Tally, lateness: &[u64]) {
        let mut lateness = lateness.iter();
        let mut next = Some(tally.begin(1_000, &SCHEDULE));
        while let Some(due) = next {
            assert_eq!((due - 1_000) % 100, 0);
            let late = lateness.next().unwrap_or(&1);
            next = tally.expired(due + late, due + late + 3);
            let window = &tally.window;
            assert_eq!(window.series[0].n + window.overruns, window.expiries);
        }
        assert!(tally.is_complete());
        assert_eq!(tally.window.expiries, 10);
    }

    #[test]
    fn an_expiry_that_is_due_before_its_turn_is_an_overrun() {
        for (lateness, overruns) in [
            (&[96][..], 0),
            // The handler runs exactly when the next expiry is due.
            (&[97], 1),
            (&[196], 1),
            (&[197, 197], 4),
            (&[1, 1, 350], 3),
            // No expiries can be missed after the last one.
            (&[1, 1, 1, 1, 1, 1, 1, 1, 1_000_000], 1),
            (&[u64::MAX / 2], 9),
        ] {
            let mut tally = Tally::default();
            run(&mut tally, lateness);
            assert_eq!(tally.window.overruns, overruns, "{lateness:?}");
        }
    }

    #[test]
    fn windows_add_up() {
        let mut tally = Tally::default();
        for late in [5, 150, 30] {
            run(&mut tally, &[late]);
            tally.settle();
        }
        let settled = tally.settled;
        for (summary, more) in settled.series.iter().zip([0, 3]) {
            let figures = (summary.n, summary.min, summary.max, summary.sum);
            assert_eq!(figures, (29, 1 + more, 150 + more, 211 + 29 * more));
        }
        assert_eq!((settled.overruns, settled.expiries), (1, 30));
        let counts = tally.histograms.map(|kind| kind.counts().sum::<u32>());
        assert_eq!(counts, [29, 29, 0]);
    }

    #[test]
    fn longest_gaps_come_first_and_then_the_earliest() {
        let mut tally = Tally::default();
        for window in 0..2 {
            tally.begin(1_000 * window, &SCHEDULE);
            assert!(!tally.is_complete());
            for begin in 0..10 {
                let length = 20 + begin % 3;
                tally.add_gap(Gap {
                    begin: 1_000 * window + begin,
                    length,
                });
            }
            tally.finish_reading(4 + window);
            assert!(tally.is_complete());
            tally.settle();
        }
        let longest = tally.longest.map(|gap| (gap.begin, gap.length));
        let expected = [2, 5, 8, 1_002, 1_005, 1_008].map(|begin| (begin, 22));
        assert_eq!(longest, [&expected[..], &[(1, 21), (4, 21)]].concat()[..]);
        let gaps = tally.settled.durations(DurationKind::Gap);
        assert_eq!((gaps.n, gaps.min, gaps.max, gaps.sum), (20, 20, 22, 418));
        for (kind, min, max) in [(DurationKind::Stolen, 209, 209), (DurationKind::Loop, 4, 5)] {
            let summary = tally.summary(kind);
            assert_eq!((summary.n, summary.min, summary.max), (2, min, max));
        }
    }

    #[test]
    fn a_threshold_or_too_many_early_interrupts_end_it() {
        let mut tally = Tally::default();
        let mut schedule = SCHEDULE;
        schedule.threshold = Some(50);
        assert_eq!(tally.begin(0, &schedule), 100);
        assert_eq!(tally.expired(147, 150), Some(200));
        assert_eq!(tally.expired(248, 251), None);
        assert_eq!((tally.exceeded, tally.window.expiries), (Some(51), 2));
        assert!(!tally.is_complete());

        let due = tally.begin(0, &SCHEDULE);
        assert_eq!(tally.expired(due - 1, due), Some(due));
        assert_eq!((tally.window.spurious, tally.window.expiries), (1, 0));
        assert_eq!(core::iter::from_fn(|| tally.spurious()).count(), 1_008);
    }
}
