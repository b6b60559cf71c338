//! Compares a run with a baseline.

mod change;
mod cluster_flush;
mod compare;
mod comparison;
mod differences;
mod finding;
mod findings;
mod judge;
mod pmf_cost;
mod shown_side;
mod sides;
#[cfg(test)]
mod tests;

pub(crate) use self::change::{Change, ChangeOutcome, ComparedValue, percent};
pub(crate) use self::cluster_flush::FLUSH_OF_CLUSTER;
pub use self::compare::compare;
pub(crate) use self::comparison::{CHANGED, ChangeList, ComparedScenario, scenario_title};
pub use self::comparison::{Comparison, Options};
pub(crate) use self::finding::{Basis, ComparisonFinding, basis_text};
pub(crate) use self::findings::UNCHANGED;
pub(super) use self::shown_side::ShownSide;
pub use self::sides::name_rows;
pub(crate) use self::sides::{RowIs, RowPairing};
pub(crate) use crate::analysis::conditions::Across;
