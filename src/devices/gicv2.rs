//! GICv2 (IHI 0048B): a distributor, whose registers of private interrupts are
//! banked, and a CPU interface, of which each CPU sees its own at one address.
//!
//! All sequences work in the non-secure view and without the Security Extension:
//! groups are left alone, and bit 0 of both control registers enables the group
//! of this view.

use super::bus::{Bus, read32, write32};

const GICD_CTLR: u32 = 0x000;
const GICD_ISENABLER0: u32 = 0x100;
const GICD_ICENABLER0: u32 = 0x180;
const GICD_IPRIORITYR: u32 = 0x400;
const GICD_ITARGETSR0: u32 = 0x800;
/// GICD_SGIR, the last register of the distributor that is used.
pub const GICD_SGIR: u32 = 0xf00;

const GICC_CTLR: u32 = 0x0;
const GICC_PMR: u32 = 0x4;
/// GICC_IAR: reading acknowledges.
pub const GICC_IAR: u32 = 0xc;
/// GICC_EOIR, the last register of the CPU interface that is used.
pub const GICC_EOIR: u32 = 0x10;

/// GICD_CTLR and GICC_CTLR: the group of this view is enabled.
const ENABLE: u32 = 1;

/// GICC_CTLR: the bypass of each group and signal is disabled; bits 6:5 of the
/// non-secure view, 8:5 of the secure one. Firmware sets them where the bypass
/// inputs are not wired, whose level would reach the CPU otherwise.
const BYPASS_DISABLES: u32 = 0xf << 5;

/// GICD_SGIR: TargetListFilter (bits 25:24) names the CPU itself.
const TO_ITSELF: u32 = 2 << 24;

/// Lets the distributor forward interrupts.
pub fn enable_distributor(gicd: &mut dyn Bus) {
    let enabled = read32(gicd, GICD_CTLR) | ENABLE;
    write32(gicd, GICD_CTLR, enabled);
}

/// Disables all private interrupts of this CPU and gives these PPIs and this SGI a
/// priority. Returns the bit of this CPU in target lists.
pub fn reset_private_interrupts(gicd: &mut dyn Bus, ppis: &[u32], sgi: u32, priority: u8) -> u8 {
    write32(gicd, GICD_ICENABLER0, !0);
    let word = u32::from_ne_bytes([priority; 4]);
    for intid in ppis.iter().copied().chain([sgi]) {
        // All four of the word: the others are disabled anyway.
        write32(gicd, GICD_IPRIORITYR + intid / 4 * 4, word);
    }
    let own = read32(gicd, GICD_ITARGETSR0) as u8;
    // The GIC of a single CPU reads as 0: then any target bit will do.
    own.max(1)
}

/// Enables these PPIs and this SGI of this CPU.
pub fn enable_private_interrupts(gicd: &mut dyn Bus, ppis: &[u32], sgi: u32) {
    let bits = ppis.iter().fold(1 << sgi, |bits, intid| bits | 1 << intid);
    write32(gicd, GICD_ISENABLER0, bits);
}

/// Returns the value of GICD_SGIR that sends SGI `intid` to the CPUs of a target
/// list.
#[must_use]
pub const fn sgi_value(targets: u8, intid: u32) -> u32 {
    (targets as u32) << 16 | intid
}

/// Returns the value of GICD_SGIR that sends SGI `intid` to the CPU itself.
#[must_use]
pub const fn own_sgi_value(intid: u32) -> u32 {
    TO_ITSELF | intid
}

/// Sends an SGI.
pub fn send_sgi(gicd: &mut dyn Bus, value: u32) {
    write32(gicd, GICD_SGIR, value);
}

/// Signals interrupts of all priorities to this CPU. Of GICC_CTLR the bypass
/// disables stay; EOImode is cleared, since an interrupt is ended by one write.
pub fn enable_cpu_interface(gicc: &mut dyn Bus) {
    write32(gicc, GICC_PMR, 0xff);
    let kept = read32(gicc, GICC_CTLR) & BYPASS_DISABLES;
    write32(gicc, GICC_CTLR, kept | ENABLE);
}

/// Acknowledges the pending interrupt; None where no interrupt is pending for
/// this view. Returns GICC_IAR as read: INTID and number of the source CPU.
pub fn acknowledge(gicc: &mut dyn Bus) -> Option<u32> {
    // 1020 to 1023 are special.
    Some(read32(gicc, GICC_IAR)).filter(|iar| intid(*iar) < 1020)
}

/// Returns the INTID in GICC_IAR.
#[must_use]
pub const fn intid(iar: u32) -> u32 {
    iar & 0x3ff
}

/// Ends the interrupt that [`acknowledge`] returned.
pub fn end(gicc: &mut dyn Bus, iar: u32) {
    write32(gicc, GICC_EOIR, iar);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::fake::Fake;

    #[test]
    fn bypass_disables_stay_and_eoimode_goes() {
        for (before, after) in [(0, 1), (0x60, 0x61), (0x1e0, 0x1e1), (0x261, 0x61)] {
            let mut gicc = Fake::new(&[(GICC_CTLR, before)]);
            enable_cpu_interface(&mut gicc);
            let expected = [(GICC_PMR, 0xff), (GICC_CTLR, after)];
            assert_eq!(gicc.writes(), expected, "{before:#x}");
        }
    }

    #[test]
    fn private_interrupts_are_disabled_before_their_priority_changes() {
        for (targets, own) in [(0, 1), (0x0404_0404, 4), (0x8080_8080, 0x80)] {
            let mut gicd = Fake::new(&[(GICD_ITARGETSR0, targets)]);
            assert_eq!(reset_private_interrupts(&mut gicd, &[30], 0, 0xa0), own);
            enable_private_interrupts(&mut gicd, &[30], 0);
            let expected = [
                (GICD_ICENABLER0, !0),
                (GICD_IPRIORITYR + 28, 0xa0a0_a0a0),
                (GICD_IPRIORITYR, 0xa0a0_a0a0),
                (GICD_ISENABLER0, 1 << 30 | 1),
            ];
            assert_eq!(gicd.writes(), expected, "{targets:#x}");
        }
    }

    #[test]
    fn special_intids_are_no_interrupt() {
        for (iar, expected) in [
            (0x3ff, None),
            (1020, None),
            (30, Some(30)),
            (0x1400, Some(0x1400)),
        ] {
            assert_eq!(acknowledge(&mut Fake::new(&[(GICC_IAR, iar)])), expected);
        }
    }
}
