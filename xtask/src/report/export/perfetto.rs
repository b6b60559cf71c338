//! `perfetto`: the Trace Event format, which ui.perfetto.dev and
//! chrome://tracing open.
//!
//! A process a cluster, a thread a CPU; a process of its own names the
//! scenarios. What is drawn is the sample that the tables show: of a parallel
//! scenario the one round, with all CPUs on one axis, so that the queue for
//! the firmware's locks is seen; in sequence each CPU's sample, one after
//! another. Only there, and between scenarios, the axis leaves time out; the
//! `counter` of each call says what it was in the run.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::{Result, bail};
use psci_bench::model::{Instant, Scenario};
use psci_bench::plan::TAG_PREFIX;
use serde_json::{Value, json};

use super::method::method;
use super::report_data::Report;
use super::scenario_document::conditions_text;
use crate::report::analysis::phases::{Placed, Slice, groups, slices};
use crate::report::log::LoggedRun;

/// Nanoseconds that are left empty at least between what is drawn apart.
const GAP: i64 = 10_000;

pub(super) fn write(report: &Report, out: &mut dyn Write) -> Result<()> {
    let run = report.only_run("perfetto")?;
    if !run.clock().is_known() {
        bail!("perfetto needs time, and the counter's frequency is not known");
    }
    let trace = Trace::of(run);
    if trace.drawn == 0 {
        bail!("there is no instant for perfetto: logs of TFTF and lost records have none");
    }
    let method = method(run).into_iter();
    let method = method.map(|(name, text)| (name.to_owned(), Value::from(text)));
    let document = json!({
        "displayTimeUnit": "ns",
        "otherData": method.collect::<serde_json::Map<_, _>>(),
        "traceEvents": trace.events,
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)?;
    Ok(())
}

struct Trace<'r> {
    run: &'r LoggedRun,
    events: Vec<Value>,
    /// Where the next group begins, in nanoseconds.
    at: i64,
    /// The number of samples in it.
    drawn: usize,
}

/// A place among the tracks. Zero is the idle task's.
#[derive(Clone, Copy)]
struct Track {
    process: u32,
    thread: u32,
}

impl<'r> Trace<'r> {
    fn of(run: &'r LoggedRun) -> Self {
        let mut trace = Self {
            run,
            events: Vec::new(),
            at: 0,
            drawn: 0,
        };
        trace.name_all();
        for scenario in &run.run.scenarios {
            trace.scenario(scenario);
        }
        trace
    }

    fn cpu(&self, cpu: u16) -> Track {
        Track {
            process: u32::from(self.run.run.cpu(cpu).cluster) + 2,
            thread: u32::from(cpu) + 2,
        }
    }

    const SCENARIOS: Track = Track {
        process: 1,
        thread: 1,
    };

    fn name_all(&mut self) {
        self.name(Self::SCENARIOS, Some("Scenarios"), "Scenario");
        let mut named = BTreeSet::new();
        for (index, cpu) in (0u16..).zip(&self.run.run.cpus) {
            let track = self.cpu(index);
            let cluster = format!("Cluster {}", cpu.cluster);
            let cluster = named.insert(track.process).then_some(cluster.as_str());
            let mut name = format!("CPU {}", self.run.run.label(index));
            if let Some(mpidr) = cpu.mpidr {
                name += &format!(" (MPIDR {mpidr:#x})");
            }
            self.name(track, cluster, &name);
        }
    }

    /// Names a track, and puts it where its number says; `process` is the name of its
    /// process, if that is a new one.
    fn name(&mut self, track: Track, process: Option<&str>, name: &str) {
        let process = process.map(|name| ("process", name, track.process));
        let names = process.into_iter().chain([("thread", name, track.thread)]);
        for (what, name, place) in names {
            for (key, args) in [
                ("name", json!({ "name": name })),
                ("sort_index", json!({ "sort_index": place })),
            ] {
                self.events.push(json!({
                    "ph": "M", "name": format!("{what}_{key}"), "args": args,
                    "pid": track.process, "tid": track.thread,
                }));
            }
        }
    }

    /// Ticks from a base as nanoseconds.
    fn ns(&self, ticks: i64) -> i64 {
        let ns = self.run.ns(ticks.unsigned_abs()).unwrap_or(0);
        let ns = i64::try_from(ns).unwrap_or(i64::MAX);
        if ticks < 0 { -ns } else { ns }
    }

