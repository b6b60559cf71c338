//! The last scenario and the last CPU that a log names.

use std::sync::LazyLock;

use psci_bench::plan::{ScenarioId, WARM_TITLE};
use regex::Regex;

/// The fields of MPIDR_EL1 that identify a CPU.
const AFFINITY: u64 = 0xff_00ff_ffff;

/// Returns the CPU that the last line to name one names, and the beginning of that line.
pub(super) fn last_cpu(log: &str) -> Option<String> {
    log.lines().rev().find_map(|line| {
        let name = named_cpu(line)?;
        let line: String = line.trim().chars().take(60).collect();
        Some(format!("CPU {name}, in the line {line:?}"))
    })
}

/// Returns the CPU by cluster and core, or by its MPIDR.
fn named_cpu(line: &str) -> Option<String> {
    static RESULTS: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"<RT_INSTR:\w+\t(\d+)\t(\d+)\t").expect("a pattern"));
    // TF-A's crash dump: `mpidr_el1              = 0x0000000080000101`.
    static NAMED: LazyLock<Regex> = LazyLock::new(|| {
        let pattern = r"(?:\bCPU |^mpidr_el1 += )(?:0x([0-9a-f]{1,16})\b|(\d+\.\d+))";
        Regex::new(pattern).expect("a pattern")
    });
    if let Some(found) = RESULTS.captures(line) {
        return Some(format!("{}.{}", &found[1], &found[2]));
    }
    let found = NAMED.captures(line)?;
    match (found.get(1), found.get(2)) {
        (Some(digits), _) => {
            let mpidr = u64::from_str_radix(digits.as_str(), 16).ok()?;
            Some(format!("{:#x}", mpidr & AFFINITY))
        }
        (_, label) => Some(label?.as_str().to_owned()),
    }
}

/// Returns the scenario that the last line of `log` that begins one names.
pub fn last_scenario(log: &str) -> Option<&str> {
    log.lines().rev().find_map(begun_scenario)
}

/// Returns the scenario that `line` begins: `> Executing '…'`, or a title outside
/// TFTF's frame.
pub(crate) fn begun_scenario(line: &str) -> Option<&str> {
    let line = line.trim_end();
    if let Some(rest) = line.strip_prefix("> Executing '") {
        return rest.strip_suffix('\'');
    }
    let warm = line.strip_suffix(WARM_TITLE);
    let name = warm.unwrap_or(line);
    let mut all = ScenarioId::ALL.into_iter();
    all.any(|id| id.name() == name && id.is_suite() == warm.is_some())
        .then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_line_that_names_a_cpu_counts() {
        let mut log = "> Executing 'X'\r\n".to_owned();
        assert_eq!(last_cpu(&log), None);
        for (lines, expected) in [
            (
                "<RT_INSTR:test_x\t1\t2\t12\t13\t14/>\r\nx\r\n",
                "CPU 1.2, in",
            ),
            (
                "Exception on CPU 0x101 (it)\r\n",
                "CPU 0x101, in the line \"Exc",
            ),
            (
                "on CPU 5\r\nelr = CPU0x6\r\n@PB 0001 {\"cpu\":[3]}\r\n",
                "CPU 0x101",
            ),
            ("mpidr_el1    = 0x0000000080000102\r\n", "CPU 0x102, in"),
            (
                "RTT|  00:00:00  (…, CPU 0x100, others mixed)\r\n",
                "CPU 0x100",
            ),
        ] {
            log.push_str(lines);
            let said = last_cpu(&log).unwrap_or_default();
            assert!(said.starts_with(expected), "{said}");
        }
    }

    #[test]
    fn titles_begin_scenarios_and_headings_do_not() {
        let suite = "CPU suspend on all cores in sequence";
        let warm = format!("{suite}, CPUs kept on between samples");
        for (line, is_title) in [
            ("Calls to the firmware that do nothing", true),
            (&*warm, true),
            (suite, false),
            ("Something, CPUs kept on between samples", false),
            (".. table:: Calls to the firmware that do nothing", false),
        ] {
            let expected = if is_title { line } else { "A" };
            let log = format!("> Executing 'A'\r\n\r\n{line}\r\n");
            assert_eq!(last_scenario(&log), Some(expected));
        }
    }
}
