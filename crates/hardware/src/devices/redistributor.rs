//! Finds and wakes up a CPU's GICv3 redistributor (IHI 0069).

use tock_registers::{LocalRegisterCopy, register_bitfields};

use super::bus::Bus;
use super::register::Register;
use crate::spec::mpidr::Mpidr;
use crate::spec::region::Region;

/// The distance in bytes between redistributors. A redistributor has two 64 KiB frames, and two
/// more if it supports virtual LPIs (GICv4).
pub const STRIDE: u64 = 0x2_0000;
const STRIDE_WITH_VLPIS: u64 = 0x4_0000;

register_bitfields! { u64,
    TYPER [
        VLPIS OFFSET(1) NUMBITS(1),
        /// The redistributor is the last one in its region.
        LAST OFFSET(4) NUMBITS(1),
        /// The number that identifies the redistributor in ITS commands.
        NUMBER OFFSET(8) NUMBITS(16),
        AFFINITY OFFSET(32) NUMBITS(32),
    ]
}

register_bitfields! { u32,
    pub(super) GICR_CONTROL [
        ENABLE_LPIS OFFSET(0),
        /// A write is pending.
        RWP OFFSET(3),
    ],
    IIDR [
        IMPLEMENTER OFFSET(0) NUMBITS(12) [ Arm = 0x43b ],
        PRODUCT_ID OFFSET(24) NUMBITS(8) [],
    ],
    WAKER [
        PROCESSOR_SLEEP OFFSET(1),
        CHILDREN_ASLEEP OFFSET(2),
    ],
    /// The CPU's power group is in transition if RDGPD and RDGPO differ.
    PWRR [
        RDPD OFFSET(0),
        RDGPD OFFSET(2),
        RDGPO OFFSET(3),
    ]
}

pub(super) const GICR_CTLR: Register<GICR_CONTROL::Register> = Register::at(0x0);
/// GICR_PIDR2. Bits 7:4 contain the architecture version.
pub const GICR_PIDR2: u64 = 0xffe8;

/// Returns true if a GICR_PIDR2 value belongs to a GICv3 or GICv4 redistributor.
pub const fn is_redistributor(pidr2: u32) -> bool {
    matches!(pidr2 >> 4 & 0xf, 3 | 4)
}

/// A 64-bit register.
const GICR_TYPER: u64 = 0x8;

/// Returns GICR_TYPER.
pub fn read_type(redistributor: &mut dyn Bus) -> u64 {
    redistributor.read_double(GICR_TYPER)
}

/// Returns the number that identifies the redistributor in an ITS command.
pub fn read_number(redistributor: &mut dyn Bus) -> u64 {
    let typer = LocalRegisterCopy::<u64, TYPER::Register>::new(read_type(redistributor));
    typer.read(TYPER::NUMBER)
}

/// Returns the address of this CPU's redistributor.
///
/// `typer` returns GICR_TYPER for the redistributor at an address, or None if there is no
/// redistributor. Gaps are skipped because more redistributors may follow.
pub fn find_redistributor(
    regions: impl Iterator<Item = Region>,
    stride: Option<u64>,
    cpu: Mpidr,
    read_typer: &mut dyn FnMut(u64) -> Option<u64>,
) -> Option<u64> {
    // Unlike in MPIDR_EL1, Aff3 is adjacent to Aff2.
    let fields = [cpu.aff3(), cpu.aff2(), cpu.aff1(), cpu.aff0()];
    let wanted = u64::from(u32::from_be_bytes(fields));
    for region in regions {
        let mut base = region.base;
        while region.end().saturating_sub(base) >= STRIDE {
            let mut step = STRIDE;
            if let Some(value) = read_typer(base) {
                let typer = LocalRegisterCopy::<u64, TYPER::Register>::new(value);
                if typer.read(TYPER::AFFINITY) == wanted {
                    return Some(base);
                }
                if typer.is_set(TYPER::LAST) {
                    break;
                }
                if typer.is_set(TYPER::VLPIS) {
                    step = STRIDE_WITH_VLPIS;
                }
            }
            base = base.saturating_add(stride.unwrap_or(step));
        }
    }
    None
}

