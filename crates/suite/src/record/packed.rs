//! The short form of a cell in a record. Its size matters because cells make up most of a log.
//!
//! A cell is a list of these elements:
//! * the scenario's tag, the cell's index, and the number of valid samples. In TFTF's suite, a cell
//!   has the index of its CPU;
//! * a list for each of [`Metric::ALL`], empty if there are no samples. The list contains the
//!   median, how far the minimum is below the median, how far the maximum and the very first sample
//!   are above the median, the MAD, how far the 99th percentile is above the median, and by how
//!   much the number of samples exceeds the cell's. A metric that is in the cell but has no samples
//!   is null;
//! * the base of [`Cell::shown`], and the ticks from one instant to the next; null if there are
//!   none;
//! * `due`, `residency_us` and `most_us` from [`Reached`];
//! * everything else by name: `cpu` is omitted if it equals the index, and `step` if there is only
//!   one; `first` is omitted if it contains the first reason in `rejected` and no detail;
//!   `rose` contains `state` and `times` from [`Reached`], and is omitted if the count for the
//!   state in `due` rose by one.
//!
//! The CPU's representative figures are not sent, because a reader chooses them in the same way as
//! the payload ([`Cell::choose_figures`]). Default values at the end of a list are omitted.

use alloc::vec::Vec;

use arrayvec::ArrayVec;
use hardware::board::CpuIndex;
use hardware::spec::stat::Reached;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::measure::{
    Gap, INSTANTS, Instants, LONGEST_GAPS, Loss, METRICS, Metric, Reason, Rejection, Summary,
};
use crate::model::{
    Cell, CellStep, Counts, Samples, ScenarioKey, Series, Skip, WakeSource, is_tftf,
};
use crate::plan::{ActiveCpus, Method, ScenarioId, Variant};

/// Up to `MOST` numbers, null if missing. They are kept off the heap, which is small during a run.
type Numbers<const MOST: usize> = ArrayVec<Option<i64>, MOST>;

/// The number of values for a series.
const SERIES: usize = 7;
/// The number of values for a sample's instants: the base and the intervals.
const SAMPLE: usize = 1 + INSTANTS;

/// The list that stands for a cell. A record stores it without names.
#[derive(Serialize, Deserialize)]
struct PackedCell(
    /// The scenario.
    ScenarioId,
    /// The cell's index in the scenario.
    u32,
    /// The number of valid samples; None if the cell has no counts.
    Option<u32>,
    /// The series of each metric.
    ArrayVec<Option<Numbers<SERIES>>, METRICS>,
    /// The instants of the sample that is shown.
    Numbers<SAMPLE>,
    /// The state that was reached.
    Option<PackedReached>,
    NamedParts,
);

/// The list for the state that a cell's CPU reached, except [`NamedParts::state_and_times`].
#[derive(Serialize, Deserialize)]
struct PackedReached(
    /// [`Reached::due`].
    u32,
    /// [`Reached::residency_us`].
    u32,
    /// [`Reached::most_us`].
    Option<u64>,
);

/// The parts of a cell that are stored by name.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct NamedParts {
    #[serde(rename = "m", default, skip_serializing_if = "is_tftf")]
    scenario_method: Method,
    #[serde(rename = "h", default, skip_serializing_if = "Option::is_none")]
    scenario_helper: Option<CpuIndex>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    cpu: Option<CpuIndex>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    step: Option<(ActiveCpus, Variant, Option<u64>, u32)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rejected: Vec<(Reason, u32)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first: Option<Rejection>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    skipped: Option<Skip>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    helper: Option<CpuIndex>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    wake_source: Option<WakeSource>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    power_state: Option<u32>,
    /// [`Reached::state`] and [`Reached::times`].
    #[serde(rename = "rose", default, skip_serializing_if = "Option::is_none")]
    state_and_times: Option<(Option<u32>, u8)>,
    #[serde(default, skip_serializing_if = "core::ops::Not::not")]
    kept_power: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lost: Option<Loss>,
    /// [`Cell::longest_gaps`]: the length and the begin of each.
    #[serde(rename = "gaps", default, skip_serializing_if = "ArrayVec::is_empty")]
    longest_gaps: ArrayVec<(u64, u64), LONGEST_GAPS>,
}

