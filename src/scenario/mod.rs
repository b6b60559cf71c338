//! The scenarios: what is measured, in which order, how often, and what counts.

pub(crate) mod bench;
mod calibrate;
mod cpu_on;
// mod fake;
pub(crate) mod micro;
mod needs;
mod off;
mod parallel;
pub(crate) mod progress;
mod reached;
mod serial;
pub(crate) mod stage;
mod states;
pub(crate) mod suite;
pub(crate) mod sweep;
mod tally;
// mod tests;
pub(crate) mod timer_latency;
mod wakers;

pub use self::needs::{Needs, Workspace};
pub use self::states::States;
pub(crate) use self::suite::PLACEMENTS;
pub use self::wakers::Wakers;
