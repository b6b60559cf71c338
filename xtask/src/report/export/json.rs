//! `json`: everything that the model holds; docs/report.md describes it.
//!
//! Samples may be millions: they are written one by one, and never make a
//! tree in memory.

use std::io::Write;

use anyhow::Result;
use psci_bench::measure::Summary;
use psci_bench::model::{Unit, Verdict};
use serde::Serialize;
use serde::ser::{SerializeMap, Serializer};
use serde_json::{Map, Value, json};

use super::cpu_names;
use super::exporter::{Exporter, Options, Report, Takes};
use super::matrix::{self, hex};
use crate::report::analysis::compare::{
    Amount, Change, Comparison, PointChange, Value as Compared,
};
use crate::report::analysis::explain::{Confidence, Finding, explain};
use crate::report::analysis::merge::Merged;
use crate::report::model::{
    Class, Facts, Histogram, Instants, Integrity, Measured, Other, Plan, Point, Row, Run, Sample,
    Term, Test, Why,
};

/// The exporter.
pub(super) struct Json;

/// The version of the schema: it changes when a key changes its meaning or
/// goes; keys may come at any time.
const VERSION: u32 = 1;

impl Exporter for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn about(&self) -> &'static str {
        "everything, in a versioned schema"
    }

    fn takes(&self) -> Takes {
        Takes::RESULTS
    }

    fn write(&self, report: &Report, _: &Options, out: &mut dyn Write) -> Result<()> {
        serde_json::to_writer_pretty(&mut *out, &Whole(report))?;
        writeln!(out)?;
        Ok(())
    }
}

/// Something with its run, which tells ticks as time.
struct Of<'r, T>(&'r Run, T);

struct Whole<'r>(&'r Report);

impl Serialize for Whole<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("schema", "psci-bench-report")?;
        map.serialize_entry("version", &VERSION)?;
        map.serialize_entry("runs", &List(|| self.0.runs.iter().map(|run| Of(run, ()))))?;
        if let Some(merged) = &self.0.merged {
            map.serialize_entry("merged", &merged_value(merged))?;
        }
        if let Some(matrix) = &self.0.matrix {
            map.serialize_entry("matrix", &matrix::value(matrix, &self.0.runs))?;
        }
        if !self.0.comparisons.is_empty() {
            let comparisons = self.0.comparisons.iter().filter_map(|it| {
                let run = self.0.runs.get(it.run)?;
                Some(compared(run, it))
            });
            map.serialize_entry("comparisons", &comparisons.collect::<Vec<_>>())?;
        }
        map.end()
    }
}

/// A sequence that is made as it is written.
struct List<F>(F);

impl<F, I> Serialize for List<F>
where
    F: Fn() -> I,
    I: Iterator<Item: Serialize>,
{
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq((self.0)())
    }
}

impl Serialize for Of<'_, ()> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let run = self.0;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry(
            "source",
            &json!({
                "input": run.source.input,
                "run": run.source.place,
                "lines": run.source.lines,
                "bytes": run.source.bytes,
            }),
        )?;
        map.serialize_entry("payload", &run.version)?;
        map.serialize_entry("model", &run.model)?;
        map.serialize_entry("labels", &run.labels)?;
        map.serialize_entry("complete", &run.is_complete())?;
        map.serialize_entry("verified", &run.integrity.is_verified())?;
        map.serialize_entry("closing", &run.closing.as_ref().map(|it| &it.line))?;
        let verdict = run.verdict().map(|it| match it {
            Verdict::Pass => "pass",
            Verdict::Fail => "fail",
            Verdict::Incomplete => "incomplete",
            Verdict::BadInput => "bad-input",
        });
        map.serialize_entry("verdict", &verdict)?;
        map.serialize_entry("doubts", &run.doubts())?;
        map.serialize_entry("hz", &run.clock().hz)?;
        map.serialize_entry("facts", &facts(&run.facts))?;
        map.serialize_entry("plan", &plan(&run.plan))?;
        let firmware = run.firmware.iter().map(
            |stage| json!({"stage": stage.name, "version": stage.version, "built": stage.built}),
        );
        map.serialize_entry("firmware", &firmware.collect::<Vec<_>>())?;
        let cpus = run.cpus.iter().map(|cpu| {
            json!({
                "mpidr": hex(cpu.mpidr), "cluster": cpu.cluster, "core": cpu.core,
                "thread": cpu.thread, "guessed": cpu.guessed, "midr": hex(cpu.midr),
                "name": cpu.midr.and_then(cpu_names::name),
                "caches": cpu.caches.iter().map(|cache| json!({
                    "name": cache.key().to_string(), "bytes": cache.bytes,
                })).collect::<Vec<_>>(),
            })
        });
        map.serialize_entry("cpus", &cpus.collect::<Vec<_>>())?;
        map.serialize_entry("integrity", &integrity(&run.integrity))?;
        map.serialize_entry(
            "tests",
            &List(|| run.tests.iter().map(|test| Of(run, test))),
        )?;
        map.serialize_entry("others", &others(&run.others))?;
        map.end()
    }
}

