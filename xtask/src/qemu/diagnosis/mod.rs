//! What to make of a run without a verdict.

mod diagnose;
mod last_cpu;
mod reset;

pub use self::diagnose::{
    Context, console_moved, diagnose, doubt, full_reason, last_scenario, refused, refused_fault,
};
