//! Faults of boards, in real firmware: each test
//! boots QEMU under a TF-A that has one fault (platforms/qemu/tf-a), and
//! expects a verdict that names the fault, the CPU and the step, and complete
//! results of all that the fault does not touch.
//!
//! docs/reliability.md has these faults in words.

#[path = "../common/mod.rs"]
mod common;

use std::time::Duration;

use psci_bench::model::Verdict::{self, Fail, Incomplete, Pass};
use xtask::qemu::run_spec::RunSpec;

/// Samples asked for.
const N: i64 = 3;
/// CPUs of the machine, in two clusters of four; the lead is 0.
const CPUS: u64 = 8;
/// The CPU that most faults strike, in their words `V`.
const VICTIM: u64 = 5;

/// The scenarios by their numbers in records.
const SUSPEND_DEEP_PARALLEL: u32 = 1;
const SUSPEND_DEEP_SERIAL: u32 = 2;
const CPU_SUSPEND_PARALLEL: u32 = 3;
const CPU_SUSPEND_SERIAL: u32 = 4;
const CPU_OFF_SERIAL: u32 = 5;
const PSCI_VERSION_PARALLEL: u32 = 6;
const ALL: [u32; 6] = [1, 2, 3, 4, 5, 6];
const SERIAL: [u32; 2] = [SUSPEND_DEEP_SERIAL, CPU_SUSPEND_SERIAL];
/// Those that no fault of CPU_SUSPEND touches.
const UNTOUCHED: [u32; 2] = [CPU_OFF_SERIAL, PSCI_VERSION_PARALLEL];

/// A run under firmware with `fault`.
fn spec(fault: &str) -> RunSpec {
    RunSpec {
        fault: Some(fault.replace(",V", &format!(",cpu={VICTIM:#x}"))),
        variant: "faults=1".parse().expect("a variant"),
        // Deadlines cost no time, and a run repeats.
        icount: true,
        args: Some(format!("iterations={N} warmup=1")),
        timeout: Duration::from_secs(100),
        ..RunSpec::default()
    }
}

/// A run of this scenario alone.
fn only(scenario: &str, fault: &str) -> RunSpec {
    RunSpec {
        args: Some(format!("iterations={N} warmup=1 only={scenario}")),
        ..spec(fault)
    }
}

/// A run in which a CPU may spin for seconds: the instruction clock would make
/// that last for minutes.
fn by_the_hosts_clock(fault: &str) -> RunSpec {
    RunSpec {
        icount: false,
        ..spec(fault)
    }
}

/// A run that ended as expected, and under the fault that was asked for.
struct Seen {
    ran: common::Ran,
    log: common::Log,
}

/// Runs `spec` and expects this verdict, these words, and that the fault struck.
fn run(spec: &RunSpec, verdict: Verdict, words: &[&str]) -> Seen {
    let ran = common::ends(spec, verdict).says(words);
    // The firmware names its fault; without it nothing is shown.
    let fault = spec.fault.as_deref().unwrap_or_default();
    let name = fault.split(',').next().unwrap_or_default();
    let struck = ran.plain.split_once(&format!("fault: {name} struck "));
    let is_struck = struck.is_some_and(|(_, times)| !times.starts_with("0 "));
    assert!(is_struck, "no strike of {name}\n{}", ran.result.text());
    let log = ran.log();
    Seen { ran, log }
}

impl Seen {
    /// All CPUs but these have all samples of these scenarios.
    fn complete_but(self, scenarios: &[u32], but: &[u64]) -> Self {
        let rest: Vec<u64> = (0..CPUS).filter(|cpu| !but.contains(cpu)).collect();
        for t in scenarios {
            let mut complete = self.log.by_cpu("row", *t, "valid");
            complete.retain(|_, valid| *valid == N);
            let complete: Vec<u64> = complete.into_keys().collect();
            assert_eq!(complete, rest, "scenario {t}\n{}", self.log.text);
        }
        self
    }

