//! The board file that there is, and what is wrong with others.

use super::package::PackageKind;
use super::read::{FILE_MAX, names};
use super::state_id::StateId;
use crate::board;
use crate::setup::workspace::Workspace;
use std::fs;

mod claims;
mod lab;
mod limits;
mod real;

fn text() -> String {
    let workspace = Workspace::find().expect("the repository");
    fs::read_to_string(workspace.board("qemu").join("board.toml")).expect("a board file")
}

/// The error for the board file with `from` replaced by `to`.
fn refused(from: &str, to: &str) -> String {
    let text = text();
    assert!(text.contains(from), "{from}");
    let text = text.replacen(from, to, 1);
    board::parse("board.toml", &text)
        .expect_err("a wrong board")
        .to_string()
}

/// Line of the first `what`.
fn line(what: &str) -> usize {
    text()
        .lines()
        .position(|line| line.contains(what))
        .expect("a line")
        + 1
}

#[test]
fn every_board_is_sound() {
    let workspace = Workspace::find().expect("the repository");
    let names = names(&workspace);
    assert!(names.contains(&"qemu".to_owned()));
    for name in names {
        board::load(&workspace, &name).expect("a sound board file");
    }
}

#[test]
fn clusters_of_four() {
    let board = board::parse("board.toml", &text()).expect("a good board");
    assert_eq!(
        board.clusters(5).expect("five"),
        [vec![0, 1, 2, 3], vec![4]]
    );
    let all = board.clusters(512).expect("all");
    assert_eq!(all.len(), 128);
    assert_eq!(all.last(), Some(&vec![0x1f0c, 0x1f0d, 0x1f0e, 0x1f0f]));
    assert!(board.clusters(0).is_err());
    assert!(board.clusters(513).is_err());
}

