//! Logs that show how the firmware boots.

use super::{read_one, read_runs, whole_log};
use crate::log::reader::{LogReadError, read_bytes};
use crate::log::{BootPoint, LoggedRun};
use crate::synthetic_run::BOOT;

/// Returns the boot in a log without a run.
fn read_boot(log: &str) -> LoggedRun {
    match read_bytes("a.log", log.as_bytes()) {
        Err(LogReadError::NoRun(logged)) => *logged,
        other => panic!("{other:?}"),
    }
}

/// Returns the ticks of the timestamps, in order.
fn ticks(logged: &LoggedRun) -> Vec<u64> {
    let timestamps = logged.boot.iter();
    timestamps.map(|timestamp| timestamp.ticks).collect()
}

const ALL: [u64; 10] = [
    100_000, 160_000, 280_000, 300_000, 340_000, 400_000, 1_400_000, 1_420_000, 1_500_000,
    1_600_000,
];

#[test]
fn timestamps_are_read_however_the_log_was_recorded() {
    let with_prefix = |prefix: &str| {
        let lines = BOOT.lines();
        lines
            .map(|line| format!("{prefix}{line}\n"))
            .collect::<String>()
    };
    for log in [
        BOOT.to_owned(),
        BOOT.replace('\r', ""),
        BOOT.replace('\t', "  "),
        BOOT.replace("PMF", "\u{1b}[0mPMF"),
        BOOT.replace("\r\nPMF:cpu 0\ttid 1\t", "PMF:cpu 0\ttid 1\t"),
        with_prefix("[2026-01-02T03:04:05.123Z] "),
        with_prefix("board-1  | "),
        BOOT.lines()
            .map(|line| format!("{line}\n{line}\n"))
            .collect(),
    ] {
        // With a lost line ending, the line before the timestamp is lost, too.
        let is_spliced = log.contains("280000PMF");
        let expected: Vec<u64> = ALL
            .into_iter()
            .filter(|at| !is_spliced || *at != 280_000)
            .collect();
        let logged = read_boot(&log);
        assert_eq!(ticks(&logged), expected, "{log}");
        assert!(logged.boot.is_sorted_by_key(|timestamp| timestamp.point));
        let logged = read_one(log.clone() + &whole_log());
        assert_eq!(ticks(&logged), expected, "{log}");
        assert!(logged.is_complete(), "{:?}", logged.lacks());
    }
}

#[test]
fn damaged_and_unknown_timestamps_are_counted() {
    for (old, new) in [
        ("ts 300000", "ts 30#000"),
        ("ts 300000", "ts"),
        ("ts 300000", "ts 99999999999999999999"),
        ("tid 1\t", "tid 10\t"),
        ("tid 1\t", "tid\t"),
    ] {
        let logged = read_boot(&BOOT.replacen(old, new, 1));
        assert_eq!(logged.boot.len(), ALL.len() - 1, "{new}");
        assert!(
            !logged
                .boot
                .iter()
                .any(|timestamp| timestamp.point == BootPoint::Bl1Exit)
        );
        let doubts = logged.doubts().join("; ");
        assert!(
            doubts.starts_with("1 boot timestamp (PMF:cpu ...) damaged or unknown"),
            "{doubts}"
        );
        // The board is reset, and its last boot is undamaged.
        let logged = read_boot(&(BOOT.replacen(old, new, 1) + BOOT));
        assert_eq!((ticks(&logged), logged.doubts()), (ALL.to_vec(), vec![]));
    }
    // The line belongs to the next boot.
    let logged = read_one(whole_log() + "PMF:cpu 0\ttid 0\tts\r\n");
    assert_eq!(logged.doubts(), Vec::<String>::new());
}

#[test]
fn each_run_has_the_timestamps_of_its_own_boot() {
    let later = BOOT.replace("00000\r", "00001\r");
    // The first log also shows a boot that did not reach the payload.
    let first = format!("{BOOT}{later}{}", whole_log());
    let second = BOOT.to_owned() + &whole_log();
    // The lines of an aborted run are followed by those of the next boot.
    let cut = whole_log();
    let cut = &cut[..cut.len() / 2];
    let runs = read_runs(format!("{first}{second}{BOOT}{cut}{later}"));
    let boots: Vec<Vec<u64>> = runs.iter().map(ticks).collect();
    let ticks_of_later = ticks(&read_boot(&later));
    assert_ne!(ticks_of_later, ALL);
    assert_eq!(boots, [ticks_of_later, ALL.to_vec(), ALL.to_vec()]);
}

#[test]
fn log_without_a_run_says_how_far_the_board_got() {
    let logged = read_boot(BOOT);
    assert_eq!((logged.source.lines, logged.firmware.len()), ((1, 13), 3));
    let lacks = logged.lacks();
    let [why] = lacks.as_slice() else {
        panic!("{lacks:?}");
    };
    assert!(why.starts_with("no run in its 13 lines"), "{why}");
    assert!(why.contains("firmware BL31 v2.15.0(release):v2.15.0: the payload was not started"));
    assert!(
        read_boot("NOTICE:  BL31: v2.15.0(release):v2.15.0\n")
            .boot
            .is_empty()
    );
}
