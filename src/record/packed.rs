//! The short form of a row in its record: rows are most of a log's bytes.
//!
//! * `n` is the number of valid samples, and `reached` the fields of [`Reached`] in their
//!   order.
//! * `at` is the base of [`Row::shown`], and each instant as its distance from the one
//!   before, null where there is none.
//! * `figures` are left out if they are those of `at`.
//! * `stat` has a list for each of [`Metric::ALL`], empty without samples: the median; least,
//!   greatest, cold and 99th percentile as distances from the median, MAD, and the number
//!   of samples as its distance from `n`. Usual values at the end of a list are left out.

use alloc::vec::Vec;

use arrayvec::ArrayVec;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::measure::{Loss, METRICS, Metric, Reason, Rejection, Summary};
use crate::model::{Attempts, Figures, Instant, Instants, Row, Samples, Skip, Statistic};
use crate::spec::stat::Reached;

/// At most so many numbers, null where there is none; without heap, which a run has little of.
type Numbers<const MOST: usize> = ArrayVec<Option<i64>, MOST>;

/// Numbers of a statistic, and of the instants of a sample.
const STATISTIC: usize = 7;
const SAMPLE: usize = 1 + Instant::ALL.len();

/// The fields of [`Reached`].
type Reading = (Option<u32>, u32, u8, u32, Option<u64>);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Packed {
    cpu: u16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    n: Option<u32>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rejected: Vec<(Reason, u32)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    first: Option<Rejection>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    figures: Option<Figures>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    skipped: Option<Skip>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    helper: Option<u16>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reached: Option<Reading>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lost: Option<Loss>,
    #[serde(default, skip_serializing_if = "ArrayVec::is_empty")]
    stat: ArrayVec<Numbers<STATISTIC>, METRICS>,
    #[serde(default, skip_serializing_if = "ArrayVec::is_empty")]
    at: Numbers<SAMPLE>,
}

pub(super) fn serialize<S: Serializer>(row: &Row, to: S) -> Result<S::Ok, S::Error> {
    let attempts = row.attempts.as_ref();
    let figures = row.shown.map_or_else(Figures::default, figures_of);
    let mut stat: ArrayVec<_, METRICS> = ArrayVec::new();
    stat.extend(Metric::ALL.into_iter().map(|metric| {
        let own = row.statistics.iter().find(|it| it.metric == metric);
        own.map_or_else(Numbers::new, |it| packed_statistic(it, row.valid()))
    }));
    trim(&mut stat, |_| Numbers::new());
    let packed = Packed {
        cpu: row.cpu,
        n: attempts.map(|it| it.valid),
        rejected: attempts.map_or_else(Vec::new, |it| it.rejected.clone()),
        first: attempts.and_then(|it| it.first),
        figures: Some(row.figures).filter(|it| *it != figures),
        skipped: row.skipped,
        helper: row.helper,
        reached: row
            .reached
            .map(|it| (it.state, it.due, it.times, it.residency_us, it.most_us)),
        lost: row.lost,
        stat,
        at: row.shown.map_or_else(Numbers::new, packed_instants),
    };
    packed.serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Row, D::Error> {
    let packed = Packed::deserialize(from)?;
    let attempts = packed.n.map(|valid| Attempts {
        valid,
        rejected: packed.rejected,
        first: packed.first,
    });
    let shown = (!packed.at.is_empty()).then(|| instants(&packed.at));
    let of_shown = || shown.map_or_else(Figures::default, figures_of);
    let all = Metric::ALL.into_iter().zip(&packed.stat);
    let lists = all.filter(|(_, list)| !list.is_empty());
    let reached = |(state, due, times, residency_us, most_us)| Reached {
        state,
        due,
        times,
        residency_us,
        most_us,
    };
    Ok(Row {
        cpu: packed.cpu,
        figures: packed.figures.unwrap_or_else(of_shown),
        skipped: packed.skipped,
        helper: packed.helper,
        reached: packed.reached.map(reached),
        lost: packed.lost,
        statistics: lists
            .map(|(metric, list)| statistic(metric, list, packed.n.unwrap_or(0)))
            .collect(),
        attempts,
        shown,
        samples: Samples::default(),
    })
}

fn figures_of(shown: Instants) -> Figures {
    Figures::of(&mut |metric| shown.figure(metric))
}

/// Returns the usual number at a place of a statistic: there is no percentile.
fn usual(place: usize) -> Option<i64> {
    (place != 5).then_some(0)
}

/// Leaves out numbers at the end that are as usual, but for the first.
fn trim<T: PartialEq, const MOST: usize>(list: &mut ArrayVec<T, MOST>, usual: impl Fn(usize) -> T) {
    while let [_, .., last] = list.as_slice()
        && *last == usual(list.len() - 1)
    {
        list.pop();
    }
}

fn packed_statistic(it: &Statistic, valid: u32) -> Numbers<STATISTIC> {
    let summary = &it.summary;
    let from_median = |ticks: u64| Some(ticks.wrapping_sub(summary.median).cast_signed());
    let mut list = Numbers::from([
        Some(summary.median.cast_signed()),
        from_median(summary.min),
        from_median(summary.max),
        it.cold.and_then(from_median),
        Some(summary.mad.cast_signed()),
        summary.p99.and_then(from_median),
        Some(i64::from(summary.n) - i64::from(valid)),
    ]);
    trim(&mut list, usual);
    list
}

fn statistic(metric: Metric, list: &[Option<i64>], valid: u32) -> Statistic {
    let at = |place: usize| list.get(place).copied().unwrap_or_else(|| usual(place));
    let number = |place| at(place).unwrap_or(0).cast_unsigned();
    let median = number(0);
    let from_median = |place| at(place).map(|it| median.wrapping_add_signed(it));
    Statistic {
        metric,
        summary: Summary {
            n: (number(6) as u32).wrapping_add(valid),
            min: from_median(1).unwrap_or(median),
            median,
            p99: from_median(5),
            max: from_median(2).unwrap_or(median),
            mad: number(4),
        },
        cold: from_median(3),
    }
}

fn packed_instants(it: Instants) -> Numbers<SAMPLE> {
    let mut list = Numbers::new();
    list.push(Some(it.base.cast_signed()));
    let mut before = 0;
    list.extend(Instant::ALL.into_iter().map(|instant| {
        let ticks = it.at(instant)?;
        Some(ticks.wrapping_sub(core::mem::replace(&mut before, ticks)))
    }));
    trim(&mut list, |_| None);
    list
}

fn instants(list: &[Option<i64>]) -> Instants {
    let base = list.first().copied().flatten().unwrap_or(0);
    let mut instants = Instants::new(base.cast_unsigned());
    let mut ticks = 0i64;
    for (instant, more) in Instant::ALL.into_iter().zip(list.iter().skip(1)) {
        if let Some(more) = more {
            ticks = ticks.wrapping_add(*more);
            instants.set(instant, ticks);
        }
    }
    instants
}
