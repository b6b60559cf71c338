//! Read-only mappings of data that the loader placed in memory.
//!
//! The address comes from the loader or from a register. Therefore, a page that is already in use
//! is never mapped, and each page is probed before it is read as memory.

use core::slice;

use hardware::board::Region;

use crate::machine::memory::probe;
use crate::machine::memory::tables::{self, MapError, Mapping, TranslationTables};

/// Finds bytes that are already mapped and never written to. Returns None if any page of the region
/// does not qualify, or if the region is at address 0, because a slice cannot start there.
pub fn find_mapped(tables: &TranslationTables, region: Region) -> Option<&'static [u8]> {
    let is_readable = region.base != 0 && tables.is_constant(region);
    // SAFETY: the bytes are readable, and any store to them would fault. The bytes stay mapped,
    // because only this file unmaps pages, and only those that are not mapped permanently.
    is_readable.then(|| unsafe { bytes(region) })
}

/// Maps bytes, reads them once, and unmaps them. Returns an error if a page is in use or the tables
/// are exhausted.
pub fn read_once<T>(
    tables: &mut TranslationTables,
    region: Region,
    reader: impl FnOnce(&[u8]) -> T,
) -> Result<T, MapError> {
    map(tables, region)?;
    // SAFETY: every page has just been mapped as readable and not writable; the value that `reader`
    // returns does not borrow from the bytes.
    let read = reader(unsafe { bytes(region) });
    tables.unmap(region);
    Ok(read)
}

/// Maps bytes permanently. Returns an error if a page is in use or the tables are exhausted.
pub fn map_for_good(
    tables: &mut TranslationTables,
    region: Region,
) -> Result<&'static [u8], MapError> {
    map(tables, region)?;
    // SAFETY: every page has just been mapped as readable and not writable, and stays mapped.
    Ok(unsafe { bytes(region) })
}

/// Returns an error if a page of the region is not readable.
fn probe_pages(region: Region) -> Result<(), MapError> {
    for page in tables::pages(region) {
        if probe::try_read_word(page).is_none() {
            return Err(MapError::Unreadable(page));
        }
    }
    Ok(())
}

/// Maps pages that are readable and not in use.
fn map(tables: &mut TranslationTables, region: Region) -> Result<(), MapError> {
    let mut mapped = tables.map_unused(region, Mapping::Constant);
    if mapped.is_ok() {
        mapped = probe_pages(region);
    }
    // If the tables were exhausted, part of the region may be mapped.
    if let Err(MapError::OutOfTables | MapError::Unreadable(_)) = mapped {
        tables.unmap(region);
    }
    mapped
}

/// Returns the bytes of a region.
///
/// # Safety
/// The region must stay mapped as memory that is never written to while the bytes are in use, and
/// must not start at address 0 ([`TranslationTables::map`] refuses that page as memory).
unsafe fn bytes<'a>(region: Region) -> &'a [u8] {
    // SAFETY: guaranteed by the caller; bytes have no alignment requirement.
    unsafe { slice::from_raw_parts(region.base as *const u8, region.size as usize) }
}
