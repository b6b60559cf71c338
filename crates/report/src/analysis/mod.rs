//! Turns runs into findings and comparisons.

pub mod compare;
pub mod conditions;
pub(crate) mod cpu_names;
#[cfg(test)]
mod edits;
pub mod explain;
pub(crate) mod figure;
pub mod findings;
pub(crate) mod fit;
pub mod history;
pub mod idle_audit;
mod interval;
#[cfg(test)]
mod made_up;
pub mod phases;
#[cfg(test)]
mod tests;
pub mod typical;
pub(crate) mod words;
pub(crate) mod worst_case;