impl Serialize for Of<'_, &Test> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Of(run, test) = self;
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("scenario", test.scenario.word())?;
        map.serialize_entry("name", test.name())?;
        map.serialize_entry("place", &test.place)?;
        map.serialize_entry("method", test.method.word())?;
        map.serialize_entry("status", test.status.word())?;
        map.serialize_entry("why", &test.why.as_ref().map(why))?;
        map.serialize_entry("pmf", &test.pmf)?;
        map.serialize_entry("power_state", &hex(test.power_state.map(u64::from)))?;
        map.serialize_entry("waker", test.wake_source.word())?;
        map.serialize_entry("helper", &test.helper)?;
        map.serialize_entry("asked", &test.asked)?;
        map.serialize_entry("attempts", &test.attempts)?;
        map.serialize_entry("trials", &test.trials)?;
        map.serialize_entry("sleep", &test.sleep.map(|it| duration(run, it)))?;
        map.serialize_entry("skew", &test.skew.as_ref().map(|it| summary(run, it)))?;
        map.serialize_entry("findings", &test.findings)?;
        let explained = explain(run, test);
        map.serialize_entry("explained", &List(|| explained.iter().map(finding)))?;
        map.serialize_entry("rows", &List(|| test.rows.iter().map(|row| Of(run, row))))?;
        map.serialize_entry(
            "points",
            &List(|| test.points.iter().map(|it| point(run, it))),
        )?;
        map.serialize_entry("others", &others(&test.others))?;
        map.end()
    }
}

/// The classes of a histogram.
fn classes(of: &Histogram) -> Value {
    let class = |it: &Class| json!({"from": it.from, "width": it.width, "count": it.count});
    of.classes.iter().map(class).collect()
}

/// A point: the figures of a sample, and the median as that of one operation.
fn point(run: &Run, it: &Measured) -> Value {
    let is_time = it.unit() == Unit::Ticks;
    let figures = match is_time {
        true => summary(run, &it.summary),
        false => json!({"n": it.summary.n, (it.unit_name(run)): figures(&it.summary)}),
    };
    let histogram = it.histogram.as_ref();
    json!({
        "cpu": it.cpu, "mpidr": hex(run.cpus.get(it.cpu).and_then(|cpu| cpu.mpidr)),
        "how": it.how.word(), "variant": it.variant, "x": it.x, "metric": it.metric.word(),
        "per": it.per, "statistics": figures, "lost": it.lost,
        "operation": {
            "median": (it.each(run, it.summary.median) * 1000.0).round() / 1000.0, "unit": it.unit_name(run),
        },
        "histogram": histogram.map(classes),
    })
}

