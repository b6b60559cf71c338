//! Board faults, in real firmware: each test boots QEMU under a TF-A with one fault
//! (platforms/qemu/tf-a). It expects a verdict that names the fault, the CPU and the step, and
//! complete results for everything that the fault does not affect.
//!
//! docs/reliability.md describes these faults.

use std::collections::BTreeMap;
use std::time::Duration;

use hardware::board::Mpidr;
use run::measure::Reason;
use run::model::Verdict::{self, Fail, Incomplete, Pass};
use run::plan::ScenarioId::{
    self, CpuOffSerial, CpuSuspendParallel, CpuSuspendSerial, PsciVersionParallel,
    SuspendDeepParallel, SuspendDeepSerial,
};
use xtask::qemu::run_spec::{Payload, RunSpec};

use crate::common::{self, Ran};

/// The number of samples requested.
const N: u32 = 3;
/// The machine's number of CPUs, in clusters of four. The lead is CPU 0.
const CPUS: u64 = 8;
/// The CPU that most faults affect.
const VICTIM: Mpidr = Mpidr::new(5);

const ALL: [ScenarioId; 6] = ScenarioId::SUITE;
const SERIAL: [ScenarioId; 2] = [SuspendDeepSerial, CpuSuspendSerial];
/// The scenarios that suspend a CPU. PSCI_VERSION is measured before them.
const SUSPENDING: [ScenarioId; 5] = [
    SuspendDeepParallel,
    SuspendDeepSerial,
    CpuSuspendParallel,
    CpuSuspendSerial,
    CpuOffSerial,
];
/// The scenarios that CPU_SUSPEND faults do not affect.
const UNTOUCHED: [ScenarioId; 2] = [CpuOffSerial, PsciVersionParallel];

/// Returns `fault`, limited to the victim.
fn at_victim(fault: &str) -> String {
    format!("{fault},cpu={VICTIM}")
}

/// Returns a run under firmware with `fault`. Under the instruction clock, deadlines take no real
/// time and runs are repeatable.
fn spec(fault: &str) -> RunSpec {
    let options = format!("--icount --fault {fault}");
    common::spec(&options, &format!("iterations={N} warmup=1"))
}

/// Returns a run with only this scenario.
fn only(scenario: &str, fault: &str) -> RunSpec {
    let args = Some(format!("iterations={N} warmup=1 only={scenario}"));
    RunSpec {
        args,
        ..spec(fault)
    }
}

/// Returns a run in which a CPU may spin for seconds, which would take minutes under the
/// instruction clock.
fn by_the_hosts_clock(fault: &str) -> RunSpec {
    let icount = false;
    RunSpec {
        icount,
        ..spec(fault)
    }
}

/// Runs `spec`, and expects this verdict, these words, and that the fault occurred.
fn run(spec: &RunSpec, verdict: Verdict, words: &[&str]) -> Ran {
    let seen = common::ends(spec, verdict).says(words);
    // The firmware prints the name of its fault; otherwise the test would prove nothing.
    let fault = spec.fault.as_deref().expect("a run with a fault");
    let name = fault.split(',').next().expect("a split has a part");
    let struck = format!("psci-bench fault: {name} struck ");
    let text = seen.result.text();
    let times = text.split_once(&struck).map(|(_, rest)| rest);
    let times = times.and_then(|rest| rest.split(' ').next()?.parse().ok());
    assert!(times.unwrap_or(0) > 0, "no strike of {name}\n{text}");
    seen
}

impl Ran {
    /// Checks that all CPUs except these have all samples of these scenarios.
    fn complete_but(self, scenarios: &[ScenarioId], but: &[Mpidr]) -> Self {
        let log = self.log();
        for t in scenarios {
            let complete = log.cells(*t).filter(|(_, cell)| cell.valid() == N);
            let all = (0..CPUS).map(Mpidr::new);
            let rest = all.filter(|cpu| !but.contains(cpu));
            assert!(complete.map(|it| it.0).eq(rest), "{t:?}\n{}", log.text);
        }
        self
    }

    /// Counts the attempts of scenario `t` on `cpu` that were rejected for `reason`.
    fn rejected(&self, t: ScenarioId, reason: Reason, cpu: Mpidr) -> u32 {
        let log = self.log();
        let cells = log.cells(t).filter(|(mpidr, _)| *mpidr == cpu);
        let counts = cells.flat_map(|(_, cell)| cell.counts.iter().flat_map(|it| &it.rejected));
        counts.filter(|it| it.0 == reason).map(|it| it.1).sum()
    }
}

