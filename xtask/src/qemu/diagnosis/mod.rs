//! The diagnosis of a run without a verdict.

mod diagnose;
mod last_lines;

pub use self::diagnose::{
    Context, console_moved, diagnose, doubt, full_reason, refused, refused_fault,
};
pub use self::last_lines::last_scenario;
