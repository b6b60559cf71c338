//! A run that is under way: the bytes of its UART, and how far it came.

mod begun_scenario;
mod boot_marks;
pub mod screen;
#[cfg(feature = "documents")]
pub mod serial;
pub mod stream;

pub use self::begun_scenario::{begun_scenario, last_scenario};
pub use self::boot_marks::explain_marks;
