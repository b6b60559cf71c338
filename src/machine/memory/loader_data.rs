//! What a loader left in memory: bytes that nobody writes to any more.
//!
//! Where they are is the loader's word, or a register's. So no page is mapped
//! that is in use, and each is probed before it is believed to be memory.

use core::slice;

use crate::machine::memory::probe;
use crate::machine::memory::tables;
use crate::machine::memory::tables::MapError;
use crate::machine::memory::tables::Mapping;
use crate::machine::memory::tables::TranslationTables;
use psci_bench::board::Region;

/// Bytes that are mapped already, and are never written to: None unless that is
/// so for each page.
pub fn find_mapped(tables: &TranslationTables, region: Region) -> Option<&'static [u8]> {
    // SAFETY: they can be read, and a store to them would fault. Nobody takes
    // them away again: pages are unmapped in this file alone, and only such as
    // nobody was given for good.
    let bytes = || unsafe { bytes(region) };
    tables.is_constant(region).then(bytes)
}

/// Maps bytes to read them once.
///
/// # Errors
/// Where a page is in use, or nothing is there.
pub fn read_once<T>(
    tables: &mut TranslationTables,
    region: Region,
    reader: impl FnOnce(&[u8]) -> T,
) -> Result<T, MapError> {
    map(tables, region)?;
    // SAFETY: just mapped, each page can be read and none be written to; what
    // `reader` returns does not borrow from the bytes.
    let read = reader(unsafe { bytes(region) });
    tables.unmap(region);
    Ok(read)
}

/// Maps bytes for good.
///
/// # Errors
/// Where a page is in use, or nothing is there.
pub fn map_for_good(
    tables: &mut TranslationTables,
    region: Region,
) -> Result<&'static [u8], MapError> {
    map(tables, region)?;
    // SAFETY: just mapped, each page can be read and none be written to; they
    // stay mapped.
    Ok(unsafe { bytes(region) })
}

/// Maps what can be read, and is not in use.
fn map(tables: &mut TranslationTables, region: Region) -> Result<(), MapError> {
    let mapped = tables.map_unused(region, Mapping::Constant);
    let error = match mapped {
        // Some of it may be mapped.
        Err(MapError::OutOfTables) => MapError::OutOfTables,
        Err(error) => return Err(error),
        Ok(()) => match tables::pages(region).find(|page| probe::try_read_word(*page).is_none()) {
            Some(page) => MapError::Unreadable(page),
            None => return Ok(()),
        },
    };
    tables.unmap(region);
    Err(error)
}

/// The bytes of a region.
///
/// # Safety
/// The region must be mapped as memory that is never written to, as long as the
/// bytes are in use.
unsafe fn bytes<'a>(region: Region) -> &'a [u8] {
    // SAFETY: the caller's promise; bytes need no alignment.
    unsafe { slice::from_raw_parts(region.base as *const u8, region.size as usize) }
}
