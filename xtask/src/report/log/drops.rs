//! What a UART that drops bytes leaves of a run: over a thousand simulated
//! logs no figure of a record is wrong, and few are lost.

use psci_bench::record::crc::Crc32;
use psci_bench::record::parse::Record;

use super::reader::read_bytes;
use crate::report::model::{Row, Run};

const QEMU: &[u8] = include_bytes!("../../../tests/data/report/qemu-4cpu.log");

/// The first scenario of the log, without single samples, as a run of its
/// own: frame, records, farewell, records, last line.
fn short_log() -> Vec<u8> {
    let text = String::from_utf8_lossy(QEMU);
    let first = text.find("@PB ").expect("records");
    let frame: String = text[..first]
        .split("> Executing 'Suspend to deepest power level on all cores in seq")
        .take(1)
        .collect();
    let mut copy = String::new();
    let (mut crcs, mut seq) = (Crc32::default(), 0);
    let lines = text.lines().filter(|line| line.starts_with("@PB "));
    for line in lines.take_while(|line| !line.contains(" end ")) {
        let body = line.split_at(line.len() - 8).0;
        let (_, body) = body["@PB ".len()..].split_once(' ').expect("a SEQ");
        let later = (2..7).any(|t| body.contains(&format!(" t={t} ")));
        if later || body.starts_with("s ") {
            continue;
        }
        let body = format!("@PB {seq:04} {body}");
        let crc = Crc32::of(body.as_bytes());
        crcs.update(&crc.to_be_bytes());
        copy.push_str(&format!("{body}{crc:08x}\r\n"));
        seq += 1;
    }
    let end = format!(
        "@PB {seq:04} end records={seq} crcs={:#010x} ",
        crcs.value()
    );
    copy.push_str(&format!("{end}{:08x}\r\n", Crc32::of(end.as_bytes())));
    let closing = text.lines().last().expect("a last line");
    format!("{frame}{copy}\r\nNOTICE:  Exiting tests.\r\n\r\n{copy}\r\n{closing}\r\n").into_bytes()
}

/// A generator of numbers that are always the same: Marsaglia, "Xorshift
/// RNGs", Journal of Statistical Software 8 (2003).
struct Numbers(u64);

impl Numbers {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
}

/// What came of all logs of one rate.
#[derive(Debug, Default)]
struct Sums {
    records: u64,
    /// Not in the first copy as they were sent.
    damaged: u64,
    /// In neither copy.
    lost: u64,
    mended: u64,
    /// Rows of which a figure of a record is not what was sent.
    wrong: u64,
    /// Rows from lines alone that are wrong: why they are marked.
    wrong_lines: u64,
    incomplete: u64,
}

/// Whether everything that `row` has of records is what was sent.
fn is_right(row: &Row, sent: &Row) -> bool {
    let figures = !row.verified || row.figures.iter().all(|it| sent.figures.contains(it));
    let summaries = row.summaries.iter().all(|it| sent.summaries.contains(it));
    let cold = row.cold.iter().all(|it| sent.cold.contains(it));
    let event = row.event.is_none_or(|event| {
        let sent = sent.event.unwrap_or_default();
        let points = crate::report::model::Point::ALL;
        let same = |point| event.at(point).is_none_or(|at| sent.at(point) == Some(at));
        points.into_iter().all(same) && (event.base.is_none() || event.base == sent.base)
    });
    figures && summaries && cold && event
}

fn compare(run: &Run, sent: &Run, sums: &mut Sums) {
    for test in &run.tests {
        let other = sent.tests.iter().find(|it| it.scenario == test.scenario);
        for row in &test.rows {
            let cpu = run.cpus.get(row.cpu).and_then(|cpu| cpu.mpidr);
            let other = other.and_then(|it| it.row(sent.cpu_by_mpidr(cpu?)?));
            if row.verified || !row.summaries.is_empty() || row.event.is_some() {
                sums.wrong += u64::from(!other.is_some_and(|other| is_right(row, other)));
            }
            if !row.verified && !row.figures.is_empty() {
                let right = other.is_some_and(|other| row.figures == other.figures);
                sums.wrong_lines += u64::from(!right);
            }
        }
    }
}

/// Reads `count` logs of which each byte is dropped with this probability.
fn simulated(one_in: u64, count: u64) -> Sums {
    let log = short_log();
    let sent = read_bytes("sent", &log).expect("a run").remove(0);
    assert!(sent.is_complete());
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15 ^ one_in);
    let mut sums = Sums::default();
    for _ in 0..count {
        let keep = |_: &u8| numbers.next() >> 11 >= (1 << 53) / one_in;
        let heard: Vec<u8> = log.iter().copied().filter(keep).collect();
        let runs = read_bytes("heard", &heard).expect("a run");
        assert_eq!(runs.len(), 1);
        let run = &runs[0];
        let records = run.integrity.records.as_ref().expect("records");
        let all = sent.integrity.records.as_ref().map_or(0, |it| it.received);
        sums.records += all;
        sums.damaged += all - records.received + records.from_second + records.mended;
        sums.lost += all - records.received;
        sums.mended += records.mended;
        sums.incomplete += u64::from(!run.integrity.is_whole());
        compare(run, &sent, &mut sums);
    }
    sums
}

/// A share in parts of a million.
fn ppm(part: u64, whole: u64) -> u64 {
    part * 1_000_000 / whole.max(1)
}

/// With one byte in a thousand dropped, a record is lost in one copy in ten;
/// in both together fewer than one in two hundred.
#[test]
fn one_byte_in_a_thousand() {
    let sums = simulated(1000, 1000);
    println!("{sums:?}: {} ppm lost", ppm(sums.lost, sums.records));
    assert_eq!(sums.wrong, 0, "{sums:?}");
    assert!(sums.mended > 100, "{sums:?}");
    assert!(ppm(sums.damaged, sums.records) > 50_000, "{sums:?}");
    assert!(ppm(sums.lost, sums.records) < 5_000, "{sums:?}");
}

#[test]
fn one_byte_in_ten_thousand() {
    let sums = simulated(10_000, 1000);
    println!("{sums:?}: {} ppm lost", ppm(sums.lost, sums.records));
    assert_eq!((sums.wrong, sums.wrong_lines), (0, 0), "{sums:?}");
    assert!(sums.damaged > 0, "{sums:?}");
    assert!(ppm(sums.lost, sums.records) < 50, "{sums:?}");
}

/// The log is one that could have been sent: all its records are sound.
#[test]
fn the_log_is_sound() {
    let log = short_log();
    let mut records = log.split(|byte| *byte == b'\n').flat_map(Record::all_in);
    assert!(records.all(|it| it.is_ok()));
}
