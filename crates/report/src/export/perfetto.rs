//! `perfetto`: the Trace Event format, for ui.perfetto.dev and chrome://tracing.
//!
//! Each cluster is a process and each CPU a thread; a separate process shows the scenario names.
//! The trace shows the same samples as the tables. A parallel scenario is drawn as one round with
//! all CPUs on one axis, which makes the queue for firmware locks visible. In a serial scenario,
//! the CPUs' samples are drawn one after another. Time is omitted only between serial samples and
//! between scenarios. Each call's `counter` value shows when the call occurred within the run.

use std::io::Write;

use anyhow::{Result, bail};
use hardware::board::CpuIndex;
use itertools::Itertools as _;
use run::measure::Instant;
use run::model::Scenario;
use serde_json::{Map, Value, json};

use super::method::method;
use super::report_data::Report;
use super::scenario_document::conditions_text;
use crate::analysis::phases::{Placed, Slice, groups, slices};
use crate::log::LoggedRun;

/// The minimum gap in nanoseconds between samples that are drawn separately.
const GAP: i64 = 10_000;

pub(super) fn write(report: &Report, out: &mut dyn Write) -> Result<()> {
    let run = report.only_run("perfetto")?;
    if !run.clock().is_known() {
        bail!("perfetto needs times, but the counter frequency is unknown");
    }
    let (events, at) = (Vec::new(), 0);
    let mut trace = Trace { run, events, at };
    trace.name_all();
    for scenario in &run.run.scenarios {
        trace.scenario(scenario);
    }
    if trace.at == 0 {
        bail!("no timestamps for perfetto: this is a TFTF log, or records were lost");
    }
    let method = method(run).into_iter();
    let method = method.map(|(name, text)| (name.to_owned(), Value::from(text)));
    let document = json!({
        "displayTimeUnit": "ns",
        "otherData": method.collect::<Map<_, _>>(),
        "traceEvents": trace.events,
    });
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)?;
    Ok(())
}

struct Trace<'r> {
    run: &'r LoggedRun,
    events: Vec<Value>,
    /// The start of the next group, in nanoseconds.
    at: i64,
}

/// A track: process and thread. Zero is reserved for the idle task.
type Track = [u32; 2];

const SCENARIOS: Track = [1, 1];

