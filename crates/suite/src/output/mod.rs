//! Output for human readers: the lines that TFTF prints, the tables and the last line.

mod check_tables;
mod first_run;
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

pub(crate) use self::first_run::FirstRun;
pub use self::header::{describe_conditions, print_header, print_ignored_words, version_text};
pub use self::sections::{print_closing, print_scenario, print_scenario_list, print_scenario_name};
pub(crate) use self::sections::{print_state_notes, print_wake_sources};
pub use self::step_tables::LAST_OFFSET;
pub use self::summary::{ClosingSummary, ScenarioSummary, scenario_summaries, summary_table};
pub use self::table::{ABSENT, Table, TableStyle, text_or_absent};
pub use self::tftf_lines::RtInstrFigures;
