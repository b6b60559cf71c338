//! Where a scenario outside TFTF's suite is measured: the machine, room to
//! measure in, and the points that come of it.

use crate::board::Cpu;
use crate::measure::{Machine, Outcome, REASONS};
use crate::model::{Failure, Point, Row, Skip, Spread, WakeSource};
use crate::plan::Plan;

/// A list that fills what it was given, and no more.
pub struct Taken<'b, T> {
    room: &'b mut [T],
    len: usize,
}

impl<'b, T> Taken<'b, T> {
    /// An empty list that can become as long as `room`.
    #[must_use]
    pub fn new(room: &'b mut [T]) -> Self {
        Self { room, len: 0 }
    }

    /// Adds `item`, if there is room: what a scenario adds is what it said
    /// that it needs.
    pub fn push(&mut self, item: T) {
        if let Some(place) = self.room.get_mut(self.len) {
            *place = item;
            self.len += 1;
        }
    }

    /// How many are in it.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }
}

/// Room that a scenario needs beyond what all need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Room {
    /// Points that it has at most.
    pub points: usize,
    /// Histograms that it has at most.
    pub histograms: usize,
    /// Figures that it keeps at the same time.
    pub column: usize,
    /// Whether the CPUs need tallies of their timers.
    pub tallies: bool,
    /// Bytes that each CPU writes to; whole pages.
    pub buffer: u64,
}

/// One scenario under way.
pub struct Stage<'b, M> {
    /// Who runs rounds.
    pub machine: &'b mut M,
    /// What was asked for.
    pub plan: &'b Plan,
    /// The board's CPUs.
    pub cpus: &'b [Cpu],
    /// One for each CPU: the round in hand.
    pub outcomes: &'b mut [Outcome],
    /// One for each CPU: the first half of a round of two.
    pub firsts: &'b mut [Outcome],
    /// For each iteration, one for each CPU.
    pub kept: &'b mut [Outcome],
    /// One for each CPU, if the scenario is a sweep.
    pub rows: &'b mut [Row],
    /// At least as many as [`Room::column`] said.
    pub column: &'b mut [u64],
    /// What was found.
    pub points: Taken<'b, Point>,
    /// How some of it is spread.
    pub histograms: Taken<'b, Spread>,
    /// Samples asked for of each point.
    pub asked: u32,
    /// Rounds that were run for them.
    pub attempts: u32,
    /// Rounds apart from those.
    pub trials: u32,
    /// `power_state`, where one was asked for.
    pub power_state: Option<u32>,
    /// The source that woke CPUs: the one of the states that stop timers, where
    /// there is one.
    pub wake_source: WakeSource,
    /// Whether PMF's timestamps are used.
    pub pmf: bool,
    /// Why a part of the scenario was left out: states, and OS-initiated mode.
    pub left_out: [Option<Skip>; 2],
    /// Batches of the shortest warm-up, where the time cut one short.
    pub warmed: Option<u32>,
    /// What did not count, by reason.
    pub rejected: [u32; REASONS],
}

impl<M: Machine> Stage<'_, M> {
    /// The first CPU that is lost, as what the scenario fails for.
    #[must_use]
    pub fn lost(&self) -> Option<Failure> {
        (0..self.cpus.len()).find_map(|cpu| {
            let loss = self.machine.lost(cpu)?;
            let cpu = cpu as u16;
            Some(Failure::CpuLost { cpu, loss })
        })
    }
}
