//! Output for human readers: the lines that TFTF prints, the tables and the last line.

mod check_tables;
mod header;
mod sections;
mod step_tables;
mod summary;
mod sweeps;
mod table;
mod tables;
#[cfg(test)]
mod tests;
mod tftf_lines;

pub use self::header::{conditions, header, passed_over};
pub use self::sections::{begin_scenario, closing, list, scenario};
pub(crate) use self::sections::{print_wake_trials, state_notes};
pub use self::summary::ClosingSummary;
pub use self::table::{ABSENT, Table, TableStyle, text_or_absent};
pub use self::tftf_lines::RtInstrFigures;
