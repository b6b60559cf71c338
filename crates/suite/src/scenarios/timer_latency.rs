//! The `timer_latency` scenario: how late a CPU takes the interrupts of its periodic timer, under
//! load. Each window is printed.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use crate::bench::Bench;
use crate::bench::windows::{self, LOADS, Measurement, Watch, WindowResult};
use crate::measure::{Account, DurationKind, Facts, Metric, Reason, Watched};
use crate::model::{CellStep, Counts, Run, Scenario};
use crate::plan::{Group, Key, NotCounted, TimerPlan};
use hardware::board::CpuIndex;

use super::descriptor::{Descriptor, requested};
use super::timer_lines::TimerMeasurement;

pub(super) const TIMER_LATENCY: Descriptor = Descriptor {
    tag: "timer_latency",
    name: "Timer expiry to handler, under load",
    group: Group::None,
    arguments: &[&[
        Key::Duration,
        Key::Period,
        Key::Stress,
        Key::Footprint,
        Key::Timers,
        Key::Threshold,
    ]],
    compared: &[Key::Period, Key::Footprint],
    variants: &LOADS,
    not_counted: NotCounted::Column("Overruns"),
    cells: windows::cells,
    heap: windows::heap,
    work: windows::work,
    explanation,
    measure: |request| windows::measure(request, TimerWatch::new),
    ..Descriptor::LOOP
};

fn explanation(run: &Run, scenario: &Scenario) -> String {
    requested(run, scenario)
        + "Timers run in windows of at most a second, between which a line is printed. The median \
           and p99 may be up to 1/16 too low, because they are the lower bounds of histogram bins. \
           Overruns are expiries that had already passed when the handler ran. If one CPU is \
           measured alone, the other CPUs are on and run the variant's load. "
}

/// The latencies in a cell.
const FIGURES: [(DurationKind, Metric); 2] = [
    (DurationKind::Entry, Metric::Entry),
    (DurationKind::Handler, Metric::Handler),
];

/// The timers of the measured CPUs.
struct TimerWatch {
    lines: TimerMeasurement,
}

impl TimerWatch {
    fn new(facts: &Facts, timer: &mut TimerPlan) -> Self {
        Self {
            lines: TimerMeasurement {
                frequency: facts.frequency,
                period: facts.ticks(timer.period.into()),
                total: 0,
                done: 0,
                windows: 0,
                all: Account::default(),
            },
        }
    }
}

impl Watch for TimerWatch {
    const WATCHED: Watched = Watched::Timer;

    fn begin(&mut self, bench: &mut Bench<'_>, measured: &Measurement) -> fmt::Result {
        self.lines = TimerMeasurement {
            total: measured.total,
            done: 0,
            windows: 0,
            all: Account::default(),
            ..self.lines
        };
        self.lines.print_begin(bench.out(), measured)
    }

    fn end_window(&mut self, bench: &mut Bench<'_>, window: &WindowResult) -> fmt::Result {
        self.lines.done += window.done;
        self.lines.windows += 1;
        self.lines.all.merge(&window.sum);
        self.lines.print_window(bench.out(), &window.sum)
    }

    fn end(&mut self, bench: &mut Bench<'_>) -> fmt::Result {
        self.lines.print_end(bench.out())
    }

    /// Adds the cell for a CPU's timer. The series that ends at the handler includes a histogram.
    fn add_cell(&mut self, bench: &mut Bench<'_>, cpu: CpuIndex, step: CellStep) {
        let Some(tally) = bench.tally(cpu) else {
            return;
        };
        let series = windows::series(tally, &FIGURES, DurationKind::Handler);
        let mut rejected = Vec::new();
        if tally.settled.overruns > 0 {
            rejected.reserve_exact(1);
            rejected.push((Reason::Overrun, tally.settled.overruns));
        }
        let counts = Counts {
            valid: tally.settled.durations(DurationKind::Handler).n,
            rejected,
            first: None,
        };
        bench.push_cell(cpu, step, series).counts = Some(counts);
    }
}
