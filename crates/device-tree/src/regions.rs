//! Lists of regions.

use alloc::vec::Vec;

use hardware::board::Region;

/// Sorts regions and merges adjacent ones.
pub fn merge(mut regions: Vec<Region>) -> Vec<Region> {
    regions.sort_unstable_by_key(|region| region.base);
    let mut merged: Vec<Region> = Vec::new();
    for region in regions {
        match merged.last_mut() {
            Some(last) if region.base <= last.end() => {
                last.size = last.end().max(region.end()) - last.base;
            }
            _ => merged.push(region),
        }
    }
    merged
}
