//! Explanations for the results of a complete run, both on firmware in which all CPUs share one
//! channel to the power controller and on firmware in which they do not.

use report::analysis::findings::explanations;
use report::log::read_bytes;
use suite::model::Verdict;

use crate::common::{self, spec};

/// Returns the explanations, one per line, for a suite run on this firmware variant.
fn explained(variant: &str) -> String {
    let options = format!("--icount --variant {variant}");
    let ran = common::expect_verdict(&spec(&options, "iterations=2 warmup=1"), Verdict::Pass);
    let runs = read_bytes("log", ran.log().text.as_bytes()).expect("a run");
    let mut text = String::new();
    for explanation in explanations(&runs[0]) {
        text += &explanation.finding.sentence;
        text.push('\n');
    }
    text
}

#[test]
fn lock_of_the_platform_is_found_if_there_is_one() {
    const LOCK: &str = "The platform must have a lock";
    let [without, with] = ["power-channel=0", "power-channel=1"].map(explained);
    assert!(!without.contains(LOCK), "{without}");
    assert!(with.contains(LOCK), "{with}");
    for all in [without, with] {
        for part in [
            "At level 0, parallel exits take no longer than serial ones",
            "Cluster 0 stays on in serial scenarios, because the lead, 0.0, stays awake",
            "Exits are shorter if the cluster stays on",
            "Exits are longer after CPU_OFF than after a suspend to the same level",
        ] {
            assert!(all.contains(part), "{part}: {all}");
        }
    }
}
