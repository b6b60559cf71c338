//! A cache line's state in the model. Masks have one bit per byte.

use crate::access::{AccessKind, CacheFault, LINE, Maintenance};

/// The writer number for bytes whose contents are not needed, because only an earlier stage may
/// have stored to them.
const EARLIER: u32 = 0;
/// The writer number for bytes that an earlier stage loaded.
const LOADER: u32 = u32::MAX;

#[derive(Clone, Debug)]
pub struct CacheLine {
    /// Bytes whose latest value may be only in a cache.
    dirty: u64,
    /// True if a cache may write the line back.
    may_be_written_back: bool,
    /// CPUs and clusters whose caches may contain the dirty line.
    cpus: u64,
    clusters: u64,
    /// Bytes for which a cache may contain a stale copy.
    newer: u64,
    /// Bytes whose latest value may be lost.
    lost: [(CacheFault, u64); 3],
    /// The times of the last store and the last invalidate.
    stored: u64,
    pub invalidated: u64,
    /// The writer number for each byte.
    writers: Box<[u32; LINE as usize]>,
}

const OVERWRITTEN: usize = 0;
const DISCARDED: usize = 1;
const POWERED_OFF: usize = 2;

impl Default for CacheLine {
    fn default() -> Self {
        let lost = [
            CacheFault::Overwritten,
            CacheFault::Discarded,
            CacheFault::PoweredOff,
        ];
        Self {
            dirty: 0,
            may_be_written_back: false,
            cpus: 0,
            clusters: 0,
            newer: 0,
            lost: lost.map(|fault| (fault, 0)),
            stored: 0,
            invalidated: 0,
            writers: Box::new([EARLIER; LINE as usize]),
        }
    }
}

/// Bit masks for a CPU and its cluster.
#[derive(Clone, Copy, Debug)]
pub struct Owner {
    pub cpu: u64,
    pub cluster: u64,
}

impl CacheLine {
    /// Creates a line that an earlier stage left dirty in a cache.
    pub fn left_dirty(is_data: bool) -> Self {
        let writer = if is_data { LOADER } else { EARLIER };
        Self {
            writers: Box::new([writer; LINE as usize]),
            dirty: u64::MAX,
            may_be_written_back: true,
            cpus: u64::MAX,
            clusters: u64::MAX,
            ..Self::default()
        }
    }

    pub fn may_be_written_back(&self) -> bool {
        self.may_be_written_back
    }

    fn write(&mut self, bytes: u64, writer: u32, now: u64) {
        for (_, lost) in &mut self.lost {
            *lost &= !bytes;
        }
        for (byte, place) in self.writers.iter_mut().enumerate() {
            if bytes >> byte & 1 == 1 {
                *place = writer;
            }
        }
        self.stored = now;
    }

    pub fn store_cached(&mut self, bytes: u64, writer: u32, owner: Owner, now: u64) {
        self.write(bytes, writer, now);
        self.dirty |= bytes;
        self.may_be_written_back = true;
        // The line can move from the CPU's cache to the cluster's cache at any time.
        (self.cpus, self.clusters) = (owner.cpu, owner.cluster);
        // The dirty line contains old copies of other bytes, which may be written back.
        self.newer &= !bytes;
        self.lost[OVERWRITTEN].1 |= self.newer;
    }

    pub fn store_uncached(&mut self, bytes: u64, writer: u32, may_be_held: bool, now: u64) {
        self.write(bytes, writer, now);
        self.dirty &= !bytes;
        if self.may_be_written_back {
            self.lost[OVERWRITTEN].1 |= bytes;
        }
        if may_be_held || self.may_be_written_back {
            self.newer |= bytes;
        }
    }

    /// Returns the reason, index and writer for the first byte in `bytes` that may be wrong.
    pub fn load(
        &mut self,
        bytes: u64,
        access: AccessKind,
        owner: Owner,
    ) -> Option<(CacheFault, u64, u32)> {
        let access_fault = match access {
            AccessKind::Cached => (CacheFault::NotInvalidated, self.newer),
            AccessKind::Uncached => (CacheFault::NotCleaned, self.dirty),
        };
        if access == AccessKind::Cached && self.may_be_written_back {
            self.cpus |= owner.cpu;
            self.clusters |= owner.cluster;
        }
        let mut faults = self.lost.into_iter().chain([access_fault]);
        let (fault, mask) = faults.find(|(_, mask)| mask & bytes != 0)?;
        let byte = u64::from((mask & bytes).trailing_zeros());
        Some((fault, byte, self.writers[byte as usize]))
    }

    fn clean(&mut self) {
        self.dirty = 0;
        self.may_be_written_back = false;
        (self.cpus, self.clusters) = (0, 0);
    }

    /// Starts an invalidate. From now on, dirty bytes may be lost, which does not matter for bytes
    /// whose contents are no longer needed.
    pub fn discard(&mut self) {
        let writers = self.writers.iter().rev();
        let stored = writers.fold(0, |mask, writer| mask << 1 | u64::from(*writer != EARLIER));
        self.lost[DISCARDED].1 |= self.dirty & stored;
    }

    /// Completes maintenance that started at `started`.
    pub fn maintain(&mut self, operation: Maintenance, started: u64, now: u64) {
        // The maintenance does not cover later stores.
        if self.stored > started {
            return;
        }
        self.clean();
        if operation != Maintenance::Clean {
            self.newer = 0;
            self.invalidated = now;
        }
    }

    /// Flushes a CPU's own cache or its cluster's cache by set and way.
    pub fn flush(&mut self, owner: Owner, level: u32) {
        match level {
            // Move the line to the cluster's cache.
            1 if self.cpus & owner.cpu != 0 => {
                self.cpus &= !owner.cpu;
                self.clusters |= owner.cluster;
            }
            1 => {}
            _ => self.clusters &= !owner.cluster,
        }
        if (self.cpus, self.clusters) == (0, 0) {
            self.clean();
        }
    }

    /// Discards the contents of a CPU's own cache.
    pub fn power_off(&mut self, owner: Owner) {
        if self.cpus & owner.cpu != 0 {
            self.lost[POWERED_OFF].1 |= self.dirty;
            self.clean();
        }
    }
}
