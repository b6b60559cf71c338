//! Findings: sentences that the figures of a scenario support.

pub mod findings;
pub(crate) mod item;
pub mod limits;
mod overruns;
pub mod queue;
pub mod reached;
pub mod waited;
