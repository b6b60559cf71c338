//! Records: the lines of a run that programs read, with a checksum each.

mod builder;
pub mod crc;
mod packed;
mod reader;
mod record;
#[cfg(test)]
mod tests;
mod writer;

pub use self::builder::RunBuilder;
pub use self::reader::{RecordError, parse, pieces};
pub use self::record::{FORMAT, LINE_MAX, MARK, Numbered, Record};
pub use self::writer::Writer;
