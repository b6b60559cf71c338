//! Device trees, transfer lists that contain one, and boot arguments, as read by the payload.

use hardware::board::{Board, Cpu, FormatError, LabelSource, Region, TreeConsole, free_memory};
use hardware::image::handoff;
use hardware::spec::psci::StateFormat;
use suite::bench::{Needs, States};
use suite::plan::Plan;

use test_support::tree_text::trees;

/// Checks one input.
pub fn check(data: &[u8]) {
    for tree in trees(data) {
        check_tree(&tree);
    }
    check_list(data);
    if let Ok(text) = core::str::from_utf8(data) {
        check_plan(text);
    }
}

/// A tree found in a transfer list must lie within the used part of the list.
fn check_list(data: &[u8]) {
    match handoff::device_tree(data) {
        Ok(None) => {}
        Ok(Some(place)) => {
            let used = handoff::used_size(data).expect("the list was just read");
            assert!(place.start >= handoff::HEADER_SIZE && place.end <= used);
            check_tree(&data[place]);
        }
        Err(error) => assert!(error.to_string().is_ascii()),
    }
}

/// Reads everything that the payload reads from a tree.
fn check_tree(tree: &[u8]) {
    if let Ok(console) = TreeConsole::find(tree) {
        let _ = console.uart.map_err(check_error);
        let _ = console.conduit.map_err(check_error);
    }
    let board = match Board::read(tree) {
        Ok(board) => board,
        Err(error) => return check_error(error),
    };
    for mt in [false, true] {
        match board.cpus(mt) {
            Ok((source, cpus)) => check_cpus(&cpus, source),
            Err(error) => check_error(error),
        }
    }
    let plan = check_plan(board.bootargs).unwrap_or_default();
    for format in [StateFormat::Original, StateFormat::Extended] {
        let _ = States::choose(&board.idle_states, &plan, format);
    }
    let need = Needs::compute(&plan, board.cpu_count, board.idle_states.count());
    check_free_memory(&board, need.heap as u64);
}

/// Errors are printed on a terminal, so each must be a single line.
fn check_error(error: FormatError) {
    let text = error.to_string();
    assert!(text.is_ascii() && text.len() < 250, "{text}");
}

fn check_cpus(cpus: &[Cpu], source: LabelSource) {
    assert!(cpus.is_sorted_by(|one, other| one.mpidr < other.mpidr));
    let mut labels: Vec<_> = cpus
        .iter()
        .map(|cpu| (cpu.cluster, cpu.core, cpu.thread))
        .collect();
    labels.sort_unstable();
    labels.dedup();
    assert_eq!(labels.len(), cpus.len(), "{source:?}: {cpus:?}");
}

fn check_plan(bootargs: &str) -> Option<Plan> {
    let shared = Plan::parse_from_tree(bootargs);
    match Plan::parse(bootargs) {
        Ok(plan) => {
            // Words for another program are not needed to accept the payload's own.
            assert_eq!(shared, Ok(plan));
            Some(plan)
        }
        Err(error) => {
            // The error may list all scenarios. The payload wraps the text when printing it.
            let text = error.to_string();
            assert!(text.is_ascii() && text.len() < 500, "{text}");
            None
        }
    }
}

/// Any free memory found must be page-aligned and must not overlap a reserved region.
fn check_free_memory(board: &Board<'_>, need: u64) {
    // Search near the end of the first memory region, where an image could be loaded.
    let near = board.memory.first().map_or(0, Region::end);
    match free_memory::find(&board.memory, &board.reserved, near, need) {
        Ok(found) => {
            let found = found.region();
            assert!(found.base >= free_memory::PAGE && found.base % free_memory::PAGE == 0);
            assert!(found.size >= need && found.size % free_memory::PAGE == 0);
            assert!(board.memory.iter().any(|memory| memory.contains(&found)));
            assert!(
                !board
                    .reserved
                    .iter()
                    .any(|reserved_region| reserved_region.overlaps(&found))
            );
        }
        Err(error) => assert!(error.to_string().is_ascii()),
    }
}
