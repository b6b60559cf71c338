//! Idle states by AML that iasl compiles.

use std::fs;

use device_tree::adapt;
use psci_bench::board::Board;

use crate::common::{compile_asl, workspace};
use crate::machine::{CHANGES, convert, seal, tables, write};

/// Compiles a source in `tests/data/acpi`.
pub fn compile(name: &str) -> Vec<u8> {
    let source = workspace().root.join(format!("tests/data/acpi/{name}.asl"));
    compile_asl(&fs::read_to_string(source).expect("a source"))
}

/// A state: name, power_state, true if the timers stop.
type State = (&'static str, u32, bool);

/// The states are those of the AML, and the notes contain these words.
fn check(aml: &[Vec<u8>], always_on: u64, states: &[State], notes: &[&str]) {
    let mut tables = tables();
    write(&mut tables[2], &[(60, 4, always_on)]);
    seal(&mut tables[2]);
    tables.extend_from_slice(aml);
    let made = convert(&tables).expect("good tables");
    let tree = adapt(&made.tree, CHANGES).expect("a good tree");
    let board = Board::read(&tree).expect("a good tree");
    let found = board.idle_states.iter();
    let found: Vec<_> = found
        .map(|it| (it.name, it.power_state, it.local_timer_stop))
        .collect();
    assert_eq!(found, states);
    assert_eq!(made.notes.len(), notes.len(), "{:?}", made.notes);
    for (note, word) in made.notes.iter().zip(notes) {
        assert!(note.contains(word), "{word:?} in {note:?}");
    }
}

#[test]
fn states_of_containers_are_added() {
    let morello = [
        ("LPI3-Core", 0x1_0000, true),
        ("LPI3-Core+LPI2-Cluster", 0x101_0000, true),
    ];
    // A condition that declares a CPU is not evaluated.
    let notes = ["(opcode 0xa0): idle states may be missing"];
    check(&[compile("morello")], 0, &morello, &notes);
    let kept = morello.map(|(name, power_state, _)| (name, power_state, false));
    check(&[compile("morello")], 1 << 2, &kept, &notes);
    let qualcomm = [
        ("Kryo0.C3", 0x4000_0003, true),
        ("Kryo0.C3+L2.D4", 0x4000_0043, true),
        ("Kryo0.C3+L2.D4+platform.xo", 0x4000_0343, true),
        ("Kryo0.C3+L2.D4+CCI.E3", 0x4000_0443, true),
        ("Kryo0.C3+L2.D4+CCI.E3+RPM", 0x4000_0543, true),
    ];
    check(&[compile("qualcomm")], 0, &qualcomm, &[]);
}

#[test]
fn container_is_found_in_another_table() {
    let states = [
        ("state-0x1", 1, false),
        ("Off", 0x1_0002, true),
        ("Off+Whole", 0x201_0022, true),
    ];
    let [container, cpus] = ["container", "cpus"].map(compile);
    let notes = ["SSDT (file", "2 idle states of _LPI are left out, as"];
    check(&[container.clone(), cpus.clone()], 0, &states, &notes);
    check(&[cpus.clone(), container], 0, &states, &notes);
    // Without the container, its CPUs have their own states.
    check(&[cpus], 0, &states[..2], &notes);
}
