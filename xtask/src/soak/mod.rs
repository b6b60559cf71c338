//! Runs that are repeated, and fuzzing.

mod account;
pub mod boot_fuzz;
pub mod fuzz;
mod keep;
mod load;
mod soak;
#[cfg(test)]
mod tests;
mod totals;

pub use self::account::{Account, Calls, Found, has_suspends};
pub use self::keep::Keep;
pub use self::load::Load;
pub use self::soak::{Limits, Runner, TIME, parse_time, soak};
pub use self::totals::Totals;
