//! The boards as text: `cargo xtask boards`.

use std::fmt::Write as _;

use super::board::{Board, Verified};
use super::firmware::{Firmware, IdleState, Pmf};

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

/// Makes the table of `boards`, and lists what cannot be measured on them.
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
            paragraph(&mut out, &board.name, note, widths[0] + 2);
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
    let cpus = board.all_clusters().iter().flatten().count();
    let most = firmware.map_or(cpus, |firmware| firmware.max_cpus as usize);
    let [down, woken, times, off] = firmware.map_or_else(Default::default, |firmware| {
        let times = times(board, firmware).to_owned();
        let off = yes_or_no(firmware.cpu_off).to_owned();
        [powerdowns(firmware), woken_by(board, firmware), times, off]
    });
    let (name, title) = (board.name.clone(), board.title.clone());
    let cpus = cpus.min(most).to_string();
    let ran = ran_on(board).to_owned();
    [name, title, cpus, down, woken, times, off, ran]
}

fn yes_or_no(is: bool) -> &'static str {
    if is { "yes" } else { "no" }
}

/// Returns the default firmware; the check has made sure that there is one.
fn firmware(board: &Board) -> Option<&Firmware> {
    board.firmware.get(&board.default_firmware)
}

/// Returns the levels that power-down states reach, in the order of the file.
fn powerdowns(firmware: &Firmware) -> String {
    let mut levels = Vec::new();
    for state in firmware.idle_state.iter().filter(|it| it.is_powerdown()) {
        if !levels.contains(&level(state.level)) {
            levels.push(level(state.level));
        }
    }
    match levels.is_empty() {
        true => "none".into(),
        false => levels.join(" "),
    }
}

/// Returns what wakes CPUs from power-down states, and whether it did on a board.
fn woken_by(board: &Board, firmware: &Firmware) -> String {
    let states = firmware.idle_state.iter();
    let (stop, run): (Vec<&IdleState>, Vec<_>) = states
        .filter(|state| state.is_powerdown() && board.gic.is_some())
        .partition(|state| state.local_timer_stop);
    let source = match board.timer_frame() {
        Some(_) => "frame",
        None => "helper",
    };
    let other = match board.verified() {
        Verified::Hardware => source.to_owned(),
        Verified::Emulated | Verified::No => format!("{source} (unproven)"),
    };
    match (run.is_empty(), stop.is_empty()) {
        (true, true) => "-".into(),
        (false, true) => "timer".into(),
        (true, false) => other,
        (false, false) => format!("timer, {other}"),
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

/// Returns the source of times. The overlay platform has PMF; the file does not say if a stock
/// platform under QEMU has it, so it is not promised.
fn times(board: &Board, firmware: &Firmware) -> &'static str {
    match firmware.pmf {
        Some(Pmf::Linked) => "PMF",
        Some(Pmf::Unlinked) => "PMF+",
        None if board.qemu.is_some() && firmware.stock.is_none() => "PMF",
        Some(Pmf::None) | None => "caller",
    }
}

fn ran_on(board: &Board) -> &'static str {
    match board.verified() {
        Verified::Hardware => "the board",
        Verified::Emulated => "QEMU",
        Verified::No => "-",
    }
}

/// Describes all of `board`.
pub fn describe(board: &Board) -> String {
    let mut out = format!("{}: {}\n\n", board.name, board.title);
    let mut say = |key: &str, text: &str| paragraph(&mut out, key, text, 14);
    say(
        "run on",
        match board.verified() {
            Verified::No => "nothing yet: all of this was only read",
            _ => ran_on(board),
        },
    );
    let clusters = board.all_clusters();
    let cpus = clusters.iter().flatten().count();
    let numbers = if cpus > 64 {
        format!("{cpus}, in {} clusters", clusters.len())
    } else {
        let clusters = clusters.iter().map(|cluster| {
            let cpus: Vec<String> = cluster.iter().map(|cpu| format!("{cpu:#x}")).collect();
            cpus.join(" ")
        });
        format!(
            "{cpus}, by MPIDR: {}",
            clusters.collect::<Vec<_>>().join(" | ")
        )
    };
    say("CPUs", &numbers);
    let uart = &board.uart;
    say("UART", &format!("{} at {:#x}", uart.kind.name(), uart.base));
    say("BL33", &format!("loaded at {:#x}", board.load_address));
    if let Some(package) = &board.package {
        let kind = format!("{:?}", package.kind).to_lowercase();
        let (file, install) = (&package.file, &package.install);
        say("package", &format!("{file} ({kind}). {install}"));
        if let Some(tool) = &package.tool {
            say("made by", tool);
        }
    }
    if let Some(note) = &board.note {
        say("note", note);
    }
    for (name, firmware) in &board.firmware {
        say("", "");
        describe_firmware(board, name, firmware, &mut say);
    }
    out
}

fn describe_firmware(
    board: &Board,
    name: &str,
    firmware: &Firmware,
    say: &mut impl FnMut(&str, &str),
) {
    say(
        "firmware",
        &format!("{name}, up to {} CPUs", firmware.max_cpus),
    );
    for state in &firmware.idle_state {
        let down = match state.is_powerdown() {
            true => "power-down",
            false => "standby",
        };
        let wakes = match (state.local_timer_stop, board.timer_frame()) {
            (false, _) => "",
            (true, Some(_)) => "; the timers stop in it, and the timer frame wakes",
            (true, None) => "; the timers stop in it, and a CPU that stays awake wakes",
        };
        let (name, value, level) = (&state.name, state.power_state, level(state.level));
        say(
            "CPU_SUSPEND",
            &format!("{name} {value:#010x}, {level} {down}{wakes}"),
        );
    }
    say("CPU_OFF", yes_or_no(firmware.cpu_off));
    say("times", times_in_words(times(board, firmware)));
    if let Some(note) = &firmware.note {
        say("why not", note);
    }
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

/// Appends `text` after `key`, wrapped and indented by `indent`.
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
