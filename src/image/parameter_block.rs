//! The image file: its arm64 Linux header and the parameter block behind it.
//!
//! Every loader that knows an arm64 `Image` (Linux, *Booting AArch64 Linux*) can load
//! the file. The host tool patches the block behind the header: the place of an appended
//! device tree, and UART and conduit while no device tree has been understood.
//!
//! ```text
//! 0x00  arm64 Image header     code0 .. magic "ARM\x64" at 0x38
//! 0x40  parameter block        64 bytes, little-endian, see ParameterBlock
//! 0x80  code, data, .bss       up to ParameterBlock::base_size
//! ....  device tree            at ParameterBlock::tree_offset, when appended
//! ```

use serde::Deserialize;

use crate::spec::words::words;

/// Size in bytes of the arm64 `Image` header.
pub const HEADER_SIZE: usize = 0x40;
/// Offset in the file of the header's `image_size` field (u64).
pub const IMAGE_SIZE_OFFSET: usize = 0x10;
/// Offset in the file of the header's magic number.
pub const MAGIC_OFFSET: usize = 0x38;
/// The header's magic number, "ARM\x64".
pub const MAGIC: [u8; 4] = *b"ARM\x64";

/// Offset in the file of the parameter block.
pub const PARAMETER_BLOCK: usize = HEADER_SIZE;
/// Size in bytes of the parameter block.
pub const PARAMETER_BLOCK_SIZE: usize = 0x40;
/// The parameter block's magic number.
pub const PARAMETER_MAGIC: [u8; 8] = *b"PSCIBNCH";
/// The layout's version; a block of another version is refused.
pub const PARAMETER_VERSION: u32 = 1;

/// Alignment of an appended device tree (Devicetree Specification v0.4, 5.1).
pub const TREE_ALIGN: usize = 8;
/// The largest device tree that is accepted, in bytes (QEMU hands over 1 MiB).
pub const TREE_MAX: usize = 2 << 20;
/// The largest file without its tree, in bytes; `linker/payload.ld` has it too.
pub const BASE_MAX: usize = 320 << 10;

/// Returns the least working memory for this number of CPUs, in bytes.
pub const fn working_memory(cpus: u32) -> u64 {
    (64 << 10) + (32 << 10) * cpus as u64
}

/// The programming model of a UART; the numbers are those of the parameter block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UartKind {
    /// Arm PrimeCell PL011 (DDI 0183).
    Pl011 = 1,
    /// An 8250/16550-compatible UART.
    Ns16550 = 2,
    /// Arm's generic UART, a PL011 without settings (DEN0094); not in board files.
    #[serde(skip_deserializing)]
    Sbsa = 3,
    /// Cadence's UART, in Zynq and ZynqMP (Xilinx UG1087).
    Cadence = 4,
    /// The UART of i.MX 21 to 8M.
    Imx = 5,
    /// The 32-bit LPUART of i.MX 7ULP, 8 and 9, behind four version registers.
    Lpuart = 6,
    /// The USART of STM32H7 and STM32MP.
    Stm32 = 7,
}

impl UartKind {
    /// All kinds, in the order of their numbers from 1 on.
    pub const ALL: [Self; 7] = [
        Self::Pl011,
        Self::Ns16550,
        Self::Sbsa,
        Self::Cadence,
        Self::Imx,
        Self::Lpuart,
        Self::Stm32,
    ];

    /// Returns the kind's name, as board files have it.
    pub const fn name(self) -> &'static str {
        [
            "pl011", "ns16550", "sbsa", "cadence", "imx", "lpuart", "stm32",
        ][self as usize - 1]
    }
}

/// The UART to speak through before, or without, a device tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EmergencyUart {
    /// Programming model.
    pub kind: UartKind,
    /// Physical address of the registers.
    pub base: u64,
    /// Left shift from register number to byte offset (16550 only).
    pub reg_shift: u8,
    /// Width of a register access in bytes: 1, 2 or 4 (16550 only).
    pub io_width: u8,
}

words! {
    /// The instruction that calls the firmware (SMC Calling Convention, DEN0028).
    pub enum Conduit, word {
        /// Secure Monitor Call.
        Smc = "smc",
        /// Hypervisor Call.
        Hvc = "hvc",
    }
}

/// The decoded parameter block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParameterBlock {
    /// UART for messages without a device tree.
    pub uart: Option<EmergencyUart>,
    /// Conduit for SYSTEM_OFF without a device tree.
    pub conduit: Option<Conduit>,
    /// Offset of the appended device tree from the image's start; 0: none.
    pub tree_offset: u64,
    /// Size in bytes of the appended device tree; 0: none.
    pub tree_size: u64,
    /// Size in bytes of the file without a tree, `.bss` and all.
    pub base_size: u64,
}

