//! Jobs for lab engines: LAVA and labgrid.
//!
//! This tool writes the input for the engines, the engines run the jobs, and `report` reads their
//! results. Nothing is written until everything has been checked.

use std::fmt;

/// A lab engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Engine {
    Lava,
    Labgrid,
}

impl Engine {
    /// Returns the value for the payload's `end=` boot argument. LAVA waits for QEMU to exit, and
    /// shuts down boards itself. The labgrid driver fails if QEMU exits on its own.
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

/// The parts of a cell name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Names {
    pub engine: Engine,
    /// The board folder in `platforms`.
    pub board: String,
    pub firmware: String,
}

impl Names {
    /// Returns the name of the cell folder.
    pub fn folder(&self) -> String {
        format!("{}-{}-{}", self.engine, self.board, self.firmware)
    }
}
