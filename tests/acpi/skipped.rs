//! Terms that are skipped, because only running them would show what they do, do not hide the
//! CPUs behind them.

use crate::aml::{compile_terms as dsdt, states_and_notes};
use crate::machine::{seal, table};

/// A CPU with one state.
const CPU: &str = "
    Device (CPU0) {
        Name (_HID, \"ACPI0007\")
        Name (_UID, 0)
        Name (_LPI, Package () { 0, 0, 1, Package () { 600, 500, 1, 1, 0, 0,
            ResourceTemplate () { Register (FFixedHW, 32, 0, 0x40000004, 3) }, 0, 0, \"off\" } })
    }";

/// Returns the power_states read from tables with this DSDT, and the notes about the DSDT.
fn read(dsdt: Vec<u8>) -> (Vec<u32>, Vec<String>) {
    let (states, mut notes) = states_and_notes(dsdt);
    notes.retain(|note| note.starts_with("DSDT"));
    (states, notes)
}

fn note(at: usize, skipped: &str) -> String {
    format!("DSDT (file 6), offset {at:#x}: code outside methods is skipped: {skipped}")
}

#[test]
fn compiled_code_does_not_hide_cpus() {
    for (terms, skipped) in [
        ("Store (1, \\NUMB)", "1 Store"),
        (
            "\\CALL (1, \"a\", \\NUMB)",
            "2 method call, 1 One, 1 string",
        ),
        (
            "Store (\\CALL (1, 2, 3), \\NUMB)",
            "1 Store, 2 integer, 1 method call",
        ),
        (
            "If (\\NUMB) { \\CALL (1, 2, 3) } Else { Store (2, \\NUMB) }",
            "1 If, 1 Else",
        ),
        ("While (\\NUMB) { Decrement (\\NUMB) }", "1 While"),
        ("Add (\\NUMB, Multiply (\\NUMB, 7), \\NUMB)", "1 Add"),
        (
            "Store (Match (Package () { 1 }, MGE, 2, MLT, 9, 0), \\NUMB)",
            "1 Store",
        ),
        ("CondRefOf (\\NUMB, \\REFR)", "1 CondRefOf"),
        ("Store (\"text\", Debug) Sleep (1)", "1 Store, 1 Sleep"),
        ("Notify (\\_SB, 1)", "1 Notify"),
        (
            "Acquire (\\MUTX, 10) Release (\\MUTX)",
            "1 Acquire, 1 Release",
        ),
        ("CopyObject (Buffer (2) { 8, 0 }, \\REFR)", "1 CopyObject"),
    ] {
        let head = "Name (\\NUMB, 5) Name (\\REFR, 0) Mutex (\\MUTX, 0) Method (\\CALL, 3) { Return (Arg0) }";
        let (states, notes) = read(dsdt(&format!("{head} Scope (\\_SB) {{ {terms} {CPU} }}")));
        assert_eq!(states, [0x4000_0004], "{terms}\n{notes:?}");
        let [found] = notes.as_slice() else {
            panic!("{terms}\n{notes:?}");
        };
        let end = format!(": code outside methods is skipped: {skipped}");
        assert!(found.ends_with(&end), "{found}");
    }
}

/// Declarations without idle states are not worth a note.
#[test]
fn declarations_do_not_hide_cpus() {
    for terms in [
        "OperationRegion (REGS, SystemMemory, Add (\\NUMB, 0x1000), \\NUMB)
         Field (REGS, DWordAcc, NoLock, Preserve) { VAL0, 32 }
         BankField (REGS, VAL0, 1, DWordAcc, NoLock, Preserve) { VAL1, 32 }",
        "DataTableRegion (TABL, \"OEM1\", \"\", \"\")",
        "Name (DATA, Buffer (\\NUMB) {}) CreateByteField (DATA, 1, BYT1)
         CreateField (DATA, 8, 8, BITS)",
        "Alias (\\NUMB, SAME) Event (EVNT) Mutex (MUTX, 0) External (\\ELSE, MethodObj)",
        "PowerResource (PWR0, 0, 0) {} ThermalZone (THRM) {}",
    ] {
        let terms = format!("Name (\\NUMB, 5) Scope (\\_SB) {{ {terms} {CPU} }}");
        let (states, notes) = read(dsdt(&terms));
        assert_eq!(states, [0x4000_0004], "{terms}\n{notes:?}");
        assert_eq!(notes, Vec::<String>::new(), "{terms}");
    }
}

/// Firmware may shorten a value in place and fill the rest with zeros.
#[test]
fn value_shortened_in_place_does_not_hide_cpus() {
    for (term, old, new, skipped) in [
        (
            "Name (SIDS, \"SCP_HAMOA\")",
            &b"SCP_HAMOA"[..],
            &b"SCP\0\0\0\0\0\0"[..],
            "6 Zero",
        ),
        (
            "Name (SIDS, 0x12345678)",
            b"\x0c\x78\x56\x34\x12",
            b"\x0a\x05\0\0\0",
            "3 Zero",
        ),
        (
            "Name (SIDS, 0x12345678)",
            b"\x0c\x78\x56\x34\x12",
            b"\x01\xa3\xa3\xff\x01",
            "2 Noop, 1 Ones, 1 One",
        ),
        (
            "Name (SIDS, Buffer (4) {1, 2, 3, 4})",
            b"\x0a\x04\x01\x02\x03\x04",
            b"\x70\x01\x60\x02\x03\x04",
            "",
        ),
    ] {
        let mut dsdt = dsdt(&format!("Scope (\\_SB) {{ {term} Name (AFTR, 1) {CPU} }}"));
        let at = dsdt
            .windows(old.len())
            .position(|bytes| bytes == old)
            .expect("the value");
        dsdt[at..at + new.len()].copy_from_slice(new);
        seal(&mut dsdt);
        let (states, notes) = read(dsdt);
        assert_eq!(states, [0x4000_0004], "{term}\n{notes:?}");
        let found = notes
            .iter()
            .map(|note| note.rsplit(": ").next().unwrap_or_default());
        assert_eq!(found.collect::<String>(), skipped, "{term}");
    }
}

/// A term that is malformed or unknown costs as little as possible.
#[test]
fn malformed_term_ends_at_its_length_or_at_the_end_of_its_list() {
    let cpu = &dsdt(CPU)[36..];
    let read_behind = |terms: &[u8]| read(table("DSDT", 36, &[], &[terms.to_vec(), cpu.to_vec()]));
    let unreadable = |opcode: &str| {
        let end = format!("(opcode {opcode}): idle states may be missing");
        format!(
            "DSDT (file 6), offset 0x24: AML from here to the end of its block cannot be read {end}"
        )
    };
    for (terms, opcode) in [
        // A device, a scope and a method whose names are wrong, and a device with an unknown term.
        (&b"\x5b\x82\x05dev0"[..], "0x5b82"),
        (b"\x10\x05\xee\0\0\0", "0x10"),
        (b"\x14\x06dev0\0", "0x14"),
        (b"\x5b\x83\x07CPU9\0\0", "0x5b83"),
    ] {
        let (states, notes) = read_behind(terms);
        assert_eq!(states, [0x4000_0004], "{terms:?}\n{notes:?}");
        assert_eq!(notes, [unreadable(opcode)]);
    }
    let (states, notes) = read_behind(b"\x5b\x82\x07DEV0\xee\xee");
    assert_eq!((states.len(), notes.len()), (1, 1), "{notes:?}");
    // Without a length, the list ends, which contains the CPU.
    assert_eq!(read_behind(b"\xee"), (vec![], vec![unreadable("0xee")]));
    let skipped = note(36, "2 Zero, 1 One, 1 Ones, 1 Noop, 1 Debug");
    assert_eq!(
        read_behind(b"\0\0\x01\xff\xa3\x5b\x31"),
        (vec![0x4000_0004], vec![skipped])
    );
    // What is not an operand is not skipped.
    assert_eq!(
        read_behind(b"\x70\x70\x70"),
        (vec![0x4000_0004], vec![note(36, "1 Store")])
    );
}

/// Which CPUs exist depends on the condition.
#[test]
fn cpus_in_a_conditional_block_are_named() {
    let terms = format!("Name (\\NUMB, 5) If (\\NUMB) {{ {CPU} }} Store (1, \\NUMB)");
    let (states, notes) = read(dsdt(&terms));
    assert_eq!(states, Vec::<u32>::new());
    let ends = [
        "skipped: 1 Store",
        "condition is not evaluated: idle states may be missing",
    ];
    assert_eq!(notes.len(), ends.len());
    for (note, end) in notes.iter().zip(ends) {
        assert!(note.ends_with(end), "{note}");
    }
}
