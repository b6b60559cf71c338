//! Board files, and the device trees built from the valid ones.

use boards::device_tree::{self, Choices};
use boards::{BoardFile, GicVersion, StateFormat};
use hardware::board as payload;
use hardware::image::UartDescription;
use runner::build::image::Emergency;
use test_support::tree_text::accepted;

const BOOTARGS: &str = "iterations=3";

/// Checks one input.
pub fn check(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else {
        return;
    };
    let board = match boards::parse("board.toml", text) {
        Ok(board) => board,
        Err(error) => {
            assert!(format!("{error:#}").starts_with("board.toml:"));
            return;
        }
    };
    assert!(board.firmware(&board.default_firmware).is_ok());
    let default = board.default_cpus().expect("the file is short enough");
    let machines = [
        (board.default_gic(), default, StateFormat::Original),
        (GicVersion::V2, 1, StateFormat::Extended),
        (
            GicVersion::V3,
            default.saturating_add(1),
            StateFormat::Original,
        ),
    ];
    // Idle states depend on the firmware.
    let firmwares = board.firmware.values().cycle();
    for ((gic, cpus, state_id), firmware) in machines.into_iter().zip(firmwares) {
        let choices = Choices {
            cpus,
            gic,
            conduit: board.psci.conduit,
            cpu_off: true,
            idle_states: &firmware.idle_states(state_id),
        };
        make(&board, &choices);
    }
}

/// If a tree is built, the payload must be able to read it, and it must match the board file.
fn make(board: &BoardFile, choices: &Choices<'_>) {
    let Some(blob) = accepted(device_tree::build(board, choices, BOOTARGS)) else {
        return;
    };
    let read = payload::Board::read(&blob).expect("the built tree is readable");
    let cpus = choices.cpus as usize;
    assert_eq!(read.cpu_count, cpus);
    let (_, places) = read.cpus(false).expect("CPUs that were listed");
    let numbers = places.iter().map(|cpu| cpu.mpidr);
    let clusters = board.clusters(choices.cpus).expect("this many CPUs");
    let mut listed = clusters.concat();
    listed.sort_unstable();
    assert!(numbers.eq(listed));
    assert_eq!(read.bootargs, BOOTARGS);
    let gic = board.gic.as_ref().map(|_| choices.gic);
    assert_eq!(device_tree::machine(&blob).expect("as above"), (gic, cpus));
    let windows = board.memory.iter().map(|memory| (memory.base, memory.size));
    let regions = read.memory.iter().map(|region| (region.base, region.size));
    assert!(regions.eq(windows));
    assert_eq!(read.reserved.len(), board.reserved.len());
    let described = board
        .timer_frame()
        .map(|frame| (frame.base, frame.interrupt));
    let found = read.timer_frame.ok().map(|frame| (frame.base, frame.intid));
    assert_eq!(found, described);
    assert_eq!(read.idle_states.usable.len(), choices.idle_states.len());
    let by_tree = Emergency::of_tree(&blob);
    let by_board = Emergency::of_board(board, choices.conduit);
    let kind_and_base = |uart: UartDescription| (uart.kind, uart.base);
    assert_eq!(by_tree.conduit, by_board.conduit);
    assert_eq!(
        by_tree.uart.map(kind_and_base),
        by_board.uart.map(kind_and_base)
    );
}
