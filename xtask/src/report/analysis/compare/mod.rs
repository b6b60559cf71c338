//! Runs against those of a baseline.

mod change;
mod compare;
mod comparison;
mod flush;
#[cfg(test)]
mod gate;
pub(crate) mod judge;
mod lacks;
pub(crate) mod noise;
mod pair;
mod points;
pub(crate) mod question;
pub(crate) mod sentences;
mod sides;
mod tell;
mod tell_points;
#[cfg(test)]
mod tests;

pub use self::change::{Amount, Change, Outcome, PointChange, Value};
pub use self::compare::compare;
pub(crate) use self::comparison::test_of;
pub use self::comparison::{
    Across, ComparedTest, Comparison, Judged, Options, Refused, TOLERANCE_PPM,
};
pub use self::pair::{Keyed, RowIs};
