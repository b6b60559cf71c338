//! What can go wrong on a board, made to go wrong in real firmware: each test
//! boots QEMU under a TF-A that has one fault (platforms/qemu/tf-a), and
//! expects a verdict that names the fault, the CPU and the step, and complete
//! results of all that the fault does not touch.
//!
//! docs/reliability.md has the same matrix in words.

#[path = "../common/mod.rs"]
mod common;

mod cpu_off;
mod cpu_on;
mod lead;
mod machine;
mod pmf;
mod suspend;

use std::time::Duration;

use psci_bench::model::Verdict;
use xtask::qemu::run_result::RunResult;
use xtask::qemu::run_spec::RunSpec;
use xtask::qemu::stream::Ending;

/// Samples asked for.
const N: i64 = 3;
/// CPUs of the machine, in two clusters of four; the lead is 0.
const CPUS: u64 = 8;
/// The CPU that most faults strike.
const VICTIM: u64 = 5;

/// The scenarios by their numbers in records.
const SUSPEND_DEEP_PARALLEL: u32 = 1;
const SUSPEND_DEEP_SERIAL: u32 = 2;
const CPU_SUSPEND_PARALLEL: u32 = 3;
const CPU_SUSPEND_SERIAL: u32 = 4;
const CPU_OFF_SERIAL: u32 = 5;
const PSCI_VERSION_PARALLEL: u32 = 6;

/// A run under firmware with `fault`.
fn spec(fault: &str) -> RunSpec {
    RunSpec {
        fault: Some(fault.into()),
        variant: "faults=1".parse().expect("a variant"),
        // Deadlines cost no time, and a run repeats.
        icount: true,
        args: Some(format!("iterations={N} warmup=1")),
        timeout: Duration::from_secs(100),
        ..RunSpec::default()
    }
}

/// What came of a run.
struct Seen {
    result: RunResult,
    /// The log, what was wrapped in one line again.
    plain: String,
    log: Option<common::Log>,
}

/// Runs `spec` and expects this verdict, with its exit code and not by the
/// runner's timeout.
fn run(spec: &RunSpec, verdict: Verdict) -> Seen {
    let result = common::run(spec);
    let text = result.text();
    assert_eq!(result.verdict, verdict, "{:?}\n{text}", result.diagnosis);
    assert_ne!(result.ending, Ending::TimedOut, "{text}");
    assert_eq!(result.exit_code(), verdict.exit_code());
    // The firmware says which fault it has; without it nothing is shown.
    let fault = spec.fault.as_deref().unwrap_or_default();
    let name = fault.split(',').next().unwrap_or_default();
    let armed = format!("psci-bench fault: {name}");
    assert!(text.contains(&armed), "no {armed:?} in\n{text}");
    let struck = format!("{armed} struck ");
    let times = text.split_once(&struck).map(|(_, rest)| rest);
    let times = times.and_then(|rest| rest.split(' ').next()?.parse().ok());
    assert!(times.unwrap_or(0) > 0, "it did not strike\n{text}");
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let log = (verdict != Verdict::Incomplete).then(|| common::Log::new(&result.log));
    Seen { result, plain, log }
}

impl Seen {
    /// The log must have these words.
    fn says(self, words: &[&str]) -> Self {
        for word in words {
            let text = self.result.text();
            assert!(self.plain.contains(word), "no {word:?} in\n{text}");
        }
        self
    }

    fn log(&self) -> &common::Log {
        self.log.as_ref().expect("a run that reached its end")
    }

    /// The CPUs that have all samples of scenario `t`.
    fn complete(&self, t: u32) -> Vec<u64> {
        let valid = self.log().by_cpu("row", t, "valid");
        let complete = valid.into_iter().filter(|(_, valid)| *valid == N);
        complete.map(|(cpu, _)| cpu).collect()
    }

    /// All CPUs but these have all samples of these scenarios.
    fn complete_but(self, scenarios: &[u32], but: &[u64]) -> Self {
        let rest: Vec<u64> = (0..CPUS).filter(|cpu| !but.contains(cpu)).collect();
        for t in scenarios {
            assert_eq!(self.complete(*t), rest, "scenario {t}\n{}", self.log().text);
        }
        self
    }

    /// How often attempts of scenario `t` on `cpu` were not counted for
    /// `reason`.
    fn rejected(&self, t: u32, reason: &str, cpu: u64) -> i64 {
        let counts = self.log().by_cpu("x", t, reason);
        counts.get(&cpu).copied().unwrap_or(0)
    }
}

/// All scenarios.
const ALL: [u32; 6] = [
    SUSPEND_DEEP_PARALLEL,
    SUSPEND_DEEP_SERIAL,
    CPU_SUSPEND_PARALLEL,
    CPU_SUSPEND_SERIAL,
    CPU_OFF_SERIAL,
    PSCI_VERSION_PARALLEL,
];

/// `image` on a CPU whose HCR_EL2.E2H does not clear: its one write of HCR_EL2 is
/// taken out, so that what the firmware left there stays.
fn with_stuck_e2h(mut image: Vec<u8>) -> Vec<u8> {
    const MSR_HCR_EL2_X9: u32 = 0xd51c_1109;
    const NOP: u32 = 0xd503_201f;
    let writes = || {
        let words = image.chunks_exact(4).enumerate();
        words.filter(|(_, word)| **word == MSR_HCR_EL2_X9.to_le_bytes())
    };
    assert_eq!(writes().count(), 1, "one write of HCR_EL2");
    let (at, _) = writes().next().expect("it");
    image[4 * at..4 * at + 4].copy_from_slice(&NOP.to_le_bytes());
    image
}

/// A fault that strikes CPU `VICTIM`.
fn on_victim(name: &str) -> String {
    format!("{name},cpu={VICTIM:#x}")
}

/// A run from which the victim is lost, and which every other CPU finishes:
/// `how` is what is said of the loss.
fn loses_victim(fault: &str, how: &str) -> Seen {
    loses_victim_in(&spec(fault), how)
}

/// The same fault where a CPU may spin for seconds: the instruction clock
/// would make that last for minutes.
fn by_the_hosts_clock(fault: &str) -> RunSpec {
    RunSpec {
        icount: false,
        ..spec(fault)
    }
}

fn loses_victim_in(spec: &RunSpec, how: &str) -> Seen {
    let seen = run(spec, Verdict::Fail);
    let lost = format!("CPU 1.1 was lost: {how}");
    seen.says(&[&lost, "1 CPUs lost"])
        .complete_but(&ALL, &[VICTIM])
}
