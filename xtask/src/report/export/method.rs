//! The conditions that make the figures of a run comparable.

use std::collections::BTreeSet;

use psci_bench::plan::{Method, ScenarioId};

use super::cpu_names;
use super::document::Line;
use crate::report::log::grouped::grouped;
use crate::report::log::{LoggedRun, Stage};
use crate::setup::plural::many;

/// Returns the conditions of a run.
pub(super) fn method(run: &LoggedRun) -> Vec<Line> {
    let is_log = !run.integrity.tables;
    let mut lines: Vec<Line> = vec![("Log", source(run))];
    let mut add = |name, text: Option<String>| lines.extend(text.map(|text| (name, text)));
    add("Payload", Some(payload(run)));
    add("Board", run.board().map(str::to_owned));
    add("CPUs", cpus(run));
    add("Cores", cores(run));
    let is_of_one_build = |a: &Stage, b: &Stage| (&a.version, &a.built) == (&b.version, &b.built);
    for stages in run.firmware.chunk_by(is_of_one_build) {
        // Firmware is in lines, and in no record.
        add(
            "Firmware",
            Some(format!("{} (not verified)", firmware(stages))),
        );
    }
    add("PSCI", psci(run));
    add("Service", service(run));
    add("Timestamps", timestamps(run));
    add("Counter", counter(run));
    add("Wake-up", wake(run));
    let facts = run.run.facts.as_ref();
    let watchdog = facts.and_then(|facts| facts.watchdog.ok());
    add("Watchdog", watchdog.map(|it| format!("at {:#x}", it.base)));
    add("Overheads", overheads(run));
    add("Plan", plan(run));
    add("States", states(run));
    add("Integrity", Some(run.integrity.to_string()));
    add("Verdict", is_log.then(|| run.verdict_text()));
    lines
}

fn source(run: &LoggedRun) -> String {
    let (input, place, lines) = (&run.source.input, run.source.place, run.source.lines);
    match run.integrity.tables {
        true => input.clone(),
        false => format!("{input}, run {place}, lines {} to {}", lines.0, lines.1),
    }
}

fn payload(run: &LoggedRun) -> String {
    match run.payload_version() {
        Some(version) => format!("psci-bench {version}"),
        None if run.integrity.tables => "not told by tables".to_owned(),
        None => "TFTF, or one that prints as it does".to_owned(),
    }
}

fn cpus(run: &LoggedRun) -> Option<String> {
    let cpus = &run.run.cpus;
    if cpus.is_empty() {
        return None;
    }
    let clusters: BTreeSet<u16> = cpus.iter().map(|cpu| cpu.cluster).collect();
    let mut text = format!("{} in {}", cpus.len(), many(clusters.len(), "cluster"));
    if let Some(head) = &run.run.head {
        text += &format!(", labels by {}", head.labels.word());
    }
    let lead = run.run.lead().and_then(|lead| u16::try_from(lead).ok());
    if let Some(lead) = lead {
        let cpu = run.run.cpu(lead);
        text += &format!("; the lead is {}", run.run.label(lead));
        if let Some(mpidr) = cpu.mpidr {
            text += &format!(" (MPIDR {mpidr:#x})");
        }
        if let Some(identity) = cpu.identity {
            text += &format!(", {}", core_name(identity.midr));
        }
    }
    Some(text)
}

/// Returns each kind of core once, in the CPUs' order.
fn cores(run: &LoggedRun) -> Option<String> {
    let cpus = run.run.cpus.iter();
    let kinds = grouped(cpus.map(|cpu| (cpu.identity.map(|it| (it.midr, it.caches)), ())));
    kinds.iter().find(|it| it.0.is_some())?;
    let each = kinds.iter().map(|(kind, cpus)| {
        let count = cpus.len();
        let Some((midr, caches)) = kind else {
            return format!("{count} not told of");
        };
        let mark = if caches.is_empty() { "" } else { ": " };
        format!("{count} of {}{mark}{caches}", core_name(*midr))
    });
    Some(each.collect::<Vec<_>>().join("; "))
}

/// Returns a core's name with its MIDR.
fn core_name(midr: u64) -> String {
    match cpu_names::name(midr) {
        Some(name) => format!("{name} (MIDR {midr:#x})"),
        None => format!("MIDR {midr:#x}"),
    }
}

/// The UID of TF-A's Standard Secure Service, byte for byte as it answers.
const TF_A: &str = "5b908d10-63f8-e847-ae2d-c0fb5641f6e2";

/// Returns the handler of PSCI's calls.
fn service(run: &LoggedRun) -> Option<String> {
    let service = run.run.facts.as_ref()?.service?;
    let uid = service.to_string();
    let owner = if uid == TF_A { "TF-A's, " } else { "" };
    let mut text = format!("{owner}UID {uid}");
    if let Some([major, minor]) = service.revision {
        text += &format!(", revision {major}.{minor}");
    }
    Some(text)
}

/// Returns stages of one build.
fn firmware(stages: &[Stage]) -> String {
    let names: Vec<&str> = stages.iter().map(|stage| stage.name.as_str()).collect();
    let version = stages[0].version.as_deref().unwrap_or("of no version");
    let mut text = format!("{} {version}", names.join(", "));
    if let Some(built) = &stages[0].built {
        text += &format!(", built {built}");
    }
    text
}

