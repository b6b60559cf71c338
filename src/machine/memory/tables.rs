//! Translation tables: an identity mapping of just the memory and devices that are needed.
//!
//! `boot.S` maps the image and the appended tree, if any. Memory is mapped in 4 KiB pages, never in
//! blocks, because adjacent memory may be secure (on some boards, BL31 and BL33 share a 2 MiB
//! block), and the CPU would access it speculatively. CPUs do not access devices speculatively, so
//! a large device can be mapped in 2 MiB blocks. A machine with redistributors for 512 CPUs then
//! needs fewer tables.

use core::arch::asm;
use core::mem::MaybeUninit;
use core::slice;

use aarch64_cpu::asm::barrier;
use hardware::board::{Region, Room, free_memory};
use thiserror::Error;

use crate::machine::cpu::registers;

pub const PAGE: u64 = 4096;

/// The block size in bytes, which is the range that one level 3 table maps.
pub const BLOCK: u64 = 512 * PAGE;

/// The low bits of a level 3 descriptor for Normal memory: valid page, attribute index 1, inner
/// shareable, accessed. `boot.S` also uses them.
pub const PAGE_NORMAL: u64 = 0b11 | 1 << 2 | 3 << 8 | 1 << 10;

/// The low bits of a device descriptor: attribute index 0.
const PAGE_DEVICE: u64 = 0b11 | 1 << 10;

/// Set in page and table descriptors, but not in block descriptors.
const NO_BLOCK: u64 = 0b10;
/// The low bits of a table descriptor, which differ from those of a block descriptor.
const TABLE: u64 = 0b11;

const READ_ONLY: u64 = 1 << 7;

/// Where the descriptor for a page is.
struct DescriptorLocation {
    address: u64,
    /// The level of its table.
    level: u32,
}

/// The low bits of a descriptor for memory that is never written to.
const CONSTANT: u64 = PAGE_NORMAL | READ_ONLY;

/// Execute-never for EL2, or for EL1 and EL0 (where bit 53 applies to EL1).
const NEVER_EXECUTE_EL2: u64 = 1 << 54;
const NEVER_EXECUTE_EL1: u64 = 1 << 54 | 1 << 53;
/// AP[1], which is RES1 with a single privilege level.
const ONE_LEVEL: u64 = 1 << 6;
const ADDRESS: u64 = 0x0000_ffff_ffff_f000;

/// The contents of a mapped region, which is never executable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mapping {
    Memory,
    Constant,
    Device,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum MapError {
    #[error("no translation tables left")]
    OutOfTables,
    /// The page at this address is already mapped with a different [`Mapping`].
    #[error("{0:#x} is already in use for something else")]
    Conflict(u64),
    #[error("{0:#x} exceeds 48 bits")]
    Address(u64),
    /// The page at address 0 (the null pointer), unless it belongs to a device.
    #[error("the page at address 0 cannot be used as memory")]
    Null,
    #[error("there is no memory at {0:#x}")]
    Unreadable(u64),
    /// The device at this address has more registers than the device tree lists.
    #[error("the device at {0:#x} has more registers than the tree lists")]
    RegionTooSmall(u64),
}

/// The tables, and the pool that new tables are allocated from.
///
/// Mapping a page again with a different [`Mapping`] is an error. A device region therefore never
/// contains program data, and a constant region never contains data that is written to.
pub struct TranslationTables {
    root: u64,
    next: u64,
    end: u64,
    data_bits: u64,
}

impl TranslationTables {
    /// Takes over the tables built by `boot.S`. The pool ends at `end`; its tables before `next`
    /// are in use. `el1_layout` selects the descriptor layout.
    pub fn new(root: u64, next: u64, end: u64, el1_layout: bool) -> Self {
        Self {
            root,
            next,
            end,
            data_bits: if el1_layout {
                NEVER_EXECUTE_EL1
            } else {
                NEVER_EXECUTE_EL2 | ONE_LEVEL
            },
        }
    }

    pub fn set_pool(&mut self, mut pool: Pages) {
        pool.zero();
        let Region { base, size } = pool.region();
        self.next = base;
        self.end = base + size;
    }

    /// Maps all pages that overlap `region`. Pages that are already mapped with the same
    /// [`Mapping`] are unchanged.
    pub fn map(&mut self, region: Region, kind: Mapping) -> Result<(), MapError> {
        let bits = self.data_bits
            | match kind {
                Mapping::Memory => PAGE_NORMAL,
                Mapping::Constant => CONSTANT,
                Mapping::Device => PAGE_DEVICE,
            };
        let last = region.base.saturating_add(region.size.saturating_sub(1));
        if last & !(ADDRESS | (PAGE - 1)) != 0 {
            return Err(MapError::Address(last));
        }
        let mut page = region.base & !(PAGE - 1);
        // The page may contain a device, such as the UART at 0x3f8 in older kvmtool machines.
        if page == 0 && kind != Mapping::Device {
            return Err(MapError::Null);
        }
        while page <= last {
            let fits = page.is_multiple_of(BLOCK) && last - page >= BLOCK - 1;
            page += self.map_page_or_block(page, bits, fits && kind == Mapping::Device)?;
        }
        // The descriptors must be visible to the table walker before the first access that uses
        // them. TLBs never hold invalid entries.
        barrier::dsb(barrier::ISHST);
        barrier::isb(barrier::SY);
        Ok(())
    }

    /// Finds the first descriptor for `page` that does not point to a table.
    fn walk(&self, page: u64) -> DescriptorLocation {
        let mut table = self.root;
        for level in 0..3 {
            let address = entry(table, page, level);
            let descriptor = read(address);
            if descriptor & TABLE != TABLE {
                return DescriptorLocation { address, level };
            }
            table = descriptor & ADDRESS;
        }
        DescriptorLocation {
            address: entry(table, page, 3),
            level: 3,
        }
    }

