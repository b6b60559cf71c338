//! The micro-benchmarks: scenarios that repeat operations in a loop. Each is one entry with its
//! operations, the values that they may return, and the CPUs that run them.

use smccc::arch::{
    SMCCC_ARCH_WORKAROUND_1, SMCCC_ARCH_WORKAROUND_2, SMCCC_ARCH_WORKAROUND_3, SMCCC_VERSION,
};
use smccc::psci::PSCI_VERSION;

use crate::bench::loops::{
    self, ANY_NUMBER, Loops, NOT_SUPPORTED, OperationKind, operation, optional_call,
    skip_without_gic,
};
use crate::measure::Operation::{
    Call, CallWith, DistributorRead, Eoi, Lpi, Nothing, ReadStamp, RoundTrip, SelfSgi, SysregRead,
    UartRead,
};
use crate::model::{Skip, Status};
use crate::plan::{ActiveCpus, Variant};

use super::descriptor::Descriptor;

/// A fast call to an owner reserved by SMCCC (DEN0028, table 6-1: 47). Firmware never implements a
/// service there and therefore does not print a warning for this call.
const RESERVED_CALL: u32 = 0xaf00_0000;

/// Call UID Query for Standard Secure services (SMCCC, DEN0028, section 6.2).
const STD_SVC_UID: u32 = 0x8400_ff01;

const SMCCC_VERSION_CALL: OperationKind = OperationKind {
    answers: ANY_NUMBER,
    ..optional_call("smccc_version", SMCCC_VERSION)
};

pub(super) const NULL_CALL: Descriptor = Descriptor {
    tag: "null_call",
    name: "Calls to the firmware that do nothing",
    loops: Some(&Loops {
        operations: &[
            operation("psci_version", Call(PSCI_VERSION), ANY_NUMBER),
            SMCCC_VERSION_CALL,
            operation("unknown", Call(RESERVED_CALL), NOT_SUPPORTED),
        ],
        if_not_measured: Skip::NotSupported(PSCI_VERSION),
        ..Loops::DEFAULT
    }),
    explanation: |run, scenario| {
        let mut text = loops::explanation(run, scenario);
        let variant = SMCCC_VERSION_CALL.variant;
        let is_measured = scenario
            .cells
            .iter()
            .any(|cell| cell.step.variant == variant);
        if scenario.status == Status::Passed && !is_measured {
            text += "The firmware does not implement SMCCC_VERSION. ";
        }
        text
    },
    ..Descriptor::LOOP
};

pub(super) const SERVICE_CALL: Descriptor = Descriptor {
    tag: "service_call",
    name: "Calls to the firmware's other services",
    loops: Some(&Loops {
        operations: &[
            optional_call("std_svc_uid", STD_SVC_UID),
            optional_call("workaround_1", SMCCC_ARCH_WORKAROUND_1),
            OperationKind {
                // The argument enables the mitigation, as firmware does by default.
                operation: CallWith(SMCCC_ARCH_WORKAROUND_2, 1),
                ..optional_call("workaround_2", SMCCC_ARCH_WORKAROUND_2)
            },
            optional_call("workaround_3", SMCCC_ARCH_WORKAROUND_3),
        ],
        if_not_measured: Skip::NotSupported(STD_SVC_UID),
        ..Loops::DEFAULT
    }),
    ..Descriptor::LOOP
};

pub(super) const SELF_SGI: Descriptor = Descriptor {
    tag: "self_sgi",
    name: "SGI to the same CPU, acknowledged and completed",
    loops: Some(&Loops {
        operations: &[operation("sgi", SelfSgi, None)],
        prepare: skip_without_gic,
        ..Loops::DEFAULT
    }),
    ..Descriptor::LOOP
};

pub(super) const IPI: Descriptor = Descriptor {
    tag: "ipi",
    name: "SGI to another CPU and back",
    loops: Some(&Loops {
        operations: &[operation("round_trip", RoundTrip, None)],
        cpus: &[ActiveCpus::Near, ActiveCpus::Far],
        prepare: skip_without_gic,
        ..Loops::DEFAULT
    }),
    ..Descriptor::LOOP
};

pub(super) const EOI: Descriptor = Descriptor {
    tag: "eoi",
    name: "End of interrupt without an interrupt",
    loops: Some(&Loops {
        operations: &[operation("eoi", Eoi, None)],
        prepare: skip_without_gic,
        ..Loops::DEFAULT
    }),
    ..Descriptor::LOOP
};

pub(super) const LPI: Descriptor = Descriptor {
    tag: "lpi",
    name: "LPI to the lead CPU, acknowledged and completed",
    loops: Some(&Loops {
        operations: &[operation("lpi", Lpi, None)],
        cpus: &[ActiveCpus::Alone],
        is_of_lead: true,
        prepare: |machine| machine.enable_lpi().err().map(Skip::NoLpi),
        ..Loops::DEFAULT
    }),
    ..Descriptor::LOOP
};

pub(super) const MMIO_READ: Descriptor = Descriptor {
    tag: "mmio_read",
    name: "Reads of device registers",
    loops: Some(&Loops {
        operations: &[
            OperationKind {
                is_optional: true,
                ..operation("distributor", DistributorRead, None)
            },
            OperationKind {
                is_optional: true,
                ..operation("uart", UartRead, None)
            },
        ],
        if_not_measured: Skip::NoReadableRegister,
        ..Loops::DEFAULT
    }),
    ..Descriptor::LOOP
};

pub(super) const SYSREG_TRAP: Descriptor = Descriptor {
    tag: "sysreg_trap",
    name: "Read of PMSELR_EL0, which a hypervisor may trap",
    loops: Some(&Loops {
        operations: &[operation("pmselr", SysregRead, None)],
        prepare: |machine| (!machine.facts().pmu).then_some(Skip::NoPmu),
        ..Loops::DEFAULT
    }),
    ..Descriptor::LOOP
};

pub(super) const PMF_READ: Descriptor = Descriptor {
    tag: "pmf_read",
    name: "Read of one PMF timestamp",
    loops: Some(&Loops {
        operations: &[operation("get_timestamp", ReadStamp, None)],
        prepare: |machine| machine.facts().pmf.is_err().then_some(Skip::NoPmf),
        ..Loops::DEFAULT
    }),
    ..Descriptor::LOOP
};

pub(super) const EMPTY: Descriptor = Descriptor {
    tag: "empty",
    name: "Empty loop, the overhead of the other loops",
    loops: Some(&Loops {
        operations: &[operation(Variant::LOOP.word(), Nothing, None)],
        ..Loops::DEFAULT
    }),
    ..Descriptor::LOOP
};
