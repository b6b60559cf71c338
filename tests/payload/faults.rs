//! Faults of boards, in real firmware: each test
//! boots QEMU under a TF-A that has one fault (platforms/qemu/tf-a), and
//! expects a verdict that names the fault, the CPU and the step, and complete
//! results of all that the fault does not touch.
//!
//! docs/reliability.md has these faults in words.

use std::collections::BTreeMap;
use std::time::Duration;

use run::measure::Reason;
use run::model::Verdict::{self, Fail, Incomplete, Pass};
use run::plan::ScenarioId::{
    self, CpuOffSerial, CpuSuspendParallel, CpuSuspendSerial, PsciVersionParallel,
    SuspendDeepParallel, SuspendDeepSerial,
};
use xtask::qemu::run_spec::{Payload, RunSpec};

use crate::common::{self, Ran};

/// Samples asked for.
const N: u32 = 3;
/// CPUs of the machine, in two clusters of four; the lead is 0.
const CPUS: u64 = 8;
/// The CPU that most faults strike.
const VICTIM: u64 = 5;

const ALL: [ScenarioId; 6] = ScenarioId::SUITE;
const SERIAL: [ScenarioId; 2] = [SuspendDeepSerial, CpuSuspendSerial];
/// Those that suspend a CPU. PSCI_VERSION is measured before them.
const SUSPENDING: [ScenarioId; 5] = [
    SuspendDeepParallel,
    SuspendDeepSerial,
    CpuSuspendParallel,
    CpuSuspendSerial,
    CpuOffSerial,
];
/// Those that no fault of CPU_SUSPEND touches.
const UNTOUCHED: [ScenarioId; 2] = [CpuOffSerial, PsciVersionParallel];

/// `fault`, on the victim only.
fn at_victim(fault: &str) -> String {
    format!("{fault},cpu={VICTIM:#x}")
}

/// A run under firmware with `fault`. By the instruction clock deadlines cost no time,
/// and a run repeats.
fn spec(fault: &str) -> RunSpec {
    let options = format!("--icount --fault {fault}");
    common::spec(&options, &format!("iterations={N} warmup=1"))
}

/// A run of this scenario alone.
fn only(scenario: &str, fault: &str) -> RunSpec {
    let args = Some(format!("iterations={N} warmup=1 only={scenario}"));
    RunSpec {
        args,
        ..spec(fault)
    }
}

/// A run in which a CPU may spin for seconds: the instruction clock would make
/// that last for minutes.
fn by_the_hosts_clock(fault: &str) -> RunSpec {
    let icount = false;
    RunSpec {
        icount,
        ..spec(fault)
    }
}

/// Runs `spec` and expects this verdict, these words, and that the fault struck.
fn run(spec: &RunSpec, verdict: Verdict, words: &[&str]) -> Ran {
    let seen = common::ends(spec, verdict).says(words);
    // The firmware names its fault; without it nothing is shown.
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
    /// All CPUs but these have all samples of these scenarios.
    fn complete_but(self, scenarios: &[ScenarioId], but: &[u64]) -> Self {
        let log = self.log();
        for t in scenarios {
            let complete = log.cells(*t).filter(|(_, cell)| cell.valid() == N);
            let rest = (0..CPUS).filter(|cpu| !but.contains(cpu));
            assert!(complete.map(|it| it.0).eq(rest), "{t:?}\n{}", log.text);
        }
        self
    }

    /// Counts the attempts of scenario `t` on `cpu` that were rejected for `reason`.
    fn rejected(&self, t: ScenarioId, reason: Reason, cpu: u64) -> u32 {
        let log = self.log();
        let cells = log.cells(t).filter(|(mpidr, _)| *mpidr == cpu);
        let counts = cells.flat_map(|(_, cell)| cell.counts.iter().flat_map(|it| &it.rejected));
        counts.filter(|it| it.0 == reason).map(|it| it.1).sum()
    }
}

/// Costs nothing: each CPU has all samples.
fn costs_nothing(spec: &RunSpec, words: &[&str]) -> Ran {
    run(spec, Pass, words).complete_but(&ALL, &[])
}

/// Loses the victim before it has all samples of any scenario.
fn loses_victim(spec: &RunSpec, words: &[&str]) -> Ran {
    names_loss(spec, words).complete_but(&ALL, &[VICTIM])
}

/// Loses the victim in its suspends, after PSCI_VERSION.
fn loses_victim_in_suspend(spec: &RunSpec, words: &[&str]) -> Ran {
    names_loss(spec, words)
        .complete_but(&[PsciVersionParallel], &[])
        .complete_but(&SUSPENDING, &[VICTIM])
}

