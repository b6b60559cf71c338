//! Device trees supplied by the user, which the tool checks and modifies.

use boards::device_tree::machine;
use device_tree::adapt;
use hardware::board::Board;
use runner::build::image::Emergency;
use test_support::tree_text::{accepted, trees};

const BOOTARGS: &str = "iterations=3 only=cpu_off_serial";

/// Checks one input.
pub fn check(data: &[u8]) {
    for tree in trees(data) {
        check_tree(&tree);
    }
}

fn check_tree(blob: &[u8]) {
    let kept = match adapt(blob, None, None) {
        Ok(kept) => kept,
        Err(error) => {
            assert!(!format!("{error:#}").is_empty());
            assert!(adapt(blob, Some(BOOTARGS), None).is_err());
            assert!(machine(blob).is_err());
            let _ = Emergency::of_tree(blob);
            return;
        }
    };
    assert!(blob.starts_with(&kept));
    let emergency = Emergency::of_tree(&kept);
    assert!(emergency.uart.is_some() && emergency.conduit.is_some());
    let Some(changed) = accepted(adapt(blob, Some(BOOTARGS), None)) else {
        return;
    };
    assert_eq!(emergency, Emergency::of_tree(&changed));
    assert_eq!(describe(&kept), describe(&changed));
    // The machine derived from a tree must not depend on the boot arguments.
    match (machine(&kept), machine(&changed)) {
        (Ok(kept), Ok(changed)) => {
            assert_eq!(kept, changed);
            let (gic, cpus) = changed;
            assert!(gic.is_none_or(|gic| matches!(gic.number(), 2 | 3)) && cpus > 0);
        }
        (Err(kept), Err(changed)) => {
            assert_eq!(format!("{kept:#}"), format!("{changed:#}"));
        }
        (kept, changed) => panic!("{kept:?} against {changed:?}"),
    }
}

/// Returns everything that the payload reads from a tree, except the boot arguments.
fn describe(blob: &[u8]) -> String {
    let board = Board::read(blob).expect("the tree was accepted");
    let firmware = (board.model, board.uart, board.conduit, &board.idle_states);
    let timers = (&board.timers, &board.timer_frame);
    let devices = (&board.gic, timers, &board.watchdog);
    let memory = (&board.memory, &board.reserved);
    let cpus = board.cpus(false);
    format!("{firmware:?} {devices:?} {memory:?} {cpus:?}")
}
