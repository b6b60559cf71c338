//! The SBSA generic watchdog (Arm BSA, DEN 0094, "Watchdogs"), by its control
//! frame.

use tock_registers::{LocalRegisterCopy, register_bitfields};

use super::reach::Setting;
use crate::devices::bus::Bus;
use crate::devices::register::Register;

register_bitfields! { u32,
    WCS [
        EN OFFSET(0),
    ],
    IIDR [
        /// The architecture's revision.
        REVISION OFFSET(16) NUMBITS(4),
    ]
}

/// Control and status.
const WCS: Register<WCS::Register> = Register::at(0x000);
/// WOR, bits 31:0.
const WOR_LOW: Register = Register::at(0x008);
/// WOR, bits 47:32; reserved in revision 0.
const WOR_HIGH: Register = Register::at(0x00c);
/// The register that identifies the watchdog.
pub const W_IIDR: Register<IIDR::Register> = Register::at(0xfcc);

/// The control bits of a watchdog that runs.
pub const ON: u32 = WCS::EN::SET.value;

/// An SBSA watchdog.
pub struct Sbsa<B: Bus> {
    control: B,
    /// The most that WOR holds: 48 bits, or 32 in revision 0.
    pub longest: u64,
}

impl<B: Bus> Sbsa<B> {
    /// Returns the watchdog of this control frame, whose W_IIDR reads as `iidr`.
    pub fn new(control: B, iidr: u32) -> Self {
        let iidr = LocalRegisterCopy::<u32, IIDR::Register>::new(iidr);
        let longest = match iidr.read(IIDR::REVISION) {
            0 => u32::MAX.into(),
            _ => (1 << 48) - 1,
        };
        Self { control, longest }
    }

    /// Reads the setting.
    pub fn setting(&mut self) -> Setting {
        let low = WOR_LOW.get(&mut self.control);
        let high = WOR_HIGH.get(&mut self.control);
        Setting {
            // Without WS0 and WS1, which must not be written.
            control: WCS.get(&mut self.control) & ON,
            count: (u64::from(high) << 32 | u64::from(low)) & self.longest,
        }
    }

    /// Writes the setting. The time begins anew, since each write refreshes.
    pub fn set(&mut self, setting: Setting) {
        // The watchdog stands while only a half of WOR is right.
        WCS.set(&mut self.control, 0);
        WOR_LOW.set(&mut self.control, setting.count as u32);
        // 0 in revision 0, where this register is reserved.
        WOR_HIGH.set(&mut self.control, (setting.count >> 32) as u32);
        WCS.set(&mut self.control, setting.control);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::fake::Fake;

    #[test]
    fn setting_is_read_and_written_within_the_revision() {
        // W_IIDR, WOR's high half as read, the count that is read.
        for (iidr, high, count) in [
            (0x0000_043b, 0xdead, 0x1234),
            (0x0001_043b, 0x7_dead, 0xdead_0000_1234),
        ] {
            let registers = [(0x0, 0b111), (0x8, 0x1234), (0xc, high)];
            let mut sbsa = Sbsa::new(Fake::new(&registers), iidr);
            let found = sbsa.setting();
            assert_eq!(found, Setting { control: ON, count }, "{iidr:#x}");
            sbsa.set(found);
            let high = (count >> 32) as u32;
            let expected = [(0x0, 0), (0x8, 0x1234), (0xc, high), (0x0, ON)];
            assert_eq!(sbsa.control.writes(), expected, "{iidr:#x}");
        }
    }
}
