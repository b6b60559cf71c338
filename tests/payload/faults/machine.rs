//! Faults in the counter, interrupts and exception level, which firmware controls independently of
//! PSCI.

use boards::GicVersion;
use runner::build::payload::TreeSource;
use suite::measure::Metric;

use super::*;
use crate::common::Log;

/// With a CNTFRQ_EL0 of 0, results are reported in ticks rather than in an unknown unit.
#[test]
fn cntfrq_is_zero() {
    expect_all_samples(&spec("cntfrq"), &["0 Hz cannot be right"])
        .lacks(&["<RT_INSTR:", "Warning: CNTFRQ"]);
}

/// All results are converted using the lead's frequency.
#[test]
fn cntfrq_of_another_cpu() {
    expect_all_samples(
        &spec(&at_victim("cntfrq")),
        &[
            "Warning: CNTFRQ_EL0 is 0 Hz on CPU 1.1, but 62500000 Hz on the lead.",
            "<RT_INSTR:",
        ],
    );
}

/// The fault simulates a redistributor that has lost power.
#[test]
fn the_gics_local_enables_are_gone_after_a_wake_up() {
    expect_all_samples(&spec("gic-enables-lost"), &[]);
}

/// If several CPUs stop at the same time, each of them still prints all of its final lines.
#[test]
fn dumps_of_cpus_that_stop_at_once_are_not_mixed() {
    // The fault affects all CPUs that are turned on in the second round. The lead enters the
    // payload only once.
    let args = "iterations=2 warmup=0 only=psci_version_parallel";
    let spec = common::spec("--fault serror,skip=1", args);
    let seen = run(&spec, Fail, &["7 CPUs lost"]);
    let text = seen.result.text();
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let is_first = |line: &&str| line.starts_with("Unhandled exception on CPU 0x");
    let dumps: Vec<_> = (0..lines.len())
        .filter(|index| is_first(&lines[*index]))
        .collect();
    assert_eq!(dumps.len(), 7, "{text}");
    let firsts = [
        "Unhandled",
        "ESR",
        "ELR",
        "FAR",
        "image",
        "x0",
        "x3",
        "x6",
        "x9",
        "x12",
        "x15",
        "x18",
        "x21",
        "x24",
        "x27",
        "x30",
    ];
    for at in dumps {
        let dump = lines.iter().skip(at).take(firsts.len());
        let words: Vec<_> = dump.filter_map(|line| line.split(' ').next()).collect();
        assert_eq!(words, firsts, "{text}");
    }
}

/// An SError that becomes pending before there is a stack is taken and dumped once there is one.
/// The calibrated sleep time determines which entry is the first wake-up.
#[test]
fn an_serror_is_pending_at_an_entry() {
    let words = [
        "CPU 1.1 was lost: took an exception before ",
        "Unhandled exception on CPU 0x5 (SError, vector 7)",
        "1 CPU lost",
    ];
    let scenarios = [
        ScenarioId::SUSPEND_DEEP_PARALLEL,
        ScenarioId::CPU_SUSPEND_PARALLEL,
    ];
    let tags = scenarios.map(ScenarioId::short_tag).join(",");
    let is_lost_in_call = |entry: u32| {
        // In the PSCI_VERSION scenario, all entries would be due to CPU_ON.
        let spec = only(&tags, &at_victim(&format!("serror,skip={entry},count=1")));
        let seen = run(&spec, Fail, &words).complete_but(&scenarios, &[VICTIM]);
        let in_call = format!("{}return from the call", words[0]);
        seen.plain.contains(&in_call)
    };
    assert!(!is_lost_in_call(0), "the first entry is due to CPU_ON");
    assert!((1..8).any(is_lost_in_call), "no wake-up");
}

/// A pending interrupt is recognized as the timer interrupt only by its number. Here, the tree
/// specifies an interrupt that nothing raises.
#[test]
fn another_interrupt_is_not_taken_for_the_timers() {
    let board = common::board_with("\nphysical = 30\n", "\nphysical = 24\n");
    let tree = common::tree_of(&board, GicVersion::V3, 2, "iterations=1 warmup=0");
    let spec = RunSpec {
        smp: Some(2),
        args: None,
        tree: TreeSource::Raw(tree),
        ..spec("interrupt-storm")
    };
    let words = ["timer interrupt 24 does not arrive"];
    run(&spec, Incomplete, &words);
}

