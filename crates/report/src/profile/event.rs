//! Events: executed instructions that cost more on hardware than an instruction count shows.

use std::collections::BTreeMap;
use std::iter;
use std::ops::{AddAssign, Index, IndexMut};

use hardware::words;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

words! {
    /// A kind of instruction, named by its mnemonic (Arm ARM, chapter C6).
    pub enum Event, mnemonic {
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
    }
}

impl Event {
    /// Returns the mnemonic in upper case.
    pub fn text(self) -> String {
        self.mnemonic().to_uppercase()
    }
}

/// Returns the name of what a profile counts, in the plural. Without an event, it counts all
/// instructions.
pub fn unit_name(event: Option<Event>) -> String {
    event.map_or_else(
        || "instructions".to_owned(),
        |event| format!("{} instructions", event.text()),
    )
}

/// The number of times that each event occurred.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventCounts([u64; Event::COUNT]);

impl EventCounts {
    /// Returns true if no event occurred.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|count| *count == 0)
    }

    /// Returns the counts, in the order of [`Event::ALL`].
    pub fn iter(&self) -> impl Iterator<Item = (Event, u64)> {
        iter::zip(Event::ALL, self.0)
    }

    /// Returns the counts after `times` repetitions.
    #[must_use]
    pub fn repeated(&self, times: u64) -> Self {
        Self(self.0.map(|count| count * times))
    }
}

impl Index<Event> for EventCounts {
    type Output = u64;

    fn index(&self, event: Event) -> &u64 {
        &self.0[event as usize]
    }
}

impl IndexMut<Event> for EventCounts {
    fn index_mut(&mut self, event: Event) -> &mut u64 {
        &mut self.0[event as usize]
    }
}

impl AddAssign for EventCounts {
    fn add_assign(&mut self, other: Self) {
        iter::zip(&mut self.0, other.0).for_each(|(sum, count)| *sum += count);
    }
}

/// Writes the events that occurred, by mnemonic.
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
