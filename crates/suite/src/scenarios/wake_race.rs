//! The `wake_race` scenario: what happens if the wake-up interrupt arrives while a CPU is on its
//! way down.
//!
//! A CPU suspends, and its timer expires at an offset after the call. The offsets are first spread
//! evenly from the call to well after the CPU is down. If two neighboring offsets have different
//! outcomes, bisection finds the border between them. Every outcome is a result. If the interrupt
//! does not wake the CPU, another CPU does so after [`PATIENCE_US`]. Other CPUs may suspend at the
//! same time.
//!
//! A point lies at the offset at which its interrupt fell due, which may differ from the scheduled
//! one: an emulator or a hypervisor may run other CPUs between the setting of the timer and the
//! call.

use alloc::vec::Vec;

use crate::bench::FIRST_QUIET_US;
use crate::bench::states::UsableState;
use crate::bench::steps::{self, Steps};
use crate::bench::trials::{helper_of, neighbor_of};
use crate::measure::{
    ActionEnd, AfterRound, Metric, Outcome, Participants, Race, Reason, Rejection, Round, Spans,
    Summary, TimeSource, WakeUp, Waker,
};
use crate::model::{CellStep, Series, Skip, WakeSource};
use crate::plan::{ActiveCpus, Axis, Key, StateChoice, UsedStates, Variant, Work};
use hardware::board::CpuIndex;
use hardware::spec::counter_value::ticks_between;
use hardware::spec::pmf::Stamp;
use smccc::error::SUCCESS;

use super::descriptor::Descriptor;

pub(super) const WAKE_RACE: Descriptor = Descriptor {
    tag: "wake_race",
    name: "Wake-up interrupts while a CPU suspends",
    axis: Some(Axis::Offset),
    is_in_all: false,
    states: UsedStates::Both,
    variants: [CORE, DEEPEST].as_flattened(),
    arguments: &[&[Key::Offsets, Key::Repeats, Key::Neighbors]],
    compared: &[Key::Offsets, Key::Repeats],
    // Each ending in each of two states.
    cells: |size| 2 * RaceEnding::COUNT * size.cpus * size.plan.neighbors.iter().count(),
    heap: |size, cells| steps::heap(size, cells) + MAP_BYTES,
    work: |size, cells| Work {
        samples: 3 * size.rounds() * cells as u64,
        ..Work::default()
    },
    explanation: |_, _| EXPLANATION.into(),
    measure: |request| steps::measure(request, measure_steps),
    ..Descriptor::STEPS
};

const EXPLANATION: &str = "returned, abandoned: the call returned, before or after the power-down \
    began. woken, slept: the interrupt came before or after the CPU was down. lost: only an SGI \
    woke the CPU. Without PMF, returned includes abandoned, and slept includes woken. ";

/// The maximum number of suspends in a map, not counting rejected ones.
const POINTS_MAX: usize = 256;
/// How long a CPU may sleep before another CPU wakes it, in microseconds, counted from when its
/// interrupt was due and the CPU should have been down.
const PATIENCE_US: u64 = 5_000;
/// The first offset tried in the search for the end of the map, in ticks.
const FIRST_OFFSET: u64 = 64;
/// The last such offset, in microseconds.
const LAST_OFFSET_US: u64 = 100_000;
/// The largest difference between the scheduled offset and the true one, in ticks, that is ignored.
/// The last reads of the counter before the call are a few instructions apart, and which of them is
/// left depends on how the CPU comes back.
const OFFSET_SLACK: u64 = 16;
/// How many times a suspend is tried until it has an outcome.
const ATTEMPTS_MAX: u32 = 3;
/// How many times an offset is tried until a point is close enough to it.
const MISSES_MAX: u32 = 3;

/// The variants for the core state, in the order of [`RaceEnding::ALL`].
const CORE: [Variant; RaceEnding::COUNT] = [
    Variant::new("core_returned"),
    Variant::new("core_abandoned"),
    Variant::new("core_woken"),
    Variant::new("core_slept"),
    Variant::new("core_lost"),
];
/// The variants for the deepest state, in the order of [`RaceEnding::ALL`].
const DEEPEST: [Variant; RaceEnding::COUNT] = [
    Variant::new("deepest_returned"),
    Variant::new("deepest_abandoned"),
    Variant::new("deepest_woken"),
    Variant::new("deepest_slept"),
    Variant::new("deepest_lost"),
];

