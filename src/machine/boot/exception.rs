//! Stops a CPU that took an exception.

use core::fmt;

use aarch64_cpu::registers::ESR_EL1;
use arrayvec::ArrayVec;
use hardware::board::Region;
use hardware::image::Conduit;
use spin::mutex::SpinMutex;

use crate::machine::boot::layout;
use crate::machine::call::conduit;
use crate::machine::console::{self, print_line};
use crate::machine::cpu::registers;
use crate::machine::ending;
use crate::machine::round::participant;

/// The registers that `vectors.S` saves.
#[repr(C)]
pub struct SavedFrame {
    x: [u64; 31],
    sp: u64,
    elr: u64,
    spsr: u64,
    esr: u64,
    far: u64,
    vector: u64,
}

impl SavedFrame {
    fn class(&self) -> u64 {
        ESR_EL1::EC.read(self.esr)
    }

    /// Returns true for an HVC executed at EL2, which is taken to EL2.
    fn is_hvc_to_self(&self) -> bool {
        self.vector & 3 == 0 && self.class() == 0x16 && registers::exception_level() == 2
    }

    /// Returns the kind of exception, from the two lowest bits of the vector number.
    fn kind(&self) -> &'static str {
        ["synchronous", "IRQ", "FIQ", "SError"][(self.vector & 3) as usize]
    }
}

/// Dumps the registers, and parks the CPU or ends the run.
///
/// Called only by `vectors.S`, on the CPU's emergency stack if available.
pub extern "C" fn exception(saved: &SavedFrame) -> ! {
    let is_lead = registers::is_lead();
    let is_first = console::print_last(|| dump(saved));
    if is_lead {
        if !is_first {
            // If this CPU's last lines cannot be printed, neither can the closing line.
            ending::perform_end_action();
        }
        if saved.is_hvc_to_self() {
            // An HVC that turns the machine off would also be taken to EL2. An SMC always reaches
            // the firmware.
            conduit::set_conduit(Some(Conduit::Smc));
        }
        ending::give_up(&LeadException(saved));
    }
    participant::stop_after_fault()
}

const DEVICES_MAX: usize = 16;

static DEVICES: SpinMutex<ArrayVec<(&'static str, Region), DEVICES_MAX>> =
    SpinMutex::new(ArrayVec::new_const());

pub fn register_device_name(name: &'static str, region: Region) {
    let _ = DEVICES.lock().try_push((name, region));
}

/// An exception that ended the run, as described by ESR_ELx and FAR_ELx (Arm ARM, D19.2.37 and
/// D19.2.40).
struct LeadException<'s>(&'s SavedFrame);

impl fmt::Display for LeadException<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("exception on the lead CPU: ")?;
        let &SavedFrame { esr, far, .. } = self.0;
        if self.0.is_hvc_to_self() {
            return f.write_str("HVC from EL2: is the conduit smc?");
        }
        if self.0.vector & 3 != 0 {
            return f.write_str(self.0.kind());
        }
        f.write_str(class_name(self.0.class()))?;
        if !matches!(self.0.class(), 0x20 | 0x21 | 0x24 | 0x25) || esr & 1 << 10 != 0 {
            return Ok(());
        }
        let at = Region { base: far, size: 1 };
        if let Some(devices) = DEVICES.try_lock()
            && let Some((name, region)) = devices.iter().find(|(_, region)| region.contains(&at))
        {
            return write!(f, ", in the {name}, at offset {:#x}", far - region.base);
        }
        match esr & 0x3f {
            // The first arm matches translation faults, and the second matches external aborts.
            0x04..=0x07 => write!(f, ", nothing is mapped at {far:#x}"),
            0x10 | 0x14..=0x17 => write!(f, ", no memory at {far:#x}"),
            _ => write!(f, ", at {far:#x}"),
        }
    }
}

fn dump(saved: &SavedFrame) {
    let class = saved.class();
    let image = layout::image().base;
    print_line!(
        "\nUnhandled exception on CPU {} ({}, vector {})\n\
         ESR  {:016x}  EC {class:#04x}: {}\n\
         ELR  {:016x}  SPSR {:016x}\n\
         FAR  {:016x}  SP   {:016x}\n\
         image loaded at {image:#x}: ELR is image offset {:#x}",
        registers::mpidr(),
        saved.kind(),
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
        print_line!("");
    }
}

/// Describes ESR_ELx.EC in words (Arm ARM, D19.2.37).
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