const GICR_IIDR: Register<IIDR::Register> = Register::at(0x004);
const GICR_WAKER: Register<WAKER::Register> = Register::at(0x014);
/// A power register in GIC-600 (Arm 100336) and GIC-700 (Arm 101516).
const GICR_PWRR: Register<PWRR::Register> = Register::at(0x024);

/// Arm products with GICR_PWRR: GIC-600, GIC-600AE and GIC-700.
const WITH_PWRR: core::ops::RangeInclusive<u32> = 0x02..=0x04;

/// The maximum number of polls while a redistributor wakes up.
const POLLS: u32 = 1_000_000;

/// Powers on the redistributor if required, and marks its CPU as awake. Returns false if the
/// redistributor stays off or asleep.
///
/// If there are two Security states, firmware has already powered on and woken the redistributor.
/// The registers then read as zero, which this function interprets as powered on and awake.
pub fn power_on_and_wake(redistributor: &mut dyn Bus) -> bool {
    let iidr = GICR_IIDR.read(redistributor);
    let is_arm = iidr.matches_all(IIDR::IMPLEMENTER::Arm);
    if is_arm && WITH_PWRR.contains(&iidr.read(IIDR::PRODUCT_ID)) {
        let is_on = |_| {
            let power = GICR_PWRR.read(redistributor);
            let moves = power.is_set(PWRR::RDGPD) != power.is_set(PWRR::RDGPO);
            let is_off = power.is_set(PWRR::RDPD);
            if !moves && is_off {
                GICR_PWRR.set(redistributor, 0);
            }
            !moves && !is_off
        };
        if !(0..POLLS).any(is_on) {
            return false;
        }
    }
    let waker = GICR_WAKER.read(redistributor);
    if !waker.is_set(WAKER::PROCESSOR_SLEEP) && !waker.is_set(WAKER::CHILDREN_ASLEEP) {
        return true;
    }
    let awake = WAKER::PROCESSOR_SLEEP::CLEAR.modify(waker.get());
    GICR_WAKER.set(redistributor, awake);
    (0..POLLS).any(|_| {
        !GICR_WAKER
            .read(redistributor)
            .is_set(WAKER::CHILDREN_ASLEEP)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::fake::{Access, FakeDevice, plain};

    #[test]
    fn redistributor_is_found_by_affinity_within_regions() {
        const LAST: u64 = 1 << 4;
        let one = &[(0x10_0000, 0x4_0000)][..];
        let two = &[(0x10_0000, 0x10_0000), (0x80_0000, 0x10_0000)][..];
        let eight = &[(0, 0x10_0000)][..];
        let high = &[(u64::MAX - 0x6_0000, 0x6_0000)][..];
        let named = &[(0x10_0000, 0x201 << 32), (0x12_0000, 0x100_0003 << 32)][..];
        let first = (0x10_0000, 0);
        let last = (0x12_0000, 1 << 32 | LAST);
        let both = &[first, last, (0x14_0000, 9 << 32), (0x80_0000, 2 << 32)][..];
        let wide = &[(0, 1 << 1), (0x2_0000, 2 << 32), (0x4_0000, 1 << 32)][..];
        let gaps = &[(0x2_0000, 1 << 32), (0x6_0000, 4 << 32 | LAST)][..];
        // Columns: regions, stride in the tree, GICR_TYPER by address, affinity, expected address.
        for (regions, stride, frames, affinity, expected) in [
            (one, None, named, 0x201, Some(0x10_0000)),
            (one, None, named, 0x1_0000_0003, Some(0x12_0000)),
            (one, None, named, 0x3, None),
            // After the last redistributor in a region, the search continues in the next region.
            (two, None, both, 2, Some(0x80_0000)),
            (two, None, both, 9, None),
            // The stride is based on each redistributor's type or specified in the tree.
            (eight, None, wide, 2, None),
            (eight, None, wide, 1, Some(0x4_0000)),
            (eight, Some(0x2_0000), wide, 2, Some(0x2_0000)),
            // Gaps read as zero, which would look like CPU 0.
            (eight, None, gaps, 0, None),
            (eight, None, gaps, 4, Some(0x6_0000)),
            (&[(0, 0x3_ffff)], None, &[], 0, None),
            (high, Some(u64::MAX / 2), &[], 0, None),
        ] {
            let has_room = |base: u64| {
                let mut starts = regions.iter();
                starts.any(|&(start, size)| base >= start && base - start + STRIDE <= size)
            };
            let mut read_typer = |base| {
                assert!(has_room(base), "{base:#x}");
                let frame = frames.iter().find(|(address, _)| *address == base);
                frame.map(|(_, typer)| *typer)
            };
            let search = regions.iter().map(|&(base, size)| Region { base, size });
            let found = find_redistributor(search, stride, Mpidr::new(affinity), &mut read_typer);
            assert_eq!(found, expected, "{affinity:#x} in {frames:x?}");
        }
        let are = [0, !0, 0x2b, 0x3b, 0x4b].map(is_redistributor);
        assert_eq!(are, [false, false, false, true, true]);
    }

    const PWRR: u32 = GICR_PWRR.offset();
    const WAKER: u32 = GICR_WAKER.offset();

    /// A redistributor that is off and asleep and changes state after three reads.
    fn sleeper(iidr: u32) -> FakeDevice {
        let mut reads = 0;
        let registers = [(GICR_IIDR.offset(), iidr), (PWRR, 0b1101), (WAKER, 0b110)];
        FakeDevice::with(&registers, move |registers, access| match access {
            // RDGPD follows RDPD.
            Access::Write(PWRR, value) => {
                reads = 0;
                let power = registers[&PWRR] & 0b1000 | ((value & 1) * 0b101);
                plain(registers, Access::Write(PWRR, power))
            }
            // RDGPO follows RDGPD, and ChildrenAsleep follows ProcessorSleep.
            Access::Read(at @ (PWRR | WAKER)) => {
                reads += 1;
                let old = registers[&at];
                let new = match at {
                    _ if reads <= 3 => old,
                    PWRR => old & 0b101 | (old & 0b100) << 1,
                    _ => (old & 0b10) * 0b11,
                };
                registers.insert(at, new);
                new
            }
            other => plain(registers, other),
        })
    }

    #[test]
    fn redistributor_is_powered_on_and_woken() {
        let both: &[(u32, u32)] = &[(PWRR, 0), (WAKER, 0b100)];
        // GIC-600, GIC-600AE and GIC-700, followed by GIC-500 and two others without GICR_PWRR.
        for (iidr, writes) in [
            (0x0201_143b, both),
            (0x0301_143b, both),
            (0x0401_143b, both),
            (0x0000_043b, &both[1..]),
            (0x0100_043b, &both[1..]),
            (0x0200_0426, &both[1..]),
        ] {
            let mut gic = sleeper(iidr);
            assert!(power_on_and_wake(&mut gic), "{iidr:#x}");
            assert_eq!(gic.writes(), writes, "{iidr:#x}");
        }
        let iidr = GICR_IIDR.offset();
        let gic_700 = 0x0400_043b;
        // Three redistributors: one that is awake or controlled by firmware, one in a power
        // transition, and one that is asleep.
        for (registers, is_awake, writes) in [
            ([(iidr, gic_700), (PWRR, 0)], true, &[][..]),
            ([(iidr, gic_700), (PWRR, 0b100)], false, &[]),
            ([(iidr, 0), (WAKER, 0b110)], false, &[(WAKER, 0b100)]),
        ] {
            let mut gic = FakeDevice::new(&registers);
            assert_eq!(power_on_and_wake(&mut gic), is_awake, "{registers:x?}");
            assert_eq!(gic.writes(), writes);
        }
    }
}
