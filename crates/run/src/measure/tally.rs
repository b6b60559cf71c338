//! The counts that a timer's interrupt handler keeps.
//!
//! A periodic timer is due at start + k * period, for k from 1 on. Expiries that are due
//! already when the handler runs are *overruns*: they have no handler, and no sample. At any
//! time handled + overruns = expiries.

use hardware::board::IntId;
use serde::{Deserialize, Serialize};

use super::histogram::Histogram;

/// Least, greatest and sum of some latencies, exact.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunningSummary {
    /// The number of them. All other fields are 0 when there is none.
    pub n: u32,
    /// The least, in ticks.
    pub min: u64,
    /// The greatest, in ticks.
    pub max: u64,
    /// The sum, in ticks.
    pub sum: u64,
}

impl RunningSummary {
    /// Returns the least, if there is one.
    pub fn least(&self) -> Option<u64> {
        (self.n > 0).then_some(self.min)
    }

    fn add(&mut self, ticks: u64) {
        let (n, min, max, sum) = (1, ticks, ticks, ticks);
        self.merge(&Self { n, min, max, sum });
    }

    fn merge(&mut self, other: &Self) {
        let least = [self.least(), other.least()].into_iter().flatten().min();
        self.n = self.n.saturating_add(other.n);
        self.min = least.unwrap_or(0);
        self.max = self.max.max(other.max);
        self.sum = self.sum.saturating_add(other.sum);
    }
}

/// The two latencies of an expiry that was handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Until {
    /// From the instant that was programmed to the handler's first instruction.
    Entry,
    /// To the first line of the handler in Rust, registers saved.
    Handler,
}

/// The fate of a timer's expiries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// The latencies of those that were handled, by [`Until`].
    pub series: [RunningSummary; 2],
    /// Expiries dealt with.
    pub expiries: u32,
    /// Those of them that had passed before their turn.
    pub overruns: u32,
    /// Interrupts at which no expiry was due: the GIC took its signal back.
    pub spurious: u32,
}

impl Account {
    /// Returns the latencies until then.
    pub fn until(&self, until: Until) -> &RunningSummary {
        &self.series[until as usize]
    }

    /// Adds what another one has.
    pub fn merge(&mut self, other: &Self) {
        for (own, series) in self.series.iter_mut().zip(&other.series) {
            own.merge(series);
        }
        self.expiries = self.expiries.saturating_add(other.expiries);
        self.overruns = self.overruns.saturating_add(other.overruns);
        self.spurious = self.spurious.saturating_add(other.spurious);
    }
}

/// A timer to look at for a while.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Ticks from one expiry to the next; not 0.
    pub period: u64,
    /// The number of expiries.
    pub expiries: u32,
    /// Ticks: a greater latency to the handler is the end of it.
    pub threshold: Option<u64>,
}

/// One CPU's account of a timer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Of the window in hand, or the last one.
    pub window: Account,
    /// Of all windows that were settled.
    pub settled: Account,
    /// The latencies of all windows, by [`Until`].
    pub histograms: [Histogram; 2],
    /// Another interrupt than the timer's, which was the end of it.
    pub stray: Option<IntId>,
    /// The latency that exceeded the threshold, which was the end of it.
    pub exceeded: Option<u64>,
    schedule: Schedule,
    due: u64,
}

/// Spurious interrupts beside one for each expiry that are not yet too many.
const SPURIOUS_MAX: u32 = 1_000;

impl Tally {
    /// Begins a window, and returns the first expiry's instant.
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

    /// Takes note of the timer's interrupt, whose handler began at `entry`, in Rust at
    /// `handler`. Returns the next expiry, or nothing when that was the last.
    pub fn expired(&mut self, entry: u64, handler: u64) -> Option<u64> {
        let Some(late) = entry.checked_sub(self.due) else {
            return self.spurious();
        };
        let to_handler = handler.saturating_sub(self.due);
        for (until, latency) in [(Until::Entry, late), (Until::Handler, to_handler)] {
            self.window.series[until as usize].add(latency);
            self.histograms[until as usize].add(latency);
        }
        let (period, expiries) = (self.schedule.period, self.schedule.expiries);
        let account = &mut self.window;
        account.expiries += 1;
        // Those that have passed meanwhile; a division only where some have.
        let mut missed = 0;
        if to_handler >= period {
            let left = expiries.saturating_sub(account.expiries);
            missed = u32::try_from(to_handler / period).map_or(left, |missed| missed.min(left));
        }
        account.overruns += missed;
        account.expiries += missed;
        self.due += period * u64::from(1 + missed);
        let threshold = self.schedule.threshold;
        if threshold.is_some_and(|most| to_handler > most) {
            self.exceeded = Some(to_handler);
            return None;
        }
        (account.expiries < expiries).then_some(self.due)
    }

    /// An interrupt that is none: as [`Self::expired`].
    pub fn spurious(&mut self) -> Option<u64> {
        self.window.spurious += 1;
        let most = self.schedule.expiries.saturating_add(SPURIOUS_MAX);
        (self.window.spurious < most).then_some(self.due)
    }

    /// Returns true if all expiries of the window have been dealt with.
    pub fn is_complete(&self) -> bool {
        self.window.expiries == self.schedule.expiries
    }

    /// Adds the window to what is settled.
    pub fn settle(&mut self) {
        self.settled.merge(&self.window);
    }
}

/// The reason why a measurement of a timer ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TimerFault {
    /// An interrupt was pending before the timer was set, and stayed.
    Pending,
    /// Another interrupt than the timer's was signalled, with this ID.
    Stray(IntId),
    /// Interrupts were signalled again and again, and none was to be had.
    Spurious,
    /// The timer's interrupt did not come any more.
    Silent,
    /// The latency, in ticks, that exceeded the threshold.
    Late(u64),
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
            // To the tick: the handler runs when the next one is due.
            (&[97], 1),
            (&[196], 1),
            (&[197, 197], 4),
            (&[1, 1, 350], 3),
            // Beyond the last there are no more.
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
        let all = tally.settled;
        for (series, more) in all.series.iter().zip([0, 3]) {
            let found = (series.n, series.min, series.max, series.sum);
            assert_eq!(found, (29, 1 + more, 150 + more, 211 + 29 * more));
        }
        assert_eq!((all.overruns, all.expiries), (1, 30));
        for histogram in &tally.histograms {
            assert_eq!(histogram.counts().sum::<u32>(), 29);
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
