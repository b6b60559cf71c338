//! A CPU's caches, as CLIDR_EL1 and CCSIDR_EL1 describe them.
//!
//! Source: Arm Architecture Reference Manual, DDI 0487, section D24.2. What
//! CCSIDR_EL1 says is meant for maintenance by set and way: it is the size of
//! the cache on the CPUs that Arm made, and whatever a hypervisor makes of it
//! in a guest.

use alloc::collections::BTreeMap;
use alloc::string::String;
use core::fmt;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Levels that CLIDR_EL1 has room for.
pub const LEVELS: usize = 7;

/// Selects the instruction cache in CSSELR_EL1 (InD).
const INSTRUCTION: u64 = 1;

/// The contents of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Instructions alone.
    Instruction,
    /// Data alone.
    Data,
    /// Both.
    Unified,
}

impl Kind {
    /// Returns the text after the level in a cache's name: `L1i`, `L1d`, `L2`.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Instruction => "i",
            Self::Data => "d",
            Self::Unified => "",
        }
    }
}

/// One cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cache {
    /// The level, from 1, the nearest to the CPU.
    pub level: u8,
    /// The contents.
    pub kind: Kind,
    /// The size in bytes.
    pub bytes: u64,
}

/// The caches of one CPU. None where nothing was read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Caches {
    /// Bytes of instruction cache at each level; 0 where there is none.
    instruction: [u64; LEVELS],
    /// Bytes of data or unified cache at each level.
    data: [u64; LEVELS],
    /// Which levels are unified: bit 0 is level 1.
    unified: u8,
}

impl Cache {
    /// Returns the name in a record: `l1i`, `l1d`, `l2`.
    #[must_use]
    pub const fn key(&self) -> Key {
        Key(self.level, self.kind)
    }

    /// The cache of so many bytes that a record calls `key`, if it is one.
    #[must_use]
    pub fn from_key(key: &str, bytes: u64) -> Option<Self> {
        let [b'l', level @ b'1'..=b'7', suffix @ ..] = key.as_bytes() else {
            return None;
        };
        let kind = match suffix {
            b"i" => Kind::Instruction,
            b"d" => Kind::Data,
            b"" => Kind::Unified,
            _ => return None,
        };
        let level = level - b'0';
        Some(Self { level, kind, bytes })
    }
}

/// A cache's name in a record.
#[derive(Clone, Copy, Debug)]
pub struct Key(u8, Kind);

impl Key {
    /// The most characters that it takes.
    pub const LEN: usize = 3;
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "l{}{}", u64::from(self.0), self.1.suffix())
    }
}

impl Serialize for Key {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl Serialize for Caches {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.iter().map(|cache| (cache.key(), cache.bytes)))
    }
}

impl<'de> Deserialize<'de> for Caches {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut caches = Self::default();
        for (key, bytes) in BTreeMap::<String, u64>::deserialize(from)? {
            let cache = Cache::from_key(&key, bytes);
            let Cache { level, kind, .. } = cache.ok_or_else(|| de::Error::custom("no cache"))?;
            // A key's level is one of 1 to 7.
            let place = usize::from(level) - 1;
            match kind {
                Kind::Instruction => caches.instruction[place] = bytes,
                Kind::Data | Kind::Unified => caches.data[place] = bytes,
            }
            caches.unified |= u8::from(kind == Kind::Unified) << place;
        }
        Ok(caches)
    }
}

impl Caches {
    /// Reads them. `clidr` is CLIDR_EL1; `ccsidr` writes its argument to
    /// CSSELR_EL1 and gives CCSIDR_EL1, whose fields are those of FEAT_CCIDX
    /// where `wide` (ID_AA64MMFR2_EL1.CCIDX).
    #[must_use]
    pub fn read(clidr: u64, wide: bool, ccsidr: &mut dyn FnMut(u64) -> u64) -> Self {
        let mut caches = Self::default();
        let mut types = clidr;
        for level in 0..LEVELS {
            let select = (level as u64) << 1;
            let kind = types & 7;
            types >>= 3;
            if kind & 1 != 0 && kind < 4 {
                caches.instruction[level] = bytes(ccsidr(select | INSTRUCTION), wide);
            }
            match kind {
                // Separate, or data alone.
                2 | 3 => {}
                4 => caches.unified |= 1 << level,
                // None: behind it there is no more. The rest is reserved.
                0 | 5.. => break,
                _ => continue,
            }
            caches.data[level] = bytes(ccsidr(select), wide);
        }
        caches
    }

    /// All of them, level by level.
    pub fn iter(&self) -> impl Iterator<Item = Cache> + '_ {
        (0..LEVELS * 2).filter_map(|place| {
            let level = place / 2;
            let (kind, bytes) = match place % 2 {
                0 => (Kind::Instruction, self.instruction[level]),
                _ if self.unified >> level & 1 != 0 => (Kind::Unified, self.data[level]),
                _ => (Kind::Data, self.data[level]),
            };
            let level = level as u8 + 1;
            (bytes > 0).then_some(Cache { level, kind, bytes })
        })
    }

    /// Bytes of data that the caches of a level hold, from 1; None where the
    /// level has none, or was not read.
    #[must_use]
    pub fn data(&self, level: u8) -> Option<u64> {
        let place = usize::from(level).checked_sub(1)?;
        self.data.get(place).copied().filter(|bytes| *bytes > 0)
    }

    /// Bytes of the second level, which `tree` may know where the CPU does not;
    /// of the first where there is no second. None where no cache is known, or
    /// what is said of it cannot be.
    #[must_use]
    pub fn outer(&self, tree: Option<u64>) -> Option<u64> {
        const MOST: u64 = 64 << 20;
        let mut sizes = [self.data(2), tree, self.data(1)].into_iter().flatten();
        sizes.find(|bytes| (1024..=MOST).contains(bytes))
    }

    /// Returns true if no cache is known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.iter().next().is_none()
    }
}