hardware::words! {
    /// How a suspend ended.
    pub enum RaceEnding, word {
        /// The call returned before the power-down.
        Returned = "returned",
        /// The call returned after the power-down had begun.
        Abandoned = "abandoned",
        /// The interrupt came before the CPU was down, and the CPU came back through its entry
        /// point.
        Woken = "woken",
        /// The interrupt came when the CPU was down.
        Slept = "slept",
        /// The interrupt did not wake the CPU.
        Lost = "lost",
    }
}

impl RaceEnding {
    /// Returns the variant that names a variant's state, and how its suspends ended; None for a
    /// variant of another scenario.
    pub fn from_variant(variant: Variant) -> Option<(Variant, Self)> {
        let states = [(StateChoice::Core, CORE), (StateChoice::Deepest, DEEPEST)];
        states.into_iter().find_map(|(state, variants)| {
            let mut endings = variants.into_iter().zip(Self::ALL);
            let (_, ending) = endings.find(|(other, _)| *other == variant)?;
            Some((state.variant(), ending))
        })
    }
}

/// One suspend.
#[derive(Clone, Copy)]
struct Point {
    /// Ticks from the call to the instant at which the interrupt falls due; 0 if that instant comes
    /// before the call. If the interrupt is lost, this is the scheduled offset.
    offset: u64,
    ending: RaceEnding,
    /// Ticks from that instant, or from the call if it comes later, to the CPU's first instruction
    /// after the suspend.
    latency: u64,
}

/// The memory for a map in bytes: its points, and their latencies.
const MAP_BYTES: usize = POINTS_MAX * (size_of::<Point>() + size_of::<u64>());

/// The map of one CPU and state.
struct RaceMap<'s, 'm> {
    steps: &'s mut Steps<'m>,
    state: UsableState,
    cpu: CpuIndex,
    cpus: ActiveCpus,
    /// The CPUs that suspend.
    participants: Participants,
    waker: Waker,
    /// Ticks from the instant that `WakeUp::race` counts from to the call, if nothing delays it.
    ticks_to_call: u64,
    /// Ticks from the start of a round until the CPU is down for certain. This includes twice the
    /// time until the call: if CPUs suspend at the same time on an emulator, they make their calls
    /// one after another.
    down: u64,
    points: &'s mut Vec<Point>,
}

fn measure_steps(steps: &mut Steps<'_>) {
    let states = steps.bench.setting().states;
    let core = states.core.filter(|core| states.deepest != Some(*core));
    let mut points = Vec::with_capacity(POINTS_MAX);
    for (state, variants) in [(core, &CORE), (states.deepest, &DEEPEST)] {
        let Some(state) = steps.usable(state) else {
            continue;
        };
        if state.timer_stops {
            steps.leave_out(Skip::OwnTimerStops);
            continue;
        }
        for cpus in steps.bench.plan().neighbors.iter() {
            for cpu in CpuIndex::all(steps.bench.cpu_count()) {
                let Some((participants, waker)) = choose_participants(steps, cpu, cpus) else {
                    steps.leave_out(Skip::NoNeighbor);
                    continue;
                };
                let mut map = RaceMap {
                    ticks_to_call: 0,
                    down: 0,
                    points: &mut points,
                    state,
                    cpu,
                    cpus,
                    participants,
                    waker,
                    steps,
                };
                map.points.clear();
                map.steps.bench.reset_totals();
                map.measure();
                map.add_cells(variants);
                // Disturbed suspends are not the firmware's fault.
                let disturbed = steps.bench.cell(cpu).rejected(Reason::Overlap);
                let undisturbed = steps.bench.totals().attempts - disturbed;
                steps.close_step(cpu, points.len() as u32, undisturbed.max(1));
            }
        }
    }
}

