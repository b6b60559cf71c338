//! What every command needs of the host: progress, child processes, files, interruptions.

#![forbid(unsafe_code)]

pub mod exit_code;
pub mod files;
pub mod hex;
pub mod interrupt;
pub mod log_file;
pub mod places;
pub mod process;
pub mod progress;
pub mod read_file;
mod side_by_side;
pub mod stdout;
mod temporary;

pub use self::side_by_side::side_by_side;
pub use self::temporary::temporary;
