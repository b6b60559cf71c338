//! Repeated runs, and fuzzing.

mod account;
pub mod fuzz;
mod keep;
mod load;
mod soak;
#[cfg(test)]
mod tests;
mod totals;
mod workers;

pub use self::account::{SoakAccount, has_suspends};
pub use self::keep::Keep;
pub(crate) use self::load::keep_busy;
pub(crate) use self::soak::{SoakLimits, soak};
pub use self::totals::SoakTotals;
pub use self::workers::in_threads;
