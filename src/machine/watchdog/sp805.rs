//! Arm PrimeCell watchdog SP805 (DDI 0270).

use crate::machine::memory::mmio::Registers as Mapped;
use crate::machine::watchdog::setting::Setting;
use safe_mmio::fields::{ReadPureWrite, WriteOnly};
use safe_mmio::{UniqueMmioPointer, field, field_shared};

use crate::machine::memory::probe;

/// The registers that are used (DDI 0270, table 3-1).
#[repr(C)]
struct Registers {
    /// 0x000 WDOGLOAD.
    load: ReadPureWrite<u32>,
    _0: u32,
    /// 0x008 WDOGCONTROL.
    control: ReadPureWrite<u32>,
    /// 0x00c WDOGINTCLR: any value clears the interrupt and loads the counter.
    clear: WriteOnly<u32>,
    _1: [u32; 0x2fc],
    /// 0xc00 WDOGLOCK: the key lets the others be written, all else locks.
    lock: WriteOnly<u32>,
}

/// WDOGPERIPHID0, from the base, and the end of the part number that it has.
const PERIPHERAL_ID: u64 = 0xfe0;
const PART: u32 = 0x05;

/// WDOGLOCK: the key.
const KEY: u32 = 0x1acc_e551;
const LOCKED: u32 = 1;

/// WDOGCONTROL: INTEN, without which it does not count, and RESEN.
pub const ON: u32 = 0b11;
/// The most that WDOGLOAD holds.
pub const LONGEST: u64 = u32::MAX as u64;

/// An SP805.
pub struct Sp805 {
    registers: UniqueMmioPointer<'static, Registers>,
}

impl Sp805 {
    /// None when there is no SP805.
    pub fn new(mapped: Mapped) -> Option<Self> {
        if probe::try_read_word(mapped.region().base + PERIPHERAL_ID)? & 0xff != PART {
            return None;
        }
        // SAFETY: at() made sure that it is aligned and all mapped as a device.
        // Should a tree that is wrong have another device there, each driver
        // would disturb the other's, and no more.
        let registers = unsafe { UniqueMmioPointer::new(mapped.at(0).ok()?) };
        Some(Self { registers })
    }

    /// What it is set to.
    pub fn setting(&self) -> Setting {
        Setting {
            control: field_shared!(self.registers, control).read() & ON,
            count: field_shared!(self.registers, load).read().into(),
        }
    }

    /// Sets it, and lets it count from now on. It is locked afterwards, however
    /// it was found: who wants to write it begins with the key.
    pub fn set(&mut self, setting: Setting) {
        field!(self.registers, lock).write(KEY);
        field!(self.registers, control).write(0);
        field!(self.registers, load).write(setting.count as u32);
        field!(self.registers, clear).write(1);
        field!(self.registers, control).write(setting.control);
        field!(self.registers, lock).write(LOCKED);
    }
}
