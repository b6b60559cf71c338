//! Layouts of tables and entries, up to the last field used. The layouts follow ACPI 6.5 or, for
//! SPCR and DBG2, the Microsoft specifications.

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

/// Defines structures in which every bit pattern is valid.
macro_rules! layouts {
    ($($(#[$about:meta])* $name:ident { $($field:ident: $type:ty,)+ })+) => {
        $(
            $(#[$about])*
            #[derive(FromBytes, KnownLayout, Immutable, Unaligned)]
            #[repr(C)]
            pub struct $name { $(pub $field: $type,)+ }
        )+
    };
}

layouts! {
    /// The revision 2 Root System Description Pointer (section 5.2.5.3).
    Rsdp {
        signature: [u8; 8],
        checksum: u8,
        oem_id: [u8; 6],
        revision: u8,
        rsdt: U32,
        length: U32,
        xsdt: U64,
        extended_checksum: u8,
        reserved: [u8; 3],
    }

    /// The header at the start of each table (section 5.2.6).
    Header {
        signature: [u8; 4],
        length: U32,
        revision: u8,
        checksum: u8,
        oem: Oem,
        oem_revision: U32,
        creator: [u8; 8],
    }

    /// The OEM ID and the OEM table ID.
    Oem {
        id: [u8; 6],
        table_id: [u8; 8],
    }

    /// The FADT (section 5.2.9) up to the DSDT address.
    FadtStart {
        header: Header,
        firmware_control: U32,
        dsdt: U32,
    }

    /// The FADT up to the Arm boot architecture flags (section 5.2.9.4).
    FadtArm {
        start: FadtStart,
        other: [u8; 85],
        arm_boot_flags: U16,
    }

    /// The FADT up to the 64-bit DSDT address.
    FadtLong {
        arm: FadtArm,
        minor_version: u8,
        firmware_control: U64,
        dsdt: U64,
    }

    /// The fixed fields of the MADT (section 5.2.12), followed by its entries.
    Madt {
        header: Header,
        local_controller: U32,
        flags: U32,
    }

    /// A MADT entry for a CPU (section 5.2.12.14), up to its flags.
    GiccStart {
        kind: u8,
        length: u8,
        reserved: U16,
        interface_number: U32,
        uid: U32,
        flags: U32,
    }

    /// A MADT entry for a CPU.
    Gicc {
        start: GiccStart,
        parking: [u8; 16],
        interface: U64,
        virtual_interfaces: [u8; 20],
        redistributor: U64,
        mpidr: U64,
    }

    /// The MADT entry for the distributor (section 5.2.12.15).
    Gicd {
        start: [u8; 8],
        base: U64,
        interrupt_base: U32,
        version: u8,
    }

    /// A MADT entry for redistributors (section 5.2.12.17).
    GicrRange {
        start: [u8; 4],
        base: U64,
        size: U32,
    }

    /// The MADT entry for an ITS (section 5.2.12.18).
    Its {
        start: [u8; 4],
        id: U32,
        base: U64,
    }

    /// A timer interrupt in the GTDT.
    TimerInterrupt {
        intid: U32,
        flags: U32,
    }

    /// The GTDT fields common to all revisions (section 5.2.25).
    Gtdt {
        header: Header,
        counter: U64,
        reserved: U32,
        secure: TimerInterrupt,
        physical: TimerInterrupt,
        virtual_: TimerInterrupt,
        hypervisor: TimerInterrupt,
    }

    /// The GTDT, revision 2 and later.
    GtdtLong {
        short: Gtdt,
        read_counter: U64,
        timer_count: U32,
        timer_offset: U32,
    }

    /// The memory-mapped timer in the GTDT (section 5.2.25.1.1), followed by its frames.
    TimerBlock {
        start: [u8; 4],
        control: U64,
        frame_count: U32,
        frame_offset: U32,
    }

    /// A frame of the memory-mapped timer.
    TimerFrame {
        number: u8,
        reserved: [u8; 3],
        base: U64,
        el0_base: U64,
        physical: TimerInterrupt,
        virtual_: TimerInterrupt,
        flags: U32,
    }

    /// A watchdog in the GTDT (section 5.2.25.1.2).
    Watchdog {
        start: [u8; 4],
        refresh: U64,
        control: U64,
        intid: U32,
        flags: U32,
    }

    /// A Generic Address Structure (section 5.2.3.2).
    GenericAddress {
        space: u8,
        bit_width: u8,
        bit_offset: u8,
        access_size: u8,
        address: U64,
    }

    /// The SPCR.
    Spcr {
        header: Header,
        interface_type: u8,
        reserved: [u8; 3],
        address: GenericAddress,
    }

    /// The DBG2, followed by its devices.
    Dbg2 {
        header: Header,
        first_offset: U32,
        count: U32,
    }

    /// A device in the DBG2.
    DebugDevice {
        revision: u8,
        length: U16,
        address_count: u8,
        names: [u8; 8],
        port_type: U16,
        port_subtype: U16,
        reserved: U16,
        address_offset: U16,
    }

    /// A processor in the PPTT (section 5.2.30.1), followed by the offsets of its caches.
    Processor {
        kind: u8,
        length: u8,
        reserved: U16,
        flags: U32,
        parent: U32,
        uid: U32,
        resource_count: U32,
    }

    /// A cache in the PPTT (section 5.2.30.2).
    Cache {
        kind: u8,
        length: u8,
        reserved: U16,
        flags: U32,
        next_level: U32,
        size: U32,
    }
}

// Catch wrong sizes and offsets, which would otherwise go unnoticed.
const _: () = {
    assert!(size_of::<Rsdp>() == 36 && size_of::<Header>() == 36);
    assert!(core::mem::offset_of!(FadtArm, arm_boot_flags) == 129);
    assert!(core::mem::offset_of!(FadtLong, dsdt) == 140);
    assert!(size_of::<Madt>() == 44 && core::mem::offset_of!(Gicc, mpidr) == 68);
    assert!(core::mem::offset_of!(Gicd, version) == 20 && size_of::<GicrRange>() == 16);
    assert!(core::mem::offset_of!(GtdtLong, timer_count) == 88);
    assert!(size_of::<TimerFrame>() == 40 && size_of::<Watchdog>() == 28);
    assert!(core::mem::offset_of!(Spcr, address) == 40);
    assert!(core::mem::offset_of!(DebugDevice, address_offset) == 18);
    assert!(size_of::<Processor>() == 20 && size_of::<Cache>() == 16);
};