/// Why a file's header or parameter block is not accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageError {
    /// The file is shorter than header and parameter block.
    TooShort,
    /// No "ARM\x64" at offset 0x38.
    NotAnImage,
    /// An arm64 Image, but not one of this project.
    NotPsciBench,
    /// A parameter block of another version.
    Version(u32),
    /// The field at this file offset has a value that is not defined.
    Field(usize),
}

impl core::fmt::Display for ImageError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(match self {
            Self::TooShort => "shorter than an arm64 Image header",
            Self::NotAnImage => "no arm64 Image magic at offset 0x38",
            Self::NotPsciBench => "no psci-bench parameter block at offset 0x40",
            Self::Version(version) => {
                let expected = PARAMETER_VERSION;
                return write!(f, "parameter block version {version}, expected {expected}");
            }
            Self::Field(at) => return write!(f, "undefined value at offset {at:#x}"),
        })
    }
}

impl core::error::Error for ImageError {}

const OFF_VERSION: usize = PARAMETER_BLOCK + 0x08;
const OFF_LENGTH: usize = PARAMETER_BLOCK + 0x0c;
const OFF_UART_KIND: usize = PARAMETER_BLOCK + 0x10;
const OFF_UART_SHIFT: usize = PARAMETER_BLOCK + 0x14;
const OFF_UART_WIDTH: usize = PARAMETER_BLOCK + 0x15;
const OFF_UART_BASE: usize = PARAMETER_BLOCK + 0x18;
const OFF_TREE_OFFSET: usize = PARAMETER_BLOCK + 0x20;
const OFF_TREE_SIZE: usize = PARAMETER_BLOCK + 0x28;
const OFF_BASE_SIZE: usize = PARAMETER_BLOCK + 0x30;
const OFF_CONDUIT: usize = PARAMETER_BLOCK + 0x38;

/// Returns the little-endian number in `size` bytes at `at`; 0 outside of `bytes`.
pub(super) fn number(bytes: &[u8], at: usize, size: usize) -> u64 {
    let bytes = bytes.get(at..at + size).unwrap_or_default();
    bytes.iter().rfold(0, |n, byte| n << 8 | u64::from(*byte))
}

/// Returns one of `all` by its number from 1 in the field at `at`; None for 0.
fn choice<T: Copy>(all: &[T], file: &[u8], at: usize) -> Result<Option<T>, ImageError> {
    let code = number(file, at, 4) as usize;
    let chosen = code.checked_sub(1).map(|place| all.get(place).copied());
    chosen.map_or(Ok(None), |it| it.map(Some).ok_or(ImageError::Field(at)))
}

fn write(file: &mut [u8], at: usize, value: &[u8]) -> Result<(), ImageError> {
    let field = file.get_mut(at..at + value.len());
    field.ok_or(ImageError::TooShort)?.copy_from_slice(value);
    Ok(())
}

impl ParameterBlock {
    /// Reads the UART from the block of `file`.
    pub fn read_uart(file: &[u8]) -> Result<Option<EmergencyUart>, ImageError> {
        if file.len() < PARAMETER_BLOCK + PARAMETER_BLOCK_SIZE {
            return Err(ImageError::TooShort);
        }
        if !file[MAGIC_OFFSET..].starts_with(&MAGIC) {
            return Err(ImageError::NotAnImage);
        }
        if !file[PARAMETER_BLOCK..].starts_with(&PARAMETER_MAGIC) {
            return Err(ImageError::NotPsciBench);
        }
        let version = number(file, OFF_VERSION, 4) as u32;
        if version != PARAMETER_VERSION {
            return Err(ImageError::Version(version));
        }
        let (reg_shift, io_width) = (file[OFF_UART_SHIFT], file[OFF_UART_WIDTH]);
        match choice(&UartKind::ALL, file, OFF_UART_KIND)? {
            None => Ok(None),
            Some(_) if reg_shift > 4 => Err(ImageError::Field(OFF_UART_SHIFT)),
            Some(_) if !matches!(io_width, 1 | 2 | 4) => Err(ImageError::Field(OFF_UART_WIDTH)),
            Some(kind) => Ok(Some(EmergencyUart {
                kind,
                base: number(file, OFF_UART_BASE, 8),
                reg_shift,
                io_width,
            })),
        }
    }

