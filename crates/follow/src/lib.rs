//! A run in progress: what its UART has printed, how far it got, and when it is over.
//!
//! The crate promises that every wait for output is bounded, that what is shown and what is logged
//! is what the UART printed, and that the end of a run is found even if the bytes arrive one by
//! one. It does not open serial ports or start machines, and it does not compute figures.
//!
//! ```
//! use follow::{explain_marks, last_scenario};
//!
//! let log = "> Executing 'CPU suspend on all cores in sequence'\r\n";
//! assert_eq!(last_scenario(log), Some("CPU suspend on all cores in sequence"));
//! assert_eq!(explain_marks(log), None);
//! ```
//!
//! | file | task |
//! |---|---|
//! | [`begun_scenario`](fn@begun_scenario) | the line that starts a scenario |
//! | `boot_marks` | where a boot stopped, and why |
//! | `run_watcher` | shows and logs the output, with progress |
//! | [`stream`] | reads output until the run ends or a time limit passes |
//!
//! Each file imports only from files listed above it.

#![forbid(unsafe_code)]

mod begun_scenario;
mod boot_marks;
mod run_watcher;
pub mod stream;

pub use self::begun_scenario::{begun_scenario, last_scenario};
pub use self::boot_marks::explain_marks;
pub use self::run_watcher::RunWatcher;
