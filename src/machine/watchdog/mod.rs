//! The watchdog of the board.

pub mod driver;
pub mod sbsa;
pub mod setting;
pub mod sp805;
