//! The diagnosis of a run without a verdict.

mod begun_scenario;
mod boot_marks;
mod diagnose;

pub(crate) use self::begun_scenario::begun_scenario;
pub use self::begun_scenario::last_scenario;
pub use self::boot_marks::explain_marks;
pub(crate) use self::diagnose::POWER_DOWN;
pub use self::diagnose::{Context, console_moved, diagnose, doubt, refused, refused_fault};
