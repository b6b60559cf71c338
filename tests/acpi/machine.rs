//! ACPI tables for a fictional machine, and the board that the payload reads from them.

use device_tree::acpi::{Conversion, Tables, to_tree};
use device_tree::adapt;
use hardware::board::{Board, FormatError, Region};

/// A field's offset, size in bytes, and value.
pub type Field = (usize, usize, u64);

/// Writes the fields to `bytes`, extending it if it is too short.
pub fn write(bytes: &mut Vec<u8>, fields: &[Field]) {
    for &(at, size, value) in fields {
        bytes.resize(bytes.len().max(at + size), 0);
        bytes[at..at + size].copy_from_slice(&value.to_le_bytes()[..size]);
    }
}

/// Returns a buffer that contains these fields.
pub fn bytes(length: usize, fields: &[Field]) -> Vec<u8> {
    let mut bytes = vec![0; length];
    write(&mut bytes, fields);
    bytes
}

/// Sets a table's length and checksum.
pub fn seal(table: &mut Vec<u8>) {
    write(table, &[(4, 4, table.len() as u64), (9, 1, 0)]);
    let sum = table
        .iter()
        .fold(0, |sum: u8, byte| sum.wrapping_add(*byte));
    table[9] = sum.wrapping_neg();
}

/// Returns a table that consists of these fields followed by `parts`.
pub fn table(signature: &str, length: usize, fields: &[Field], parts: &[Vec<u8>]) -> Vec<u8> {
    let mut table = bytes(length, fields);
    table[..4].copy_from_slice(signature.as_bytes());
    table[10..24].copy_from_slice(b"PSCIB MADE-UP\0");
    table.extend(parts.concat());
    seal(&mut table);
    table
}

/// Returns a GICC for the MADT, with a GICv2 CPU interface and a redistributor at these addresses.
pub fn gicc(uid: u64, mpidr: u64, interface: u64, redistributor: u64) -> Vec<u8> {
    let bases = [(32, 8, interface), (60, 8, redistributor), (68, 8, mpidr)];
    let mut entry = bytes(80, &[(0, 1, 0x0b), (1, 1, 80), (8, 4, uid), (12, 4, 1)]);
    write(&mut entry, &bases);
    entry
}

/// A GICD for the MADT.
pub fn gicd(version: u64) -> Vec<u8> {
    let fields = [
        (0, 1, 0x0c),
        (1, 1, 24),
        (8, 8, 0x800_0000),
        (20, 1, version),
    ];
    bytes(24, &fields)
}

/// A redistributor range for the MADT.
pub fn gicr(base: u64, size: u64) -> Vec<u8> {
    bytes(16, &[(0, 1, 0x0e), (1, 1, 16), (4, 8, base), (12, 4, size)])
}

/// An interrupt translation service for the MADT.
pub fn its(base: u64) -> Vec<u8> {
    bytes(20, &[(0, 1, 0x0f), (1, 1, 20), (8, 8, base)])
}

/// An MADT with these entries.
pub fn madt(entries: &[Vec<u8>]) -> Vec<u8> {
    table("APIC", 44, &[(8, 1, 6)], entries)
}

/// A PPTT processor with private resources.
pub fn processor(flags: u64, parent: u64, uid: u64, resources: &[u64]) -> Vec<u8> {
    let count = resources.len() as u64;
    let length = 20 + 4 * count;
    let mut entry = bytes(20, &[(1, 1, length), (4, 4, flags), (8, 4, parent)]);
    write(&mut entry, &[(12, 4, uid), (16, 4, count)]);
    for resource in resources {
        entry.extend((*resource as u32).to_le_bytes());
    }
    entry
}

/// Returns a cache structure of a PPTT. `next` is the offset of the next level, or 0.
pub fn cache(next: u64, size: u64) -> Vec<u8> {
    let fields = [
        (0, 1, 1),
        (1, 1, 28),
        (4, 4, 1),
        (8, 4, next),
        (12, 4, size),
    ];
    bytes(28, &fields)
}

