//! How a LAVA lab starts the board.

use serde::Deserialize;

/// The maximum time limit for a job, in minutes: one day.
pub const MINUTES_MAX: u32 = 24 * 60;

/// The LAVA method for deploying files to a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Deploy {
    /// The SD card of an Arm Versatile Express board, exposed as a USB drive.
    Vemsd,
    /// Commands that the lab defines.
    Flasher,
}

/// The `[lab]` table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Lab {
    /// The LAVA device type for the board.
    pub device_type: String,
    /// How files are deployed to the board.
    pub deploy: Deploy,
    /// The path to the FIP in the board's recovery image, which is a zip file.
    pub recovery: String,
    /// The connection to BL33's UART, if it is not the board's first connection.
    pub console: Option<String>,
    /// The prompt that the first connection shows when the board starts.
    pub prompt: Option<String>,
    /// The time limit for a job.
    pub minutes: u32,
}
