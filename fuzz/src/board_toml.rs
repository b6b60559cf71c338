//! Board files, and the device trees built from the valid ones.

use crate::input::worded;
use boards::device_tree::{self, Choices};
use boards::{BoardFile, GicVersion, StateFormat};
use hardware::board as payload;
use xtask::build::image::Emergency;

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
    let choices = [
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
    for ((gic, cpus, state_id), firmware) in choices.into_iter().zip(firmwares) {
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
    let Some(blob) = worded(device_tree::build(board, choices, BOOTARGS)) else {
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
    let windows = board.memory.iter().map(|it| (it.base, it.size));
    assert!(read.memory.iter().map(|it| (it.base, it.size)).eq(windows));
    assert_eq!(read.reserved.len(), board.reserved.len());
    let frame = board.timer_frame().map(|it| (it.base, it.interrupt));
    assert_eq!(read.timer_frame.ok().map(|it| (it.base, it.intid)), frame);
    assert_eq!(read.idle_states.usable.len(), choices.idle_states.len());
    let of = |it: Emergency| (it.conduit, it.uart.map(|uart| (uart.kind, uart.base)));
    let ours = Emergency::of_board(board, choices.conduit);
    assert_eq!(of(Emergency::of_tree(&blob)), of(ours));
}
