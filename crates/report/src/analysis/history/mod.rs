//! Tracks one board's figures across several releases, or lists those of several boards.

mod history;
mod release_names;
mod scenario_history;
#[cfg(test)]
mod tests;

pub use self::history::{History, history};
pub(crate) use self::scenario_history::{
    FigureHistory, HistoryPoint, HistoryRow, ReleaseChange, ScenarioHistory,
};
