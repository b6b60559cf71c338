//! The lead: nobody conducts it, so somebody else has to see when it does not
//! come back.

use std::time::Duration;

use psci_bench::model::Verdict;
use xtask::board::Gic;
use xtask::qemu::run_spec::{Payload, RunSpec};
use xtask::qemu::stream::Ending;

use super::{ALL, N, common, run, spec};

fn only(scenario: &str, fault: &str) -> RunSpec {
    RunSpec {
        args: Some(format!("iterations=3 warmup=1 only={scenario}")),
        ..spec(fault)
    }
}

/// Together with others: one of them says so, and ends the run.
#[test]
fn never_wakes_in_a_parallel_round() {
    let spec = only("susp_deep_parallel", "suspend-never,cpu=0x0,skip=3,count=1");
    run(&spec, Verdict::Incomplete).says(&[
        "> Executing 'Suspend to deepest power level on all cores in parallel'",
        "INCOMPLETE: the lead, CPU 0x0, is lost: timed out waiting for return from the call (seen by CPU 0x",
    ]);
}

/// In PSCI_VERSION, which no timer ends.
#[test]
fn never_returns_from_psci_version() {
    let spec = only("psci_version_parallel", "smc-hang,cpu=0x0,skip=4,arg=0");
    run(&spec, Verdict::Incomplete).says(&["the lead, CPU 0x0, is lost"]);
}

/// In CPU_ON for the second CPU, with the first one on.
#[test]
fn never_returns_from_cpu_on() {
    let spec = only("psci_version_parallel", "smc-hang,cpu=0x0,skip=1,arg=3");
    run(&spec, Verdict::Incomplete)
        .says(&["the lead, CPU 0x0, is lost: timed out waiting for CPU_ON (seen by CPU 0x1)"]);
}

/// Alone, on a machine without a watchdog: the runner's timeout is what is
/// left, and it says how far the run came.
#[test]
fn never_wakes_alone() {
    let mut spec = only("susp_deep_serial", "suspend-never,cpu=0x0");
    spec.timeout = Duration::from_secs(20);
    let result = common::run(&spec);
    assert_eq!(result.verdict, Verdict::Incomplete, "{}", result.text());
    assert_eq!(result.ending, Ending::TimedOut);
    assert_eq!(result.exit_code(), 3);
    let said = result.diagnosis.unwrap_or_default();
    assert!(
        said.contains("Suspend to deepest power level on all cores in sequence"),
        "{said}"
    );
}

#[test]
fn takes_an_exception() {
    let spec = only("susp_deep_parallel", "suspend-bad-return,cpu=0x0,arg=1");
    run(&spec, Verdict::Incomplete).says(&[
        "Unhandled exception on CPU 0x0",
        "INCOMPLETE: exception on the lead CPU",
    ]);
}

/// The lead's context ID goes astray as any other's: counted, not fatal.
#[test]
fn comes_back_with_another_context_id() {
    let fault = "suspend-wrong-context,cpu=0x0,skip=3,count=1,arg=3";
    let seen = run(&only("susp_deep_parallel", fault), Verdict::Pass);
    assert!(seen.plain.contains("wrong-context"), "{}", seen.log().text);
}

/// HCR_EL2.E2H that does not clear, at any entry: the run goes on by the EL2&0
/// regime, and its figures are those of the same CPU with E2H = 0.
#[test]
fn e2h_stays_set() {
    for gic in [Gic::V2, Gic::V3] {
        let args = format!("iterations={N} warmup=1");
        let image = common::image_with(&common::tree_with(gic, 8, &args), 8);
        let with = |image: Vec<u8>| RunSpec {
            gic: Some(gic),
            cpu: Some("max".into()),
            payload: Payload::Image(image),
            args: None,
            ..spec("e2h-set")
        };
        let stuck = with(super::with_stuck_e2h(image.clone()));
        let stuck = run(&stuck, Verdict::Pass)
            .says(&["from EL2, E2H fixed at 1,", "CNTHP, interrupt 26,"])
            .complete_but(&ALL, &[]);
        // Under the same fault, whose part in EL3 costs time: E2H clears here.
        let plain = run(&with(image), Verdict::Pass).complete_but(&ALL, &[]);
        assert!(!plain.plain.contains("E2H"), "{}", plain.log().text);
        for t in ALL {
            for metric in ["powerdown", "wakeup", "cflush", "latency"] {
                let figures = |log: &common::Log| {
                    let mut all: Vec<i64> = log.metric(t, metric, "med").into_values().collect();
                    all.sort_unstable();
                    // Which CPU calls first hangs on when QEMU runs which; at the
                    // deepest level so does the order in which the two clusters
                    // take the system's lock, by a place in between.
                    match (t, all.as_slice()) {
                        (1, [first, .., last]) => vec![*first, *last],
                        _ => all,
                    }
                };
                let (stuck, plain) = (figures(stuck.log()), figures(plain.log()));
                assert_eq!(stuck.len(), plain.len());
                for (a, b) in stuck.iter().zip(&plain) {
                    let same = (a - b).abs() * 100 <= *b;
                    assert!(same, "{gic:?} {t} {metric}: {stuck:?} {plain:?}");
                }
            }
        }
    }
}
