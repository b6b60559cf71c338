//! Records: the lines of a run that programs read, with a checksum each.

pub mod crc;
pub mod line;
pub mod parse;
pub mod points;
pub mod records;
