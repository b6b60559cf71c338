//! Watchdogs that can reset the board.

pub mod reach;
pub mod sbsa;
pub mod sp805;