    /// Counts the victim's attempts in scenario `t` that were rejected for `reason`.
    fn rejected(&self, t: u32, reason: &str) -> i64 {
        let counts = self.log.by_cpu("x", t, reason);
        counts.get(&VICTIM).copied().unwrap_or(0)
    }
}

/// Costs nothing: each CPU has all samples.
fn costs_nothing(spec: &RunSpec, words: &[&str]) {
    run(spec, Pass, words).complete_but(&ALL, &[]);
}

/// Loses the victim, for the reason in the first of `words`, and no other CPU.
fn loses_victim(spec: &RunSpec, words: &[&str]) {
    let lost = format!("CPU 1.1 was lost: {}", words[0]);
    let words = [&[lost.as_str(), "1 CPUs lost"], &words[1..]].concat();
    run(spec, Fail, &words).complete_but(&ALL, &[VICTIM]);
}

/// Loses one CPU after the other; the lead's own part goes on.
fn loses_all_but_lead(spec: &RunSpec, _: &[&str]) {
    let others: Vec<u64> = (1..CPUS).collect();
    run(spec, Fail, &["7 CPUs lost"]).complete_but(&ALL, &others);
}

/// Spoils each CPU_SUSPEND of the victim: the parallel scenarios have no round
/// that counts and name the reason, the serial ones have all other CPUs.
fn spoils(spec: &RunSpec, reason: &str) {
    let words = [reason, "2 passed, 0 skipped, 4 failed", "0 CPUs lost"];
    run(spec, Fail, &words)
        .complete_but(&SERIAL, &[VICTIM])
        .complete_but(&UNTOUCHED, &[]);
}

/// Spoils each CPU_SUSPEND of the victim, which is rejected for this reason.
fn spoils_suspend(spec: &RunSpec, words: &[&str]) {
    spoils(
        spec,
        &format!("the last one failed on CPU 1.1: {}", words[0]),
    );
}

/// Refuses each CPU_SUSPEND of the victim with this error.
fn refuses_suspend(spec: &RunSpec, words: &[&str]) {
    let refused = "refuses power_state 0x02010222 on CPU 1.1: ";
    spoils(spec, &format!("{refused}{}", words[0]));
}

/// Leaves no PMF timestamps, for this reason: the caller's side is measured.
fn leaves_callers_side(spec: &RunSpec, words: &[&str]) {
    let reason = format!("no PMF timestamps: {}", words[0]);
    // The lead cannot be turned on by itself.
    run(spec, Pass, &[&reason, "!<RT_INSTR:"]).complete_but(&[1, 2, 3, 4, 6], &[]);
}

/// Spoils the victim's timestamps, whose samples are rejected for this reason.
fn spoils_stamps(spec: &RunSpec, words: &[&str]) {
    let reason = format!("on CPU 1.1: {}", words[0]);
    let seen = run(spec, Fail, &[&reason]).complete_but(&SERIAL, &[VICTIM]);
    let rows = seen.log.by_cpu("row", SUSPEND_DEEP_SERIAL, "valid");
    assert_eq!(rows.get(&VICTIM), Some(&0), "{}", seen.log.text);
}

/// Loses the lead; another CPU reports it, and ends the run.
fn loses_lead(spec: &RunSpec, words: &[&str]) {
    run(spec, Incomplete, words);
}

/// Ends with PASS, and these words.
fn passes(spec: &RunSpec, words: &[&str]) {
    run(spec, Pass, words);
}

/// Makes a test of each row: its name, the run, and what comes of it.
macro_rules! faults {
    ($($name:ident: $check:ident($spec:expr) $words:expr;)*) => {
        $(#[test]
        fn $name() {
            $check(&$spec, &$words);
        })*
    };
}

mod machine;

mod cpu_off {
    use super::*;

