//! The wishes for a run.

use std::path::PathBuf;
use std::time::Duration;

use super::machine::Level;
use super::timeout::LEAST;
use crate::board::firmware_kind::Firmware;
use crate::board::{Gic, GivenStates};
use crate::build::firmware::Variant;
use crate::build::payload::Tree;

/// The source of BL33.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Payload {
    /// The payload of this repository, built if it is stale.
    Build,
    /// These bytes, as they are.
    Image(Vec<u8>),
}

/// A run that is asked for. `Default` is that of `cargo xtask qemu` without arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSpec {
    /// The board, by its folder's name.
    pub board: String,
    /// The number of CPUs; the board's if not given.
    pub smp: Option<u32>,
    /// Interrupt controller; the board's if not given.
    pub gic: Option<Gic>,
    /// Exception level that BL33 is entered at.
    pub level: Level,
    /// CPU model; the board's if not given.
    pub cpu: Option<String>,
    /// The firmware that has PSCI.
    pub firmware: Firmware,
    /// The variant of TF-A.
    pub variant: Variant,
    /// The fault that TF-A is to have, as [`crate::build::firmware::fault`] describes it, and
    /// is then built to be able to have.
    pub fault: Option<String>,
    /// The user's checkout of TF-A.
    pub tf_a: Option<PathBuf>,
    /// One instruction clock for all CPUs, so that a run repeats.
    pub icount: bool,
    /// Boot arguments; those of the user's tree stay where none are given.
    pub args: Option<String>,
    /// The device tree.
    pub tree: Tree,
    /// The idle states of a device tree that is made of the board file.
    pub states: GivenStates,
    /// BL33.
    pub payload: Payload,
    /// The longest time that QEMU may run.
    pub timeout: Duration,
    /// A file that gets the UART's bytes, too, from when QEMU starts.
    pub log: Option<PathBuf>,
}

impl Default for RunSpec {
    fn default() -> Self {
        Self {
            board: "qemu".into(),
            smp: None,
            gic: None,
            level: Level::El2,
            cpu: None,
            firmware: Firmware::TfA,
            variant: Variant::default(),
            fault: None,
            tf_a: None,
            icount: false,
            args: None,
            tree: Tree::Board,
            states: GivenStates::default(),
            payload: Payload::Build,
            timeout: LEAST,
            log: None,
        }
    }
}
