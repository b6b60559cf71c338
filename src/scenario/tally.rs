//! From outcomes to rows: what counts is kept, what does not is counted.

use smccc::psci::error::DENIED;

use super::bench::Bench;
use crate::measure::{Detail, Machine, Metric, Outcome, Reason, Rejection, Summary, lower_median};
use crate::model::{Figures, Row};
use crate::spec::psci::ReturnCode;

impl Row {
    /// Counts an outcome that is no sample.
    pub(crate) fn reject(&mut self, rejection: Rejection) {
        self.rejected[rejection.reason as usize] += 1;
        self.first_rejection.get_or_insert(rejection);
        self.note_loss(rejection);
    }

    /// Keeps the CPU's first sample apart.
    pub(crate) fn keep_cold(&mut self, outcome: &Outcome) {
        self.cold.get_or_insert(*outcome);
    }

    /// Remembers that the CPU is lost, when that is what `rejection` says.
    pub(crate) fn note_loss(&mut self, rejection: Rejection) {
        if let Detail::Loss(loss) = rejection.detail {
            self.lost.get_or_insert(loss);
        }
    }
}

/// Whether a longer sleep may cure it: the wake-up came too soon.
pub(crate) fn came_too_soon(rejection: Rejection) -> bool {
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

/// The figures of the main table, wherever they come from.
fn figures(of: &dyn Fn(Metric) -> Option<u64>) -> Figures {
    Figures {
        powerdown: of(Metric::Powerdown).or(of(Metric::Latency)),
        wakeup: of(Metric::Wakeup),
        cache_flush: of(Metric::CacheFlush),
    }
}

/// What was `kept`, by iteration: one outcome for each CPU.
fn rounds(kept: &[Outcome], cpus: usize) -> impl Iterator<Item = &[Outcome]> {
    kept.chunks(cpus.max(1))
}

/// The samples of the row's CPU among all that were `kept`.
fn samples<'k>(
    kept: &'k [Outcome],
    cpus: usize,
    row: &Row,
) -> impl Iterator<Item = &'k Outcome> + use<'k> {
    let cpu = usize::from(row.cpu);
    let all = rounds(kept, cpus).filter_map(move |round| round.get(cpu));
    all.take(row.valid as usize)
}

/// Writes `values` to the front of `column`, and gives that part of it.
fn gather<'c>(column: &'c mut [u64], values: &mut dyn Iterator<Item = u64>) -> &'c mut [u64] {
    let mut n = 0;
    for (place, value) in column.iter_mut().zip(values) {
        *place = value;
        n += 1;
    }
    column.get_mut(..n).unwrap_or_default()
}

impl<M: Machine> Bench<'_, M> {
    /// The same of the scenario in hand: where the last CPU down asks for all,
    /// a longer step lets the others be down by then.
    pub(crate) fn came_too_soon(&self, rejection: Rejection) -> bool {
        let denied = Detail::Firmware(ReturnCode(DENIED));
        came_too_soon(rejection) || self.osi.is_some() && rejection.detail == denied
    }

    /// Keeps an outcome as the next sample of its CPU.
    pub(crate) fn keep(&mut self, cpu: usize, outcome: Outcome) {
        let row = &mut self.rows[cpu];
        let place = row.valid as usize * self.outcomes.len() + cpu;
        self.kept[place] = outcome;
        row.valid += 1;
    }

    /// Sums up one figure of each of the first `n` rounds.
    fn over_rounds(&mut self, n: usize, figure: fn(&[Outcome], bool) -> u64) -> Summary {
        let kept = rounds(self.kept, self.outcomes.len()).take(n);
        let mut values = kept.map(|round| figure(round, self.pmf));
        Summary::of(gather(self.column, &mut values))
    }

    /// Sums up every CPU's samples.
    pub(crate) fn summarise(&mut self) {
        let cpus = self.outcomes.len();
        for row in self.rows.iter_mut() {
            for metric in Metric::ALL {
                let samples = samples(self.kept, cpus, row);
                let mut values = samples.filter_map(|s| s.metric(metric, self.pmf));
                row.summaries[metric as usize] = Summary::of(gather(self.column, &mut values));
            }
        }
    }

    /// Shows each CPU by its own medians: serial scenarios.
    pub(crate) fn show_medians(&mut self) {
        let cpus = self.outcomes.len();
        for row in self.rows.iter_mut() {
            row.figures = figures(&|metric| row.summary(metric).map(|s| s.median));
            let of = |sample: &&Outcome| leading(sample, self.pmf);
            let mut values = samples(self.kept, cpus, row).filter_map(|s| of(&s));
            row.shown = match gather(self.column, &mut values) {
                [] => None,
                values => {
                    let middle = Some(lower_median(values));
                    let mut samples = samples(self.kept, cpus, row);
                    samples.find(|s| of(s) == middle).copied()
                }
            };
        }
    }

    /// Shows all CPUs by one round, the one whose longest leading figure is
    /// the median of those: parallel scenarios, where rounds must not be
    /// mixed. `n` were kept.
    pub(crate) fn show_round(&mut self, n: usize) {
        let middle = self.over_rounds(n, longest).median;
        self.skew = self.over_rounds(n, |round, _| {
            let calls = || round.iter().map(|o| o.before).filter(|b| *b != 0);
            let (first, last) = (calls().min(), calls().max());
            last.unwrap_or(0) - first.unwrap_or(0)
        });
        let mut kept = rounds(self.kept, self.outcomes.len()).take(n);
        let Some(shown) = kept.find(|round| longest(round, self.pmf) == middle) else {
            return;
        };
        for (row, outcome) in self.rows.iter_mut().zip(shown) {
            let has_part = leading(outcome, self.pmf).is_some();
            row.shown = has_part.then_some(*outcome);
            row.figures = figures(&|metric| outcome.metric(metric, self.pmf));
        }
    }
}
