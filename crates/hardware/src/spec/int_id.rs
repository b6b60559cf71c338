//! GIC interrupt IDs (IHI 0069, section 2.2; IHI 0048B, section 2.2.1).

use core::fmt;
use core::ops::Range;

use serde::{Deserialize, Serialize};

/// An interrupt ID (INTID). Any number is allowed. Use [`Self::is_ppi`] or [`Self::is_spi`] to
/// check an untrusted ID.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IntId(u32);

impl IntId {
    /// Software generated interrupts.
    const SGIS: Range<u32> = 0..16;
    /// Private peripheral interrupts.
    const PPIS: Range<u32> = 16..32;
    /// Shared peripheral interrupts, not including extended SPIs.
    const SPIS: Range<u32> = 32..1020;
    /// Special values that are read from the acknowledge register if no interrupt is pending in
    /// this view.
    const SPECIAL: Range<u32> = 1020..1024;

    /// Returns the ID with this number.
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the ID of an SGI.
    ///
    /// # Panics
    /// Panics if the number is 16 or more. Callers pass a constant.
    pub const fn sgi(number: u32) -> Self {
        assert!(number < Self::SGIS.end);
        Self(number)
    }

    /// Returns the ID for a PPI number from a device tree, where PPIs are numbered from 0. Returns
    /// None if the number is 16 or more.
    pub fn from_ppi(number: u32) -> Option<Self> {
        let intid = Self(Self::PPIS.start.checked_add(number)?);
        intid.is_ppi().then_some(intid)
    }

    /// Returns the ID for an SPI number from a device tree, where SPIs are numbered from 0. Returns
    /// None if the number is 988 or more.
    pub fn from_spi(number: u32) -> Option<Self> {
        let intid = Self(Self::SPIS.start.checked_add(number)?);
        intid.is_spi().then_some(intid)
    }

    /// Returns true for a private peripheral interrupt.
    pub fn is_ppi(self) -> bool {
        Self::PPIS.contains(&self.0)
    }

    /// Returns true for a shared peripheral interrupt.
    pub fn is_spi(self) -> bool {
        Self::SPIS.contains(&self.0)
    }

    /// Returns true for a special value, which means that no interrupt is pending.
    pub fn is_special(self) -> bool {
        Self::SPECIAL.contains(&self.0)
    }

    /// Returns the number.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// Returns the type and number in a device tree interrupt specifier for a PPI or SPI. Returns
    /// None for other interrupts.
    pub fn specifier(self) -> Option<(u32, u32)> {
        if self.is_ppi() {
            Some((Self::TYPE_PPI, self.0 - Self::PPIS.start))
        } else if self.is_spi() {
            Some((Self::TYPE_SPI, self.0 - Self::SPIS.start))
        } else {
            None
        }
    }

    /// The specifier type for an SPI.
    pub const TYPE_SPI: u32 = 0;
    /// The specifier type for a PPI.
    pub const TYPE_PPI: u32 = 1;
}

impl fmt::Display for IntId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.0, f)
    }
}

impl fmt::Debug for IntId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_trees_number_each_type_from_0() {
        for (number, specifier) in [
            (15, None),
            (16, Some((1, 0))),
            (31, Some((1, 15))),
            (32, Some((0, 0))),
            (1019, Some((0, 987))),
            (1020, None),
        ] {
            let intid = IntId::new(number);
            assert_eq!(intid.specifier(), specifier);
            let back = specifier.and_then(|(kind, number)| match kind {
                IntId::TYPE_PPI => IntId::from_ppi(number),
                _ => IntId::from_spi(number),
            });
            assert_eq!(back, specifier.map(|_| intid));
        }
        for number in [988, u32::MAX - 32, u32::MAX] {
            assert_eq!(
                (IntId::from_ppi(number), IntId::from_spi(number)),
                (None, None)
            );
        }
    }
}
