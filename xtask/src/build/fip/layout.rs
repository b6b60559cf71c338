//! Firmware Image Packages: the file that TF-A's boot stages load from.
//!
//! ```text
//! 0x00  u32 0xaa640001, u32 serial number, u64 flags      header
//! 0x10  UUID, u64 offset, u64 size, u64 flags             an entry an image
//! ....  nil UUID, u64 end of the package, u64 0, u64 0    terminator
//! ....  the images
//! ```
//!
//! Little-endian. The reader trusts nothing: it refuses an offset, a size or an order that
//! firmware cannot use, and its error names the entry and its offset in the file.

pub(crate) const MAGIC: u32 = 0xaa64_0001;
pub(crate) const HEADER_SIZE: u64 = 16;
pub(crate) const ENTRY_SIZE: u64 = 40;
/// More entries than any package has; TF-A knows some 40 kinds.
pub const ENTRIES_MAX: usize = 256;

/// More than a boot flash holds. A stray section in an ELF can make `objcopy`
/// write a gigabyte, and that is no firmware image.
pub const IMAGE_MAX: usize = 128 << 20;
/// The largest package that is read, in bytes: more than boards have flash.
pub const PACKAGE_MAX: usize = 4 * IMAGE_MAX;
