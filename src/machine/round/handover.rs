//! The messages that the lead and the other CPUs exchange in a round.

use suite::measure::order::Order;
use suite::measure::{Cause, Outcome, Tally};
use sync::Stop;

/// The state shared by the lead and one other CPU.
pub type CpuHandover = sync::Handover<Order, Outcome, Tally>;

/// Returns the cause to report for a CPU that stopped.
pub const fn cause_of(stop: Stop) -> Cause {
    match stop {
        Stop::Exception => Cause::Exception,
        Stop::WrongContext => Cause::Context,
    }
}
