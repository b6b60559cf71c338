//! What describes a kind of UART.
//!
//! A register is named by its offset in bytes, one of a numbered UART by its number.

use tock_registers::RegisterLongName;
use tock_registers::fields::FieldValue;

/// A kind of UART's only definition, apart from the fake that tests it.
pub struct UartDescriptor {
    /// The name, in board files and messages.
    pub name: &'static str,
    /// The word for it in a list of kinds.
    pub title: &'static str,
    /// What it is, for the list in docs/boards.md.
    pub about: &'static str,
    /// True if a board file may name it.
    pub is_in_board_files: bool,
    /// True if its registers have numbers, and `reg-shift` and `reg-io-width` say where they
    /// are. The registers of the others are words.
    pub is_numbered: bool,
    /// The names in `compatible` that stand for it. Where several have one layout, a space is
    /// between them.
    pub compatible: &'static [(&'static str, Layout)],
    /// The node that stands for it in a device tree: its name, and its `compatible`.
    pub node: (&'static str, &'static [&'static str]),
    /// The interface types that stand for it in the ACPI tables SPCR and DBG2.
    pub acpi_types: &'static [u8],
    /// Its registers.
    pub model: UartModel,
}

/// The layout that Linux's drivers take where `reg-shift` or `reg-io-width` is absent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Left shift from register number to byte offset.
    pub reg_shift: u8,
    /// Width of a register access in bytes.
    pub io_width: u8,
}

impl Layout {
    /// Registers of 32 bits.
    pub const WORDS: Self = Self::new(2, 4);

    /// Returns the layout of this shift and width.
    pub const fn new(reg_shift: u8, io_width: u8) -> Self {
        Self {
            reg_shift,
            io_width,
        }
    }
}

/// Bits of a register, and their value in a state.
pub struct Bits {
    /// The register.
    pub register: u16,
    /// The bits.
    pub mask: u32,
    /// Their value.
    pub value: u32,
}

impl Bits {
    /// Returns the bits of these fields.
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

/// One write of those that restore a UART: a register, and the bits of it that are as they
/// were; the others are 0.
pub type RestoreWrite = (u16, u32);

/// The programming model of a kind of UART.
pub struct UartModel {
    /// The register whose writes are sent.
    pub data: u16,
    /// The writes, registers and values, that each byte has to follow.
    pub before_byte: &'static [(u16, u32)],
    /// The UART accepts another byte.
    pub has_room: Bits,
    /// FIFO and shift register are empty.
    pub is_idle: Bits,
    /// The UART is on, and so is its transmitter.
    pub turn_on: &'static [Bits],
    /// The writes that restore it, `KEPT_MAX` steps at most.
    pub restore: &'static [RestoreWrite],
    /// Bytes of registers; of a 16550, their number.
    pub size: u16,
}

/// The most steps that a model has.
pub const KEPT_MAX: usize = 8;
