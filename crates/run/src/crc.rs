//! CRC-32/ISO-HDLC, the CRC used by Ethernet, zlib and PNG. Records can therefore be checked with
//! common tools (`python3 -c 'import zlib'`).

/// The lookup table for the reversed polynomial, indexed by nibble. A table of 64 bytes instead of
/// the usual 1 KiB keeps the image small.
#[cfg(any(test, target_os = "none", target_os = "uefi"))]
const NIBBLES: [u32; 16] = {
    let mut table = [0; 16];
    let mut index = 0;
    while index < 16 {
        let mut value = index as u32;
        let mut bit = 0;
        while bit < 4 {
            value = (value >> 1) ^ (0xedb8_8320 * (value & 1));
            bit += 1;
        }
        table[index] = value;
        index += 1;
    }
    table
};

/// A checksum in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crc32(u32);

impl Default for Crc32 {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

impl Crc32 {
    /// Returns the checksum of `bytes`.
    pub fn of(bytes: &[u8]) -> u32 {
        let mut crc = Self::default();
        crc.update(bytes);
        crc.value()
    }

    /// Adds more bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0 = updated(self.0, bytes);
    }

    /// Returns the checksum of all bytes so far.
    pub fn value(self) -> u32 {
        !self.0
    }
}

/// Logs can be hundreds of megabytes long, so the host's CRC instructions are used to verify them.
#[cfg(not(any(target_os = "none", target_os = "uefi")))]
fn updated(crc: u32, bytes: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new_with_initial(!crc);
    hasher.update(bytes);
    !hasher.finalize()
}

#[cfg(any(target_os = "none", target_os = "uefi"))]
use self::updated_by_table as updated;

#[cfg(any(test, target_os = "none", target_os = "uefi"))]
fn updated_by_table(mut crc: u32, bytes: &[u8]) -> u32 {
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..2 {
            crc = (crc >> 4) ^ NIBBLES[(crc & 0xf) as usize];
        }
    }
    crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_s_check_value() {
        assert_eq!(Crc32::of(b"123456789"), 0xcbf4_3926);
        assert_eq!(!updated_by_table(u32::MAX, b"123456789"), 0xcbf4_3926);
    }
}
