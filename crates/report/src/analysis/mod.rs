//! Turns runs into findings and comparisons.

pub mod boot_time;
pub mod compare;
pub mod conditions;
pub mod cpu_names;
#[cfg(test)]
mod edits;
pub mod explain;
pub mod figure;
pub mod findings;
pub(crate) mod fit;
pub mod history;
mod interval;
pub mod phases;
#[cfg(any(test, feature = "testing"))]
pub mod synthetic;
#[cfg(test)]
mod tests;
pub mod typical;
pub mod value_text;
