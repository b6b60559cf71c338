//! The timers of the fake machine, which expire in the windows of `timer_latency`, and the gaps that
//! its CPUs find in the windows of `gaps`.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use hardware::board::CpuIndex;

use crate::measure::{Gap, Tally, Watched, Window};
use crate::model::TimerFault;

/// Ticks from the first instruction of a timer's handler to its Rust code.
const PROLOGUE: u64 = 20;

/// Ticks from one read of the counter to the next in a loop.
const LOOP: u64 = 20;

/// Returns the begin of each gap and its length, for a CPU and a window.
type GapsOf = dyn FnMut(CpuIndex, u64) -> Vec<(u64, u64)>;

/// Each CPU's timer.
pub(super) struct FakeTimers {
    tallies: Vec<Tally>,
    /// How many ticks late a CPU's timer is handled, by CPU and by expiry number within the window,
    /// counting from 0.
    pub(super) lateness: Box<dyn FnMut(CpuIndex, u32) -> u64>,
    /// The gaps that a CPU finds, by CPU and by window number.
    pub(super) gaps: Box<GapsOf>,
    /// The injected fault: the timer's CPU, the window number, and the kind of fault.
    pub(super) fault: Option<(CpuIndex, u64, TimerFault)>,
    windows: u64,
}

impl FakeTimers {
    /// Returns timers for `cpus` CPUs.
    pub(super) fn new(cpus: usize) -> Self {
        Self {
            tallies: vec![Tally::default(); cpus],
            lateness: Box::new(|cpu, round| 30 + 100 * cpu.index() as u64 + u64::from(round % 7)),
            gaps: Box::new(|_, _| Vec::new()),
            fault: None,
            windows: 0,
        }
    }

    /// Returns the CPU's tally.
    pub(super) fn tally(&mut self, cpu: CpuIndex) -> Option<&mut Tally> {
        self.tallies.get_mut(cpu.index())
    }

    /// Makes a window's timers expire, except those of lost CPUs.
    pub(super) fn expire(&mut self, window: &Window, start: u64, lost: &[bool]) {
        let schedule = window.schedule;
        let cpus = CpuIndex::all(self.tallies.len());
        for ((cpu, tally), is_lost) in cpus.zip(&mut self.tallies).zip(lost) {
            if !window.measures(cpu) || *is_lost {
                continue;
            }
            let fault = match self.fault {
                Some((of_cpu, of_window, fault)) if (of_cpu, of_window) == (cpu, self.windows) => {
                    Some(fault)
                }
                _ => None,
            };
            let mut next = Some(tally.begin(start, &schedule));
            if window.watched == Watched::Counter {
                // Each CPU has its own windows.
                let seconds = tally.settled.expiries.into();
                for (begin, length) in (self.gaps)(cpu, seconds) {
                    let begin = start + begin;
                    tally.add_gap(Gap { begin, length });
                }
                tally.finish_reading(LOOP);
                next = None;
            }
            while let Some(due) = next {
                let is_faulty = tally.window.expiries > 2;
                next = match fault {
                    Some(TimerFault::Spurious) if is_faulty => tally.spurious(),
                    Some(fault) if is_faulty => {
                        if let TimerFault::Stray(intid) = fault {
                            tally.stray = Some(intid);
                        }
                        None
                    }
                    _ => {
                        let entry = due + (self.lateness)(cpu, tally.window.expiries);
                        tally.expired(entry, entry + PROLOGUE)
                    }
                };
            }
        }
        self.windows += 1;
    }
}
