//! The CPU interface of a GICv2 (IHI 0048B, table 4-2), which signals
//! interrupts to a CPU.

use tock_registers::register_bitfields;

use super::bus::Bus;
use super::register::Register;

register_bitfields! { u32,
    GICC_CTLR [
        /// The group of this view is signalled.
        ENABLE OFFSET(0) NUMBITS(1),
        /// The bypass of each group and signal is disabled; bits 6:5 of the non-secure
        /// view. Firmware sets them where the bypass inputs are not wired, whose level
        /// would reach the CPU otherwise.
        BYPASS_DISABLES OFFSET(5) NUMBITS(4),
    ]
}

const CTLR: Register<GICC_CTLR::Register> = Register::at(0x0);
const PMR: Register = Register::at(0x4);

/// Signals interrupts of all priorities to this CPU. Of GICC_CTLR the bypass disables
/// stay; EOImode is cleared, since an interrupt is ended by one write.
pub fn enable_cpu_interface(gicc: &mut dyn Bus) {
    PMR.set(gicc, 0xff);
    let kept = CTLR.read(gicc).read(GICC_CTLR::BYPASS_DISABLES);
    let kept = GICC_CTLR::BYPASS_DISABLES.val(kept);
    CTLR.write(gicc, kept + GICC_CTLR::ENABLE::SET);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::fake::Fake;

    #[test]
    fn bypass_disables_stay_and_eoimode_goes() {
        for (before, after) in [(0, 1), (0x60, 0x61), (0x1e0, 0x1e1), (0x261, 0x61)] {
            let mut gicc = Fake::new(&[(0, before)]);
            enable_cpu_interface(&mut gicc);
            assert_eq!(gicc.writes(), [(4, 0xff), (0, after)], "{before:#x}");
        }
    }
}
