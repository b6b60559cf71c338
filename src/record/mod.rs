//! Records: the lines of a run that programs read, with a checksum each.

pub mod crc;
pub mod line;
pub mod parse;
pub mod points;
pub mod records;

mod builder;
mod reader;
mod record;
mod writer;
pub use self::builder::RunBuilder;
pub use self::reader::{RecordError, parse, pieces};
pub use self::record::{FORMAT, LINE_MAX, MARK, Numbered, Record};
pub use self::writer::{Records, Writer};