fn psci(run: &LoggedRun) -> Option<String> {
    let facts = run.run.facts.as_ref()?;
    let mut text = format!(
        "{} by {} from EL{}",
        version(facts.psci_version),
        facts.conduit.word().to_uppercase(),
        facts.exception_level
    );
    if let Some(smccc) = facts.smccc {
        text += &format!(", SMCCC {}", version(smccc));
    }
    let format = facts.state_format.name();
    Some(text + &format!(", power_state in the {format} format"))
}

/// Returns a version: major in bits 30:16, minor in 15:0.
fn version(version: u32) -> String {
    format!("{}.{}", version >> 16 & 0x7fff, version & 0xffff)
}

fn timestamps(run: &LoggedRun) -> Option<String> {
    Some(match run.run.facts.as_ref()?.pmf {
        Ok(interface) => format!("PMF's, by function {:#010x}", interface.get_timestamp()),
        Err(error) => format!("the caller's only; PMF's can not be read: {error}"),
    })
}

fn counter(run: &LoggedRun) -> Option<String> {
    let facts = run.run.facts.as_ref()?;
    let (hz, counter) = (facts.frequency, facts.counter);
    Some(match run.clock().tick_ps() {
        Some(ps) => {
            let (ns, rest) = (ps / 1000, ps % 1000 / 10);
            format!("{counter} at {hz} Hz, a tick is {ns}.{rest:02} ns")
        }
        None => format!("{counter}; {hz} Hz can not be right: all figures are in ticks"),
    })
}

fn wake(run: &LoggedRun) -> Option<String> {
    let facts = run.run.facts.as_ref()?;
    let (timer, intid) = (facts.timer.word(), facts.timer_intid);
    let mut text = format!("{timer}, interrupt {intid}");
    if facts.gic > 0 {
        text += &format!(", GICv{}", facts.gic);
    }
    if let Ok(frame) = facts.frame {
        text += &format!("; where that stops, the timer frame at {:#x}", frame.base);
    }
    Some(text)
}

fn overheads(run: &LoggedRun) -> Option<String> {
    let costs = run.run.facts.as_ref()?.overheads;
    let span = |ticks| run.clock().span(ticks);
    let mut text = format!("counter read {}", span(costs.counter));
    text += &format!(", empty timed region {}", span(costs.empty));
    if let Some(pmf_read) = costs.pmf_read {
        text += &format!(", PMF read {}", span(pmf_read));
    }
    Some(text)
}

fn plan(run: &LoggedRun) -> Option<String> {
    let plan = run.run.plan.as_ref()?;
    // Only words that have an effect on a scenario of the run.
    let scenarios = &run.run.scenarios;
    let has = |is_affected: fn(ScenarioId) -> bool| {
        scenarios.is_empty() || scenarios.iter().any(|it| is_affected(it.id))
    };
    let (suite, sweep) = (has(ScenarioId::is_suite), has(ScenarioId::is_sweep));
    let mut parts = Vec::new();
    if suite || sweep || has(|id| id == ScenarioId::CpuOn) {
        let (samples, warmup) = (plan.iterations, plan.warmup);
        parts.push(format!(
            "{samples} samples a CPU after {warmup} for warm-up"
        ));
    }
    if suite || sweep {
        // Sweeps are by the first method only.
        let methods: Vec<Method> = plan.methods.iter().collect();
        let methods = methods.iter().take(if suite { usize::MAX } else { 1 });
        let words: Vec<&str> = methods.clone().map(|it| it.word()).collect();
        parts.push(format!("method {}", words.join(", ")));
        let mut wakes: Vec<&str> = methods.clone().map(|it| plan.wake_by(*it).word()).collect();
        wakes.dedup();
        parts.push(format!("wake {}", wakes.join(", ")));
    }
    for (key, state) in [("deepest", plan.deepest), ("core", plan.core)] {
        parts.extend(state.map(|state| format!("{key}={state:#010x}")));
    }
    Some(parts.join("; ")).filter(|text| !text.is_empty())
}

/// Returns the `power_state`s that were asked for, each with its scenarios.
fn states(run: &LoggedRun) -> Option<String> {
    let scenarios = run.run.scenarios.iter();
    let states = scenarios.filter_map(|it| {
        let state = it.conditions.as_ref()?.power_state?;
        Some((state, it.id.tag()))
    });
    let each = grouped(states).into_iter().map(|(state, mut tags)| {
        // The placements of a helper are one after another.
        tags.dedup();
        format!("{state:#010x} in {}", tags.join(", "))
    });
    let text = each.collect::<Vec<_>>().join("; ");
    Some(text).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::log::made_up_run::edited_log;
    use crate::report::log::read_bytes;

    #[test]
    fn words_without_effect_are_left_out() {
        let all = "2 samples a CPU after 1 for warm-up; method tftf; wake chain";
        for (id, expected) in [
            (ScenarioId::DirtySweep, Some(all)),
            (ScenarioId::NullCall, None),
            (ScenarioId::TimerLatency, None),
        ] {
            let log = edited_log(|run| {
                run.scenarios.truncate(1);
                run.scenarios[0].id = id;
            });
            let runs = read_bytes("a.log", log.as_bytes()).expect("a run");
            assert_eq!(plan(&runs[0]).as_deref(), expected);
        }
    }
}
