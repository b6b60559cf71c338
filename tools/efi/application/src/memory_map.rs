//! The EFI memory map (UEFI specification 2.10, section 7.2.3).

use alloc::vec::Vec;

use device_tree::merge_regions;
use hardware::board::{MEMORY_MAX, Region};
use uefi_raw::table::boot::{MemoryAttribute, MemoryDescriptor, MemoryType, PAGE_SIZE};

/// The types of memory that may contain a device tree or ACPI tables: loader, EFI services and ACPI
/// memory.
const READABLE: [MemoryType; 8] = [
    MemoryType::LOADER_CODE,
    MemoryType::LOADER_DATA,
    MemoryType::BOOT_SERVICES_CODE,
    MemoryType::BOOT_SERVICES_DATA,
    MemoryType::RUNTIME_SERVICES_CODE,
    MemoryType::RUNTIME_SERVICES_DATA,
    MemoryType::ACPI_RECLAIM,
    MemoryType::ACPI_NON_VOLATILE,
];

/// Returns the memory that EFI reports as free, cacheable and not set aside for a specific purpose.
/// Adjacent regions are merged, and the [`MEMORY_MAX`] largest are returned in ascending address
/// order.
pub fn free(map: &[MemoryDescriptor]) -> Vec<Region> {
    const CACHED: MemoryAttribute = MemoryAttribute::WRITE_BACK;
    const SPECIAL: MemoryAttribute = MemoryAttribute::SPECIAL_PURPOSE;
    let is_free = |memory: &&MemoryDescriptor| {
        memory.ty == MemoryType::CONVENTIONAL && memory.att & (CACHED | SPECIAL) == CACHED
    };
    let mut regions = regions(map.iter().filter(is_free));
    regions.sort_by_key(|region| core::cmp::Reverse(region.size));
    regions.truncate(MEMORY_MAX);
    regions.sort_by_key(|region| region.base);
    regions
}

/// Returns the memory that may contain a device tree or ACPI tables, in ascending address order.
pub fn readable(map: &[MemoryDescriptor]) -> Vec<Region> {
    regions(map.iter().filter(|memory| READABLE.contains(&memory.ty)))
}

/// Returns the merged regions of `descriptors`; regions that extend past the 64-bit address space
/// are omitted.
fn regions<'d>(descriptors: impl Iterator<Item = &'d MemoryDescriptor>) -> Vec<Region> {
    let regions = descriptors.map(|memory| Region {
        base: memory.phys_start,
        size: memory.page_count.saturating_mul(PAGE_SIZE as u64),
    });
    let is_possible =
        |region: &Region| region.size > 0 && region.base.checked_add(region.size).is_some();
    merge_regions(regions.filter(is_possible).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FREE: MemoryType = MemoryType::CONVENTIONAL;

    fn descriptor(ty: MemoryType, phys_start: u64, page_count: u64, att: u64) -> MemoryDescriptor {
        MemoryDescriptor {
            ty,
            padding: 0,
            phys_start,
            virt_start: 0,
            page_count,
            att: MemoryAttribute::from_bits_retain(att),
        }
    }

    #[test]
    fn free_memory_is_merged_and_the_largest_parts_are_kept() {
        let region = |base, size| Region { base, size };
        let map = [
            descriptor(FREE, 0x3000, 1, 0xf),
            descriptor(FREE, 0x1000, 2, 8),
            descriptor(MemoryType::BOOT_SERVICES_DATA, 0x4000, 1, 8),
            descriptor(FREE, 0x5000, 1, 1),
            descriptor(FREE, 0x6000, 1, 8 | 1 << 18),
            descriptor(FREE, 0x8000, 0, 8),
            descriptor(FREE, !0xfff, 2, 8),
            descriptor(FREE, 0x9000, u64::MAX, 8),
            descriptor(FREE, 0xa000, 1, 8),
        ];
        assert_eq!(free(&map), [region(0x1000, 0x3000), region(0xa000, 0x1000)]);
        let many = (0..100).map(|index| descriptor(FREE, index << 20, 1 + index % 50, 8));
        let kept = free(&many.collect::<Vec<_>>());
        assert_eq!(kept.len(), MEMORY_MAX);
        assert!(kept.iter().all(|region| region.size >= 0x22000));
        assert!(kept.is_sorted_by_key(|region| region.base));
    }

    #[test]
    fn tables_are_in_memory_that_is_in_use() {
        let map = [
            descriptor(MemoryType::ACPI_RECLAIM, 0x1000, 1, 0),
            descriptor(MemoryType::BOOT_SERVICES_DATA, 0x2000, 1, 0),
            descriptor(FREE, 0x3000, 1, 8),
            descriptor(MemoryType::MMIO, 0x4000, 1, 0),
        ];
        let expected = Region {
            base: 0x1000,
            size: 0x2000,
        };
        assert_eq!(readable(&map), [expected]);
    }
}