impl Serialize for Of<'_, &Row> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Of(run, row) = self;
        let cpu = run.cpus.get(row.cpu);
        let figures = |all: &[(Term<_>, u64)]| -> Map<String, Value> {
            let each = all.iter().map(|(metric, ticks)| {
                let metric: &Term<psci_bench::measure::Metric> = metric;
                (metric.word().to_owned(), duration(run, *ticks))
            });
            each.collect()
        };
        let statistics = row.summaries.iter();
        let statistics = statistics.map(|it| (it.0.word().to_owned(), summary(run, &it.1)));
        let reasons = row.reasons.iter();
        let reasons = reasons.map(|it| (it.0.word().to_owned(), it.1.into()));
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("cpu", &row.cpu)?;
        map.serialize_entry("mpidr", &hex(cpu.and_then(|cpu| cpu.mpidr)))?;
        if let Some(helper) = row.helper {
            map.serialize_entry("woken_by", &helper)?;
        }
        map.serialize_entry("skipped", &row.skipped.as_ref().map(why))?;
        map.serialize_entry("verified", &row.verified)?;
        map.serialize_entry("valid", &row.valid)?;
        map.serialize_entry("rejected", &row.rejected)?;
        map.serialize_entry("figures", &figures(&row.figures))?;
        map.serialize_entry("statistics", &statistics.collect::<Map<String, Value>>())?;
        map.serialize_entry("reasons", &reasons.collect::<Map<String, Value>>())?;
        map.serialize_entry("first_rejection", &row.first_rejection.as_ref().map(why))?;
        map.serialize_entry("cold", &figures(&row.cold))?;
        let reached = row.reached.map(|it| {
            json!({
                "due": hex(it.due.map(u64::from)), "state": hex(it.state.map(u64::from)),
                "rose": it.rose, "residency_us": it.residency_us,
            })
        });
        map.serialize_entry("reached", &reached)?;
        map.serialize_entry("lost", &row.lost.as_ref().map(why))?;
        map.serialize_entry("event", &row.event.as_ref().map(Moments))?;
        map.serialize_entry("samples", &List(|| row.samples.iter().map(Place)))?;
        map.end()
    }
}

/// Instants: the base, and ticks from it, by the records' keys.
struct Moments<'i>(&'i Instants);

impl Serialize for Moments<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        moments(&mut map, self.0)?;
        map.end()
    }
}

struct Place<'s>(&'s Sample);

impl Serialize for Place<'_> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("k", &self.0.place)?;
        moments(&mut map, &self.0.instants)?;
        map.end()
    }
}

fn moments<M: SerializeMap>(map: &mut M, instants: &Instants) -> Result<(), M::Error> {
    map.serialize_entry("base", &instants.base)?;
    for point in Point::ALL {
        if let Some(ticks) = instants.at(point) {
            map.serialize_entry(point.key(), &ticks)?;
        }
    }
    Ok(())
}

fn facts(facts: &Facts) -> Value {
    json!({
        "counter": facts.counter, "timer": facts.timer, "timer_intid": facts.timer_intid,
        "frame": hex(facts.frame), "frame_intid": facts.frame_intid,
        "el": facts.el, "gic": facts.gic, "conduit": facts.conduit.as_ref().map(Term::word),
        "psci": hex(facts.psci.map(u64::from)),
        "smccc": hex(facts.smccc.map(u64::from)),
        "service": facts.service, "service_revision": facts.service_revision,
        "state_format": facts.state_format.as_ref().map(Term::word),
        "lead": facts.lead, "midr": hex(facts.midr), "name": facts.midr.and_then(cpu_names::name),
        "pmf": hex(facts.pmf.map(u64::from)), "pmf_error": facts.pmf_error,
        "watchdog": hex(facts.watchdog), "stat": facts.stat,
        "overheads": {
            "counter": facts.cost_counter, "empty": facts.cost_empty, "pmf_read": facts.cost_pmf,
        },
        "others": others(&facts.others),
    })
}

fn plan(plan: &Plan) -> Value {
    let methods: Vec<&str> = plan.methods.iter().map(Term::word).collect();
    json!({
        "iterations": plan.iterations, "warmup": plan.warmup, "scenarios": plan.scenarios,
        "methods": methods, "wake": plan.wake.as_ref().map(Term::word),
        "end": plan.end.as_ref().map(Term::word), "samples": plan.samples,
        "deepest": hex(plan.deepest.map(u64::from)), "core": hex(plan.core.map(u64::from)),
        "others": others(&plan.others),
    })
}

