//! A CPU's private interrupts (SGIs and PPIs). Their registers are banked in a GICv2 distributor
//! (IHI 0048B, 4.3) or located in a frame of each GICv3 redistributor (IHI 0069, 12.11).

use super::bus::Bus;
use super::register::Register;

const IGROUPR0: u32 = 0x080;
const ISENABLER0: u32 = 0x100;
const ICENABLER0: u32 = 0x180;
const ICACTIVER0: u32 = 0x380;
const IPRIORITYR: u32 = 0x400;

/// The number of IPRIORITYR registers for private interrupts.
const PRIORITY_WORDS: usize = 8;

/// The enable bits and priorities of a CPU's private interrupts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PrivateSettings {
    enabled: u32,
    priorities: [u32; PRIORITY_WORDS],
}

/// The registers for a CPU's private interrupts, identified by the offset of the first register
/// within the device.
#[derive(Clone, Copy, Debug)]
pub struct PrivateInterrupts(u32);

impl PrivateInterrupts {
    /// Registers in a GICv2 distributor.
    pub const BANKED: Self = Self(0);
    /// Registers in the second 64 KiB frame of a GICv3 redistributor.
    pub const SGI_FRAME: Self = Self(0x1_0000);

    fn register(self, offset: u32) -> Register {
        Register::at(self.0 + offset)
    }

    /// Disables and deactivates all private interrupts. An interrupt that an earlier stage
    /// acknowledged but never deactivated would stay active and would not be signaled again.
    pub fn silence(self, gic: &mut impl Bus) {
        self.register(ICENABLER0).set(gic, u32::MAX);
        self.register(ICACTIVER0).set(gic, u32::MAX);
    }

    /// Assigns all private interrupts to group 1, which the non-secure view uses. The write has
    /// an effect only if there is a single Security state.
    pub fn set_group_1(self, gic: &mut impl Bus) {
        self.register(IGROUPR0).set(gic, u32::MAX);
    }

    /// Enables the interrupts in `bits` with this priority. Other interrupts in the same words also
    /// get this priority but stay disabled.
    pub fn enable(self, gic: &mut impl Bus, bits: u32, priority: u8) {
        let four = u32::from_ne_bytes([priority; 4]);
        let mut left = bits;
        while left != 0 {
            let word = left.trailing_zeros() / 4;
            self.register(IPRIORITYR + 4 * word).set(gic, four);
            left &= !(0xf << (4 * word));
        }
        self.register(ISENABLER0).set(gic, bits);
    }

    /// Reads the current settings.
    pub fn read_settings(self, gic: &mut impl Bus) -> PrivateSettings {
        PrivateSettings {
            enabled: self.register(ISENABLER0).get(gic),
            priorities: core::array::from_fn(|word| {
                self.register(IPRIORITYR + 4 * word as u32).get(gic)
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::fake::{FakeDevice, pairs};

    #[test]
    fn what_an_earlier_stage_left_is_disabled_and_deactivated() {
        for (private, writes) in [
            (PrivateInterrupts::BANKED, "180=ffffffff 380=ffffffff"),
            (
                PrivateInterrupts::SGI_FRAME,
                "10180=ffffffff 10380=ffffffff",
            ),
        ] {
            let mut gic = FakeDevice::new(&[]);
            private.silence(&mut gic);
            assert_eq!(gic.writes(), pairs(writes));
        }
    }

    #[test]
    fn interrupts_are_enabled_with_their_words_priority() {
        let mut gic = FakeDevice::new(&[]);
        PrivateInterrupts::BANKED.enable(&mut gic, 1 << 30 | 1 << 26 | 1, 0xa0);
        let expected = "400=a0a0a0a0 418=a0a0a0a0 41c=a0a0a0a0 100=44000001";
        assert_eq!(gic.writes(), pairs(expected));
        PrivateInterrupts::SGI_FRAME.set_group_1(&mut gic);
        assert_eq!(gic.writes(), pairs("10080=ffffffff"));
    }

    #[test]
    fn lost_enable_bit_or_priority_is_a_different_setting() {
        let read = |registers: &[(u32, u32)]| {
            PrivateInterrupts::BANKED.read_settings(&mut FakeDevice::new(registers))
        };
        let before = read(&[(0x100, 1), (0x41c, 0xa0)]);
        assert_eq!(before, read(&[(0x100, 1), (0x41c, 0xa0)]));
        assert_ne!(before, read(&[(0x100, 0), (0x41c, 0xa0)]));
        assert_ne!(before, read(&[(0x100, 1), (0x41c, 0)]));
    }
}
