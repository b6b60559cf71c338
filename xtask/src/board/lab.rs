//! How a LAVA lab starts the board.
//!
//! ```toml
//! [lab]
//! device-type = "juno"          # what LAVA calls the board
//! deploy = "vemsd"              # LAVA's way to get files onto it; or "flasher"
//! recovery = "SOFTWARE/fip.bin" # where the FIP is in its recovery image
//! console = "uart1"             # the connection with BL33's UART, if not the first
//! prompt = "Cmd>"               # what the first one says when the board starts
//! minutes = 30                  # how long a job may take
//! ```

use anyhow::Result;
use serde::Deserialize;
use toml::Spanned;

use super::source::Source;

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
    /// What LAVA calls the board.
    pub device_type: Spanned<String>,
    /// How files get onto it.
    pub deploy: Deploy,
    /// Where the FIP is in the board's recovery image, a zip.
    pub recovery: Spanned<String>,
    /// The connection with BL33's UART, if it is not the first.
    pub console: Option<Spanned<String>>,
    /// What the first connection says when the board starts.
    pub prompt: Option<Spanned<String>>,
    /// How long a job may take.
    pub minutes: Spanned<u32>,
}

/// Refuses what cannot be in a job.
pub(super) fn check(lab: Option<&Lab>, source: &Source<'_>) -> Result<()> {
    let Some(lab) = lab else {
        return Ok(());
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    for (name, key) in [
        (Some(&lab.device_type), "device-type"),
        (lab.console.as_ref(), "console"),
    ] {
        let bad = |name: &&Spanned<String>| {
            name.get_ref().is_empty() || !name.get_ref().chars().all(plain)
        };
        if let Some(name) = name.filter(bad) {
            let reason = format!("{key} has letters, digits, '-', '_' and '.'");
            return Err(source.error(name.span(), &reason));
        }
    }
    let printable = |text: &str| !text.is_empty() && text.chars().all(|c| (' '..='~').contains(&c));
    if let Some(prompt) = lab.prompt.as_ref().filter(|it| !printable(it.get_ref())) {
        return Err(source.error(prompt.span(), "prompt is printable ASCII"));
    }
    let recovery = lab.recovery.get_ref();
    let is_path = |part: &str| !matches!(part, "" | "." | "..");
    if !printable(recovery) || recovery.contains('\\') || !recovery.split('/').all(is_path) {
        let reason = "recovery is the name of a file in a zip, as in SOFTWARE/fip.bin";
        return Err(source.error(lab.recovery.span(), reason));
    }
    if !(1..=MINUTES_MAX).contains(lab.minutes.get_ref()) {
        let reason = format!("minutes is 1 to {MINUTES_MAX}");
        return Err(source.error(lab.minutes.span(), &reason));
    }
    Ok(())
}
