//! The entries (`boot.S`) and the constants that they load into the system registers.
//! No other file of the machine imports this one.

use core::arch::global_asm;

use psci_bench::board::Region;

use crate::machine::boot::layout::{EMERGENCY_STACK, root_table_address};
use crate::machine::memory::tables::{self, PAGE, TranslationTables};
use crate::machine::round::channel::CpuChannel;

/// MAIR: attribute 0 is Device-nGnRE, attribute 1 Normal write-back,
/// read- and write-allocate, non-transient.
const MAIR: u64 = 0xff04;

/// TCR, what both layouts share: 48-bit addresses by TTBR0 (T0SZ 16), 4 KiB
/// granule (TG0 0), walks write-back (IRGN0, ORGN0 1) and inner shareable
/// (SH0 3).
const TCR_COMMON: u64 = 16 | 1 << 8 | 1 << 10 | 3 << 12;

/// SCTLR bits that are set: MMU (M), data caches (C), stack alignment check
/// (SA), instruction caches (I).
const SCTLR_ON: u64 = 1 | 1 << 2 | 1 << 3 | 1 << 12;

/// SCTLR_EL1's RES1 bits of Armv8.0: MMU and caches off.
const SCTLR_EL1_OFF: u64 = 0x30d0_0800;
/// The value with [`SCTLR_ON`].
const SCTLR_EL1: u64 = SCTLR_EL1_OFF | SCTLR_ON;

/// SCTLR_EL2's RES1 bits of Armv8.0 (E2H = 0): MMU and caches off.
const SCTLR_EL2_OFF: u64 = 0x30c5_0830;
/// The value with [`SCTLR_ON`].
const SCTLR_EL2: u64 = SCTLR_EL2_OFF | SCTLR_ON;

/// SCR_EL3: the levels below are AArch64 (RW) and not secure (NS), HVC can be
/// used (HCE), SMC cannot (SMD); bits 5 and 4 are RES1.
const SCR_EL3: u64 = 1 << 10 | 1 << 8 | 1 << 7 | 3 << 4 | 1;

/// HCR_EL2: EL1 is AArch64 (RW), physical interrupts and SErrors are EL2's
/// (AMO, IMO, FMO), E2H = 0, nothing trapped.
const HCR_EL2: u64 = 1 << 31 | 1 << 5 | 1 << 4 | 1 << 3;

/// Bytes of the boot stack. Reading a device tree is what takes most of it.
const BOOT_STACK: u64 = 8 * PAGE;
/// The first tables: the root, at most 7 for image, tree and boot area, and
/// what the console, a tree at X0 and the working memory's beginning take.
const BOOT_POOL: u64 = 13 * PAGE;
/// The end of the boot stack in the boot area: guard page and stack.
const BOOT_STACK_TOP: u64 = PAGE + BOOT_STACK;
/// The beginning of the tables in the boot area.
const BOOT_TABLES: u64 = BOOT_STACK_TOP + EMERGENCY_STACK;
/// Bytes of the boot area, which follows image and appended tree.
const BOOT_AREA: u64 = BOOT_TABLES + BOOT_POOL;

// vectors.S loads the first word of a channel.
const _: () = assert!(core::mem::offset_of!(CpuChannel, entry.stack_top) == 0);
// What `add` and `ldr` can hold (boot.S).
const _: () = assert!(size_of::<CpuChannel>() < 4096);

global_asm!(
    include_str!("header.S"),
    include_str!("boot.S"),
    MAIR = const MAIR,
    TCR_COMMON = const TCR_COMMON,
    SCTLR_EL1 = const SCTLR_EL1,
    SCTLR_EL2 = const SCTLR_EL2,
    SCTLR_EL1_OFF = const SCTLR_EL1_OFF,
    SCTLR_EL2_OFF = const SCTLR_EL2_OFF,
    SCR_EL3 = const SCR_EL3,
    HCR_EL2 = const HCR_EL2,
    PAGE_NORMAL = const tables::PAGE_NORMAL,
    BOOT_STACK_TOP = const BOOT_STACK_TOP,
    BOOT_TABLES = const BOOT_TABLES,
    BOOT_AREA = const BOOT_AREA,
    TREE_ALIGN = const psci_bench::image::TREE_ALIGN,
    TREE_MAX = const psci_bench::image::TREE_MAX,
    CHANNEL_STACK = const core::mem::offset_of!(CpuChannel, entry.stack_top),
    CHANNEL_MPIDR = const core::mem::offset_of!(CpuChannel, entry.mpidr),
    CHANNEL_CONTEXT = const core::mem::offset_of!(CpuChannel, entry.suspend_context),
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

/// The state in which the entry code leaves the machine.
pub struct BootState {
    /// The loader's X0 to X3.
    pub loader_registers: [u64; 4],
    /// Image, appended tree and boot area are mapped.
    pub tables: TranslationTables,
    /// Boot stack and first tables.
    pub boot_area: Region,
    /// False where the loader entered at EL3, where firmware has its place.
    pub has_firmware: bool,
}

/// Enters Rust from `boot.S`, on the boot stack, with MMU and caches on: the
/// loader's X0 to X3, the next free translation table, 1 where the control
/// registers have EL1's layout, the address of the boot area, and 1 where the
/// loader entered at EL3.
extern "C" fn enter(
    x0: u64,
    x1: u64,
    x2: u64,
    x3: u64,
    next_table: u64,
    layout: u64,
    boot_area: u64,
    left_el3: u64,
) -> ! {
    let boot_area = Region {
        base: boot_area,
        size: BOOT_AREA,
    };
    let root = root_table_address();
    payload_main(BootState {
        loader_registers: [x0, x1, x2, x3],
        tables: TranslationTables::new(root, next_table, boot_area.end(), layout != 0),
        boot_area,
        has_firmware: left_el3 == 0,
    })
}