#[test]
fn states_by_format() {
    let board = board::parse("board.toml", &text()).expect("a good board");
    let tf_a = board.firmware("tf-a").expect("there");
    let values = |state_id| -> Vec<u32> {
        let states = tf_a.idle_states(state_id);
        states
            .iter()
            .map(|state| *state.power_state.get_ref())
            .collect()
    };
    assert_eq!(
        values(StateId::Original),
        [0x1, 0x1_0002, 0x101_0022, 0x201_0222]
    );
    assert_eq!(
        values(StateId::Extended),
        [0x1, 0x4000_0002, 0x4000_0022, 0x4000_0222]
    );
    let error = board.firmware("uefi").expect_err("none").to_string();
    assert!(error.contains("it has: builtin, kvm, tf-a"), "{error}");
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    let cases = [
        (
            "title = ",
            "titel = ",
            line("title ="),
            "unknown field `titel`",
        ),
        ("title = \"QEMU virt\"", "", 0, "missing field `title`"),
        (
            "kind = \"pl011\"",
            "kind = \"pl010\"",
            line("kind ="),
            "unknown variant `pl010`",
        ),
        (
            "kind = \"pl011\"",
            "kind = \"pl011\"\nreg-shift = 2",
            line("[uart]"),
            "reg-shift",
        ),
        (
            "kind = \"pl011\"",
            "kind = \"ns16550\"\nreg-shift = 5",
            line("[uart]"),
            "0 to 4",
        ),
        (
            "kind = \"pl011\"",
            "kind = \"ns16550\"\nreg-io-width = 3",
            line("[uart]"),
            "1, 2 or 4",
        ),
        (
            "kind = \"pl011\"",
            "kind = \"ns16550\"\nreg-shift = 1\nreg-io-width = 4",
            line("[uart]"),
            "not aligned to reg-io-width",
        ),
        (
            "base = 0x0900_0000",
            "base = 0x0900_0002",
            line("[uart]"),
            "not aligned",
        ),
        (
            "kind = \"pl011\"\nbase = 0x0900_0000\nsize = 0x1000",
            "kind = \"imx\"\nbase = 0x0900_0000\nsize = 0x80",
            line("[uart]"),
            "the registers of this kind have 0xb8 bytes",
        ),
        (
            "base = 0x0900_0000",
            "base = 0x0800_f000",
            line("[gic.v2]"),
            "overlaps uart at 0x800f000",
        ),
        (
            "size = 0x1000\n",
            "size = 0\n",
            line("[uart]"),
            "uart: 0x9000000 + 0x0 is no window",
        ),
        (
            "0x6000_0000",
            "0x8000_0000",
            line("load-address"),
            "not in memory",
        ),
        (
            "0x6000_0000",
            "0x6000_0010",
            line("load-address"),
            "not on a page",
        ),
        ("= 30", "= 32", line("[timer]"), "INTID 32 is no PPI"),
        (
            "= 30",
            "= 27",
            line("[timer]"),
            "two timers have the INTID 27",
        ),
        ("default = 3", "default = 4", line("default = 3"), "2 or 3"),
        ("0xf6_0000", "0xf5_1000", line("[gic.v3]"), "128 KiB"),
        ("0x002,", "0x001,", line("0x002,"), "0x1 is there twice"),
        (
            "0x002,",
            "0x8000_0002,",
            line("0x002,"),
            "not affinity fields",
        ),
        (
            "cluster = 4",
            "cluster = 8",
            line("continues ="),
            "departs from the rule",
        ),
        (
            "[cpus]\n",
            "[cpus]\ncompatible = [\"arm,cortex-a53\"]\n",
            line("[cpus]") + 1,
            "compatible has one name a cluster",
        ),
        (
            "= \"tf-a\"",
            "= \"uefi\"",
            line("default-firmware"),
            "no [firmware] of that name",
        ),
        (
            "0x0101_0022",
            "0x0001_0022",
            line("0x0101_0022"),
            "power level 0, and not 1",
        ),
        (
            "0x0101_0022",
            "0x0111_0022",
            line("0x0101_0022"),
            "format reserves",
        ),
        (
            "0x0101_0022",
            "0x0100_0022",
            line("0x0101_0022"),
            "a standby state",
        ),
        (
            "0x4000_0022",
            "0xc000_0022",
            line("0x4000_0022"),
            "format reserves",
        ),
        (
            "\"cluster-off\"",
            "\"cluster off\"",
            0,
            "no name for a node",
        ),
        ("\"cluster-off\"", "\"core-off\"", 0, "the same name"),
        ("level = 2", "level = 4", 0, "levels 0 to 3"),
        (
            "memory-mib = 1024",
            "memory-mib = 512",
            line("memory-mib"),
            "1024 MiB in all",
        ),
        (
            "memory-mib = 1024",
            "memory-mib = 0x1000_0000_0400",
            line("memory-mib"),
            "1024 MiB in all",
        ),
        ("[qemu]", "[qemu", 0, "board.toml:"),
    ];
    for (from, to, line, expected) in cases {
        let error = refused(from, to);
        assert!(error.contains(expected), "{from} -> {to}: {error}");
        if line > 0 {
            assert!(
                error.starts_with(&format!("board.toml:{line}: ")),
                "{from} -> {to}: {error}"
            );
        }
    }
}

#[test]
fn a_watchdog() {
    let line = text().lines().count() + 2;
    let with = |kind: &str, rest: &str| {
        let table = format!("\n[watchdog]\nkind = \"{kind}\"\n{rest}");
        board::parse("board.toml", &(text() + &table))
    };
    let frame = |name: &str, base: u64| format!("{name} = {{ base = {base:#x}, size = 0x1000 }}\n");
    let [control, refresh] = [("control", 0x1000), ("refresh", 0x2000)].map(|(n, b)| frame(n, b));
    let sbsa = control.clone() + &refresh + "interrupt = 48\n";
    let board = with("sbsa-gwdt", &sbsa).expect("a good board");
    let watchdog = board.watchdog.expect("a watchdog");
    assert_eq!(watchdog.get_ref().interrupt(), Some(48));
    let registers = frame("registers", 0x1000);
    let sp805 = registers.clone() + "clock = 24_000_000\n";
    assert!(with("sp805", &sp805).is_ok());
    for (kind, rest, expected) in [
        ("sp806", sp805.clone(), "unknown variant `sp806`"),
        ("sp805", registers.clone(), "missing field `clock`"),
        ("sp805", registers.clone() + "clock = 0\n", "at least 1 Hz"),
        ("sp805", sp805.clone() + &refresh, "unknown field `refresh`"),
        (
            "sp805",
            sp805.clone() + "interrupt = 31\n",
            "SPI: those are 32 to 1019",
        ),
        (
            "sp805",
            sp805.replace("= 0x1000,", "= 0x1800,"),
            "on a page of 4 KiB",
        ),
        (
            "sp805",
            sp805.replace("= 0x1000,", "= 0x9000000,"),
            "overlaps uart",
        ),
        ("sbsa-gwdt", control + &refresh, "missing field `interrupt`"),
        (
            "sbsa-gwdt",
            sbsa.replace("0x2000", "0x1000"),
            "the watchdog at 0x1000 overlaps the watchdog",
        ),
    ] {
        let error = with(kind, &rest).expect_err(expected).to_string();
        assert!(error.contains(expected), "{kind} {rest}: {error}");
        // Of the table, or of its kind.
        let at = [line, line + 1].map(|line| format!("board.toml:{line}: "));
        assert!(at.iter().any(|at| error.starts_with(at)), "{line} {error}");
    }
}

