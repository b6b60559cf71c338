//! The boards as text: `cargo xtask boards`.

use std::fmt::Write as _;

use super::board::{Board, Verified};
use super::firmware::{Firmware, IdleState, Pmf};
use super::package::PackageKind;

/// The widest line, in columns.
const WIDTH: usize = 118;

const HEADINGS: [&str; 8] = [
    "board",
    "title",
    "CPUs",
    "power-down",
    "woken by",
    "times by",
    "CPU_OFF",
    "run on",
];

const LEGEND: &str = "\
power-down  What CPU_SUSPEND can be measured for.
woken by    timer: each CPU's own. Where that stops, frame: a memory-mapped timer, or helper: a CPU that stays
            awake, by SGI. Unproven: on no board yet. A trial shows it first; without success it is skipped.
times by    PMF: the firmware's own timestamps, if it is built with ENABLE_RUNTIME_INSTRUMENTATION=1.
            PMF+: the same, and lib/pmf/pmf_smc.c has to be added to BL31_SOURCES. caller: from outside.
            PSCI_VERSION can be measured on all boards.
run on      Where the payload was run with the board file: - is nowhere, all of it was only read.
";

/// A table of `boards`, and what cannot be measured on them.
#[must_use]
pub fn table(boards: &[Board]) -> String {
    let rows: Vec<[String; 8]> = boards.iter().map(row).collect();
    let mut widths = HEADINGS.map(str::len);
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.len());
        }
    }
    let mut out = String::new();
    line(&mut out, &HEADINGS, &widths);
    line(&mut out, &widths.map(|width| "-".repeat(width)), &widths);
    for row in &rows {
        line(&mut out, row, &widths);
    }
    out.push('\n');
    out.push_str(LEGEND);
    let mut heading = "\nNot to be measured, and why:\n";
    for board in boards {
        if let Some(note) = firmware(board).and_then(|firmware| firmware.note.as_ref()) {
            out.push_str(heading);
            heading = "";
            paragraph(
                &mut out,
                board.name.get_ref(),
                note.get_ref(),
                widths[0] + 2,
            );
        }
    }
    out
}

fn line<S: AsRef<str>>(out: &mut String, cells: &[S; 8], widths: &[usize; 8]) {
    let start = out.len();
    for (cell, width) in cells.iter().zip(widths) {
        // Writing to a String cannot fail.
        let _ = write!(out, "{:<width$}  ", cell.as_ref());
    }
    out.truncate(start + out.get(start..).unwrap_or_default().trim_end().len());
    out.push('\n');
}

fn row(board: &Board) -> [String; 8] {
    let firmware = firmware(board);
    let cpus: usize = board.all_clusters().iter().map(Vec::len).sum();
    let most = firmware.map_or(cpus, |firmware| *firmware.max_cpus.get_ref() as usize);
    let [down, woken, times, off] = firmware.map_or_else(Default::default, |firmware| {
        let off = if firmware.cpu_off { "yes" } else { "no" };
        [
            powerdowns(firmware),
            woken_by(board, firmware),
            times(board, firmware).to_owned(),
            off.to_owned(),
        ]
    });
    [
        board.name.get_ref().clone(),
        board.title.clone(),
        cpus.min(most).to_string(),
        down,
        woken,
        times,
        off,
        ran_on(board).to_owned(),
    ]
}

/// The one that is meant when none is named; the check has seen to it that
/// there is one.
fn firmware(board: &Board) -> Option<&Firmware> {
    board.firmware.get(board.default_firmware.get_ref())
}

/// The levels that power-down states reach, in the order of the file.
fn powerdowns(firmware: &Firmware) -> String {
    let mut levels = Vec::new();
    for state in firmware.idle_state.iter().map(|state| state.get_ref()) {
        if state.is_powerdown() && !levels.contains(&level(state.level)) {
            levels.push(level(state.level));
        }
    }
    match levels.is_empty() {
        true => "none".into(),
        false => levels.join(" "),
    }
}

/// What wakes CPUs from power-down states, and whether it did on a board.
fn woken_by(board: &Board, firmware: &Firmware) -> String {
    let states = firmware.idle_state.iter().map(|state| state.get_ref());
    let powerdowns: Vec<&IdleState> = states.filter(|state| state.is_powerdown()).collect();
    if board.gic.is_none() || powerdowns.is_empty() {
        return "-".into();
    }
    let own = powerdowns.iter().any(|state| !state.local_timer_stop);
    let other = powerdowns
        .iter()
        .any(|state| state.local_timer_stop)
        .then(|| {
            let source = match board.timer_frame() {
                Some(_) => "frame",
                None => "helper",
            };
            match board.verified() {
                Verified::Hardware => source.to_owned(),
                Verified::Emulated | Verified::No => format!("{source} (unproven)"),
            }
        });
    let sources = own.then(|| "timer".to_owned()).into_iter().chain(other);
    sources.collect::<Vec<_>>().join(", ")
}

