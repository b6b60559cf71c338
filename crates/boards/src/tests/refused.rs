//! Tests that apply changes to a made-up board file, and tests that select its CPUs and idle
//! states.

use hardware::board::Mpidr;
use hardware::image::UartKind;
use itertools::Itertools as _;
use serde::Deserialize;

use super::BOARD as GOOD;
use super::changes::{ACCEPTED, REFUSED};
use crate::StateFormat;
use crate::read::{EMBEDDED, FILE_MAX, parse_in_folder};

/// Returns the valid board file with all `changes` applied.
fn changed(changes: &[(&str, &str)]) -> String {
    let mut text = GOOD.to_owned();
    for (from, to) in changes {
        assert!(text.contains(from), "{from:?} of {changes:?}");
        text = text.replacen(from, to, 1);
    }
    text
}

/// Returns the error for a board file, or "accepted".
fn error(text: &str) -> String {
    let error = crate::parse("", text).err();
    error.map_or("accepted".into(), |error| format!("{error:#}"))
}

#[test]
fn wrong_board_files_are_refused_by_line_and_path() {
    let mut is_right = true;
    for (changes, expected) in REFUSED {
        let error = error(&changed(changes));
        let found = error.trim_start_matches(':');
        if found != *expected {
            println!("{changes:?}: {expected}\n  found {found}");
            is_right = false;
        }
    }
    assert!(is_right);
}

/// A tool's table is not read until the tool reads it.
#[test]
fn tool_table_is_read_by_its_tool() {
    #[derive(Debug, PartialEq, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Table {
        size: u32,
    }
    let text = format!("{GOOD}\n[tool.good]\nsize = 3\n[tool.odd]\nsice = 3\n");
    let board = crate::parse("", &text).expect("a good board");
    let good = board.tool_table("good").expect("a good table");
    assert_eq!(good, Some(Table { size: 3 }));
    let absent = board.tool_table::<Table>("absent").expect("no table");
    assert_eq!(absent, None);
    let error = board.tool_table::<Table>("odd").expect_err("unknown key");
    let error = format!("{error:#}");
    let place = format!("platforms/{}/board.toml: [tool.odd]: ", board.name);
    assert!(
        error.starts_with(&place) && error.contains("sice"),
        "{error}"
    );
}

#[test]
fn a_uart_of_no_known_kind_is_refused_with_the_kinds() {
    let kinds = UartKind::ALL
        .iter()
        .map(|kind| kind.descriptor())
        .filter(|kind| kind.is_in_board_files)
        .map(|kind| format!("`{}`", kind.name))
        .join(", ");
    assert!(
        kinds.starts_with("`pl011`, `ns16550`, `cadence`, "),
        "{kinds}"
    );
    for name in ["pl010", "sbsa"] {
        let kind = format!("kind = \"{name}\"");
        let found = error(&changed(&[("kind = \"ns16550\"", &kind)]));
        let expected = format!("16: unknown variant `{name}`, expected one of {kinds}");
        assert_eq!(found.trim_start_matches(':'), expected);
    }
}

#[test]
fn values_at_the_limits_are_accepted() {
    let long = "x".repeat(600);
    let note = &[("It is not measured.", &*long)];
    let all = ACCEPTED.iter().copied().chain([&[][..], note]);
    for changes in all {
        assert_eq!(error(&changed(changes)), "accepted", "{changes:?}");
    }
}

#[test]
fn lists_that_are_too_long_are_refused() {
    let reserved = |index: u64| {
        let base = 0x4000_0000 + (index << 12);
        format!("name = \"n{index}\"\nbase = {base}\nsize = 4096")
    };
    let memory = |index: u64| format!("base = {}\nsize = 0x1000", index << 32);
    let state = |index| {
        let value = 0x1_0000 + index;
        format!("name = \"s{index}\"\nlevel = 0\npower-state = {value}")
    };
    let states = "firmware.tf-a-stock.idle-state";
    // The board file already has one reserved region and one memory region.
    for (table, count, rest, expected) in [
        ("reserved", 63, reserved as fn(_) -> _, "accepted"),
        ("reserved", 64, reserved, "n64@40040000 reg: more than 64"),
        ("memory", 32, memory, "memory@2000000000 reg: more than 32"),
        (states, 16, state, "accepted"),
        (
            states,
            17,
            state,
            "s17 arm,psci-suspend-param: more than 16",
        ),
    ] {
        let table = |index| format!("[[{table}]]\n{}\n", rest(index));
        let list = (1..=count).map(table).collect::<String>() + "[uart]";
        let error = error(&GOOD.replacen("[uart]", &list, 1));
        assert!(error.contains(expected), "{error}");
    }
    let long = GOOD.to_owned() + &"#".repeat(FILE_MAX);
    let expected = ":1: larger than the limit of 65536 bytes";
    assert_eq!(error(&long), expected);
}

#[test]
fn the_first_cpus_are_in_clusters() {
    let board = crate::parse("board.toml", GOOD).expect("a valid board");
    let cluster = |cpus: &[u64]| cpus.iter().copied().map(Mpidr::new).collect::<Vec<_>>();
    let three = board.clusters(3).expect("three");
    assert_eq!(three, [cluster(&[0, 1]), cluster(&[2])]);
    let all = board.clusters(32).expect("all");
    let last = cluster(&[0x10e, 0x10f]);
    assert_eq!((all.len(), all.last()), (16, Some(&last)));
    for count in [0, 33] {
        let error = board.clusters(count).expect_err("too few or too many");
        let expected = format!("made-up supports 1 to 32 CPUs, not {count}");
        assert_eq!(error.to_string(), expected);
    }
}

#[test]
fn idle_states_have_the_format_that_the_firmware_was_built_for_if_there_is_a_choice() {
    let is_only = "format = \"extended\"\npower-state = 0x4000_0022\nlevel = 1";
    let only = "power-state = 0x0001_0003\nlevel = 0";
    let other = GOOD.replace("\"cluster-off\"\nformat", "\"other\"\nformat");
    let both = other.replace(is_only, only);
    for (text, extended) in [
        (GOOD, &[0x4000_0022][..]),
        (&both, &[0x1_0002, 0x101_0022, 0x1_0003]),
    ] {
        let board = crate::parse("board.toml", text).expect("a valid board");
        let firmware = board.firmware("tf-a").expect("the firmware");
        let values = |format| -> Vec<u32> {
            let states = firmware.idle_states(format);
            states.iter().map(|state| state.power_state).collect()
        };
        assert_eq!(values(StateFormat::Original)[..2], [0x1_0002, 0x101_0022]);
        assert_eq!(values(StateFormat::Extended), extended);
        let error = board.firmware("uefi").expect_err("none").to_string();
        let expected = "made-up has no firmware \"uefi\"; available: tf-a, tf-a-stock";
        assert_eq!(error, expected);
    }
}

#[test]
fn file_is_refused_with_its_line() {
    let qemu = EMBEDDED.iter().find(|(name, _)| *name == "qemu");
    let (_, qemu) = qemu.expect("QEMU's board file");
    for (folder, text, expected) in [
        (
            "broken",
            "# A key alone.\nkey",
            "platforms/broken/board.toml:2: ",
        ),
        (
            "other",
            qemu,
            "toml:9: name: \"qemu\" does not match the folder name, \"other\"",
        ),
    ] {
        let error = parse_in_folder(folder, text)
            .expect_err("a fault")
            .to_string();
        assert!(error.contains(expected), "{error}");
    }
    let error = crate::load("greek").expect_err("no such board").to_string();
    assert!(
        error.starts_with("unknown board \"greek\"; available: "),
        "{error}"
    );
}