impl Trace<'_> {
    fn cpu(&self, cpu: CpuIndex) -> Track {
        [self.run.run.cpu(cpu).cluster, cpu.into()].map(|it| u32::from(it) + 2)
    }

    fn name_all(&mut self) {
        self.name("process", SCENARIOS, "Scenarios");
        self.name("thread", SCENARIOS, "Scenario");
        let cpus = self.run.run.cpu_indices().zip(&self.run.run.cpus);
        for (index, cpu) in cpus.clone().unique_by(|it| it.1.cluster) {
            let name = format!("Cluster {}", cpu.cluster);
            self.name("process", self.cpu(index), &name);
        }
        for (index, cpu) in cpus {
            let mpidr = cpu.mpidr;
            let mpidr = mpidr.map_or_else(String::new, |it| format!(" (MPIDR {it})"));
            let label = self.run.run.label(index);
            self.name("thread", self.cpu(index), &format!("CPU {label}{mpidr}"));
        }
    }

    /// Names a process or a thread and sets its sort order to its number.
    fn name(&mut self, what: &str, [pid, tid]: Track, name: &str) {
        let place = if what == "process" { pid } else { tid };
        for (key, value) in [("name", json!(name)), ("sort_index", json!(place))] {
            let (name, args) = (format!("{what}_{key}"), json!({ key: value }));
            let event = json!({ "ph": "M", "name": name, "args": args, "pid": pid, "tid": tid });
            self.events.push(event);
        }
    }

    fn scenario(&mut self, scenario: &Scenario) {
        let from = self.at;
        for group in groups(scenario) {
            self.group(scenario, &group);
        }
        if self.at > from {
            let end = self.at;
            let name = format!("{} ({})", scenario.id.name(), scenario.method.word());
            let args = json!({ "said": conditions_text(self.run, scenario) });
            self.slice(SCENARIOS, &name, (from, end - GAP), args);
            self.at = end.saturating_add((end - from) / 20);
        }
    }

    fn group(&mut self, scenario: &Scenario, group: &[Placed<'_>]) {
        let drawn = group.iter().map(|it| (it, slices(it.instants)));
        let drawn: Vec<_> = drawn.filter(|it| !it.1.is_empty()).collect();
        let begins = drawn.iter();
        let begins = begins.map(|it| it.1[0].from.saturating_add(it.0.shift));
        let Some(zero) = begins.min() else { return };
        let (run, start) = (self.run, self.at);
        let mut end = start;
        for (placed, slices) in drawn {
            let at = |ticks: i64| {
                let ticks = ticks.saturating_add(placed.shift).saturating_sub(zero);
                let ns = run.ns(ticks.unsigned_abs()).unwrap_or(0);
                let ns = i64::try_from(ns).unwrap_or(i64::MAX);
                start.saturating_add(if ticks < 0 { -ns } else { ns })
            };
            end = end.max(self.sample(scenario, placed, &slices, at));
        }
        self.at = end.saturating_add(GAP);
    }

    /// Draws a sample on the time axis and returns the time at which it ends.
    fn sample(
        &mut self,
        scenario: &Scenario,
        placed: &Placed<'_>,
        slices: &[Slice],
        at: impl Fn(i64) -> i64,
    ) -> i64 {
        let (cell, instants) = (placed.cell, placed.instants);
        let track @ [pid, tid] = self.cpu(cell.cpu);
        let (first, last) = (slices[0].from, slices[slices.len() - 1].to);
        let figures = scenario.columns().into_iter().filter_map(|metric| {
            let ns = self.run.ns(cell.figure(metric)?)?;
            Some((format!("{}_ns", metric.key()), Value::from(ns)))
        });
        let mut args: Map<_, _> = figures.collect();
        let counter = instants.base.saturating_add_signed(first);
        args.insert("counter".to_owned(), counter.into());
        let conditions = scenario.conditions.as_ref();
        if let Some(state) = conditions.and_then(|it| it.power_state) {
            args.insert("power_state".to_owned(), format!("{state:#010x}").into());
        }
        args.insert("verified".to_owned(), (!self.run.is_doubtful(cell)).into());
        let (whole, args) = ((at(first), at(last)), Value::Object(args));
        self.slice(track, scenario.id.short_tag(), whole, args);
        for slice in slices {
            let span = (at(slice.from), at(slice.to));
            self.slice(track, slice.phase.name, span, Value::Null);
        }
        for (instant, name) in [
            (Instant::Due, "wake-up due"),
            (Instant::TurnedOn, "CPU_ON called"),
            (Instant::Entered, "entered after CPU_ON"),
            (Instant::SeenOff, "AFFINITY_INFO returned OFF"),
        ] {
            // Turning the CPU on before the call, or checking that it is off afterwards, is not
            // part of the call.
            let within = |ticks: &i64| (first..=last).contains(ticks);
            if let Some(ticks) = instants.at(instant).filter(within) {
                let ts = us(at(ticks));
                self.events.push(json!({
                    "ph": "i", "s": "t", "name": name, "ts": ts, "pid": pid, "tid": tid,
                }));
            }
        }
        whole.1
    }

    fn slice(&mut self, [pid, tid]: Track, name: &str, (from, to): (i64, i64), args: Value) {
        let (ts, dur) = (us(from), us(to.saturating_sub(from)));
        let mut event = json!({
            "ph": "X", "cat": "psci", "name": name, "ts": ts, "dur": dur, "pid": pid, "tid": tid,
        });
        if !args.is_null() {
            event["args"] = args;
        }
        self.events.push(event);
    }
}

fn us(ns: i64) -> Value {
    if ns % 1000 == 0 {
        return (ns / 1000).into();
    }
    // The result is exact for up to a hundred days, because an f64 has 53 significant bits.
    (ns as f64 / 1000.0).into()
}
