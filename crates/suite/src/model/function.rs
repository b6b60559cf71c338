//! The firmware functions that checks look up and call.

use hardware::words;
use smccc::{arch, psci};

words! {
    /// A firmware function, identified by its name in PSCI (DEN0022F) or SMCCC (DEN0028).
    #[expect(missing_docs, reason = "the specifications describe them")]
    pub enum Function, name {
        PsciVersion = "PSCI_VERSION",
        CpuSuspend = "CPU_SUSPEND",
        CpuOff = "CPU_OFF",
        CpuOn = "CPU_ON",
        AffinityInfo = "AFFINITY_INFO",
        Migrate = "MIGRATE",
        MigrateInfoType = "MIGRATE_INFO_TYPE",
        MigrateInfoUpCpu = "MIGRATE_INFO_UP_CPU",
        SystemOff = "SYSTEM_OFF",
        SystemOff2 = "SYSTEM_OFF2",
        SystemReset = "SYSTEM_RESET",
        SystemReset2 = "SYSTEM_RESET2",
        MemProtect = "MEM_PROTECT",
        MemProtectCheckRange = "MEM_PROTECT_CHECK_RANGE",
        PsciFeatures = "PSCI_FEATURES",
        CpuFreeze = "CPU_FREEZE",
        CpuDefaultSuspend = "CPU_DEFAULT_SUSPEND",
        NodeHwState = "NODE_HW_STATE",
        SystemSuspend = "SYSTEM_SUSPEND",
        SetSuspendMode = "SET_SUSPEND_MODE",
        StatResidency = "PSCI_STAT_RESIDENCY",
        StatCount = "PSCI_STAT_COUNT",
        SmcccVersion = "SMCCC_VERSION",
        SocId = "SMCCC_ARCH_SOC_ID",
        FeatureAvailability = "SMCCC_ARCH_FEATURE_AVAILABILITY",
        Workaround1 = "SMCCC_ARCH_WORKAROUND_1",
        Workaround2 = "SMCCC_ARCH_WORKAROUND_2",
        Workaround3 = "SMCCC_ARCH_WORKAROUND_3",
        Workaround4 = "SMCCC_ARCH_WORKAROUND_4",
        ErrataVersion = "EM_VERSION",
    }
}

impl Function {
    /// Returns the function ID, in its 64-bit form if there is one.
    pub const fn id(self) -> u32 {
        match self {
            Self::PsciVersion => psci::PSCI_VERSION,
            Self::CpuSuspend => psci::PSCI_CPU_SUSPEND_64,
            Self::CpuOff => psci::PSCI_CPU_OFF,
            Self::CpuOn => psci::PSCI_CPU_ON_64,
            Self::AffinityInfo => psci::PSCI_AFFINITY_INFO_64,
            Self::Migrate => psci::PSCI_MIGRATE_64,
            Self::MigrateInfoType => psci::PSCI_MIGRATE_INFO_TYPE,
            Self::MigrateInfoUpCpu => psci::PSCI_MIGRATE_INFO_UP_CPU_64,
            Self::SystemOff => psci::PSCI_SYSTEM_OFF,
            // New in PSCI 1.3.
            Self::SystemOff2 => 0xc400_0015,
            Self::SystemReset => psci::PSCI_SYSTEM_RESET,
            Self::SystemReset2 => psci::PSCI_SYSTEM_RESET2_64,
            Self::MemProtect => psci::PSCI_MEM_PROTECT,
            Self::MemProtectCheckRange => psci::PSCI_MEM_PROTECT_CHECK_RANGE_64,
            Self::PsciFeatures => psci::PSCI_FEATURES,
            Self::CpuFreeze => psci::PSCI_CPU_FREEZE,
            Self::CpuDefaultSuspend => psci::PSCI_CPU_DEFAULT_SUSPEND_64,
            Self::NodeHwState => psci::PSCI_NODE_HW_STATE_64,
            Self::SystemSuspend => psci::PSCI_SYSTEM_SUSPEND_64,
            Self::SetSuspendMode => psci::PSCI_SET_SUSPEND_MODE,
            Self::StatResidency => psci::PSCI_STAT_RESIDENCY_64,
            Self::StatCount => psci::PSCI_STAT_COUNT_64,
            Self::SmcccVersion => arch::SMCCC_VERSION,
            Self::SocId => arch::SMCCC_ARCH_SOC_ID,
            // New in SMCCC 1.5.
            Self::FeatureAvailability => 0xc000_0003,
            Self::Workaround1 => arch::SMCCC_ARCH_WORKAROUND_1,
            Self::Workaround2 => arch::SMCCC_ARCH_WORKAROUND_2,
            Self::Workaround3 => arch::SMCCC_ARCH_WORKAROUND_3,
            Self::Workaround4 => 0x8000_0004,
            // The errata management firmware interface, DEN0100.
            Self::ErrataVersion => 0x8400_00f0,
        }
    }

    /// Returns true if the function is an Arm Architecture Call, as listed by SMCCC_ARCH_FEATURES.
    pub const fn is_arch_call(self) -> bool {
        matches!(
            self,
            Self::SmcccVersion
                | Self::SocId
                | Self::FeatureAvailability
                | Self::Workaround1
                | Self::Workaround2
                | Self::Workaround3
                | Self::Workaround4
        )
    }

    /// Returns true if every implementation of this PSCI version must provide the function
    /// (DEN0022F, section 5.1 and the tables in section 6).
    pub const fn is_mandatory(self, psci_version: u32) -> bool {
        match self {
            Self::PsciVersion
            | Self::CpuSuspend
            | Self::CpuOff
            | Self::CpuOn
            | Self::AffinityInfo
            | Self::SystemOff
            | Self::SystemReset => psci_version >= 2,
            Self::PsciFeatures => psci_version >= 0x1_0000,
            _ => false,
        }
    }

    /// Returns true if the function returns SUCCESS or an error, and false if it returns a number
    /// or an error.
    pub(super) const fn returns_status(self) -> bool {
        matches!(
            self,
            Self::CpuSuspend | Self::CpuOff | Self::CpuOn | Self::SetSuspendMode
        )
    }

    /// Returns the specification and, for a function that is called, the section that describes it.
    pub const fn specification(self) -> &'static str {
        match self {
            Self::PsciVersion => "DEN0022F, section 5.3",
            Self::CpuSuspend => "DEN0022F, section 5.4",
            Self::CpuOff => "DEN0022F, section 5.5",
            Self::CpuOn => "DEN0022F, section 5.6",
            Self::AffinityInfo => "DEN0022F, section 5.7",
            Self::MigrateInfoType => "DEN0022F, section 5.9",
            Self::PsciFeatures => "DEN0022F, section 5.15",
            Self::NodeHwState => "DEN0022F, section 5.18",
            Self::SetSuspendMode => "DEN0022F, section 5.20",
            Self::StatResidency => "DEN0022F, section 5.21",
            Self::StatCount => "DEN0022F, section 5.22",
            Self::ErrataVersion => "DEN0100",
            other if other.is_arch_call() => "DEN0028",
            _ => "DEN0022F",
        }
    }
}
