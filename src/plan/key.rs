//! The keys of boot arguments, and the values that each takes.

use crate::spec::words::words;
use core::fmt;
use core::ops::RangeInclusive;

use super::scenario_id::ScenarioId;
use super::scenario_set::ScenarioSet;

/// The most iterations that can be asked for.
pub const ITERATIONS_MAX: u32 = 1_000_000;
/// The most warm-up rounds that can be asked for.
pub const WARMUP_MAX: u32 = 10_000;

/// The most operations that a loop can be asked for.
pub const LOOPS_MAX: u32 = 1 << 30;
/// The most operations in a sample.
pub const BATCH_MAX: u32 = 1 << 16;
words! {
    /// The keys that boot arguments may have.
    pub enum Key, word {
        /// `iterations=`
        Iterations = "iterations",
        /// `warmup=`
        Warmup = "warmup",
        /// `only=`
        Only = "only",
        /// `method=`
        Method = "method",
        /// `wake=`
        Wake = "wake",
        /// `end=`
        End = "end",
        /// `deepest=`
        Deepest = "deepest",
        /// `core=`
        Core = "core",
        /// `samples=`
        Samples = "samples",
        /// `records=`
        Records = "records",
        /// `loops=`
        Loops = "loops",
        /// `batch=`
        Batch = "batch",
        /// `duration=`
        Duration = "duration",
        /// `period=`
        Period = "period",
        /// `stress=`
        Stress = "stress",
        /// `footprint=`
        Footprint = "footprint",
        /// `timers=`
        Timers = "timers",
        /// `threshold=`
        Threshold = "threshold",
        /// `dirty=`
        Dirty = "dirty",
        /// `contend=`
        Contend = "contend",
    }
}

impl Key {
    /// The numbers that it takes, where it takes any.
    pub(crate) const fn range(self) -> RangeInclusive<u32> {
        match self {
            Self::Iterations => 1..=ITERATIONS_MAX,
            Self::Loops => 1..=LOOPS_MAX,
            Self::Batch => 1..=BATCH_MAX,
            Self::Duration => 1..=super::timer::DURATION_MAX,
            Self::Period => super::timer::PERIOD_MIN..=super::timer::PERIOD_MAX,
            Self::Footprint => super::timer::FOOTPRINT_MIN..=super::timer::FOOTPRINT_MAX,
            Self::Threshold => 1..=super::timer::PERIOD_MAX,
            _ => 0..=WARMUP_MAX,
        }
    }

    pub(crate) fn write_accepted(self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Iterations
            | Self::Warmup
            | Self::Loops
            | Self::Batch
            | Self::Duration
            | Self::Period
            | Self::Footprint
            | Self::Threshold => {
                let (least, most) = self.range().into_inner();
                let (least, most) = (u64::from(least), u64::from(most));
                write!(f, "a number from {least} to {most}")?;
                let suffixes = matches!(self, Self::Footprint);
                return f.write_str(if suffixes { ", K or M behind it" } else { "" });
            }
            Self::Only => {
                f.write_str("help, or one or more, parted by commas, of")?;
                let tags = ScenarioId::ALL.iter().map(|id| id.short_tag());
                return write_words(f, &mut tags.chain(ScenarioSet::GROUPS));
            }
            Self::Stress => {
                f.write_str("one or more, parted by commas, of")?;
                return write_words(f, &mut super::timer::load_words().into_iter());
            }
            Self::Timers => "alone, all or both parted by a comma",
            Self::Method => "tftf, warm or both parted by a comma",
            Self::Wake => "together, staggered or chain",
            Self::End => "off, park or reset",
            Self::Samples => "none or all",
            Self::Records => "once, twice or none",
            Self::Dirty => "up to 24 of 0 to 64M bytes, parted by commas; A-B doubles",
            Self::Contend => "up to 24 of 1 to 512 CPUs, parted by commas; A-B",
            Self::Deepest | Self::Core => "a power_state of 0x and 1 to 8 hexadecimal digits",
        })
    }
}

/// Writes words, a blank before each.
pub(crate) fn write_words(
    f: &mut fmt::Formatter<'_>,
    words: &mut dyn Iterator<Item = &'static str>,
) -> fmt::Result {
    for word in words {
        write!(f, " {word}")?;
    }
    Ok(())
}
