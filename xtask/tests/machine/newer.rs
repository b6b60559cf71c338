//! Boards that QEMU has emulated since version 9.0 or 10.0.

use runner::setup::workspace::Workspace;
use runner::setup::{self, Need};

use crate::support::{called, xtask};

/// Each board with its firmware and the counts in the closing line.
const ALL: [(&str, &str, &str); 3] = [
    ("rpi4", "tf-a", "1 passed, 5 skipped"),
    ("ast2700", "tf-a", "1 passed, 5 skipped"),
    ("imx8mp", "builtin", "6 passed, 0 skipped"),
];

#[test]
fn board_is_measured_and_what_it_cannot_do_is_skipped() {
    let workspace = Workspace::find().expect("the repository");
    setup::ensure(&workspace, &[Need::Qemu]).expect("QEMU");
    let installed = setup::qemu_version().expect("its version");
    let newer = setup::newer_qemu(&workspace).expect("a newer QEMU");
    for (board, firmware, counts) in ALL {
        let words = ["qemu", "--board", board, "--firmware", firmware];
        let recipe = boards::load(board)
            .expect("a board")
            .qemu
            .expect("a machine");
        let (since, machine) = (recipe.since.expect("a version"), &recipe.machine);
        if installed < since {
            let (code, _, stderr) = called(&mut xtask(&words));
            let lack =
                format!("QEMU {installed} has no {machine} machine, which needs version {since}");
            assert!(code == 2 && stderr.contains(&lack), "{stderr}");
        }
        let mut command = xtask(&words);
        command.args(["--args", "iterations=2 warmup=0"]);
        let (code, log, stderr) = called(command.env("PATH", &newer));
        assert_eq!(code, 0, "{log}{stderr}");
        let pass = format!("PASS ({counts}, 0 failed; 0 rows skipped, 0 CPUs lost)");
        assert!(log.contains(&pass), "{log}");
        let has_pmf = log.contains("Timestamps : PMF");
        assert_eq!(has_pmf, firmware == "tf-a", "{log}");
    }
}

#[test]
fn firmware_that_qemu_cannot_run_is_named() {
    let (code, _, stderr) = called(&mut xtask(&["qemu", "--board", "imx8mp"]));
    assert_eq!(code, 2, "{stderr}");
    let why = "--firmware tf-a: QEMU cannot run it, because BL31 polls a register";
    assert!(
        stderr.contains(why) && stderr.contains("use --firmware builtin"),
        "{stderr}"
    );
}
