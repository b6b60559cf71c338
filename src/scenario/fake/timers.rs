//! The timers of the fake machine: late by as much as a test wants.

use std::boxed::Box;
use std::vec::Vec;

use crate::measure::{Fault, Round, Tally, Window};

/// From the first instruction of a handler to its Rust, in ticks.
pub const PROLOGUE: u64 = 20;

/// Ticks by which a CPU's handler is late, by CPU and by the expiry's number in the
/// window, from 0.
pub type Lateness = Box<dyn FnMut(usize, u32) -> u64>;

/// Timers, each with its tally.
pub struct Timers {
    pub tallies: Vec<Tally>,
    pub lateness: Lateness,
    /// The CPU whose timer goes wrong, in the window of this number, and how.
    pub fault: Option<(usize, u64, Fault)>,
    windows: u64,
}

impl Timers {
    pub fn new(cpus: usize) -> Self {
        Self {
            tallies: std::vec![Tally::default(); cpus],
            lateness: Box::new(|cpu, k| 30 + 100 * cpu as u64 + u64::from(k % 7)),
            fault: None,
            windows: 0,
        }
    }

    /// Lets the timers of a window expire, but for CPUs that are lost.
    pub fn run(&mut self, round: &Round, start: u64, lost: &[bool]) {
        let window = round.window.expect("a window");
        let schedule = window.schedule;
        assert_eq!(
            round.sleep,
            schedule.period * u64::from(schedule.expiries),
            "a round lasts as long as its window"
        );
        for cpu in (0..lost.len()).filter(|cpu| window.measures(*cpu) && !lost[*cpu]) {
            self.expire(cpu, start, &window);
        }
        self.windows += 1;
    }

    fn expire(&mut self, cpu: usize, start: u64, window: &Window) {
        let fault = self.fault.filter(|f| (f.0, f.1) == (cpu, self.windows));
        let tally = &mut self.tallies[cpu];
        let mut next = Some(tally.begin(start, &window.schedule));
        while let Some(due) = next {
            next = match fault.map(|fault| fault.2) {
                Some(Fault::Stray(intid)) if tally.window.expiries > 2 => {
                    tally.stray = Some(intid);
                    None
                }
                Some(Fault::Silent) if tally.window.expiries > 2 => None,
                Some(Fault::Spurious) if tally.window.expiries > 2 => tally.spurious(),
                _ => {
                    let entry = due + (self.lateness)(cpu, tally.window.expiries);
                    tally.expired(entry, entry + PROLOGUE)
                }
            };
        }
    }
}
