//! Where every CPU of a machine is, for a run that has to be ended: the first
//! thing that one would ask a debugger.

use std::io;
use std::time::Duration;

use psci_bench::image::{IMAGE_SIZE_OFFSET, MAGIC, MAGIC_OFFSET};

use super::monitor::Socket;
use super::symbols::Symbols;
use crate::setup::plural::plural;

/// The longest time for all questions to a machine that is to be ended.
pub const TIME: Duration = Duration::from_secs(2);

/// The offset of `text_offset` in the arm64 `Image` header.
const TEXT_OFFSET: usize = 8;

/// WFI and WFE, behind which a CPU that waits is.
const WAITS: [(u32, &str); 2] = [(0xd503_207f, "WFI"), (0xd503_205f, "WFE")];

/// The parts of a machine's memory that have names.
#[derive(Clone, Debug, Default)]
pub struct Map {
    /// Address of the image.
    pub image: u64,
    /// Size of the image in bytes.
    pub size: u64,
    /// The functions of the image, by their offset in it.
    pub payload: Symbols,
    /// The functions of the firmware that stays, by address.
    pub firmware: Symbols,
}

/// Returns the address at which QEMU's own loader puts `image`, in memory from `memory` on
/// (`load_aarch64_image` in hw/arm/boot.c).
pub fn loaded_at(memory: u64, image: &[u8]) -> u64 {
    let word = |at: usize| {
        let bytes = image.get(at..at + 8)?;
        Some(u64::from_le_bytes(bytes.try_into().ok()?))
    };
    let magic = image.get(MAGIC_OFFSET..);
    let has_header = magic.is_some_and(|rest| rest.starts_with(&MAGIC));
    let offset = match (word(TEXT_OFFSET), word(IMAGE_SIZE_OFFSET)) {
        // The code that starts the image is below it.
        (Some(offset @ ..0x1000), Some(1..)) if has_header => offset + (2 << 20),
        (Some(offset), Some(1..)) if has_header => offset,
        _ => 0x8_0000,
    };
    memory.wrapping_add(offset)
}

/// One CPU, as QEMU tells of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Cpu {
    /// The number by which QEMU knows the CPU.
    number: u32,
    pc: u64,
    /// Where the function it is in returns to, if that has called none.
    link: u64,
    /// The exception level.
    level: u32,
    /// True if it is in the secure world, EL3 included.
    secure: bool,
}

/// Stops the machine behind `socket`, and says where its CPUs are: a line for
/// all that are at the same place. None, if it does not answer.
pub fn ask(socket: &Socket, map: &Map) -> Vec<String> {
    // A machine that hangs may not answer, which costs these lines alone.
    lines(socket, map).unwrap_or_default()
}

fn lines(socket: &Socket, map: &Map) -> io::Result<Vec<String>> {
    let mut monitor = socket.connect(TIME)?;
    monitor.stop()?;
    let cpus = parse(&monitor.ask("info registers -a", 0)?);
    let mut groups: Vec<(Cpu, Vec<u32>)> = Vec::new();
    for cpu in cpus {
        add(&mut groups, Cpu { number: 0, ..cpu }, &[cpu.number]);
    }
    let mut lines: Vec<(String, Vec<u32>)> = Vec::new();
    for (cpu, numbers) in groups {
        let before = format!("x /1wx {:#x}", cpu.pc.wrapping_sub(4));
        // A place without memory before it, or no time left.
        let said = monitor.ask(&before, numbers[0]).unwrap_or_default();
        add(
            &mut lines,
            format!("{}{}", map.place(&cpu), wait(&said)),
            &numbers,
        );
    }
    let line = |(place, mut numbers): (String, Vec<u32>)| {
        numbers.sort_unstable();
        let cpus = plural(numbers.len(), "CPU");
        format!("{cpus} {}: {place}", ranges(&numbers))
    };
    Ok(lines.into_iter().map(line).collect())
}

/// Adds CPUs to those at the same `place`.
fn add<T: PartialEq>(groups: &mut Vec<(T, Vec<u32>)>, place: T, numbers: &[u32]) {
    match groups.iter_mut().find(|group| group.0 == place) {
        Some(group) => group.1.extend(numbers),
        None => groups.push((place, numbers.to_vec())),
    }
}

impl Map {
    fn place(&self, cpu: &Cpu) -> String {
        let at = format!("EL{} at {:#x}", cpu.level, cpu.pc);
        if cpu.secure {
            return match self.firmware.at(cpu.pc) {
                Some(function) if cpu.level == 3 => format!("{at}, in the firmware: {function}"),
                _ => format!("{at}, in the firmware"),
            };
        }
        let offset = cpu.pc.wrapping_sub(self.image);
        if offset >= self.size {
            return format!("{at}, outside the image");
        }
        let Some(function) = self.payload.at(offset) else {
            return format!("{at}: image offset {offset:#x}");
        };
        let mut place = format!("{at}: image offset {offset:#x}, {function}");
        // What the linker has made of lines that many functions share says
        // nothing by itself.
        if function.starts_with("OUTLINED_FUNCTION")
            && let Some(caller) = self.payload.at(cpu.link.wrapping_sub(self.image))
        {
            place.push_str(", for ");
            place.push_str(&caller);
        }
        place
    }
}

