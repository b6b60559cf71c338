//! A CPU's caches, as described by CLIDR_EL1 and CCSIDR_EL1.
//!
//! See the Arm Architecture Reference Manual, DDI 0487, section D24.2. CCSIDR_EL1 is intended for
//! set/way maintenance, but on Arm CPUs it also indicates the cache size. In a guest, the value of
//! CCSIDR_EL1 depends on the hypervisor.

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// The number of levels in CLIDR_EL1.
const LEVELS: usize = 7;
/// The cache types at each level: instruction, data and unified.
const KINDS: usize = 3;
const INSTRUCTION: usize = 0;
const DATA: usize = 1;
const UNIFIED: usize = 2;

/// Cache names in records.
const NAMES: [&str; LEVELS * KINDS] = [
    "l1i", "l1d", "l1", "l2i", "l2d", "l2", "l3i", "l3d", "l3", "l4i", "l4d", "l4", "l5i", "l5d",
    "l5", "l6i", "l6d", "l6", "l7i", "l7d", "l7",
];

/// The sizes in bytes of a CPU's caches, in the same order as `NAMES`. The size is 0 for a cache
/// that does not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caches([u64; LEVELS * KINDS]);

impl Serialize for Caches {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.iter())
    }
}

impl<'de> Deserialize<'de> for Caches {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut caches = Self::default();
        for (name, bytes) in BTreeMap::<String, u64>::deserialize(from)? {
            let index = NAMES.iter().position(|known_name| *known_name == name);
            caches.0[index.ok_or_else(|| de::Error::custom("no cache"))?] = bytes;
        }
        Ok(caches)
    }
}

impl Caches {
    /// Reads the cache sizes. `ccsidr` selects a cache by writing its argument to CSSELR_EL1 and
    /// returns CCSIDR_EL1. If `wide` (ID_AA64MMFR2_EL1.CCIDX) is true, CCSIDR_EL1 has the
    /// FEAT_CCIDX fields.
    pub fn read(clidr: u64, wide: bool, ccsidr: &mut dyn FnMut(u64) -> u64) -> Self {
        let mut caches = Self::default();
        for level in 0..LEVELS {
            let kinds: &[usize] = match clidr >> (3 * level) & 7 {
                1 => &[INSTRUCTION],
                2 => &[DATA],
                3 => &[INSTRUCTION, DATA],
                4 => &[UNIFIED],
                // There are no more levels after a level without caches. Other values are reserved.
                _ => break,
            };
            for kind in kinds {
                // The CSSELR_EL1 value: the level and, for an instruction cache, InD.
                let select = level << 1 | usize::from(*kind == INSTRUCTION);
                caches.0[level * KINDS + kind] = bytes(ccsidr(select as u64), wide);
            }
        }
        caches
    }

    /// Returns the names and sizes in bytes, ordered by level.
    fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> {
        let all = NAMES.into_iter().zip(self.0);
        all.filter(|(_, bytes)| *bytes > 0)
    }

    /// Returns the data capacity in bytes of the caches at a level. Levels are numbered from 1.
    fn data(&self, level: usize) -> u64 {
        let first = (level - 1) * KINDS;
        self.0[first + DATA].max(self.0[first + UNIFIED])
    }

    /// Returns the L2 size in bytes, as reported by the CPU or `tree`, or the L1 size if the L2
    /// size is unknown. Returns None if no plausible size is known.
    pub fn outer(&self, tree: Option<u64>) -> Option<u64> {
        const MOST: u64 = 64 << 20;
        let sizes = [self.data(2), tree.unwrap_or(0), self.data(1)];
        sizes
            .into_iter()
            .find(|bytes| (1024..=MOST).contains(bytes))
    }

