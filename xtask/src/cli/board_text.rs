//! Formats boards as text for `cargo xtask boards`.

use boards::{BoardFile, Firmware, Package, Pmf, StateEntry, Verified};
use hardware::board::Mpidr;
use itertools::Itertools;
use suite::output::{Table, TableStyle};

/// The maximum line width, in columns.
const WIDTH: usize = 80;

const HEADINGS: [&str; 5] = ["board", "title", "CPUs", "power-down", "run on"];

/// Columns separated by two spaces, without a title.
const STYLE: TableStyle = TableStyle {
    indent: 0,
    edges: ["", "  ", ""],
    corners: |_| ["", "  ", ""],
    rules: [None, Some('-'), None, None],
    marks_alignment: false,
    width: None,
    title: |_, _| Ok(()),
    escape: str::to_owned,
};

const LEGEND: &str = "\
power-down  Power-down states for which CPU_SUSPEND can be measured.
run on      Where the payload has run with the board file. -: not run yet; all
            values come from documentation.

cargo xtask boards NAME shows what cannot be measured and why, what wakes the
CPUs, where the times come from, and how to build and install the firmware.
";

/// Returns a table of `boards`.
pub(super) fn table(boards: &[BoardFile]) -> String {
    let mut table = Table::titled("");
    table.words(HEADINGS);
    table.rows.extend(boards.iter().map(row));
    let mut out = String::new();
    table
        .write(&mut out, &STYLE)
        .expect("writing to a String cannot fail");
    out + LEGEND
}

fn row(board: &BoardFile) -> Vec<String> {
    let firmware = firmware(board);
    let cpus = board.all_clusters().iter().flatten().count();
    vec![
        board.name.clone(),
        board.title.clone(),
        cpus.min(firmware.max_cpus as usize).to_string(),
        powerdowns(firmware),
        ran_on(board).into(),
    ]
}

fn yes_or_no(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

/// Returns the default firmware. The file has been checked, so the variant exists.
fn firmware(board: &BoardFile) -> &Firmware {
    &board.firmware[&board.default_firmware]
}

/// Returns the power levels of the power-down states, in file order.
fn powerdowns(firmware: &Firmware) -> String {
    let states = firmware.idle_state.iter();
    let levels = states
        .filter(|state| state.is_powerdown())
        .map(|state| level(state.level))
        .unique()
        .join(" ");
    if levels.is_empty() {
        "none".into()
    } else {
        levels
    }
}

/// Describes what wakes CPUs from power-down states, and whether that has been tested on a board.
fn woken_by(board: &BoardFile, firmware: &Firmware) -> String {
    let has = |timer_stops: bool| {
        let is_such =
            |state: &StateEntry| state.is_powerdown() && state.local_timer_stop == timer_stops;
        board.gic.is_some() && firmware.idle_state.iter().any(is_such)
    };
    let other = match board.timer_frame() {
        Some(_) => "the timer frame",
        None => "a CPU that stays awake",
    };
    let proof = match board.verified() {
        Verified::Hardware => "",
        _ => ", not yet tested on a board",
    };
    match (has(false), has(true)) {
        (false, false) => "no CPU powers down".into(),
        (true, false) => "its own timer".into(),
        (false, true) => format!("{other}{proof}"),
        (true, true) => format!("its own timer, or {other}{proof}"),
    }
}

fn level(level: Option<u8>) -> &'static str {
    match level {
        Some(0) => "core",
        Some(1) => "cluster",
        Some(2) => "system",
        _ => "above",
    }
}

/// Describes where timestamps come from. The overlay platform has PMF. Board files do not say whether
/// QEMU's stock platform has PMF, so PMF is not listed as available there.
fn times(board: &BoardFile, firmware: &Firmware) -> &'static str {
    let is_overlay = board.qemu.is_some() && firmware.stock.is_none();
    let default = if is_overlay { Pmf::Linked } else { Pmf::None };
    match firmware.pmf.unwrap_or(default) {
        Pmf::Linked => "PMF timestamps, if built with ENABLE_RUNTIME_INSTRUMENTATION=1",
        Pmf::Unlinked => {
            "PMF timestamps, if built with ENABLE_RUNTIME_INSTRUMENTATION=1 and with the handler \
             for PMF calls, which `fip build` adds"
        }
        Pmf::None => "measured by the caller (no PMF)",
    }
}

fn ran_on(board: &BoardFile) -> &'static str {
    match board.verified() {
        Verified::Hardware => "the board",
        Verified::Emulated => "QEMU",
        Verified::Simulated => "gem5",
        Verified::No => "-",
    }
}

