//! The timestamps that TF-A prints while it boots, since v2.10, if it was built with
//! ENABLE_RUNTIME_INSTRUMENTATION.

use std::sync::LazyLock;

use regex::Regex;

/// The start of a line with a timestamp.
pub(super) const MARK: &str = "PMF:cpu ";

/// The line that PMF prints for a timestamp of a service that stores none. Spaces are accepted
/// instead of tabs, because copying from a terminal converts them.
static LINE: LazyLock<Regex> = LazyLock::new(|| {
    let line = r"(?-u)PMF:cpu \d+\s+tid (\d+)\s+ts (\d+)$";
    Regex::new(line).expect("a pattern")
});

/// A point in the boot at which TF-A takes a timestamp, in boot order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum BootPoint {
    /// BL1 has set up the console.
    Bl1Entry,
    /// BL1 is about to load BL2. TF-A has this and the other loading points since v2.15.
    Bl1LoadStart,
    /// BL1 has loaded BL2.
    Bl1LoadEnd,
    /// BL1 hands over to BL2.
    Bl1Exit,
    /// BL2 has set up the console and its translation tables.
    Bl2Entry,
    /// BL2 is about to load the other images.
    Bl2LoadStart,
    /// BL2 has loaded the other images.
    Bl2LoadEnd,
    /// BL2 hands over to BL31, through BL1 unless BL2 runs at EL3.
    Bl2Exit,
    /// BL31 has printed its version.
    Bl31Entry,
    /// BL31 hands over to BL33.
    Bl31Exit,
}

impl BootPoint {
    /// The points by `tid`, which is their number in TF-A's `bootmarker_capture.h`.
    const BY_ID: [Self; 10] = [
        Self::Bl1Entry,
        Self::Bl1Exit,
        Self::Bl2Entry,
        Self::Bl2Exit,
        Self::Bl31Entry,
        Self::Bl31Exit,
        Self::Bl1LoadStart,
        Self::Bl1LoadEnd,
        Self::Bl2LoadStart,
        Self::Bl2LoadEnd,
    ];
}

/// A boot timestamp, from a line without a checksum.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BootTimestamp {
    /// The point in the boot.
    pub point: BootPoint,
    /// The value of CNTPCT_EL0.
    pub ticks: u64,
}

impl BootTimestamp {
    /// Reads the timestamp at the end of a line, which may have other text before it. Returns None
    /// if the line is damaged, or if the point is unknown to this version.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let captures = LINE.captures(line)?;
        let id: usize = captures[1].parse().ok()?;
        Some(Self {
            point: *BootPoint::BY_ID.get(id)?,
            ticks: captures[2].parse().ok()?,
        })
    }
}