/// An endless stream of interrupts starts on one CPU 5 ms after the CPU first arrives, once its
/// timer has been shown to wake it. If the interrupts started earlier, the CPU could be lost,
/// depending on when it checks for the timer interrupt.
#[test]
fn an_interrupt_storm() {
    let words = ["the last one failed on CPU 1.1: "];
    run(
        &spec(&at_victim("interrupt-storm,skip=50,arg=100")),
        Fail,
        &words,
    )
    .complete_but(&SERIAL, &[VICTIM])
    .complete_but(&[ScenarioId::PSCI_VERSION_PARALLEL], &[]);
}

/// A secure interrupt that the firmware does not take hides the timer's. When the timer is tested,
/// the run ends; later, only the scenarios on the affected CPU fail, and the cause is printed.
#[test]
fn a_secure_interrupt_hides_all_others() {
    let words = ["INCOMPLETE: CPU 0x0: a pending FIQ hides timer interrupt 30"];
    run(&spec("secure-interrupt,cpu=0,count=1"), Incomplete, &words);

    // The lead enters the payload at boot and after each power-down.
    let words = [
        "A secure interrupt is pending at CPU 0.0 (ISR_EL1.F) and hides all others",
        "the first on CPU 0.0: pending",
    ];
    let lead_later = only("susp_deep_serial", "secure-interrupt,cpu=0,skip=2,count=1");
    run(&lead_later, Fail, &words);
}

/// Returns `image` modified to simulate a CPU whose HCR_EL2.E2H cannot be cleared. The only write
/// to HCR_EL2 is removed, so the register keeps the value set by the firmware.
fn with_stuck_e2h(mut image: Vec<u8>) -> Vec<u8> {
    const MSR_HCR_EL2_X9: [u8; 4] = 0xd51c_1109_u32.to_le_bytes();
    const NOP: [u8; 4] = 0xd503_201f_u32.to_le_bytes();
    let words = image.chunks_exact_mut(4);
    let writes: Vec<_> = words.filter(|word| **word == MSR_HCR_EL2_X9).collect();
    assert_eq!(writes.len(), 1, "one write to HCR_EL2");
    for word in writes {
        word.copy_from_slice(&NOP);
    }
    image
}

/// If HCR_EL2.E2H stays set at every entry, the run continues in the EL2&0 regime, and serial
/// results are the same as with E2H = 0.
#[test]
fn e2h_stays_set() {
    use Metric::{CacheFlush, Powerdown, Wakeup};
    let board = common::changed_board(str::to_owned);
    for gic in [GicVersion::V2, GicVersion::V3] {
        let tree = common::tree_of(&board, gic, 8, &format!("iterations={N} warmup=1"));
        let image = common::image_with(&tree, 8);
        let with = |image: Vec<u8>| {
            let spec = RunSpec {
                gic: Some(gic),
                cpu: Some("max".into()),
                payload: Payload::Image(image),
                args: None,
                ..spec("e2h-set")
            };
            run(&spec, Pass, &[]).complete_but(&ALL, &[])
        };
        let words = ["from EL2, E2H fixed at 1,", "CNTHP, interrupt 26,"];
        let stuck = with(with_stuck_e2h(image.clone())).says(&words).log();
        // This run also injects the fault, because the fault's code at EL3 takes time, but uses an
        // image that clears E2H.
        let plain = with(image).lacks(&["E2H"]).log();
        for id in SERIAL {
            for metric in [Powerdown, Wakeup, CacheFlush] {
                let context = format!("{gic:?} {id:?} {metric:?}");
                assert_same_cost(&stuck, &plain, (id, metric), &context);
            }
        }
    }
}

/// Checks that the medians of all CPUs with a fixed E2H and with a cleared one differ by at most 1%.
fn assert_same_cost(fixed: &Log, cleared: &Log, (id, metric): (ScenarioId, Metric), context: &str) {
    let fixed = fixed.metric(id, metric);
    let cleared = cleared.metric(id, metric);
    assert_eq!((fixed.len(), cleared.len()), (8, 8), "{context}");
    for (with_fixed, with_cleared) in fixed.values().zip(cleared.values()) {
        let difference = with_fixed.median.abs_diff(with_cleared.median);
        let is_near = difference * 100 <= with_cleared.median;
        assert!(is_near, "{context}: {with_fixed:?} {with_cleared:?}");
    }
}
