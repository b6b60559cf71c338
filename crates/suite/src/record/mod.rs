//! Records: the machine-readable lines of a run, each with a checksum.

mod builder;
mod claim;
mod cpu_list;
mod packed;
mod record;
#[cfg(test)]
mod tests;
mod writer;

pub use self::builder::RunBuilder;
pub use self::claim::{Claim, pieces};
pub use self::record::{CRC_DIGITS, FORMAT, LINE_MAX, MARK, Record};
pub use self::writer::Writer;
