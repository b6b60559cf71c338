//! The types of the records of format 1, for a host that reads them.

use crate::spec::words::words;

/// The version of this format, as the `run` record gives it.
pub const FORMAT: u32 = 1;

/// What every record begins with.
pub const MARK: &str = "@PB ";

/// Digits of the CRC.
pub(crate) const CRC_DIGITS: usize = 8;

words! {
    /// The types of record.
    #[expect(missing_docs, reason = "each variant is the name of its record")]
    pub enum Type, word {
        Run = "run",
        Facts = "facts",
        Plan = "plan",
        Cpu = "cpu",
        Test = "test",
        Row = "row",
        Summary = "m",
        Event = "ev",
        Sample = "s",
        Cold = "cold",
        Rejected = "x",
        First = "first",
        Reached = "reached",
        Lost = "lost",
        Point = "point",
        Histogram = "hist",
        End = "end",
    }
}
