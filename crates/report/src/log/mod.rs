//! Turns UART output or published tables into runs.

mod boot_timestamp;
mod builder;
mod clean;
mod completeness;
#[cfg(test)]
mod damage;
mod embedded_line;
mod format_5;
mod grid_table;
pub(crate) mod grouped;
mod held_lines;
mod integrity;
pub(crate) mod lava_log;
mod line_prefix;
mod line_run;
pub(crate) mod lines;
pub mod logged_run;
pub mod page;
mod page_cpus;
mod plain_line;
pub mod published_rows;
mod reader;
pub(crate) mod release_version;
mod run_records;
#[cfg(test)]
mod splices;
mod status_words;
pub mod tables;
#[cfg(test)]
mod tests;

pub use self::boot_timestamp::{BootPoint, BootTimestamp};
pub use self::integrity::{Integrity, Missing, Records};
pub use self::logged_run::{Closing, HeaderLines, LoggedRun, Source, Stage};
pub use self::reader::{LogReadError, read, read_bytes, read_complete, runs, runs_in_file};
pub use self::status_words::{reason_text, reason_word};