    /// Returns the descriptor for the page or its block; bit 0 is clear if it is unmapped.
    fn descriptor(&self, page: u64) -> u64 {
        read(self.walk(page).address)
    }

    /// Maps all pages that overlap `region`. These pages must not be mapped already, because a
    /// mapped page is in use.
    pub fn map_unused(&mut self, region: Region, kind: Mapping) -> Result<(), MapError> {
        match pages(region).find(|page| self.descriptor(*page) & 1 != 0) {
            Some(page) => Err(MapError::Conflict(page)),
            None => self.map(region, kind),
        }
    }

    /// Returns true if `region` is not empty and all its pages are mapped as [`Mapping::Constant`]
    /// or as image text.
    pub fn is_constant(&self, region: Region) -> bool {
        let constant = |page| {
            let descriptor = self.descriptor(page);
            descriptor & CONSTANT == CONSTANT && descriptor & ADDRESS == page
        };
        region.size > 0 && pages(region).all(constant)
    }

    /// Unmaps pages. The pages must not belong to a device, because a device may be mapped in
    /// blocks.
    pub fn unmap(&mut self, region: Region) {
        pages(region).for_each(|page| self.unmap_page(page));
    }

    fn unmap_page(&mut self, page: u64) {
        let entry = self.walk(page).address;
        if read(entry) & 1 == 0 {
            return;
        }
        write(entry, 0);
        macro_rules! forget {
            ($all:literal) => {
                // SAFETY: these are only barriers and TLB maintenance for this CPU; no other CPU is
                // on yet.
                unsafe { asm!("dsb ishst", $all, "dsb sy", "isb", options(nostack)) }
            };
        }
        match registers::exception_level() {
            2 => forget!("tlbi alle2"),
            _ => forget!("tlbi vmalle1"),
        }
    }

    /// Maps a page, or a block if `block` is true and no table is already there. Returns the number
    /// of bytes mapped, starting at `page`.
    fn map_page_or_block(&mut self, page: u64, bits: u64, block: bool) -> Result<u64, MapError> {
        let last = if block { 2 } else { 3 };
        let mut found = self.walk(page);
        while found.level < last && read(found.address) & 1 == 0 {
            if self.next >= self.end {
                return Err(MapError::OutOfTables);
            }
            write(found.address, self.next | TABLE);
            self.next += PAGE;
            found = self.walk(page);
        }
        let DescriptorLocation {
            address: entry,
            level,
        } = found;
        let (size, low_bits) = match level {
            3 => (PAGE, bits),
            _ => (BLOCK, bits & !NO_BLOCK),
        };
        let offset = page % size;
        let old = read(entry);
        let new = (page - offset) | low_bits;
        if old & 1 == 0 {
            write(entry, new);
        } else if old != new {
            return Err(MapError::Conflict(page));
        }
        Ok(size - offset)
    }
}

/// Memory in whole pages.
///
/// Holding a value proves that the pages are permanently mapped as [`Mapping::Memory`] and that
/// nothing else owns them. It does not prove anything about their contents.
pub struct Pages(Region);

impl Pages {
    /// Maps `room`, which is unused memory. Returns an error if a page is already in use.
    pub fn map(tables: &mut TranslationTables, room: Room) -> Result<Self, MapError> {
        let region = room.region();
        tables.map_unused(region, Mapping::Memory)?;
        Ok(Self(region))
    }

    /// Returns pages that `boot.S` has mapped.
    ///
    /// # Safety
    /// The pages must be mapped as memory, and nothing else may use them.
    pub const unsafe fn mapped(region: Region) -> Self {
        Self(region)
    }

    pub const fn region(&self) -> Region {
        self.0
    }

    pub fn into_bytes(self) -> &'static mut [MaybeUninit<u8>] {
        let Region { base, size } = self.0;
        // SAFETY: this is permanently mapped memory, handed over by its only owner. Any contents
        // are valid for MaybeUninit.
        unsafe { slice::from_raw_parts_mut(base as *mut MaybeUninit<u8>, size as usize) }
    }

    /// Splits off the first `bytes` bytes, rounded up to whole pages, or all pages if there are
    /// fewer.
    pub fn split_off(&mut self, bytes: u64) -> Self {
        Self(free_memory::split_off(&mut self.0, bytes))
    }

    /// Fills the pages with zeros, which are visible to table walks before any descriptor stored
    /// later. This function is not inlined, so that `tests/entries` can find it.
    #[inline(never)]
    pub fn zero(&mut self) {
        let Region { base, size } = self.0;
        // SAFETY: this is mapped memory, and `self` is its only owner.
        unsafe { (base as *mut u8).write_bytes(0, size as usize) };
        barrier::dsb(barrier::ISHST);
    }
}

pub fn pages(region: Region) -> impl Iterator<Item = u64> {
    let end = region.base.saturating_add(region.size);
    (region.base & !(PAGE - 1)..end).step_by(PAGE as usize)
}

/// Returns the address of the descriptor for `page` in a table of `level` (0 to 3).
fn entry(table: u64, page: u64, level: u32) -> u64 {
    let shift = 39 - 9 * level;
    table + (page >> shift & 0x1ff) * 8
}

fn read(entry: u64) -> u64 {
    // SAFETY: entry() is in one of our tables: either the root, or a table from the pool that
    // map_page_or_block() has linked. The pool is mapped memory that is used for nothing else.
    unsafe { (entry as *const u64).read_volatile() }
}

fn write(entry: u64, descriptor: u64) {
    // SAFETY: as in read(). Only the lead has access to the tables, and it writes one descriptor at
    // a time.
    unsafe { (entry as *mut u64).write_volatile(descriptor) };
}
