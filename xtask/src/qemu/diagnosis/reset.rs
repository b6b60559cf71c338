//! Logs that hold more than one start of the machine, as when a
//! watchdog has reset it.

use super::scenario::{begun, last_scenario};

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
        let own = format!("{a}  TEST COMPLETE   Passed\r\nCPU_ON and CPU_OFF\r\n");
        for (log, expected) in [
            (START.to_owned(), None),
            (a.clone(), None),
            (
                format!("{a}{START}> Executing 'B'\r\n"),
                Some("while 'A' was measured"),
            ),
            (
                format!("{a}  TEST COMPLETE   Passed\r\nx\r\n{START}"),
                Some("after 'A' was measured"),
            ),
            (
                format!("{START}{START}{a}"),
                Some("before a scenario was begun"),
            ),
            // Scenarios with titles of their own.
            (
                format!("{own}{START}"),
                Some("while 'CPU_ON and CPU_OFF' was measured"),
            ),
            (
                format!("{own}  Skipped: no GIC\r\n{START}"),
                Some("after 'CPU_ON and CPU_OFF' was measured"),
            ),
            // Firmware that is silent, or of another make.
            (
                "psci-bench 0.1.0\r\n> Executing 'A'\r\npsci-bench 0.1.0\r\n".to_owned(),
                Some("while 'A' was measured"),
            ),
            (
                "psci-bench: INCOMPLETE\r\npsci-bench: x\r\n".to_owned(),
                None,
            ),
        ] {
            let expected = expected.map(|when| format!("the machine was reset {when}"));
            assert_eq!(first(&log), expected);
        }
    }
}
