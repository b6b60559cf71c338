//! Firmware that does not take what the caller has: under the overlay platform.

use xtask::qemu::run_spec::{Payload, RunSpec};

use crate::common;

/// Each call with a target_cpu takes MPIDR_EL1 as it is read.
#[test]
fn an_mpidr_with_bit_31_names_its_cpu() {
    for gic in ["2", "3"] {
        let payload = Payload::Image(common::assemble("tests/payload/mpidr.S", &[]));
        let spec = common::spec(&format!("--smp 2 --gic {gic}"), "");
        let result = common::run(&RunSpec { payload, ..spec });
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
