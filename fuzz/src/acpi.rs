//! Concatenated ACPI tables or the output of `acpidump`, and the device tree built from them.

use device_tree::acpi::{Tables, to_tree, to_tree_of_cpus};
use device_tree::adapt;
use device_tree::declared::DeclaredStates;
use hardware::board::{Board, Region, TreeConsole};
use runner::build::acpi_dump::{dump_text, read_dump};
use test_support::tree_text::accepted;

const HEADER_SIZE: usize = 36;
const MEMORY: Region = Region {
    base: 1 << 40,
    size: 1 << 30,
};

/// Checks one input.
pub fn check(data: &[u8]) {
    if let Some(text) = dump_text(data) {
        let tables = accepted(read_dump(&text)).unwrap_or_default();
        let tables: Vec<_> = tables.into_iter().map(|table| table.bytes).collect();
        assert!(tables.iter().all(|table| table.len() <= data.len()));
        make(&tables);
        return;
    }
    make(&tables(data, false));
    make(&tables(data, true));
}

/// Splits the input into tables according to the lengths in their headers. If `is_repaired` is true,
/// corrects the lengths and checksums, because mutations rarely leave a checksum valid.
fn tables(mut data: &[u8], is_repaired: bool) -> Vec<Vec<u8>> {
    let mut tables = Vec::new();
    while data.len() >= HEADER_SIZE {
        let field = u32::from_le_bytes([data[4], data[5], data[6], data[7]]) as usize;
        let length = field.clamp(HEADER_SIZE, data.len());
        let (bytes, rest) = data.split_at(length);
        let mut table = bytes.to_vec();
        if is_repaired {
            table[4..8].copy_from_slice(&(length as u32).to_le_bytes());
            let sum = table
                .iter()
                .fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
            table[9] = table[9].wrapping_sub(sum);
        }
        tables.push(table);
        data = rest;
    }
    tables
}

/// If a tree is built, it must be valid and reproducible, and must contain a console and a conduit.
fn make(tables: &[Vec<u8>]) {
    let files: Vec<&[u8]> = tables.iter().map(Vec::as_slice).collect();
    let convert = || to_tree(&Tables::of_files(&files)?, "arm,armv8");
    let Some(made) = accepted(convert()) else {
        return;
    };
    assert_eq!(convert().expect("as before").tree, made.tree);
    let console = TreeConsole::find(&made.tree).expect("the built tree is readable");
    assert!(console.conduit.is_ok());
    assert!(made.notes.iter().all(|note| note.is_ascii()));
    let cpus_only = Tables::of_files(&files)
        .and_then(|tables| to_tree_of_cpus(&tables))
        .expect("needs fewer tables");
    let [of_all, of_cpus] = [&made.tree, &cpus_only.tree].map(|tree| DeclaredStates::read(tree));
    assert_eq!(of_all.expect("a tree"), of_cpus.expect("a tree"));
    if let Some(tree) = accepted(adapt(&made.tree, None, Some(&[MEMORY]))) {
        let board = Board::read(&tree).expect("the completed tree is valid");
        assert_eq!(board.memory, [MEMORY]);
        let (_, cpus) = board.cpus(true).expect("CPUs that were listed");
        assert_eq!(cpus.len(), board.cpu_count);
    }
}
