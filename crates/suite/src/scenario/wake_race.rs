//! The `wake_race` scenario: what happens if the wake-up interrupt arrives while a CPU is on its
//! way down.
//!
//! A CPU suspends, and its timer expires at an offset after the call. The offsets are first spread
//! evenly from the call to well after the CPU is down. If two neighboring offsets have different
//! outcomes, bisection finds the border between them. Every outcome is a result. If the interrupt
//! does not wake the CPU, another CPU does so after [`PATIENCE_US`]. Other CPUs may suspend at the
//! same time.

use alloc::vec::Vec;

use hardware::board::CpuIndex;
use hardware::spec::counter_value::{CounterValue, ticks_between};
use hardware::spec::pmf::Stamp;
use run::measure::{ActionEnd, After, Metric, Outcome, Race, Round, Summary, Waker, Who};
use run::model::{Cell, CellStep, Counts, Failure, Series, Skip, Variant, WakeSource};
use run::plan::How;
use smccc::error::SUCCESS;

use super::bench::{QUIET_US, first_lost, lead_in};
use super::states::Chosen;
use super::steps::Sweep;
use super::trials::{helper_of, neighbor_of};

/// The maximum number of offsets and repeats in a map.
const POINTS_MAX: usize = 256;
/// How long a CPU may sleep before another CPU wakes it, in microseconds, counted from when its
/// interrupt was due and the CPU should have been down.
const PATIENCE_US: u64 = 5_000;
/// The first offset at which the search for the end of the map looks, in ticks.
const FIRST: u64 = 64;
/// The last such offset, in microseconds.
const LONGEST_US: u64 = 100_000;
/// How many times a round without an outcome is repeated.
const TRIES: u32 = 3;

/// The outcomes, for the core state and the deepest state.
const CORE: [Variant; 5] = [
    Variant::CoreReturned,
    Variant::CoreAbandoned,
    Variant::CoreWoken,
    Variant::CoreSlept,
    Variant::CoreLost,
];
const DEEPEST: [Variant; 5] = [
    Variant::DeepestReturned,
    Variant::DeepestAbandoned,
    Variant::DeepestWoken,
    Variant::DeepestSlept,
    Variant::DeepestLost,
];

/// How a suspend ended, as an index into [`CORE`] and [`DEEPEST`].
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// The call returned before the power-down.
    Returned,
    /// The call returned after the power-down had begun.
    Abandoned,
    /// The interrupt came before the CPU was down, and the CPU came back through its entry point.
    Woken,
    /// The interrupt came when the CPU was down.
    Slept,
    /// The interrupt did not wake the CPU.
    Lost,
}

/// One suspend.
#[derive(Clone, Copy)]
struct Point {
    /// Ticks from the call to the instant at which the interrupt falls due.
    x: u64,
    ending: Ending,
    /// Ticks from that instant to the CPU's first instruction after the suspend.
    latency: u64,
}

/// The memory for a map in bytes: its points, and their latencies.
pub(crate) const MAP_BYTES: usize = POINTS_MAX * (size_of::<Point>() + size_of::<u64>());

struct RaceMap<'s, 'm> {
    sweep: &'s mut Sweep<'m>,
    state: Chosen,
    cpu: CpuIndex,
    how: How,
    /// The CPUs that suspend.
    who: Who,
    waker: Waker,
    /// Ticks from the instant that [`Round::race`] counts from to the call.
    lead: u64,
    /// Ticks from the start of a round until the CPU is down for certain. This includes twice the
    /// time until the call: if CPUs suspend at the same time on an emulator, they make their calls
    /// one after another.
    down: u64,
    points: Vec<Point>,
}

