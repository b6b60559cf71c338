//! Jobs for lab engines: LAVA and labgrid.
//!
//! ```text
//! cell ────── a board with a firmware: the folder with all that an engine takes
//! templates ─ its texts; monitors: what LAVA looks for
//! recovery ── the FIP within a board's recovery image
//! place ───── where the folder goes, and what is replaced there
//! words ───── the user's words for engines
//! serial ──── a run on a board, by its serial port
//! ```
//!
//! No engine's work is done here: this writes what an engine takes, and
//! `report` reads what it gives. Nothing is written before all is known to be
//! good.

use std::fmt;

/// A lab engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Engine {
    Lava,
    Labgrid,
}

impl Engine {
    /// Returns the payload's `end=`, for after its last line. LAVA waits
    /// for QEMU to end, and shuts a board down itself; labgrid's driver for QEMU fails
    /// where QEMU has ended by itself.
    pub fn end(self) -> &'static str {
        match self {
            Self::Lava => "off",
            Self::Labgrid => "park",
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Lava => "lava",
            Self::Labgrid => "labgrid",
        })
    }
}

/// The parts of the name of a cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    pub engine: Engine,
    /// The board's folder in `platforms`.
    pub board: String,
    pub firmware: String,
}

impl Names {
    /// Returns the name of the cell's folder.
    pub fn folder(&self) -> String {
        format!("{}-{}-{}", self.engine, self.board, self.firmware)
    }
}
