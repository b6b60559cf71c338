//! The pages about the first day with a board, `platforms/BOARD/README.md`.

use std::fs;

use super::all_boards;
use crate::BoardFile;

/// The second-level headings of each page.
const HEADINGS: [&str; 8] = [
    "What you need",
    "Connect",
    "Build",
    "Install",
    "The first minute",
    "Measure",
    "What goes wrong",
    "Send the log",
];

/// Returns what the board's page must contain because the board file does: the UARTs and their
/// speed, the names of files and options, and the command that builds them.
fn facts(board: &BoardFile) -> Vec<String> {
    let uart = &board.uart;
    let baud = uart.baud.map_or(115_200, |baud| baud.get());
    let mut facts = vec![format!("--board {}", board.name)];
    // A model's UART has no speed.
    if !board.title.contains("FVP") {
        facts.push(baud.to_string());
    }
    let uarts = [Some(uart.base), uart.el3_base];
    facts.extend(uarts.into_iter().flatten().map(|base| format!("{base:#x}")));
    if let Some(package) = &board.package {
        facts.push(package.file.clone());
        facts.extend(package.parts.iter().map(|part| part.file.clone()));
    }
    let firmware = &board.firmware[&board.default_firmware];
    if let Some(stock) = &firmware.stock {
        let inputs = stock.inputs.iter();
        facts.extend(inputs.map(|input| format!("--{}", input.option)));
        let files = stock.files.iter();
        facts.extend(files.map(|file| file.to.rsplit('/').next().expect("a name").to_owned()));
    }
    facts
}

#[test]
fn pages_have_the_same_headings_and_the_facts_of_their_board_files() {
    let mut pages = 0;
    for board in all_boards() {
        let name = &board.name;
        let path = format!(
            "{}/../../platforms/{name}/README.md",
            env!("CARGO_MANIFEST_DIR")
        );
        let Ok(page) = fs::read_to_string(path) else {
            continue;
        };
        pages += 1;
        let headings = page.lines().filter_map(|line| line.strip_prefix("## "));
        assert!(headings.eq(HEADINGS), "{name}");
        assert!(page.contains("**Not seen on hardware.**"), "{name}");
        for fact in facts(&board) {
            assert!(page.contains(&fact), "{name}: {fact}");
        }
    }
    assert!(pages >= 9, "{pages} pages");
}
