//! Compares a run with a baseline.

mod change;
mod compare;
mod comparison;
mod figure_change;
mod judge;
mod pmf_cost;
mod shown_side;
mod sides;
#[cfg(test)]
mod tests;

pub use self::change::{Change, ChangeOutcome, ComparedValue, percent};
pub use self::compare::compare;
pub(super) use self::comparison::baseline_scenario;
pub use self::comparison::{CHANGED, ChangeList, ComparedScenario, Comparison, Options, Refused};
pub(crate) use self::comparison::{Difference, has_one_method, scenario_title};
pub use self::figure_change::{FigureChange, OutcomeCounts};
pub(super) use self::shown_side::ShownSide;
pub(super) use self::sides::Sides;
pub use self::sides::{RowCpu, RowPairing, name_rows};
pub use crate::analysis::conditions::AllowedDifference;