/// Names the loss of the victim, for the reason in the first of `words`, and of no other CPU.
/// It has a line of its own, before the scenario ends.
fn names_loss(spec: &RunSpec, words: &[&str]) -> Ran {
    let lost = format!("CPU 1.1 was lost: {}", words[0]);
    let words = [&[lost.as_str(), "1 CPU lost"], &words[1..]].concat();
    let seen = run(spec, Fail, &words);
    let text = seen.result.text();
    let first = text.lines().find(|line| line.contains("was lost"));
    assert!(first.is_some_and(|line| line.starts_with(&lost)), "{text}");
    seen
}

/// Loses one CPU after the other; the lead's own part goes on.
fn loses_all_but_lead(spec: &RunSpec, _: &[&str]) {
    let others: Vec<u64> = (1..CPUS).collect();
    run(spec, Fail, &["7 CPUs lost"]).complete_but(&ALL, &others);
}

/// Spoils each CPU_SUSPEND of the victim: the parallel scenarios have no round
/// that counts and name the reason, the serial ones have all other CPUs.
fn spoils_suspend(spec: &RunSpec, words: &[&str]) {
    let words = [words, &["2 passed, 0 skipped, 4 failed", "0 CPUs lost"]].concat();
    run(spec, Fail, &words)
        .complete_but(&SERIAL, &[VICTIM])
        .complete_but(&UNTOUCHED, &[]);
}

/// Refuses each CPU_SUSPEND of the victim with this error.
fn refuses_suspend(spec: &RunSpec, words: &[&str]) {
    let refused = format!("refuses power_state 0x02010222 on CPU 1.1: {}", words[0]);
    spoils_suspend(spec, &[&refused]);
}

/// Leaves no PMF timestamps, for this reason: the caller's side is measured.
fn leaves_callers_side(spec: &RunSpec, words: &[&str]) {
    let reason = format!("no PMF timestamps: {}", words[0]);
    // The lead cannot be turned on by itself.
    let but_off: Vec<_> = ALL.into_iter().filter(|it| *it != CpuOffSerial).collect();
    run(spec, Pass, &[&reason])
        .lacks(&["<RT_INSTR:"])
        .complete_but(&but_off, &[]);
}

/// Spoils the victim's timestamps, whose samples are rejected for this reason.
fn spoils_stamps(spec: &RunSpec, words: &[&str]) {
    let reason = format!("on CPU 1.1: {}", words[0]);
    let seen = run(spec, Fail, &[&reason]).complete_but(&SERIAL, &[VICTIM]);
    let log = seen.log();
    let cell = log.cells(SuspendDeepSerial).find(|it| it.0 == VICTIM);
    assert_eq!(cell.expect("a cell").1.valid(), 0, "{}", seen.plain);
}

/// Loses the lead; another CPU reports it, and ends the run.
fn loses_lead(spec: &RunSpec, words: &[&str]) {
    run(spec, Incomplete, words);
}

/// Ends with PASS, and these words.
fn passes(spec: &RunSpec, words: &[&str]) {
    run(spec, Pass, words);
}

mod machine;

mod cpu_off {
    use boards::device_tree::{self, Choices};
    use boards::{Conduit, GicVersion, StateFormat};
    use xtask::build::payload::TreeSource;

    use super::*;

    #[test]
    fn denied() {
        loses_victim(
            &spec(&at_victim("cpu-off-denied")),
            &["CPU_OFF returned DENIED"],
        );
    }

    #[test]
    fn comes_back_with_success() {
        loses_victim(
            &spec(&at_victim("cpu-off-returns-success")),
            &["CPU_OFF returned SUCCESS"],
        );
    }

    #[test]
    fn affinity_info_never_says_off() {
        loses_victim(
            &spec(&at_victim("affinity-never-off")),
            &["timed out waiting for AFFINITY_INFO to say OFF"],
        );
    }

    #[test]
    fn affinity_info_fails() {
        loses_victim(
            &spec(&at_victim("affinity-error")),
            &["AFFINITY_INFO to say OFF: firmware returned INVALID_PARAMETERS"],
        );
    }

    /// A firmware without CPU_OFF, which says so, is measured by the warm method.
    #[test]
    fn absent() {
        let words = [
            "CPU_OFF : not used: the firmware has no CPU_OFF, as PSCI_FEATURES says",
            "5 passed, 2 skipped, 0 failed",
            "0 CPUs lost",
        ];
        let spec = only("suite,cpu_on", "cpu-off-absent");
        let but_off: Vec<_> = ALL.into_iter().filter(|it| *it != CpuOffSerial).collect();
        run(&spec, Pass, &words)
            .lacks(&["<RT_INSTR:", "Warning: CPU"])
            .complete_but(&but_off, &[]);
    }