#[test]
fn a_timer_frame() {
    let line = text().lines().count() + 2;
    let with = |rest: &str| {
        let table = format!("\n[timer.frame]\n{rest}");
        board::parse("board.toml", &(text() + &table))
    };
    let good = "base = 0x2a83_0000\nsize = 0x1000\ninterrupt = 92\nnumber = 1\n\
                control = { base = 0x2a81_0000, size = 0x1000 }\n";
    let board = with(good).expect("a good board");
    let frame = board.timer_frame().expect("a frame");
    assert_eq!((frame.get_ref().interrupt, frame.get_ref().number), (92, 1));
    for (from, to, expected) in [
        ("number = 1\n", "", "missing field `number`"),
        ("size = 0x1000\n", "", "missing field `size`"),
        ("= 92", "= 30", "an SPI: those are 32 to 1019"),
        ("= 92", "= 1020", "an SPI: those are 32 to 1019"),
        ("number = 1", "number = 8", "numbered 0 to 7"),
        ("= 0x2a83_0000", "= 0x2a83_0800", "on a page of 4 KiB"),
        (
            "= 0x2a81_0000",
            "= 0x1_0000_0000_0000",
            "beyond the 48 bits",
        ),
        ("size = 0x1000\n", "size = 0xfff\n", "at least 4 KiB"),
        (
            "= 0x2a81_0000",
            "= 0x2a83_0000",
            "the timer frame at 0x2a830000 overlaps",
        ),
        ("= 0x2a83_0000", "= 0x900_0000", "overlaps uart"),
        ("= 0x2a81_0000", "= 0x4000_0000", "overlaps memory"),
        ("= 0x2a81_0000", "= 0x800_0000", "overlaps the timer frame"),
        ("interrupt", "irq", "unknown field `irq`"),
    ] {
        assert!(good.contains(from), "{from}");
        let error = with(&good.replacen(from, to, 1)).expect_err(expected);
        let error = error.to_string();
        assert!(error.contains(expected), "{from} -> {to}: {error}");
        // A field of it, or the table, or what it overlaps.
        assert!(error.starts_with("board.toml:"), "{error}");
        if expected.contains("SPI") {
            assert!(
                error.starts_with(&format!("board.toml:{line}: ")),
                "{error}"
            );
        }
    }
}

#[test]
fn no_end() {
    let long = text() + &"#".repeat(FILE_MAX);
    let error = board::parse("board.toml", &long).expect_err("too long");
    assert!(error.to_string().contains("65536 bytes"), "{error}");
}

#[test]
fn reserved_memory() {
    let named = |name: &str, base: u64, size: u64| {
        let part =
            format!("[[reserved]]\nname = \"{name}\"\nbase = {base:#x}\nsize = {size:#x}\n[uart]");
        board::parse("board.toml", &text().replacen("[uart]", &part, 1))
    };
    let with = |base, size| named("tee", base, size);
    assert!(with(0x4000_0000, 0x1000).is_ok());
    let error = with(0x7fff_f000, 0x2000)
        .expect_err("beyond memory")
        .to_string();
    assert!(error.contains("not within one range of memory"), "{error}");
    let error = with(0x5000_0000, 0x2000_0000)
        .expect_err("over it")
        .to_string();
    assert!(error.contains("in what tee has reserved"), "{error}");
    for name in ["", "a/b", r"a\u0000b", "caf\u{e9}"] {
        let error = named(name, 0x4000_0000, 0x1000).expect_err(name);
        assert!(error.to_string().contains("no name for a node"), "{error}");
    }
}