fn level(level: Option<u8>) -> &'static str {
    match level {
        Some(0) => "core",
        Some(1) => "cluster",
        Some(2) => "system",
        _ => "above",
    }
}

/// The overlay platform has PMF; of a stock platform under QEMU the file does
/// not say, and so it is not promised.
fn times(board: &Board, firmware: &Firmware) -> &'static str {
    match firmware.pmf {
        Some(Pmf::Linked) => "PMF",
        Some(Pmf::Unlinked) => "PMF+",
        None if board.qemu.is_some() && firmware.stock.is_none() => "PMF",
        Some(Pmf::None) | None => "caller",
    }
}

fn package(board: &Board) -> &'static str {
    match board.package.as_ref().map(|package| package.kind.get_ref()) {
        Some(PackageKind::Fip) => "fip",
        Some(PackageKind::Raw) => "raw",
        Some(PackageKind::Fit) => "fit",
        Some(PackageKind::Vendor) => "vendor",
        None => "-",
    }
}

fn ran_on(board: &Board) -> &'static str {
    match board.verified() {
        Verified::Hardware => "the board",
        Verified::Emulated => "QEMU",
        Verified::No => "-",
    }
}

/// All that people want to know of `board`.
#[must_use]
pub fn describe(board: &Board) -> String {
    let mut out = format!("{}: {}\n\n", board.name.get_ref(), board.title);
    let mut say = |key: &str, text: &str| paragraph(&mut out, key, text, 14);
    let ran = match board.verified() {
        Verified::No => "nothing yet: all of this was only read",
        _ => ran_on(board),
    };
    say("run on", ran);
    let clusters: Vec<String> = board
        .all_clusters()
        .iter()
        .map(|cluster| {
            let cpus: Vec<String> = cluster.iter().map(|cpu| format!("{cpu:#x}")).collect();
            cpus.join(" ")
        })
        .collect();
    let cpus: usize = board.all_clusters().iter().map(Vec::len).sum();
    let numbers = if cpus > 64 {
        format!("{cpus}, in {} clusters", clusters.len())
    } else {
        format!("{cpus}, by MPIDR: {}", clusters.join(" | "))
    };
    say("CPUs", &numbers);
    let uart = board.uart.get_ref();
    let kind = format!("{:?}", uart.kind).to_lowercase();
    say("UART", &format!("{kind} at {:#x}", uart.base));
    say(
        "BL33",
        &format!("loaded at {:#x}", board.load_address.get_ref()),
    );
    if let Some(kit) = &board.package {
        let (kind, file) = (package(board), kit.file.get_ref());
        say(
            "package",
            &format!("{file} ({kind}). {}", kit.install.get_ref()),
        );
        if let Some(tool) = &kit.tool {
            say("made by", tool.get_ref());
        }
    }
    if let Some(note) = &board.note {
        say("note", note.get_ref());
    }
    for (name, firmware) in &board.firmware {
        say("", "");
        say(
            "firmware",
            &format!("{name}, up to {} CPUs", firmware.max_cpus.get_ref()),
        );
        for state in firmware.idle_state.iter().map(|state| state.get_ref()) {
            let down = if state.is_powerdown() {
                "power-down"
            } else {
                "standby"
            };
            let why = match (state.local_timer_stop, board.timer_frame()) {
                (false, _) => "",
                (true, Some(_)) => "; the timers stop in it, and the timer frame wakes",
                (true, None) => "; the timers stop in it, and a CPU that stays awake wakes",
            };
            let value = state.power_state.get_ref();
            let text = format!(
                "{} {value:#010x}, {} {down}{why}",
                state.name,
                level(state.level)
            );
            say("CPU_SUSPEND", &text);
        }
        say("CPU_OFF", if firmware.cpu_off { "yes" } else { "no" });
        say("times", times_in_words(times(board, firmware)));
        if let Some(note) = &firmware.note {
            say("why not", note.get_ref());
        }
    }
    out
}

fn times_in_words(times: &str) -> &'static str {
    match times {
        "PMF" => "PMF's timestamps, if built with ENABLE_RUNTIME_INSTRUMENTATION=1",
        "PMF+" => {
            "PMF's timestamps, if built with ENABLE_RUNTIME_INSTRUMENTATION=1 and, in the \
             platform's makefile, `BL31_SOURCES += lib/pmf/pmf_smc.c`"
        }
        _ => "the caller's: no PMF",
    }
}

/// `text` behind `key`, wrapped and indented by `indent`.
fn paragraph(out: &mut String, key: &str, text: &str, indent: usize) {
    let mut line = format!("{key:<indent$}");
    let mut empty = true;
    for word in text.split_whitespace() {
        if !empty && line.len() + 1 + word.len() > WIDTH {
            out.push_str(line.trim_end());
            out.push('\n');
            line = " ".repeat(indent);
            empty = true;
        }
        if !empty {
            line.push(' ');
        }
        line.push_str(word);
        empty = false;
    }
    out.push_str(line.trim_end());
    out.push('\n');
}

#[cfg(test)]
mod tests;
