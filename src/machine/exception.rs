//! The end of a CPU: an exception that nobody expected.

use core::sync::atomic::{AtomicBool, Ordering};

use psci_bench::sample::Cause;

use super::console::{self, say};
use super::cpu;
use super::panic::{self, Ended};

/// What `vectors.S` saves.
#[repr(C)]
pub struct Saved {
    x: [u64; 31],
    sp: u64,
    elr: u64,
    spsr: u64,
    esr: u64,
    far: u64,
    vector: u64,
}

/// Set by the first CPU that dumps: an exception in the dump itself must not
/// lead here again and again.
static DUMPING: AtomicBool = AtomicBool::new(false);

/// Dumps the registers, and parks the CPU or ends the run.
///
/// Called by `vectors.S` alone, on the CPU's emergency stack where it has one.
pub extern "C" fn exception(saved: &Saved) -> ! {
    let is_lead = cpu::is_lead();
    if !DUMPING.swap(true, Ordering::Acquire) {
        console::seize();
        dump(saved);
        DUMPING.store(false, Ordering::Release);
    } else if is_lead {
        // An exception in the dump, or two CPUs at once: say no more.
        panic::end_silently();
    }
    if let Some(slot) = cpu::own_slot() {
        slot.set_fault(Cause::Exception);
    }
    if is_lead {
        panic::end(&Ended::Exception);
    }
    cpu::park()
}

fn dump(saved: &Saved) {
    const KINDS: [&str; 4] = ["synchronous", "IRQ", "FIQ", "SError"];
    let kind = KINDS[(saved.vector & 3) as usize];
    let class = saved.esr >> 26 & 0x3f;
    let image = super::boot::image().base;
    say!(
        "\nUnhandled exception on CPU {:#x} ({kind}, vector {})\n\
         ESR  {:016x}  EC {class:#04x}: {}\n\
         ELR  {:016x}  SPSR {:016x}\n\
         FAR  {:016x}  SP   {:016x}\n\
         image loaded at {image:#x}: ELR is image offset {:#x}",
        cpu::mpidr(),
        saved.vector,
        saved.esr,
        class_name(class),
        saved.elr,
        saved.spsr,
        saved.far,
        saved.sp,
        saved.elr.wrapping_sub(image)
    );
    for (row, values) in saved.x.chunks(3).enumerate() {
        for (column, value) in values.iter().enumerate() {
            use core::fmt::Write as _;
            let _ = write!(console::Console, "x{:<3} {value:016x}  ", row * 3 + column);
        }
        say!("");
    }
}

/// ESR_ELx.EC in words (Arm ARM, D19.2.37).
fn class_name(class: u64) -> &'static str {
    match class {
        0x00 => "unknown reason (an undefined instruction?)",
        0x01 => "trapped WFI or WFE",
        0x07 => "trapped floating point",
        0x0e => "illegal execution state",
        0x15 => "SVC",
        0x16 => "HVC",
        0x17 => "SMC",
        0x18 => "trapped system register access",
        0x20 | 0x21 => "instruction abort",
        0x22 => "PC alignment fault",
        0x24 | 0x25 => "data abort",
        0x26 => "SP alignment fault",
        0x2f => "SError",
        0x3c => "BRK",
        _ => "see the Arm ARM",
    }
}