    faults! {
        denied: loses_victim(spec("cpu-off-denied,V"))
            ["AFFINITY_INFO to say OFF: firmware returned DENIED"];
        comes_back_with_success: loses_victim(spec("cpu-off-returns-success,V"))
            ["AFFINITY_INFO to say OFF: firmware returned"];
        affinity_info_never_says_off: loses_victim(spec("affinity-never-off,V"))
            ["timed out waiting for AFFINITY_INFO to say OFF"];
        affinity_info_fails: loses_victim(spec("affinity-error,V"))
            ["AFFINITY_INFO to say OFF: firmware returned INVALID_PARAMETERS"];
        affinity_info_says_off_of_no_cpu: loses_all_but_lead(spec("affinity-never-off")) [];
    }

    /// The victim goes off for another CPU's turn, with no part of its own: its
    /// cluster mates' figures are those of a cluster that stays up.
    #[test]
    fn denied_out_of_turn() {
        for fault in [
            "cpu-off-denied,V,skip=1",
            "cpu-off-returns-success,V,skip=1",
        ] {
            let args = "iterations=2 warmup=0 only=susp_deep_serial method=warm";
            let spec = RunSpec {
                args: Some(args.into()),
                ..spec(fault)
            };
            let words = [
                "CPU 1.1 was lost: AFFINITY_INFO to say OFF: firmware returned",
                "Reached: not known, as a CPU was lost",
                "may be on, and keep up its cluster",
                "1 CPUs lost",
                "!Reached, by",
            ];
            run(&spec, Fail, &words);
        }
    }
}

mod cpu_on {
    use super::*;

    faults! {
        internal_failure: loses_victim(spec("cpu-on-internal-failure,V"))
            ["CPU_ON: firmware returned INTERNAL_FAILURE"];
        denied: loses_victim(spec("cpu-on-denied,V")) ["CPU_ON: firmware returned DENIED"];
        invalid_address: loses_victim(spec("cpu-on-invalid-address,V"))
            ["CPU_ON: firmware returned INVALID_ADDRESS"];
        already_on_for_ever: loses_victim(spec("cpu-on-already-on,V"))
            ["CPU_ON: firmware returned ALREADY_ON"];
        on_pending_for_ever: loses_victim(spec("cpu-on-pending,V"))
            ["CPU_ON: firmware returned ON_PENDING"];
        // An earlier CPU_OFF may take its time.
        on_pending_for_a_while: costs_nothing(spec("cpu-on-pending,V,count=20")) [];
        never_arrives: loses_victim(spec("cpu-on-lost,V"))
            ["timed out waiting for arrival after CPU_ON"];
        no_cpu_arrives: loses_all_but_lead(spec("cpu-on-lost")) [];
        // Late, but within the time that a CPU has.
        arrives_late:
            costs_nothing(by_the_hosts_clock("cpu-on-late,V,skip=1,count=1,arg=1000000")) [];
        // Later than that, the CPU is sent away when it comes, and keeps no cluster up.
        arrives_too_late: loses_victim(by_the_hosts_clock("cpu-on-late,V,count=1,arg=12000000"))
            ["timed out waiting for arrival after CPU_ON", "!Warning"];
        another_context_id: loses_victim(spec("cpu-on-wrong-context,V"))
            ["entered with a wrong context ID before arrival after CPU_ON"];
    }

    /// A fault of one CPU's first CPU_ON alone costs that CPU, not the next ones.
    #[test]
    fn an_error_that_comes_once() {
        let spec = spec("cpu-on-internal-failure,V,skip=4,count=1");
        let words = ["CPU 1.1 was lost: CPU_ON: firmware returned INTERNAL_FAILURE"];
        run(&spec, Fail, &words).complete_but(&ALL[1..], &[VICTIM]);
    }
}

mod lead {
    use super::*;

