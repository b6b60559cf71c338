//! The short form of a cell in a record. Its size matters because cells make up most of a log.
//!
//! A cell is a list of these elements:
//! * the scenario's tag, the cell's position, and the number of valid samples. In TFTF's suite, a
//!   cell's position is its CPU's index;
//! * a list for each of [`Metric::ALL`], empty if there are no samples. The list contains the
//!   median, how far the minimum is below the median, how far the maximum and the very first sample
//!   are above the median, the MAD, how far the 99th percentile is above the median, and by how
//!   much the number of samples exceeds the cell's. A metric that is in the cell but has no samples
//!   is null;
//! * the base of [`Cell::shown`], and the steps from one instant to the next; null if there are
//!   none;
//! * `due`, `residency_us` and `most_us` from [`Reached`];
//! * everything else by name: `cpu` is omitted if it equals the position, and `step` if there is
//!   only one; `first` is omitted if it contains the first reason in `rejected` and no detail;
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

use crate::measure::{INSTANTS, Instants, Loss, METRICS, Metric, Reason, Rejection, Summary};
use crate::model::{
    Cell, CellStep, Counts, Samples, ScenarioKey, Series, Skip, WakeSource, is_tftf,
};
use crate::plan::{ActiveCpus, Method, ScenarioId, Variant};

/// Up to `MOST` numbers, null if missing. They are kept off the heap, which is small during a run.
type Numbers<const MOST: usize> = ArrayVec<Option<i64>, MOST>;

/// The number of values for a series, and for a sample's instants.
const SERIES: usize = 7;
const SAMPLE: usize = 1 + INSTANTS;

#[derive(Serialize, Deserialize)]
struct Packed(
    ScenarioId,
    u32,
    Option<u32>,
    ArrayVec<Option<Numbers<SERIES>>, METRICS>,
    Numbers<SAMPLE>,
    Option<(u32, u32, Option<u64>)>,
    Named,
);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    /// The scenario's method and helper.
    #[serde(default, skip_serializing_if = "is_tftf")]
    m: Method,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    h: Option<CpuIndex>,
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
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rose: Option<(Option<u32>, u8)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lost: Option<Loss>,
}

