//! The conditions under which a run's figures are comparable with those of other runs.

use hardware::text::plural::many;
use itertools::Itertools as _;
use suite::output::conditions;

use super::document::LabeledLine;
use crate::analysis::cpu_names;
use crate::log::grouped::grouped;
use crate::log::{LoggedRun, Stage};

/// The label of the lines that describe the firmware.
pub(super) const FIRMWARE: &str = "Firmware";

pub(super) fn method(run: &LoggedRun) -> Vec<LabeledLine> {
    let is_log = !run.integrity.tables;
    let mut lines: Vec<LabeledLine> = vec![("Log", source(run)), ("Payload", payload(run))];
    let mut add = |name, text: Option<String>| lines.extend(text.map(|text| (name, text)));
    add("Board", run.board().map(str::to_owned));
    add("CPUs", cpus(run));
    add("Cores", cores(run));
    for build in firmware(run) {
        add(FIRMWARE, Some(build));
    }
    add("Service", service(run));
    let [(_, psci), others @ ..] = conditions(&run.run);
    add("PSCI", psci.map(|it| it.replacen("PSCI ", "", 1)));
    for (name, text) in others {
        add(name, text);
    }
    for state in &run.run.left_out {
        add("Left out", Some(state.sentence()));
    }
    add("States", states(run));
    add("Integrity", Some(run.integrity.to_string()));
    add("Verdict", is_log.then(|| run.verdict_text()));
    lines
}

fn source(run: &LoggedRun) -> String {
    let (input, place, (first, last)) = (&run.source.input, run.source.place, run.source.lines);
    match run.integrity.tables {
        true => input.clone(),
        false => format!("{input}, run {place}, lines {first} to {last}"),
    }
}

fn payload(run: &LoggedRun) -> String {
    match run.payload_version() {
        Some(version) => format!("psci-bench {version}"),
        None if run.integrity.tables => "not shown in these tables".to_owned(),
        None => "TFTF, or a program with the same output".to_owned(),
    }
}

fn cpus(run: &LoggedRun) -> Option<String> {
    let cpus = &run.run.cpus;
    let clusters = cpus.iter().map(|cpu| cpu.cluster).unique().count();
    let mut text = match run.header.has_unknown_clusters {
        true => format!(
            "{}; the page does not say which clusters they are in",
            cpus.len()
        ),
        false => format!("{} in {}", cpus.len(), many(clusters, "cluster")),
    };
    if let Some(head) = &run.run.head {
        text += &format!(", labels by {}", head.labels.word());
    }
    let lead = run.run.lead();
    if let Some(lead) = lead {
        let cpu = run.run.cpu(lead);
        let mpidr = cpu.mpidr;
        let mpidr = mpidr.map_or_else(String::new, |it| format!(" (MPIDR {it})"));
        let core = cpu.identity;
        let core = core.map_or_else(String::new, |it| format!(", {}", core_name(it.midr)));
        text += &format!("; the lead is {}{mpidr}{core}", run.run.label(lead));
    }
    (!cpus.is_empty()).then_some(text)
}

/// Returns each core type once, in CPU order.
fn cores(run: &LoggedRun) -> Option<String> {
    let cpus = run.run.cpus.iter();
    let kinds = grouped(cpus.map(|cpu| (cpu.identity.map(|it| (it.midr, it.caches)), ())));
    kinds.iter().find(|it| it.0.is_some())?;
    let each = kinds.iter().map(|(kind, cpus)| {
        let count = cpus.len();
        let Some((midr, caches)) = kind else {
            return format!("{count} not listed");
        };
        let mark = if caches.is_empty() { "" } else { ": " };
        format!("{count} of {}{mark}{caches}", core_name(*midr))
    });
    Some(each.collect::<Vec<_>>().join("; "))
}

fn core_name(midr: u64) -> String {
    match cpu_names::name(midr) {
        Some(name) => format!("{name} (MIDR {midr:#x})"),
        None => format!("MIDR {midr:#x}"),
    }
}

/// The UID of the TF-A Standard Secure Service, in the byte order that the call returns.
const TF_A: &str = "5b908d10-63f8-e847-ae2d-c0fb5641f6e2";

fn service(run: &LoggedRun) -> Option<String> {
    let service = run.run.facts.as_ref()?.service?;
    let uid = service.to_string();
    let owner = if uid == TF_A { "TF-A's, " } else { "" };
    let revision = service.revision.map_or_else(String::new, |[major, minor]| {
        format!(", revision {major}.{minor}")
    });
    Some(format!("{owner}UID {uid}{revision}"))
}

/// Returns the firmware builds in a run, in boot order.
pub(super) fn firmware(run: &LoggedRun) -> Vec<String> {
    let is_of_one_build = |a: &Stage, b: &Stage| (&a.version, &a.built) == (&b.version, &b.built);
    let builds = run.firmware.chunk_by(is_of_one_build);
    builds.map(build).collect()
}

/// Returns the stages of one build. The firmware is identified only in other log lines, not in
/// records.
fn build(stages: &[Stage]) -> String {
    let names = stages.iter().map(|stage| &stage.name).join(", ");
    let version = stages[0].version.as_deref().unwrap_or("without a version");
    let built = stages[0].built.as_ref();
    let built = built.map_or_else(String::new, |it| format!(", built {it}"));
    format!("{names} {version}{built} (not verified)")
}

/// Returns the requested `power_state` values, each with its scenarios.
fn states(run: &LoggedRun) -> Option<String> {
    let scenarios = run.run.scenarios.iter();
    let states =
        scenarios.filter_map(|it| Some((it.conditions.as_ref()?.power_state?, it.id.tag())));
    let each = grouped(states).into_iter().map(|(state, tags)| {
        // Scenarios that differ only in their helper are adjacent.
        format!("{state:#010x} in {}", tags.iter().dedup().join(", "))
    });
    let text = each.collect::<Vec<_>>().join("; ");
    Some(text).filter(|text| !text.is_empty())
}