pub(crate) fn measure_steps(sweep: &mut Sweep<'_>) {
    let states = sweep.bench.setting.states;
    let core = states.core.filter(|core| states.deepest != Some(*core));
    let mut points = Vec::with_capacity(POINTS_MAX);
    for (state, variants) in [(core, CORE), (states.deepest, DEEPEST)] {
        let Some(state) = sweep.usable(state) else {
            continue;
        };
        if state.timer_stops {
            sweep.leave_out(Skip::OwnTimerStops);
            continue;
        }
        for how in sweep.bench.setting.plan.beside.iter() {
            for cpu in CpuIndex::all(sweep.bench.cells.len()) {
                let Some((who, waker)) = participants(sweep, cpu, how) else {
                    sweep.leave_out(Skip::NoNeighbor);
                    continue;
                };
                let mut map = RaceMap {
                    lead: 0,
                    down: 0,
                    points: core::mem::take(&mut points),
                    state,
                    cpu,
                    how,
                    who,
                    waker,
                    sweep,
                };
                map.points.clear();
                let is_complete = map.measure().is_some();
                map.add_cells(&variants);
                points = map.points;
                let bench = &sweep.bench;
                let lost = first_lost(bench.machine, bench.cells.len());
                let (valid, asked) = (points.len() as u32, bench.setting.plan.offsets);
                let few = Failure::TooFewSamples { cpu, valid, asked };
                let failure = lost.or((!is_complete).then_some(few));
                sweep.failure = sweep.failure.or(failure);
                sweep.is_measured = true;
            }
        }
    }
}

/// Returns the CPUs that suspend while the map for `cpu` is measured, and what wakes a CPU that its
/// interrupt does not wake. Returns None if this map cannot be measured.
fn participants(sweep: &Sweep<'_>, cpu: CpuIndex, how: How) -> Option<(Who, Waker)> {
    let bench = &sweep.bench;
    let (cpus, lead) = (bench.setting.cpus, bench.lead());
    let helper = match cpu == lead {
        true => helper_of(bench.machine, cpus, lead),
        false => Some(lead),
    };
    let who = match how {
        How::Alone => Who::Only(cpu),
        How::All => Who::All,
        How::Near | How::Far => Who::Pair(cpu, neighbor_of(bench.machine, cpus, cpu, how, helper)?),
    };
    let waker = helper.map_or(Waker::OwnTimers, Waker::Helper);
    (!bench.machine.is_lost(cpu)).then_some((who, waker))
}

impl RaceMap<'_, '_> {
    /// Measures the map; returns None if the CPU has no outcome at some offset.
    fn measure(&mut self) -> Option<()> {
        let plan = self.sweep.bench.setting.plan;
        let end = self.find_end()?;
        self.down += end;
        let last = u64::from(plan.offsets) - 1;
        for place in 0..=last {
            self.add(end * place / last)?;
        }
        while let Some(middle) = self.border() {
            if self.points.len() + plan.repeats as usize > POINTS_MAX {
                break;
            }
            self.add(middle)?;
        }
        Some(())
    }

    /// Returns an offset between two neighbors with different outcomes, if they are not adjacent.
    fn border(&self) -> Option<u64> {
        let mut pairs = self.points.array_windows();
        let border = pairs.find(|[one, other]| one.ending != other.ending && one.x + 1 < other.x);
        border.map(|[one, other]| one.x.midpoint(other.x))
    }

    /// Finds an offset from which on the CPU is down, because its wake-up takes the same time.
    fn find_end(&mut self) -> Option<u64> {
        let longest = self.sweep.bench.us(LONGEST_US);
        let first = self.run(longest)?;
        self.down = 2 * ticks_between(first.start, first.before);
        let from_call = ticks_between(first.before, first.due);
        self.lead = longest.saturating_sub(from_call);
        let expected = ticks_between(first.due, first.after);
        let mut x = FIRST;
        while x < longest {
            let point = self.point(x);
            if point.is_some_and(|it| {
                it.ending == Ending::Slept && it.latency <= expected + expected / 8
            }) {
                return Some(x);
            }
            x *= 2;
        }
        Some(longest)
    }

    /// Adds the points for an offset, in order.
    fn add(&mut self, x: u64) -> Option<()> {
        for _ in 0..self.sweep.bench.setting.plan.repeats {
            let point = self.point(x)?;
            let place = self.points.partition_point(|it| it.x <= x);
            self.points.insert(place, point);
            self.sweep.conditions.attempts += 1;
        }
        Some(())
    }

