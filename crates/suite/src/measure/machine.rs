//! The interface between scenarios and hardware. The bare-metal code implements [`Machine`] with
//! real CPUs; tests implement it with fake firmware and a fake clock.

use hardware::board::CpuIndex;
use hardware::devices::its::NoLpi;
use smccc::psci::{Error, SuspendMode};

use super::entry_state::EntryState;
use super::facts::{Facts, Identity};
use super::outcome::Outcome;
use super::rejection::Loss;
use super::round::Round;
use super::stress::RecentCall;
use super::tally::Tally;

/// A machine that can run rounds.
pub trait Machine {
    /// Returns the facts about the machine.
    fn facts(&self) -> &Facts;

    /// Runs one round in bounded time and writes one outcome for each CPU on the board. If a CPU is
    /// lost in the round, its action ends with [`super::outcome::ActionEnd::Lost`], and it does not
    /// take part in later rounds.
    fn run_round(&mut self, round: &Round, outcomes: &mut [Outcome]);

    /// Returns the counts kept by the CPU's timer handler; None if there are none or the CPU is
    /// lost.
    fn tally(&mut self, cpu: CpuIndex) -> Option<&mut Tally>;

    /// Calls SET_SUSPEND_MODE on the lead while all other CPUs are off.
    fn set_suspend_mode(&mut self, mode: SuspendMode) -> Result<(), Error>;

    /// Calls a firmware function on the lead, between rounds, and returns X0.
    fn call_firmware(&mut self, function: u32, arguments: [u64; 3]) -> u64;

    /// Prepares the lead to send LPIs to itself. LPIs then stay enabled.
    fn enable_lpi(&mut self) -> Result<(), NoLpi>;

    /// Sets the minimum number of ticks from a CPU's first OFF to its next CPU_ON, for later
    /// rounds.
    fn set_cpu_on_after(&mut self, ticks: u64);

    /// Returns the return value of the last round's second CPU_ON; see [`Round::repeats_cpu_on`].
    fn second_cpu_on(&self) -> Option<i32>;

    /// Returns the CPU at which a secure interrupt has stayed pending since the last call, if any.
    /// It hides all other interrupts, and each WFI and each suspend ends immediately.
    fn take_secure_interrupt(&mut self) -> Option<CpuIndex>;

    /// Returns the address at which CPUs enter after CPU_ON.
    fn entry_point(&self) -> u64;

    /// Returns the state in which the firmware last entered a CPU other than the lead, after CPU_ON
    /// or a power-down; None if the CPU has never been on.
    fn entry_state(&self, cpu: CpuIndex) -> Option<EntryState>;

    /// Returns one of the last calls that the CPU made in a round of random calls, counted from the
    /// newest; None if it made fewer calls, or if fewer are kept ([`RECENT_CALLS`](super::RECENT_CALLS)).
    fn recent_call(&self, cpu: CpuIndex, age: usize) -> Option<RecentCall>;

    /// Returns how the CPU was lost, if it was lost in an earlier round.
    fn lost(&self, cpu: CpuIndex) -> Option<Loss>;

    /// Returns true if the CPU was lost in an earlier round.
    fn is_lost(&self, cpu: CpuIndex) -> bool {
        self.lost(cpu).is_some()
    }

    /// Returns how many of the first `cpus` CPUs are lost.
    fn count_lost(&self, cpus: usize) -> usize {
        CpuIndex::all(cpus).filter(|cpu| self.is_lost(*cpu)).count()
    }

    /// Returns the CPU's identity; None if the CPU has never been on.
    fn identity(&self, cpu: CpuIndex) -> Option<Identity>;
}
