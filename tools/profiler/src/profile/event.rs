//! Events: what costs more on hardware than an instruction count shows.

use std::collections::BTreeMap;
use std::iter;
use std::ops::{AddAssign, Index, IndexMut};

use hardware::words;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

words! {
    /// A kind of event. A line is 64 bytes of memory, as in the caches of Arm's cores.
    pub enum Event, name {
        /// An instruction synchronization barrier.
        Isb = "isb",
        /// A data synchronization barrier.
        Dsb = "dsb",
        /// A data memory barrier.
        Dmb = "dmb",
        /// Data cache maintenance, including DC ZVA.
        Dc = "dc",
        /// Instruction cache maintenance.
        Ic = "ic",
        /// TLB maintenance.
        Tlbi = "tlbi",
        /// A system register read.
        Mrs = "mrs",
        /// A system register write.
        Msr = "msr",
        /// A wait for an event.
        Wfe = "wfe",
        /// A wait for an interrupt.
        Wfi = "wfi",
        /// An instruction executed with the instruction cache off.
        Fetch = "fetch",
        /// With the instruction cache off, a fetch from another line than the previous fetch.
        FetchLine = "fetch-line",
        /// A [`Self::FetchLine`] from another line than the next one.
        FetchJump = "fetch-jump",
        /// A taken branch with the instruction cache off.
        FetchBranch = "fetch-branch",
        /// With the instruction cache off, an iteration of a loop that would fit in a line, but
        /// lies in two.
        SplitLoop = "split-loop",
        /// With the instruction cache off, an entry to a function that would fit in a line, but
        /// lies in two.
        SplitFunction = "split-function",
        /// The first cached fetch from a line since the CPU's power-down.
        L1Fetch = "l1-fetch",
        /// The first cached fetch or access that a cluster makes to a line since its power-down,
        /// if it is a fetch.
        L2Fetch = "l2-fetch",
        /// The first cached data access to a line since the CPU's power-down.
        L1Data = "l1-data",
        /// The first cached fetch or access that a cluster makes to a line since its power-down,
        /// if it is a data access.
        L2Data = "l2-data",
        /// A data access with the MMU or the data cache off.
        Uncached = "uncached",
        /// A data access to Device or Non-cacheable memory, with the MMU and the data cache on.
        Device = "device",
        /// The first cached data access to a line since another CPU wrote to it.
        Shared = "shared",
    }
}

/// Events of one kind, which share a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventGroup {
    /// Instructions.
    Instructions,
    /// Instruction fetches past the instruction cache.
    Fetches,
    /// First accesses after a power-down.
    FirstAccesses,
    /// Data accesses that a cache does not serve.
    DataAccesses,
}

impl EventGroup {
    /// All groups, in the order of their tables.
    pub const ALL: [Self; 4] = [
        Self::Instructions,
        Self::Fetches,
        Self::FirstAccesses,
        Self::DataAccesses,
    ];

    /// Returns the title of the group's table.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Instructions => "Barriers, maintenance and system registers (a CPU's own)",
            Self::Fetches => "Instruction fetches with the I-cache off (a CPU's own)",
            Self::FirstAccesses => "First accesses to lines after a power-down (a CPU's own)",
            Self::DataAccesses => "Data accesses past the caches (a CPU's own)",
        }
    }
}

impl Event {
    /// Returns the event's group, the heading of its column, and what it counts, in the plural.
    const fn text(self) -> (EventGroup, &'static str, &'static str) {
        use EventGroup::{DataAccesses, Fetches, FirstAccesses, Instructions};
        match self {
            Self::Isb => (Instructions, "ISB", "ISB instructions"),
            Self::Dsb => (Instructions, "DSB", "DSB instructions"),
            Self::Dmb => (Instructions, "DMB", "DMB instructions"),
            Self::Dc => (Instructions, "DC", "DC instructions"),
            Self::Ic => (Instructions, "IC", "IC instructions"),
            Self::Tlbi => (Instructions, "TLBI", "TLBI instructions"),
            Self::Mrs => (Instructions, "MRS", "MRS instructions"),
            Self::Msr => (Instructions, "MSR", "MSR instructions"),
            Self::Wfe => (Instructions, "WFE", "WFE instructions"),
            Self::Wfi => (Instructions, "WFI", "WFI instructions"),
            Self::Fetch => (
                Fetches,
                "Instructions",
                "instructions executed with the I-cache off",
            ),
            Self::FetchLine => (Fetches, "Lines", "lines fetched with the I-cache off"),
            Self::FetchJump => (Fetches, "Jumps", "jumps between lines with the I-cache off"),
            Self::FetchBranch => (Fetches, "Branches", "branches taken with the I-cache off"),
            Self::SplitLoop => (
                Fetches,
                "Split loops",
                "iterations of loops split by a line border",
            ),
            Self::SplitFunction => (
                Fetches,
                "Split functions",
                "calls of functions split by a line border",
            ),
            Self::L1Fetch => (FirstAccesses, "L1 fetch", "first fetches from lines (L1)"),
            Self::L2Fetch => (FirstAccesses, "L2 fetch", "first fetches from lines (L2)"),
            Self::L1Data => (
                FirstAccesses,
                "L1 data",
                "first data accesses to lines (L1)",
            ),
            Self::L2Data => (
                FirstAccesses,
                "L2 data",
                "first data accesses to lines (L2)",
            ),
            Self::Uncached => (
                DataAccesses,
                "Uncached",
                "data accesses with the caches off",
            ),
            Self::Device => (DataAccesses, "Device", "data accesses to Device memory"),
            Self::Shared => (
                DataAccesses,
                "Shared",
                "accesses to lines written by other CPUs",
            ),
        }
    }

    /// Returns the group that contains the event.
    pub const fn group(self) -> EventGroup {
        self.text().0
    }

    /// Returns the heading of the event's column.
    pub const fn heading(self) -> &'static str {
        self.text().1
    }
}

/// Returns what a profile counts, in the plural. Without an event, it counts all instructions.
pub const fn unit_name(event: Option<Event>) -> &'static str {
    match event {
        None => "instructions",
        Some(event) => event.text().2,
    }
}

/// The number of times that each event occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCounts([u64; Event::COUNT]);

impl EventCounts {
    /// Returns true if no event occurred.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|count| *count == 0)
    }

    /// Returns the counts, in the order of [`Event::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Event, u64)> {
        iter::zip(Event::ALL, self.0)
    }

    /// Adds one event.
    #[inline]
    pub fn count(&mut self, event: Event) {
        self[event] += 1;
    }

    /// Returns the counts after `times` repetitions.
    #[must_use]
    #[inline]
    pub fn repeated(&self, times: u64) -> Self {
        Self(self.0.map(|count| count * times))
    }
}

impl Index<Event> for EventCounts {
    type Output = u64;

    #[inline]
    fn index(&self, event: Event) -> &u64 {
        &self.0[event as usize]
    }
}

impl IndexMut<Event> for EventCounts {
    #[inline]
    fn index_mut(&mut self, event: Event) -> &mut u64 {
        &mut self.0[event as usize]
    }
}

impl AddAssign for EventCounts {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        for (sum, count) in iter::zip(&mut self.0, other.0) {
            *sum += count;
        }
    }
}

/// Writes the events that occurred, by name.
impl Serialize for EventCounts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.iter().filter(|(_, count)| *count > 0))
    }
}

impl<'de> Deserialize<'de> for EventCounts {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut counts = Self::default();
        for (event, count) in BTreeMap::<Event, u64>::deserialize(from)? {
            counts[event] = count;
        }
        Ok(counts)
    }
}
