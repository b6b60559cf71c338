//! The short form of a row in its record: rows are most of a log's bytes.
//!
//! A row is a list of
//! * the scenario's tag, the CPU's index, and the number of valid samples;
//! * a list for each of [`Metric::ALL`], empty without samples: the median; by how much the
//!   least is below it; by how much the greatest, the first sample of all and the 99th
//!   percentile are above it; MAD; by how much the number of samples is above that of the row;
//! * the base of [`Row::shown`], and the steps from one instant to the next, null where there
//!   is none;
//! * `due`, `residency_us` and `most_us` of [`Reached`];
//! * all else by name: `first` is left out if it is of the first reason of `rejected` and has
//!   no detail; `figures` are left out if they are those of the instants or, in serial
//!   scenarios, the medians; `rose` has `state` and `times` of [`Reached`], and is left out if
//!   the state that was due rose by one.
//!
//! Usual numbers at the end of a list are left out.

use alloc::vec::Vec;

use arrayvec::ArrayVec;
use hardware::spec::stat::Reached;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::measure::{INSTANTS, Instants, Loss, METRICS, Metric, Reason, Rejection, Summary};
use crate::model::{Attempts, Figures, Row, Samples, ScenarioKey, Skip, Statistic, is_tftf};
use crate::plan::{Method, ScenarioId, short_tag};

/// At most so many numbers, null where there is none; without heap, which a run has little of.
type Numbers<const MOST: usize> = ArrayVec<Option<i64>, MOST>;

/// Numbers of a statistic, and of the instants of a sample.
const STATISTIC: usize = 7;
const SAMPLE: usize = 1 + INSTANTS;

#[derive(Serialize, Deserialize)]
struct Packed(
    #[serde(with = "short_tag")] ScenarioId,
    u16,
    Option<u32>,
    ArrayVec<Numbers<STATISTIC>, METRICS>,
    Numbers<SAMPLE>,
    Option<(u32, u32, Option<u64>)>,
    Named,
);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    /// Method and helper of the scenario.
    #[serde(default, skip_serializing_if = "is_tftf")]
    m: Method,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    h: Option<u16>,
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
    rose: Option<(Option<u32>, u8)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    lost: Option<Loss>,
}

pub(super) fn serialize<S: Serializer>(
    (key, row): &(ScenarioKey, Row),
    to: S,
) -> Result<S::Ok, S::Error> {
    let attempts = row.attempts.as_ref();
    let rejected = attempts.map_or_else(Vec::new, |it| it.rejected.clone());
    let first = attempts.and_then(|it| it.first);
    let mut stat: ArrayVec<_, METRICS> = ArrayVec::new();
    stat.extend(Metric::ALL.into_iter().map(|metric| {
        let own = row.statistics.iter().find(|it| it.metric == metric);
        own.map_or_else(Numbers::new, |it| packed_statistic(it, row.valid()))
    }));
    trim(&mut stat, |_| Numbers::new());
    let named = Named {
        m: key.method,
        h: key.helper,
        first: first.filter(|_| first != usual_first(&rejected)),
        rejected,
        figures: Some(row.figures).filter(|it| *it != usual_figures(key.id, row)),
        skipped: row.skipped,
        helper: row.helper,
        rose: row
            .reached
            .filter(|it| (it.state, it.times) != (Some(it.due), 1))
            .map(|it| (it.state, it.times)),
        lost: row.lost,
    };
    let at = row.shown.map_or_else(Numbers::new, packed_instants);
    let reached = row.reached.map(|it| (it.due, it.residency_us, it.most_us));
    let n = attempts.map(|it| it.valid);
    Packed(key.id, row.cpu, n, stat, at, reached, named).serialize(to)
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    from: D,
) -> Result<(ScenarioKey, Row), D::Error> {
    let Packed(id, cpu, n, stat, at, reached, named) = Packed::deserialize(from)?;
    let lists = Metric::ALL.into_iter().zip(&stat);
    let lists = lists.filter(|(_, list)| !list.is_empty());
    let mut row = Row {
        cpu,
        figures: Figures::default(),
        skipped: named.skipped,
        helper: named.helper,
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
        statistics: lists
            .map(|(metric, list)| statistic(metric, list, n.unwrap_or(0)))
            .collect(),
        attempts: n.map(|valid| Attempts {
            valid,
            first: named.first.or(usual_first(&named.rejected)),
            rejected: named.rejected,
        }),
        shown: instants(&at),
        samples: Samples::default(),
    };
    row.figures = named.figures.unwrap_or_else(|| usual_figures(id, &row));
    let key = ScenarioKey {
        id,
        method: named.m,
        helper: named.h,
    };
    Ok((key, row))
}

fn usual_first(rejected: &[(Reason, u32)]) -> Option<Rejection> {
    rejected.first().map(|it| Rejection::plain(it.0))
}

fn usual_figures(id: ScenarioId, row: &Row) -> Figures {
    Figures::of(&mut |metric| match id.is_parallel() {
        true => row.shown?.metric(metric),
        false => row.summary(metric).map(|it| it.median),
    })
}

/// Leaves out numbers at the end that are as usual, but for the first.
fn trim<T: PartialEq, const MOST: usize>(list: &mut ArrayVec<T, MOST>, usual: impl Fn(usize) -> T) {
    while let [_, .., last] = list.as_slice()
        && *last == usual(list.len() - 1)
    {
        list.pop();
    }
}

/// Returns the usual number at a place of a statistic: there is no percentile.
fn usual_of_statistic(place: usize) -> Option<i64> {
    (place != 5).then_some(0)
}

fn packed_statistic(it: &Statistic, valid: u32) -> Numbers<STATISTIC> {
    let summary = &it.summary;
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
    trim(&mut list, usual_of_statistic);
    list
}

fn statistic(metric: Metric, list: &[Option<i64>], valid: u32) -> Statistic {
    let at = |place: usize| {
        list.get(place)
            .copied()
            .unwrap_or_else(|| usual_of_statistic(place))
    };
    let number = |place| at(place).unwrap_or(0).cast_unsigned();
    let median = number(0);
    let from_median = |place| at(place).map(|it| median.wrapping_add_signed(it));
    Statistic {
        metric,
        summary: Summary {
            n: (number(6) as u32).wrapping_add(valid),
            min: median.wrapping_sub(number(1)),
            median,
            p99: from_median(5),
            max: median.wrapping_add(number(2)),
            mad: number(4),
        },
        cold: from_median(3),
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
