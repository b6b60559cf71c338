//! The entry points (`boot.S`) and the constants that they load into system registers. No other
//! file in `machine` imports from this one.

use core::arch::global_asm;

use aarch64_cpu::registers::{self, MAIR_EL1, SCTLR_EL1, TCR_EL1};
use hardware::board::Region;
use hardware::image::{BootStage, UartKind};

use crate::machine::boot::layout::{EMERGENCY_STACK, root_table_address};
use crate::machine::memory::tables::{self, PAGE, Pages, TranslationTables};
use crate::machine::round::channel::CpuChannel;

/// Attribute 0 is Device-nGnRE; attribute 1 is Normal write-back, read- and write-allocate,
/// non-transient.
const MAIR: u64 = MAIR_EL1::Attr0_Device::nonGathering_nonReordering_EarlyWriteAck.value
    | MAIR_EL1::Attr1_Normal_Outer::WriteBack_NonTransient_ReadWriteAlloc.value
    | MAIR_EL1::Attr1_Normal_Inner::WriteBack_NonTransient_ReadWriteAlloc.value;

/// The TCR bits common to both layouts: 48-bit addresses through TTBR0, 4 KiB granules, write-back
/// inner-shareable walks.
const TCR_COMMON: u64 = TCR_EL1::T0SZ.val(16).value
    | TCR_EL1::IRGN0::WriteBack_ReadAlloc_WriteAlloc_Cacheable.value
    | TCR_EL1::ORGN0::WriteBack_ReadAlloc_WriteAlloc_Cacheable.value
    | TCR_EL1::SH0::Inner.value
    | TCR_EL1::TG0::KiB_4.value;

/// The SCTLR bits that are set: MMU, data caches, stack alignment check, instruction caches.
const SCTLR_ON: u64 = SCTLR_EL1::M::Enable.value
    | SCTLR_EL1::C::Cacheable.value
    | SCTLR_EL1::SA::Enable.value
    | SCTLR_EL1::I::Cacheable.value;

/// The SCTLR_EL1 bits that are RES1 in Armv8.0: MMU and caches off.
const SCTLR_EL1_OFF: u64 = 0x30d0_0800;

/// The SCTLR_EL2 bits that are RES1 in Armv8.0 (E2H = 0): MMU and caches off.
const SCTLR_EL2_OFF: u64 = 0x30c5_0830;

/// Lower levels are AArch64 and non-secure, HVC is enabled, SMC is disabled; bits 5 and 4 are RES1.
/// Bits 44, 43 and 39 let EL2 write to SCTLR2, TCR2 and GCSCR.
const SCR_EL3: u64 = registers::SCR_EL3::RW::NextELIsAarch64.value
    | registers::SCR_EL3::HCE::HvcEnabled.value
    | registers::SCR_EL3::SMD::SmcDisabled.value
    | 1 << 44
    | 1 << 43
    | 1 << 39
    | 3 << 4
    | registers::SCR_EL3::NS::NonSecure.value;

/// EL1 is AArch64, EL2 takes physical interrupts and SErrors, E2H is 0, and nothing is trapped.
const HCR_EL2: u64 = registers::HCR_EL2::RW::EL1IsAarch64.value
    | registers::HCR_EL2::AMO::SET.value
    | registers::HCR_EL2::IMO::EnableVirtualIRQ.value
    | registers::HCR_EL2::FMO::EnableVirtualFIQ.value;

/// The size of the boot stack in bytes. Reading a device tree uses most of the boot stack.
const BOOT_STACK: u64 = 8 * PAGE;
/// The size in bytes of the first translation tables: the root, at most 7 for the image, tree and
/// boot area, and those needed for the console, the tree that X0 points to and the start of
/// working memory.
const BOOT_POOL: u64 = 13 * PAGE;
/// The heap size in bytes until working memory has been found.
const BOOT_HEAP_SIZE: u64 = 2 * PAGE;
const BOOT_STACK_TOP: u64 = PAGE + BOOT_STACK;
const BOOT_HEAP: u64 = BOOT_STACK_TOP + EMERGENCY_STACK;
const BOOT_TABLES: u64 = BOOT_HEAP + BOOT_HEAP_SIZE;
/// The size in bytes of the boot area, which follows the image and the appended tree.
const BOOT_AREA: u64 = BOOT_TABLES + BOOT_POOL;

