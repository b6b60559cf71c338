//! The oldest TF-A version that the overlay platform builds with.

use std::fs;

use runner::build::tf_a::OLDEST_TF_A;
use runner::setup::workspace::Workspace;

use crate::support::PROGRAM;
use crate::support::scratch::Scratch;
use crate::support::{called, xtask};

/// Calls `cargo xtask` with the oldest TF-A. Returns the exit code, standard output and standard
/// error.
fn run(words: &[&str]) -> (i32, String, String) {
    let workspace = Workspace::find().expect("the repository");
    let source = OLDEST_TF_A.fetch(&workspace).expect("the oldest TF-A");
    called(xtask(words).arg("--tf-a").arg(source))
}

#[test]
fn oldest_source_is_profiled_by_the_sip_call() {
    let scratch = Scratch::new(PROGRAM);
    let log = scratch.path("run.log");
    let at = log.to_str().expect("UTF-8");
    let words = ["profile", "--smp", "2", "--log", at, "--args"];
    let (code, profile, stderr) = run(&[&words[..], &["iterations=2"]].concat());
    assert_eq!(code, 0, "{stderr}");
    let log = fs::read_to_string(log).expect("a log");
    for part in [
        "BL31: v2.8(release)",
        "Timestamps : PMF, by Arm SiP call 0xc2000010",
        "psci-bench: PASS (6 passed, 0 skipped, 0 failed; 0 rows skipped, 0 CPUs lost)",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
    let matched = "all phases match PMF's ticks";
    assert!(profile.contains(matched), "{profile}");
}

#[test]
fn what_the_oldest_source_lacks_is_named() {
    for (variant, lack) in [
        ("osi=1", "PSCI_OS_INIT_MODE=1 needs TF-A 2.10 or later"),
        ("pabandon=1", "PB_PABANDON=1 needs TF-A 2.13 or later"),
    ] {
        let (code, _, stderr) = run(&["qemu", "--variant", variant]);
        assert!(code == 2 && stderr.contains(lack), "{stderr}");
    }
}
