//! Describes a UART type.
//!
//! Registers are identified by byte offset or, if the UART has numbered registers, by number.

use tock_registers::RegisterLongName;
use tock_registers::fields::FieldValue;

/// The complete definition of a UART type. Only the fake UART used in tests is defined elsewhere.
pub struct UartDescriptor {
    /// The name, used in board files and messages.
    pub name: &'static str,
    /// The name in lists of UART types.
    pub title: &'static str,
    /// The description in docs/boards.md.
    pub about: &'static str,
    /// True if board files may use this type.
    pub is_in_board_files: bool,
    /// True if its registers are numbered, with a layout determined by `reg-shift` and
    /// `reg-io-width`. Other types have 32-bit registers.
    pub is_numbered: bool,
    /// Its `compatible` strings, each with a layout. Strings with the same layout can share an
    /// entry, separated by spaces.
    pub compatible: &'static [(&'static str, Layout)],
    /// The name and `compatible` strings of the device tree node.
    pub node: (&'static str, &'static [&'static str]),
    /// Its names in Linux's boot argument `earlycon=`, if the address that follows is that of the
    /// first register.
    pub earlycon: &'static [&'static str],
    /// The name of its terminals in Linux, without the number.
    pub terminal: &'static str,
    /// Interface types in the ACPI SPCR and DBG2 tables.
    pub acpi_types: &'static [u8],
    /// The registers and bits with which the driver sends a byte.
    pub model: UartModel,
}

/// The layout that Linux drivers assume if `reg-shift` or `reg-io-width` is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The left shift from register number to byte offset.
    pub reg_shift: u8,
    /// The width of a register access in bytes.
    pub io_width: u8,
}

impl Layout {
    /// 32-bit registers.
    pub const WORDS: Self = Self::new(2, 4);

    /// Creates a layout with this shift and width.
    pub const fn new(reg_shift: u8, io_width: u8) -> Self {
        Self {
            reg_shift,
            io_width,
        }
    }
}

/// Register bits and the value they have in a particular state.
pub struct Bits {
    /// The number of the register, which [`Layout`] converts to an offset.
    pub register: u16,
    /// The bits that `value` is about. The others can have any value.
    pub mask: u32,
    /// Their value.
    pub value: u32,
}

impl Bits {
    /// Combines register fields into one mask and value.
    pub(super) const fn of<R: RegisterLongName>(
        register: u16,
        fields: &[FieldValue<u32, R>],
    ) -> Self {
        let mut mask = 0;
        let mut value = 0;
        let mut index = 0;
        while index < fields.len() {
            mask |= fields[index].mask();
            value |= fields[index].value;
            index += 1;
        }
        Self {
            register,
            mask,
            value,
        }
    }
}

/// A write that restores part of a UART's settings. Consists of a register and a mask of the bits
/// to restore. The other bits are written as 0.
pub type RestoreWrite = (u16, u32);

/// A UART type's programming model.
pub struct UartModel {
    /// The data register, which sends the bytes written to it.
    pub data: u16,
    /// The register writes required before each byte, as register and value pairs.
    pub before_byte: &'static [(u16, u32)],
    /// Bits that indicate that the UART can accept another byte.
    pub has_room: Bits,
    /// Bits that indicate that the FIFO and the shift register are empty.
    pub is_idle: Bits,
    /// Bits that turn on the UART and its transmitter.
    pub turn_on: &'static [Bits],
    /// The writes that restore the settings (at most `KEPT_MAX`).
    pub restore: &'static [RestoreWrite],
    /// The size of the registers in bytes or, for a 16550, the number of registers.
    pub size: u16,
}

/// The maximum number of restore steps.
pub const KEPT_MAX: usize = 8;
