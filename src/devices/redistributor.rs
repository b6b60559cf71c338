//! GICv3 redistributors (IHI 0069): which is whose, and waking one up.

use super::bus::{Bus, read32, write32};
use crate::spec::region::Region;

/// Bytes from one redistributor to the next: two frames of 64 KiB, and two
/// more where it has virtual LPIs (GICv4).
const STRIDE: u64 = 0x2_0000;
const STRIDE_WITH_VLPIS: u64 = 0x4_0000;

/// GICR_TYPER: virtual LPIs, and the last one of its region. Bits 63:32 are
/// the affinity.
const VLPIS: u64 = 1 << 1;
const LAST: u64 = 1 << 4;

/// GICR_PIDR2, whose bits 7:4 are the architecture's version.
pub const GICR_PIDR2: u64 = 0xffe8;

/// Says that a value of GICR_PIDR2 is that of a redistributor, of GICv3 or GICv4.
#[must_use]
pub const fn is_redistributor(pidr2: u32) -> bool {
    matches!(pidr2 >> 4 & 0xf, 3 | 4)
}

/// Address of the redistributor with this affinity, the affinity fields of a
/// MPIDR.
///
/// `typer` gives GICR_TYPER of the redistributor at an address, and None where
/// there is none. Such a gap is stepped over: nothing says that it is the end.
pub fn find_redistributor(
    regions: impl Iterator<Item = Region>,
    stride: Option<u64>,
    affinity: u64,
    typer: &mut dyn FnMut(u64) -> Option<u64>,
) -> Option<u64> {
    // Aff3 is at bit 32 of a MPIDR, and behind Aff2 in the register.
    let wanted = affinity >> 8 & 0xff00_0000 | affinity & 0xff_ffff;
    for region in regions {
        let mut base = region.base;
        while region.end().saturating_sub(base) >= STRIDE {
            let mut step = STRIDE;
            if let Some(typer) = typer(base) {
                if typer >> 32 == wanted {
                    return Some(base);
                }
                if typer & LAST != 0 {
                    break;
                }
                if typer & VLPIS != 0 {
                    step = STRIDE_WITH_VLPIS;
                }
            }
            base = base.saturating_add(stride.unwrap_or(step));
        }
    }
    None
}

const GICR_IIDR: u32 = 0x004;
const GICR_WAKER: u32 = 0x014;
/// GICR_PWRR of GIC-600 (Arm 100336) and GIC-700 (Arm 101516).
const GICR_PWRR: u32 = 0x024;

/// GICR_WAKER.
const PROCESSOR_SLEEP: u32 = 1 << 1;
const CHILDREN_ASLEEP: u32 = 1 << 2;

/// GICR_PWRR: RDPD of this CPU; RDGPD and RDGPO of its group, which is on its
/// way from one to the other while they differ.
const RDPD: u32 = 1 << 0;
const RDGPD_BIT: u32 = 2;
const RDGPO_BIT: u32 = 3;

/// GICR_IIDR: Arm's GIC-600, GIC-600AE and GIC-700.
const ARM: u32 = 0x43b;
const WITH_PWRR: core::ops::RangeInclusive<u32> = 0x02..=0x04;

/// Polls until a redistributor that does not wake up is given up.
const POLLS: u32 = 1_000_000;