    faults! {
        never_wakes_in_a_parallel_round:
            loses_lead(only("susp_deep_parallel", "suspend-never,cpu=0x0,skip=3,count=1"))
            ["> Executing 'Suspend to deepest power level on all cores in parallel'",
             "INCOMPLETE: the lead, CPU 0x0, is lost: timed out waiting for return from the \
              call (seen by CPU 0x"];
        // No timer ends PSCI_VERSION.
        never_returns_from_psci_version:
            loses_lead(only("psci_version_parallel", "smc-hang,cpu=0x0,skip=4,arg=0"))
            ["the lead, CPU 0x0, is lost"];
        // CPU_ON for the second CPU, with the first one on.
        never_returns_from_cpu_on:
            loses_lead(only("psci_version_parallel", "smc-hang,cpu=0x0,skip=1,arg=3"))
            ["the lead, CPU 0x0, is lost: timed out waiting for CPU_ON (seen by CPU 0x1)"];
        takes_an_exception:
            loses_lead(only("susp_deep_parallel", "suspend-bad-return,cpu=0x0,arg=1"))
            ["Unhandled exception on CPU 0x0", "INCOMPLETE: exception on the lead CPU"];
        // A wrong context ID of the lead is counted as any other CPU's, and not fatal.
        comes_back_with_another_context_id:
            passes(only("susp_deep_parallel", "suspend-wrong-context,cpu=0x0,skip=3,count=1,arg=3"))
            ["wrong-context"];
    }
}

mod pmf {
    use super::*;

    faults! {
        is_not_there: leaves_callers_side(spec("pmf-absent")) ["the firmware does not implement it"];
        answers_by_the_older_function_ids_only: costs_nothing(spec("pmf-sip-only"))
            ["Arm SiP call 0xc2000010"];
        knows_no_timestamp: leaves_callers_side(spec("pmf-bad-tid")) ["no such timestamp (-22)"];
        leaves_x0_as_it_was: leaves_callers_side(spec("pmf-fid-left")) ["X0 unchanged"];
        stale: spoils_stamps(spec("pmf-stale,V")) ["stale"];
        all_zero: spoils_stamps(spec("pmf-zero,V")) ["stale"];
        out_of_order: spoils_stamps(spec("pmf-disorder,V")) ["disorder"];
        from_before_the_call: spoils_stamps(spec("pmf-before-call,V")) ["stale"];
        from_after_the_return: spoils_stamps(spec("pmf-future,V")) ["future"];
        a_counter_that_stopped: spoils_stamps(spec("pmf-counter-stopped,V")) ["counter-stopped"];
    }

    #[test]
    fn fails_on_one_cpu() {
        run(&spec("pmf-bad-tid,V"), Fail, &["on CPU 1.1: pmf-read"])
            .complete_but(&SERIAL, &[VICTIM])
            .complete_but(&[CPU_OFF_SERIAL], &[VICTIM]);
    }

    /// Samples from before the fault count.
    #[test]
    fn fails_later() {
        run(&spec("pmf-fails-later,V,skip=100"), Fail, &["pmf-read"]).complete_but(&[1, 2], &[]);
    }

    #[test]
    fn a_stale_timestamp_in_psci_version() {
        let words = [
            "CPU 1.1 has 0 valid samples of 3",
            "the first on CPU 1.1: stale: EnterPsci",
        ];
        let seen = run(&only("psci_version_parallel", "pmf-stale,V"), Fail, &words);
        assert!(seen.rejected(PSCI_VERSION_PARALLEL, "stale") > 0);
    }
}

mod suspend {
    use super::*;

