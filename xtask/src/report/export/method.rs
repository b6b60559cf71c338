//! The page that says what was run: all that makes figures comparable.

use psci_bench::plan::ScenarioId;
use psci_bench::spec::caches::Cache;

use super::cpu_names;
use crate::report::model::words::span;
use crate::report::model::{Run, Stage, Term, Test};
use crate::setup::plural::many;

/// A name and what is to be said of it.
pub(super) type Line = (&'static str, String);

/// What was run: all that makes figures comparable.
pub(super) fn method(run: &Run) -> Vec<Line> {
    let mut lines: Vec<Line> = vec![("Log", source(run))];
    let mut add = |name, text: Option<String>| lines.extend(text.map(|text| (name, text)));
    add(
        "Payload",
        Some(match &run.version {
            Some(version) => format!("psci-bench {version}"),
            None if run.integrity.tables => "not told by tables".to_owned(),
            None => "TFTF, or one that prints as it does".to_owned(),
        }),
    );
    add("Board", run.model.clone());
    add("CPUs", cpus(run));
    add("Cores", cores(run));
    for stages in run.firmware.chunk_by(is_of_one_build) {
        // Of its own lines, and in no record.
        let said = format!("{} (not verified)", firmware(stages));
        add("Firmware", Some(said));
    }
    add("PSCI", psci(run));
    add("Service", service(run));
    for (key, value) in &run.facts.others {
        add("", Some(format!("{key}: {value}")));
    }
    add("Timestamps", timestamps(run));
    add("Counter", counter(run));
    add("Wake-up", wake(run));
    add(
        "Watchdog",
        run.facts.watchdog.map(|base| format!("at {base:#x}")),
    );
    add("Overheads", overheads(run));
    add("Plan", plan(run));
    add("States", states(run));
    for (key, value) in run.plan.others.iter().chain(&run.others) {
        add("", Some(format!("{key}: {value}")));
    }
    add("Integrity", Some(run.integrity.to_string()));
    add(
        "Verdict",
        Some(run.verdict_said()).filter(|_| !run.integrity.tables),
    );
    lines
}

fn source(run: &Run) -> String {
    let source = &run.source;
    if run.integrity.tables {
        return source.input.clone();
    }
    format!(
        "{}, run {}, lines {} to {}",
        source.input, source.place, source.lines.0, source.lines.1
    )
}

fn cpus(run: &Run) -> Option<String> {
    if run.cpus.is_empty() {
        return None;
    }
    let mut clusters: Vec<u32> = run.cpus.iter().map(|cpu| cpu.cluster).collect();
    clusters.sort_unstable();
    clusters.dedup();
    let mut text = format!("{} in {}", run.cpus.len(), many(clusters.len(), "cluster"));
    if let Some(labels) = &run.labels {
        text.push_str(&format!(", labels by {labels}"));
    }
    if let Some(lead) = run.facts.lead {
        text.push_str(&format!("; the lead is {}", run.label(lead)));
        if let Some(mpidr) = run.cpus.get(lead).and_then(|cpu| cpu.mpidr) {
            text.push_str(&format!(" (MPIDR {mpidr:#x})"));
        }
    }
    if let Some(midr) = run.facts.midr {
        text.push_str(&format!(", {}", part(midr)));
    }
    Some(text)
}

/// What the CPUs say of themselves, each kind once, in their order.
fn cores(run: &Run) -> Option<String> {
    let mut kinds: Vec<(Option<u64>, &[Cache], usize)> = Vec::new();
    for cpu in &run.cpus {
        let is_same = |it: &&mut (Option<u64>, &[Cache], usize)| {
            (it.0, it.1) == (cpu.midr, cpu.caches.as_slice())
        };
        match kinds.iter_mut().find(is_same) {
            Some(kind) => kind.2 += 1,
            None => kinds.push((cpu.midr, &cpu.caches, 1)),
        }
    }
    kinds.iter().find(|it| it.0.is_some())?;
    let each = kinds.iter().map(|(midr, caches, count)| {
        let mut text = match midr {
            Some(midr) => format!("{count} of {}", part(*midr)),
            None => format!("{count} not told of"),
        };
        for (place, cache) in caches.iter().enumerate() {
            let mark = if place == 0 { ": " } else { ", " };
            text.push_str(&format!("{mark}{cache}"));
        }
        text
    });
    Some(each.collect::<Vec<_>>().join("; "))
}

/// Whoever handles PSCI's calls.
fn service(run: &Run) -> Option<String> {
    let uid = run.facts.service.as_deref()?;
    let mut text = match uid {
        TF_A => format!("TF-A's, UID {uid}"),
        _ => format!("UID {uid}"),
    };
    if let Some(revision) = &run.facts.service_revision {
        text.push_str(&format!(", revision {revision}"));
    }
    Some(text)
}

/// The UID of TF-A's Standard Secure Service, byte for byte as it answers.
const TF_A: &str = "5b908d10-63f8-e847-ae2d-c0fb5641f6e2";

/// A CPU's name with its MIDR.
fn part(midr: u64) -> String {
    match cpu_names::name(midr) {
        Some(name) => format!("{name} (MIDR {midr:#x})"),
        None => format!("MIDR {midr:#x}"),
    }
}

fn is_of_one_build(a: &Stage, b: &Stage) -> bool {
    (&a.version, &a.built) == (&b.version, &b.built)
}

/// Stages of one build.
fn firmware(stages: &[Stage]) -> String {
    let names: Vec<&str> = stages.iter().map(|stage| stage.name.as_str()).collect();
    let names = names.join(", ");
    let stage = stages.first();
    let version = stage.and_then(|stage| stage.version.as_deref());
    let version = version.unwrap_or("of no version");
    match stage.and_then(|stage| stage.built.as_deref()) {
        Some(built) => format!("{names} {version}, built {built}"),
        None => format!("{names} {version}"),
    }
}

fn psci(run: &Run) -> Option<String> {
    let facts = &run.facts;
    let mut text = version(facts.psci?);
    if let Some(conduit) = &facts.conduit {
        text.push_str(&format!(" by {}", conduit.word().to_uppercase()));
    }
    if let Some(el) = facts.el {
        text.push_str(&format!(" from EL{el}"));
    }
    if let Some(smccc) = facts.smccc {
        text.push_str(&format!(", SMCCC {}", version(smccc)));
    }
    if let Some(format) = &facts.state_format {
        text.push_str(&format!(", power_state in the {format} format"));
    }
    Some(text)
}

/// A version: major in bits 30:16, minor in 15:0.
fn version(version: u32) -> String {
    format!("{}.{}", version >> 16 & 0x7fff, version & 0xffff)
}

fn timestamps(run: &Run) -> Option<String> {
    match (run.facts.pmf, &run.facts.pmf_error) {
        (Some(function), _) => Some(format!("PMF's, by function {function:#010x}")),
        (None, Some(error)) => Some(format!(
            "the caller's only; PMF's can not be read: {}",
            error.replace('_', " ")
        )),
        (None, None) => None,
    }
}

fn counter(run: &Run) -> Option<String> {
    let hz = run.facts.hz?;
    let counter = run.facts.counter.as_deref().unwrap_or("counter");
    Some(match run.clock().tick_ps() {
        Some(ps) => format!(
            "{counter} at {hz} Hz, a tick is {}.{:02} ns",
            ps / 1000,
            ps % 1000 / 10
        ),
        None => format!("{counter}; {hz} Hz can not be right: all figures are in ticks"),
    })
}

fn wake(run: &Run) -> Option<String> {
    let facts = &run.facts;
    let mut text = facts.timer.clone()?;
    if let Some(intid) = facts.timer_intid {
        text.push_str(&format!(", interrupt {intid}"));
    }
    if let Some(gic) = facts.gic {
        text.push_str(&format!(", GICv{gic}"));
    }
    if let Some(frame) = facts.frame {
        text.push_str(&format!(
            "; where that stops, the timer frame at {frame:#x}"
        ));
    }
    Some(text)
}

fn overheads(run: &Run) -> Option<String> {
    let facts = &run.facts;
    let costs = [
        ("counter read", facts.cost_counter),
        ("empty timed region", facts.cost_empty),
        ("PMF read", facts.cost_pmf),
    ];
    let costs = costs.into_iter().filter_map(|(what, cost)| {
        let cost = span(run, cost?);
        Some(format!("{what} {cost}"))
    });
    let text = costs.collect::<Vec<_>>().join(", ");
    Some(text).filter(|text| !text.is_empty())
}

fn plan(run: &Run) -> Option<String> {
    let plan = &run.plan;
    // Only what plays a part in a scenario that was run, or may.
    let any = |takes: fn(ScenarioId) -> bool| {
        let mut tests = run.tests.iter();
        let part = |test: &Test| test.scenario.known().is_none_or(takes);
        run.tests.is_empty() || tests.any(part)
    };
    let (suite, sweep) = (any(ScenarioId::is_suite), any(ScenarioId::is_sweep));
    let mut parts = Vec::new();
    if suite || sweep || any(|id| id == ScenarioId::CpuOn) {
        let warmup = plan.warmup;
        let warmup = warmup.map_or(String::new(), |it| format!(" after {it} for warm-up"));
        parts.push(format!("{} samples a CPU{warmup}", plan.iterations?));
    }
    if suite || sweep {
        // Sweeps are by the first alone.
        let methods = plan.methods.iter().take(if suite { usize::MAX } else { 1 });
        let methods: Vec<&str> = methods.map(Term::word).collect();
        parts.push(format!("method {}", methods.join(", ")));
        parts.extend(plan.wake.as_ref().map(|wake| format!("wake {wake}")));
    }
    for (key, state) in [("deepest", plan.deepest), ("core", plan.core)] {
        if let Some(state) = state {
            parts.push(format!("{key}={state:#010x}"));
        }
    }
    Some(parts.join("; ")).filter(|text| !text.is_empty())
}

/// The `power_state`s that were asked for, each with its scenarios.
fn states(run: &Run) -> Option<String> {
    let mut all: Vec<(u32, Vec<&str>)> = Vec::new();
    for test in &run.tests {
        let Some(state) = test.power_state else {
            continue;
        };
        let tag = test.scenario.word();
        match all.iter_mut().find(|it| it.0 == state) {
            Some(it) if it.1.contains(&tag) => {}
            Some(it) => it.1.push(tag),
            None => all.push((state, vec![tag])),
        }
    }
    let each = all.iter();
    let each = each.map(|(state, tags)| format!("{state:#010x} in {}", tags.join(", ")));
    let text = each.collect::<Vec<_>>().join("; ");
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::log::read_bytes;

    const POINTS: &[u8] = include_bytes!("../../../tests/data/report/qemu-points.log");

    /// What is said of the plan where only these were run.
    fn planned(only: fn(ScenarioId) -> bool) -> Option<String> {
        let mut run = read_bytes("a.log", POINTS).expect("a run").remove(0);
        run.tests
            .retain(|test| test.scenario.known().is_some_and(only));
        assert!(!run.tests.is_empty());
        plan(&run)
    }

    #[test]
    fn what_plays_no_part_is_not_said() {
        let all = "3 samples a CPU after 1 for warm-up; method tftf; wake together";
        assert_eq!(planned(ScenarioId::is_sweep).as_deref(), Some(all));
        assert_eq!(planned(|id| id == ScenarioId::NullCall), None);
        assert_eq!(planned(|id| id == ScenarioId::TimerLatency), None);
    }
}
