//! The keys of boot arguments, and the values that each takes.

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
/// The keys that boot arguments may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Key {
    /// `iterations=`
    Iterations,
    /// `warmup=`
    Warmup,
    /// `only=`
    Only,
    /// `method=`
    Method,
    /// `wake=`
    Wake,
    /// `end=`
    End,
    /// `deepest=`
    Deepest,
    /// `core=`
    Core,
    /// `samples=`
    Samples,
    /// `loops=`
    Loops,
    /// `batch=`
    Batch,
    /// `duration=`
    Duration,
    /// `period=`
    Period,
    /// `stress=`
    Stress,
    /// `footprint=`
    Footprint,
    /// `timers=`
    Timers,
    /// `threshold=`
    Threshold,
    /// `dirty=`
    Dirty,
    /// `contend=`
    Contend,
}

impl Key {
    /// All keys.
    pub const ALL: [Self; 19] = [
        Self::Iterations,
        Self::Warmup,
        Self::Only,
        Self::Method,
        Self::Wake,
        Self::End,
        Self::Deepest,
        Self::Core,
        Self::Samples,
        Self::Loops,
        Self::Batch,
        Self::Duration,
        Self::Period,
        Self::Stress,
        Self::Footprint,
        Self::Timers,
        Self::Threshold,
        Self::Dirty,
        Self::Contend,
    ];

    /// The key as it is written.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Iterations => "iterations",
            Self::Warmup => "warmup",
            Self::Only => "only",
            Self::Method => "method",
            Self::Wake => "wake",
            Self::End => "end",
            Self::Deepest => "deepest",
            Self::Core => "core",
            Self::Samples => "samples",
            Self::Loops => "loops",
            Self::Batch => "batch",
            Self::Duration => "duration",
            Self::Period => "period",
            Self::Stress => "stress",
            Self::Footprint => "footprint",
            Self::Timers => "timers",
            Self::Threshold => "threshold",
            Self::Dirty => "dirty",
            Self::Contend => "contend",
        }
    }

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
