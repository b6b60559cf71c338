//! The diagnosis of a run without a verdict.

mod begun_scenario;
mod diagnose;

pub(crate) use self::begun_scenario::begun_scenario;
pub use self::begun_scenario::last_scenario;
pub(crate) use self::diagnose::POWER_DOWN;
pub use self::diagnose::{Context, console_moved, diagnose, doubt, refused, refused_fault};
