//! Finds working memory in the board's free memory.

use core::iter::from_fn;

pub use super::ranges::PAGE;
use super::ranges::Region;
use crate::text::format_error::{FormatError, Result};

/// Free memory on the board.
///
/// Holding a value proves that the region consists of whole pages, does not include page 0, is in
/// one of the board's memory regions, overlaps none of the regions that [`find`] was told to avoid,
/// and has no other owner. It does not prove that the pages are mapped, or that the device tree is
/// right about them.
#[derive(Debug, PartialEq, Eq)]
pub struct Room(Region);

impl Room {
    /// Returns the pages.
    pub const fn region(&self) -> Region {
        self.0
    }

    /// Removes and returns the first `bytes` bytes, as [`split_off`] does.
    pub const fn split_off(&mut self, bytes: u64) -> Self {
        Self(split_off(&mut self.0, bytes))
    }
}

/// Removes and returns the first `bytes` bytes of `pages`, rounded up to whole pages. If there are
/// fewer pages, removes and returns all of them.
pub const fn split_off(pages: &mut Region, bytes: u64) -> Region {
    let Region { base, size } = *pages;
    let wanted = bytes.div_ceil(PAGE).saturating_mul(PAGE);
    let first = if wanted < size { wanted } else { size };
    *pages = Region {
        base: base + first,
        size: size - first,
    };
    Region { base, size: first }
}

/// Finds `bytes` bytes of `memory` that do not overlap any region in `taken`, as close as possible
/// to `near`. The result starts and ends on a page boundary.
///
/// # Errors
/// Returns an error if no gap is large enough.
pub fn find(memory: &[Region], taken: &[Region], near: u64, bytes: u64) -> Result<Room> {
    let need = bytes.next_multiple_of(PAGE);
    let mut nearest: Option<Region> = None;
    let mut largest = 0;
    for gap in memory.iter().flat_map(|region| gaps(*region, taken)) {
        largest = largest.max(gap.size);
        let distance = |gap: &Region| gap.base.abs_diff(near);
        let is_nearer = nearest.is_none_or(|other| distance(&gap) < distance(&other));
        if gap.size >= need && is_nearer {
            nearest = Some(gap);
        }
    }
    let gap = nearest.ok_or_else(|| too_little(need, largest))?;
    Ok(Room(Region { size: need, ..gap }))
}

fn too_little(need: u64, largest: u64) -> FormatError {
    let [kib, missing_kib] = [need, need - largest].map(|bytes| bytes.div_ceil(1024));
    let largest_kib = largest / 1024;
    FormatError::new(format_args!(
        "not enough memory: one block of {kib} KiB is needed, but the largest free block has \
         {largest_kib} KiB ({missing_kib} KiB short); reduce iterations=, loops= or footprint=, \
         or measure fewer scenarios (only=)"
    ))
}

/// Returns each range of pages in `region` that does not overlap any region in `taken`.
fn gaps(region: Region, taken: &[Region]) -> impl Iterator<Item = Region> {
    let end = region.end() & !(PAGE - 1);
    // `min` prevents overflow when rounding up at the last page.
    let mut at = region.base.max(PAGE).min(end).next_multiple_of(PAGE);
    let used = taken.iter().filter(|region| region.size > 0);
    from_fn(move || {
        while at < end {
            // If a region starts in this page, the page is not free.
            let base = at;
            let page = Region { base, size: PAGE };
            if let Some(holder) = used.clone().find(|region| region.overlaps(&page)) {
                at = holder.end().checked_next_multiple_of(PAGE)?;
                continue;
            }
            let later = used.clone().filter(|region| region.base > base);
            let pages = later.map(|region| region.base & !(PAGE - 1));
            at = pages.fold(end, u64::min);
            let size = at - base;
            return Some(Region { base, size });
        }
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::ToString;
    use std::vec::Vec;

    /// Parses regions written as `base+size` in hexadecimal.
    fn regions(text: &str) -> Vec<Region> {
        let number = |digits| u64::from_str_radix(digits, 16).expect(text);
        let words = text.split_whitespace();
        words
            .filter_map(|word| word.split_once('+'))
            .map(|(base, size)| Region {
                base: number(base),
                size: number(size),
            })
            .collect()
    }

    #[test]
    fn the_nearest_large_gap_is_found_or_the_missing_bytes_are_named() {
        let little = |needed_kib, largest_kib, missing_kib| {
            format!(
                "not enough memory: one block of {needed_kib} KiB is needed, but the largest free block \
                 has {largest_kib} KiB ({missing_kib} KiB short); reduce iterations=, loops= or \
                 footprint=, or measure fewer scenarios (only=)"
            )
        };
        let holes = "1000+9000 100000+2000";
        let taken = "1000+1000 4800+10 6000+800";
        let ends = "0+2000 ffffffffffffd000+2fff";
        let last = "fffffffffffff000+fff";
        let ram = "40000000+40000000";
        let image = "60000000+20000 40000000+100000";
        for (memory, taken, near, need, expected) in [
            (ram, image, 0x6002_0000, 0x1_0000, "60020000+10000".into()),
            (holes, taken, 0x5000, 0x1000, "5000+1000".into()),
            (holes, taken, 0, 0x2fff, "7000+3000".into()),
            (holes, taken, 0, 0x4000, little(16, 12, 4)),
            // Page 0 and addresses past the end of the address space are never used.
            (ends, "", 0, 1, "1000+1000".into()),
            (ends, last, u64::MAX, 0x3000, little(12, 8, 4)),
            ("fffffffffffffff0+f", "", 0, 1, little(4, 0, 4)),
        ] {
            let found = match find(&regions(memory), &regions(taken), near, need) {
                Ok(Room(Region { base, size })) => format!("{base:x}+{size:x}"),
                Err(error) => error.to_string(),
            };
            assert_eq!(found, expected);
        }
    }

    #[test]
    fn at_most_all_pages_are_split_off() {
        let mut room = find(&regions("100000+5000"), &[], 0, 0x3000).expect("room");
        for (bytes, base, size) in [
            (1, 0x10_0000, 0x1000),
            (0, 0x10_1000, 0),
            (u64::MAX, 0x10_1000, 0x2000),
            (1, 0x10_3000, 0),
        ] {
            assert_eq!(room.split_off(bytes).region(), Region { base, size });
        }
    }
}
