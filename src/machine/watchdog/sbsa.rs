//! SBSA generic watchdog (Arm BSA, DEN 0094, "Watchdogs"), by its control
//! frame.

use crate::machine::watchdog::setting::Setting;
use safe_mmio::fields::ReadPureWrite;
use safe_mmio::{UniqueMmioPointer, field, field_shared};

use crate::machine::memory::mmio::Registers;
use crate::machine::memory::probe;

/// The control frame's registers that are used.
#[repr(C)]
struct Control {
    /// 0x000 WCS.
    status: ReadPureWrite<u32>,
    _0: u32,
    /// 0x008 WOR, bits 31:0.
    offset: ReadPureWrite<u32>,
    /// 0x00c WOR, bits 47:32; reserved in revision 0.
    offset_high: ReadPureWrite<u32>,
}

/// W_IIDR, from the frame's base. Its bits 19:16 are the architecture's
/// revision.
const W_IIDR: u64 = 0xfcc;

/// WCS.EN.
pub const ON: u32 = 1;

/// An SBSA watchdog.
pub struct Sbsa {
    control: UniqueMmioPointer<'static, Control>,
    /// The most that WOR holds: 48 bits, or 32 in revision 0.
    pub longest: u64,
}

impl Sbsa {
    /// None when nothing can be read there.
    pub fn new(registers: Registers) -> Option<Self> {
        let longest = match probe::try_read_word(registers.region().base + W_IIDR)? >> 16 & 0xf {
            0 => u32::MAX.into(),
            _ => (1 << 48) - 1,
        };
        // SAFETY: at() made sure that it is aligned and all mapped as a device.
        // Should a tree that is wrong have another device there, each driver
        // would disturb the other's, and no more.
        let control = unsafe { UniqueMmioPointer::new(registers.at(0).ok()?) };
        Some(Self { control, longest })
    }

    /// What it is set to.
    pub fn setting(&self) -> Setting {
        let low = field_shared!(self.control, offset).read();
        let high = field_shared!(self.control, offset_high).read();
        Setting {
            // Without WS0 and WS1, which are not to be written.
            control: field_shared!(self.control, status).read() & ON,
            count: (u64::from(high) << 32 | u64::from(low)) & self.longest,
        }
    }

    /// Sets it, and lets it count from now on: each write refreshes it.
    pub fn set(&mut self, setting: Setting) {
        // It stands while only a half of WOR is right.
        field!(self.control, status).write(0);
        field!(self.control, offset).write(setting.count as u32);
        // 0 in revision 0, where this is reserved.
        field!(self.control, offset_high).write((setting.count >> 32) as u32);
        field!(self.control, status).write(setting.control);
    }
}