/// The size of a cache by its CCSIDR_EL1: lines times ways times sets.
fn bytes(ccsidr: u64, wide: bool) -> u64 {
    let line = 16u64 << (ccsidr & 7);
    let (ways, sets) = if wide {
        (ccsidr >> 3 & 0x1f_ffff, ccsidr >> 32 & 0xff_ffff)
    } else {
        (ccsidr >> 3 & 0x3ff, ccsidr >> 13 & 0x7fff)
    };
    // At most 2^11 * 2^21 * 2^24.
    line * (ways + 1) * (sets + 1)
}

impl fmt::Display for Cache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (level, suffix) = (u64::from(self.level), self.kind.suffix());
        let (size, unit) = match self.bytes {
            bytes if bytes % 1024 != 0 => (bytes, "bytes"),
            bytes if bytes % (1024 * 1024) != 0 => (bytes / 1024, "KiB"),
            bytes => (bytes / (1024 * 1024), "MiB"),
        };
        write!(f, "L{level}{suffix} {size} {unit}")
    }
}

impl fmt::Display for Caches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut mark = "";
        for cache in self.iter() {
            write!(f, "{mark}{cache}")?;
            mark = ", ";
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;
    use std::vec::Vec;

    /// CCSIDR_EL1 of a cache, by the formula's parts.
    fn ccsidr(line: u64, ways: u64, sets: u64, wide: bool) -> u64 {
        let line = u64::from(line.ilog2()) - 4;
        let at = if wide { 32 } else { 13 };
        line | (ways - 1) << 3 | (sets - 1) << at
    }

    /// A Cortex-A72 with 1 MiB of L2: 3 ways of instructions, 2 of data.
    fn a72(selector: u64, wide: bool) -> u64 {
        match selector {
            1 => ccsidr(64, 3, 256, wide),
            0 => ccsidr(64, 2, 256, wide),
            2 => ccsidr(64, 16, 1024, wide),
            other => panic!("CSSELR_EL1 = {other}"),
        }
    }

    #[test]
    fn sizes_by_either_layout() {
        for wide in [false, true] {
            let caches = Caches::read(0x0a20_0023, wide, &mut |it| a72(it, wide));
            assert_eq!(caches.to_string(), "L1i 48 KiB, L1d 32 KiB, L2 1 MiB");
            let data = [0, 1, 2, 3, 7, 8, 255].map(|level| caches.data(level));
            let l1_and_l2 = [None, Some(32 << 10), Some(1 << 20)];
            assert_eq!(data[..3], l1_and_l2);
            assert_eq!(data[3..], [None; 4]);
        }
        // Cortex-A53's data cache of 32 KiB, by its manual.
        assert_eq!(bytes(0x700f_e01a, false), 32 << 10);
    }

    #[test]
    fn levels_end_where_there_is_no_cache() {
        let mut asked = Vec::new();
        let mut read = |clidr| {
            asked.clear();
            let caches = Caches::read(clidr, false, &mut |it| {
                asked.push(it);
                0
            });
            (caches.to_string(), asked.clone())
        };
        assert_eq!(read(0), ("".into(), [].into()));
        // Unified, nothing, unified: the third is behind the end.
        assert_eq!(read(0o404), ("L1 16 bytes".into(), [0].into()));
        // Instructions, then data, then a type that is reserved.
        let two = "L1i 16 bytes, L2d 16 bytes";
        assert_eq!(read(0o521), (two.into(), [1, 2].into()));
        let (all, asked) = read(0o3_333_333);
        assert_eq!(asked.len(), 14);
        assert!(all.starts_with("L1i 16 bytes, L1d") && all.ends_with("L7d 16 bytes"));
    }

    #[test]
    fn the_outer_cache_is_the_second_level_if_there_is_one() {
        let both = Caches::read(0x0a20_0023, false, &mut |it| a72(it, false));
        assert_eq!(both.outer(Some(4 << 20)), Some(1 << 20));
        // Data of one level: what the tree says, or that.
        let one = Caches::read(0o2, false, &mut |it| a72(it, false));
        assert_eq!(one.outer(Some(4 << 20)), Some(4 << 20));
        assert_eq!(one.outer(None), Some(32 << 10));
        // A guest may be shown nonsense.
        let nonsense = Caches::read(0o4_4, true, &mut |_| u64::MAX);
        assert_eq!(nonsense.outer(Some(3)), None);
        assert_eq!(Caches::default().outer(None), None);
    }

    #[test]
    fn a_key_is_read_back() {
        for level in [1, 7] {
            for kind in [Kind::Instruction, Kind::Data, Kind::Unified] {
                let cache = Cache {
                    level,
                    kind,
                    bytes: 9,
                };
                let key = cache.key().to_string();
                assert!(key.len() <= Key::LEN);
                assert_eq!(Cache::from_key(&key, 9), Some(cache));
            }
        }
        for other in ["", "l", "l0", "l8", "l1x", "l1ii", "L1", "n1", "l\u{b5}"] {
            assert_eq!(Cache::from_key(other, 9), None, "{other}");
        }
    }

    #[test]
    fn the_largest_sizes_are_no_overflow() {
        for wide in [false, true] {
            let caches = Caches::read(0o4_444_444, wide, &mut |_| u64::MAX);
            let largest = if wide { 1 << 56 } else { 1 << 36 };
            assert_eq!(caches.data(7), Some(largest));
        }
    }
}