    /// Reads the block of `file`, which begins with the arm64 header.
    pub fn read(file: &[u8]) -> Result<Self, ImageError> {
        let uart = Self::read_uart(file)?;
        if number(file, OFF_LENGTH, 4) != PARAMETER_BLOCK_SIZE as u64 {
            return Err(ImageError::Field(OFF_LENGTH));
        }
        Ok(Self {
            uart,
            conduit: choice(&Conduit::ALL, file, OFF_CONDUIT)?,
            tree_offset: number(file, OFF_TREE_OFFSET, 8),
            tree_size: number(file, OFF_TREE_SIZE, 8),
            base_size: number(file, OFF_BASE_SIZE, 8),
        })
    }

    /// Writes the block over the one that `file` has.
    pub fn write(&self, file: &mut [u8]) -> Result<(), ImageError> {
        Self::read(file)?;
        let (kind, shift, width, base) = match self.uart {
            None => (0u32, 0, 0, 0),
            Some(u) => (u.kind as u32, u.reg_shift, u.io_width, u.base),
        };
        let conduit = self.conduit.map_or(0, |conduit| conduit as u32 + 1);
        write(file, OFF_UART_KIND, &kind.to_le_bytes())?;
        write(file, OFF_UART_SHIFT, &[shift, width])?;
        write(file, OFF_UART_BASE, &base.to_le_bytes())?;
        write(file, OFF_TREE_OFFSET, &self.tree_offset.to_le_bytes())?;
        write(file, OFF_TREE_SIZE, &self.tree_size.to_le_bytes())?;
        write(file, OFF_BASE_SIZE, &self.base_size.to_le_bytes())?;
        write(file, OFF_CONDUIT, &conduit.to_le_bytes())
    }
}

/// Sets the header's `image_size`: the bytes from the image's start that it needs.
pub fn set_image_size(file: &mut [u8], size: u64) -> Result<(), ImageError> {
    write(file, IMAGE_SIZE_OFFSET, &size.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    fn blank() -> [u8; 0x80] {
        let mut file = [0; 0x80];
        file[MAGIC_OFFSET..][..4].copy_from_slice(&MAGIC);
        file[PARAMETER_BLOCK..][..8].copy_from_slice(&PARAMETER_MAGIC);
        file[OFF_VERSION] = 1;
        file[OFF_LENGTH] = 0x40;
        file
    }

    /// The numbers are an interface: a host tool may be older than a payload.
    #[test]
    fn the_kinds_of_uart_keep_their_numbers() {
        use UartKind::{Cadence, Imx, Lpuart, Ns16550, Pl011, Sbsa, Stm32};
        let kinds = [Pl011, Ns16550, Sbsa, Cadence, Imx, Lpuart, Stm32];
        assert_eq!(UartKind::ALL, kinds);
        for (kind, number) in kinds.into_iter().zip(1u32..) {
            let block = ParameterBlock {
                uart: Some(EmergencyUart {
                    kind,
                    base: 0x21c_0500,
                    reg_shift: 2,
                    io_width: 4,
                }),
                conduit: Some(Conduit::Hvc),
                tree_offset: 0x1_8000,
                tree_size: 4321,
                base_size: 0x1_7ff0,
            };
            let mut file = blank();
            block.write(&mut file).expect("a good file");
            assert_eq!(file[OFF_UART_KIND..][..4], number.to_le_bytes());
            assert_eq!(file[OFF_CONDUIT], 2);
            assert_eq!(ParameterBlock::read(&file), Ok(block));
            for at in [OFF_UART_WIDTH, OFF_UART_SHIFT] {
                let mut file = file;
                file[at] = 5;
                assert_eq!(ParameterBlock::read(&file), Err(ImageError::Field(at)));
            }
        }
        let mut file = blank();
        set_image_size(&mut file, 0x12345).expect("a good file");
        assert_eq!(file[0x10..0x18], 0x12345u64.to_le_bytes());
    }

    #[test]
    fn wrong_field_is_named() {
        use ImageError::{Field, NotAnImage, NotPsciBench, TooShort, Version};
        assert_eq!(Field(0x54).to_string(), "undefined value at offset 0x54");
        let read = |file: &[u8]| ParameterBlock::read(file);
        assert_eq!(read(&blank()), Ok(ParameterBlock::default()));
        for cut in 0..0x80 {
            assert_eq!(read(&blank()[..cut]), Err(TooShort), "cut at {cut}");
        }
        for (at, error) in [
            (MAGIC_OFFSET, NotAnImage),
            (PARAMETER_BLOCK, NotPsciBench),
            (OFF_VERSION, Version(9)),
            (OFF_LENGTH, Field(OFF_LENGTH)),
            (OFF_UART_KIND, Field(OFF_UART_KIND)),
            (OFF_CONDUIT, Field(OFF_CONDUIT)),
        ] {
            let mut file = blank();
            file[at] = 9;
            assert_eq!(read(&file), Err(error), "at {at:#x}");
        }
    }
}
