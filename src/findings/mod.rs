//! Findings: sentences that the figures of a scenario support.

pub mod findings;
pub mod queue;
pub mod reached;
pub mod waited;
