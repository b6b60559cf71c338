//! GICv2 driver (IHI 0048B) for the distributor and for the CPU interface, which signals interrupts
//! to a CPU. The driver works in the non-secure view and on GICs without the Security Extensions:
//! it never changes interrupt groups, and in both cases bit 0 of GICD_CTLR and GICC_CTLR enables
//! the group that contains the interrupts in use.

use tock_registers::register_bitfields;

use super::bus::Bus;
use super::private_interrupts::PrivateInterrupts;
use super::register::Register;
use crate::spec::int_id::IntId;

register_bitfields! { u32,
    GICD_CONTROL [
        /// Enables forwarding of interrupts to the CPU interfaces.
        ENABLE OFFSET(0),
    ],
    GICC_CTLR [
        /// Enables signaling of interrupts to the CPU.
        ENABLE OFFSET(0) NUMBITS(1),
        /// Disables the bypass for each group and signal. The non-secure view has only bits 6:5.
        /// Firmware sets these bits if the bypass inputs are not connected, because their level
        /// would otherwise reach the CPU.
        BYPASS_DISABLES OFFSET(5) NUMBITS(4),
    ],
}

// Table 4-1.
const GICD_CTLR: Register<GICD_CONTROL::Register> = Register::at(0x000);
/// Each byte reads as this CPU's target bit.
const GICD_ITARGETSR0: Register = Register::at(0x800);
/// Sends SGIs.
pub const GICD_SGIR: Register = Register::at(0xf00);
/// The size in bytes of the distributor registers in use.
pub const DISTRIBUTOR_SIZE: u64 = 0xf04;

// Table 4-2.
const CTLR: Register<GICC_CTLR::Register> = Register::at(0x00);
const PMR: Register = Register::at(0x04);
/// Reading this register acknowledges an interrupt.
pub const GICC_IAR: Register = Register::at(0x0c);
const EOIR: Register = Register::at(0x10);
/// GICC_APR0, the first of four.
const APR: u32 = 0xd0;
/// The size in bytes of the CPU interface registers in use.
pub const CPU_INTERFACE_SIZE: u64 = 0xe0;

/// Enables interrupt forwarding in the distributor.
pub fn forward_interrupts(gicd: &mut impl Bus) {
    GICD_CTLR.modify(gicd, GICD_CONTROL::ENABLE::SET);
}

/// Enables the private interrupts in `bits` with this priority and disables all the others. Returns
/// this CPU's bit in target lists.
pub fn set_up_private_interrupts(gicd: &mut impl Bus, bits: u32, priority: u8) -> u8 {
    PrivateInterrupts::BANKED.silence(gicd);
    // On a single-CPU GIC, the register reads as 0, and any target bit works.
    let own_bit = (GICD_ITARGETSR0.get(gicd) as u8).max(1);
    PrivateInterrupts::BANKED.enable(gicd, bits, priority);
    own_bit
}

/// Signals interrupts of all priorities to this CPU. Keeps the bypass disable bits in GICC_CTLR.
/// Clears EOImode so that a single write completes each interrupt.
pub fn enable_cpu_interface(gicc: &mut impl Bus) {
    // Clear active priorities. An interrupt that an earlier stage acknowledged but never completed
    // would block all interrupts of the same priority.
    for word in 0..4 {
        Register::<()>::at(APR + 4 * word).set(gicc, 0);
    }
    PMR.set(gicc, 0xff);
    let bypass = CTLR.read(gicc).read(GICC_CTLR::BYPASS_DISABLES);
    let kept = GICC_CTLR::BYPASS_DISABLES.val(bypass);
    CTLR.write(gicc, kept + GICC_CTLR::ENABLE::SET);
}

/// Sends an SGI to the CPUs in `list`.
pub fn send_sgi(gicd: &mut impl Bus, list: u8, sgi: IntId) {
    GICD_SGIR.set(gicd, sgi_to(list, sgi));
}

/// Returns the GICD_SGIR value for sending an SGI to the CPUs in `list`.
pub const fn sgi_to(list: u8, sgi: IntId) -> u32 {
    (list as u32) << 16 | sgi.number()
}

/// Returns the GICD_SGIR value for sending an SGI to this CPU (TargetListFilter is 2).
pub const fn own_sgi(sgi: IntId) -> u32 {
    2 << 24 | sgi.number()
}

/// Acknowledges the pending interrupt, and returns its ID and the value to write to complete it.
pub fn acknowledge(gicc: &mut impl Bus) -> Option<(IntId, u32)> {
    let register = GICC_IAR.get(gicc);
    // The other bits contain the source CPU number.
    let intid = IntId::new(register & 0x3ff);
    (!intid.is_special()).then_some((intid, register))
}

/// Completes an interrupt by writing back the value returned when it was acknowledged.
pub fn end(gicc: &mut impl Bus, register: u32) {
    EOIR.set(gicc, register);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::fake::{FakeDevice, pairs};

    #[test]
    fn bypass_disables_stay_and_active_priorities_and_eoimode_go() {
        for (before, after) in [(0, 1), (0x60, 0x61), (0x1e0, 0x1e1), (0x261, 0x61)] {
            let mut gicc = FakeDevice::new(&[(0, before), (0xd0, 0x10_0000)]);
            enable_cpu_interface(&mut gicc);
            let expected = [
                (0xd0, 0),
                (0xd4, 0),
                (0xd8, 0),
                (0xdc, 0),
                (4, 0xff),
                (0, after),
            ];
            assert_eq!(gicc.writes(), expected, "{before:#x}");
        }
    }

    #[test]
    fn only_the_named_private_interrupts_are_enabled() {
        for (targets, own) in [(0x0404_0404, 4), (0, 1)] {
            let mut gicd = FakeDevice::new(&[(0x800, targets)]);
            let bit = set_up_private_interrupts(&mut gicd, 1 << 30 | 1, 0xa0);
            assert_eq!(bit, own);
            let expected = "180=ffffffff 380=ffffffff 400=a0a0a0a0 41c=a0a0a0a0 100=40000001";
            assert_eq!(gicd.writes(), pairs(expected));
        }
    }

    #[test]
    fn interrupt_is_completed_with_the_acknowledged_value() {
        for (register, found) in [(0x803, Some((3, 0x803))), (0x3fb, Some((0x3fb, 0x3fb)))] {
            let found = found.map(|(intid, register)| (IntId::new(intid), register));
            assert_eq!(acknowledge(&mut FakeDevice::new(&[(0xc, register)])), found);
        }
        for special in 1020..=1023 {
            assert_eq!(acknowledge(&mut FakeDevice::new(&[(0xc, special)])), None);
        }
    }
}
