//! TF-A's own platforms for QEMU's machines, instead of this project's overlay platform.
//!
//! The pinned TF-A does not power CPUs down on these platforms. `PSCI_BENCH_TF_A` can specify a
//! newer TF-A.

use std::env;

use crate::support::{called, xtask};

/// The environment variable that specifies a TF-A checkout in which these platforms can power
/// CPUs down.
const CHECKOUT: &str = "PSCI_BENCH_TF_A";

/// Each machine and firmware, with the platform's name in TF-A.
const ALL: [(&str, &str, &str); 3] = [
    ("qemu-sbsa", "tf-a", "qemu_sbsa"),
    ("qemu-sbsa", "tf-a-stock", "qemu_sbsa"),
    ("qemu", "tf-a-stock", "qemu"),
];

/// Runs `cargo xtask qemu` with these arguments. Returns the exit code, log and stderr.
fn run(board: &str, firmware: &str, more: &[&str]) -> (i32, String, String) {
    let words = ["qemu", "--board", board, "--firmware", firmware, "--icount"];
    let mut command = xtask(&[&words, more].concat());
    called(command.args(["--args", "iterations=2 warmup=0"]))
}

#[test]
fn source_without_power_down_is_named_and_standby_is_measured() {
    for (board, firmware, platform) in ALL {
        let (code, log, stderr) = run(board, firmware, &["--smp", "2"]);
        assert_eq!(code, 0, "{log}{stderr}");
        let lack = format!(
            "warning: TF-A 2.12.1's {platform} platform does not bring CPUs back from a \
             power-down; use 70147347e or later with --tf-a"
        );
        assert!(stderr.contains(&lack), "{stderr}");
        let pass = "psci-bench: PASS (2 passed, 4 skipped, 0 failed; ";
        assert!(log.contains(pass), "{log}");
    }
}

#[test]
fn source_with_power_down_measures_everything() {
    let Some(checkout) = env::var_os(CHECKOUT) else {
        eprintln!("{CHECKOUT} is not set to a TF-A checkout, so no power-down is measured");
        return;
    };
    let checkout = checkout.to_str().expect("UTF-8");
    for (board, firmware, _) in ALL {
        // Nine CPUs need two clusters of 8, or one of 16.
        let (code, log, stderr) = run(board, firmware, &["--smp", "9", "--tf-a", checkout]);
        assert_eq!(code, 0, "{log}{stderr}");
        assert!(!stderr.contains("power-down"), "{stderr}");
        let pass = "psci-bench: PASS (6 passed, 0 skipped, 0 failed; 0 rows skipped, 0 CPUs lost)";
        assert!(log.contains(pass), "{log}");
        let has_pmf = log.contains("Timestamps : PMF");
        assert_eq!(
            has_pmf,
            (board, firmware) != ("qemu-sbsa", "tf-a-stock"),
            "{log}"
        );
    }
}
