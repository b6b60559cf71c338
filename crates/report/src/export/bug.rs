//! `bug`: text for an issue in the firmware's tracker. For each check that failed, the text states
//! what was called, what the specification says, what was returned, and on which CPUs.

use std::io::Write;

use anyhow::{Result, bail};
use hardware::text::plural::many;
use run::findings::FAILED_CHECK;
use run::model::{Check, Function, Probe, Scenario};

use super::method::method;
use super::report_data::Report;
use crate::analysis::findings::findings;
use crate::analysis::words::cpus_text;
use crate::log::LoggedRun;

/// The lines about a run that matter to firmware developers.
const CONDITIONS: [&str; 8] = [
    "Payload", "Board", "CPUs", "Cores", "Firmware", "Service", "PSCI", "States",
];

pub(super) fn write(report: &Report, out: &mut dyn Write) -> Result<()> {
    let run = report.only_run("bug")?;
    let mut checked = run.run.scenarios.iter().filter(|it| !it.checks.is_empty());
    let Some(scenario) = checked.next() else {
        bail!("--format bug: the log has no checks; run the payload with only=fitness");
    };
    let failed: Vec<&Check> = scenario
        .checks
        .iter()
        .filter(|it| it.has_failed())
        .collect();
    if failed.is_empty() {
        writeln!(out, "Nothing to report: no check failed.")?;
        return Ok(());
    }
    writeln!(out, "{}\n", title(&failed))?;
    for (name, text) in method(run) {
        if CONDITIONS.contains(&name) {
            writeln!(out, "{name}: {text}")?;
        }
    }
    let sentences = findings(run, scenario).into_iter();
    let sentences = sentences.filter(|finding| finding.kind == FAILED_CHECK);
    for (check, finding) in failed.iter().zip(sentences) {
        one_check(out, (run, scenario), check, &finding.sentence)?;
    }
    Ok(())
}

/// Returns the names of the functions that fail.
fn title(failed: &[&Check]) -> String {
    let mut names: Vec<&str> = failed.iter().map(|check| check.function.name()).collect();
    names.dedup();
    format!("{} not working as specified", names.join(", "))
}

fn one_check(
    out: &mut dyn Write,
    (run, scenario): (&LoggedRun, &Scenario),
    check: &Check,
    sentence: &str,
) -> Result<()> {
    let (function, id) = (check.function.name(), check.function.id());
    writeln!(out, "\n{function} ({id:#010x}): {}", check.probe.title())?;
    if let Some(call) = call_text(check) {
        writeln!(out, "  Called: {call}")?;
    }
    if let Some(permitted) = check.probe.permitted() {
        let section = check.function.specification();
        writeln!(out, "  Expected: {permitted} ({section})")?;
    }
    if let Some(answer) = check.shown_answer() {
        writeln!(out, "  Returned: {answer}")?;
    }
    if !check.cpus.is_empty() {
        let cpus = cpus_text(&run.run, check.cpus.iter());
        let mpidrs = check.cpus.iter().filter_map(|cpu| run.run.cpu(cpu).mpidr);
        let mpidrs: Vec<String> = mpidrs.map(|mpidr| mpidr.to_string()).collect();
        writeln!(out, "  On: {cpus} (MPIDR {})", mpidrs.join(", "))?;
    }
    let is_same = |other: &&Check| {
        let is_other = !other.has_failed() && !other.cpus.is_empty();
        is_other && (other.function, other.probe, other.x) == (check.function, check.probe, check.x)
    };
    let works = scenario.checks.iter().filter(is_same);
    let works: usize = works.map(|other| other.cpus.iter().count()).sum();
    if works > 0 {
        writeln!(out, "  Works on: {}", many(works, "other CPU"))?;
    }
    writeln!(out, "  Result: {sentence}")?;
    Ok(())
}

/// Returns the call with the names of its arguments (DEN0022F, section 5).
fn call_text(check: &Check) -> Option<String> {
    let x = check.x.unwrap_or(0);
    Some(match (check.function, check.probe) {
        (_, Probe::Listed) => format!("PSCI_FEATURES({:#010x})", check.function.id()),
        (Function::CpuOn, Probe::Again) => {
            format!("CPU_ON(MPIDR, entry, context), {x} us after AFFINITY_INFO returned OFF")
        }
        (Function::CpuOn, Probe::WrongMpidr) => "CPU_ON(unknown MPIDR, entry, context)".to_owned(),
        (Function::CpuOn, Probe::WrongAddress) => "CPU_ON(MPIDR, no memory, context)".to_owned(),
        (Function::CpuOn, _) => "CPU_ON(MPIDR, entry, context)".to_owned(),
        (Function::CpuOff, _) => "CPU_OFF()".to_owned(),
        (Function::AffinityInfo, Probe::Level) => format!("AFFINITY_INFO(MPIDR, {x})"),
        (Function::AffinityInfo, _) => "AFFINITY_INFO(MPIDR, 0)".to_owned(),
        (Function::CpuSuspend, _) => format!("CPU_SUSPEND({x:#010x}, entry, context)"),
        (Function::StatCount, _) => format!("PSCI_STAT_COUNT(MPIDR, {x:#010x})"),
        (Function::StatResidency, _) => format!("PSCI_STAT_RESIDENCY(MPIDR, {x:#010x})"),
        (Function::NodeHwState, _) => "NODE_HW_STATE(MPIDR, 0)".to_owned(),
        (Function::SetSuspendMode, Probe::OsInitiated) => "SET_SUSPEND_MODE(1)".to_owned(),
        (Function::SetSuspendMode, Probe::Platform) => "SET_SUSPEND_MODE(0)".to_owned(),
        (Function::SetSuspendMode, _) => "SET_SUSPEND_MODE(7)".to_owned(),
        (Function::PsciFeatures, _) => "PSCI_FEATURES(0x8400001f)".to_owned(),
        _ => return None,
    })
}
