//! The diagnosis of a run without a verdict.

mod diagnose;
mod last_lines;

pub(crate) use self::diagnose::POWER_DOWN;
pub use self::diagnose::{
    Context, console_moved, diagnose, doubt, full_reason, refused, refused_fault,
};
pub(crate) use self::last_lines::begun_scenario;
pub use self::last_lines::last_scenario;
