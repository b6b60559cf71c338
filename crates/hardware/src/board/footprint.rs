//! The memory that the payload uses before it has found working memory.

use super::board::Board;
use super::ranges::{PAGE, Region};
use crate::image::{ParameterBlock, working_memory};
use crate::text::format_error::{FormatError, Result};

/// The payload in memory. The parts follow each other, each on its own pages.
#[derive(Clone, Copy, Debug)]
pub struct Footprint {
    /// The code and the variables, including those that are zero at first.
    pub image: Region,
    /// The device tree, if it is appended to the image.
    pub tree: Option<Region>,
    /// The first stack, heap and translation tables.
    pub boot_area: Region,
}

impl Footprint {
    /// Returns the footprint of an image with this parameter block that is loaded at `base`, or
    /// `None` if the addresses do not fit in 64 bits.
    pub fn of_image(block: &ParameterBlock, base: u64) -> Option<Self> {
        let tree_end = block.tree_offset.checked_add(block.tree_size)?;
        let tree = (block.tree_size > 0).then_some(Region {
            base: base.checked_add(block.tree_offset)?,
            size: block.tree_size,
        });
        let end = base.checked_add(tree_end.max(block.base_size))?;
        let boot_area = end.checked_next_multiple_of(PAGE)?;
        boot_area.checked_add(working_memory(1))?;
        Some(Self {
            image: Region {
                base,
                size: block.base_size,
            },
            tree,
            boot_area: Region {
                base: boot_area,
                size: working_memory(1),
            },
        })
    }

    /// Returns the parts with their names, in ascending order, in whole pages.
    fn parts(&self) -> impl Iterator<Item = (&'static str, Region)> + Clone {
        let tree = self.tree.map(|tree| ("appended device tree", tree));
        let first = [("image", self.image)].into_iter().chain(tree);
        let parts = first.chain([("boot stack", self.boot_area)]);
        parts.map(|(name, part)| {
            let base = part.base & !(PAGE - 1);
            let end = part.end().checked_next_multiple_of(PAGE);
            let size = end.unwrap_or(u64::MAX) - base;
            (name, Region { base, size })
        })
    }
}

impl Board<'_> {
    /// Checks that the payload's own memory is in the tree and is not reserved.
    ///
    /// A tree that a loader passes is not part of the footprint, because it is only read: loaders
    /// may reserve it.
    ///
    /// # Errors
    /// Returns an error if a reserved region overlaps the footprint, or if only a part of the
    /// footprint is in memory. If none of it is, the tree omits that memory on purpose, as do those
    /// that list only free memory (the EFI application's).
    pub fn check_footprint(&self, footprint: &Footprint) -> Result<()> {
        let parts = footprint.parts();
        for (name, part) in parts.clone() {
            if let Some(taken) = self.reserved.iter().find(|region| region.overlaps(&part)) {
                return Err(FormatError::new(format_args!(
                    "reserved memory at {:#x} overlaps the {name} at {:#x}; load the image \
                     elsewhere, or correct the tree",
                    taken.base, part.base
                )));
            }
        }
        let overlaps = |part: &Region| self.memory.iter().any(|region| region.overlaps(part));
        if !parts.clone().any(|(_, part)| overlaps(&part)) {
            return Ok(());
        }
        for (name, part) in parts {
            if let Some(hole) = self.first_hole(part) {
                return Err(FormatError::new(format_args!(
                    "no memory at {hole:#x}, in the {name} at {:#x}; load the image elsewhere, or \
                     correct the tree",
                    part.base
                )));
            }
        }
        Ok(())
    }

    /// Returns the first address in `part` that is not in memory.
    fn first_hole(&self, part: Region) -> Option<u64> {
        let mut at = part.base;
        while at < part.end() {
            let holders = self.memory.iter().filter(|region| region.base <= at);
            let end = holders.map(Region::end).max();
            match end.filter(|image_end| *image_end > at) {
                Some(end) => at = end,
                None => return Some(at),
            }
        }
        None
    }
}