pub(super) fn serialize<S: Serializer>(
    (key, place, cell): &(ScenarioKey, u32, Cell),
    to: S,
) -> Result<S::Ok, S::Error> {
    let counts = cell.counts.as_ref();
    let rejected = counts.map_or_else(Vec::new, |it| it.rejected.clone());
    let first = counts.and_then(|it| it.first);
    let mut series: ArrayVec<_, METRICS> = ArrayVec::new();
    series.extend(Metric::ALL.into_iter().map(|metric| {
        let own = cell.series_of(metric);
        own.map_or_else(
            || Some(Numbers::new()),
            |it| packed_series(it, cell.valid()),
        )
    }));
    trim(&mut series, |_| Some(Numbers::new()));
    let CellStep {
        cpus,
        variant,
        value,
        operations,
    } = cell.step;
    let named = Named {
        m: key.method,
        h: key.helper,
        cpu: (u32::from(cell.cpu) != *place).then_some(cell.cpu),
        step: (!cell.step.is_only()).then_some((cpus, variant, value, operations)),
        first: first.filter(|_| first != usual_first(&rejected)),
        rejected,
        skipped: cell.skipped,
        helper: cell.helper,
        wake_source: cell.wake_source,
        power_state: cell.power_state,
        rose: cell
            .reached
            .filter(|it| (it.state, it.times) != (Some(it.due), 1))
            .map(|it| (it.state, it.times)),
        lost: cell.lost,
    };
    let at = cell.shown.map_or_else(Numbers::new, packed_instants);
    let reached = cell.reached.map(|it| (it.due, it.residency_us, it.most_us));
    let n = counts.map(|it| it.valid);
    Packed(key.id, *place, n, series, at, reached, named).serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<(ScenarioKey, u32, Cell), D::Error> {
    let Packed(id, place, n, lists, at, reached, named) = Packed::deserialize(from)?;
    let lists = Metric::ALL.into_iter().zip(&lists);
    let lists = lists.filter(|(_, list)| list.as_ref().is_none_or(|it| !it.is_empty()));
    let step = named.step.map(|(how, variant, x, per)| CellStep {
        cpus: how,
        variant,
        value: x,
        operations: per,
    });
    let mut cell = Cell {
        cpu: named.cpu.unwrap_or_else(|| cpu_of(place)),
        step: step.unwrap_or_default(),
        skipped: named.skipped,
        helper: named.helper,
        wake_source: named.wake_source,
        power_state: named.power_state,
        reached: reached.map(|(due, residency_us, most_us)| {
            let (state, times) = named.rose.unwrap_or((Some(due), 1));
            Reached {
                state,
                due,
                times,
                residency_us,
                most_us,
            }
        }),
        lost: named.lost,
        series: lists
            .map(|(metric, list)| series(metric, list.as_deref(), n.unwrap_or(0)))
            .collect(),
        counts: n.map(|valid| Counts {
            valid,
            first: named.first.or(usual_first(&named.rejected)),
            rejected: named.rejected,
        }),
        shown: instants(&at),
        samples: Samples::default(),
    };
    cell.choose_figures(id.is_parallel());
    let key = ScenarioKey {
        id,
        method: named.m,
        helper: named.h,
    };
    Ok((key, place, cell))
}

/// Returns the CPU for a cell's position in TFTF's suite. If the position is too large, returns an
/// index that no board uses.
pub(super) fn cpu_of(place: u32) -> CpuIndex {
    u16::try_from(place).unwrap_or(u16::MAX).into()
}

fn usual_first(rejected: &[(Reason, u32)]) -> Option<Rejection> {
    rejected.first().map(|it| Rejection::plain(it.0))
}

/// Removes default values from the end of the list, but always keeps the first value.
fn trim<T: PartialEq, const MOST: usize>(list: &mut ArrayVec<T, MOST>, usual: impl Fn(usize) -> T) {
    while let [_, .., last] = list.as_slice()
        && *last == usual(list.len() - 1)
    {
        list.pop();
    }
}

/// Returns the default value at a position in a series: None for the percentile, otherwise 0.
fn usual_of_series(place: usize) -> Option<i64> {
    (place != 5).then_some(0)
}

fn packed_series(it: &Series, valid: u32) -> Option<Numbers<SERIES>> {
    let summary = &it.summary;
    if summary.n == 0 && it.cold.is_none() {
        return None;
    }
    let from_median = |ticks: u64| Some(ticks.wrapping_sub(summary.median).cast_signed());
    let mut list = Numbers::from([
        Some(summary.median.cast_signed()),
        Some(summary.median.wrapping_sub(summary.min).cast_signed()),
        from_median(summary.max),
        it.cold.and_then(from_median),
        Some(summary.mad.cast_signed()),
        summary.p99.and_then(from_median),
        Some(i64::from(summary.n) - i64::from(valid)),
    ]);
    trim(&mut list, usual_of_series);
    Some(list)
}

fn series(metric: Metric, list: Option<&[Option<i64>]>, valid: u32) -> Series {
    let Some(list) = list else {
        return Series::new(metric);
    };
    let at = |place: usize| {
        list.get(place)
            .copied()
            .unwrap_or_else(|| usual_of_series(place))
    };
    let number = |place| at(place).unwrap_or(0).cast_unsigned();
    let median = number(0);
    let from_median = |place| at(place).map(|it| median.wrapping_add_signed(it));
    Series {
        summary: Summary {
            n: (number(6) as u32).wrapping_add(valid),
            min: median.wrapping_sub(number(1)),
            median,
            p99: from_median(5),
            max: median.wrapping_add(number(2)),
            mad: number(4),
        },
        cold: from_median(3),
        ..Series::new(metric)
    }
}

fn packed_instants(it: Instants) -> Numbers<SAMPLE> {
    let mut list = Numbers::new();
    list.push(Some(it.base.cast_signed()));
    list.extend(it.steps());
    trim(&mut list, |_| None);
    list
}

fn instants(list: &[Option<i64>]) -> Option<Instants> {
    let (base, steps) = list.split_first()?;
    let base = base.unwrap_or(0).cast_unsigned();
    Some(Instants::from_steps(base, steps.iter().copied()))
}