#[test]
fn a_package() {
    let text = text();
    let (before, rest) = text.split_once("[package]").expect("a package");
    let (_, after) = rest.split_once("[qemu]").expect("a recipe");
    let head = format!("{before}[qemu]{after}");
    let line = head.lines().count() + 1;
    let with = |rest: &str| board::parse("board.toml", &format!("{head}[package]\n{rest}"));
    let common = "file = \"fip.bin\"\ninstall = \"In flash.\"\n";
    let n1sdp = "requires = [\"tb-fw\"]\nalign = 512\n\
        blobs = [{ uuid = \"54464222-a4cf-4bf8-b1b6-cee7dade539e\", title = \"MCP RAM\" }]\n\
        parts = [{ file = \"scp_fw.bin\", requires = [\"scp-fw\"] }]\ntool = \"doimage\"\n";
    let fip = |rest: &str| format!("kind = \"fip\"\n{common}{rest}");
    let board = with(&fip(n1sdp)).expect("a good board");
    let package = board.package.expect("a package");
    assert_eq!(*package.kind.get_ref(), PackageKind::Fip);
    assert_eq!(package.align(), 512);
    assert_eq!(package.requires().len(), 1);
    assert_eq!(package.parts().len(), 1);
    let uuid = package.blobs()[0].uuid();
    assert_eq!(uuid.to_string(), "54464222-A4CF-4BF8-B1B6-CEE7DADE539E");
    for kind in ["raw", "fit"] {
        assert!(with(&format!("kind = \"{kind}\"\n{common}")).is_ok());
    }
    for (rest, at, expected) in [
        (
            format!("kind = \"zip\"\n{common}"),
            1,
            "unknown variant `zip`",
        ),
        (fip("kinds = 1\n"), 4, "unknown field `kinds`"),
        (fip(""), 1, "what has to be in it"),
        (
            format!("kind = \"vendor\"\n{common}"),
            1,
            "names the vendor's tool",
        ),
        (
            format!("kind = \"raw\"\n{common}requires = []\n"),
            4,
            "requires does not go with this kind",
        ),
        (
            format!("kind = \"fit\"\n{common}tool = \"x\"\n"),
            4,
            "tool does not go with this kind",
        ),
        (
            fip(n1sdp).replace("fip.bin", "../fip.bin"),
            2,
            "no name of a file",
        ),
        (
            fip(n1sdp).replace("In flash.", " "),
            3,
            "install is a sentence",
        ),
        (fip(n1sdp).replace("512", "3"), 5, "power of two"),
        (
            fip(n1sdp).replace("\"tb-fw\"", "\"tb-fw\", \"bl2\""),
            4,
            "no option --bl2",
        ),
        (
            fip(n1sdp).replace("\"tb-fw\"", "\"tb-fw\", \"tb-fw\""),
            4,
            "tb-fw is there twice",
        ),
        (
            fip(n1sdp).replace("\"tb-fw\"", "\"nt-fw\""),
            4,
            "is the payload",
        ),
        (fip(n1sdp).replace("54464222-", "54464222"), 6, "no UUID"),
        (
            fip(n1sdp).replace(
                "54464222-a4cf-4bf8-b1b6-cee7dade539e",
                "9766fd3d-89be-e849-ae5d-78a140608213",
            ),
            6,
            "this is scp-fw, which goes into requires",
        ),
        (
            fip(n1sdp).replace(", requires = [\"scp-fw\"]", ""),
            7,
            "nothing in it",
        ),
        (
            fip(n1sdp).replace("scp_fw.bin", "fip.bin"),
            7,
            "the same name",
        ),
    ] {
        let error = with(&rest).expect_err(expected).to_string();
        assert!(error.contains(expected), "{rest}: {error}");
        let place = format!("board.toml:{}: ", line + at);
        assert!(error.starts_with(&place), "{place}{expected}: {error}");
    }
}
