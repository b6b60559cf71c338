//! A UART as described by device trees, board files and the parameter block.

use core::fmt;

use super::descriptor::Layout;
use super::kinds::UartKind;

/// A UART used for output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UartDescription {
    /// Decides which registers the driver uses.
    pub kind: UartKind,
    /// The physical address of register 0.
    pub base: u64,
    /// The left shift that converts a register number to a byte offset: 0 to 4 for a 16550, 2 for
    /// all other types.
    pub reg_shift: u8,
    /// The width of a register access in bytes: 1, 2 or 4 for a 16550, 4 for all other types.
    pub io_width: u8,
}

impl UartDescription {
    /// Returns a UART description. `layout` is used only for a 16550. Other types have 32-bit
    /// registers.
    pub fn new(kind: UartKind, base: u64, layout: Layout) -> Self {
        let Layout {
            reg_shift,
            io_width,
        } = if kind.descriptor().is_numbered {
            layout
        } else {
            Layout::WORDS
        };
        Self {
            kind,
            base,
            reg_shift,
            io_width,
        }
    }

    /// Returns true if every register is aligned to its access width.
    pub fn is_aligned(&self) -> bool {
        let width = u64::from(self.io_width);
        width <= 1 << self.reg_shift && self.base.is_multiple_of(width)
    }

    /// Returns the left shift that converts a register number in the model to a byte offset.
    pub(super) const fn shift(&self) -> u8 {
        if self.kind.descriptor().is_numbered {
            self.reg_shift
        } else {
            0
        }
    }
}

impl fmt::Display for UartDescription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:#x}", self.kind.name(), self.base)
    }
}
