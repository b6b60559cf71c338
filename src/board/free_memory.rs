//! The search for working memory in the parts of the board's memory that are free.

use core::fmt;

use super::ranges::Region;

/// Bytes in a page, the unit of working memory.
pub const PAGE: u64 = 4096;

/// The error that no gap is as large as needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLittle {
    /// Bytes that are needed in one piece.
    pub need: u64,
    /// Bytes of the largest gap.
    pub largest: u64,
}

impl fmt::Display for TooLittle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kib = |bytes: u64| bytes.div_ceil(1024);
        write!(
            f,
            "too little memory: {} KiB are needed in one piece, the largest free one has {} KiB, \
             {} KiB are missing; ask for fewer iterations= or loops=, or a smaller footprint=",
            kib(self.need),
            self.largest / 1024,
            kib(self.need - self.largest)
        )
    }
}

impl core::error::Error for TooLittle {}

/// Free memory of the board: whole pages, never page 0, with one owner.
#[derive(Debug, PartialEq, Eq)]
pub struct Room(Region);

impl Room {
    /// Returns the pages.
    pub const fn region(&self) -> Region {
        self.0
    }

    /// Takes the first `bytes` bytes away, rounded up to whole pages, or all if there
    /// are fewer.
    pub const fn split_off(&mut self, bytes: u64) -> Self {
        Self(split_off(&mut self.0, bytes))
    }
}

/// Takes the first `bytes` bytes of whole pages away, rounded up to pages, or all if
/// there are fewer.
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

/// Finds `need` bytes of `memory` that nothing in `taken` overlaps, as near as
/// possible to `near`. Begins and ends on a page boundary; never contains page 0.
///
/// # Errors
/// When no gap is large enough.
pub fn find(memory: &[Region], taken: &[Region], near: u64, need: u64) -> Result<Room, TooLittle> {
    let need = need.next_multiple_of(PAGE);
    let mut best: Option<Region> = None;
    let mut largest = 0;
    for region in memory {
        let end = region.base.saturating_add(region.size) & !(PAGE - 1);
        // After the last page of the address space there is none to round up to.
        let mut at = region.base.max(PAGE).min(end).next_multiple_of(PAGE);
        while at < end {
            let holder = taken.iter().find(|t| t.base <= at && at - t.base < t.size);
            if let Some(holder) = holder {
                let past = holder.base.saturating_add(holder.size);
                match past.checked_next_multiple_of(PAGE) {
                    Some(next) if next > at => at = next,
                    _ => break,
                }
                continue;
            }
            let next = taken
                .iter()
                .filter(|t| t.size > 0 && t.base > at)
                .map(|t| t.base & !(PAGE - 1))
                .filter(|base| *base > at)
                .fold(end, u64::min);
            // A region that begins in this page leaves nothing of the page.
            let crowded = taken
                .iter()
                .any(|t| t.size > 0 && t.base > at && t.base < at + PAGE);
            if crowded {
                at += PAGE;
                continue;
            }
            let size = next - at;
            largest = largest.max(size);
            let distance = |base: u64| base.abs_diff(near);
            if size >= need && best.is_none_or(|b| distance(at) < distance(b.base)) {
                best = Some(Region {
                    base: at,
                    size: need,
                });
            }
            at = next;
        }
    }
    best.map(Room).ok_or(TooLittle { need, largest })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::vec::Vec;

    fn regions(pairs: &[(u64, u64)]) -> Vec<Region> {
        let region = |&(base, size)| Region { base, size };
        pairs.iter().map(region).collect()
    }

    #[test]
    fn behind_the_image_when_there_is_room() {
        let memory = regions(&[(0x4000_0000, 0x4000_0000)]);
        let taken = regions(&[(0x6000_0000, 0x2_0000), (0x4000_0000, 0x10_0000)]);
        let room = find(&memory, &taken, 0x6002_0000, 0x1_0000).expect("room");
        let Region { base, size } = room.region();
        assert_eq!((base, size), (0x6002_0000, 0x1_0000));
    }

    #[test]
    fn handed_out_in_whole_pages_as_far_as_there_are_some() {
        let memory = regions(&[(0x10_0000, 0x5000)]);
        let mut room = find(&memory, &[], 0, 0x3000).expect("room");
        let mut take = |bytes| {
            let Region { base, size } = room.split_off(bytes).region();
            (base, size)
        };
        assert_eq!(take(1), (0x10_0000, 0x1000));
        assert_eq!(take(0), (0x10_1000, 0));
        assert_eq!(take(u64::MAX), (0x10_1000, 0x2000));
        assert_eq!(take(1), (0x10_3000, 0));
    }

    #[test]
    fn elsewhere_when_there_is_none() {
        let memory = regions(&[(0x1000, 0x9000), (0x10_0000, 0x2000)]);
        let taken = regions(&[(0x1000, 0x1000), (0x4800, 0x10), (0x6000, 0x800)]);
        // Free: 0x2000..0x4000, 0x5000..0x6000, 0x7000..0xa000, 0x100000...
        let at = |need, near| find(&memory, &taken, near, need).map(|r| r.region().base);
        assert_eq!(at(0x1000, 0x5000), Ok(0x5000));
        assert_eq!(at(0x2000, 0x5000), Ok(0x7000));
        assert_eq!(at(0x2fff, 0), Ok(0x7000));
        assert_eq!(
            at(0x4000, 0),
            Err(TooLittle {
                need: 0x4000,
                largest: 0x3000
            })
        );
    }

    #[test]
    fn never_page_zero_and_never_past_the_end_of_the_address_space() {
        let memory = regions(&[(0, 0x2000), (u64::MAX - 0x2fff, 0x2fff)]);
        let taken = regions(&[(u64::MAX - 0xfff, 0xfff)]);
        assert_eq!(
            find(&memory, &[], 0, 1).map(|r| r.region().base),
            Ok(0x1000)
        );
        assert!(find(&memory, &taken, u64::MAX, 0x3000).is_err());
        let last = regions(&[(u64::MAX - 0xf, 0xf)]);
        assert!(find(&last, &[], 0, 1).is_err());
    }

    #[test]
    fn what_is_missing_is_said() {
        let error = find(&regions(&[(0x1000, 0x1000)]), &[], 0, 0x3000).expect_err("too little");
        let said = std::format!("{error}");
        assert!(
            said.contains("12 KiB are needed") && said.contains("8 KiB are missing"),
            "{said}"
        );
    }
}
