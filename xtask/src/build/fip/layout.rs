//! Firmware Image Packages: the file that TF-A's boot stages load from.
//!
//! ```text
//! 0x00  u32 0xaa640001, u32 serial number, u64 flags      header
//! 0x10  UUID, u64 offset, u64 size, u64 flags             an entry an image
//! ....  nil UUID, u64 end of the package, u64 0, u64 0    terminator
//! ....  the images
//! ```
//!
//! Little-endian. The reader takes nothing on trust: an offset, a size or an
//! order that firmware could stumble over is refused, and the error names the
//! entry and where in the file it is.

use super::write::IMAGE_MAX;
use crate::board::image_kinds::known;
use std::fmt;
use std::str::FromStr;

pub(crate) const MAGIC: u32 = 0xaa64_0001;
pub(crate) const HEADER_SIZE: u64 = 16;
pub(crate) const ENTRY_SIZE: u64 = 40;
/// More entries than any package has; TF-A knows some 40 kinds.
pub const ENTRIES_MAX: usize = 256;
/// The largest package that is read, in bytes: more than boards have flash.
pub const PACKAGE_MAX: usize = 4 * IMAGE_MAX;

/// Whether `file` begins as a FIP does.
pub(crate) fn is_fip(file: &[u8]) -> bool {
    file.starts_with(&MAGIC.to_le_bytes())
}

/// A UUID, its bytes as they stand in the file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Uuid(pub [u8; 16]);

impl Uuid {
    /// What ends the list of entries.
    pub const NIL: Self = Self([0; 16]);
}

impl fmt::Display for Uuid {
    /// In the form 8-4-4-4-12, as fiptool prints it.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, byte) in self.0.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                f.write_str("-")?;
            }
            write!(f, "{byte:02X}")?;
        }
        Ok(())
    }
}

impl FromStr for Uuid {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("{text:?} is no UUID: those have the form 8-4-4-4-12");
        let groups: Vec<&str> = text.split('-').collect();
        let digits = |group: &str| group.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !groups.iter().map(|group| group.len()).eq([8, 4, 4, 4, 12])
            || !groups.iter().all(|group| digits(group))
        {
            return Err(wrong());
        }
        let number = u128::from_str_radix(&groups.concat(), 16).map_err(|_| wrong())?;
        Ok(Self(number.to_be_bytes()))
    }
}

impl fmt::Debug for Uuid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// What to call an entry in a message.
pub(crate) fn label(uuid: Uuid) -> String {
    match known(uuid) {
        Some(kind) => format!("{}, {}", kind.option, kind.title),
        None => format!("UUID {uuid}"),
    }
}