pub(super) fn serialize<S: Serializer>(
    (key, index, cell): &(ScenarioKey, u32, Cell),
    to: S,
) -> Result<S::Ok, S::Error> {
    let counts = cell.counts.as_ref();
    let rejected = counts.map_or_else(Vec::new, |counts| counts.rejected.clone());
    let first = counts.and_then(|counts| counts.first);
    let packed_metric = |metric| match cell.series_of(metric) {
        Some(series) => packed_series(series, cell.valid()),
        None => Some(Numbers::new()),
    };
    let mut lists: ArrayVec<_, METRICS> = Metric::ALL.into_iter().map(packed_metric).collect();
    trim(&mut lists, |_| Some(Numbers::new()));
    let CellStep {
        cpus,
        variant,
        value,
        operations,
    } = cell.step;
    let named = NamedParts {
        scenario_method: key.method,
        scenario_helper: key.helper,
        cpu: (u32::from(cell.cpu) != *index).then_some(cell.cpu),
        step: (!cell.step.is_only()).then_some((cpus, variant, value, operations)),
        first: if first == usual_first(&rejected) {
            None
        } else {
            first
        },
        rejected,
        skipped: cell.skipped,
        helper: cell.helper,
        wake_source: cell.wake_source,
        power_state: cell.power_state,
        state_and_times: match cell.reached {
            // The usual case, which the reader assumes.
            Some(reached) if (reached.state, reached.times) == (Some(reached.due), 1) => None,
            Some(reached) => Some((reached.state, reached.times)),
            None => None,
        },
        kept_power: cell.kept_power,
        lost: cell.lost,
        longest_gaps: cell
            .longest_gaps
            .iter()
            .map(|gap| (gap.length, gap.begin))
            .take(LONGEST_GAPS)
            .collect(),
    };
    PackedCell(
        key.id,
        *index,
        counts.map(|counts| counts.valid),
        lists,
        cell.shown.map_or_else(Numbers::new, packed_instants),
        cell.reached
            .map(|reached| PackedReached(reached.due, reached.residency_us, reached.most_us)),
        named,
    )
    .serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<(ScenarioKey, u32, Cell), D::Error> {
    let PackedCell(id, index, valid, lists, instants, reached, named) =
        PackedCell::deserialize(from)?;
    let step = named
        .step
        .map(|(cpus, variant, value, operations)| CellStep {
            cpus,
            variant,
            value,
            operations,
        });
    let mut series = Vec::new();
    for (metric, list) in Metric::ALL.into_iter().zip(&lists) {
        // An absent metric has an empty list.
        let is_absent = list.as_ref().is_some_and(|numbers| numbers.is_empty());
        if !is_absent {
            series.push(unpacked_series(metric, list.as_deref(), valid.unwrap_or(0)));
        }
    }
    let mut cell = Cell {
        cpu: named.cpu.unwrap_or_else(|| cpu_of(index)),
        step: step.unwrap_or_default(),
        skipped: named.skipped,
        helper: named.helper,
        wake_source: named.wake_source,
        power_state: named.power_state,
        reached: reached.map(|PackedReached(due, residency_us, most_us)| {
            let (state, times) = named.state_and_times.unwrap_or((Some(due), 1));
            Reached {
                state,
                due,
                times,
                residency_us,
                most_us,
            }
        }),
        kept_power: named.kept_power,
        lost: named.lost,
        longest_gaps: named
            .longest_gaps
            .iter()
            .map(|(length, begin)| Gap {
                begin: *begin,
                length: *length,
            })
            .collect(),
        series,
        counts: valid.map(|valid| Counts {
            valid,
            first: named.first.or(usual_first(&named.rejected)),
            rejected: named.rejected,
        }),
        shown: unpacked_instants(&instants),
        samples: Samples::default(),
    };
    cell.choose_figures(id.is_parallel());
    let key = ScenarioKey {
        id,
        method: named.scenario_method,
        helper: named.scenario_helper,
    };
    Ok((key, index, cell))
}

/// Returns the CPU for a cell's index in TFTF's suite. If the index is too large, returns one that
/// no board uses.
pub(super) fn cpu_of(index: u32) -> CpuIndex {
    u16::try_from(index).unwrap_or(u16::MAX).into()
}

/// Returns the default for the first rejection: the first reason, without details.
fn usual_first(rejected: &[(Reason, u32)]) -> Option<Rejection> {
    rejected
        .first()
        .map(|(reason, _)| Rejection::plain(*reason))
}

/// Removes default values from the end of the list, but always keeps the first value.
fn trim<T: PartialEq, const MOST: usize>(list: &mut ArrayVec<T, MOST>, usual: impl Fn(usize) -> T) {
    while let [_, .., last] = list.as_slice()
        && *last == usual(list.len() - 1)
    {
        list.pop();
    }
}

/// Returns the default value at an index in a series: None for the percentile, otherwise 0.
fn usual_series_value(index: usize) -> Option<i64> {
    (index != 5).then_some(0)
}

/// Returns the list for a series in a cell with `valid` samples, or None if it has no samples.
fn packed_series(series: &Series, valid: u32) -> Option<Numbers<SERIES>> {
    let summary = &series.summary;
    if summary.n == 0 && series.cold.is_none() {
        return None;
    }
    let distance = |ticks: u64| Some(ticks.wrapping_sub(summary.median).cast_signed());
    let mut list = Numbers::from([
        Some(summary.median.cast_signed()),
        Some(summary.median.wrapping_sub(summary.min).cast_signed()),
        distance(summary.max),
        series.cold.and_then(distance),
        Some(summary.mad.cast_signed()),
        summary.p99.and_then(distance),
        Some(i64::from(summary.n) - i64::from(valid)),
    ]);
    trim(&mut list, usual_series_value);
    Some(list)
}

/// Returns the series for a list from [`packed_series`].
fn unpacked_series(metric: Metric, list: Option<&[Option<i64>]>, valid: u32) -> Series {
    let Some(list) = list else {
        return Series::new(metric);
    };
    let value_at = |index: usize| {
        list.get(index)
            .copied()
            .unwrap_or_else(|| usual_series_value(index))
    };
    let number = |index| value_at(index).unwrap_or(0).cast_unsigned();
    let median = number(0);
    let ticks_at = |index| value_at(index).map(|ticks| median.wrapping_add_signed(ticks));
    Series {
        summary: Summary {
            n: (number(6) as u32).wrapping_add(valid),
            min: median.wrapping_sub(number(1)),
            median,
            p99: ticks_at(5),
            max: median.wrapping_add(number(2)),
            mad: number(4),
        },
        cold: ticks_at(3),
        ..Series::new(metric)
    }
}

/// Returns the list for a sample's instants.
fn packed_instants(instants: Instants) -> Numbers<SAMPLE> {
    let mut list = Numbers::new();
    list.push(Some(instants.base.cast_signed()));
    list.extend(instants.intervals());
    trim(&mut list, |_| None);
    list
}

/// Returns the instants for a list from [`packed_instants`]; None if it is empty.
fn unpacked_instants(list: &[Option<i64>]) -> Option<Instants> {
    let (base, intervals) = list.split_first()?;
    let base = base.unwrap_or(0).cast_unsigned();
    Some(Instants::from_intervals(base, intervals.iter().copied()))
}
