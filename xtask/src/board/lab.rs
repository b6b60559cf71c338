//! The steps by which a LAVA lab starts the board.

use serde::Deserialize;

/// The longest that a job may take, in minutes: a day.
pub const MINUTES_MAX: u32 = 24 * 60;

/// LAVA's way to get files onto a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Deploy {
    /// An Arm Versatile Express's SD card, as a drive on USB.
    Vemsd,
    /// Commands of the lab's own.
    Flasher,
}

/// The `[lab]` table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Lab {
    pub(crate) device_type: String,
    pub(crate) deploy: Deploy,
    /// The FIP's place in the board's recovery image, a zip.
    pub(crate) recovery: String,
    /// The connection with BL33's UART, if not the first.
    pub(crate) console: Option<String>,
    /// The first connection's prompt when the board starts.
    pub(crate) prompt: Option<String>,
    /// The longest that a job may take.
    pub(crate) minutes: u32,
}
