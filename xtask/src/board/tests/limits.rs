//! What the payload has no room for, or cannot reach: refused with its line.

use super::*;
use crate::board;
use crate::setup::workspace::Workspace;
use std::fs;

/// Refuses the board file with `from` replaced by `to`, at the line of `place`.
fn told(from: &str, to: &str, place: &str, expected: &str) {
    let text = text();
    assert!(text.contains(from), "{from}");
    let text = text.replacen(from, to, 1);
    let at = text.lines().position(|line| line.contains(place));
    let error = board::parse("b", &text).expect_err(expected).to_string();
    let place = format!("b:{}: ", at.expect("a line") + 1);
    assert!(error.starts_with(&place), "{to}: {place}{error}");
    assert!(error.contains(expected), "{to}: {error}");
}

#[test]
fn addresses_have_48_bits() {
    let beyond = "beyond the 48 bits that addresses have";
    let high = "base = 0x1_0000_0000_0000";
    let window = |name: &str, base: &str| format!("{name} = {{ {base}, size = 0x1000 }}\n");
    told("base = 0x0900_0000", high, "[uart]", beyond);
    told("base = 0x4000_0000", high, "[[memory]]", beyond);
    told(
        "\nsize = 0x4000_0000",
        "\nsize = 0xffff_ffff_0000",
        "[[memory]]",
        beyond,
    );
    let timer = "[timer.frame]\nbase = 0x2a83_0000\nsize = 0x1000\ninterrupt = 92\nnumber = 1\n";
    let timer = format!("{timer}{}\n[gic]\n", window("control", high));
    told("[gic]\n", &timer, "[timer.frame]", beyond);
    let watchdog = "[watchdog]\nkind = \"sp805\"\nclock = 1\n".to_owned();
    let watchdog = watchdog + &window("registers", high) + "[gic]\n";
    told("[gic]\n", &watchdog, "[watchdog]", beyond);
    told("base = 0x40_0000_0000", high, "[gic.v3]", beyond);
    told("base = 0x0801_0000", high, "[gic.v2]", beyond);
    told(
        "0x6000_0000",
        "0x1_0000_0000_0000",
        "load-address",
        "not in memory",
    );
    // To the last of them.
    let last = text().replacen("base = 0x0900_0000", "base = 0xffff_ffff_f000", 1);
    board::parse("b", &last).expect("a good board");
}

#[test]
fn interrupt_controllers() {
    let (from, v3) = ("size = 0x1_0000 }\nredistributors", "[gic.v3]");
    let to = from.replace("0x1_0000", "0x10");
    told(from, &to, v3, "a GICv3's distributor");
    let from = "[gic.v3]\ndistributor = { base = 0x0800_0000";
    let to = from.replace("0800_0000", "0800_0002");
    told(from, &to, v3, "a GICv3's distributor");
    let from = "[gic.v2]\ndistributor = { base = 0x0800_0000, size = 0x1_0000";
    for (part, instead) in [
        ("size = 0x1_0000", "size = 0x10"),
        ("0000, size = 0x1_0000", "0002, size = 0x1000"),
    ] {
        told(from, &from.replace(part, instead), "[gic.v2]", "a GICv2's");
    }
    told(
        "0x0801_0000, size = 0x1_0000",
        "0x0801_0000, size = 4",
        "[gic.v2]",
        "a GICv2's",
    );

    let text = text();
    let (_, list) = text.split_once("redistributors = [").expect("a list");
    let (list, _) = list.split_once(']').expect("its end");
    let expected = "the redistributors are for 1 CPUs, and by max-cpus there can be 512";
    told(
        list,
        "{ base = 0x080a_0000, size = 0x2_0000 }",
        v3,
        expected,
    );
    told(list, "", v3, "the redistributors are for 0 CPUs");
    let many = |count: u64| -> String {
        let base = |at: u64| (0x40 + at) << 32;
        let region = |at| format!("{{ base = {:#x}, size = 0x400_0000 }},", base(at));
        (0..count).map(region).collect()
    };
    told(list, &many(9), v3, "more than 8 regions");
    board::parse("b", &text.replacen(list, &many(8), 1)).expect("a good board");
}

#[test]
fn more_than_there_is_room_for() {
    let reserved = |count: u64| -> String {
        let base = |at: u64| 0x4000_0000 + (at << 12);
        let name = |at| {
            if at == 64 {
                "beyond".to_owned()
            } else {
                format!("n{at}")
            }
        };
        let part = |at| {
            let (name, base) = (name(at), base(at));
            format!("[[reserved]] # {name}\nname = \"{name}\"\nbase = {base:#x}\nsize = 4096\n")
        };
        (0..count).map(part).collect::<String>() + "[uart]"
    };
    board::parse("b", &text().replacen("[uart]", &reserved(64), 1)).expect("a good board");
    told(
        "[uart]",
        &reserved(65),
        "# beyond",
        "more than 64 ranges reserved",
    );
    let memory: String = (1..33u64)
        .map(|at| format!("[[memory]] # {at}\nbase = {:#x}\nsize = 0x1000\n", at << 32))
        .collect();
    told(
        "[uart]",
        &(memory + "[uart]"),
        "# 32",
        "more than 32 ranges of memory",
    );

    let states = |count: u32| -> String {
        let state = |at: u32| {
            format!(
                "[[firmware.builtin.idle-state]] # {at}\nname = \"s{at}\"\nlevel = 0\n\
                 power-state = {:#x}\n",
                0x1_0001 + at
            )
        };
        (1..count).map(state).collect::<String>() + "[package]"
    };
    board::parse("b", &text().replacen("[package]", &states(16), 1)).expect("a good board");
    told("[package]", &states(17), "# 16", "more than 16 idle states");
}

#[test]
fn numbers_of_cpus() {
    let (from, place) = ("max-cpus = 32", "max-cpus = ");
    for (count, expected) in [
        (99999, "max-cpus is 1 to 512: so many CPUs there are"),
        (0, "max-cpus is 1 to 512"),
        (7, "max-cpus is less than the 8 CPUs that are used"),
    ] {
        told(from, &format!("max-cpus = {count}"), place, expected);
    }
    told("\ncpus = 8", "\ncpus = 0", "[qemu]", "at least 1");
}

#[test]
fn titles() {
    for title in ["", " ", "a\\nb", "a\\u0000", "caf\u{e9}"] {
        let to = format!("title = \"{title}\"");
        let to = to.replace("\\\\", "\\");
        told(
            "title = \"QEMU virt\"",
            &to,
            "title =",
            "one line of printable ASCII",
        );
    }
}

#[test]
fn not_text() {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let root = dir.path().to_path_buf();
    let target = root.join("target");
    let workspace = Workspace { root, target };
    let board = workspace.board("latin");
    fs::create_dir_all(&board).expect("made");
    fs::write(board.join("board.toml"), b"# one\n# caf\xe9\n").expect("written");
    let error = board::load(&workspace, "latin").expect_err("not UTF-8");
    let error = format!("{error:#}");
    assert!(
        error.ends_with("board.toml:2: this is not text in UTF-8"),
        "{error}"
    );
    let error = board::load(&workspace, "greek").expect_err("not there");
    assert!(error.to_string().contains("there is no board"), "{error}");
}