/// Powers the redistributor on where that is software's to do, and marks its
/// CPU as awake. False when it does not become so.
///
/// With two Security states that is the firmware's matter: the registers read
/// as zero, and this as done.
#[must_use]
pub fn power_on_and_wake(redistributor: &mut dyn Bus) -> bool {
    let iidr = read32(redistributor, GICR_IIDR);
    if iidr & 0xfff == ARM && WITH_PWRR.contains(&(iidr >> 24)) {
        let is_on = |_| {
            let power = read32(redistributor, GICR_PWRR);
            let moves = (power >> RDGPD_BIT ^ power >> RDGPO_BIT) & 1 != 0;
            if !moves && power & RDPD != 0 {
                write32(redistributor, GICR_PWRR, 0);
            }
            !moves && power & RDPD == 0
        };
        if !(0..POLLS).any(is_on) {
            return false;
        }
    }
    let waker = read32(redistributor, GICR_WAKER);
    if waker & (PROCESSOR_SLEEP | CHILDREN_ASLEEP) != 0 {
        write32(redistributor, GICR_WAKER, waker & !PROCESSOR_SLEEP);
    }
    (0..POLLS).any(|_| read32(redistributor, GICR_WAKER) & CHILDREN_ASLEEP == 0)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::vec::Vec;

    use super::*;
    use crate::devices::fake::{Access, Fake, plain};

    fn region(base: u64, frames: u64) -> Region {
        let size = frames * STRIDE;
        Region { base, size }
    }

    /// Looks for `mpidr`; returns what was found and what was looked at.
    fn walk(
        regions: &[Region],
        stride: Option<u64>,
        frames: &[(u64, u64)],
        mpidr: u64,
    ) -> (Option<u64>, Vec<u64>) {
        let frames: BTreeMap<u64, u64> = frames.iter().copied().collect();
        let mut seen = Vec::new();
        let found = find_redistributor(regions.iter().copied(), stride, mpidr, &mut |base| {
            seen.push(base);
            frames.get(&base).copied()
        });
        (found, seen)
    }

    #[test]
    fn by_affinity_and_not_by_order() {
        let frames = [(0x10_0000, 0x0201 << 32), (0x12_0000, 0x0100_0003 << 32)];
        let regions = [region(0x10_0000, 2)];
        assert_eq!(walk(&regions, None, &frames, 0x201).0, Some(0x10_0000));
        assert_eq!(
            walk(&regions, None, &frames, 0x01_0000_0003).0,
            Some(0x12_0000)
        );
        let (none, seen) = walk(&regions, None, &frames, 0x3);
        assert_eq!((none, seen.len()), (None, 2));
    }

    #[test]
    fn not_beyond_the_last_of_a_region_but_in_the_next() {
        let frames = [
            (0x10_0000, 0),
            (0x12_0000, 1 << 32 | LAST),
            (0x14_0000, 9 << 32),
            (0x80_0000, 2 << 32 | LAST),
        ];
        let regions = [region(0x10_0000, 8), region(0x80_0000, 8)];
        let (found, seen) = walk(&regions, None, &frames, 2);
        assert_eq!(found, Some(0x80_0000));
        assert_eq!(seen, [0x10_0000, 0x12_0000, 0x80_0000]);
        assert_eq!(walk(&regions, None, &frames, 9).0, None);
    }

    #[test]
    fn by_the_stride_that_each_one_or_the_tree_says() {
        let frames = [(0, VLPIS), (0x4_0000, 1 << 32), (0x6_0000, 2 << 32)];
        let (found, seen) = walk(&[region(0, 8)], None, &frames, 2);
        assert_eq!(found, Some(0x6_0000));
        assert_eq!(seen, [0, 0x4_0000, 0x6_0000]);
        let (found, seen) = walk(&[region(0, 8)], Some(0x3_0000), &[(0x6_0000, 5 << 32)], 5);
        assert_eq!(found, Some(0x6_0000));
        assert_eq!(seen, [0, 0x3_0000, 0x6_0000]);
    }

    #[test]
    fn over_a_gap_and_not_into_it() {
        let frames = [(0x2_0000, 1 << 32), (0xa_0000, 4 << 32 | LAST)];
        let (found, seen) = walk(&[region(0, 16)], None, &frames, 4);
        assert_eq!((found, seen.len()), (Some(0xa_0000), 6));
        // Zeros would be CPU 0's.
        assert_eq!(walk(&[region(0, 16)], None, &frames, 0).0, None);
        assert!(!is_redistributor(0) && !is_redistributor(!0) && !is_redistributor(0x2b));
        assert!(is_redistributor(0x3b) && is_redistributor(0x4b));
    }

    #[test]
    fn only_where_there_is_room_for_all_of_one() {
        let short = Region {
            base: 0,
            size: 2 * STRIDE - 1,
        };
        let (found, seen) = walk(&[short], None, &[], 0);
        assert_eq!((found, seen), (None, std::vec![0]));
        let high = region(u64::MAX - 3 * STRIDE, 3);
        let (found, seen) = walk(&[high], Some(u64::MAX / 2), &[], 0);
        assert_eq!((found, seen.len()), (None, 1));
    }

    /// A redistributor that wakes up after so many reads of either register.
    fn sleeper(iidr: u32, power: u32, waker: u32, reads: u32) -> Fake {
        let mut left = reads;
        let registers = [(GICR_IIDR, iidr), (GICR_PWRR, power), (GICR_WAKER, waker)];
        Fake::with(&registers, move |registers, access| {
            let settled = match access {
                Access::Read(GICR_PWRR | GICR_WAKER) if left > 0 => {
                    left -= 1;
                    false
                }
                _ => left == 0,
            };
            match access {
                // The group follows what its CPUs intend.
                Access::Write(GICR_PWRR, value) => {
                    let old = plain(registers, Access::Read(GICR_PWRR));
                    let intended = (value & RDPD) << RDGPD_BIT;
                    let group = old & (1 << RDGPO_BIT) | intended;
                    left = reads;
                    plain(registers, Access::Write(GICR_PWRR, group | value & RDPD))
                }
                Access::Read(GICR_PWRR) if settled => {
                    let power = registers.entry(GICR_PWRR).or_default();
                    *power = *power & 0b101 | (*power >> RDGPD_BIT & 1) << RDGPO_BIT;
                    *power
                }
                Access::Read(GICR_WAKER) if settled => {
                    let waker = registers.entry(GICR_WAKER).or_default();
                    *waker = *waker & PROCESSOR_SLEEP | (*waker & PROCESSOR_SLEEP) << 1;
                    *waker
                }
                other => plain(registers, other),
            }
        })
    }

    const OFF: u32 = 0b1101;

    #[test]
    fn powered_on_where_there_is_such_a_register() {
        for product in [0x02, 0x03, 0x04] {
            let mut gic = sleeper(product << 24 | 0x1_143b, OFF, 0b110, 3);
            assert!(power_on_and_wake(&mut gic), "{product:#x}");
            assert_eq!((gic.at(GICR_PWRR), gic.at(GICR_WAKER)), (0, 0));
            assert_eq!(gic.writes(), [(GICR_PWRR, 0), (GICR_WAKER, 0b100)]);
        }
        // GIC-500, and somebody else's.
        for iidr in [0x0000_043b, 0x0100_043b, 0x0200_0426] {
            let mut gic = sleeper(iidr, OFF, 0b110, 0);
            assert!(power_on_and_wake(&mut gic));
            assert_eq!(gic.writes(), [(GICR_WAKER, 0b100)]);
        }
    }

    #[test]
    fn not_touched_where_it_is_awake_or_the_firmwares() {
        let mut gic = sleeper(0x0200_043b, 0, 0, 0);
        assert!(power_on_and_wake(&mut gic));
        assert_eq!(gic.writes(), []);
    }

    #[test]
    fn given_up_in_bounded_time() {
        let mut moving = Fake::new(&[(GICR_IIDR, 0x0400_043b), (GICR_PWRR, 1 << RDGPD_BIT)]);
        assert!(!power_on_and_wake(&mut moving));
        assert_eq!(moving.writes(), []);
        let mut asleep = Fake::new(&[(GICR_WAKER, 0b110)]);
        assert!(!power_on_and_wake(&mut asleep));
        assert_eq!(asleep.writes(), [(GICR_WAKER, 0b100)]);
    }
}
