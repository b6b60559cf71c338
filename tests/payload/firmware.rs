//! Firmware that does not take what the caller has: under the overlay platform.

use psci_bench::model::Verdict;
use xtask::board::{Gic, GivenStates, StateFormat};
use xtask::qemu::run_spec::{Payload, RunSpec};

use crate::common;

/// Each call with a target_cpu takes MPIDR_EL1 as it is read.
#[test]
fn an_mpidr_with_bit_31_names_its_cpu() {
    for gic in [Gic::V2, Gic::V3] {
        let result = common::run(&RunSpec {
            smp: Some(2),
            gic: Some(gic),
            payload: Payload::Image(common::assemble("tests/payload/mpidr.S", &[])),
            ..RunSpec::default()
        });
        let text = result.text();
        let told: Vec<&str> = text.lines().filter(|it| it.starts_with("mpidr ")).collect();
        // ON is 0, and so is SUCCESS.
        let expected = [
            "mpidr bit_31 1",
            "mpidr affinity_info 0",
            "mpidr cpu_on 0",
            "mpidr affinity_info_of_second 0",
            "mpidr stat_count 1",
            "mpidr pmf 0",
        ];
        assert_eq!(told, expected, "{gic:?}\n{text}");
    }
}

/// A tree whose states the firmware does not take: no CPU_SUSPEND is made, and
/// the reason names both formats.
#[test]
fn a_mismatched_state_format_is_said_by_name() {
    let args = "only=susp_deep_parallel,psci_version_parallel,idle_states iterations=2 warmup=0";
    for (has, takes, states) in [
        (StateFormat::Original, "extended", "original"),
        (StateFormat::Extended, "original", "extended"),
    ] {
        let result = common::run(&RunSpec {
            smp: Some(2),
            args: Some(args.into()),
            variant: format!("state-id={takes}").parse().expect("known words"),
            states: GivenStates {
                state_format: Some(has),
                ..GivenStates::default()
            },
            ..RunSpec::default()
        });
        let text = result.text();
        assert_eq!(result.verdict, Verdict::Pass, "{text}");
        let plain = common::one_line(&text);
        let said = format!(
            "Skipped: the firmware takes {takes} power_state values; the device tree has {states} \
             ones. Use a tree with {takes} ones"
        );
        assert_eq!(plain.matches(&said).count(), 2, "{text}");
        assert!(plain.contains("(1 passed, 2 skipped, 0 failed;"), "{text}");
    }
}
