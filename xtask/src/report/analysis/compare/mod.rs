//! Runs against those of a baseline.

mod compare;
mod flush;
#[cfg(test)]
mod gate;
pub(crate) mod judge;
mod lacks;
pub(crate) mod noise;
mod pair;
mod points;
pub(crate) mod question;
pub(crate) mod tell;
mod tell_points;
#[cfg(test)]
mod tests;

pub(crate) use self::compare::test_of;
pub use self::compare::{
    Across, Amount, Change, ComparedTest, Comparison, Judged, Keyed, Options, Outcome, PointChange,
    Refused, TOLERANCE_PPM, Value, compare,
};
pub use self::pair::RowIs;