    fn point(&mut self, x: u64) -> Option<Point> {
        // At offset 0, the interrupt is already pending.
        let after = if x == 0 { 0 } else { self.lead + x };
        (0..TRIES).find_map(|_| {
            let outcome = self.run(after)?;
            let Some(ending) = ending(&outcome, self.sweep.bench.pmf) else {
                // The SGI may have come too early.
                let bench = &self.sweep.bench;
                self.down = (2 * self.down + bench.us(PATIENCE_US)).min(bench.us(LONGEST_US));
                return None;
            };
            let latency = ticks_between(outcome.due, outcome.after);
            Some(Point { x, ending, latency })
        })
    }

    /// Runs a round in which the interrupt falls due after `after` ticks. Returns None if the CPU
    /// did not take part.
    fn run(&mut self, after: u64) -> Option<Outcome> {
        let race = Race {
            cpu: self.cpu,
            after,
        };
        let bench = &mut self.sweep.bench;
        let round = Round {
            race: Some(race),
            sleep: after + self.down + bench.us(PATIENCE_US),
            quiet: bench.us(QUIET_US),
            waker: self.waker,
            after: After::Stay,
            lead_in: lead_in(bench.machine.facts(), Who::All, bench.cells.len()),
            ..Round::new(self.who, self.state.action(), 0)
        };
        bench.machine.run(&round, &mut bench.outcomes);
        self.sweep.conditions.trials += 1;
        let outcome = self.sweep.bench.outcomes[self.cpu.place()];
        outcome.before.map(|_| outcome)
    }

    /// Adds a cell for each outcome.
    fn add_cells(&mut self, variants: &[Variant; 5]) {
        let mut column = Vec::with_capacity(self.points.len());
        for (place, variant) in variants.iter().enumerate() {
            let own = || self.points.iter().filter(|it| it.ending as usize == place);
            let Some((first, last)) = own().next().zip(own().next_back()) else {
                continue;
            };
            column.clear();
            column.extend(own().map(|it| it.latency));
            let series = alloc::vec![
                Series::of(Metric::Wake, Summary::of(&mut column)),
                Series::of(Metric::Until, Summary::of(&mut [last.x])),
            ];
            let step = CellStep {
                x: Some(first.x),
                how: self.how,
                ..CellStep::of(*variant)
            };
            self.sweep.bench.results.push(Cell {
                counts: Some(Counts {
                    valid: column.len() as u32,
                    ..Counts::default()
                }),
                helper: self.waker.helper(),
                wake_source: Some(WakeSource::OwnTimers),
                power_state: Some(self.state.power_state),
                series,
                ..Cell::new(self.cpu, step)
            });
        }
    }
}

/// Returns how a suspend ended, or None if it has no valid outcome.
fn ending(outcome: &Outcome, pmf: bool) -> Option<Ending> {
    let down = CounterValue::new(outcome.stamps.at(Stamp::EnterHwLowPwr)).filter(|_| pmf);
    let up = CounterValue::new(outcome.stamps.at(Stamp::ExitHwLowPwr));
    let is_down = down > outcome.before;
    Some(match outcome.end {
        ActionEnd::Returned if outcome.code != Some(SUCCESS) => return None,
        ActionEnd::Returned if is_down => Ending::Abandoned,
        ActionEnd::Returned => Ending::Returned,
        ActionEnd::Resumed if is_down && outcome.due < down => Ending::Woken,
        ActionEnd::Resumed => Ending::Slept,
        // The SGI must have come while the CPU was down.
        ActionEnd::NotRung if pmf && (!is_down || outcome.due < down || up < outcome.due) => {
            return None;
        }
        ActionEnd::NotRung => Ending::Lost,
        ActionEnd::NotRun
        | ActionEnd::WentOff
        | ActionEnd::ReadBack
        | ActionEnd::Pending
        | ActionEnd::WrongContext
        | ActionEnd::GaveUp
        | ActionEnd::Lost(_) => return None,
    })
}
