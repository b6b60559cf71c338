//! One shared peripheral interrupt (SPI), routed to one CPU: the part of the
//! distributor that GICv2 (IHI 0048B, 4.3) and GICv3 (IHI 0069, 12.9) have in
//! common, and where they differ.

use super::bus::{Bus, read32, write32};

const GICD_CTLR: u32 = 0x000;
/// GICD_CTLR.RWP of GICv3; reserved, and 0, in GICv2.
const RWP: u32 = 1 << 31;
const GICD_IGROUPR: u32 = 0x080;
const GICD_ISENABLER: u32 = 0x100;
const GICD_ICENABLER: u32 = 0x180;
const GICD_IPRIORITYR: u32 = 0x400;
const GICD_ITARGETSR: u32 = 0x800;
const GICD_ICFGR: u32 = 0xc00;
const GICD_IROUTER: u32 = 0x6000;

/// Polls until RWP is taken for stuck.
const POLLS: u32 = 1_000_000;

/// The CPU that an SPI goes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpiTarget {
    /// GICv2: the CPU's bit in target lists.
    List(u8),
    /// GICv3 with affinity routing: the affinity fields of its MPIDR.
    Affinity(u64),
}

/// Register and lowest bit of an interrupt's field of so many `bits`, in an
/// array of registers that begins at `array`.
const fn field(array: u32, intid: u32, bits: u32) -> (u32, u32) {
    let bit = intid * bits;
    (array + bit / 32 * 4, bit % 32)
}

/// Changes an interrupt's field of so many bits.
fn change(gicd: &mut dyn Bus, array: u32, intid: u32, bits: u32, value: u32) {
    let (register, shift) = field(array, intid, bits);
    let mask = ((1 << bits) - 1) << shift;
    let others = read32(gicd, register) & !mask;
    write32(gicd, register, others | value << shift);
}

/// Disables SPI `intid`; false when the GIC does not get that done.
#[must_use]
pub fn disable(gicd: &mut dyn Bus, intid: u32) -> bool {
    let (register, bit) = field(GICD_ICENABLER, intid, 1);
    write32(gicd, register, 1 << bit);
    (0..POLLS).any(|_| read32(gicd, GICD_CTLR) & RWP == 0)
}

/// Enables SPI `intid` (32 to 1019) for one CPU, level-sensitive. One that the
/// Secure world has kept for itself stays as it is.
///
/// False when the GIC does not get done with disabling it, which comes first.
#[must_use]
pub fn enable(gicd: &mut dyn Bus, intid: u32, target: SpiTarget, priority: u8) -> bool {
    if !disable(gicd, intid) {
        return false;
    }
    change(gicd, GICD_IPRIORITYR, intid, 8, priority.into());
    change(gicd, GICD_ICFGR, intid, 2, 0);
    match target {
        // Without Security Extension bit 0 of both control registers, by
        // which this view enables them, is group 0, where it is by default.
        SpiTarget::List(list) => change(gicd, GICD_ITARGETSR, intid, 8, list.into()),
        SpiTarget::Affinity(affinity) => {
            // Counts only where there is one Security state.
            change(gicd, GICD_IGROUPR, intid, 1, 1);
            gicd.write_double(u64::from(GICD_IROUTER + 8 * intid), affinity);
        }
    }
    let (register, bit) = field(GICD_ISENABLER, intid, 1);
    write32(gicd, register, 1 << bit);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::fake::{Access, Fake, plain};

    /// SPI 60: Juno's timer frame, in word 2 by bits, 23 by bytes, 5 by pairs.
    const INTID: u32 = 92;

    #[test]
    fn routed_by_gicv2() {
        let mut gicd = Fake::new(&[
            (0x400 + 92, 0x1122_3344),
            (0x800 + 92, 0x0101_0102),
            (0xc00 + 20, 0xffff_ffff),
        ]);
        assert!(enable(&mut gicd, INTID, SpiTarget::List(0x08), 0xa0));
        let expected = [
            (0x188, 1 << 28),
            (0x400 + 92, 0x1122_33a0),
            (0xc00 + 20, 0xfcff_ffff),
            (0x800 + 92, 0x0101_0108),
            (0x108, 1 << 28),
        ];
        assert_eq!(gicd.writes(), expected);
        assert!(disable(&mut gicd, INTID));
        assert_eq!(gicd.writes(), [(0x188, 1 << 28)]);
    }

    #[test]
    fn routed_by_gicv3() {
        let mut gicd = Fake::new(&[(0x088, 1)]);
        assert!(enable(
            &mut gicd,
            INTID,
            SpiTarget::Affinity(0x01_0002_0300),
            0xa0
        ));
        let expected = [
            (0x188, 1 << 28),
            (0x45c, 0xa0),
            (0xc14, 0),
            (0x088, 1 << 28 | 1),
            (0x62e0, 0x0002_0300),
            (0x62e4, 0x01),
            (0x108, 1 << 28),
        ];
        assert_eq!(gicd.writes(), expected);
    }

    #[test]
    fn the_first_and_the_last() {
        for (intid, word, byte, pair) in [(32, 1, 32, 2), (1019, 31, 1016, 63)] {
            let mut gicd = Fake::new(&[]);
            assert!(enable(&mut gicd, intid, SpiTarget::List(1), 0xa0));
            let offsets: std::vec::Vec<u32> = gicd.writes().iter().map(|w| w.0).collect();
            let expected = [
                0x180 + word * 4,
                0x400 + byte,
                0xc00 + pair * 4,
                0x800 + byte,
                0x100 + word * 4,
            ];
            assert_eq!(offsets, expected, "{intid}");
        }
    }

    #[test]
    fn a_write_that_stays_pending_is_told_and_enables_nothing() {
        let mut gicd = Fake::with(&[(GICD_CTLR, RWP)], plain);
        assert!(!enable(&mut gicd, INTID, SpiTarget::List(1), 0xa0));
        assert_eq!(gicd.writes(), [(0x188, 1 << 28)]);
        // It takes its time, and gets done.
        let mut gicd = Fake::with(&[(0, 5)], |registers, access| match access {
            Access::Read(GICD_CTLR) => {
                let left = registers.entry(0).or_default();
                *left = left.saturating_sub(1);
                if *left > 0 { RWP } else { 0 }
            }
            other => plain(registers, other),
        });
        assert!(enable(&mut gicd, INTID, SpiTarget::List(1), 0xa0));
        assert_eq!(gicd.at(0x108), 1 << 28);
    }
}