/// Describes `board` in full.
pub(super) fn describe(board: &BoardFile) -> String {
    let mut out = format!("{}: {}\n\n", board.name, board.title);
    let mut say = |key: &str, text: &str| paragraph(&mut out, key, text, 14);
    let ran = if board.verified() == Verified::No {
        "not run yet; all values come from documentation"
    } else {
        ran_on(board)
    };
    say("run on", ran);
    let clusters = board.all_clusters();
    let cpus = clusters.iter().flatten().count();
    let numbers = if cpus > 64 {
        format!("{cpus}, in {} clusters", clusters.len())
    } else {
        let cluster = |cpus: &Vec<Mpidr>| cpus.iter().join(" ");
        let mpidrs = clusters.iter().map(cluster).join(" | ");
        format!("{cpus}, by MPIDR: {mpidrs}")
    };
    say("CPUs", &numbers);
    say("UART", &board.uart.emergency().to_string());
    if let Some(base) = board.uart.el3_base {
        say(
            "EL3's UART",
            &format!("{base:#x}, where BL31 reports crashes"),
        );
    }
    say("BL33", &format!("loaded at {:#x}", board.load_address));
    if let Some(package) = &board.package {
        say("package", &describe_package(package));
        if let Some(tool) = &package.tool {
            say("made by", tool);
        }
    }
    if let Some(qemu) = &board.qemu {
        let since = qemu.since.map(|version| format!(", {version} or later"));
        say(
            "QEMU",
            &format!("{}{}", qemu.machine, since.unwrap_or_default()),
        );
    }
    if let Some(note) = &board.note {
        say("note", note);
    }
    for (name, firmware) in &board.firmware {
        say("", "");
        say_firmware(&mut say, board, name, firmware);
    }
    out
}

/// Describes the firmware called `name`. `say` takes a key and a text.
fn say_firmware(
    say: &mut impl FnMut(&str, &str),
    board: &BoardFile,
    name: &str,
    firmware: &Firmware,
) {
    let max_cpus = firmware.max_cpus;
    say("firmware", &format!("{name}, up to {max_cpus} CPUs"));
    for state in &firmware.idle_state {
        say("CPU_SUSPEND", &idle_state(board, state));
    }
    say("woken by", &woken_by(board, firmware));
    say("CPU_OFF", yes_or_no(firmware.cpu_off));
    say("times", times(board, firmware));
    if let Some(note) = &firmware.note {
        say("why not", note);
    }
    if let Some(stock) = &firmware.stock {
        if let Some(reason) = &stock.not_on_qemu {
            say("not on QEMU", reason);
        }
        let mut inputs = String::new();
        for input in &stock.inputs {
            inputs += &format!(" --{} FILE", input.option);
        }
        let name = &board.name;
        let platform = &stock.platform;
        let command = format!("fip build --board {name}{inputs} (PLAT={platform})");
        say("built by", &command);
    }
}

fn idle_state(board: &BoardFile, state: &StateEntry) -> String {
    let kind = if state.is_powerdown() {
        "power-down"
    } else {
        "standby"
    };
    let wakes = match (state.local_timer_stop, board.timer_frame()) {
        (false, _) => "",
        (true, Some(_)) => "; timers stop, so the timer frame wakes CPUs",
        (true, None) => "; timers stop, so a CPU that stays awake wakes the others",
    };
    let name = &state.name;
    let level = level(state.level);
    format!("{name} {:#010x}, {level} {kind}{wakes}", state.power_state)
}

/// Returns the boot file, its kind and how to install it.
fn describe_package(package: &Package) -> String {
    let kind = format!("{:?}", package.kind).to_lowercase();
    let file = &package.file;
    let install = &package.install;
    match package.align {
        1 => format!("{file} ({kind}). {install}"),
        align => format!("{file} ({kind}, aligned to {align} bytes). {install}"),
    }
}

/// Appends `key` and `text`. Wraps the text and indents it by `indent` columns.
pub(super) fn paragraph(out: &mut String, key: &str, text: &str, indent: usize) {
    let mut line = format!("{key:<indent$}");
    for word in text.split_whitespace() {
        if line.len() > indent && line.len() + 1 + word.len() > WIDTH {
            *out += &format!("{}\n", line.trim_end());
            line = " ".repeat(indent);
        }
        if line.len() > indent {
            line.push(' ');
        }
        line += word;
    }
    *out += &format!("{}\n", line.trim_end());
}

#[cfg(test)]
mod tests {
    use std::fs;

    use runner::setup::workspace::Workspace;

    use super::*;

    fn all_boards() -> Vec<BoardFile> {
        let boards = boards::names().map(boards::load);
        boards.collect::<Result<_, _>>().expect("valid boards")
    }

    #[test]
    fn the_document_has_the_list() {
        let root = Workspace::find().expect("the workspace").root;
        let document = fs::read_to_string(root.join("docs/boards.md")).expect("a page");
        let (_, rest) = document
            .split_once("## Supported boards")
            .expect("a heading");
        let (_, rest) = rest.split_once("```text\n").expect("a block");
        let (listed, _) = rest.split_once("```\n").expect("its end");
        let table = table(&all_boards());
        assert!(table.lines().all(|line| line.len() <= WIDTH), "{table}");
        let (rows, _) = table.split_once("\n\n").expect("the table");
        let hint = "update it with the output of `cargo xtask boards`";
        assert_eq!(listed.trim_end(), rows, "{hint}");
    }

    #[test]
    fn every_note_and_state_is_described() {
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        for board in all_boards() {
            let wrapped = describe(&board);
            assert!(wrapped.lines().all(|line| line.len() <= WIDTH), "{wrapped}");
            let text = words(&wrapped);
            if let Some(note) = &board.note {
                assert!(text.contains(&words(note)), "{text}");
            }
            for firmware in board.firmware.values() {
                if let Some(note) = &firmware.note {
                    assert!(text.contains(&words(note)), "{text}");
                }
                for state in &firmware.idle_state {
                    let value = format!("{:#010x}", state.power_state);
                    assert!(text.contains(&value), "{text}");
                }
            }
        }
    }
}
