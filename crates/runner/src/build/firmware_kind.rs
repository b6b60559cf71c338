//! The kinds of firmware that QEMU starts.

/// What implements PSCI on the machine, and what starts the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum FirmwareKind {
    /// TF-A at EL3, from flash.
    TfA,
    /// TF-A's own platform for the machine, from a --tf-a checkout that powers CPUs down.
    TfAStock,
    /// QEMU's built-in PSCI, which does not power CPUs down and has no PMF.
    Builtin,
    /// KVM: the payload is a guest of an emulated Linux host.
    Kvm,
    /// QEMU's built-in PSCI. EDK2 starts the EFI application with a device tree.
    Efi,
    /// QEMU's built-in PSCI. EDK2 starts the EFI application with ACPI tables.
    EfiAcpi,
    /// TF-A at EL3. U-Boot starts the EFI application.
    UBoot,
}

impl FirmwareKind {
    /// Returns the name that selects this firmware on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::TfA => "tf-a",
            Self::TfAStock => "tf-a-stock",
            Self::Builtin => "builtin",
            Self::Kvm => "kvm",
            Self::Efi => "efi",
            Self::EfiAcpi => "efi-acpi",
            Self::UBoot => "u-boot",
        }
    }

    /// Returns a title for the firmware.
    pub fn title(self) -> &'static str {
        match self {
            Self::TfA => "TF-A",
            Self::TfAStock => "TF-A's own platform",
            Self::Builtin => "QEMU's built-in PSCI",
            Self::Kvm => "KVM on an emulated Linux host",
            Self::Efi => "EDK2 with a device tree, QEMU's built-in PSCI",
            Self::EfiAcpi => "EDK2 with ACPI tables, QEMU's built-in PSCI",
            Self::UBoot => "TF-A and U-Boot",
        }
    }

    /// Returns the name that board files use for the firmware that implements PSCI.
    pub fn described(self) -> &'static str {
        match self {
            Self::Efi | Self::EfiAcpi => Self::Builtin.name(),
            Self::UBoot => Self::TfA.name(),
            _ => self.name(),
        }
    }

    /// Returns true if the EFI application starts the payload.
    pub fn has_efi(self) -> bool {
        matches!(self, Self::Efi | Self::EfiAcpi | Self::UBoot)
    }

    /// Returns true if TF-A is at EL3.
    pub fn is_tf_a(self) -> bool {
        matches!(self, Self::TfA | Self::TfAStock | Self::UBoot)
    }
}
