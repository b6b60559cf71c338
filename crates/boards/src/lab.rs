//! The steps by which a LAVA lab starts the board.

use serde::Deserialize;

/// The longest that a job may take, in minutes: a day.
pub const MINUTES_MAX: u32 = 24 * 60;

/// LAVA's way to get files onto a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Deploy {
    /// An Arm Versatile Express's SD card, as a drive on USB.
    Vemsd,
    /// Commands of the lab's own.
    Flasher,
}

/// The `[lab]` table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Lab {
    /// LAVA's name of the board.
    pub device_type: String,
    /// The way of files onto the board.
    pub deploy: Deploy,
    /// The FIP's place in the board's recovery image, a zip.
    pub recovery: String,
    /// The connection with BL33's UART, if not the first.
    pub console: Option<String>,
    /// The first connection's prompt when the board starts.
    pub prompt: Option<String>,
    /// The longest that a job may take.
    pub minutes: u32,
}
