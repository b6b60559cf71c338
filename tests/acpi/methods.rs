//! `_LPI` and `_OSC` methods: what they return is shown by their terms, or it is not known.

use crate::aml::{compile_terms, states_and_notes};

const CORE: u32 = 0x4000_0004;
const DEEP: u32 = 0x4000_0044;
const OTHER: u32 = 0x4000_0054;

/// Returns a state's package.
fn state(entry: &str, name: &str) -> String {
    format!("Package () {{ 600, 500, 1, 1, 0, 1, {entry}, 0, 0, \"{name}\" }}")
}

/// Returns the power_states and notes of a CPU in a container with this `_LPI` method. The method
/// can return the packages DEEP and OTHR.
fn read(switch: u64, method: &str) -> (Vec<u32>, Vec<String>) {
    let register = "ResourceTemplate () { Register (FFixedHW, 32, 0, 0x40000004, 3) }";
    let (core, deep, other) = (
        state(register, "off"),
        state("0x40", "deep"),
        state("0x50", "other"),
    );
    states_and_notes(compile_terms(&format!(
        "Method (\\_SB._OSC, 4) {{ {CONFIRMS} }}
         Name (\\_SB.PEPI, {switch}) Name (\\_SB.TEXT, \"1\")
         Name (\\DEEP, Package () {{ 0, 0, 1, {deep} }})
         Name (\\OTHR, Package () {{ 0, 0, 1, {other} }})
         Device (\\_SB.CLU0) {{
             Name (_HID, \"ACPI0010\")
             Method (_LPI, 0, Serialized) {{ {method} }}
             Device (CPU0) {{
                 Name (_HID, \"ACPI0007\") Name (_UID, 0)
                 Name (_LPI, Package () {{ 0, 0, 1, {core} }})
             }}
         }}"
    )))
}

/// The terms of an `_OSC` that returns what it is given.
const CONFIRMS: &str = "
    If (LEqual (Arg0, ToUUID (\"0811b06e-4a27-44f9-8d60-3cbbc22e7b48\"))) { Return (Arg3) }
    Return (Buffer (4) { 4 })";

#[test]
fn both_ways_of_a_switch_are_shown() {
    let also_deep = "\\_SB_.PEPI is 0 in these tables, and decides what _LPI returns: if it were 1, \
                     there would also be 0x40000044 (off+deep)";
    let not_deep = "\\_SB_.PEPI is 7 in these tables, and decides what _LPI returns: if it were 0, \
                    there would not be 0x40000044 (off+deep)";
    let deep_instead = "\\_SB_.PEPI is 0 in these tables, and decides what _LPI returns: if it were \
                        1, there would be 0x40000044 (off+deep) instead of 0x40000054 (off+other)";
    let same = "\\_SB_.PEPI is 0 in these tables, and decides what _LPI returns: if it were 1, there \
                would be the same power_states";
    for (switch, method, states, note) in [
        (0, "If (PEPI) { Return (DEEP) }", &[CORE][..], also_deep),
        (7, "If (PEPI) { Return (DEEP) }", &[CORE, DEEP], not_deep),
        (
            0,
            "If (PEPI) { Return (DEEP) } Return (OTHR)",
            &[CORE, OTHER],
            deep_instead,
        ),
        (
            0,
            "If (PEPI) { Return (DEEP) } Else { Return (OTHR) }",
            &[CORE, OTHER],
            deep_instead,
        ),
        (
            0,
            "If (PEPI) { } Else { Return (OTHR) } Return (DEEP)",
            &[CORE, OTHER],
            deep_instead,
        ),
        (
            0,
            "If (PEPI) { Return (DEEP) } Return (DEEP)",
            &[CORE, DEEP],
            same,
        ),
        (
            0,
            "If (PEPI) { Return (DEEP) } Else { } Store (1, PEPI)",
            &[CORE],
            "",
        ),
    ] {
        let (found, notes) = read(switch, method);
        assert_eq!(found, states, "{method}\n{notes:?}");
        assert!(
            notes.iter().any(|found| found.starts_with(note)),
            "{method}\n{notes:?}"
        );
        assert!(notes.len() <= 2, "{method}\n{notes:?}");
    }
}

/// For a switch's value and a method: the states, and how the notes end.
#[rustfmt::skip]
const METHODS: &[(u64, &str, &[u32], &[&str])] = &[
    (0, "Return (DEEP)", &[CORE, DEEP], &[]),
    (0, "", &[CORE], &["it returns nothing"]),
    (0, "Name (LOCL, 1) Return (DEEP)", &[CORE, DEEP], &[]),
    (0, "Store (1, Index (DEEP, 0)) Return (DEEP)", &[CORE],
        &["_LPI and possibly others: the method is ignored: only executing it would show what it \
           returns (Store)"]),
    (0, "If (LEqual (PEPI, 1)) { Return (DEEP) }", &[CORE], &[CONDITION]),
    (0, "If (TEXT) { Return (DEEP) }", &[CORE], &[CONDITION]),
    (0, "If (SizeOf (DEEP)) { Return (DEEP) }", &[CORE], &[CONDITION]),
    (0, "Return (DerefOf (RefOf (DEEP)))", &[CORE], &["it returns the value of an expression"]),
    (0, "Return (PEPI)", &[CORE],
        &["ignored because it is not a package of at most 16 idle states"]),
    (0, "If (PEPI) { If (TEXT) { Return (DEEP) } }", &[CORE],
        &["the same power_states",
          "if \\_SB_.PEPI were 1: \\_SB_.CLU0._LPI and possibly others: the method is ignored: \
           only executing it would show what it returns (If)"]),
    (1, "If (PEPI) { If (TEXT) { Return (DEEP) } }", &[CORE],
        &["the method is ignored: only executing it would show what it returns (If)",
          "the same power_states"]),
];

const CONDITION: &str = "the condition of its If is not a named integer";

/// The reason is about the branch that is taken. A reason about the other one says so.
#[test]
fn complex_method_is_refused_for_the_true_reason() {
    for (switch, method, states, notes) in METHODS {
        let (found, found_notes) = read(*switch, method);
        assert_eq!(found, *states, "{method}\n{found_notes:?}");
        assert_eq!(found_notes.len(), notes.len(), "{method}\n{found_notes:?}");
        for (found, note) in found_notes.iter().zip(*notes) {
            assert!(found.ends_with(note), "{note:?} in {found_notes:?}");
        }
    }
}

/// Reading alternatives takes time for each switch, so their number is limited.
#[test]
fn alternatives_of_many_switches_are_limited() {
    let register = "ResourceTemplate () { Register (FFixedHW, 32, 0, 0x40000004, 3) }";
    let core = state(register, "off");
    let mut device = format!(
        "Device (CPU0) {{
             Name (_HID, \"ACPI0007\") Name (_UID, 0) Name (_LPI, Package () {{ 0, 0, 1, {core} }})
         }}"
    );
    for level in 1..=6 {
        let own = state(&format!("0x{level}00"), "deep");
        device = format!(
            "Device (CLU{level}) {{
                 Name (_HID, \"ACPI0010\") Name (MODE, 1)
                 Method (_LPI) {{ If (MODE) {{ Return (Package () {{ 0, 0, 1, {own} }}) }} }}
                 {device}
             }}"
        );
    }
    let (states, notes) = states_and_notes(compile_terms(&format!("Scope (\\_SB) {{ {device} }}")));
    assert_eq!(states.len(), 7, "{notes:?}");
    let count = |text: &str| notes.iter().filter(|note| note.contains(text)).count();
    let limit =
        "6 named integers decide what _LPI returns; the alternatives follow for only 4 of them";
    assert_eq!(count(limit), 1, "{notes:?}");
    assert_eq!(
        count("decides what _LPI returns: if it were 0"),
        4,
        "{notes:?}"
    );
}

/// Linux uses `_LPI` only if `_OSC` returns bit 7 of the capabilities as set.
#[test]
fn osc_that_hides_idle_states_is_named() {
    const FIELDS: &str = "CreateDWordField (Arg3, 0, STS0) CreateDWordField (Arg3, 4, CAP0)";
    const HIDDEN: &str = "Linux then ignores _LPI, and uses none of these idle states";
    let clears =
        format!("\\_SB._OSC may clear the bit of platform-coordinated idle states: {HIDDEN}");
    let without_uuid =
        format!("\\_SB._OSC does not contain the UUID of the platform-wide capabilities: {HIDDEN}");
    let missing = format!("these tables have no \\_SB._OSC: {HIDDEN}");
    let register = "ResourceTemplate () { Register (FFixedHW, 32, 0, 0x40000004, 3) }";
    let core = state(register, "off");
    let osc = |terms: &str| format!("Method (\\_SB._OSC, 4) {{ {FIELDS} {terms} {CONFIRMS} }}");
    for (osc, expected) in [
        (String::new(), missing.clone()),
        (
            "Device (\\_SB.PCI0) { Method (_OSC, 4) { Return (Arg3) } }".into(),
            missing,
        ),
        (osc(""), String::new()),
        (
            "Method (\\_SB._OSC, 4) { Return (Arg3) }".into(),
            without_uuid,
        ),
        (osc("And (CAP0, 0xffffff7f, CAP0)"), clears.clone()),
        (
            osc("If (And (CAP0, 0x80)) { If (Arg2) { And (CAP0, Not (0x80), CAP0) } }"),
            clears,
        ),
        (
            osc("And (CAP0, 0xfffffeff, CAP0) And (STS0, 0xffffff00, STS0)"),
            String::new(),
        ),
        // Firmware turns features off in code that never runs.
        (
            osc("If (Zero) { And (CAP0, 0xffffff7f, CAP0) }"),
            String::new(),
        ),
        (
            osc("Store (0x80, Local0) And (CAP0, 0x80, Local0)"),
            String::new(),
        ),
    ] {
        let (states, notes) = states_and_notes(compile_terms(&format!(
            "{osc} Device (\\_SB.CPU0) {{
                 Name (_HID, \"ACPI0007\") Name (_UID, 0)
                 Name (_LPI, Package () {{ 0, 0, 1, {core} }})
             }}"
        )));
        assert_eq!(states, [CORE], "{osc}\n{notes:?}");
        assert_eq!(notes.concat(), expected, "{osc}");
    }
}
