//! `point` and `hist` records.

use std::collections::HashMap;

use psci_bench::model::{How, Measure, WakeSource};
use psci_bench::record::line::Type;
use psci_bench::record::parse::Record;
use psci_bench::spec::words::Word as _;

use super::number;
use super::parts::Parts;
use super::values::put;
use crate::report::model::{Class, Histogram, Measured, Term};

/// The points of a scenario, and histograms.
#[derive(Debug, Default)]
pub(in crate::report::log) struct Points {
    points: Vec<PointParts>,
    /// Where in `points` the point of these leading keys is.
    by_key: HashMap<Box<str>, usize>,
    /// By the leading keys of the point, `x` apart, which is in none.
    histograms: HashMap<Box<str>, Histogram>,
}

/// A point in the making.
#[derive(Debug)]
struct PointParts {
    mpidr: u64,
    how: Term<How>,
    variant: String,
    x: Option<u64>,
    metric: Term<Measure>,
    per: Option<u32>,
    parts: Parts,
    lost: Option<u64>,
    wake_source: WakeSource,
}

impl PointParts {
    fn of(record: &Record<'_>) -> Option<Self> {
        Some(Self {
            mpidr: number(word(record, "mpidr")?)?,
            how: Term::of(word(record, "how")?),
            variant: word(record, "var")?.to_owned(),
            x: match word(record, "x") {
                Some(x) => Some(number(x)?),
                None => None,
            },
            metric: Term::of(word(record, "metric")?),
            per: None,
            parts: Parts::default(),
            lost: None,
            wake_source: WakeSource::OwnTimers,
        })
    }

    fn key(&self, x: Option<u64>) -> Box<str> {
        let x = x.map_or(String::new(), |x| x.to_string());
        let (mpidr, how, metric) = (self.mpidr, &self.how, &self.metric);
        format!("{mpidr} {how} {} {x} {metric}", self.variant).into()
    }
}

fn word<'r>(record: &Record<'r>, name: &str) -> Option<&'r str> {
    let found = record.fields().find(|field| field.0 == name);
    found.map(|field| field.1)
}

impl Points {
    /// Takes a record in; false where one of its values can not be.
    pub(super) fn record(&mut self, record: &Record<'_>) -> bool {
        let Some(own) = PointParts::of(record) else {
            return false;
        };
        if record.kind == Type::Histogram {
            return self.classes(record, &own).is_some();
        }
        let count = self.points.len();
        let index = *self.by_key.entry(own.key(own.x)).or_insert(count);
        if index == count {
            self.points.push(own);
        }
        let Some(point) = self.points.get_mut(index) else {
            return false;
        };
        record.fields().fold(true, |sound, (key, value)| {
            sound
                & match key {
                    "t" | "by" | "mpidr" | "how" | "var" | "x" | "metric" => true,
                    "per" => put(&mut point.per, value) && point.per != Some(0),
                    "lost" => put(&mut point.lost, value),
                    "woken_by" => {
                        point.wake_source = WakeSource::Helper;
                        true
                    }
                    "waker" => {
                        let known = WakeSource::from_word(value);
                        point.wake_source = known.unwrap_or_default();
                        known.is_some()
                    }
                    _ => point.parts.set(key, value),
                }
        })
    }

    /// Takes a part of a histogram in.
    fn classes(&mut self, record: &Record<'_>, of: &PointParts) -> Option<()> {
        let width = number(word(record, "step")?)?;
        let from = number(word(record, "from")?)?;
        let counts = word(record, "c")?
            .split(',')
            .map(|count| count.parse().ok());
        let counts: Vec<u64> = counts.collect::<Option<_>>()?;
        // Behind all that is from there on, there is nothing.
        if width == 0 && counts.len() > 1 {
            return None;
        }
        let to = self.histograms.entry(of.key(None)).or_default();
        let begins = |place: u64| from.checked_add(place.checked_mul(width)?);
        for (place, count) in (0u64..).zip(counts).filter(|it| it.1 > 0) {
            let from = begins(place)?;
            to.classes.push(Class { from, width, count });
        }
        Some(())
    }

    /// The MPIDRs that are named.
    pub(super) fn mpidrs(&self) -> impl Iterator<Item = u64> {
        self.points.iter().map(|it| it.mpidr)
    }

    /// The points that are whole, of the CPUs that `cpu` knows. A histogram
    /// that has not all of the point's samples is none.
    pub(in crate::report::log) fn settle(
        self,
        cpu: impl Fn(u64) -> Option<usize>,
    ) -> Vec<Measured> {
        let whole = |it: PointParts| {
            let summary = it.parts.whole()?;
            let histogram = self.histograms.get(&it.key(None)).cloned();
            let histogram = histogram.map(|mut it| {
                it.classes.sort_unstable_by_key(|class| class.from);
                it
            });
            Some(Measured {
                cpu: cpu(it.mpidr)?,
                histogram: histogram.filter(|it| it.count() == Some(u64::from(summary.n))),
                how: it.how,
                variant: it.variant,
                x: it.x,
                metric: it.metric,
                per: it.per.filter(|per| *per > 0)?,
                summary,
                lost: it.lost.unwrap_or(0),
                wake_source: it.wake_source,
            })
        };
        self.points.into_iter().filter_map(whole).collect()
    }
}
