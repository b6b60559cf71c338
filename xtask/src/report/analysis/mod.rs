//! Runs -> findings, comparisons and merged runs.

pub mod compare;
pub mod explain;
pub mod fit;
pub mod merge;
pub mod overhead;
pub mod phases;
