//! Findings of one run.

mod counts;
mod explain;
pub(crate) mod figures;
mod finding;
mod last_man;
mod points;
pub(crate) mod queue;
mod wakeups;

pub use self::explain::explain;
pub(crate) use self::finding::basis;
pub use self::finding::{Basis, Confidence, Finding, Fit, Kind, Side};
