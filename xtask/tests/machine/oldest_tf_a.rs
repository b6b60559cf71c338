//! The oldest TF-A version that the overlay platform builds with.

use runner::build::tf_a::OLDEST_TF_A;
use runner::setup::workspace::Workspace;

use crate::support::{called, xtask};

/// Calls `cargo xtask` with the oldest TF-A. Returns the exit code, standard output and standard
/// error.
fn run(words: &[&str]) -> (i32, String, String) {
    let workspace = Workspace::find().expect("the repository");
    let source = OLDEST_TF_A.fetch(&workspace).expect("the oldest TF-A");
    called(xtask(words).arg("--tf-a").arg(source))
}

#[test]
fn oldest_source_is_measured_by_the_sip_call() {
    let (code, log, stderr) = run(&["qemu", "--smp", "2", "--args", "iterations=2"]);
    assert_eq!(code, 0, "{stderr}");
    for part in [
        "BL31: v2.8(release)",
        "Timestamps : PMF, by Arm SiP call 0xc2000010",
        "psci-bench: PASS (6 passed, 0 skipped, 0 failed; 0 rows skipped, 0 CPUs lost)",
    ] {
        assert!(log.contains(part), "{part}: {log}");
    }
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
