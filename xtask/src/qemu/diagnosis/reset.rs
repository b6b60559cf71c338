//! The scenario that a log is in, and logs that hold more than one start of the machine, as
//! when a watchdog has reset it.

use psci_bench::plan::ScenarioId;

/// Returns the first words of the firmware's stages and of the payload, once a start each.
fn banner(line: &str) -> Option<&str> {
    let stages = ["NOTICE:  BL1: v", "NOTICE:  BL2: v", "NOTICE:  BL31: v"];
    if let Some(stage) = stages.into_iter().find(|stage| line.starts_with(stage)) {
        return Some(stage);
    }
    let version = line.strip_prefix("psci-bench ")?;
    version
        .starts_with(|c: char| c.is_ascii_digit())
        .then_some("psci-bench")
}

/// Returns the scenario at or after which the machine was reset for the first time.
pub(super) fn first(log: &str) -> Option<String> {
    let before = before_second_start(log)?;
    let Some(scenario) = last_scenario(before) else {
        return Some("the machine was reset before a scenario was begun".into());
    };
    let mut behind = before
        .lines()
        .rev()
        .take_while(|line| begun(line).is_none());
    let when = if behind.any(is_result) {
        "after"
    } else {
        "while"
    };
    Some(format!(
        "the machine was reset {when} '{scenario}' was measured"
    ))
}

/// Returns whether `line` is the result of a scenario, in TFTF's frame or outside it.
fn is_result(line: &str) -> bool {
    let words = ["  TEST COMPLETE ", "  Passed", "  Skipped: ", "  Failed: "];
    words.into_iter().any(|word| line.starts_with(word))
}

/// Returns the part of `log` before a banner that is in it a second time.
fn before_second_start(log: &str) -> Option<&str> {
    let mut seen = Vec::new();
    let mut at = 0;
    for line in log.split_inclusive('\n') {
        if let Some(banner) = banner(line) {
            if seen.contains(&banner) {
                return log.get(..at);
            }
            seen.push(banner);
        }
        at += line.len();
    }
    None
}

/// Returns the scenario that the last line of `log` that begins one names.
pub fn last_scenario(log: &str) -> Option<&str> {
    log.lines().rev().find_map(begun)
}

/// The words after the name if the method is not TFTF's.
const WARM: &str = ", CPUs kept on between samples";

/// Returns the scenario that `line` begins: `> Executing '…'`, or a title outside
/// TFTF's frame.
fn begun(line: &str) -> Option<&str> {
    let line = line.trim_end();
    if let Some(rest) = line.strip_prefix("> Executing '") {
        return rest.strip_suffix('\'');
    }
    let warm = line.strip_suffix(WARM);
    let name = warm.unwrap_or(line);
    let mut all = ScenarioId::ALL.into_iter();
    all.any(|id| id.name() == name && id.is_suite() == warm.is_some())
        .then_some(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: &str = "NOTICE:  BL1: v2.12.1(release):psci-bench-2.12.1\r\n\
                         NOTICE:  BL1: Built : reproducible\r\n\
                         NOTICE:  BL31: v2.12.1(release):psci-bench-2.12.1\r\n\
                         psci-bench 0.1.0\r\n";

    #[test]
    fn a_second_banner_is_a_reset() {
        let a = format!("{START}> Executing 'A'\r\n");
        let passed = format!("{a}  TEST COMPLETE   Passed\r\nx\r\n");
        // A scenario with a title of its own.
        let own = format!("{passed}CPU_ON and CPU_OFF\r\n");
        let skipped = format!("{own}  Skipped: no GIC\r\n");
        // Firmware that is silent, or of another make.
        let after_own = "after 'CPU_ON and CPU_OFF' was measured";
        let silent = "psci-bench 0.1.0\r\n> Executing 'A'\r\n";
        for (before, again, expected) in [
            (&*a, "> Executing 'B'\r\n", None),
            (&a, START, Some("while 'A' was measured")),
            (&passed, START, Some("after 'A' was measured")),
            (START, START, Some("before a scenario was begun")),
            (&own, START, Some("while 'CPU_ON and CPU_OFF' was measured")),
            (&skipped, &a, Some(after_own)),
            (silent, silent, Some("while 'A' was measured")),
            ("psci-bench: INCOMPLETE\r\n", "psci-bench: x\r\n", None),
        ] {
            let expected = expected.map(|when| format!("the machine was reset {when}"));
            assert_eq!(first(&format!("{before}{again}")), expected);
        }
    }
}
