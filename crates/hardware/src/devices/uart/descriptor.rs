//! Describes a kind of UART.
//!
//! A register is identified by its offset in bytes or, in a UART with numbered registers, by its
//! number.

use tock_registers::RegisterLongName;
use tock_registers::fields::FieldValue;

/// The only definition of a kind of UART, except for the fake that tests it.
pub struct UartDescriptor {
    /// The name, used in board files and messages.
    pub name: &'static str,
    /// Its name in a list of UART kinds.
    pub title: &'static str,
    /// A description for the list in docs/boards.md.
    pub about: &'static str,
    /// True if board files may use it.
    pub is_in_board_files: bool,
    /// True if its registers are numbered and placed according to `reg-shift` and `reg-io-width`.
    /// Other kinds have 32-bit registers.
    pub is_numbered: bool,
    /// Its `compatible` names, each with a layout. Names with the same layout may share an entry,
    /// separated by spaces.
    pub compatible: &'static [(&'static str, Layout)],
    /// Its node in a device tree: the name, and the `compatible` strings.
    pub node: (&'static str, &'static [&'static str]),
    /// Its interface types in the ACPI tables SPCR and DBG2.
    pub acpi_types: &'static [u8],
    /// Its registers.
    pub model: UartModel,
}

/// The layout that Linux's drivers assume if `reg-shift` or `reg-io-width` is absent.
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

    /// Returns the layout with this shift and width.
    pub const fn new(reg_shift: u8, io_width: u8) -> Self {
        Self {
            reg_shift,
            io_width,
        }
    }
}

/// Register bits, with their value in a certain state.
pub struct Bits {
    /// The register.
    pub register: u16,
    /// The bits.
    pub mask: u32,
    /// Their value.
    pub value: u32,
}

impl Bits {
    /// Returns the bits for these fields.
    pub(super) const fn of<R: RegisterLongName>(
        register: u16,
        fields: &[FieldValue<u32, R>],
    ) -> Self {
        let (mut mask, mut value, mut place) = (0, 0, 0);
        while place < fields.len() {
            mask |= fields[place].mask();
            value |= fields[place].value;
            place += 1;
        }
        Self {
            register,
            mask,
            value,
        }
    }
}

/// A write that restores part of a UART's settings: a register, and the mask of the bits that get
/// their previous value. The other bits are written as 0.
pub type RestoreWrite = (u16, u32);

/// The programming model for a kind of UART.
pub struct UartModel {
    /// The data register: bytes written to it are sent.
    pub data: u16,
    /// The writes required before each byte: registers and values.
    pub before_byte: &'static [(u16, u32)],
    /// Bits showing that the UART accepts another byte.
    pub has_room: Bits,
    /// Bits showing that the FIFO and the shift register are empty.
    pub is_idle: Bits,
    /// Bits that turn on the UART and its transmitter.
    pub turn_on: &'static [Bits],
    /// The writes that restore it, at most `KEPT_MAX` steps.
    pub restore: &'static [RestoreWrite],
    /// The size of the registers in bytes; for a 16550, the number of registers.
    pub size: u16,
}

/// The maximum number of restore steps in a model.
pub const KEPT_MAX: usize = 8;
