//! From outcomes to rows: what counts is kept, what does not is counted.

use super::Bench;
use crate::report::{Figures, Row};
use crate::round::Machine;
use crate::sample::{Detail, Metric, Outcome, Reason, Rejection};
use crate::stats::{Summary, lower_median};

impl Row {
    /// Counts an outcome that is no sample.
    pub(super) fn reject(&mut self, rejection: Rejection) {
        self.rejected[rejection.reason as usize] += 1;
        self.first_rejection.get_or_insert(rejection);
        self.note_loss(rejection);
    }

    /// Remembers that the CPU is lost, when that is what `rejection` says.
    pub(super) fn note_loss(&mut self, rejection: Rejection) {
        if let Detail::Loss(loss) = rejection.detail {
            self.lost.get_or_insert(loss);
        }
    }
}

/// Whether a longer sleep may cure it: the wake-up came too soon.
pub(super) fn came_too_soon(rejection: Rejection) -> bool {
    matches!(
        rejection.reason,
        Reason::Pending | Reason::Abandoned | Reason::Overlap | Reason::EarlyWake | Reason::Stale
    )
}

/// The figure that stands for a sample where one has to be picked: PMF's
/// powerdown or latency; without PMF, the caller's.
fn leading(outcome: &Outcome, pmf: bool) -> Option<u64> {
    let order = [
        Metric::Powerdown,
        Metric::Latency,
        Metric::Call,
        Metric::TurnOff,
    ];
    order.into_iter().find_map(|m| outcome.metric(m, pmf))
}

/// The longest leading figure of a round.
fn longest(round: &[Outcome], pmf: bool) -> u64 {
    let figures = round.iter().filter_map(|o| leading(o, pmf));
    figures.max().unwrap_or(0)
}

impl<M: Machine> Bench<'_, M> {
    /// Keeps an outcome as the next sample of its CPU.
    pub(super) fn keep(&mut self, cpu: usize, outcome: Outcome) {
        let row = &mut self.rows[cpu];
        let place = row.valid as usize * self.outcomes.len() + cpu;
        self.kept[place] = outcome;
        row.valid += 1;
    }

    /// The samples of one CPU.
    fn samples(&self, cpu: usize) -> impl Iterator<Item = &Outcome> {
        let cpus = self.outcomes.len();
        let valid = self.rows[cpu].valid as usize;
        self.kept.iter().skip(cpu).step_by(cpus).take(valid)
    }

    /// Fills the column with one metric of one CPU's samples.
    fn fill(&mut self, cpu: usize, metric: Metric) -> usize {
        let cpus = self.outcomes.len();
        let valid = self.rows[cpu].valid as usize;
        let samples = self.kept.iter().skip(cpu).step_by(cpus).take(valid);
        let mut n = 0;
        for value in samples.filter_map(|s| s.metric(metric, self.pmf)) {
            self.column[n] = value;
            n += 1;
        }
        n
    }

    /// Sums up one figure of each of the first `rounds` rounds.
    fn over_rounds(&mut self, rounds: usize, figure: fn(&[Outcome], bool) -> u64) -> Summary {
        let kept = self.kept.chunks(self.outcomes.len()).take(rounds);
        for (place, round) in self.column.iter_mut().zip(kept) {
            *place = figure(round, self.pmf);
        }
        Summary::of(&mut self.column[..rounds])
    }

    /// Sums up every CPU's samples.
    pub(super) fn summarise(&mut self) {
        for cpu in 0..self.rows.len() {
            for metric in Metric::ALL {
                let n = self.fill(cpu, metric);
                self.rows[cpu].summaries[metric as usize] = Summary::of(&mut self.column[..n]);
            }
        }
    }

    /// Shows each CPU by its own medians: serial scenarios.
    pub(super) fn show_medians(&mut self) {
        for cpu in 0..self.rows.len() {
            let median = |metric| self.rows[cpu].summary(metric).map(|s| s.median);
            let figures = Figures {
                powerdown: median(Metric::Powerdown).or(median(Metric::Latency)),
                wakeup: median(Metric::Wakeup),
                cache_flush: median(Metric::CacheFlush),
            };
            let mut n = 0;
            for place in 0..self.rows[cpu].valid as usize {
                let outcome = self.kept[place * self.outcomes.len() + cpu];
                if let Some(value) = leading(&outcome, self.pmf) {
                    self.column[n] = value;
                    n += 1;
                }
            }
            let middle = (n > 0).then(|| lower_median(&mut self.column[..n]));
            let shown = self
                .samples(cpu)
                .find(|s| middle.is_some() && leading(s, self.pmf) == middle)
                .copied();
            let row = &mut self.rows[cpu];
            row.figures = figures;
            row.shown = shown;
        }
    }

    /// Shows all CPUs by one round, the one whose longest leading figure is
    /// the median of those: parallel scenarios, where rounds must not be
    /// mixed. `rounds` were kept.
    pub(super) fn show_round(&mut self, rounds: usize) {
        if rounds == 0 {
            return;
        }
        let cpus = self.outcomes.len();
        let middle = self.over_rounds(rounds, longest).median;
        self.skew = self.over_rounds(rounds, |round, _| {
            let calls = || round.iter().map(|o| o.before).filter(|b| *b != 0);
            let (first, last) = (calls().min(), calls().max());
            last.unwrap_or(0) - first.unwrap_or(0)
        });
        let mut kept = self.kept.chunks(cpus).take(rounds);
        let shown = kept.position(|round| longest(round, self.pmf) == middle);
        let shown = shown.unwrap_or(0);
        for cpu in 0..cpus {
            let outcome = self.kept[shown * cpus + cpu];
            let figure = |metric| outcome.metric(metric, self.pmf);
            let figures = Figures {
                powerdown: figure(Metric::Powerdown).or(figure(Metric::Latency)),
                wakeup: figure(Metric::Wakeup),
                cache_flush: figure(Metric::CacheFlush),
            };
            let has_part = leading(&outcome, self.pmf).is_some();
            let row = &mut self.rows[cpu];
            row.shown = has_part.then_some(outcome);
            row.figures = figures;
        }
    }
}
