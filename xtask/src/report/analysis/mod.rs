//! Runs -> findings, comparisons and merged runs.

pub mod basis;
pub mod compare;
pub mod conditions;
pub mod figure;
pub mod findings;
pub mod fit;
mod interval;
#[cfg(test)]
mod made_up;
pub mod merge;
mod outliers;
pub mod overhead;
pub mod phases;
mod points;
pub mod words;
pub mod worst_case;