fn integrity(integrity: &Integrity) -> Value {
    let records = integrity.records.as_ref().map(|records| {
        let missing = records.missing.iter().map(|missing| {
            json!({
                "first": missing.first, "last": missing.last,
                "type": missing.kind().map(psci_bench::record::line::Type::word),
            })
        });
        json!({
            "format": records.format, "expected": records.expected, "received": records.received,
            "from_second": records.from_second, "mended": records.mended,
            "damaged": records.damaged, "unknown_types": records.unknown_types,
            "malformed": records.malformed, "crcs_match": records.crcs_match,
            "missing": missing.collect::<Vec<_>>(),
        })
    });
    json!({
        "records": records, "unverified_rows": integrity.unverified_rows,
        "rt_instr": integrity.rt_instr, "rt_instr_wrong": integrity.rt_instr_wrong,
        "rt_instr_repeated": integrity.rt_instr_repeated,
        "rt_instr_ambiguous": integrity.rt_instr_ambiguous,
        "derived_rows": integrity.derived_rows, "farewell": integrity.farewell,
    })
}

fn merged_value(merged: &Merged) -> Value {
    let sources = merged.sources.iter();
    let sources = sources.map(|it| json!({"input": it.input, "run": it.place}));
    let tests = merged.tests.iter().map(|test| {
        let rows = test.rows.iter().map(|row| {
            let cpu = merged.cpus.get(row.cpu);
            json!({
                "cpu": row.cpu, "mpidr": hex(cpu.and_then(|cpu| cpu.mpidr)),
                "metric": row.metric.word(), "shown_ticks": row.shown,
                "verified": row.doubtful.iter().map(|it| !it).collect::<Vec<_>>(),
                "pooled_ticks": row.pooled.as_ref().map(ticks),
            })
        });
        json!({
            "scenario": test.scenario.word(), "method": test.method.word(),
            "power_state": hex(test.power_state.map(u64::from)), "rows": rows.collect::<Vec<_>>(),
            "points": test.points.iter().map(|it| {
                let (point, cpu) = (&it.point, merged.cpus.get(it.point.cpu));
                json!({
                    "cpu": point.cpu, "mpidr": hex(cpu.and_then(|cpu| cpu.mpidr)),
                    "how": point.how.word(), "variant": point.variant, "x": point.x,
                    "metric": point.metric.word(), "per": point.per,
                    "shown": it.shown.iter().map(|it| it.as_ref().map(ticks)).collect::<Vec<_>>(),
                })
            }).collect::<Vec<_>>(),
        })
    });
    json!({"sources": sources.collect::<Vec<_>>(), "tests": tests.collect::<Vec<_>>()})
}

fn duration(run: &Run, ticks: u64) -> Value {
    json!({"ticks": ticks, "ns": run.ns(ticks)})
}

/// A summary in ticks.
fn ticks(it: &Summary) -> Value {
    json!({
        "n": it.n, "min": it.min, "median": it.median, "p99": it.p99, "max": it.max, "mad": it.mad,
    })
}

fn figures(it: &Summary) -> Value {
    json!({"min": it.min, "median": it.median, "p99": it.p99, "max": it.max, "mad": it.mad})
}

/// A summary in both units.
fn summary(run: &Run, it: &Summary) -> Value {
    let ns = |ticks| run.ns(ticks);
    json!({
        "n": it.n,
        "ticks": figures(it),
        "ns": {
            "min": ns(it.min), "median": ns(it.median), "p99": it.p99.and_then(ns),
            "max": ns(it.max), "mad": ns(it.mad),
        },
    })
}

fn why(why: &Why) -> Value {
    json!({"word": why.word, "details": others(&why.details)})
}

fn others(all: &[Other]) -> Map<String, Value> {
    let each = all
        .iter()
        .map(|(key, value)| (key.clone(), Value::from(value.as_str())));
    each.collect()
}

