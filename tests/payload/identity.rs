//! The identity of a run, under the instruction clock. On hardware, the counter alone makes each
//! run's identity unique.

use std::collections::BTreeMap;

use crate::common::{self, spec};

const ARGUMENTS: &str = "only=psci_version_parallel iterations=1 warmup=0";

/// The version texts, the answers and the boot time of these runs are the same or nearly so.
#[test]
fn runs_that_differ_in_the_firmware_or_the_machine_have_different_identities() {
    let mut seen: BTreeMap<String, &str> = BTreeMap::new();
    for options in [
        "",
        "--variant gic-reset=1",
        "--variant timer-stop=1",
        "--variant pmf=sip",
        "--fault cpu-on-late",
        "--fault cpu-on-late,count=1",
        "--fault cpu-on-late,count=2",
        "--fault suspend-late",
        "--cpu cortex-a57",
        "--firmware builtin",
        "--firmware builtin --cpu cortex-a53",
    ] {
        let run = || {
            let text =
                common::run_spec(&spec(&format!("--smp 2 --icount {options}"), ARGUMENTS)).text();
            let records = text.lines().filter_map(|line| line.strip_prefix("@PB "));
            let id = records.map(|record| record.get(..8)).next().flatten();
            id.unwrap_or_else(|| panic!("no record in\n{text}"))
                .to_owned()
        };
        if let Some(other) = seen.insert(run(), options) {
            panic!("{options:?} and {other:?} have the same identity");
        }
    }
}