    /// A firmware that has it, under a tree that says that no CPU comes back after it: it is
    /// not called.
    #[test]
    fn forbidden() {
        let board = common::changed_board(str::to_owned);
        let firmware = board.firmware("tf-a").expect("TF-A");
        let choices = Choices {
            cpus: 2,
            gic: GicVersion::V3,
            conduit: Conduit::Smc,
            cpu_off: false,
            idle_states: &firmware.idle_states(StateFormat::Original),
        };
        let bootargs = "only=suite,cpu_on iterations=1 warmup=0";
        let tree = device_tree::build(&board, &choices, bootargs).expect("a tree");
        let spec = RunSpec {
            tree: TreeSource::Raw(tree),
            ..common::spec("--smp 2 --icount --fault cpu-off-denied", "")
        };
        let words = [
            "CPU_OFF : not used: the device tree says that no CPU comes back after CPU_OFF",
            "5 passed, 2 skipped, 0 failed",
            "0 CPUs lost",
            "cpu-off-denied struck 0 times",
        ];
        common::ends(&spec, Pass)
            .says(&words)
            .lacks(&["<RT_INSTR:"]);
    }

    /// One that does not say so costs the scenario in which that turns out.
    #[test]
    fn not_supported() {
        let words = [
            "Failed: CPU_OFF is advertised, and returned NOT_SUPPORTED",
            "1 passed, 1 skipped, 1 failed",
            "0 CPUs lost",
        ];
        let scenarios = "susp_deep_serial,cpu_off_serial,psci_version_parallel";
        run(&only(scenarios, "cpu-off-not-supported"), Fail, &words)
            .complete_but(&[SuspendDeepSerial], &[]);
    }

    /// The victim goes off for another CPU's turn, with no part of its own: its
    /// cluster mates' figures are those of a cluster that stays up.
    #[test]
    fn denied_out_of_turn() {
        let words = [
            "CPU 1.1 was lost: CPU_OFF returned DENIED",
            "Reached: unknown, because a CPU was lost",
            "may be on, and keep its",
            "1 CPU lost",
        ];
        let spec = only(
            "susp_deep_serial method=warm",
            &at_victim("cpu-off-denied,skip=1"),
        );
        run(&spec, Fail, &words).lacks(&["Reached, by"]);
    }
}

mod cpu_on {
    use super::*;

    #[test]
    fn denied() {
        loses_victim(
            &spec(&at_victim("cpu-on-denied")),
            &["CPU_ON: firmware returned DENIED"],
        );
    }

    #[test]
    fn already_on_for_ever() {
        loses_victim(
            &spec(&at_victim("cpu-on-already-on")),
            &["CPU_ON: firmware returned ALREADY_ON"],
        );
    }

    #[test]
    fn internal_failure_for_ever() {
        loses_victim(
            &spec(&at_victim("cpu-on-internal-failure")),
            &["CPU_ON: firmware returned INTERNAL_FAILURE"],
        );
    }

    #[test]
    fn on_pending_for_ever() {
        loses_victim(
            &spec(&at_victim("cpu-on-pending")),
            &["CPU_ON: firmware returned ON_PENDING"],
        );
    }

    /// An earlier CPU_OFF may take its time.
    #[test]
    fn on_pending_for_a_while() {
        costs_nothing(&spec(&at_victim("cpu-on-pending,count=20")), &[]);
    }

    #[test]
    fn never_arrives() {
        loses_victim(
            &spec(&at_victim("cpu-on-lost")),
            &["CPU_ON returned SUCCESS, but the CPU did not arrive"],
        );
    }

    #[test]
    fn no_cpu_arrives() {
        loses_all_but_lead(&spec("cpu-on-lost"), &[]);
    }

    /// Late, but within the time that a CPU has.
    #[test]
    fn arrives_late() {
        costs_nothing(
            &by_the_hosts_clock(&at_victim("cpu-on-late,skip=1,count=1,arg=1000000")),
            &[],
        );
    }

    /// Later than that, the CPU is sent away when it comes, and keeps no cluster up.
    #[test]
    fn arrives_too_late() {
        loses_victim(
            &by_the_hosts_clock(&at_victim("cpu-on-late,count=1,arg=12000000")),
            &["CPU_ON returned SUCCESS, but the CPU did not arrive"],
        )
        .lacks(&["Warning"]);
    }

