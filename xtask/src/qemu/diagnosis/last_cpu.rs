//! The last CPU that a log tells of.

use std::fmt;

use psci_bench::plan::ScenarioId;
use psci_bench::record::{Record, parse, pieces};

/// The fields of MPIDR_EL1 that say which CPU it is.
const AFFINITY: u64 = 0xff_00ff_ffff;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Label(u64, u64),
    Mpidr(u64),
    Index(u16),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label(cluster, core) => write!(f, "{cluster}.{core}"),
            Self::Mpidr(mpidr) => write!(f, "{mpidr:#x}"),
            Self::Index(index) => write!(f, "{index} of the board's order"),
        }
    }
}

/// Returns the CPU that the last line to name one is about, and what that line is.
pub(super) fn last_cpu(log: &str) -> Option<String> {
    let panicked = log.lines().any(|line| line.starts_with("Panic: "));
    let found = log.lines().rev().find_map(|line| named(line, panicked));
    let (name, place) = found?;
    let name = label(log, name).unwrap_or(name);
    Some(format!("CPU {name} ({place})"))
}

/// Returns the CPU that `line` names, and what the line is.
fn named(line: &str, panicked: bool) -> Option<(Name, String)> {
    if let Some((_, rest)) = line.split_once("<RT_INSTR:") {
        let mut parts = rest.split('\t');
        let scenario = ScenarioId::from_tag(parts.next()?)?;
        let cluster = parts.next()?.parse().ok()?;
        let core = parts.next()?.parse().ok()?;
        let place = format!("in its results of '{}'", scenario.name());
        return Some((Name::Label(cluster, core), place));
    }
    // `RTT|  00:00:00  (…, CPU 0x1, others mixed)`: a stretch of one CPU alone.
    if line.starts_with("RTT|") {
        let (_, rest) = line.split_once(", CPU ")?;
        let place = "its timer was looked at alone".to_owned();
        return Some((Name::Mpidr(hex(rest)?), place));
    }
    if let Some(rest) = line.strip_prefix("Unhandled exception on CPU ") {
        return Some((Name::Mpidr(hex(rest)?), "it took an exception".into()));
    }
    if let Some(rest) = line.strip_prefix("on CPU ").filter(|_| panicked) {
        return Some((Name::Mpidr(hex(rest)?), "it panicked".into()));
    }
    // TF-A's crash dump: `mpidr_el1              = 0x0000000080000101`.
    if let Some(rest) = line.strip_prefix("mpidr_el1") {
        let value = rest.trim_start().strip_prefix('=')?;
        let mpidr = hex(value.trim_start())? & AFFINITY;
        return Some((Name::Mpidr(mpidr), "in the firmware's crash dump".into()));
    }
    records(line).filter_map(|record| in_record(&record)).last()
}

fn records(line: &str) -> impl Iterator<Item = Record> {
    let records = pieces(line.as_bytes()).filter_map(|piece| parse(piece).ok());
    records.map(|numbered| numbered.record)
}

fn in_record(record: &Record) -> Option<(Name, String)> {
    let (key, cpu) = match record {
        Record::Cpu(cpu, _) | Record::Identity(cpu, _) => {
            return Some((Name::Index(*cpu), "in the record that lists it".into()));
        }
        Record::Row(key, row) => (key, row.cpu),
        Record::Statistics(key, cpu, _)
        | Record::Shown(key, cpu, _)
        | Record::Sample(key, cpu, _) => (key, *cpu),
        Record::Point(key, _, point) => (key, point.cpu),
        _ => return None,
    };
    let place = format!("in its records of '{}'", key.id.name());
    Some((Name::Index(cpu), place))
}

/// Returns the number at the start of `text`, as `{:#x}` prints it.
fn hex(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x")?;
    let end = digits.find(|c: char| !c.is_ascii_hexdigit());
    u64::from_str_radix(digits.get(..end.unwrap_or(digits.len()))?, 16).ok()
}

/// Returns cluster and core of a CPU whose record is in the log.
fn label(log: &str, name: Name) -> Option<Name> {
    log.lines()
        .flat_map(records)
        .find_map(|record| match record {
            Record::Cpu(index, cpu)
                if Name::Index(index) == name || cpu.mpidr.map(Name::Mpidr) == Some(name) =>
            {
                Some(Name::Label(cpu.cluster.into(), cpu.core.into()))
            }
            _ => None,
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use psci_bench::model::{Cpu, Row, ScenarioKey};
    use psci_bench::plan::{Method, Records};
    use psci_bench::record::Writer;

    fn record(record: Record) -> String {
        let mut line = String::new();
        let mut writer = Writer::new(Records::Once);
        writer.write(&mut line, record).expect("written");
        line
    }

    fn row(cpu: u16) -> String {
        let (id, method) = (ScenarioId::PsciVersionParallel, Method::Tftf);
        let (helper, mut row) = (None, Row::default());
        row.cpu = cpu;
        record(Record::Row(ScenarioKey { id, method, helper }, row))
    }

    /// Each line is added to the log, and the CPU of the last one that names one is found.
    fn assert_each_names(lines: &[(&str, &str)]) {
        let mut log = String::new();
        for (line, expected) in lines {
            log.push_str(line);
            let said = last_cpu(&log).unwrap_or_default();
            assert!(said.starts_with(expected), "{said}");
        }
    }

    #[test]
    fn the_last_line_that_names_a_cpu() {
        assert_eq!(last_cpu("> Executing 'X'\r\n"), None);
        let results = "<RT_INSTR:test_rt_instr_susp_deep_serial\t1\t2\t12\t13\t14/>\r\nx\r\n";
        let exception = "Unhandled exception on CPU 0x101 (synchronous, vector 4)\r\nELR 0\r\n";
        let dump = "PANIC in EL3.\r\nmpidr_el1              = 0x0000000080000102\r\n";
        let neither = "on CPU 0x5\r\nUnhandled exception on CPU 5\r\n";
        assert_each_names(&[
            (results, "CPU 1.2 (in its results of 'Suspend to deepest "),
            (exception, "CPU 0x101 (it took an exception)"),
            // No panic, and a number that is none.
            (neither, "CPU 0x101"),
            ("Panic: at x:1:2:\r\non CPU 0x6\r\n", "CPU 0x6 (it panicke"),
            (dump, "CPU 0x102 (in the firmware's crash dump)"),
        ]);
    }

    #[test]
    fn records_and_stretches_name_cpus_and_their_labels() {
        let mut cpu = Cpu::default();
        (cpu.mpidr, cpu.cluster, cpu.core) = (Some(0x101), 4, 1);
        let rtt = "RTT|  00:00:00  (timer interrupt to handler in us, 1000 us period, ";
        assert_eq!(last_cpu(&format!("{rtt}all CPUs, idle)\r\n")), None);
        let alone = format!("{rtt}CPU 0x101, others mixed)\r\nRTH|----lat min\r\n");
        let damaged = row(8).replace("cpu\":8", "cpu\":9");
        assert_each_names(&[
            (&record(Record::Cpu(0, cpu)), "CPU 4.1 (in the record that"),
            (&alone, "CPU 4.1 (its timer was looked at alone)"),
            (&row(0), "CPU 4.1 (in its records of 'PSCI version call "),
            (&row(7), "CPU 7 of the board's order ("),
            (&damaged, "CPU 7 "),
        ]);
    }
}
