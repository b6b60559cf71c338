//! Reads the payload's sample count directly from the memory of the QEMU process. Neither QEMU nor
//! the machine is involved, so the read does not affect the machine's figures.

use std::fs::{File, read_to_string};
use std::os::unix::fs::FileExt;

use suite::measure::SampleCount;

/// The sample count in the memory of a machine that QEMU runs.
pub(super) struct GuestSamples {
    process: u32,
    memory_size: u64,
    offset: u64,
    /// The memory of the QEMU process, and the count's address in it, once QEMU has created the
    /// machine.
    found: Option<(File, u64)>,
}

impl GuestSamples {
    /// Describes the machine that `process` runs, with `memory_size` bytes of memory and the count
    /// at `offset`, which must be within that memory.
    pub fn new(process: u32, memory_size: u64, offset: u64) -> Self {
        Self {
            process,
            memory_size,
            offset,
            found: None,
        }
    }

    /// Returns the count. Returns None if QEMU has not created the memory yet, or if the host
    /// kernel does not let one process read another's memory.
    pub fn read(&mut self) -> Option<SampleCount> {
        self.found = self.found.take().or_else(|| self.find());
        let (memory, address) = self.found.as_ref()?;
        let mut bytes = [0; 8];
        memory.read_exact_at(&mut bytes, *address).ok()?;
        Some(SampleCount::from_word(u64::from_le_bytes(bytes)))
    }

    fn find(&self) -> Option<(File, u64)> {
        let process = self.process;
        let maps = read_to_string(format!("/proc/{process}/maps")).ok()?;
        let begin = maps.lines().find_map(|line| {
            let (range, _) = line.split_once(" rw-p ")?;
            let (first, last) = range.split_once('-')?;
            let begin = u64::from_str_radix(first, 16).ok()?;
            let end = u64::from_str_radix(last, 16).ok()?;
            (end - begin == self.memory_size).then_some(begin)
        })?;
        let memory = File::open(format!("/proc/{process}/mem")).ok()?;
        Some((memory, begin + self.offset))
    }
}
