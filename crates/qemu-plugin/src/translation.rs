//! Determines the attributes of memory by walking the translation tables (Arm ARM, D8.2).
//!
//! Promises the attributes that the CPU itself would use, as long as the plugin clears the cache
//! after each TLBI. Assumes 4 KiB pages and TTBR0, which the firmware and the payload use.

use std::collections::HashMap;

use crate::{read_memory, read_register};

/// The registers of each translation regime, with the names that the QEMU debugger uses.
const REGISTERS: [[&str; 3]; 3] = [
    ["TTBR0_EL1", "TCR_EL1", "MAIR_EL1"],
    ["TTBR0_EL2", "TCR_EL2", "MAIR_EL2"],
    ["TTBR0_EL3", "TCR_EL3", "MAIR_EL3"],
];

/// How memory is accessed (Arm ARM, B2.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryType {
    /// Normal Cacheable memory.
    Cacheable,
    /// Normal Non-cacheable memory.
    NonCacheable,
    /// Device memory.
    Device,
}

/// Returns true for a TLBI instruction, after which [`Attributes`] must be cleared (Arm ARM, C5.5).
pub const fn is_tlbi(word: u32) -> bool {
    word & 0xfff8_f000 == 0xd508_8000
}

/// A descriptor load.
pub struct DescriptorLoad {
    /// The address of the descriptor.
    pub address: u64,
    /// How the descriptor is accessed.
    pub memory: MemoryType,
}

/// A cache of page attributes, similar to a TLB.
#[derive(Default)]
pub struct Attributes(HashMap<(u64, u64), MemoryType>);

impl Attributes {
    /// Removes all pages, as a TLBI does.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Determines how memory is accessed at an exception level with the MMU on. If the page is not
    /// in this cache, calls `on_load` for each descriptor load. Memory without a translation is
    /// treated as Device memory.
    pub fn memory(
        &mut self,
        level: u64,
        address: u64,
        on_load: impl FnMut(DescriptorLoad),
    ) -> MemoryType {
        let key = (level, address >> 12);
        if let Some(known) = self.0.get(&key) {
            return *known;
        }
        let memory = walk(level, address, on_load).unwrap_or(MemoryType::Device);
        self.0.insert(key, memory);
        memory
    }
}

fn walk(level: u64, address: u64, mut on_load: impl FnMut(DescriptorLoad)) -> Option<MemoryType> {
    let names = REGISTERS.get(level.saturating_sub(1) as usize)?;
    let [root, control, attributes] = names.map(|name| read_register(name).unwrap_or(0));
    // TCR.IRGN0 specifies how table walks access memory.
    let memory = match control >> 8 & 3 {
        0 => MemoryType::NonCacheable,
        _ => MemoryType::Cacheable,
    };
    let bits = 64 - (control & 0x3f);
    // An initial table with few entries is aligned to its size or to 32 bytes, whichever is larger.
    let mut table = root & 0x0000_ffff_ffff_ffe0;
    for step in 4 - bits.saturating_sub(12).div_ceil(9).min(4)..4 {
        let place = table + 8 * (address >> (39 - 9 * step) & 0x1ff);
        on_load(DescriptorLoad {
            address: place,
            memory,
        });
        let descriptor = read_memory(place).filter(|descriptor| descriptor & 1 == 1)?;
        if step == 3 || descriptor & 2 == 0 {
            let attribute = attributes >> (8 * (descriptor >> 2 & 7)) & 0xff;
            return Some(match attribute {
                0x44 => MemoryType::NonCacheable,
                attribute if attribute & 0xf0 == 0 => MemoryType::Device,
                _ => MemoryType::Cacheable,
            });
        }
        table = descriptor & 0x0000_ffff_ffff_f000;
    }
    None
}
