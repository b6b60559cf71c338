//! A run in progress: its UART output and how far it has gotten.

mod begun_scenario;
mod boot_marks;
mod run_watcher;
#[cfg(feature = "documents")]
pub mod serial;
pub mod stream;

pub use self::begun_scenario::{begun_scenario, last_scenario};
pub use self::boot_marks::explain_marks;
pub use self::run_watcher::RunWatcher;
