//! The conditions under which a run's figures are comparable with those of other runs.

use hardware::text::plural::many;
use itertools::Itertools as _;
use suite::output::describe_conditions;

use super::document::LabeledLine;
use crate::analysis::cpu_names;
use crate::log::grouped::grouped;
use crate::log::{LoggedRun, Stage};

/// The label of the lines that describe the firmware.
pub const FIRMWARE: &str = "Firmware";

/// Returns the conditions under which `logged` was measured, by name.
pub fn method(logged: &LoggedRun) -> Vec<LabeledLine> {
    let is_log = !logged.integrity.tables;
    let has_run = logged.why_no_run.is_none();
    let mut lines: Vec<LabeledLine> = vec![("Log", source(logged))];
    let mut add = |name, text: Option<String>| lines.extend(text.map(|text| (name, text)));
    add("Payload", has_run.then(|| payload(logged)));
    add("Board", logged.board().map(str::to_owned));
    add("CPUs", cpus(logged));
    add("Cores", cores(logged));
    for build in firmware(logged) {
        add(FIRMWARE, Some(build));
    }
    add("Service", service(logged));
    let [(_, psci), others @ ..] = describe_conditions(&logged.run);
    add("PSCI", psci.map(|text| text.replacen("PSCI ", "", 1)));
    for (name, text) in others {
        add(name, text);
    }
    for state in &logged.run.left_out {
        add("Left out", Some(state.sentence()));
    }
    add("States", states(logged));
    add("Integrity", has_run.then(|| logged.integrity.to_string()));
    add(
        "Verdict",
        (is_log && has_run).then(|| logged.verdict_text()),
    );
    lines
}

fn source(logged: &LoggedRun) -> String {
    if logged.integrity.tables {
        return logged.source.input.clone();
    }
    let (first, last) = logged.source.lines;
    format!("{}, lines {first} to {last}", logged.source.text())
}

fn payload(logged: &LoggedRun) -> String {
    match logged.payload_version() {
        Some(version) => format!("psci-bench {version}"),
        None if logged.integrity.tables => "not shown in these tables".to_owned(),
        None => "TFTF, or a program with the same output".to_owned(),
    }
}

fn cpus(logged: &LoggedRun) -> Option<String> {
    let cpus = &logged.run.cpus;
    let clusters = cpus.iter().map(|cpu| cpu.cluster).unique().count();
    let mut text = if logged.header.has_unknown_clusters {
        format!(
            "{}; the page does not say which clusters they are in",
            cpus.len()
        )
    } else {
        format!("{} in {}", cpus.len(), many(clusters, "cluster"))
    };
    if let Some(head) = &logged.run.head {
        text += &format!(", labels by {}", head.labels.word());
    }
    if let Some(lead) = logged.run.lead() {
        let cpu = logged.run.cpu(lead);
        text += &format!("; the lead is {}", logged.run.label(lead));
        if let Some(mpidr) = cpu.mpidr {
            text += &format!(" (MPIDR {mpidr})");
        }
        if let Some(identity) = cpu.identity {
            text += &format!(", {}", core_name(identity.midr));
        }
    }
    (!cpus.is_empty()).then_some(text)
}

/// Returns each core type once, in CPU order.
fn cores(logged: &LoggedRun) -> Option<String> {
    let identities = logged.run.cpus.iter().map(|cpu| cpu.identity);
    if identities.clone().all(|identity| identity.is_none()) {
        return None;
    }
    let kinds = identities.map(|identity| identity.map(|core| (core.midr, core.caches)));
    let counts = grouped(kinds.map(|kind| (kind, ())))
        .into_iter()
        .map(|(kind, cpus)| {
            let count = cpus.len();
            let Some((midr, caches)) = kind else {
                return format!("{count} not listed");
            };
            let mark = if caches.is_empty() { "" } else { ": " };
            format!("{count} of {}{mark}{caches}", core_name(midr))
        })
        .join("; ");
    Some(counts)
}

fn core_name(midr: u64) -> String {
    match cpu_names::name(midr) {
        Some(name) => format!("{name} (MIDR {midr:#x})"),
        None => format!("MIDR {midr:#x}"),
    }
}

/// The UID of the TF-A Standard Secure Service, in the byte order that the call returns.
const TF_A: &str = "5b908d10-63f8-e847-ae2d-c0fb5641f6e2";

fn service(logged: &LoggedRun) -> Option<String> {
    let service = logged.run.facts.as_ref()?.service?;
    let uid = service.to_string();
    let owner = if uid == TF_A { "TF-A's, " } else { "" };
    let revision = service.revision.map_or_else(String::new, |[major, minor]| {
        format!(", revision {major}.{minor}")
    });
    Some(format!("{owner}UID {uid}{revision}"))
}

/// Returns the firmware builds in a run, in boot order.
pub fn firmware(logged: &LoggedRun) -> Vec<String> {
    let are_one_build =
        |one: &Stage, other: &Stage| (&one.version, &one.built) == (&other.version, &other.built);
    let builds = logged.firmware.chunk_by(are_one_build);
    builds.map(build_text).collect()
}

/// Describes the stages of one build. The firmware is identified only in other log lines, not in
/// records.
fn build_text(stages: &[Stage]) -> String {
    let names = stages.iter().map(|stage| &stage.name).join(", ");
    let version = stages[0].version.as_deref().unwrap_or("without a version");
    let built = match &stages[0].built {
        Some(built) => format!(", built {built}"),
        None => String::new(),
    };
    format!("{names} {version}{built} (not verified)")
}

/// Returns the requested `power_state` values, each with its scenarios.
fn states(logged: &LoggedRun) -> Option<String> {
    let tags = logged.run.scenarios.iter().filter_map(|scenario| {
        let state = scenario.conditions.as_ref()?.power_state?;
        Some((state, scenario.id.tag()))
    });
    let states = grouped(tags)
        .into_iter()
        .map(|(state, tags)| {
            // Scenarios that differ only in their helper are adjacent.
            format!("{state:#010x} in {}", tags.iter().dedup().join(", "))
        })
        .join("; ");
    (!states.is_empty()).then_some(states)
}
