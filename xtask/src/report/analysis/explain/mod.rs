//! Findings of one run.

mod counts;
mod explain;
pub(crate) mod figures;
mod last_man;
mod points;
pub(crate) mod queue;
mod wakeups;

pub use self::explain::{Basis, Confidence, Finding, Fit, Kind, Side, explain};
