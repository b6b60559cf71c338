//! The Arm PrimeCell watchdog SP805 (DDI 0270, table 3-1).

use super::reach::Setting;
use crate::devices::bus::{Bus, read32, write32};

const LOAD: u32 = 0x000;
const CONTROL: u32 = 0x008;
/// WDOGINTCLR: any value clears the interrupt and loads the counter.
const INTCLR: u32 = 0x00c;
/// WDOGLOCK: the key lets the others be written; any other value locks them.
const LOCK: u32 = 0xc00;
/// WDOGPERIPHID0.
pub const PERIPHERAL_ID: u32 = 0xfe0;

/// The end of the part number in WDOGPERIPHID0.
const PART: u32 = 0x05;
const KEY: u32 = 0x1acc_e551;
const LOCKED: u32 = 1;

/// WDOGCONTROL: INTEN, without which the watchdog does not count, and RESEN.
pub const ON: u32 = 0b11;
/// The most that WDOGLOAD holds.
pub const LONGEST: u64 = u32::MAX as u64;

/// An SP805.
pub struct Sp805<B: Bus> {
    registers: B,
}

impl<B: Bus> Sp805<B> {
    /// Returns the watchdog of these registers; None where WDOGPERIPHID0, which
    /// reads as `peripheral_id`, is that of another device.
    pub fn new(registers: B, peripheral_id: u32) -> Option<Self> {
        (peripheral_id & 0xff == PART).then_some(Self { registers })
    }

    /// Reads the setting.
    pub fn setting(&mut self) -> Setting {
        Setting {
            control: read32(&mut self.registers, CONTROL) & ON,
            count: read32(&mut self.registers, LOAD).into(),
        }
    }

    /// Writes the setting. The time begins anew. The registers are locked
    /// afterwards, even where they were not: each writer begins with the key.
    pub fn set(&mut self, setting: Setting) {
        let count = setting.count as u32;
        for (register, value) in [
            (LOCK, KEY),
            (CONTROL, 0),
            (LOAD, count),
            (INTCLR, 1),
            (CONTROL, setting.control),
            (LOCK, LOCKED),
        ] {
            write32(&mut self.registers, register, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::fake::Fake;

    #[test]
    fn setting_is_written_under_the_key() {
        let registers = [(LOAD, 0x1234), (CONTROL, 0b111)];
        assert!(Sp805::new(Fake::new(&registers), 0x11).is_none());
        let mut sp805 = Sp805::new(Fake::new(&registers), 0x105).expect("an SP805");
        let found = sp805.setting();
        let (control, count) = (ON, 0x1234);
        assert_eq!(found, Setting { control, count });
        sp805.set(found);
        let expected = [
            (LOCK, KEY),
            (CONTROL, 0),
            (LOAD, 0x1234),
            (INTCLR, 1),
            (CONTROL, ON),
            (LOCK, LOCKED),
        ];
        assert_eq!(sp805.registers.writes(), expected);
    }
}
