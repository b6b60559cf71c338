//! The checksum of records, of a run's identity, and of files that the host keeps.

use crc::{CRC_32_ISO_HDLC, Crc};

/// A table of 1 KiB. Without a table, the checksum of a device tree of 1 MiB would take 50 million
/// instructions at boot; a larger table would not justify its size.
#[cfg(any(target_os = "none", target_os = "uefi"))]
type Lookup = crc::Table<1>;

/// Logs can be hundreds of megabytes long, so the host looks up 16 bytes at a time.
#[cfg(not(any(target_os = "none", target_os = "uefi")))]
type Lookup = crc::Table<16>;

/// The CRC used by Ethernet, zlib and PNG. Records can therefore be checked with common tools
/// (`python3 -c 'import zlib'`).
pub static CRC_32: Crc<u32, Lookup> = Crc::<u32, Lookup>::new(&CRC_32_ISO_HDLC);