/// Returns the CPUs that suspend while the map for `cpu` is measured, and what wakes a CPU that its
/// interrupt does not wake. Returns None if this map cannot be measured.
fn choose_participants(
    steps: &Steps<'_>,
    cpu: CpuIndex,
    active_cpus: ActiveCpus,
) -> Option<(Participants, Waker)> {
    let bench = &steps.bench;
    let (cpus, lead) = (bench.setting().cpus, bench.lead());
    let helper = if cpu == lead {
        helper_of(bench.machine(), cpus, bench.plan(), lead)
    } else {
        Some(lead)
    };
    let participants = match active_cpus {
        ActiveCpus::Alone => Participants::Only(cpu),
        ActiveCpus::All => Participants::All,
        ActiveCpus::Near | ActiveCpus::Far => Participants::Pair(
            cpu,
            neighbor_of(bench.machine(), cpus, cpu, active_cpus, helper)?,
        ),
    };
    let waker = helper.map_or(Waker::OwnTimers, Waker::Helper);
    (!bench.is_lost(cpu)).then_some((participants, waker))
}

impl RaceMap<'_, '_> {
    /// Takes the points of the map.
    fn measure(&mut self) {
        let plan = self.steps.bench.plan();
        let end = self.find_end();
        self.down += end;
        self.steps.bench.clear_cells();
        let last = u64::from(plan.offsets) - 1;
        for nth in 0..=last {
            self.add_points(end * nth / last);
        }
        let (mut from, mut misses) = (0, 0);
        while self.points.len() + plan.repeats as usize <= POINTS_MAX
            && let Some((one, other)) = self.border(from)
        {
            self.add_points(one.midpoint(other));
            misses += 1;
            let is_between = |point: &Point| one < point.offset && point.offset < other;
            if self.points.iter().any(is_between) {
                misses = 0;
            } else if misses == MISSES_MAX {
                (from, misses) = (other, 0);
            }
        }
    }

    /// Returns two neighboring offsets with different outcomes that are not adjacent, starting at
    /// `from`.
    fn border(&self, from: u64) -> Option<(u64, u64)> {
        let is_border = |[one, other]: &&[Point; 2]| {
            one.offset >= from && one.ending != other.ending && one.offset + 1 < other.offset
        };
        let [one, other] = self.points.array_windows().find(is_border)?;
        Some((one.offset, other.offset))
    }

    /// Finds an offset from which on the CPU is down, because its wake-up takes the same time.
    fn find_end(&mut self) -> u64 {
        let longest = self.steps.bench.us(LAST_OFFSET_US);
        let first = self.run(longest);
        self.down = 2 * ticks_between(first.start, first.before);
        let from_call = ticks_between(first.before, first.due());
        self.ticks_to_call = longest.saturating_sub(from_call);
        let expected = ticks_between(first.due(), first.returned_at);
        let mut offset = FIRST_OFFSET;
        while offset < longest {
            if let Some(point) = self.point(offset)
                && point.ending == RaceEnding::Slept
                && point.latency <= expected + expected / 8
            {
                return offset;
            }
            offset *= 2;
        }
        longest
    }

    /// Adds the points for an offset, in order.
    fn add_points(&mut self, offset: u64) {
        for _ in 0..self.steps.bench.plan().repeats {
            if let Some(point) = (0..ATTEMPTS_MAX).find_map(|_| self.attempt(offset)) {
                let index = self
                    .points
                    .partition_point(|other| other.offset <= point.offset);
                self.points.insert(index, point);
            }
        }
    }

    /// Suspends once, as an attempt to get a point.
    fn attempt(&mut self, offset: u64) -> Option<Point> {
        self.steps.bench.count_attempt();
        self.point(offset)
    }

    /// Suspends once. The interrupt falls due `offset` ticks after the call, unless something
    /// delays the call. Counts a suspend without an outcome.
    fn point(&mut self, offset: u64) -> Option<Point> {
        // At offset 0, the interrupt is already pending.
        let expires_in = if offset == 0 {
            0
        } else {
            self.ticks_to_call + offset
        };
        let outcome = self.run(expires_in);
        let bench = &mut self.steps.bench;
        let Some(ending) = ending(&outcome, bench.time_source()) else {
            let rejection = match outcome.judge(TimeSource::Counter) {
                Err(rejection) if outcome.end != ActionEnd::WokenByFallback => rejection,
                // The SGI may have come too early.
                _ => Rejection::plain(Reason::Overlap),
            };
            bench.cell_mut(self.cpu).reject(rejection);
            let later = (2 * self.down + bench.us(PATIENCE_US)).min(bench.us(LAST_OFFSET_US));
            self.down = self.down.max(later);
            return None;
        };
        let from_call = ticks_between(outcome.before, outcome.due());
        let is_lost = ending == RaceEnding::Lost;
        if !is_lost && expires_in > 0 {
            self.ticks_to_call = self.ticks_to_call.min(expires_in.saturating_sub(from_call));
        }
        let is_on_schedule = from_call.abs_diff(offset) <= OFFSET_SLACK;
        Some(Point {
            offset: if is_lost || is_on_schedule {
                offset
            } else {
                from_call
            },
            ending,
            latency: ticks_between(outcome.due().max(outcome.before), outcome.returned_at),
        })
    }