    #[test]
    fn another_context_id() {
        loses_victim(
            &spec(&at_victim("cpu-on-wrong-context")),
            &["entered with a wrong context ID before arrival after CPU_ON"],
        );
    }

    /// The first has 10 s to arrive, and each after it, by itself, one: 16 s, and not 70.
    #[test]
    fn none_arrives_and_the_first_costs_the_most() {
        let spec = RunSpec {
            icount: false,
            timeout: Duration::from_secs(50),
            ..only("cpu_susp_serial", "cpu-on-lost")
        };
        run(&spec, Fail, &["7 CPUs lost"]);
    }
}

mod lead {
    use super::*;

    #[test]
    fn never_wakes_in_a_parallel_round() {
        loses_lead(
            &only("susp_deep_parallel", "suspend-never,cpu=0x0,skip=3,count=1"),
            &[
                "> Executing 'Suspend to deepest power level on all cores in parallel'",
                "INCOMPLETE: the lead, CPU 0x0, is lost: timed out waiting for return from the call (seen by CPU 0x",
            ],
        );
    }

    /// CPU_ON for the second CPU, with the first one on.
    #[test]
    fn never_returns_from_cpu_on() {
        loses_lead(
            &only("psci_version_parallel", "smc-hang,cpu=0x0,skip=1,arg=3"),
            &["the lead, CPU 0x0, is lost: timed out waiting for CPU_ON (seen by CPU 0x1)"],
        );
    }

    #[test]
    fn takes_an_exception() {
        loses_lead(
            &only("susp_deep_parallel", "suspend-bad-return,cpu=0x0,arg=1"),
            &[
                "Unhandled exception on CPU 0x0",
                "INCOMPLETE: exception on the lead CPU",
            ],
        );
    }

    /// Counted as any other CPU's, and not fatal.
    #[test]
    fn comes_back_with_another_context_id() {
        passes(
            &only(
                "susp_deep_parallel",
                "suspend-wrong-context,cpu=0x0,skip=3,count=1,arg=3",
            ),
            &["wrong-context"],
        );
    }

    /// The lead does not come back from its own part of the round.
    #[test]
    fn names_a_cpu_that_did_not_arrive_before_its_own_part() {
        let mut image = common::image(2, "only=psci_version_parallel");
        // An undefined instruction.
        image[common::offset_of("timed_smc_begin")..][..4].fill(0);
        let spec = RunSpec {
            payload: Payload::Image(image),
            ..common::spec("--smp 2 --icount --fault cpu-on-lost", "")
        };
        let words = [
            "CPU 0.1 was lost: CPU_ON returned SUCCESS, but the CPU did not arrive",
            "INCOMPLETE: exception on the lead CPU",
        ];
        run(&spec, Incomplete, &words);
    }
}

mod pmf {
    use super::*;

    #[test]
    fn is_not_there() {
        leaves_callers_side(&spec("pmf-absent"), &["the firmware does not implement it"]);
    }

    #[test]
    fn answers_by_the_older_function_ids_only() {
        costs_nothing(&spec("pmf-sip-only"), &["Arm SiP call 0xc2000010"]);
    }

    #[test]
    fn knows_no_timestamp() {
        leaves_callers_side(&spec("pmf-bad-tid"), &["no such timestamp (-22)"]);
    }

    #[test]
    fn leaves_x0_as_it_was() {
        leaves_callers_side(&spec("pmf-fid-left"), &["X0 unchanged"]);
    }

    #[test]
    fn stale() {
        spoils_stamps(&spec(&at_victim("pmf-stale")), &["stale"]);
    }

    #[test]
    fn out_of_order() {
        spoils_stamps(&spec(&at_victim("pmf-disorder")), &["disorder"]);
    }

    #[test]
    fn from_after_the_return() {
        spoils_stamps(&spec(&at_victim("pmf-future")), &["future"]);
    }

    #[test]
    fn a_counter_that_stopped() {
        spoils_stamps(
            &spec(&at_victim("pmf-counter-stopped")),
            &["counter-stopped"],
        );
    }

    #[test]
    fn fails_on_one_cpu() {
        run(
            &spec(&at_victim("pmf-bad-tid")),
            Fail,
            &["on CPU 1.1: pmf-read"],
        )
        .complete_but(&SERIAL, &[VICTIM])
        .complete_but(&[CpuOffSerial], &[VICTIM]);
    }

