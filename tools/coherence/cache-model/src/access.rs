//! Accesses to cache lines, and what can be wrong with them.

/// The size of a cache line, in bytes.
pub const LINE: u64 = 64;

/// How memory is accessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum AccessKind {
    /// Through the caches.
    Cached,
    /// Bypassing the caches, either because SCTLR_ELx.C or M is clear or because the memory is
    /// Device or Non-cacheable.
    Uncached,
}

/// Cache line maintenance by address (`DC`), to the point of coherency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maintenance {
    /// `DC CVAC` or `DC CVAP`.
    Clean,
    /// `DC IVAC`.
    Invalidate,
    /// `DC CIVAC`.
    CleanInvalidate,
}

/// The reason why a load may not return the last value stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CacheFault {
    /// The load bypasses the caches, but the bytes may be only in a cache. A clean to the point of
    /// coherency is missing.
    NotCleaned,
    /// The load uses the caches, which may contain a stale copy. An invalidate is missing.
    NotInvalidated,
    /// The write-back of an older line may have overwritten the bytes. An invalidate before the
    /// store is missing.
    Overwritten,
    /// The line was invalidated before it was cleaned.
    Discarded,
    /// The line was in the cache of a CPU that lost power.
    PoweredOff,
}
