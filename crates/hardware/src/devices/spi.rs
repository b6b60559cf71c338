//! Routes a shared peripheral interrupt (SPI) to one CPU, using either a GICv2 distributor (IHI
//! 0048B, 4.3) or a GICv3 distributor (IHI 0069, 12.9).

use tock_registers::register_bitfields;

use super::bus::Bus;
use super::register::Register;
use crate::spec::int_id::IntId;
use crate::spec::mpidr::Mpidr;

register_bitfields! { u32,
    CONTROL [
        /// GICv3: a write is pending. Reserved (0) in GICv2.
        RWP OFFSET(31),
    ],
    TYPE [
        /// The number of SPIs divided by 32. Private interrupts are not included.
        LINES OFFSET(0) NUMBITS(5),
        /// GICv3.1: extended SPIs are implemented, 32 * (ESPI_RANGE + 1) in total.
        ESPI OFFSET(8) NUMBITS(1),
        ESPI_RANGE OFFSET(27) NUMBITS(5),
    ]
}

const GICD_CTLR: Register<CONTROL::Register> = Register::at(0x000);
const GICD_TYPER: Register<TYPE::Register> = Register::at(0x004);
/// The offset of the first register in each array.
const GICD_IGROUPR: u32 = 0x080;
const GICD_ISENABLER: u32 = 0x100;
const GICD_ICENABLER: u32 = 0x180;
const GICD_ICACTIVER: u32 = 0x380;
const GICD_IPRIORITYR: u32 = 0x400;
const GICD_ITARGETSR: u32 = 0x800;
const GICD_ICFGR: u32 = 0xc00;
const GICD_ICENABLER_E: u32 = 0x1400;
const GICD_ICACTIVER_E: u32 = 0x1c00;
const GICD_IROUTER: u32 = 0x6000;

/// The number of polls after which RWP is considered stuck.
const POLLS: u32 = 1_000_000;

/// The CPU that an SPI is routed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SpiTarget {
    /// GICv2: the CPU's target list bit.
    List(u8),
    /// GICv3 with affinity routing: the CPU's affinity.
    Affinity(Mpidr),
}

/// Returns the register that contains the `bits`-bit field for an interrupt, and the lowest bit of
/// the field. `array` is the offset of the first register in the array.
const fn field(array: u32, intid: IntId, bits: u32) -> (Register, u32) {
    let bit = intid.number() * bits;
    (Register::at(array + bit / 32 * 4), bit % 32)
}

/// Changes the `bits`-bit field for an interrupt.
fn change(gicd: &mut dyn Bus, array: u32, intid: IntId, bits: u32, value: u32) {
    let (register, shift) = field(array, intid, bits);
    let mask = ((1 << bits) - 1) << shift;
    let others = register.get(gicd) & !mask;
    register.set(gicd, others | value << shift);
}

/// Disables SPI `intid`. Returns false if the write stays pending.
pub fn disable(gicd: &mut dyn Bus, intid: IntId) -> bool {
    let (register, bit) = field(GICD_ICENABLER, intid, 1);
    register.set(gicd, 1 << bit);
    is_settled(gicd)
}

/// Returns false if a write stays pending.
fn is_settled(gicd: &mut dyn Bus) -> bool {
    (0..POLLS).any(|_| !GICD_CTLR.read(gicd).is_set(CONTROL::RWP))
}

/// Disables and deactivates all SPIs because an earlier stage may have left some enabled. An
/// asserted level-sensitive SPI would cause every WFI to return. Returns false if a write stays
/// pending.
pub fn silence_all(gicd: &mut dyn Bus) -> bool {
    for word in 1..=GICD_TYPER.read(gicd).read(TYPE::LINES) {
        silence_word(gicd, [GICD_ICENABLER, GICD_ICACTIVER], word);
    }
    is_settled(gicd)
}

/// Disables and deactivates the extended SPIs of a GICv3.1, if implemented. Returns false if a
/// write stays pending.
pub fn silence_extended(gicd: &mut dyn Bus) -> bool {
    let kinds = GICD_TYPER.read(gicd);
    if kinds.is_set(TYPE::ESPI) {
        for word in 0..=kinds.read(TYPE::ESPI_RANGE) {
            silence_word(gicd, [GICD_ICENABLER_E, GICD_ICACTIVER_E], word);
        }
    }
    is_settled(gicd)
}

fn silence_word(gicd: &mut dyn Bus, arrays: [u32; 2], word: u32) {
    for array in arrays {
        Register::<()>::at(array + 4 * word).set(gicd, u32::MAX);
    }
}

