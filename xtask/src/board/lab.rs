//! The steps by which a LAVA lab starts the board.
//!
//! ```toml
//! [lab]
//! device-type = "juno"          # what LAVA calls the board
//! deploy = "vemsd"              # LAVA's way to get files onto it; or "flasher"
//! recovery = "SOFTWARE/fip.bin" # where the FIP is in its recovery image, a zip
//! console = "uart1"             # the connection with BL33's UART, if not the first
//! prompt = "Cmd>"               # the first connection's prompt when the board starts
//! minutes = 30                  # how long a job may take
//! ```

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
    pub device_type: String,
    pub deploy: Deploy,
    pub recovery: String,
    pub console: Option<String>,
    pub prompt: Option<String>,
    pub minutes: u32,
}
