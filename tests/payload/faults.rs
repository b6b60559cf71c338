//! Board faults injected into real firmware. Each test boots QEMU under a TF-A build with one fault
//! (platforms/qemu/tf-a). Each test expects a verdict that identifies the fault, the CPU and the
//! step, and complete results for everything that the fault does not affect.
//!
//! docs/reliability.md describes these faults.

use std::collections::BTreeMap;
use std::time::Duration;

use hardware::board::Mpidr;
use runner::qemu::run_spec::{Payload, RunSpec};
use suite::measure::Reason;
use suite::model::Verdict::{self, Fail, Incomplete, Pass};
use suite::plan::ScenarioId;

use crate::common::{self, Ran};

/// The number of samples requested.
const N: u32 = 3;
/// The number of CPUs in the machine, in clusters of four. The lead is CPU 0.
const CPUS: u64 = 8;
/// The CPU that most faults affect.
const VICTIM: Mpidr = Mpidr::new(5);

const ALL: [ScenarioId; 6] = ScenarioId::SUITE;
const SERIAL: [ScenarioId; 2] = [
    ScenarioId::SUSPEND_DEEP_SERIAL,
    ScenarioId::CPU_SUSPEND_SERIAL,
];
/// The scenarios that suspend a CPU. PSCI_VERSION, the only other scenario, is measured before
/// these.
const SUSPENDING: [ScenarioId; 5] = [
    ScenarioId::SUSPEND_DEEP_PARALLEL,
    ScenarioId::SUSPEND_DEEP_SERIAL,
    ScenarioId::CPU_SUSPEND_PARALLEL,
    ScenarioId::CPU_SUSPEND_SERIAL,
    ScenarioId::CPU_OFF_SERIAL,
];
/// The scenarios that CPU_SUSPEND faults do not affect.
const UNTOUCHED: [ScenarioId; 2] = [
    ScenarioId::CPU_OFF_SERIAL,
    ScenarioId::PSCI_VERSION_PARALLEL,
];

/// Returns `fault`, restricted to the victim.
fn at_victim(fault: &str) -> String {
    format!("{fault},cpu={VICTIM}")
}

/// Returns a run under firmware with `fault`. With the instruction clock, waiting for deadlines
/// takes no real time, and runs are repeatable.
fn spec(fault: &str) -> RunSpec {
    let options = format!("--icount --fault {fault}");
    common::spec(&options, &format!("iterations={N} warmup=1"))
}

/// Returns a run that measures only this scenario.
fn only(scenario: &str, fault: &str) -> RunSpec {
    let args = Some(format!("iterations={N} warmup=1 only={scenario}"));
    RunSpec {
        args,
        ..spec(fault)
    }
}

/// Returns a run in which a CPU may spin for seconds. With the instruction clock, such a run would
/// take minutes.
fn by_the_hosts_clock(fault: &str) -> RunSpec {
    let icount = false;
    RunSpec {
        icount,
        ..spec(fault)
    }
}

/// Runs `spec`, and expects this verdict and these strings. The fault must have occurred.
fn run(spec: &RunSpec, verdict: Verdict, words: &[&str]) -> Ran {
    let seen = common::expect_verdict(spec, verdict).says(words);
    // The firmware prints the fault name when the fault occurs. If the fault did not occur, the
    // test would prove nothing.
    let fault = spec.fault.as_deref().expect("the run has a fault");
    let name = fault.split(',').next().expect("the fault has a name");
    let struck = format!("psci-bench fault: {name} struck ");
    let text = seen.result.text();
    let times: u32 = match text.split_once(&struck) {
        Some((_, suffix)) => {
            let count = suffix.split(' ').next().expect("a first word");
            count.parse().unwrap_or(0)
        }
        None => 0,
    };
    assert!(times > 0, "fault {name} did not occur\n{text}");
    seen
}

impl Ran {
    /// Checks that every CPU except those in `but` has all samples for these scenarios.
    fn complete_but(self, scenarios: &[ScenarioId], but: &[Mpidr]) -> Self {
        let log = self.log();
        let all_cpus = (0..CPUS).map(Mpidr::new);
        let expected: Vec<Mpidr> = all_cpus.filter(|cpu| !but.contains(cpu)).collect();
        for scenario in scenarios {
            let mut complete_cpus = Vec::new();
            for (cpu, cell) in log.cells(*scenario) {
                if cell.valid() == N {
                    complete_cpus.push(cpu);
                }
            }
            assert_eq!(complete_cpus, expected, "{scenario:?}\n{}", log.text);
        }
        self
    }

