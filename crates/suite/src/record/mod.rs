//! Records: the machine-readable lines of a run, each with a checksum.

mod builder;
mod packed;
mod record;
mod record_line;
#[cfg(test)]
mod tests;
mod writer;

pub use self::builder::RunBuilder;
pub use self::record::{CRC_DIGITS, FORMAT, LINE_MAX, MARK, Record};
pub use self::record_line::{RecordLine, pieces};
pub use self::writer::Writer;
