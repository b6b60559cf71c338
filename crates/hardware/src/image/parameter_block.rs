//! The arm64 Linux header and parameter block of the image file.
//!
//! Any loader that supports the arm64 `Image` format (Linux, *Booting AArch64 Linux*) can load the
//! file. The parameter block follows the header and is patched by the host tool. It contains the
//! location of an appended device tree and the UART and conduit to use until a device tree has been
//! read.
//!
//! ```text
//! 0x00  arm64 Image header     code0 .. magic "ARM\x64" at 0x38
//! 0x40  parameter block        72 bytes, little-endian, see ParameterBlock
//! 0x88  code, data, .bss       up to ParameterBlock::base_size
//! ....  device tree            at ParameterBlock::tree_offset, when appended
//! ```

use core::fmt;
use core::mem::offset_of;

use zerocopy::little_endian::{U16, U32, U64};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use crate::devices::uart::{Layout, UartDescription, UartKind, mark_register, registers};
use crate::spec::region::ADDRESSES;
use crate::text::format_error::FormatError;
use crate::words;

/// The arm64 `Image` header, little-endian.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct Header {
    code: [U32; 2],
    text_offset: U64,
    image_size: U64,
    flags: U64,
    reserved: [U64; 3],
    magic: [u8; 4],
    reserved_5: U32,
}

/// The size in bytes of the arm64 `Image` header.
pub const HEADER_SIZE: usize = size_of::<Header>();
/// The file offset of the header's `image_size` field (u64).
pub const IMAGE_SIZE_OFFSET: usize = offset_of!(Header, image_size);
/// The file offset of the header's magic number.
pub const MAGIC_OFFSET: usize = offset_of!(Header, magic);
/// The header's magic number, "ARM\x64".
pub const MAGIC: [u8; 4] = *b"ARM\x64";

/// The file offset of the parameter block.
pub const PARAMETER_BLOCK: usize = HEADER_SIZE;
/// The size in bytes of the parameter block.
pub const PARAMETER_BLOCK_SIZE: usize = size_of::<BlockFields>();
/// The parameter block's magic number.
pub const PARAMETER_MAGIC: [u8; 8] = *b"PSCIBNCH";
/// The layout version. Blocks with other versions are rejected.
pub const PARAMETER_VERSION: u32 = 2;

/// The alignment of an appended device tree (Devicetree Specification v0.4, section 5.1).
pub const TREE_ALIGN: usize = 8;
/// The maximum device tree size in bytes. QEMU passes 1 MiB.
pub const TREE_MAX: usize = 2 << 20;
/// The maximum file size without a tree, in bytes. Also defined in `linker/payload.ld`.
pub const BASE_MAX: usize = 1 << 20;

/// Returns the minimum working memory for `cpus` CPUs, in bytes.
pub const fn working_memory(cpus: u32) -> u64 {
    (72 << 10) + (32 << 10) * cpus as u64
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

/// The fields of the parameter block with which xtask configures an image.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ParameterBlock {
    /// The UART for messages before a device tree has been read.
    pub uart: Option<UartDescription>,
    /// The conduit for SYSTEM_OFF before a device tree has been read.
    pub conduit: Option<Conduit>,
    /// The byte offset of the emergency UART's data register. The entry code has no driver and
    /// writes boot stage marks directly to this register. None if marks are disabled.
    pub marks: Option<u16>,
    /// The offset of the appended device tree from the start of the image, or 0 if there is none.
    pub tree_offset: u64,
    /// The size in bytes of the appended device tree, or 0 if there is none.
    pub tree_size: u64,
    /// The size in bytes of the file, including `.bss` but not an appended tree.
    pub base_size: u64,
    /// The build ID: a CRC-32 of everything after the block except an appended tree, or 0 if
    /// unknown.
    pub build: u32,
    /// A digest of the parts of a run that the payload cannot see: the firmware's files, the
    /// machine, and an injected fault. 0 if unknown.
    pub digest: u64,
}

