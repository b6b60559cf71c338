//! The last CPU that a log tells of.

use std::fmt;

use psci_bench::plan::ScenarioId;
use psci_bench::record::line::Type;
use psci_bench::record::parse::Record;

/// The fields of MPIDR_EL1 that say which CPU it is.
const AFFINITY: u64 = 0xff_00ff_ffff;

/// A CPU, as a line names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Name {
    Label(u64, u64),
    Mpidr(u64),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Label(cluster, core) => write!(f, "{cluster}.{core}"),
            Self::Mpidr(mpidr) => write!(f, "{mpidr:#x}"),
        }
    }
}

/// Returns the CPU that the last line to name one is about, and what that line is.
pub(super) fn last_cpu(log: &str) -> Option<String> {
    let panicked = log.lines().any(|line| line.starts_with("Panic: "));
    let found = log.lines().rev().find_map(|line| named(line, panicked));
    let (name, place) = found?;
    let name = match name {
        Name::Mpidr(mpidr) => label(log, mpidr).unwrap_or(name),
        Name::Label(..) => name,
    };
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
    let records = Record::all_in(line.as_bytes()).filter_map(Result::ok);
    records.filter_map(|record| in_record(&record)).last()
}

fn in_record(record: &Record<'_>) -> Option<(Name, String)> {
    let mpidr = record.unsigned("mpidr")?;
    let scenario = record.unsigned("t").and_then(ScenarioId::from_number);
    let place = match scenario {
        Some(scenario) => format!("in its records of '{}'", scenario.name()),
        None => "in the record that lists it".into(),
    };
    Some((Name::Mpidr(mpidr), place))
}

/// Returns the number at the start of `text`, as `{:#x}` prints it.
fn hex(text: &str) -> Option<u64> {
    let digits = text.strip_prefix("0x")?;
    let end = digits.find(|c: char| !c.is_ascii_hexdigit());
    u64::from_str_radix(digits.get(..end.unwrap_or(digits.len()))?, 16).ok()
}

/// Cluster and core of the CPU `mpidr`, where the log has its record.
fn label(log: &str, mpidr: u64) -> Option<Name> {
    let records = log.lines().flat_map(|line| Record::all_in(line.as_bytes()));
    let mut cpus = records
        .filter_map(Result::ok)
        .filter(|record| record.kind == Type::Cpu);
    let cpu = cpus.find(|record| record.unsigned("mpidr") == Some(mpidr))?;
    Some(Name::Label(cpu.unsigned("cluster")?, cpu.unsigned("core")?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use psci_bench::record::crc::Crc32;

    fn record(body: &str) -> String {
        let body = format!("@PB {body} ");
        format!("{body}{:08x}\r\n", Crc32::of(body.as_bytes()))
    }

    #[test]
    fn the_last_line_that_names_a_cpu_counts() {
        let cpu = record("0005 cpu i=0 mpidr=0x101 cluster=4 core=1 thread=0");
        let row = record("0007 row t=6 by=tftf mpidr=0x101 valid=1");
        let rtt = "RTT|  00:00:00  (timer interrupt to handler in us, 1000 us period, ";
        let alone = format!("{rtt}CPU 0x101, others mixed)\r\nRTH|----lat min\r\n");
        let mut log = String::new();
        // Each is added to the log of those before.
        for (added, expected) in [
            ("> Executing 'X'\r\n", None),
            (
                "<RT_INSTR:test_rt_instr_susp_deep_serial\t1\t2\t12\t13\t14/>\r\n  TEST COMPLETE\r\n",
                Some(
                    "CPU 1.2 (in its results of 'Suspend to deepest power level on all cores in \
                     sequence')",
                ),
            ),
            (
                "Unhandled exception on CPU 0x101 (synchronous, vector 4)\r\nELR 0\r\n",
                Some("CPU 0x101 (it took an exception)"),
            ),
            // No panic, and a number that is none.
            (
                "on CPU 0x5\r\nUnhandled exception on CPU 5\r\n",
                Some("CPU 0x101 (it took an exception)"),
            ),
            (
                "Panic: panicked at x:1:2:\r\nno\r\non CPU 0x6\r\n",
                Some("CPU 0x6 (it panicked)"),
            ),
            (
                "PANIC in EL3.\r\nmpidr_el1              = 0x0000000080000102\r\n",
                Some("CPU 0x102 (in the firmware's crash dump)"),
            ),
            (&cpu, Some("CPU 4.1 (in the record that lists it)")),
            (&alone, Some("CPU 4.1 (its timer was looked at alone)")),
            (
                &format!("{rtt}all CPUs, idle)\r\n"),
                Some("CPU 4.1 (its timer was looked at alone)"),
            ),
            (
                &row,
                Some("CPU 4.1 (in its records of 'PSCI version call on all cores in parallel')"),
            ),
            (
                &record("0008 row t=9 by=tftf mpidr=0x7 valid=1"),
                Some(
                    "CPU 0x7 (in its records of 'Read of PMSELR_EL0, which a hypervisor may trap')",
                ),
            ),
            (
                "@PB 0009 row t=1 by=tftf mpidr=0x8 valid=1 00000000\r\n",
                Some(
                    "CPU 0x7 (in its records of 'Read of PMSELR_EL0, which a hypervisor may trap')",
                ),
            ),
        ] {
            log.push_str(added);
            assert_eq!(last_cpu(&log).as_deref(), expected, "{added}");
        }
    }
}
