//! Finds the position of each CPU in a machine that must be killed at its deadline.

use std::time::Duration;

use hardware::image::{IMAGE_SIZE_OFFSET, MAGIC, MAGIC_OFFSET};
use hardware::text::plural::Plural;
use itertools::Itertools;
use regex::Regex;

use super::monitor::Socket;
use super::symbols::Symbols;

/// The overall time limit for replies from a machine that is about to be killed.
pub const TIME: Duration = Duration::from_secs(2);

/// The offset of `text_offset` in the arm64 `Image` header.
const TEXT_OFFSET: usize = 8;

/// The parts of machine memory for which function names are known.
#[derive(Clone, Debug, Default)]
pub struct NamedMemory {
    /// Address of the image.
    pub image: u64,
    /// The image size in bytes.
    pub size: u64,
    /// The functions in the image, by offset.
    pub payload: Symbols,
    /// The offset of the payload's sample count in the image.
    pub samples: Option<u64>,
    /// The functions in the resident firmware, by address.
    pub firmware: Symbols,
}

/// Returns the address where the QEMU loader puts `image` if memory begins at `memory`
/// (`load_aarch64_image` in hw/arm/boot.c).
pub fn loaded_at(memory: u64, image: &[u8]) -> u64 {
    let word = |offset: usize| {
        let bytes = image.get(offset..offset + 8)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    };
    let magic = image.get(MAGIC_OFFSET..);
    let has_header = magic.is_some_and(|header| header.starts_with(&MAGIC));
    let offset = match (word(TEXT_OFFSET), word(IMAGE_SIZE_OFFSET)) {
        // QEMU's boot code is at the start of memory, so QEMU moves an image that would overlap it.
        (Some(offset @ ..0x1000), Some(1..)) if has_header => offset + (2 << 20),
        (Some(offset), Some(1..)) if has_header => offset,
        _ => 0x8_0000,
    };
    memory.wrapping_add(offset)
}

/// Stops the machine that uses `socket`, and returns one line for each group of CPUs at the same
/// position. Returns no lines if the machine hangs and does not reply.
pub fn read_positions(socket: &Socket, map: &NamedMemory) -> Vec<String> {
    lines(&socket.registers(TIME).unwrap_or_default(), map)
}

/// Returns the lines for `registers`, QEMU's reply to `info registers -a`.
fn lines(registers: &str, map: &NamedMemory) -> Vec<String> {
    // For example: PSTATE=600003c9 -ZC- NS EL2h. QEMU 7.2 does not show the security state at EL3.
    let pattern = r"CPU#(\d+)\s+PC=([0-9a-f]+)[^#]*\sPSTATE=\S+ \S+ (S )?(?:NS )?EL(\d)";
    let cpu = Regex::new(pattern).expect("a valid pattern");
    let mut places: Vec<(String, Vec<u32>)> = Vec::new();
    for captures in cpu.captures_iter(registers) {
        let (Ok(number), Ok(pc)) = (captures[1].parse(), u64::from_str_radix(&captures[2], 16))
        else {
            continue;
        };
        let place = map.describe(pc, &captures[4], captures.get(3).is_some());
        match places.iter_mut().find(|pair| pair.0 == place) {
            Some(known) => known.1.push(number),
            None => places.push((place, vec![number])),
        }
    }
    let line = |(place, mut numbers): (String, Vec<u32>)| {
        numbers.sort_unstable();
        let mut ranges = numbers.chunk_by(|a, b| a + 1 == *b).map(|run| match run {
            [first, .., last] => format!("{first}-{last}"),
            _ => run.iter().join(""),
        });
        let cpus = Plural(numbers.len() as u64, "CPU");
        let ranges = ranges.join(", ");
        format!("{cpus} {ranges}: {place}")
    };
    places.into_iter().map(line).collect()
}

impl NamedMemory {
    fn describe(&self, pc: u64, level: &str, is_secure: bool) -> String {
        let offset = pc.wrapping_sub(self.image);
        let (place, function) = match level {
            "3" => (", in the firmware".to_owned(), self.firmware.at(pc)),
            _ if is_secure => (", in the firmware".to_owned(), None),
            _ if offset >= self.size => (", outside the image".to_owned(), None),
            _ => {
                let place = format!(": image offset {offset:#x}");
                (place, self.payload.at(offset))
            }
        };
        let function = function.map_or_else(String::new, |name| format!(", {name}"));
        format!("EL{level} at {pc:#x}{place}{function}")
    }
}
