//! Conclusions drawn from figures, and the evidence for them.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use hardware::board::{CPU_MAX, CpuIndex};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::measure::Metric;

/// A conclusion drawn from a scenario's figures.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The rule that found it.
    pub kind: FindingKind,
    /// The conclusion in one or more sentences.
    #[serde(rename = "text")]
    pub sentence: String,
    /// The CPUs whose cells support the conclusion.
    #[serde(skip_serializing_if = "CpuSet::is_empty")]
    pub cpus: CpuSet,
    /// The metrics in these cells; empty if the finding does not depend on particular metrics.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub metrics: Vec<Metric>,
    /// The kind of evidence.
    pub evidence: Evidence,
}

impl Finding {
    /// Returns a finding based on counts in records. It does not depend on a particular metric.
    pub(crate) fn by_counts(
        kind: FindingKind,
        sentence: String,
        cpus: impl IntoIterator<Item = CpuIndex>,
    ) -> Self {
        Self {
            kind,
            sentence,
            cpus: cpus.into_iter().collect(),
            metrics: Vec::new(),
            evidence: Evidence::Counts,
        }
    }
}

/// A kind of finding, identified by its keyword. Each kind is a constant next to the code that
/// detects it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(transparent)]
pub struct FindingKind(&'static str);

impl FindingKind {
    /// Facts missing from the input.
    pub const NOT_TOLD: Self = Self::new("not-told");

    /// Returns the kind with this keyword, which must be unique.
    pub const fn new(word: &'static str) -> Self {
        Self(word)
    }
}

/// The kind of evidence for a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "the names are self-explanatory")]
pub enum Evidence {
    Stamps,
    Counts,
    /// Lines without a checksum.
    Lines,
    Fit(FitQuality),
    Figures,
    /// Figures whose intervals do not overlap.
    Intervals,
    Unknown,
}

/// A straight-line fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct FitQuality {
    /// The number of points.
    pub n: u32,
    /// The coefficient of determination as a percentage, rounded down.
    pub r2_percent: u8,
    /// The greatest distance of any point from the line, in nanoseconds, if the clock is known.
    pub residual_ns: Option<u64>,
    /// True if the points are ordered by timestamp, false if they are ordered by a quantity or
    /// figure.
    pub by_stamps: bool,
}

/// A set of CPUs, by index. Holding one proves that every index is below [`CPU_MAX`], not that the
/// board has these CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CpuSet([u64; CPU_MAX / 64]);

impl CpuSet {
    /// Returns true if the set is empty.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Adds the CPU at `index`, which must be below [`CPU_MAX`].
    pub fn insert(&mut self, index: CpuIndex) {
        if let Some(word) = self.0.get_mut(index.index() / 64) {
            *word |= 1 << (index.index() % 64);
        }
    }

    /// Returns true if the CPU is in the set.
    pub fn contains(&self, index: CpuIndex) -> bool {
        let word = self.0.get(index.index() / 64);
        word.is_some_and(|word| word >> (index.index() % 64) & 1 != 0)
    }

    /// Returns the indices in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = CpuIndex> + '_ {
        CpuIndex::all(CPU_MAX).filter(|index| self.contains(*index))
    }
}

impl FromIterator<CpuIndex> for CpuSet {
    fn from_iter<I: IntoIterator<Item = CpuIndex>>(indices: I) -> Self {
        let mut set = Self::default();
        indices.into_iter().for_each(|index| set.insert(index));
        set
    }
}

/// Formats the set as a single hexadecimal number with bit N set for CPU N.
impl fmt::Display for CpuSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let top = self.0.iter().rposition(|word| *word != 0).unwrap_or(0);
        write!(f, "{:#x}", self.0[top])?;
        let mut rest = self.0[..top].iter().rev();
        rest.try_for_each(|word| write!(f, "{word:016x}"))
    }
}

impl Serialize for CpuSet {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CpuSet {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        let digits = text.strip_prefix("0x").unwrap_or("");
        let mut set = Self::default();
        let mut from_lowest = digits.chars().rev().enumerate();
        let is_read = (1..=CPU_MAX / 4).contains(&digits.len())
            && from_lowest.all(|(index, digit)| {
                let value = digit.to_digit(16).map(u64::from);
                set.0[index / 16] |= value.unwrap_or(0) << (index % 16 * 4);
                value.is_some()
            });
        is_read.then_some(set).ok_or_else(|| {
            de::Error::invalid_value(de::Unexpected::Str(&text), &"0x and up to 128 digits")
        })
    }
}
