//! The quantity that a scenario's steps vary, and how its amounts are shown.

use alloc::format;
use alloc::string::{String, ToString as _};

/// The quantity that a scenario's steps vary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// Dirty bytes in the cache.
    Bytes,
    /// CPUs that go down together.
    Cpus,
    /// The requested `power_state`.
    PowerState,
    /// The function that is called.
    Function,
    /// Ticks from a call to the instant at which an interrupt falls due.
    Offset,
}

/// How amounts of a quantity are shown.
#[derive(Clone, Copy, Debug)]
pub struct Amount {
    /// The plural form, as used in a sentence.
    pub name: &'static str,
    /// The amount that corresponds to one unit in charts.
    pub unit: u32,
    /// The unit name, as used in a sentence.
    pub unit_name: &'static str,
    /// The axis label in charts.
    pub label: &'static str,
    /// The varied quantity, as it appears in a chart title.
    pub title: &'static str,
}

impl Axis {
    /// Returns the quantity for use as a heading.
    pub const fn heading(self) -> &'static str {
        match self {
            Self::Bytes => "Bytes",
            Self::Cpus => "CPUs",
            Self::PowerState => "power_state",
            Self::Function => "Function",
            Self::Offset => "First (ticks)",
        }
    }

    /// Returns how amounts of the quantity are shown; None if its values are names.
    pub const fn amount(self) -> Option<Amount> {
        Some(match self {
            Self::Bytes => Amount {
                name: "bytes",
                unit: 1024,
                unit_name: "KiB",
                label: "dirty KiB",
                title: "the amount of dirty data",
            },
            Self::Cpus => Amount {
                name: "CPUs",
                unit: 1,
                unit_name: "CPU",
                label: "CPUs that go down together",
                title: "the number of CPUs",
            },
            Self::Offset => Amount {
                name: "ticks",
                unit: 1,
                unit_name: "tick",
                label: "ticks from the call to the interrupt",
                title: "the offset of the interrupt",
            },
            Self::PowerState | Self::Function => return None,
        })
    }

    /// Returns a value as tables and sentences show it.
    pub fn text(self, value: u64) -> String {
        if self.has_names() {
            format!("{value:#010x}")
        } else {
            value.to_string()
        }
    }

    /// Returns true if the quantity's values are hexadecimal names instead of amounts.
    pub const fn has_names(self) -> bool {
        self.amount().is_none()
    }
}