// The image_size in the header includes the boot area.
const _: () = assert!(BOOT_AREA <= hardware::image::working_memory(1));
// vectors.S loads the first word of a channel.
const _: () = assert!(core::mem::offset_of!(CpuChannel, entry.stack_top) == 0);
// The largest immediate that `add` and `ldr` can encode (boot.S).
const _: () = assert!(size_of::<CpuChannel>() < 4096);

global_asm!(
    include_str!("header.S"),
    include_str!("boot.S"),
    MAIR = const MAIR,
    TCR_COMMON = const TCR_COMMON,
    SCTLR_EL1 = const SCTLR_EL1_OFF | SCTLR_ON,
    SCTLR_EL2 = const SCTLR_EL2_OFF | SCTLR_ON,
    SCTLR_EL1_OFF = const SCTLR_EL1_OFF,
    SCTLR_EL2_OFF = const SCTLR_EL2_OFF,
    SCR_EL3 = const SCR_EL3,
    HCR_EL2 = const HCR_EL2,
    PAGE_NORMAL = const tables::PAGE_NORMAL,
    BOOT_STACK_TOP = const BOOT_STACK_TOP,
    BOOT_TABLES = const BOOT_TABLES,
    BOOT_AREA = const BOOT_AREA,
    MARK_ENTRY = const BootStage::Entry.code(),
    MARK_CACHES = const BootStage::Caches.code(),
    UART_KINDS = const UartKind::ALL.len(),
    MARKS_FIELDS = sym hardware::image::MARKS_FIELDS,
    TREE_ALIGN = const hardware::image::TREE_ALIGN,
    TREE_MAX = const hardware::image::TREE_MAX,
    CHANNEL_STACK = const core::mem::offset_of!(CpuChannel, entry.stack_top),
    CHANNEL_MPIDR = const core::mem::offset_of!(CpuChannel, entry.mpidr),
    CHANNEL_CONTEXT = const core::mem::offset_of!(CpuChannel, entry.suspend_context),
    CHANNEL_ENTRY_STATE = const core::mem::offset_of!(CpuChannel, entry.state),
    CHANNEL_SIZE = const size_of::<CpuChannel>(),
    boot_main = sym enter,
    secondary_main = sym crate::machine::round::secondary::secondary_main,
);

global_asm!(
    include_str!("vectors.S"),
    EMERGENCY_STACK = const EMERGENCY_STACK,
    exception = sym super::exception::exception,
);

unsafe extern "Rust" {
    /// The payload's main function, which `machine::entry!` exports.
    safe fn payload_main(state: BootState) -> !;
}

/// What the entry code passes to the payload's main function.
pub struct BootState {
    pub loader_registers: [u64; 4],
    /// Tables that map the image, the appended tree and the boot area.
    pub tables: TranslationTables,
    pub boot_area: Region,
    /// The part of the boot area that the heap uses.
    pub heap: Pages,
    /// False if the loader entered the image at EL3, the firmware's exception level.
    pub has_firmware: bool,
    /// True if the firmware trapped a write to a register that extends TCR or SCTLR.
    pub has_trapped_write: bool,
}

/// Enters Rust from `boot.S`, on the boot stack, with the MMU and caches on. The arguments are the
/// loader's X0 to X3, the next free translation table, 1 if the control registers use the EL1
/// layout, the address of the boot area, and flags: bit 0 is set if the loader entered the image at
/// EL3, and bit 1 if a write to a register that extends TCR or SCTLR was trapped.
extern "C" fn enter(
    x0: u64,
    x1: u64,
    x2: u64,
    x3: u64,
    next_table: u64,
    layout: u64,
    boot_area: u64,
    flags: u64,
) -> ! {
    let boot_area = Region {
        base: boot_area,
        size: BOOT_AREA,
    };
    let heap = Region {
        base: boot_area.base + BOOT_HEAP,
        size: BOOT_HEAP_SIZE,
    };
    let root = root_table_address();
    payload_main(BootState {
        loader_registers: [x0, x1, x2, x3],
        tables: TranslationTables::new(root, next_table, boot_area.end(), layout != 0),
        boot_area,
        // SAFETY: boot.S has mapped these pages, and no other code uses them.
        heap: unsafe { Pages::mapped(heap) },
        has_firmware: flags & 1 == 0,
        has_trapped_write: flags & 2 != 0,
    })
}
