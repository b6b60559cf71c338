//! The `gaps` scenario: time that is taken away from a CPU although it masks interrupts. The CPU
//! reads the counter in a loop. If a read comes late, something else ran: the firmware, because of
//! an interrupt to the secure world, a hypervisor, or an emulator.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt::{self, Write as _};

use crate::bench::Bench;
use crate::bench::memory::list;
use crate::bench::windows::{self, LOADS, Measurement, Watch, WindowResult};
use crate::measure::{DurationKind, Facts, Gap, LONGEST_GAPS, Metric, Watched};
use crate::model::{Cell, CellStep, Counts, Run, Scenario};
use crate::plan::{Group, Key, TimerPlan};
use hardware::board::CpuIndex;
use hardware::text::plural::Many;

use super::descriptor::Descriptor;

/// The length of a window in microseconds.
const WINDOW_US: u32 = 1_000_000;

pub(super) const GAPS: Descriptor = Descriptor {
    tag: "gaps",
    name: "Gaps in a loop that reads the counter",
    group: Group::None,
    is_in_all: false,
    arguments: &[&[Key::Duration, Key::Stress, Key::Footprint, Key::Timers]],
    compared: &[Key::Footprint],
    variants: &LOADS,
    cells: windows::cells,
    heap: |size, cells| windows::heap(size, cells) + cells * list::<Gap>(LONGEST_GAPS),
    work: windows::work,
    explanation,
    measure: |request| windows::measure(request, CounterWatch::new),
    ..Descriptor::LOOP
};

/// The figures in a cell.
const FIGURES: [(DurationKind, Metric); 3] = [
    (DurationKind::Gap, Metric::Gap),
    (DurationKind::Stolen, Metric::Stolen),
    (DurationKind::Loop, Metric::Loop),
];

fn explanation(run: &Run, scenario: &Scenario) -> String {
    let mut text = String::from(
        "A gap is longer than twice the loop itself, and its length includes one loop. \
         Interrupts are masked in the loop. ",
    );
    let longest = |cell: &Cell| cell.longest_gaps.first().map_or(0, |gap| gap.length);
    let worst = scenario.cells.iter().max_by_key(|cell| longest(cell));
    let Some(cell) = worst.filter(|cell| !cell.longest_gaps.is_empty()) else {
        return text + "There were no gaps. ";
    };
    let clock = run.clock();
    let count = Many(cell.longest_gaps.len() as u64, "gap");
    let (cpu, load) = (run.label(cell.cpu), cell.variant_word());
    text += &format!("The {count} of CPU {cpu} ({load}) that were longest: ");
    for (index, gap) in cell.longest_gaps.iter().enumerate() {
        let separator = if index == 0 { "" } else { ", " };
        let (length, begin) = (clock.span(gap.length), clock.span(gap.begin));
        // Writing to a string cannot fail.
        let _ = write!(text, "{separator}{length} after {begin}");
    }
    text + ". "
}

/// The counter, as read by the measured CPUs.
struct CounterWatch {
    /// The start of the measurement.
    start: Option<u64>,
}

impl CounterWatch {
    fn new(_: &Facts, timer: &mut TimerPlan) -> Self {
        timer.period = WINDOW_US;
        Self { start: None }
    }
}

impl Watch for CounterWatch {
    const WATCHED: Watched = Watched::Counter;

    fn begin(&mut self, bench: &mut Bench<'_>, measured: &Measurement) -> fmt::Result {
        self.start = None;
        let seconds = Many(measured.total.into(), "second");
        writeln!(bench.out(), "  {measured}: {seconds} ...")
    }

    fn end_window(&mut self, bench: &mut Bench<'_>, _: &WindowResult) -> fmt::Result {
        let starts = bench.outcomes().iter().filter_map(|outcome| outcome.start);
        let first = starts.map(|start| start.number()).min();
        self.start = self.start.or(first);
        Ok(())
    }

    fn end(&mut self, _: &mut Bench<'_>) -> fmt::Result {
        Ok(())
    }

    fn add_cell(&mut self, bench: &mut Bench<'_>, cpu: CpuIndex, step: CellStep) {
        let Some(tally) = bench.tally(cpu) else {
            return;
        };
        let series = windows::series(tally, &FIGURES, DurationKind::Gap);
        let valid = tally.settled.durations(DurationKind::Stolen).n;
        let start = self.start.unwrap_or(0);
        let gaps = tally.longest.iter().filter(|gap| gap.length > 0);
        let mut longest_gaps = Vec::with_capacity(LONGEST_GAPS);
        longest_gaps.extend(gaps.map(|gap| Gap {
            begin: gap.begin.saturating_sub(start),
            ..*gap
        }));
        let cell = bench.push_cell(cpu, step, series);
        cell.counts = Some(Counts {
            valid,
            ..Counts::default()
        });
        cell.longest_gaps = longest_gaps;
    }
}