/// The parameter block, in little-endian byte order. Its offset is also defined in
/// `linker/payload.ld` and the entry code.
#[derive(FromBytes, IntoBytes, KnownLayout, Immutable, Unaligned)]
#[repr(C)]
struct BlockFields {
    magic: [u8; 8],
    version: U32,
    length: U32,
    /// The 1-based number of the UART type, or 0 if there is no UART.
    uart_kind: U32,
    uart_shift: u8,
    uart_width: u8,
    /// The offset of the data register plus 1, or 0 if marks are disabled.
    marks: U16,
    uart_base: U64,
    tree_offset: U64,
    tree_size: U64,
    base_size: U64,
    /// The 1-based number of the conduit, or 0 if there is no conduit.
    conduit: U32,
    build: U32,
    digest: U64,
}

// The layout must not change because the host tool can be older than the payload.
const _: () = {
    assert!(HEADER_SIZE == 0x40 && PARAMETER_BLOCK_SIZE == 0x48);
    assert!(IMAGE_SIZE_OFFSET == 0x10 && MAGIC_OFFSET == 0x38);
    assert!(offset_of!(BlockFields, marks) == 0x16 && offset_of!(BlockFields, build) == 0x3c);
};

/// Returns an error for the field `name` at offset `at` in the block.
fn invalid(name: &str, at: usize, reason: fmt::Arguments<'_>) -> FormatError {
    let offset = PARAMETER_BLOCK + at;
    FormatError::new(format_args!("{name} at offset {offset:#x}: {reason}"))
}

/// Returns the element of `all` selected by the field `name` at `at`, which is a 1-based index.
/// Returns None for 0.
fn choice<T: Copy>(all: &[T], field: U32, name: &str, at: usize) -> Result<Option<T>, FormatError> {
    let number = field.get();
    let Some(index) = number.checked_sub(1) else {
        return Ok(None);
    };
    let reason = format_args!("{number:#x}, expected 0 to {}", all.len());
    let chosen = all.get(index as usize).copied();
    chosen.map(Some).ok_or_else(|| invalid(name, at, reason))
}

fn check_magic(format: &str, is_right: bool, at: usize) -> Result<(), FormatError> {
    if is_right {
        return Ok(());
    }
    let message = format_args!("no {format} at offset {at:#x}");
    Err(FormatError::new(message))
}

/// Returns the block at the start of `bytes`.
fn fields(bytes: &[u8]) -> Result<&BlockFields, FormatError> {
    match BlockFields::ref_from_prefix(bytes) {
        Ok((block, _)) => Ok(block),
        Err(_) => Err(too_short()),
    }
}

fn too_short() -> FormatError {
    FormatError::new(format_args!("shorter than an arm64 Image header"))
}

impl BlockFields {
    /// Rejects other formats and unsupported versions.
    fn check_format(&self) -> Result<(), FormatError> {
        let format = "psci-bench parameter block";
        check_magic(format, self.magic == PARAMETER_MAGIC, PARAMETER_BLOCK)?;
        let version = self.version.get();
        if version != PARAMETER_VERSION {
            return Err(FormatError::new(format_args!(
                "parameter block version {version}, expected {PARAMETER_VERSION}"
            )));
        }
        let length = self.length.get();
        if length as usize != PARAMETER_BLOCK_SIZE {
            let reason = format_args!("{length:#x}, expected {PARAMETER_BLOCK_SIZE:#x}");
            return Err(invalid("length", offset_of!(Self, length), reason));
        }
        Ok(())
    }