    faults! {
        invalid_parameters: refuses_suspend(spec("suspend-invalid-parameters,V"))
            ["INVALID_PARAMETERS"];
        denied: refuses_suspend(spec("suspend-denied,V")) ["DENIED"];
        internal_failure: refuses_suspend(spec("suspend-internal-failure,V")) ["INTERNAL_FAILURE"];
        // No skip, since the other CPUs have it.
        not_supported_on_one_cpu:
            refuses_suspend(spec("suspend-not-supported,V")) ["NOT_SUPPORTED"];
        given_up_as_before_2_13: spoils_suspend(spec("suspend-abandoned-2.12,V")) ["abandoned"];
        given_up_as_since_2_13: spoils_suspend(spec("suspend-abandoned-2.13,V")) ["abandoned"];
        wakes_for_no_reason: spoils_suspend(spec("suspend-early,V")) ["early-wake"];
        never_wakes: loses_victim(spec("suspend-never,V"))
            ["timed out waiting for return from the call"];
        never_wakes_once: loses_victim(spec("suspend-never,V,skip=3,count=1"))
            ["timed out waiting for return from the call"];
        wakes_late:
            costs_nothing(by_the_hosts_clock("suspend-late,V,count=1,skip=4,arg=1000000")) [];
        // Later than its time, the CPU is lost, and sent away when it comes.
        wakes_too_late:
            loses_victim(by_the_hosts_clock("suspend-late,V,count=1,skip=4,arg=15000000"))
            ["timed out waiting for return from the call", "!Warning"];
        context_id_0: spoils_suspend(spec("suspend-wrong-context,V,arg=0")) ["wrong-context"];
        context_id_1: spoils_suspend(spec("suspend-wrong-context,V,arg=1")) ["wrong-context"];
        context_id_2: spoils_suspend(spec("suspend-wrong-context,V,arg=2")) ["wrong-context"];
        context_id_3: spoils_suspend(spec("suspend-wrong-context,V,arg=3")) ["wrong-context"];
        comes_back_to_nowhere: loses_victim(spec("suspend-bad-return,V,arg=1"))
            ["took an exception before return from the call", "Unhandled exception on CPU 0x5",
             "instruction abort"];
        // Resumed where nothing is, without vectors. Such a CPU takes the instruction
        // clock from all others.
        is_resumed_nowhere: loses_victim(by_the_hosts_clock("suspend-bad-return,V"))
            ["timed out waiting for return from the call"];
    }

    #[test]
    fn not_supported() {
        let words = [
            "the firmware does not implement function 0xc4000001",
            "2 passed, 4 skipped, 0 failed",
        ];
        run(&spec("suspend-not-supported"), Pass, &words)
            .complete_but(&[PSCI_VERSION_PARALLEL], &[]);
    }

    /// Now and then, while it is measured: counted, made up for, and no failure.
    #[test]
    fn given_up_twice() {
        for version in ["2.12", "2.13"] {
            let spec = spec(&format!("suspend-abandoned-{version},V,skip=6,count=2"));
            let seen = run(&spec, Pass, &[]).complete_but(&ALL, &[]);
            let counted = seen.rejected(SUSPEND_DEEP_PARALLEL, "abandoned");
            assert!((1..=2).contains(&counted), "{counted}\n{}", seen.log.text);
        }
    }

    /// A warning and no failure: the samples count.
    #[test]
    fn reaches_less_than_was_asked_for() {
        let words = ["Warning: CPU 1.1 should have reached 0x01010022, and reached 0x00010002."];
        let seen = run(&spec("suspend-shallow,V"), Pass, &words).complete_but(&ALL, &[]);
        let reached = seen.log.by_cpu("reached", SUSPEND_DEEP_SERIAL, "state");
        assert_eq!(reached.get(&VICTIM), Some(&0x1_0002));
        assert_eq!(reached.get(&(VICTIM + 1)), Some(&0x101_0022));
        // Where the core alone was asked for, nothing is amiss.
        let reached = seen.log.by_cpu("reached", CPU_SUSPEND_PARALLEL, "state");
        assert!(reached.values().all(|state| *state == 0x1_0002));
    }

    #[test]
    fn a_stray_sgi_at_each_call() {
        run(&spec("spurious-sgi,V"), Fail, &["on CPU 1.1: abandoned"])
            .complete_but(&UNTOUCHED, &[]);
    }
}
