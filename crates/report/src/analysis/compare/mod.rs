//! Compares a run with a baseline.

mod change;
mod compare;
mod comparison;
mod judge;
mod pmf_cost;
mod shown_side;
mod sides;
#[cfg(test)]
mod tests;

pub(crate) use self::change::{Change, ChangeOutcome, ComparedValue, percent};
pub use self::compare::compare;
pub(super) use self::comparison::baseline_scenario;
pub(crate) use self::comparison::{
    CHANGED, ChangeList, ComparedScenario, Difference, scenario_title,
};
pub use self::comparison::{Comparison, Options};
pub(super) use self::shown_side::ShownSide;
pub(super) use self::sides::Sides;
pub use self::sides::name_rows;
pub(crate) use self::sides::{RowCpu, RowPairing};
pub(crate) use crate::analysis::conditions::AllowedDifference;
