//! Reads the payload's sample count directly from the memory of the QEMU process. Neither QEMU nor
//! the machine is involved, so the read does not affect the machine's figures.

use std::fs::{File, read_to_string};
use std::os::unix::fs::FileExt;

use suite::measure::SampleCount;

/// The sample count in the memory of a machine that QEMU runs.
pub struct GuestSamples {
    memory_size: u64,
    offset: u64,
    /// The memory of the QEMU process, and the count's address in it, once QEMU has created the
    /// machine.
    found: Option<(File, u64)>,
}

impl GuestSamples {
    /// Describes a machine with `memory_size` bytes of memory, and the count at `offset`, which must
    /// be within that memory.
    pub fn new(memory_size: u64, offset: u64) -> Self {
        Self {
            memory_size,
            offset,
            found: None,
        }
    }

    /// Returns the count in the machine that `process` runs. Returns None if QEMU has not created
    /// the memory yet, or if the host kernel does not let one process read another's memory.
    pub(super) fn read(&mut self, process: u32) -> Option<SampleCount> {
        self.found = self.found.take().or_else(|| self.find(process));
        let (memory, address) = self.found.as_ref()?;
        let mut bytes = [0; 8];
        memory.read_exact_at(&mut bytes, *address).ok()?;
        Some(SampleCount::from_word(u64::from_le_bytes(bytes)))
    }

    fn find(&self, process: u32) -> Option<(File, u64)> {
        let maps = read_to_string(format!("/proc/{process}/maps")).ok()?;
        let begin = maps.lines().find_map(|line| {
            let (begin, end) = line.split_once(" rw-p ")?.0.split_once('-')?;
            let [begin, end] = [begin, end].map(|it| u64::from_str_radix(it, 16).ok());
            begin.filter(|begin| end.is_some_and(|end| end - begin == self.memory_size))
        })?;
        let memory = File::open(format!("/proc/{process}/mem")).ok()?;
        Some((memory, begin + self.offset))
    }
}
