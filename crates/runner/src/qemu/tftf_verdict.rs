//! The verdict of TFTF, or of another image that prints TFTF's summary.

use hardware::image::ParameterBlock;
use suite::model::Verdict;

/// Returns the verdict on the tests that `image` has run, according to TFTF's summary in `log`.
/// Returns None if there is no complete summary, or if psci-bench ran: it prints such a summary
/// too, but its closing line is the only verdict on it. `image` is empty if the machine boots
/// psci-bench in another way.
pub(super) fn read_verdict(image: &[u8], log: &[u8]) -> Option<Verdict> {
    let log = String::from_utf8_lossy(log);
    let is_own = image.is_empty() || ParameterBlock::read(image).is_ok();
    if is_own || log.lines().any(|line| line.starts_with("psci-bench")) {
        return None;
    }
    if !log
        .lines()
        .any(|line| line.trim_end().ends_with("Exiting tests."))
    {
        return None;
    }
    let [passed, failed, crashed] =
        ["Tests Passed", "Tests Failed", "Tests Crashed"].map(|name| count(&log, name));
    match (passed?, failed?, crashed.unwrap_or(0)) {
        (1.., 0, 0) => Some(Verdict::Pass),
        (_, 0, 0) => None,
        _ => Some(Verdict::Fail),
    }
}

/// Returns the number after `name` in the last line that starts with it.
fn count(log: &str, name: &str) -> Option<u32> {
    let number = |line: &str| {
        let rest = line.trim().strip_prefix(name)?.trim_start();
        rest.strip_prefix(':')?.trim().parse().ok()
    };
    log.lines().rev().find_map(number)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::image::tests::blank;

    #[test]
    fn verdict_is_that_of_a_complete_summary() {
        let summary = |passed_count, failed_count, crashed_count| {
            format!(
                "Tests Skipped : 0\r\nTests Passed  : {passed_count}\r\nTests Failed  : {failed_count}\r\n\
                 Tests Crashed : {crashed_count}\r\nTotal tests   : 6\r\n"
            )
        };
        let end = "NOTICE:  Exiting tests.\r\n";
        for (log, expected) in [
            (summary(6, 0, 0) + end, Some(Verdict::Pass)),
            (summary(5, 1, 0) + end, Some(Verdict::Fail)),
            (summary(5, 0, 1) + end, Some(Verdict::Fail)),
            (summary(0, 1, 0) + end, Some(Verdict::Fail)),
            (summary(0, 0, 0) + end, None),
            (summary(6, 0, 0), None),
            (end.to_owned(), None),
            (String::new(), None),
        ] {
            assert_eq!(read_verdict(b"TFTF", log.as_bytes()), expected, "{log}");
            for own in [&blank(0x1000)[..], b""] {
                assert_eq!(read_verdict(own, log.as_bytes()), None, "{log}");
            }
            let own = format!("psci-bench 0.1.0\r\n{log}");
            assert_eq!(read_verdict(b"TFTF", own.as_bytes()), None, "{log}");
        }
    }
}