    /// Runs a round in which the interrupt falls due after `expires_in` ticks.
    fn run(&mut self, expires_in: u64) -> Outcome {
        let race = Race {
            cpu: self.cpu,
            expires_in,
        };
        let bench = &mut self.steps.bench;
        let spans = Spans {
            lead_in: bench.lead_in(Participants::All),
            sleep: expires_in + self.down + bench.us(PATIENCE_US),
            quiet: bench.us(FIRST_QUIET_US),
            patience: None,
        };
        let round = Round {
            wake_up: WakeUp {
                waker: self.waker,
                race: Some(race),
                ..WakeUp::default()
            },
            afterwards: AfterRound::Stay,
            ..Round::new(self.participants, self.state.action(), spans)
        };
        bench.run_round(&round);
        bench.count_trial();
        bench.outcome(self.cpu)
    }

    /// Adds a cell for each outcome. The first outcome always has a cell, which also has the counts
    /// of the rejected suspends.
    fn add_cells(&mut self, variants: &[Variant; RaceEnding::COUNT]) {
        let mut column = Vec::with_capacity(self.points.len());
        let mut counts = self.steps.bench.cell(self.cpu).counts();
        for (ending, variant) in RaceEnding::ALL.into_iter().zip(variants) {
            let (mut first, mut last) = (None, None);
            column.clear();
            let has_ending = |point: &&Point| point.ending == ending;
            for point in self.points.iter().filter(has_ending) {
                first.get_or_insert(point.offset);
                last = Some(point.offset);
                column.push(point.latency);
            }
            if first.is_none() && ending != RaceEnding::Returned {
                continue;
            }
            counts.valid = column.len() as u32;
            let series = alloc::vec![
                Series::with_summary(Metric::Wake, Summary::compute(&mut column)),
                Series::with_summary(Metric::LastOffset, Summary::compute(last.as_mut_slice())),
            ];
            let step = CellStep {
                value: first,
                cpus: self.cpus,
                ..CellStep::with_variant(*variant)
            };
            let cell = self.steps.bench.push_cell(self.cpu, step, series);
            cell.counts = Some(core::mem::take(&mut counts));
            cell.helper = self.waker.helper();
            cell.wake_source = Some(WakeSource::OwnTimers);
            cell.power_state = Some(self.state.power_state);
        }
    }
}

/// Returns how a suspend ended, or None if this is unknown.
fn ending(outcome: &Outcome, times: TimeSource) -> Option<RaceEnding> {
    outcome.before.zip(outcome.returned_at)?;
    let down = if times.has_pmf() {
        outcome.stamp(Stamp::EnterHwLowPwr)
    } else {
        None
    };
    let up = outcome.stamp(Stamp::ExitHwLowPwr);
    let is_down = down > outcome.before;
    Some(match outcome.end {
        ActionEnd::Returned if outcome.code != Some(SUCCESS) => return None,
        ActionEnd::Returned if is_down => RaceEnding::Abandoned,
        ActionEnd::Returned => RaceEnding::Returned,
        ActionEnd::Resumed if is_down && outcome.due() < down => RaceEnding::Woken,
        ActionEnd::Resumed => RaceEnding::Slept,
        // The SGI must have come while the CPU was down.
        ActionEnd::WokenByFallback
            if times.has_pmf() && (!is_down || outcome.due() < down || up < outcome.due()) =>
        {
            return None;
        }
        ActionEnd::WokenByFallback => RaceEnding::Lost,
        _ => return None,
    })
}