    #[test]
    fn a_stale_timestamp_in_psci_version() {
        let words = [
            "CPU 1.1 has 0 valid samples of 3",
            "the first on CPU 1.1: stale: EnterPsci",
        ];
        let seen = run(
            &only("psci_version_parallel", &at_victim("pmf-stale")),
            Fail,
            &words,
        );
        assert!(seen.rejected(PsciVersionParallel, Reason::Stale, VICTIM) > 0);
    }
}

mod suspend {
    use super::*;

    #[test]
    fn invalid_parameters() {
        refuses_suspend(
            &spec(&at_victim("suspend-invalid-parameters")),
            &["INVALID_PARAMETERS"],
        );
    }

    /// No skip, since the other CPUs have it.
    #[test]
    fn not_supported_on_one_cpu() {
        refuses_suspend(
            &spec(&at_victim("suspend-not-supported")),
            &["NOT_SUPPORTED"],
        );
    }

    #[test]
    fn wakes_for_no_reason() {
        spoils_suspend(
            &spec(&at_victim("suspend-early")),
            &["the last one failed on CPU 1.1: early-wake"],
        );
    }

    #[test]
    fn never_wakes() {
        loses_victim_in_suspend(
            &spec(&at_victim("suspend-never")),
            &["timed out waiting for return from the call"],
        );
    }

    #[test]
    fn wakes_late() {
        costs_nothing(
            &by_the_hosts_clock(&at_victim("suspend-late,count=1,skip=4,arg=1000000")),
            &[],
        );
    }

    /// Later than its time, the CPU is lost, and sent away when it comes.
    #[test]
    fn wakes_too_late() {
        loses_victim_in_suspend(
            &by_the_hosts_clock(&at_victim("suspend-late,count=1,skip=4,arg=15000000")),
            &["timed out waiting for return from the call"],
        )
        .lacks(&["Warning"]);
    }

    #[test]
    fn another_context_id() {
        spoils_suspend(
            &spec(&at_victim("suspend-wrong-context,arg=1")),
            &["the last one failed on CPU 1.1: wrong-context"],
        );
    }

    #[test]
    fn comes_back_to_nowhere() {
        loses_victim_in_suspend(
            &spec(&at_victim("suspend-bad-return,arg=1")),
            &[
                "took an exception before return from the call",
                "Unhandled exception on CPU 0x5",
                "instruction abort",
            ],
        );
    }

    /// Resumed where nothing is, without vectors. Such a CPU takes the instruction
    /// clock from all others.
    #[test]
    fn is_resumed_nowhere() {
        loses_victim_in_suspend(
            &by_the_hosts_clock(&at_victim("suspend-bad-return")),
            &["timed out waiting for return from the call"],
        );
    }

    #[test]
    fn not_supported() {
        let words = [
            "the firmware does not implement function 0xc4000001",
            "2 passed, 4 skipped, 0 failed",
        ];
        run(&spec("suspend-not-supported"), Pass, &words).complete_but(&[PsciVersionParallel], &[]);
    }

    /// Now and then, while it is measured: counted, made up for, and no failure.
    #[test]
    fn given_up_twice() {
        // As since TF-A 2.13, with fresh EXIT stamps.
        let spec = spec(&at_victim("suspend-abandoned-2.13,skip=4,count=2"));
        let seen = run(&spec, Pass, &[]).complete_but(&ALL, &[]);
        let counted = seen.rejected(SuspendDeepParallel, Reason::Abandoned, VICTIM);
        assert!((1..=2).contains(&counted), "{counted}\n{}", seen.plain);
    }

    /// A warning and no failure: the samples count.
    #[test]
    fn reaches_less_than_was_asked_for() {
        let words = ["Warning: CPU 1.1 should have reached 0x01010022, and reached 0x00010002."];
        let seen = run(&spec(&at_victim("suspend-shallow")), Pass, &words).complete_but(&ALL, &[]);
        let log = seen.log();
        let reached = |t| {
            let cells = log.cells(t);
            cells
                .filter_map(|(cpu, cell)| Some((cpu, cell.reached?.state)))
                .collect::<BTreeMap<_, _>>()
        };
        let deep = reached(SuspendDeepSerial);
        assert_eq!(deep[&VICTIM], Some(0x1_0002));
        assert_eq!(deep[&(VICTIM + 1)], Some(0x101_0022));
        // Where the core alone was asked for, nothing is amiss.
        let core = reached(CpuSuspendParallel);
        assert!(core.values().all(|state| *state == Some(0x1_0002)));
    }

    #[test]
    fn a_stray_sgi_at_each_call() {
        run(
            &spec(&at_victim("spurious-sgi")),
            Fail,
            &["on CPU 1.1: abandoned"],
        )
        .complete_but(&UNTOUCHED, &[]);
    }
}