    /// Counts the attempts at `scenario` on `cpu` that were rejected for `reason`.
    fn count_rejected(&self, scenario: ScenarioId, reason: Reason, cpu: Mpidr) -> u32 {
        let mut sum = 0;
        for (mpidr, cell) in self.log().cells(scenario) {
            if mpidr == cpu {
                let counts = cell.counts.iter();
                sum += counts
                    .map(|counts| counts.rejected_for(reason))
                    .sum::<u32>();
            }
        }
        sum
    }
}

/// Expects the fault to have no effect: every CPU has all its samples.
fn expect_all_samples(spec: &RunSpec, words: &[&str]) -> Ran {
    run(spec, Pass, words).complete_but(&ALL, &[])
}

/// Expects the victim to be lost before any of its scenarios has collected all samples.
fn expect_victim_lost(spec: &RunSpec, words: &[&str]) -> Ran {
    expect_loss(spec, words).complete_but(&ALL, &[VICTIM])
}

/// Expects the victim to be lost in a suspend, after PSCI_VERSION has been measured.
fn expect_victim_lost_in_suspend(spec: &RunSpec, words: &[&str]) -> Ran {
    expect_loss(spec, words)
        .complete_but(&[ScenarioId::PSCI_VERSION_PARALLEL], &[])
        .complete_but(&SUSPENDING, &[VICTIM])
}

/// Expects only the victim's loss to be reported, with the reason in the first of `words`. The
/// report must be on its own line, before the scenario ends.
fn expect_loss(spec: &RunSpec, words: &[&str]) -> Ran {
    let lost = format!("CPU 1.1 was lost: {}", words[0]);
    let all_words = [&[lost.as_str(), "1 CPU lost"], &words[1..]].concat();
    let seen = run(spec, Fail, &all_words);
    let text = seen.result.text();
    let loss = text.find("was lost").expect("a loss");
    let line_start = text[..loss].rfind('\n').map_or(0, |newline| newline + 1);
    let first_line = common::one_line(&text[line_start..]);
    assert!(first_line.starts_with(&lost), "{text}");
    seen
}

/// Expects all CPUs except the lead to be lost, one after another, while the lead's own
/// measurements continue.
fn expect_all_but_lead_lost(spec: &RunSpec, _: &[&str]) {
    let others: Vec<Mpidr> = (1..CPUS).map(Mpidr::new).collect();
    run(spec, Fail, &["7 CPUs lost"]).complete_but(&ALL, &others);
}

/// Expects every CPU_SUSPEND on the victim to fail. The parallel scenarios have no valid rounds and
/// report the reason. The serial scenarios have results for all other CPUs.
fn expect_suspend_failed(spec: &RunSpec, words: &[&str]) {
    let all_words = [words, &["2 passed, 0 skipped, 4 failed", "0 CPUs lost"]].concat();
    run(spec, Fail, &all_words)
        .complete_but(&SERIAL, &[VICTIM])
        .complete_but(&UNTOUCHED, &[]);
}

/// Expects every CPU_SUSPEND on the victim to be rejected with this error.
fn expect_suspend_rejected(spec: &RunSpec, words: &[&str]) {
    let refused = format!("rejects power_state 0x02010222 on CPU 1.1: {}", words[0]);
    expect_suspend_failed(spec, &[&refused]);
}

/// Expects PMF timestamps to be unavailable for this reason, and caller-side times to be measured.
fn expect_only_caller_times(spec: &RunSpec, words: &[&str]) {
    let reason = format!("no PMF timestamps: {}", words[0]);
    // The lead cannot turn itself on.
    let but_off: Vec<_> = ALL
        .into_iter()
        .filter(|id| *id != ScenarioId::CPU_OFF_SERIAL)
        .collect();
    run(spec, Pass, &[&reason])
        .lacks(&["<RT_INSTR:"])
        .complete_but(&but_off, &[]);
}

/// Expects the victim's timestamps to be invalid and its samples to be rejected for this reason.
fn expect_invalid_stamps(spec: &RunSpec, words: &[&str]) {
    let reason = format!("on CPU 1.1: {}", words[0]);
    let seen = run(spec, Fail, &[&reason]).complete_but(&SERIAL, &[VICTIM]);
    let log = seen.log();
    let mut cells = log.cells(ScenarioId::SUSPEND_DEEP_SERIAL);
    let (_, cell) = cells.find(|(cpu, _)| *cpu == VICTIM).expect("a cell");
    assert_eq!(cell.valid(), 0, "{}", seen.plain);
}

/// Expects the lead to be lost. Another CPU reports the loss and ends the run.
fn expect_lead_lost(spec: &RunSpec, words: &[&str]) {
    run(spec, Incomplete, words);
}

/// Expects PASS and these strings.
fn expect_pass(spec: &RunSpec, words: &[&str]) {
    run(spec, Pass, words);
}

mod cpu_off;
mod cpu_on;
mod lead;
mod machine;
mod pmf;
mod suspend;
