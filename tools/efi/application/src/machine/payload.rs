//! The payload's location in memory, and the jump to it.

use core::arch::naked_asm;
use core::sync::atomic::{AtomicU64, Ordering};

use super::efi_services::BootServicesExited;

/// The start address of the image, and the address just past its boot area.
static IMAGE_RANGE: [AtomicU64; 2] = [AtomicU64::new(0), AtomicU64::new(0)];

/// Stores the address of `memory`, which contains the complete image, for [`jump`].
pub fn keep(memory: &[u8]) {
    let range = memory.as_ptr_range();
    for (slot, address) in IMAGE_RANGE.iter().zip([range.start, range.end]) {
        slot.store(address.expose_provenance() as u64, Ordering::Relaxed);
    }
}

/// Jumps to the stored image.
pub fn jump(_: &BootServicesExited) -> ! {
    enter_kept()
}

/// Jumps to the stored image. Boot services must have been exited.
pub(super) fn enter_kept() -> ! {
    // Boot services are exited only after an image has been stored.
    while IMAGE_RANGE[0].load(Ordering::Relaxed) == 0 {
        core::hint::spin_loop();
    }
    let [base, end] = IMAGE_RANGE
        .each_ref()
        .map(|word| word.load(Ordering::Relaxed));
    // SAFETY: `keep` received a complete image, including its boot area. Boot services have been
    // exited, because `jump` takes a `BootServicesExited` as proof and `abort` returns only in that
    // case. EFI's identity mapping is still in use.
    unsafe { enter(base, end) }
}

/// Turns the MMU and caches off and jumps to `base` with X0 to X3 set to 0, as a boot loader that
/// passes no arguments would. First writes everything up to `end` back to memory, including the
/// code that runs with the caches off, because it was all written with caches on.
///
/// # Safety
/// `base` must be the first instruction of an image, and memory must be identity-mapped.
#[unsafe(naked)]
unsafe extern "C" fn enter(base: u64, end: u64) -> ! {
    naked_asm!(
        "0:",
        "msr daifset, #0xf",
        "mov x4, x0",
        "mrs x5, ctr_el0",
        "ubfx x5, x5, #16, #4", // DminLine: log2 of words
        "mov x6, #4",
        "lsl x5, x6, x5", // line size in bytes
        "sub x6, x5, #1",
        "1:",
        "dc civac, x0",
        "add x0, x0, x5",
        "cmp x0, x1",
        "b.lo 1b",
        "adr x0, 0b",
        "adr x1, 5f",
        "bic x0, x0, x6", // the line that contains this function's start
        "2:",
        "dc civac, x0",
        "add x0, x0, x5",
        "cmp x0, x1",
        "b.lo 2b",
        "dsb sy",                          // all of it is in memory now
        "mov x6, #(1 << 12 | 1 << 2 | 1)", // I, C, M
        "mrs x5, CurrentEL",
        "tbz x5, #3, 3f",
        "mrs x7, sctlr_el2",
        "bic x7, x7, x6",
        "msr sctlr_el2, x7",
        "isb",
        "tlbi alle2",
        "b 4f",
        "3:",
        "mrs x7, sctlr_el1",
        "bic x7, x7, x6",
        "msr sctlr_el1, x7",
        "isb",
        "tlbi vmalle1",
        "4:",
        "ic iallu",
        "dsb sy",
        "isb",
        "mov x0, xzr",
        "mov x1, xzr",
        "mov x2, xzr",
        "mov x3, xzr",
        "br x4",
        "5:",
    )
}