/// Returns a PPTT with two clusters. The first has one core with a private second-level cache. The
/// second has a cache, a core, and a core with two threads.
pub fn pptt() -> Vec<u8> {
    let parts = [
        // At offsets 36 and 56
        processor(0, 0, 9, &[]),
        processor(0, 0, 0, &[244]),
        // At offsets 80, 104, 128, 148 and 168
        processor(0b1010, 36, 0, &[188]),
        processor(0b1010, 56, 1, &[272]),
        processor(0, 56, 7, &[]),
        processor(0b1110, 128, 2, &[]),
        processor(0b1110, 128, 3, &[]),
        // At offsets 188, 216, 244 and 272
        cache(216, 0x8000),
        cache(0, 0x10_0000),
        cache(0, 0x40_0000),
        cache(0, 0x8000),
    ];
    table("PPTT", 36, &[(8, 1, 3)], &parts)
}

/// Returns the FACP, APIC, GTDT, SPCR and PPTT tables for a machine with a GICv3 and four CPUs.
pub fn tables() -> Vec<Vec<u8>> {
    let fadt = table("FACP", 276, &[(8, 1, 6), (129, 2, 1)], &[]);
    let mut entries = Vec::new();
    for (mpidr, uid) in [0, 0x100, 0x101, 0x1_0000].into_iter().zip(0..) {
        entries.push(gicc(uid, mpidr, 0x801_0000, 0));
    }
    entries.push(bytes(80, &[(0, 1, 0x0b), (1, 1, 80), (12, 4, 8)]));
    entries.extend([gicd(3), gicr(0x80a_0000, 0x10_0000), its(0x808_0000)]);
    let gtdt = [
        (8, 1, 3),
        (48, 4, 29),
        (56, 4, 30),
        (64, 4, 27),
        (72, 4, 26),
        (88, 4, 2),
        (92, 4, 104),
    ];
    let frame = |number: u64, intid, flags| {
        let base = 0x2b00_0000 + (number << 16);
        bytes(
            40,
            &[(0, 1, number), (4, 8, base), (20, 4, intid), (36, 4, flags)],
        )
    };
    // One block is at offset 104, with frames at 124 (secure) and 164; the other is at offset 204.
    let block = bytes(
        20,
        &[(1, 2, 100), (4, 8, 0x2a00_0000), (12, 4, 2), (16, 4, 20)],
    );
    let mut watchdog = bytes(28, &[(0, 1, 1), (1, 2, 28), (4, 8, 0x2c00_0000)]);
    write(&mut watchdog, &[(12, 8, 0x2c01_0000), (20, 4, 59)]);
    let timers = [block, frame(0, 60, 1), frame(1, 61, 0), watchdog];
    let spcr = [
        (8, 1, 2),
        (36, 1, 3),
        (41, 1, 8),
        (43, 1, 1),
        (44, 8, 0x900_0000),
    ];
    vec![
        fadt,
        madt(&entries),
        table("GTDT", 104, &gtdt, &timers),
        table("SPCR", 80, &spcr, &[]),
        pptt(),
    ]
}

/// Converts tables to a device tree.
pub fn convert(tables: &[Vec<u8>]) -> Result<Conversion, FormatError> {
    let files: Vec<&[u8]> = tables.iter().map(Vec::as_slice).collect();
    to_tree(&Tables::of_files(&files)?, "arm,armv8")
}

/// Returns the tree in `made` as the payload reads it, with memory and boot arguments added.
pub fn complete(made: &Conversion) -> Result<Vec<u8>, FormatError> {
    let memory = Region {
        base: 0x4000_0000,
        size: 0x4000_0000,
    };
    adapt(&made.tree, Some("iterations=3"), Some(&[memory]))
}

/// Returns a description of the board read from the tables, or the error message.
pub fn describe(tables: &[Vec<u8>]) -> String {
    let made = match convert(tables) {
        Ok(made) => made,
        Err(error) => return format!("error: {error}"),
    };
    match complete(&made) {
        Err(error) => format!("board: {error}"),
        Ok(tree) => {
            let board = Board::read(&tree).expect("the tree was read");
            let cpus = board.cpus(false).map(|(source, cpus)| {
                let labels = cpus
                    .iter()
                    .map(|cpu| (cpu.mpidr, cpu.cluster, cpu.core, cpu.thread));
                (source, labels.collect::<Vec<_>>())
            });
            format!("{board:x?} {cpus:x?} {:?}", made.notes)
        }
    }
}
