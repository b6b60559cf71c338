//! A run's identity.

use core::fmt;

use crate::crc::CRC_32;
use crate::hex;

use crate::measure::Facts;

/// A run's identity: a checksum of everything that distinguishes it from other runs. Each record
/// contains it, so that records from two runs are never read as one run.
///
/// The identity is a CRC-32, which the payload and the host already use for records. There is no
/// need to prevent forgery, and the probability that two runs have the same identity is one in four
/// billion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunId(u32);

/// Everything that distinguishes a run from other runs. Nothing in it is random, so that a run on an
/// emulator with an instruction clock gives the same output every time.
#[derive(Clone, Copy, Debug)]
pub struct RunParts<'a> {
    /// The payload's checksum.
    pub build: u32,
    /// A digest of the firmware's files and of the machine, if a host tool has started the run.
    pub digest: u64,
    /// A checksum of the firmware's answers that are not in `facts`.
    pub answers: u32,
    /// The counter, read while the run is being prepared. On hardware, it is different every time;
    /// on an emulator with an instruction clock, it is the same every time.
    pub counter: u64,
    /// The device tree, including the boot arguments.
    pub tree: &'a [u8],
    /// The machine and the firmware.
    pub facts: &'a Facts,
}

impl RunId {
    /// The number of digits in the textual form.
    pub const DIGITS: usize = 8;

    /// Returns the identity of a run.
    pub fn new(parts: &RunParts<'_>) -> Self {
        let [facts, lead] = [
            serde_json::to_string(parts.facts),
            serde_json::to_string(&parts.facts.own),
        ]
        .map(|json| json.expect("facts contain neither floats nor maps"));
        let mut crc = CRC_32.digest();
        crc.update(&parts.build.to_le_bytes());
        crc.update(&parts.digest.to_le_bytes());
        crc.update(&parts.answers.to_le_bytes());
        crc.update(&parts.counter.to_le_bytes());
        for part in [parts.tree, facts.as_bytes(), lead.as_bytes()] {
            // Include the length, so that moving a byte from one part to the other changes the
            // checksum.
            crc.update(&(part.len() as u64).to_le_bytes());
            crc.update(part);
        }
        Self(crc.finalize())
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
    use crate::testing::synthetic;

    #[test]
    fn each_part_makes_another_run() {
        let facts = synthetic::run(1).facts.expect("the fake's");
        let other = Facts {
            psci_version: facts.psci_version + 1,
            ..facts
        };
        let mut other_lead = facts;
        other_lead.own.midr += 1;
        let parts = RunParts {
            build: 1,
            digest: 2,
            answers: 3,
            counter: 4,
            tree: b"tree",
            facts: &facts,
        };
        let id = RunId::new(&parts);
        assert_eq!(RunId::new(&parts), id);
        for different in [
            RunParts { build: 9, ..parts },
            RunParts { digest: 9, ..parts },
            RunParts {
                answers: 9,
                ..parts
            },
            RunParts {
                counter: 9,
                ..parts
            },
            RunParts {
                tree: b"trees",
                ..parts
            },
            RunParts {
                facts: &other,
                ..parts
            },
            RunParts {
                facts: &other_lead,
                ..parts
            },
        ] {
            assert_ne!(RunId::new(&different), id, "{different:?}");
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
