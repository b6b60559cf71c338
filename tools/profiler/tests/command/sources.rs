//! Profiles of other sources than the pinned one.

use std::fs;

use runner::build::tf_a::OLDEST_TF_A;
use runner::setup::workspace::Workspace;
use test_support::scratch::Scratch;
use test_support::{called, command};

use crate::PROGRAM;

#[test]
fn oldest_source_is_profiled_by_the_sip_call() {
    let workspace = Workspace::find().expect("the repository");
    let source = OLDEST_TF_A.fetch(&workspace).expect("the oldest TF-A");
    let scratch = Scratch::new(PROGRAM);
    let log = scratch.path("run.log");
    let mut profile = command(
        PROGRAM,
        &["profile", "--smp", "2", "--args", "iterations=2"],
    );
    profile.arg("--log").arg(&log).arg("--tf-a").arg(source);
    let (code, profile, stderr) = called(&mut profile);
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
fn profile_of_a_source_without_power_down_has_cpu_off() {
    let words: Vec<_> =
        "profile --board qemu-sbsa --smp 2 --args only=cpu_off_serial,susp_deep_serial"
            .split(' ')
            .collect();
    let (code, profile, stderr) = called(&mut command(PROGRAM, &words));
    assert_eq!(code, 0, "{profile}{stderr}");
    assert!(profile.contains("psci_do_cpu_off"), "{profile}");
    let missing = "PMF's timestamps are missing: susp_deep_serial";
    assert!(profile.contains(missing), "{profile}");
}
