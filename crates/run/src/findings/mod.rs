//! Findings: what the figures of a scenario show, and the basis of each.

mod all;
mod counts;
mod last_man;
mod lock_queue;
mod reached;
mod resolution;
#[cfg(test)]
mod tests;
mod waited;
mod wake_source;
mod words;

pub use self::all::findings_of;
pub use self::lock_queue::{Arrival, is_queue, without_long_flushes};
pub use self::resolution::tick_ns;
pub use self::words::{Detail, list};