    /// Decodes the UART.
    fn uart(&self) -> Result<Option<UartDescription>, FormatError> {
        let at = offset_of!(Self, uart_kind);
        let Some(kind) = choice(&UartKind::ALL, self.uart_kind, "uart_kind", at)? else {
            return Ok(None);
        };
        let shift = self.uart_shift;
        if shift > 4 {
            let reason = format_args!("{shift:#x}, expected 0 to 4");
            return Err(invalid("uart_shift", offset_of!(Self, uart_shift), reason));
        }
        let width = self.uart_width;
        if !matches!(width, 1 | 2 | 4) {
            let reason = format_args!("{width:#x}, expected 1, 2 or 4");
            return Err(invalid("uart_width", offset_of!(Self, uart_width), reason));
        }
        let base = self.uart_base.get();
        let uart = UartDescription::new(kind, base, Layout::new(shift, width));
        if !uart.is_aligned() || registers(&uart).end() > ADDRESSES {
            let name = kind.name();
            let reason = format_args!("{base:#x} is not the address of a {name} UART");
            return Err(invalid("uart_base", offset_of!(Self, uart_base), reason));
        }
        Ok(Some(uart))
    }

    /// Decodes the offset of the data register.
    fn marks(&self, uart: Option<&UartDescription>) -> Result<Option<u16>, FormatError> {
        let marks = self.marks.get();
        if marks == 0 || uart.is_some_and(|uart| marks == MARKS_FIELDS[uart.kind as usize + 1]) {
            return Ok(marks.checked_sub(1));
        }
        let reason = format_args!("{marks:#x} does not select the UART's data register");
        Err(invalid("marks", offset_of!(Self, marks), reason))
    }

    /// Decodes the conduit.
    fn conduit(&self) -> Result<Option<Conduit>, FormatError> {
        let at = offset_of!(Self, conduit);
        choice(&Conduit::ALL, self.conduit, "conduit", at)
    }
}

/// The value of `marks` that enables marks, by `uart_kind`; 0 if the UART needs a driver. The entry
/// code compares `marks` with this table before it writes to the UART.
pub static MARKS_FIELDS: [u16; UartKind::ALL.len() + 1] = {
    let mut fields = [0; UartKind::ALL.len() + 1];
    let mut index = 0;
    while index < UartKind::ALL.len() {
        if let Some(offset) = mark_register(UartKind::ALL[index]) {
            // Add 1, because 0 means that marks are disabled.
            fields[index + 1] = offset + 1;
        }
        index += 1;
    }
    fields
};

impl ParameterBlock {
    /// Decodes the valid fields of `block`. Invalid ones have their default values, and the first
    /// of them is returned as an error. The running image passes only the block, without the
    /// header, because Rust cannot create a reference to the header if the image is at address 0.
    pub fn salvage(bytes: &[u8]) -> (Self, Option<FormatError>) {
        let block = match fields(bytes) {
            Ok(block) => block,
            Err(error) => return (Self::default(), Some(error)),
        };
        let format = block.check_format();
        let uart = block.uart();
        let conduit = block.conduit();
        let marks = block.marks(uart.as_ref().ok().and_then(Option::as_ref));
        let salvaged = Self {
            uart: uart.as_ref().ok().copied().flatten(),
            conduit: conduit.as_ref().ok().copied().flatten(),
            marks: marks.as_ref().ok().copied().flatten(),
            tree_offset: block.tree_offset.get(),
            tree_size: block.tree_size.get(),
            base_size: block.base_size.get(),
            build: block.build.get(),
            digest: block.digest.get(),
        };
        let errors = [format.err(), uart.err(), marks.err(), conduit.err()];
        (salvaged, errors.into_iter().flatten().next())
    }

    /// Decodes `block`.
    ///
    /// # Errors
    /// Returns an error that identifies the first invalid field.
    pub fn decode(block: &[u8]) -> Result<Self, FormatError> {
        match Self::salvage(block) {
            (block, None) => Ok(block),
            (_, Some(error)) => Err(error),
        }
    }

    /// Reads the parameter block in `file`, which starts with the arm64 header.
    ///
    /// # Errors
    /// Returns an error that identifies the rejected header or field.
    pub fn read(file: &[u8]) -> Result<Self, FormatError> {
        let Ok((header, block)) = Header::ref_from_prefix(file) else {
            return Err(too_short());
        };
        check_magic("arm64 Image magic", header.magic == MAGIC, MAGIC_OFFSET)?;
        Self::decode(block)
    }

