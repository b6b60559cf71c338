//! Determines page attributes by walking the translation tables (Arm ARM, D8.2). Assumes 4 KiB
//! pages and TTBR0, which the firmware and the payload use.

use std::collections::HashMap;

use cache_model::Way;
use qemu_abi::{read_memory, read_register};

/// The registers of each translation regime, with the names that the QEMU debugger uses.
const REGISTERS: [[&str; 3]; 3] = [
    ["TTBR0_EL1", "TCR_EL1", "MAIR_EL1"],
    ["TTBR0_EL2", "TCR_EL2", "MAIR_EL2"],
    ["TTBR0_EL3", "TCR_EL3", "MAIR_EL3"],
];

/// A descriptor load.
pub struct Walked {
    pub address: u64,
    pub way: Way,
}

/// A cache of page attributes, similar to a TLB.
#[derive(Default)]
pub struct Attributes(HashMap<(u64, u64), Way>);

impl Attributes {
    /// Removes all pages, as a TLBI does.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Determines how memory is accessed at an exception level with the MMU and caches on. If the
    /// page is not cached, calls `walked` for each descriptor load.
    pub fn way(&mut self, level: u64, address: u64, walked: impl FnMut(Walked)) -> Way {
        let key = (level, address >> 12);
        if let Some(way) = self.0.get(&key) {
            return *way;
        }
        let way = walk(level, address, walked).unwrap_or(Way::Uncached);
        self.0.insert(key, way);
        way
    }
}

fn walk(level: u64, address: u64, mut walked: impl FnMut(Walked)) -> Option<Way> {
    let names = REGISTERS.get(level.saturating_sub(1) as usize)?;
    let [root, control, kinds] = names.map(|name| read_register(name).unwrap_or(0));
    // TCR.IRGN0 specifies how table walks access memory.
    let way = if control >> 8 & 3 == 0 {
        Way::Uncached
    } else {
        Way::Cached
    };
    let bits = 64 - (control & 0x3f);
    // An initial table with few entries is aligned to its size or to 32 bytes, whichever is larger.
    let mut table = root & 0x0000_ffff_ffff_ffe0;
    for step in 4 - bits.saturating_sub(12).div_ceil(9).min(4)..4 {
        let place = table + 8 * (address >> (39 - 9 * step) & 0x1ff);
        walked(Walked {
            address: place,
            way,
        });
        let descriptor = read_memory(place).filter(|it| it & 1 == 1)?;
        if step == 3 || descriptor & 2 == 0 {
            let kind = kinds >> (8 * (descriptor >> 2 & 7)) & 0xff;
            // Device or Normal Non-cacheable memory.
            let is_uncached = kind & 0xf0 == 0 || kind == 0x44;
            return Some(if is_uncached {
                Way::Uncached
            } else {
                Way::Cached
            });
        }
        table = descriptor & 0x0000_ffff_ffff_f000;
    }
    None
}
