//! The Arm PrimeCell watchdog SP805 (DDI 0270, table 3-1).

use tock_registers::{LocalRegisterCopy, register_bitfields};

use super::reach::Setting;
use crate::devices::bus::Bus;
use crate::devices::register::Register;

register_bitfields! { u32,
    WDOGCONTROL [
        /// The interrupt is enabled, without which the watchdog does not count.
        INTEN OFFSET(0),
        RESEN OFFSET(1),
    ],
    WDOGPERIPHID0 [
        PART_NUMBER OFFSET(0) NUMBITS(8) [ Sp805 = 0x05 ],
    ]
}

const LOAD: Register = Register::at(0x000);
const CONTROL: Register<WDOGCONTROL::Register> = Register::at(0x008);
/// WDOGINTCLR: any value clears the interrupt and loads the counter.
const INTCLR: Register = Register::at(0x00c);
/// WDOGLOCK: the key lets the others be written; any other value locks them.
const LOCK: Register = Register::at(0xc00);
/// The register that identifies the watchdog.
pub const PERIPHERAL_ID: Register<WDOGPERIPHID0::Register> = Register::at(0xfe0);

const KEY: u32 = 0x1acc_e551;
const LOCKED: u32 = 1;

/// The control bits of a watchdog that runs and resets.
pub const ON: u32 = WDOGCONTROL::INTEN::SET.value | WDOGCONTROL::RESEN::SET.value;
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
        let id = LocalRegisterCopy::<u32, WDOGPERIPHID0::Register>::new(peripheral_id);
        let is_sp805 = id.matches_all(WDOGPERIPHID0::PART_NUMBER::Sp805);
        is_sp805.then_some(Self { registers })
    }

    /// Reads the setting.
    pub fn setting(&mut self) -> Setting {
        Setting {
            control: CONTROL.get(&mut self.registers) & ON,
            count: LOAD.get(&mut self.registers).into(),
        }
    }

    /// Writes the setting. The time begins anew. The registers are locked
    /// afterwards, even where they were not: each writer begins with the key.
    pub fn set(&mut self, setting: Setting) {
        let registers = &mut self.registers;
        LOCK.set(registers, KEY);
        CONTROL.set(registers, 0);
        LOAD.set(registers, setting.count as u32);
        INTCLR.set(registers, 1);
        CONTROL.set(registers, setting.control);
        LOCK.set(registers, LOCKED);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::fake::Fake;

    #[test]
    fn setting_is_written_under_the_key() {
        let registers = [(0x0, 0x1234), (0x8, 0b111)];
        assert!(Sp805::new(Fake::new(&registers), 0x11).is_none());
        let mut sp805 = Sp805::new(Fake::new(&registers), 0x105).expect("an SP805");
        let found = sp805.setting();
        let (control, count) = (ON, 0x1234);
        assert_eq!(found, Setting { control, count });
        sp805.set(found);
        let (unlock, lock) = ((0xc00, KEY), (0xc00, LOCKED));
        let set = [(0x8, 0), (0x0, 0x1234), (0xc, 1), (0x8, ON)];
        let expected = [unlock, set[0], set[1], set[2], set[3], lock];
        assert_eq!(sp805.registers.writes(), expected);
    }
}