    /// Overwrites the block in `file` and sets `image_size` in the header to the amount of memory
    /// that the image needs, measured from its start.
    ///
    /// # Errors
    /// Returns an error if `file` has no parameter block, or if a field of this one is invalid.
    pub fn write(&self, file: &mut [u8], image_size: u64) -> Result<(), FormatError> {
        Self::read(file)?;
        let (kind, shift, width, base) = match self.uart {
            None => (0, 0, 0, 0),
            Some(uart) => (
                uart.kind as u32 + 1,
                uart.reg_shift,
                uart.io_width,
                uart.base,
            ),
        };
        let block = BlockFields {
            magic: PARAMETER_MAGIC,
            version: PARAMETER_VERSION.into(),
            length: (PARAMETER_BLOCK_SIZE as u32).into(),
            uart_kind: kind.into(),
            uart_shift: shift,
            uart_width: width,
            // Add 1, because 0 means that marks are disabled.
            marks: self.marks.map_or(0, |offset| offset + 1).into(),
            uart_base: base.into(),
            tree_offset: self.tree_offset.into(),
            tree_size: self.tree_size.into(),
            base_size: self.base_size.into(),
            conduit: self.conduit.map_or(0, |conduit| conduit as u32 + 1).into(),
            build: self.build.into(),
            digest: self.digest.into(),
        };
        Self::decode(block.as_bytes())?;
        let size: U64 = image_size.into();
        file[IMAGE_SIZE_OFFSET..][..size_of::<U64>()].copy_from_slice(size.as_bytes());
        file[PARAMETER_BLOCK..][..PARAMETER_BLOCK_SIZE].copy_from_slice(block.as_bytes());
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::string::ToString;

    fn blank() -> [u8; 0x88] {
        let mut file = [0; 0x88];
        file[MAGIC_OFFSET..][..4].copy_from_slice(&MAGIC);
        file[PARAMETER_BLOCK..][..8].copy_from_slice(&PARAMETER_MAGIC);
        file[PARAMETER_BLOCK + 0x08] = 2;
        file[PARAMETER_BLOCK + 0x0c] = 0x48;
        file
    }

    /// The numbers must not change because the host tool can be older than the payload.
    #[test]
    fn the_kinds_of_uart_keep_their_numbers() {
        use UartKind::{Cadence, Geni, Imx, Lpuart, Ns16550, Pl011, Sbsa, Stm32};
        let kinds = [Pl011, Ns16550, Sbsa, Cadence, Imx, Lpuart, Stm32, Geni];
        assert!(
            UartKind::ALL.starts_with(&kinds),
            "new types must be added at the end"
        );
        for (kind, number) in UartKind::ALL.into_iter().zip(1u32..) {
            let block = ParameterBlock {
                uart: Some(UartDescription::new(kind, 0x21c_0500, Layout::new(0, 1))),
                conduit: Some(Conduit::Hvc),
                marks: mark_register(kind),
                tree_offset: 0x1_8000,
                tree_size: 4321,
                base_size: 0x1_7ff0,
                build: 0x89ab_cdef,
                digest: 0x0123_4567_89ab_cdef,
            };
            let mut file = blank();
            block.write(&mut file, 0x12345).expect("a valid file");
            assert_eq!(file[PARAMETER_BLOCK + 0x10..][..4], number.to_le_bytes());
            assert_eq!(file[PARAMETER_BLOCK + 0x38], 2);
            assert_eq!(file[0x7c..0x80], [0xef, 0xcd, 0xab, 0x89]);
            assert_eq!(file[0x80..0x82], [0xef, 0xcd]);
            assert_eq!(file[0x10..0x18], 0x12345u64.to_le_bytes());
            assert_eq!(ParameterBlock::read(&file), Ok(block));
            // Old blocks do not contain a shift or width for a PL011.
            file[PARAMETER_BLOCK + 0x14..][..2].copy_from_slice(&[0, 1]);
            assert_eq!(ParameterBlock::read(&file), Ok(block));
        }
    }

    #[test]
    fn registers_are_aligned_to_the_accesses() {
        for (kind, base, layout, is_aligned) in [
            (UartKind::Pl011, 0x900_0000, (0, 1), true),
            (UartKind::Pl011, 0x900_0002, (2, 2), false),
            (UartKind::Ns16550, 0x3f9, (0, 1), true),
            (UartKind::Ns16550, 0x3f8, (1, 2), true),
            (UartKind::Ns16550, 0x3f8, (1, 4), false),
        ] {
            let layout = Layout::new(layout.0, layout.1);
            assert_eq!(
                UartDescription::new(kind, base, layout).is_aligned(),
                is_aligned
            );
        }
    }

    #[test]
    fn wrong_field_is_named() {
        let assert_fails = |file: &[u8], expected_error: &str| {
            let error = ParameterBlock::read(file).expect_err(expected_error);
            assert_eq!(error.to_string(), expected_error);
        };
        assert_eq!(
            ParameterBlock::read(&blank()),
            Ok(ParameterBlock::default())
        );
        for cut in 0..0x88 {
            assert_fails(&blank()[..cut], "shorter than an arm64 Image header");
        }
        for (at, expected) in [
            (MAGIC_OFFSET, "no arm64 Image magic at offset 0x38"),
            (
                PARAMETER_BLOCK,
                "no psci-bench parameter block at offset 0x40",
            ),
            (
                PARAMETER_BLOCK + 0x08,
                "parameter block version 9, expected 2",
            ),
            (
                PARAMETER_BLOCK + 0x0c,
                "length at offset 0x4c: 0x9, expected 0x48",
            ),
            (
                PARAMETER_BLOCK + 0x10,
                "uart_kind at offset 0x50: 0x9, expected 0 to 8",
            ),
            (
                PARAMETER_BLOCK + 0x14,
                "uart_shift at offset 0x54: 0x9, expected 0 to 4",
            ),
            (
                PARAMETER_BLOCK + 0x15,
                "uart_width at offset 0x55: 0x9, expected 1, 2 or 4",
            ),
            (
                PARAMETER_BLOCK + 0x16,
                "marks at offset 0x56: 0x9 does not select the UART's data register",
            ),
            (
                PARAMETER_BLOCK + 0x1f,
                "uart_base at offset 0x58: 0x900000000000000 is not the address of a ns16550 UART",
            ),
            (
                PARAMETER_BLOCK + 0x38,
                "conduit at offset 0x78: 0x9, expected 0 to 2",
            ),
        ] {
            let mut file = blank();
            file[PARAMETER_BLOCK + 0x10..][..6].copy_from_slice(&[2, 0, 0, 0, 0, 1]);
            file[at] = 9;
            assert_fails(&file, expected);
        }
    }

    /// A damaged byte leaves at least the UART or the tree for the message about it.
    #[test]
    fn valid_fields_are_kept_if_one_is_invalid() {
        let block = ParameterBlock {
            uart: Some(UartDescription::new(
                UartKind::Pl011,
                0x900_0000,
                Layout::WORDS,
            )),
            conduit: Some(Conduit::Smc),
            marks: Some(0),
            tree_offset: 0x1_8000,
            ..ParameterBlock::default()
        };
        let mut file = blank();
        block.write(&mut file, 0).expect("a valid block");
        for at in 0..PARAMETER_BLOCK_SIZE {
            for value in 0..=u8::MAX {
                let mut bytes = file[PARAMETER_BLOCK..].to_vec();
                bytes[at] = value;
                let (kept, error) = ParameterBlock::salvage(&bytes);
                assert_eq!(ParameterBlock::decode(&bytes).err(), error);
                let has_uart = kept.uart == block.uart;
                assert!(has_uart || kept.tree_offset == block.tree_offset, "{at:#x}");
                assert!(kept.marks.is_none_or(|marks| marks == 0), "{at:#x}");
            }
        }
    }
}
