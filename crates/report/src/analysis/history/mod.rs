//! Tracks one board's figures across several releases.

mod history;
mod release_names;
mod scenario_history;
#[cfg(test)]
mod tests;

pub use self::history::{History, history};
pub(crate) use self::scenario_history::{
    FigureHistory, HistoryPoint, HistoryRow, ReleaseChange, ScenarioHistory,
};
