//! Diagnoses a run without a verdict.

mod diagnose;

pub(crate) use self::diagnose::POWER_DOWN;
pub use self::diagnose::{Context, console_moved, diagnose, doubt, refused, refused_fault};
