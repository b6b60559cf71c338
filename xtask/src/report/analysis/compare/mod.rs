//! A run beside a baseline.

mod change;
mod cluster_flush;
mod compare;
mod comparison;
mod differences;
mod findings;
mod judge;
mod queue_flushes;
mod sentences;
mod sides;
#[cfg(test)]
mod tests;

pub use self::change::{Change, Outcome, Value, is_close};
pub use self::compare::compare;
pub use self::comparison::{
    ComparedScenario, Comparison, Judged, Options, Refused, TOLERANCE_PPM, baseline_scenario,
    scenario_title,
};
pub use self::sides::{Keyed, RowIs};
pub use crate::report::analysis::conditions::Across;
