//! The checksum of records, of a run's identity, and of files that the host keeps.

use crc::{CRC_32_ISO_HDLC, Crc, Table};

/// The CRC used by Ethernet, zlib and PNG. Records can therefore be checked with common tools
/// (`python3 -c 'import zlib'`). Logs can be hundreds of megabytes long, so 16 bytes are looked up at
/// a time.
pub static CRC_32: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISO_HDLC);
