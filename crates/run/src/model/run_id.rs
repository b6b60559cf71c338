//! A run's identity.

use core::fmt;

use crate::crc::Crc32;
use crate::hex;
use crate::json::to_json;

use crate::measure::Facts;

/// A run's identity: a checksum of everything that distinguishes it from other runs. Each record
/// contains it, so that records from two runs are never read as one run.
///
/// The identity is a CRC-32, which the payload and the host already use for records. There is no
/// need to prevent forgery, and the probability that two runs have the same identity is one in four
/// billion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunId(u32);

impl RunId {
    /// The number of digits in the textual form.
    pub const DIGITS: usize = 8;

    /// Returns the identity of a run. `build` is the payload's checksum, `tree` is the device tree
    /// (including the boot arguments), and `facts` describes the machine and firmware. `counter` is
    /// read while the run is being prepared. On hardware, it is different every time; on an
    /// emulator with an instruction clock, it is the same every time.
    pub fn new(build: u32, tree: &[u8], facts: &Facts, counter: u64) -> Self {
        let facts = to_json(facts);
        let mut crc = Crc32::default();
        crc.update(&build.to_le_bytes());
        crc.update(&counter.to_le_bytes());
        for part in [tree, facts.as_bytes()] {
            // Include the length, so that moving a byte from one part to the other changes the
            // checksum.
            crc.update(&(part.len() as u64).to_le_bytes());
            crc.update(part);
        }
        Self(crc.value())
    }

    /// Parses an identity; None if `text` is malformed.
    pub fn parse(text: &str) -> Option<Self> {
        hex::parse_word(text).map(Self)
    }
}

impl fmt::Display for RunId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:0width$x}", self.0, width = Self::DIGITS)
    }
}

#[cfg(test)]
mod tests {
    use std::string::ToString;

    use super::*;
    use crate::testing::example;

    #[test]
    fn each_part_makes_another_run() {
        let facts = example::run(1).facts.expect("the fake's");
        let other = Facts {
            psci_version: facts.psci_version + 1,
            ..facts
        };
        let id = RunId::new(1, b"tree", &facts, 7);
        assert_eq!(RunId::new(1, b"tree", &facts, 7), id);
        for different in [
            RunId::new(2, b"tree", &facts, 7),
            RunId::new(1, b"trees", &facts, 7),
            RunId::new(1, b"tree", &other, 7),
            RunId::new(1, b"tree", &facts, 8),
        ] {
            assert_ne!(different, id);
        }
        assert_eq!(RunId::parse(&id.to_string()), Some(id));
        for wrong in [
            "",
            "1234567",
            "123456789",
            "1234567g",
            "1234567A",
            "+1234567",
        ] {
            assert_eq!(RunId::parse(wrong), None, "{wrong}");
        }
    }
}
