//! Memory that may be used, and what of it may not.
//!
//! Devicetree Specification v0.4, sections 3.4 (`memory`), 3.5
//! (`/reserved-memory`) and 5.3 (memory reservation block).

use arrayvec::ArrayVec;

use super::error::{BoardError, NodePath, Problem};
use super::fdt::Fdt;
use super::ranges::{self, Region};
use super::tree::Chain;

/// The most regions of memory.
pub const MEMORY_MAX: usize = 32;
/// The most regions that are reserved.
pub const RESERVED_MAX: usize = 64;

/// Regions in the making.
pub(super) struct List<const N: usize> {
    pub regions: ArrayVec<Region, N>,
    /// Nodes and entries seen, empty ones too, so that a tree of nothing but
    /// empty ones costs no more time than others.
    seen: usize,
}

impl<const N: usize> List<N> {
    pub const fn new() -> Self {
        Self {
            regions: ArrayVec::new_const(),
            seen: 0,
        }
    }

    /// Appends every region of the last node's `reg` that is not empty: boot
    /// loaders fill in the sizes, and what they leave empty is not there.
    pub fn append<'t>(&mut self, chain: &Chain<'t>) -> Result<(), BoardError<'t>> {
        let refuse = || Err(chain.node().error("reg", Problem::TooMany(N)));
        self.seen += 1;
        if self.seen > 4 * N {
            return refuse();
        }
        let count = ranges::count(chain)?;
        self.seen = self.seen.saturating_add(count);
        if count > N {
            return refuse();
        }
        for index in 0..count {
            let region = ranges::region_or_empty(chain, index)?;
            if region.size != 0 && self.regions.try_push(region).is_err() {
                return refuse();
            }
        }
        Ok(())
    }
}

/// What /memreserve/ and /reserved-memory keep from use. Children without
/// `reg` are for an operating system to place, and no concern here.
pub(super) fn reserved(fdt: Fdt<'_>) -> Result<ArrayVec<Region, RESERVED_MAX>, BoardError<'_>> {
    let mut list = List::new();
    for (base, size) in fdt.reservations() {
        let refuse = |problem| {
            Err(BoardError {
                node: NodePath::default(),
                property: "(memory reservation block)",
                problem,
            })
        };
        if base.checked_add(size).is_none() {
            return refuse(Problem::Wraps { base, size });
        }
        if size != 0 && list.regions.try_push(Region { base, size }).is_err() {
            return refuse(Problem::TooMany(RESERVED_MAX));
        }
    }
    let Some(mut chain) = Chain::find(fdt, "/reserved-memory") else {
        return Ok(list.regions);
    };
    for node in chain.node().children() {
        if node.available() && chain.enter(node) {
            list.append(&chain)?;
            chain.leave();
        }
    }
    Ok(list.regions)
}
