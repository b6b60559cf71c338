//! Turns runs into findings and comparisons.

pub mod audit;
pub mod compare;
pub(crate) mod conditions;
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
pub mod phases;
#[cfg(test)]
mod synthetic;
#[cfg(test)]
mod tests;
pub mod typical;
pub(crate) mod value_text;
pub(crate) mod worst_case;
