//! Truncated, corrupted, nested and circular tables never cause a panic or an infinite loop.

use hardware::board::TreeConsole;

use crate::aml::compile;
use crate::common::compile_asl;
use crate::machine::{convert, describe, pptt, processor, seal, table, tables, write};

#[test]
fn truncated_and_changed_tables_are_rejected_or_read() {
    let mut tables = tables();
    tables.extend(["qualcomm", "cpus"].map(compile));
    for number in 0..tables.len() {
        let whole = tables[number].clone();
        for length in 36..whole.len() {
            tables[number] = whole[..length].to_vec();
            assert_ne!(describe(&tables), "", "not sealed");
            seal(&mut tables[number]);
            assert_ne!(describe(&tables), "");
        }
        for at in 36..whole.len() {
            for value in [0, 0xff] {
                tables[number] = whole.clone();
                tables[number][at] = value;
                seal(&mut tables[number]);
                if let Ok(made) = convert(&tables) {
                    assert!(TreeConsole::find(&made.tree).is_ok(), "{number}, {at}");
                }
            }
        }
        tables[number] = whole;
    }
}

/// Describes the board with a DSDT that contains these ASL terms.
fn with_terms(terms: &str) -> String {
    let source =
        format!("DefinitionBlock (\"\", \"DSDT\", 2, \"PSCIB\", \"LIMITS\", 1) {{ {terms} }}");
    describe(&[tables(), vec![compile_asl(&source)]].concat())
}

#[test]
fn limits_become_notes() {
    // iasl 20250404 rejects a device that has neither an address nor an ID.
    let nested_devices = |device_count, inner_source: &str| {
        "Device (DEV0) { Name (_ADR, 0) ".repeat(device_count)
            + inner_source
            + &"}".repeat(device_count)
    };
    let cpu = |name: u32, count| {
        let state = |index| {
            let register = format!("Register (FFixedHW, 32, 0, {}, 3)", name << 8 | index);
            format!(
                "Package () {{1, 1, 1, 0, 0, 0, ResourceTemplate () {{ {register} }}, 0, 0, \"\"}}"
            )
        };
        let states: Vec<_> = (1..=count).map(state).collect();
        let lpi = format!(
            "Name (_LPI, Package () {{0, 0, {count}, {}}})",
            states.join(",")
        );
        format!("Device (CPU{name}) {{ Name (_HID, \"ACPI0007\") {lpi} }}")
    };
    let deep = "AML from here to the end of its block cannot be read (opcode 0x08)";
    for (terms, note, is_expected) in [
        (nested_devices(15, ""), deep, false),
        (
            nested_devices(15, "Scope (\\_SB) {}") + "Name (LAST, 0)",
            deep,
            false,
        ),
        (
            nested_devices(15, "Scope (\\_SB) { Name (LAST, 0) }"),
            deep,
            true,
        ),
        (cpu(0, 16), "no idle states", false),
        (
            cpu(0, 17),
            "CPU0._LPI and possibly others: ignored because it is not a package of at most 16 idle",
            true,
        ),
        (
            cpu(0, 10) + &cpu(1, 10),
            "20 idle states; only the 8 lowest and 8 highest",
            true,
        ),
    ] {
        let found = with_terms(&terms);
        assert_eq!(found.contains(note), is_expected, "{note} in\n{found}");
    }
}

#[test]
fn too_many_objects_become_a_note() {
    // Name (A000, Package () {0}) and so on, assembled by hand because iasl would take seconds to
    // compile them.
    let object = |number: u32| {
        [
            b"\x08",
            format!("{number:04X}").as_bytes(),
            b"\x12\x03\x01\x00",
        ]
        .concat()
    };
    for (count, is_expected) in [(16_000, false), (16_385, true)] {
        let terms: Vec<u8> = (0xa000..).take(count).flat_map(object).collect();
        let dsdt = table("DSDT", 36, &[], &[terms]);
        let found = describe(&[tables(), vec![dsdt]].concat());
        assert_eq!(
            found.contains("more than 16384 objects"),
            is_expected,
            "{count}\n{found}"
        );
    }
}

#[test]
fn broken_aml_becomes_a_note() {
    for (terms, note) in [
        (
            &b"\x08_LPI\x12\xff"[..],
            "offset 0x24: AML from here to the end of its block",
        ),
        (
            b"\x10\x08^^^^^",
            "offset 0x24: AML from here to the end of its block",
        ),
        (
            b"\xa3\x10\x0f_SB_\x7f",
            "offset 0x25: AML from here to the end of its block",
        ),
    ] {
        let dsdt = table("DSDT", 36, &[], &[terms.to_vec()]);
        let found = describe(&[tables(), vec![dsdt]].concat());
        assert!(found.contains(&format!("DSDT (file 6), {note}")), "{found}");
    }
    let mut wrong = [tables(), vec![table("DSDT", 36, &[], &[])]].concat();
    wrong[5][10] ^= 1;
    assert!(describe(&wrong).contains("DSDT (file 6), offset 0x9: the sum of all 36 bytes"));
}

/// If any core's parent is not a cluster node, all CPUs are labeled by MPIDR.
#[test]
fn cores_with_a_wrong_parent_are_labeled_by_mpidr() {
    let clusters = |warning: &str| warning.contains("CpuMap");
    // The cores are at offsets 80, 104 and 128. The inner loop tries all possible parent offsets.
    for core in [80, 104, 128] {
        for parent in (0..300).chain([0xffff, 0xffff_ffff]) {
            let mut tables = tables();
            write(&mut tables[4], &[(core + 8, 4, parent)]);
            seal(&mut tables[4]);
            let found = describe(&tables);
            let is_cluster = [36, 56].contains(&parent);
            assert_eq!(clusters(&found), is_cluster, "{core}: {parent}\n{found}");
            assert!(is_cluster || found.contains("CPUs are labeled by MPIDR"));
        }
    }
    for (core, parent, reason) in [
        (
            80,
            188,
            "offset 0x58: the parent, at offset 0xbc, is not a processor",
        ),
        (
            80,
            57,
            "offset 0x58: the parent, at offset 0x39, is not a processor",
        ),
        (
            104,
            0,
            "offset 0x70: this core has 0 ancestors, but the first CPU's core has 1",
        ),
        (148, 0, "offset 0x9c: the thread has no parent"),
    ] {
        let mut tables = tables();
        write(&mut tables[4], &[(core + 8, 4, parent)]);
        seal(&mut tables[4]);
        let found = describe(&tables);
        assert!(found.contains(reason), "{found}");
    }
    // If there are no clusters, all cores form a single cluster.
    let cores = [0, 1, 2, 3].map(|uid| processor(0b1010, 0, uid, &[]));
    let mut tables = tables();
    tables[4] = table("PPTT", 36, &[(8, 1, 3)], &cores);
    assert!(clusters(&describe(&tables)));
}

#[test]
fn circles_of_processors_end() {
    let mut tables = tables();
    for parents in [[36, 56], [56, 36], [0, 0], [56, 0xffff_ffff]] {
        let [one, other] = parents.map(|parent| processor(0b1110, parent, 0, &[36; 20]));
        tables[4] = table("PPTT", 36, &[(8, 1, 3)], &[one, other]);
        let found = describe(&tables);
        assert!(found.contains("CPUs are labeled by MPIDR"), "{found}");
    }
    // A nested entry
    tables[4] = pptt();
    tables[4][56 + 20] = 37;
    seal(&mut tables[4]);
    assert!(describe(&tables).contains("CpuMap"));
}
