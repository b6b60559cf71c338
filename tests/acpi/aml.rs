//! Idle states from AML compiled by iasl.

use std::fs;

use hardware::board::Board;

use crate::common::{compile_asl, workspace};
use crate::machine::{Field, complete, convert, seal, tables, write};

/// Compiles a source file in `tests/data/acpi`.
pub fn compile(name: &str) -> Vec<u8> {
    let source = workspace().root.join(format!("tests/data/acpi/{name}.asl"));
    compile_asl(&fs::read_to_string(source).expect("a source"))
}

/// Compiles ASL terms to a DSDT.
pub fn compile_terms(terms: &str) -> Vec<u8> {
    let head = "DefinitionBlock (\"\", \"DSDT\", 2, \"PSCIB\", \"TERMS\", 1)";
    compile_asl(&format!("{head} {{ {terms} }}"))
}

/// Returns the power_states read from tables with this DSDT, and all notes.
pub fn states_and_notes(dsdt: Vec<u8>) -> (Vec<u32>, Vec<String>) {
    let made = convert(&[tables(), vec![dsdt]].concat()).expect("good tables");
    let tree = complete(&made).expect("a good tree");
    let board = Board::read(&tree).expect("a good tree");
    let usable = board.idle_states.usable.iter();
    (usable.map(|state| state.power_state).collect(), made.notes)
}

/// An idle state's name and power_state, and whether the timers stop in that state.
type State = (&'static str, u32, bool);

/// GTDT flags that indicate that the physical timer keeps running in every state.
const ALWAYS_ON: [Field; 1] = [(60, 4, 1 << 2)];

const NO_OSC: &str = "these tables have no \\_SB._OSC: Linux then ignores _LPI";

/// The notes about `cpus.asl`.
const CPUS_NOTES: [&str; 4] = [
    "no numeric _UID",
    "the method is ignored: the condition of its If is not a named integer",
    NO_OSC,
    "2 _LPI idle states are ignored because",
];

/// Checks that these states are read from the AML and that the notes contain these strings.
fn check(aml: &[Vec<u8>], gtdt: &[Field], states: &[State], notes: &[&str]) {
    let mut tables = tables();
    write(&mut tables[2], gtdt);
    seal(&mut tables[2]);
    tables.extend_from_slice(aml);
    check_states(&tables, states, notes);
}

fn check_states(tables: &[Vec<u8>], states: &[State], notes: &[&str]) {
    let made = convert(tables).expect("good tables");
    let tree = complete(&made).expect("a good tree");
    let board = Board::read(&tree).expect("a good tree");
    let usable = board.idle_states.usable.iter();
    let found: Vec<_> = usable
        .map(|state| (state.name, state.power_state, state.local_timer_stop))
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
    let notes = [
        "offset 0x99: the CPUs and idle states in this block are ignored, because its",
        NO_OSC,
    ];
    check(&[compile("morello")], &[], &morello, &notes);
    let kept = morello.map(|(name, power_state, _)| (name, power_state, false));
    check(&[compile("morello")], &ALWAYS_ON, &kept, &notes);
    let qualcomm = [
        ("Kryo0.C3", 0x4000_0003, true),
        ("Kryo0.C3+L2.D4", 0x4000_0043, true),
        ("Kryo0.C3+L2.D4+platform.xo", 0x4000_0343, true),
        ("Kryo0.C3+L2.D4+CCI.E3", 0x4000_0443, true),
        ("Kryo0.C3+L2.D4+CCI.E3+RPM", 0x4000_0543, true),
    ];
    check(&[compile("qualcomm")], &[], &qualcomm, &[NO_OSC]);
}

/// A core with two power domains, of which the cluster's state needs both to be off.
#[test]
fn both_power_down_states_of_a_core_are_read() {
    let core_states = [
        ("RetL1", 0x1, 0, 0),
        ("FullRet", 0x2, 0, 0),
        ("OffL1", 0x4000_0003_u32, 1, 0),
        ("OffL2", 0x4000_0004, 1, 1),
    ];
    let mut packages = String::new();
    for ((name, power_state, lost, parent), depth) in core_states.iter().zip(1..) {
        packages += &format!(
            ", Package () {{ {depth}00, {depth}0, 1, {lost}, 0, {parent},
               ResourceTemplate () {{ Register (FFixedHW, 32, 0, {power_state:#x}, 3) }},
               0, 0, \"{name}\" }}"
        );
    }
    let dsdt = compile_terms(&format!(
        "Device (\\_SB.CLU0) {{
             Name (_HID, \"ACPI0010\")
             Name (_LPI, Package () {{ 0, 1, 1,
                 Package () {{ 900, 90, 1, 1, 0, 0, 0x40, 0, 0, \"ClusterOff\" }} }})
             Device (CPU0) {{
                 Name (_HID, \"ACPI0007\") Name (_UID, 0)
                 Name (_LPI, Package () {{ 0, 0, 4 {packages} }})
             }}
         }}"
    ));
    let states = [
        ("RetL1", 0x1, false),
        ("FullRet", 0x2, false),
        ("OffL1", 0x4000_0003, true),
        ("OffL2", 0x4000_0004, true),
        ("OffL2+ClusterOff", 0x4000_0044, true),
    ];
    check(&[dsdt], &[], &states, &[NO_OSC]);
}

#[test]
fn container_is_found_in_another_table() {
    let states = [
        ("state-0x1", 1, false),
        ("Off", 0x1_0002, true),
        ("Off+Whole", 0x201_0022, true),
    ];
    let [container, cpus] = ["container", "cpus"].map(compile);
    let notes = CPUS_NOTES;
    check(&[container.clone(), cpus.clone()], &[], &states, &notes);
    check(&[cpus.clone(), container], &[], &states, &notes);
    // If the table that declares the container is missing, its CPUs have only their own states.
    check(&[cpus], &[], &states[..2], &notes);
}

/// Only the flags of the timer used by the payload matter.
#[test]
fn another_timers_always_on_does_not_count() {
    let cpus = compile("cpus");
    let notes = CPUS_NOTES;
    const ON: u64 = 1 << 2;
    const HVC: u64 = 3;
    const SMC: u64 = 1;
    for (conduit, gtdt, timer_stops) in [
        // Physical, virtual, EL2.
        (SMC, &[(60, 4, ON)][..], false),
        (SMC, &[(68, 4, ON), (76, 4, ON)], true),
        (HVC, &[(68, 4, ON)], false),
        (HVC, &[(60, 4, ON), (76, 4, ON)], true),
        // In these tables, the physical timer has no interrupt.
        (SMC, &[(56, 4, 0), (76, 4, ON)], false),
        (SMC, &[(56, 4, 0), (60, 4, ON), (68, 4, ON)], true),
    ] {
        let mut tables = tables();
        write(&mut tables[0], &[(129, 2, conduit)]);
        write(&mut tables[2], gtdt);
        tables.iter_mut().for_each(seal);
        tables.push(cpus.clone());
        let states = [("state-0x1", 1, false), ("Off", 0x1_0002, timer_stops)];
        check_states(&tables, &states, &notes);
    }
}
