//! Computes the figures of an accepted outcome, and lists the metrics of each action.

use hardware::spec::counter_value::CounterValue;
use hardware::spec::pmf::Stamp;

use super::{ActionDetails, Outcome};
use crate::measure::action::{Action, SingleCall};
use crate::measure::capture_sequence::CaptureSequence;
use crate::measure::instants::{Instant, Instants};
use crate::measure::metric::Metric;
use crate::measure::time_source::TimeSource;

impl Outcome {
    /// Returns the sample's instants. They include the timestamps that the call writes, if `times`
    /// does.
    pub fn instants(&self, times: TimeSource) -> Instants {
        // The agreed start time belongs to the round that turned the CPU off, not to the read-back.
        let base = self.start.or(self.before).map_or(0, CounterValue::number);
        let mut instants = Instants::new(base);
        let mut add = |instant, counter: Option<CounterValue>| {
            if let Some(counter) = counter {
                instants.set(instant, counter.number().wrapping_sub(base).cast_signed());
            }
        };
        add(Instant::Before, self.before);
        add(Instant::After, self.returned_at);
        match self.details {
            ActionDetails::Suspend(suspended) => add(Instant::Due, suspended.due),
            ActionDetails::PowerCycle(cycle) => {
                add(Instant::Due, cycle.lead_active_at);
                add(Instant::SeenOff, cycle.seen_off);
                add(Instant::TurnedOn, cycle.turned_on);
                add(Instant::Entered, cycle.entered);
            }
            ActionDetails::Interrupt(interrupt) => {
                add(Instant::Due, interrupt.due);
                add(Instant::Entered, interrupt.entered);
            }
            ActionDetails::None
            | ActionDetails::Window
            | ActionDetails::Stress(_)
            | ActionDetails::Loop { .. } => {}
        }
        if times.has_pmf()
            && let Some(sequence) = self.capture_sequence()
        {
            for stamp in Stamp::IN_TIME {
                if sequence.captures(stamp) {
                    add(Instant::Stamp(stamp), self.stamp(stamp));
                }
            }
        }
        instants
    }

    /// Returns a figure from an accepted outcome, in ticks or in the metric's unit; None if its
    /// action does not have that metric.
    pub fn metric(&self, metric: Metric, times: TimeSource) -> Option<u64> {
        let is_cold_call = self.action.is_cold_call();
        let is_suspend = self.action.sleeps() && !is_cold_call;
        let simply_returns = self.capture_sequence() == Some(CaptureSequence::Call);
        let is_read_back = self.action == Action::ReadBack;
        let is_timed_off = self.action.is_timed_off();
        let is_interrupted = self.action == Action::Interrupt;
        let has_metric = match metric {
            Metric::Powerdown | Metric::Wakeup | Metric::CacheFlush => is_suspend || is_read_back,
            Metric::Latency => simply_returns,
            Metric::Call => is_suspend || simply_returns || is_cold_call || is_interrupted,
            Metric::Wake => is_suspend,
            // With PMF, the lead polls rarely, to avoid interfering with other CPUs. The instant at
            // which the lead reads OFF is therefore imprecise.
            Metric::TurnOff => is_timed_off || is_read_back && !times.has_pmf(),
            Metric::TurnOn => is_timed_off || is_read_back,
            Metric::Time => matches!(self.action, Action::Repeat { .. }),
            Metric::Cycles => match self.details {
                ActionDetails::Loop { cycles } => return cycles,
                _ => false,
            },
            Metric::Entry => is_interrupted,
            Metric::Handler
            | Metric::Masked
            | Metric::LastOffset
            | Metric::Gap
            | Metric::Stolen
            | Metric::Loop
            | Metric::Count
            | Metric::Residency => false,
        };
        if has_metric {
            self.instants(times).metric(metric)
        } else {
            None
        }
    }
}

impl Action {
    /// Returns the metrics of a step with this action, measured or omitted: some of those that
    /// [`Outcome::metric`] returns. Without PMF, these are the caller-side metrics: two for a
    /// suspend and two for CPU_OFF.
    pub(crate) const fn step_metrics(self, has_pmf: bool) -> &'static [Metric] {
        use Metric::{CacheFlush, Call, Latency, Powerdown, TurnOff, TurnOn, Wake, Wakeup};
        match self {
            Self::ColdCall {
                call: SingleCall::Version,
                ..
            } if has_pmf => &[Latency, Call],
            Self::ColdCall { .. } => &[Call],
            Self::Version if has_pmf => &[Latency],
            Self::Version => &[Call],
            _ if has_pmf => &[Powerdown, Wakeup, CacheFlush],
            _ => &[Call, Wake, TurnOn, TurnOff],
        }
    }
}
