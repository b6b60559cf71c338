//! Logs that mix two runs with the same plan. No such log may be accepted as a complete run.

use fastrand::Rng;
use suite::model::{Run, RunId};
use suite::plan::Records;
use suite::record::MARK;

use super::logged_run::LoggedRun;
use super::reader::read_bytes;
use crate::synthetic_run;

/// Returns the synthetic run as if it had been measured again, with the same scenarios but different
/// figures.
fn other_run() -> Run {
    let mut run = synthetic_run::run();
    run.id = RunId::parse("5e0ffb1d");
    synthetic_run::change_first_figures(&mut run, |ticks| ticks + 1_000);
    run
}

fn is_read(line: &str) -> bool {
    [MARK, "<RT_INSTR", "  Run"]
        .iter()
        .any(|prefix| line.starts_with(prefix))
}

/// Returns the index of the last line that starts with `begin`.
fn last_index(lines: &[String], begin: &str) -> usize {
    let index = lines.iter().rposition(|line| line.starts_with(begin));
    index.expect("a matching line")
}

fn read_all(lines: &[&[String]]) -> Option<Vec<LoggedRun>> {
    read_bytes("a.log", lines.concat().concat().as_bytes()).ok()
}

#[test]
fn spliced_logs_of_two_runs_are_refused_or_incomplete() {
    let logs = [synthetic_run::run(), other_run()].map(|run| {
        let log = synthetic_run::log(&run, Records::Once);
        log.split_inclusive('\n')
            .map(str::to_owned)
            .collect::<Vec<String>>()
    });
    let truths = logs.each_ref().map(|log| {
        let runs = read_all(&[log]).expect("a run");
        assert!(runs.len() == 1 && runs[0].is_complete());
        runs[0].run.clone()
    });
    let first = last_index(&logs[0], "  Run") + 1;
    let last = last_index(&logs[0], MARK);
    assert!(logs[0].len() == logs[1].len() && last_index(&logs[1], MARK) == last);
    let mut random = Rng::with_seed(1);
    let mut mixed = 0;
    // Half of the logs combine the head of one run with the tail of another. In the other half,
    // part of a run is replaced with part of another.
    for nth in 0..400 {
        let one = &logs[nth % 2];
        let other = &logs[1 - nth % 2];
        let mut ends = [(); 2].map(|()| random.usize(first..last));
        ends.sort_unstable();
        let [from, to] = ends;
        let is_cut = nth % 4 < 2;
        let runs = if is_cut {
            read_all(&[&one[..from], &other[from..]])
        } else {
            read_all(&[&one[..from], &other[from..to], &one[to..]])
        };
        let Some(runs) = runs else {
            continue;
        };
        let is_mixed = is_cut || other[from..to].iter().any(|line| is_read(line));
        let is_whole = runs.iter().all(LoggedRun::is_complete);
        assert_eq!(is_whole, !is_mixed, "{nth}: {from}..{to}");
        let named = runs.iter().flat_map(LoggedRun::lacks).count();
        assert_eq!(named > 0, is_mixed);
        for logged in runs.iter().filter(|logged| logged.is_complete()) {
            assert!(truths.contains(&logged.run), "{nth}: {from}..{to}");
        }
        mixed += u32::from(is_mixed);
    }
    assert!(mixed > 350, "{mixed}");
}

/// A single line from another run is among the records of a complete one.
#[test]
fn rt_instr_line_of_another_run_is_named_and_counted() {
    let [own, other] =
        [synthetic_run::run(), other_run()].map(|run| synthetic_run::log(&run, Records::Once));
    let line = |log: &str| {
        let mut lines = log.lines();
        let line = lines.find(|line| line.contains("cpu_susp_serial\t0\t1\t"));
        line.expect("a line").to_owned()
    };
    let mixed = own.replace(&line(&own), &line(&other));
    assert_ne!(mixed, own);
    for (log, wrong) in [(&own, 0), (&mixed, 1)] {
        let runs = read_bytes("a.log", log.as_bytes()).expect("a run");
        let [logged] = runs.as_slice() else {
            panic!("{} runs", runs.len());
        };
        assert_eq!(logged.integrity.rt_instr_wrong, wrong);
        let expected = "the records contradict 1 RT_INSTR line: CPU 0.1 in \
                        test_rt_instr_cpu_susp_serial";
        let lacks = logged.lacks();
        assert_eq!(lacks, [expected; 1][..wrong as usize], "{lacks:?}");
    }
}

#[test]
fn header_of_another_run_is_named() {
    let [own, other] =
        [synthetic_run::run(), other_run()].map(|run| synthetic_run::log(&run, Records::Once));
    let record_offset = |log: &str| log.find(MARK).expect("a record");
    let mixed = [&own[..record_offset(&own)], &other[record_offset(&other)..]].concat();
    let runs = read_bytes("a.log", mixed.as_bytes()).expect("a run");
    let lacks: Vec<String> = runs.iter().flat_map(LoggedRun::lacks).collect();
    let expected = "the header is from run 1c291ca3, but the records are from run 5e0ffb1d";
    assert_eq!(lacks, [expected]);
}

/// The summary follows the last record, and has no checksum.
#[test]
fn summary_of_another_run_is_named() {
    let [own, other] =
        [synthetic_run::run(), other_run()].map(|run| synthetic_run::log(&run, Records::Once));
    let tail = |log: &str| {
        let record = log.rfind(MARK).expect("a record");
        record + log[record..].find('\n').expect("a line") + 1
    };
    let mixed = [&own[..tail(&own)], &other[tail(&other)..]].concat();
    assert_ne!(mixed, own);
    let runs = read_bytes("a.log", mixed.as_bytes()).expect("a run");
    let lacks: Vec<String> = runs.iter().flat_map(LoggedRun::lacks).collect();
    let expected = "the summary is from run 5e0ffb1d, but the records are from run 1c291ca3";
    assert_eq!(lacks, [expected]);
}

/// Simulates a log in which the board was reset and the first lines of its next run were lost.
#[test]
fn identity_of_another_run_in_a_header_ends_the_run_before() {
    let runs = [synthetic_run::run(), other_run()];
    let ids = runs.each_ref().map(|run| (run.id, run.id));
    let [own, other] = runs.map(|run| synthetic_run::log(&run, Records::Once));
    let cut = own.rfind(MARK).expect("a record");
    let from = other.find("  Run  ").expect("a header");
    let mixed = [&own[..cut], &other[from..]].concat();
    let runs = read_bytes("a.log", mixed.as_bytes()).expect("two runs");
    let read_ids: Vec<_> = runs
        .iter()
        .map(|logged| (logged.header.run, logged.run.id))
        .collect();
    assert_eq!(read_ids, ids);
    let are_complete: Vec<bool> = runs.iter().map(LoggedRun::is_complete).collect();
    assert_eq!(are_complete, [false, true]);
}
