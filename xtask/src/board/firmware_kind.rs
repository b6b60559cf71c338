//! The firmware that QEMU starts.

/// The implementation of PSCI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Firmware {
    /// TF-A at EL3, from flash.
    TfA,
    /// TF-A's own platform for the machine, of a --tf-a that powers CPUs down.
    TfAStock,
    /// QEMU's own, which does no power-down and has no PMF.
    Builtin,
    /// KVM's: the payload is a guest of an emulated Linux.
    Kvm,
}

impl Firmware {
    /// Returns the firmware's name in board files.
    pub fn name(self) -> &'static str {
        match self {
            Self::TfA => "tf-a",
            Self::TfAStock => "tf-a-stock",
            Self::Builtin => "builtin",
            Self::Kvm => "kvm",
        }
    }

    /// Returns true if TF-A is at EL3.
    pub fn is_tf_a(self) -> bool {
        matches!(self, Self::TfA | Self::TfAStock)
    }
}