fn finding(it: &Finding) -> Value {
    let basis = it.basis.iter().map(|it| {
        json!({
            "side": it.side.word(), "scenario": it.scenario.word(), "method": it.method.word(),
            "cpu": it.cpu, "label": it.label, "verified": !it.doubtful,
            "metric": it.metric.as_ref().map(Term::word),
        })
    });
    let fit = match it.confidence {
        Confidence::Fit(fit) => json!({
            "n": fit.n, "r2_percent": fit.r2_percent, "residual_ns": fit.residual_ns,
            "by_stamps": fit.by_stamps,
        }),
        _ => Value::Null,
    };
    json!({
        "kind": it.kind.word(), "sentence": it.sentence, "confidence": it.confidence.word(),
        "fit": fit, "basis": basis.collect::<Vec<_>>(),
    })
}

fn compared(run: &Run, it: &Comparison) -> Value {
    let unit = if run.clock().is_known() {
        "ns"
    } else {
        "ticks"
    };
    let mpidr = |run: &Run, cpu: usize| hex(run.cpus.get(cpu).and_then(|cpu| cpu.mpidr));
    let side = |it: &Compared| json!({"figure": it.figure, "interval": it.interval, "verified": !it.doubtful});
    let change = |change: &Change| {
        json!({
            "metric": change.metric.word(), "place": change.place,
            "cpu": change.cpu, "label": run.label(change.cpu), "mpidr": mpidr(run, change.cpu),
            "old_cpu": change.old_cpu, "old_label": it.baseline.label(change.old_cpu),
            "old_mpidr": mpidr(&it.baseline, change.old_cpu),
            "old": side(&change.old), "new": side(&change.new),
            "by_flushes": change.by_flushes, "percent": change.percent(), "outcome": change.outcome.word(),
        })
    };
    let lacking = |(cpu, metric): &(usize, Term<_>)| {
        let metric: &Term<psci_bench::measure::Metric> = metric;
        json!({
            "old_cpu": cpu, "old_label": it.baseline.label(*cpu),
            "old_mpidr": mpidr(&it.baseline, *cpu), "metric": metric.word(),
        })
    };
    let amount = |it: &Amount| json!({"figure": it.figure, "interval": it.interval});
    let point = |change: &PointChange| {
        let of = &change.point;
        json!({
            "how": of.how.word(), "variant": of.variant, "x": of.x, "metric": of.metric.word(),
            "place": change.place, "cpu": of.cpu, "mpidr": mpidr(run, of.cpu),
            "old_cpu": change.old_cpu, "old_mpidr": mpidr(&it.baseline, change.old_cpu),
            "unit": change.unit, "old": amount(&change.old), "new": amount(&change.new),
            "percent": change.percent(), "outcome": change.outcome.word(),
        })
    };
    let tests = it.tests.iter().map(|test| {
        json!({
            "scenario": test.scenario.word(), "method": test.method.word(),
            "judged": test.judged.word(),
            "by_cpu": test.by_cpu.iter().map(change).collect::<Vec<_>>(),
            "by_order": test.by_order.iter().map(change).collect::<Vec<_>>(),
            "unpaired": {"run": test.unpaired.0, "baseline": test.unpaired.1},
            "points": test.points.iter().map(point).collect::<Vec<_>>(),
            "lacks": test.lacks.iter().map(lacking).collect::<Vec<_>>(),
        })
    });
    let refused = it.refused.iter().map(|it| {
        json!({
            "scenario": it.scenario.word(), "method": it.method.word(), "why": it.why,
            "in_baseline": it.in_baseline,
        })
    });
    json!({
        "run": it.run,
        "baseline": {"input": it.baseline.source.input, "run": it.baseline.source.place},
        "tolerance_ppm": it.tolerance_ppm, "keyed": it.keyed.word(), "unit": unit,
        "regressions": it.regressions().count() + it.point_regressions().count(),
        "complete": it.is_complete(), "lacks": it.lacks(),
        "tests": tests.collect::<Vec<_>>(), "refused": refused.collect::<Vec<_>>(),
        "findings": it.findings.iter().map(finding).collect::<Vec<_>>(),
    })
}
