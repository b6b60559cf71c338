//! CRC-32/ISO-HDLC, the CRC of Ethernet, zlib and PNG, so that a record can be
//! checked with whatever is at hand (`python3 -c 'import zlib'`).

/// The reversed polynomial's effect on each half byte: a table of 64 bytes
/// rather than the usual 1 KiB, as the image has to stay small.
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

/// A checksum in the making.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Crc32(u32);

impl Default for Crc32 {
    fn default() -> Self {
        Self(u32::MAX)
    }
}

impl Crc32 {
    /// The checksum of `bytes`.
    pub fn of(bytes: &[u8]) -> u32 {
        let mut crc = Self::default();
        crc.update(bytes);
        crc.value()
    }

    /// Takes more bytes in.
    pub fn update(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 ^= u32::from(*byte);
            for _ in 0..2 {
                self.0 = (self.0 >> 4) ^ NIBBLES[(self.0 & 0xf) as usize];
            }
        }
    }

    /// The checksum of all bytes so far.
    pub fn value(self) -> u32 {
        !self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalogue_s_check_value() {
        assert_eq!(Crc32::of(b"123456789"), 0xcbf4_3926);
    }
}