/// Expects no effect: every CPU has all its samples.
fn costs_nothing(spec: &RunSpec, words: &[&str]) -> Ran {
    run(spec, Pass, words).complete_but(&ALL, &[])
}

/// Expects that the victim is lost before it has all samples of any scenario.
fn loses_victim(spec: &RunSpec, words: &[&str]) -> Ran {
    names_loss(spec, words).complete_but(&ALL, &[VICTIM])
}

/// Expects that the victim is lost in a suspend, after PSCI_VERSION.
fn loses_victim_in_suspend(spec: &RunSpec, words: &[&str]) -> Ran {
    names_loss(spec, words)
        .complete_but(&[PsciVersionParallel], &[])
        .complete_but(&SUSPENDING, &[VICTIM])
}

/// Expects that only the victim's loss is reported, with the reason in the first of `words`. The
/// report is on a separate line, before the scenario ends.
fn names_loss(spec: &RunSpec, words: &[&str]) -> Ran {
    let lost = format!("CPU 1.1 was lost: {}", words[0]);
    let words = [&[lost.as_str(), "1 CPU lost"], &words[1..]].concat();
    let seen = run(spec, Fail, &words);
    let text = seen.result.text();
    let place = text.find("was lost").expect("a loss");
    let begin = text[..place].rfind('\n').map_or(0, |it| it + 1);
    let first = common::one_line(&text[begin..]);
    assert!(first.starts_with(&lost), "{text}");
    seen
}

/// Expects that all CPUs except the lead are lost, one after another; the lead's own part
/// continues.
fn loses_all_but_lead(spec: &RunSpec, _: &[&str]) {
    let others: Vec<Mpidr> = (1..CPUS).map(Mpidr::new).collect();
    run(spec, Fail, &["7 CPUs lost"]).complete_but(&ALL, &others);
}

/// Expects that each CPU_SUSPEND on the victim fails: the parallel scenarios have no valid round
/// and name the reason; the serial scenarios have all other CPUs.
fn spoils_suspend(spec: &RunSpec, words: &[&str]) {
    let words = [words, &["2 passed, 0 skipped, 4 failed", "0 CPUs lost"]].concat();
    run(spec, Fail, &words)
        .complete_but(&SERIAL, &[VICTIM])
        .complete_but(&UNTOUCHED, &[]);
}

/// Expects that each CPU_SUSPEND on the victim is refused with this error.
fn refuses_suspend(spec: &RunSpec, words: &[&str]) {
    let refused = format!("rejects power_state 0x02010222 on CPU 1.1: {}", words[0]);
    spoils_suspend(spec, &[&refused]);
}

/// Expects that there are no PMF timestamps, for this reason, and that the caller-side times are
/// measured.
fn leaves_callers_side(spec: &RunSpec, words: &[&str]) {
    let reason = format!("no PMF timestamps: {}", words[0]);
    // The lead cannot turn itself on.
    let but_off: Vec<_> = ALL.into_iter().filter(|it| *it != CpuOffSerial).collect();
    run(spec, Pass, &[&reason])
        .lacks(&["<RT_INSTR:"])
        .complete_but(&but_off, &[]);
}

/// Expects that the victim's timestamps are invalid, so that its samples are rejected for this
/// reason.
fn spoils_stamps(spec: &RunSpec, words: &[&str]) {
    let reason = format!("on CPU 1.1: {}", words[0]);
    let seen = run(spec, Fail, &[&reason]).complete_but(&SERIAL, &[VICTIM]);
    let log = seen.log();
    let cell = log.cells(SuspendDeepSerial).find(|it| it.0 == VICTIM);
    assert_eq!(cell.expect("a cell").1.valid(), 0, "{}", seen.plain);
}

/// Expects that the lead is lost; another CPU reports it and ends the run.
fn loses_lead(spec: &RunSpec, words: &[&str]) {
    run(spec, Incomplete, words);
}

/// Expects PASS and these words.
fn passes(spec: &RunSpec, words: &[&str]) {
    run(spec, Pass, words);
}

mod cpu_off;
mod cpu_on;
mod lead;
mod machine;
mod pmf;
mod suspend;
