//! EFI's memory map (UEFI specification 2.10, section 7.2.3).

use alloc::vec::Vec;

use psci_bench::board::{MEMORY_MAX, Region};

/// EfiConventionalMemory: free.
const CONVENTIONAL: u32 = 7;
/// Types of memory that a program may read: loader's, boot services', runtime services', free,
/// ACPI's.
const READABLE: [u32; 9] = [1, 2, 3, 4, 5, 6, CONVENTIONAL, 9, 10];
/// EFI_MEMORY_WB: the memory can be cached.
const WRITE_BACK: u64 = 1 << 3;
/// EFI_MEMORY_SP: the memory is meant for one purpose, such as a device's.
const SPECIAL_PURPOSE: u64 = 1 << 18;
/// Size of a page.
const PAGE: u64 = 4096;
/// Bytes of a descriptor that are read; firmware may have longer ones.
pub const DESCRIPTOR: usize = 40;

/// A descriptor of the map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Descriptor {
    kind: u32,
    region: Region,
    attributes: u64,
}

/// Reads the descriptors in `map`, each of `size` bytes.
pub fn parse(map: &[u8], size: usize) -> Vec<Descriptor> {
    let entries = map.chunks_exact(size.max(DESCRIPTOR));
    let entries = entries.map(|entry| {
        let number = |at: usize| {
            let bytes = entry.get(at..at + 8).and_then(|bytes| bytes.first_chunk());
            bytes.map_or(0, |bytes| u64::from_le_bytes(*bytes))
        };
        let size = number(24).saturating_mul(PAGE);
        let base = number(8);
        Descriptor {
            kind: number(0) as u32,
            region: Region { base, size },
            attributes: number(32),
        }
    });
    entries.collect()
}

/// Returns the memory that is free after EFI has ended, for all purposes and cached: adjacent
/// parts are merged, and the [`MEMORY_MAX`] largest are returned in the order of addresses.
pub fn free(map: &[Descriptor]) -> Vec<Region> {
    let is_free = |it: &&Descriptor| {
        let attributes = it.attributes & (WRITE_BACK | SPECIAL_PURPOSE);
        it.kind == CONVENTIONAL && attributes == WRITE_BACK
    };
    let mut regions = merge(map.iter().filter(is_free));
    regions.sort_by_key(|region| core::cmp::Reverse(region.size));
    regions.truncate(MEMORY_MAX);
    regions.sort_by_key(|region| region.base);
    regions
}

/// Returns true if all of `region` is memory that can be read.
pub fn is_readable(map: &[Descriptor], region: &Region) -> bool {
    let readable = map.iter().filter(|it| READABLE.contains(&it.kind));
    merge(readable).iter().any(|part| part.contains(region))
}

/// Returns the regions of `descriptors` in the order of addresses, adjacent ones as one.
fn merge<'d>(descriptors: impl Iterator<Item = &'d Descriptor>) -> Vec<Region> {
    let mut parts: Vec<Region> = descriptors.map(|it| it.region).collect();
    parts.retain(|part| part.size > 0 && part.base.checked_add(part.size).is_some());
    parts.sort_by_key(|part| part.base);
    let mut merged: Vec<Region> = Vec::new();
    for part in parts {
        match merged.last_mut() {
            Some(last) if part.base <= last.end() => {
                last.size = last.end().max(part.end()) - last.base;
            }
            _ => merged.push(part),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(entries: &[(u32, u64, u64, u64)], size: usize) -> Vec<Descriptor> {
        let mut bytes = Vec::new();
        for (kind, base, pages, attributes) in entries {
            let mut entry = std::vec![0; size];
            let numbers = [u64::from(*kind), *base, 0, *pages, *attributes];
            for (at, number) in numbers.iter().enumerate() {
                entry[at * 8..][..8].copy_from_slice(&number.to_le_bytes());
            }
            bytes.extend(entry);
        }
        parse(&bytes, size)
    }

    const FREE: (u32, u64) = (7, 0xf);

    #[test]
    fn free_memory_is_merged_and_the_largest_parts_are_kept() {
        let region = |base, size| Region { base, size };
        for size in [40, 48] {
            let (kind, wb) = FREE;
            let map = map(
                &[
                    (kind, 0x3000, 1, wb),
                    (kind, 0x1000, 2, wb),
                    (4, 0x4000, 1, wb),
                    (kind, 0x5000, 1, 1),
                    (kind, 0x6000, 1, wb | SPECIAL_PURPOSE),
                    (kind, 0x8000, 0, wb),
                    (kind, !0xfff, 2, wb),
                    (kind, 0x9000, u64::MAX, wb),
                    (kind, 0xa000, 1, wb),
                ],
                size,
            );
            assert_eq!(free(&map), [region(0x1000, 0x3000), region(0xa000, 0x1000)]);
        }
        let many: Vec<_> = (0..100).map(|n| (7, n << 20, 1 + n % 50, 8)).collect();
        let kept = free(&map(&many, 48));
        assert_eq!(kept.len(), MEMORY_MAX);
        assert!(kept.iter().all(|region| region.size >= 0x22000));
        assert!(kept.is_sorted_by_key(|region| region.base));
    }

    #[test]
    fn tables_are_read_from_memory_alone() {
        let map = map(
            &[(9, 0x1000, 1, 0), (7, 0x2000, 1, 0), (11, 0x3000, 1, 0)],
            48,
        );
        for (base, size, expected) in [
            (0x1000, 0x2000, true),
            (0x1fff, 2, true),
            (0x2000, 0x1001, false),
            (0xfff, 1, false),
            (0x3000, 1, false),
            (u64::MAX, 1, false),
        ] {
            assert_eq!(is_readable(&map, &Region { base, size }), expected);
        }
    }
}