    fn scenario(&mut self, scenario: &Scenario) {
        let from = self.at;
        for group in groups(scenario) {
            self.group(scenario, &group);
        }
        if self.at == from {
            return;
        }
        let end = self.at;
        self.slice(
            Self::SCENARIOS,
            &format!("{} ({})", scenario.id.name(), scenario.method.word()),
            (from, end - GAP),
            json!({ "said": conditions_text(self.run, scenario) }),
        );
        self.at = end.saturating_add((end - from) / 20);
    }

    fn group(&mut self, scenario: &Scenario, group: &[Placed<'_>]) {
        let spans = group.iter().filter_map(|it| {
            let span = span(&slices(it.instants))?;
            Some(span.map(|ticks| ticks.saturating_add(it.shift)))
        });
        let whole = spans.reduce(|a, b| [a[0].min(b[0]), a[1].max(b[1])]);
        let Some([first, last]) = whole else { return };
        for it in group {
            self.sample(scenario, it, first);
        }
        let length = self.ns(last.saturating_sub(first));
        self.at = self.at.saturating_add(length).saturating_add(GAP);
    }

    /// Draws a sample; `zero` is the instant on its group's axis at which that begins.
    fn sample(&mut self, scenario: &Scenario, placed: &Placed<'_>, zero: i64) {
        let (row, instants) = (placed.row, placed.instants);
        let track = self.cpu(row.cpu);
        let slices = slices(instants);
        let Some([first, last]) = span(&slices) else {
            return;
        };
        let start = self.at;
        let at = |trace: &Self, ticks: i64| {
            let place = ticks.saturating_add(placed.shift).saturating_sub(zero);
            start.saturating_add(trace.ns(place))
        };
        self.drawn += 1;
        let figures = scenario.columns().into_iter().filter_map(|metric| {
            let ns = self.run.ns(scenario.figure(row, metric)?)?;
            Some((format!("{}_ns", metric.key()), Value::from(ns)))
        });
        let mut args: serde_json::Map<String, Value> = figures.collect();
        let counter = instants.base.saturating_add_signed(first);
        args.insert("counter".to_owned(), counter.into());
        let conditions = scenario.conditions.as_ref();
        if let Some(state) = conditions.and_then(|it| it.power_state) {
            args.insert("power_state".to_owned(), format!("{state:#010x}").into());
        }
        args.insert("verified".to_owned(), (!row.is_from_line()).into());
        let tag = scenario.id.tag();
        let short = tag.strip_prefix(TAG_PREFIX).unwrap_or(tag);
        let whole = (at(self, first), at(self, last));
        self.slice(track, short, whole, Value::Object(args));
        for slice in &slices {
            let span = (at(self, slice.from), at(self, slice.to));
            self.slice(track, slice.phase.name, span, Value::Null);
        }
        for (instant, name) in [
            (Instant::Due, "wake-up due"),
            (Instant::TurnedOn, "CPU_ON called"),
            (Instant::Entered, "entered after CPU_ON"),
            (Instant::SeenOff, "seen OFF by the lead"),
        ] {
            // Turned on before the call and seen off behind it: no part of it.
            let within = |ticks: &i64| (first..=last).contains(ticks);
            if let Some(ticks) = instants.at(instant).filter(within) {
                let ts = us(at(self, ticks));
                self.events.push(json!({
                    "ph": "i", "s": "t", "name": name, "ts": ts,
                    "pid": track.process, "tid": track.thread,
                }));
            }
        }
    }

    fn slice(&mut self, track: Track, name: &str, (from, to): (i64, i64), args: Value) {
        let mut event = json!({
            "ph": "X", "cat": "psci", "name": name, "ts": us(from), "dur": us(to.saturating_sub(from)),
            "pid": track.process, "tid": track.thread,
        });
        if let (Value::Object(event), false) = (&mut event, args.is_null()) {
            event.insert("args".to_owned(), args);
        }
        self.events.push(event);
    }
}

/// Returns the first instant and the last.
fn span(slices: &[Slice]) -> Option<[i64; 2]> {
    Some([slices.first()?.from, slices.last()?.to])
}

/// Nanoseconds as the format's microseconds.
fn us(ns: i64) -> Value {
    if ns % 1000 == 0 {
        return (ns / 1000).into();
    }
    // Exact up to a hundred days: the value has 53 bits.
    (ns as f64 / 1000.0).into()
}