    /// Returns true if no cache sizes are known.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Returns the cache size from CCSIDR_EL1: line size times ways times sets.
fn bytes(ccsidr: u64, wide: bool) -> u64 {
    let line = 16u64 << (ccsidr & 7);
    let (ways, sets) = if wide {
        (ccsidr >> 3 & 0x1f_ffff, ccsidr >> 32 & 0xff_ffff)
    } else {
        (ccsidr >> 3 & 0x3ff, ccsidr >> 13 & 0x7fff)
    };
    // The product cannot overflow because it is at most 2^11 * 2^21 * 2^24.
    line * (ways + 1) * (sets + 1)
}

/// A cache size in bytes. `Display` uses the largest unit that divides the size evenly, as in
/// `48 KiB`.
#[derive(Clone, Copy, Debug)]
pub struct CacheSize(pub u64);

impl fmt::Display for CacheSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.0;
        let (size, unit) = if bytes.is_multiple_of(1024 * 1024) {
            (bytes / (1024 * 1024), "MiB")
        } else if bytes.is_multiple_of(1024) {
            (bytes / 1024, "KiB")
        } else {
            (bytes, "bytes")
        };
        write!(f, "{size} {unit}")
    }
}

impl fmt::Display for Caches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, bytes)) in self.iter().enumerate() {
            let comma = if index > 0 { ", " } else { "" };
            let size = CacheSize(bytes);
            let level_and_kind = name.strip_prefix('l').unwrap_or(name);
            write!(f, "{comma}L{level_and_kind} {size}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    /// CCSIDR_EL1 on a Cortex-A72 with a 1 MiB L2 cache and 64-byte lines. Selector 0 is the data
    /// cache, and selector 1 is the instruction cache.
    fn a72(selector: u64, wide: bool) -> u64 {
        let (ways, sets) = [(2u64, 256u64), (3, 256), (16, 1024)][selector as usize];
        2 | (ways - 1) << 3 | (sets - 1) << if wide { 32 } else { 13 }
    }

    #[test]
    fn cache_sizes_are_read_in_both_layouts() {
        for (wide, most) in [(false, 1 << 36), (true, 1 << 56)] {
            let caches = Caches::read(0x0a20_0023, wide, &mut |selector| a72(selector, wide));
            assert_eq!(caches.to_string(), "L1i 48 KiB, L1d 32 KiB, L2 1 MiB");
            let largest = Caches::read(0o4_444_444, wide, &mut |_| u64::MAX);
            assert_eq!(largest.data(7), most);
        }
        // The 32 KiB data cache of a Cortex-A53, as described in its manual.
        assert_eq!(bytes(0x700f_e01a, false), 32 << 10);
    }

    #[test]
    fn levels_end_where_there_is_no_cache() {
        for (clidr, text, expected) in [
            (0, "", &[][..]),
            // Cache types by level: unified, none, unified. The third level is ignored because it
            // follows a level without caches.
            (0o404, "L1 16 bytes", &[0]),
            // Cache types by level: instruction, data, reserved.
            (0o521, "L1i 16 bytes, L2d 16 bytes", &[1, 2]),
        ] {
            let mut selectors = Vec::new();
            let mut read = |selector| (selectors.push(selector), 0).1;
            let caches = Caches::read(clidr, false, &mut read);
            assert_eq!(caches.to_string(), text);
            assert_eq!(selectors, expected);
        }
    }

    #[test]
    fn the_outer_cache_is_the_second_level_if_there_is_one() {
        let read = |clidr| Caches::read(clidr, false, &mut |selector| a72(selector, false));
        let both = read(0x0a20_0023);
        let one = read(0o2);
        // The values in a guest may be nonsensical.
        let nonsense = Caches::read(0o4_4, true, &mut |_| u64::MAX);
        for (caches, tree, outer) in [
            (both, Some(4 << 20), Some(1 << 20)),
            (one, Some(4 << 20), Some(4 << 20)),
            (one, None, Some(32 << 10)),
            (nonsense, Some(3), None),
            (Caches::default(), None, None),
        ] {
            assert_eq!(caches.outer(tree), outer);
        }
    }
}