fn parse(said: &str) -> Vec<Cpu> {
    said.split("CPU#").skip(1).filter_map(parse_cpu).collect()
}

fn parse_cpu(part: &str) -> Option<Cpu> {
    let number = part.lines().next()?.trim().parse().ok()?;
    let hex = |key: &str| {
        let mut words = part.split_whitespace();
        let value = words.find_map(|word| word.strip_prefix(key))?;
        u64::from_str_radix(value, 16).ok()
    };
    // PSTATE=600003c9 -ZC- NS EL2h
    let state = part.lines().find(|line| line.starts_with("PSTATE="))?;
    let mut words = state.split_whitespace();
    let level = words.find_map(|word| word.strip_prefix("EL"))?;
    let level = level.chars().next()?.to_digit(10)?;
    let secure = level == 3 || state.split_whitespace().any(|word| word == "S");
    Some(Cpu {
        number,
        pc: hex("PC=")?,
        link: hex("X30=")?,
        level,
        secure,
    })
}

/// Returns the wait of a CPU by the instruction before its place, as `x /1wx`
/// shows it: one that sleeps does not get beyond what it waits by.
fn wait(said: &str) -> String {
    let word = said.split_once(": 0x").map(|(_, digits)| digits.trim());
    let word = word.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let found = WAITS.iter().find(|wait| Some(wait.0) == word);
    found.map_or(String::new(), |wait| format!(", at a {}", wait.1))
}

/// `numbers`, which are in order, with those between left out: `0, 2-5`.
fn ranges(numbers: &[u32]) -> String {
    let mut parts: Vec<(u32, u32)> = Vec::new();
    for number in numbers {
        match parts.last_mut() {
            Some(last) if last.1.checked_add(1) == Some(*number) => last.1 = *number,
            _ => parts.push((*number, *number)),
        }
    }
    let part = |(first, last): &(u32, u32)| {
        if first == last {
            first.to_string()
        } else {
            format!("{first}-{last}")
        }
    };
    parts.iter().map(part).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Shortened: QEMU 7.2 shows all registers.
    const SAID: &str = "\r\nCPU#0\r\n PC=0000000060000004 X00=0000000048000000 X01=0\r\n\
        X29=0000000000000000 X30=0000000060000010  SP=0000000000000000\r\n\
        PSTATE=400003c9 -Z-- NS EL2h     FPCR=00000000 FPSR=00000000\r\n\
        \r\nCPU#1\r\n PC=000000000e0a1b2c X00=0\r\nX30=0000000000000000\r\n\
        PSTATE=600003cd -ZC- EL3h     FPCR=00000000 FPSR=00000000\r\n\
        \r\nCPU#2\r\n PC=000000000e02\r\nX30=0\r\nPSTATE=600003c5 ---- S EL1h\r\n\
        \r\nCPU#4\r\n PC=200\r\nX30=0\r\nPSTATE=600003c5 ---- NS EL2h\r\n\
        \r\nCPU#3\r\n PC=cut";

    #[test]
    fn places_of_cpus() {
        let map = Map {
            image: 0x6000_0000,
            size: 0x1000,
            ..Map::default()
        };
        let cpus = parse(SAID);
        let expected = "EL2 at 0x60000004: image offset 0x4; EL3 at 0xe0a1b2c, in the firmware; \
                        EL1 at 0xe02, in the firmware; EL2 at 0x200, outside the image";
        let said: Vec<_> = cpus.iter().map(|cpu| map.place(cpu)).collect();
        assert_eq!(said.join("; "), expected);
        assert_eq!((cpus[0].link, cpus[3].number), (0x6000_0010, 4));
        for (word, expected) in [
            ("0xd503207f\r\n", ", at a WFI"),
            ("0xd503205f", ", at a WFE"),
            ("0x14000000", ""),
            ("Cannot access memory", ""),
        ] {
            assert_eq!(wait(&format!("0000000060000084: {word}")), expected);
        }
    }

    #[test]
    fn numbers() {
        assert_eq!(ranges(&[0, 2, 3, 4, 5, 7]), "0, 2-5, 7");
        assert_eq!(ranges(&[1]), "1");
    }

    #[test]
    fn images_are_loaded_by_their_header() {
        let mut image = vec![0; 0x40];
        image[0x38..].copy_from_slice(b"ARM\x64\0\0\0\0");
        let [mut low, mut high] = [image.clone(), image.clone()];
        low[16] = 1;
        (high[10], high[16]) = (8, 1);
        // An old header does not say how large the image is.
        assert_eq!(loaded_at(0x4000_0000, &low), 0x4020_0000);
        for image in [&b"raw"[..], &image, &high] {
            assert_eq!(loaded_at(0x4000_0000, image), 0x4008_0000);
        }
    }
}
