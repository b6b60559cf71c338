//! The plugin's findings, with function names added to the addresses.

use std::fmt;

use anyhow::{Context, Result, bail};
use runner::qemu::positions::NamedMemory;

/// An instruction executed on a CPU.
#[derive(Clone, Debug)]
pub struct FindingActor {
    cpu: String,
    place: String,
    way: String,
    /// True if the instruction belongs to the payload.
    pub is_of_payload: bool,
}

/// A load that may return a stale value on hardware.
#[derive(Clone, Debug)]
pub struct PlacedFinding {
    /// The reason, which is the name of a `CacheFault` variant in the model.
    pub fault: String,
    /// The load.
    pub reader: FindingActor,
    /// The last store to the loaded bytes, or None if an earlier stage executed it.
    pub writer: Option<FindingActor>,
    address: String,
    count: String,
}

/// The code that a run executed.
#[derive(Clone, Debug, Default)]
pub struct Covered {
    /// The number of blocks.
    pub blocks: u64,
    /// The number of distinct maintenance instructions and barriers.
    pub maintenance: u64,
    /// How many times CPUs lost power.
    pub losses: u64,
}

impl FindingActor {
    fn read(words: &[&str], map: &NamedMemory) -> Option<Self> {
        let [cpu, pc, way] = words else {
            return None;
        };
        let pc = u64::from_str_radix(pc.strip_prefix("0x")?, 16).ok()?;
        let offset = pc.wrapping_sub(map.image);
        let is_of_payload = offset < map.size;
        let function = match is_of_payload {
            true => map.payload.at(offset),
            false => map.firmware.at(pc),
        };
        Some(Self {
            cpu: (*cpu).to_owned(),
            place: function.unwrap_or_else(|| format!("{pc:#x}")),
            way: (*way).to_owned(),
            is_of_payload,
        })
    }
}

impl PlacedFinding {
    /// Returns true if the payload executed the load or the store.
    pub fn is_of_payload(&self) -> bool {
        let writer = self.writer.as_ref();
        self.reader.is_of_payload || writer.is_some_and(|writer| writer.is_of_payload)
    }

    fn read(words: &[&str], map: &NamedMemory) -> Option<Self> {
        let [fault, rest @ .., address, count] = words else {
            return None;
        };
        let (reader, writer) = rest.split_at_checked(3)?;
        Some(Self {
            fault: (*fault).to_owned(),
            reader: FindingActor::read(reader, map)?,
            writer: match writer {
                ["-", "-", "-"] => None,
                words => Some(FindingActor::read(words, map)?),
            },
            address: (*address).to_owned(),
            count: (*count).to_owned(),
        })
    }
}

impl fmt::Display for FindingActor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CPU {} at {} ({})", self.cpu, self.place, self.way)
    }
}

impl fmt::Display for PlacedFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let writer = self
            .writer
            .as_ref()
            .map_or_else(|| "an earlier stage".to_owned(), FindingActor::to_string);
        let (fault, reader, address) = (&self.fault, &self.reader, &self.address);
        let count = &self.count;
        write!(
            f,
            "{fault}: {reader} loads {address}, stored by {writer}; {count} times"
        )
    }
}

/// Parses the plugin's output.
///
/// # Errors
/// Returns an error if the output is truncated.
pub fn read(text: &str, map: &NamedMemory) -> Result<(Vec<PlacedFinding>, Covered)> {
    let mut findings = Vec::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let ["end", blocks, maintenance, losses] = words[..] {
            let (blocks, maintenance) = (blocks.parse()?, maintenance.parse()?);
            let losses = losses.parse()?;
            return Ok((
                findings,
                Covered {
                    blocks,
                    maintenance,
                    losses,
                },
            ));
        }
        let finding = PlacedFinding::read(&words, map);
        findings.push(finding.with_context(|| format!("not a finding: {line}"))?);
    }
    bail!("the findings are truncated: QEMU was killed, or the disk is full")
}
