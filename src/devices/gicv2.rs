//! The CPU interface of a GICv2 (IHI 0048B, table 4-2), which signals
//! interrupts to a CPU.

use super::bus::{Bus, read32, write32};

const CTLR: u32 = 0x0;
const PMR: u32 = 0x4;

/// GICC_CTLR: the group of this view is signalled.
const ENABLE: u32 = 1;

/// GICC_CTLR: the bypass of each group and signal is disabled; bits 6:5 of the
/// non-secure view, 8:5 of the secure one. Firmware sets them where the bypass
/// inputs are not wired, whose level would reach the CPU otherwise.
const BYPASS_DISABLES: u32 = 0xf << 5;

/// Signals interrupts of all priorities to this CPU. Of GICC_CTLR the bypass
/// disables stay; EOImode is cleared, since an interrupt is ended by one write.
pub fn enable_cpu_interface(gicc: &mut dyn Bus) {
    write32(gicc, PMR, 0xff);
    let kept = read32(gicc, CTLR) & BYPASS_DISABLES;
    write32(gicc, CTLR, kept | ENABLE);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::fake::Fake;

    #[test]
    fn bypass_disables_stay_and_eoimode_goes() {
        for (before, after) in [(0, 1), (0x60, 0x61), (0x1e0, 0x1e1), (0x261, 0x61)] {
            let mut gicc = Fake::new(&[(CTLR, before)]);
            enable_cpu_interface(&mut gicc);
            assert_eq!(gicc.writes(), [(PMR, 0xff), (CTLR, after)], "{before:#x}");
        }
    }
}
