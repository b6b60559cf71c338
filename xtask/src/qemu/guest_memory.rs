//! Reads the memory of a running machine directly from the QEMU process. Neither QEMU nor the
//! machine is involved, so the read does not affect the machine's figures.

use std::fs::{File, read_to_string};
use std::os::unix::fs::FileExt;

/// A machine's memory.
pub struct GuestMemory {
    qemu: File,
    /// The address of the memory's first byte in the QEMU process.
    begin: u64,
}

impl GuestMemory {
    /// Returns the `size` bytes of memory in the machine that `process` runs. Returns None if QEMU
    /// has not created the memory yet, or if the host kernel does not let one process read
    /// another's memory.
    pub fn of(process: u32, size: u64) -> Option<Self> {
        let maps = read_to_string(format!("/proc/{process}/maps")).ok()?;
        let begin = maps.lines().find_map(|line| {
            let (begin, end) = line.split_once(" rw-p ")?.0.split_once('-')?;
            let [begin, end] = [begin, end].map(|it| u64::from_str_radix(it, 16).ok());
            begin.filter(|begin| end.is_some_and(|end| end - begin == size))
        })?;
        let qemu = File::open(format!("/proc/{process}/mem")).ok()?;
        Some(Self { qemu, begin })
    }

    /// Returns the 8 bytes at `offset`, which must be within the machine's memory.
    pub fn word(&self, offset: u64) -> Option<u64> {
        let mut bytes = [0; 8];
        let read = self.qemu.read_exact_at(&mut bytes, self.begin + offset);
        read.ok().map(|()| u64::from_le_bytes(bytes))
    }
}