/// Enables SPI `intid` as level-sensitive and routes it to one CPU. Secure SPIs are not affected.
/// Disables the SPI first, and returns false if that write stays pending.
pub fn enable(gicd: &mut dyn Bus, intid: IntId, target: SpiTarget, priority: u8) -> bool {
    if !disable(gicd, intid) {
        return false;
    }
    change(gicd, GICD_IPRIORITYR, intid, 8, priority.into());
    change(gicd, GICD_ICFGR, intid, 2, 0);
    match target {
        // The group does not need to be changed. Without the Security Extensions, bit 0 of both
        // control registers enables group 0, and interrupts are in group 0 by default.
        SpiTarget::List(list) => change(gicd, GICD_ITARGETSR, intid, 8, list.into()),
        SpiTarget::Affinity(cpu) => {
            // The group can be changed only if there is a single Security state.
            change(gicd, GICD_IGROUPR, intid, 1, 1);
            gicd.write_double(u64::from(GICD_IROUTER + 8 * intid.number()), cpu.number());
        }
    }
    let (register, bit) = field(GICD_ISENABLER, intid, 1);
    register.set(gicd, 1 << bit);
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::fake::{Access, FakeDevice, pairs};

    /// SPI 60, used by the Juno timer frame. INTID 92 is in word 2 of the bit arrays, word 23 of
    /// the byte arrays and word 5 of the 2-bit arrays.
    const INTID: IntId = IntId::new(92);
    const LIST: SpiTarget = SpiTarget::List(0x08);

    #[test]
    fn spi_is_routed_by_either_gic() {
        let affinity = SpiTarget::Affinity(Mpidr::new(0x01_0002_0300));
        // Columns: initial registers, INTID, target, expected writes.
        for (before, intid, target, writes) in [
            (
                "45c=11223344 85c=1010102 c14=ffffffff",
                INTID,
                LIST,
                "188=10000000 45c=112233a0 c14=fcffffff 85c=1010108 108=10000000",
            ),
            (
                "88=1",
                INTID,
                affinity,
                "188=10000000 45c=a0 c14=0 88=10000001 62e0=20300 62e4=1 108=10000000",
            ),
            // The first and last SPIs.
            ("", IntId::new(32), LIST, "184=1 420=a0 c08=0 820=8 104=1"),
            (
                "",
                IntId::new(1019),
                LIST,
                "1fc=8000000 7f8=a0000000 cfc=0 bf8=8000000 17c=8000000",
            ),
        ] {
            let mut gicd = FakeDevice::new(&pairs(before));
            let expected = pairs(writes);
            assert!(enable(&mut gicd, intid, target, 0xa0));
            assert_eq!(gicd.writes(), expected, "{intid} {target:x?}");
            assert!(disable(&mut gicd, intid));
            assert_eq!(gicd.writes(), expected[..1], "{intid} {target:x?}");
        }
    }

    #[test]
    fn all_spis_are_disabled_and_deactivated() {
        let ones = |offsets: &str| {
            let each = offsets.split_whitespace();
            pairs(
                &each
                    .map(|offset| std::format!("{offset}=ffffffff "))
                    .collect::<std::string::String>(),
            )
        };
        // The GICD_TYPER values describe a GICv2 with other fields set, a GIC with 64 extended
        // SPIs, and a GIC without extended SPIs, whose ESPI_RANGE must be ignored.
        for (kinds, spis, extended) in [
            ("4=fc23", "184 384 188 388 18c 38c", ""),
            ("4=8000101", "184 384", "1400 1c00 1404 1c04"),
            ("4=8000000", "", ""),
        ] {
            let mut gicd = FakeDevice::new(&pairs(kinds));
            assert!(silence_all(&mut gicd));
            assert_eq!(gicd.writes(), ones(spis), "{kinds}");
            assert!(silence_extended(&mut gicd));
            assert_eq!(gicd.writes(), ones(extended), "{kinds}");
        }
    }

    #[test]
    fn pending_write_is_polled_until_it_times_out() {
        for (polls, is_enabled) in [(5, true), (u32::MAX, false)] {
            let mut left = polls;
            let mut gicd = FakeDevice::with(&[], move |_, access| match access {
                Access::Read(0) if left > 0 => {
                    left -= 1;
                    CONTROL::RWP::SET.value
                }
                _ => 0,
            });
            assert_eq!(enable(&mut gicd, INTID, LIST, 0xa0), is_enabled);
            assert_eq!(gicd.writes().len() > 1, is_enabled);
        }
    }
}
