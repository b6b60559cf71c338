//! The SBSA generic watchdog (Arm BSA, DEN 0094, "Watchdogs"), by its control
//! frame.

use super::reach::Setting;
use crate::devices::bus::{Bus, read32, write32};

/// WCS: control and status.
const WCS: u32 = 0x000;
/// WOR, bits 31:0.
const WOR_LOW: u32 = 0x008;
/// WOR, bits 47:32; reserved in revision 0.
const WOR_HIGH: u32 = 0x00c;
/// W_IIDR: its bits 19:16 are the architecture's revision.
pub const W_IIDR: u32 = 0xfcc;

/// WCS.EN.
pub const ON: u32 = 1;

/// An SBSA watchdog.
pub struct Sbsa<B: Bus> {
    control: B,
    /// The most that WOR holds: 48 bits, or 32 in revision 0.
    pub longest: u64,
}

impl<B: Bus> Sbsa<B> {
    /// Returns the watchdog of this control frame, whose W_IIDR reads as `iidr`.
    pub fn new(control: B, iidr: u32) -> Self {
        let longest = match iidr >> 16 & 0xf {
            0 => u32::MAX.into(),
            _ => (1 << 48) - 1,
        };
        Self { control, longest }
    }

    /// Reads the setting.
    pub fn setting(&mut self) -> Setting {
        let low = read32(&mut self.control, WOR_LOW);
        let high = read32(&mut self.control, WOR_HIGH);
        Setting {
            // Without WS0 and WS1, which must not be written.
            control: read32(&mut self.control, WCS) & ON,
            count: (u64::from(high) << 32 | u64::from(low)) & self.longest,
        }
    }

    /// Writes the setting. The time begins anew, since each write refreshes.
    pub fn set(&mut self, setting: Setting) {
        // The watchdog stands while only a half of WOR is right.
        write32(&mut self.control, WCS, 0);
        write32(&mut self.control, WOR_LOW, setting.count as u32);
        // 0 in revision 0, where this register is reserved.
        write32(&mut self.control, WOR_HIGH, (setting.count >> 32) as u32);
        write32(&mut self.control, WCS, setting.control);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::devices::fake::Fake;

    #[test]
    fn setting_is_read_and_written_within_the_revision() {
        // W_IIDR, WOR's high half as read, the count that is read.
        let rows = [
            (0x0000_043b, 0xdead, 0x1234),
            (0x0001_043b, 0xdead, 0xdead_0000_1234),
            (0x0001_043b, 0x7_dead, 0xdead_0000_1234),
        ];
        for (iidr, high, count) in rows {
            let registers = [(WCS, 0b111), (WOR_LOW, 0x1234), (WOR_HIGH, high)];
            let mut sbsa = Sbsa::new(Fake::new(&registers), iidr);
            let found = sbsa.setting();
            assert_eq!(found, Setting { control: ON, count }, "{iidr:#x} {high:#x}");
            sbsa.set(found);
            let expected = [
                (WCS, 0),
                (WOR_LOW, 0x1234),
                (WOR_HIGH, (count >> 32) as u32),
                (WCS, ON),
            ];
            assert_eq!(sbsa.control.writes(), expected, "{iidr:#x} {high:#x}");
        }
    }
}
