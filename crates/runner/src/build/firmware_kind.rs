//! The kinds of firmware that QEMU starts.

use anyhow::{Result, bail};
use host::retired::firmware_successor;

/// A PSCI implementation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FirmwareKind {
    /// TF-A at EL3, from flash.
    TfA,
    /// TF-A's own platform for the machine, from a --tf-a checkout that powers CPUs down.
    TfAStock,
    /// QEMU's built-in PSCI, which does not power CPUs down and has no PMF.
    Builtin,
}

impl FirmwareKind {
    /// All kinds.
    const ALL: [Self; 3] = [Self::TfA, Self::TfAStock, Self::Builtin];

    /// Returns the firmware with this name on the command line.
    ///
    /// # Errors
    /// Returns an error that lists the names, or says what is used instead of a former one.
    pub fn parse(name: &str) -> Result<Self> {
        if let Some(kind) = Self::ALL.into_iter().find(|kind| kind.name() == name) {
            return Ok(kind);
        }
        if let Some(successor) = firmware_successor(name) {
            bail!("no longer a kind of firmware; use {successor}");
        }
        let [first, second, third] = Self::ALL.map(Self::name);
        bail!("expected {first}, {second} or {third}")
    }

    /// Returns the name that selects this firmware on the command line and in board files.
    pub fn name(self) -> &'static str {
        match self {
            Self::TfA => "tf-a",
            Self::TfAStock => "tf-a-stock",
            Self::Builtin => "builtin",
        }
    }

    /// Returns a title for the firmware.
    pub fn title(self) -> &'static str {
        match self {
            Self::TfA => "TF-A",
            Self::TfAStock => "TF-A's own platform",
            Self::Builtin => "QEMU's built-in PSCI",
        }
    }

    /// Returns true if TF-A is at EL3.
    pub fn is_tf_a(self) -> bool {
        matches!(self, Self::TfA | Self::TfAStock)
    }
}
