//! The end of a run, as its last line says it and its reader understands it.
//!
//! The last line is the one thing that a job which knows nothing else about
//! psci-bench reads, so it is written and read here, by one definition:
//!
//! ```text
//! psci-bench: PASS (6 passed, 0 skipped, 0 failed; 960 samples, 0 not counted, 0 rows skipped, 0 CPUs lost)
//! psci-bench: FAIL (5 passed, 0 skipped, 1 failed; 955 samples, 9 not counted, 0 rows skipped, 0 CPUs lost)
//! psci-bench: INCOMPLETE: bad input: bootargs word 1 "iterations=0": ...
//! psci-bench: INCOMPLETE: exception on CPU 0.3
//! ```

use core::fmt;

use super::totals::Totals;

/// Beginning of every last line.
pub const PREFIX: &str = "psci-bench: ";

/// Words between PREFIX and the reason when the input was refused.
const BAD_INPUT: &str = "INCOMPLETE: bad input: ";

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Something was measured, and nothing that was measured is amiss.
    Pass,
    /// The run reached its end, and something is amiss.
    Fail,
    /// The run did not reach its end.
    Incomplete,
    /// The run did not begin: its input was refused.
    BadInput,
}

impl Verdict {
    /// The verdict over a run that reached its end.
    ///
    /// Scenarios that the caller's side alone could measure count as
    /// measured. A run in which every scenario was skipped is not a success:
    /// it would let a job stay green that has lost its subject.
    #[must_use]
    pub fn from_totals(totals: &Totals) -> Self {
        let measured = totals.passed > 0 && totals.samples > 0;
        if measured && totals.failed == 0 && totals.lost == 0 {
            Self::Pass
        } else {
            Self::Fail
        }
    }

    /// The exit code that stands for it.
    #[must_use]
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Fail => 1,
            Self::BadInput => 2,
            Self::Incomplete => 3,
        }
    }
}

/// The last line, without its line end. The alternate form lacks the number of
/// rows skipped.
#[derive(Clone, Copy)]
pub enum ClosingLine<'a> {
    /// The run reached its end with these counts.
    Ended(&'a Totals),
    /// It did not, for this reason.
    Incomplete(&'a dyn fmt::Display),
    /// It refused its input, for this reason.
    BadInput(&'a dyn fmt::Display),
}

impl ClosingLine<'_> {
    /// Returns the verdict of the line.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self {
            Self::Ended(totals) => Verdict::from_totals(totals),
            Self::Incomplete(_) => Verdict::Incomplete,
            Self::BadInput(_) => Verdict::BadInput,
        }
    }
}

impl fmt::Display for ClosingLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        match self {
            Self::Ended(t) => {
                write!(
                    f,
                    "{} ({} passed, {} skipped, {} failed; {} samples, {} not counted, ",
                    match self.verdict() {
                        Verdict::Pass => "PASS",
                        _ => "FAIL",
                    },
                    u64::from(t.passed),
                    u64::from(t.skipped),
                    u64::from(t.failed),
                    t.samples,
                    t.rejected,
                )?;
                if !f.alternate() {
                    write!(f, "{}{ROWS_SKIPPED}, ", t.rows_skipped)?;
                }
                write!(f, "{} CPUs lost)", u64::from(t.lost))
            }
            Self::Incomplete(reason) => write!(f, "INCOMPLETE: {reason}"),
            Self::BadInput(reason) => write!(f, "{BAD_INPUT}{reason}"),
        }
    }
}

/// The verdict that `line` is, if it is a last line; its line end may be on.
///
/// A PASS or FAIL that is cut short or damaged so that its shape is gone is
/// no verdict: the reader must not take the first word's word for it.
#[must_use]
pub fn parse_line(line: &[u8]) -> Option<Verdict> {
    let line = core::str::from_utf8(line).ok()?.trim_ascii_end();
    let said = line.strip_prefix(PREFIX)?;
    if let Some(counts) = said.strip_prefix("PASS ") {
        return are_counts(counts).then_some(Verdict::Pass);
    }
    if let Some(counts) = said.strip_prefix("FAIL ") {
        return are_counts(counts).then_some(Verdict::Fail);
    }
    if said.starts_with(BAD_INPUT) {
        return Some(Verdict::BadInput);
    }
    said.starts_with("INCOMPLETE: ")
        .then_some(Verdict::Incomplete)
}

/// Words behind the number of rows skipped. Last lines of earlier versions, and
/// the alternate form, do not have that number.
const ROWS_SKIPPED: &str = " rows skipped";

/// Returns true if `text` is the counts in brackets, each a decimal number.
fn are_counts(text: &str) -> bool {
    let mut rest = text;
    for (lead, after) in [
        ("(", " passed"),
        (", ", " skipped"),
        (", ", " failed"),
        ("; ", " samples"),
        (", ", " not counted"),
        (", ", ROWS_SKIPPED),
        (", ", " CPUs lost)"),
    ] {
        let Some(number) = rest.strip_prefix(lead) else {
            return false;
        };
        let tail = number.trim_start_matches(|c: char| c.is_ascii_digit());
        match tail.strip_prefix(after) {
            Some(next) if tail.len() < number.len() => rest = next,
            None if after == ROWS_SKIPPED => {}
            _ => return false,
        }
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::ToString;

    const GOOD: Totals = Totals {
        passed: 6,
        skipped: 0,
        failed: 0,
        caller_side: 0,
        samples: 960,
        rejected: 0,
        rows_skipped: 0,
        lost: 0,
    };

    fn verdict(edit: fn(&mut Totals)) -> Verdict {
        let mut totals = GOOD;
        edit(&mut totals);
        let line = ClosingLine::Ended(&totals).to_string();
        assert_eq!(
            parse_line(line.as_bytes()),
            Some(Verdict::from_totals(&totals))
        );
        Verdict::from_totals(&totals)
    }

    #[test]
    fn what_passes() {
        assert_eq!(verdict(|_| ()), Verdict::Pass);
        assert_eq!(verdict(|t| (t.passed, t.skipped) = (1, 5)), Verdict::Pass);
        assert_eq!(verdict(|t| t.caller_side = 6), Verdict::Pass);
        assert_eq!(verdict(|t| t.rejected = 3), Verdict::Pass);
        assert_eq!(verdict(|t| t.rows_skipped = 7), Verdict::Pass);
        assert_eq!(verdict(|t| t.failed = 1), Verdict::Fail);
        assert_eq!(verdict(|t| t.lost = 1), Verdict::Fail);
        assert_eq!(verdict(|t| (t.passed, t.skipped) = (0, 6)), Verdict::Fail);
        assert_eq!(verdict(|t| t.samples = 0), Verdict::Fail);
        assert_eq!(verdict(|t| *t = Totals::default()), Verdict::Fail);
    }

    #[test]
    fn the_line_and_its_code() {
        let line = ClosingLine::Ended(&GOOD).to_string();
        assert_eq!(
            line,
            "psci-bench: PASS (6 passed, 0 skipped, 0 failed; 960 samples, 0 not counted, \
             0 rows skipped, 0 CPUs lost)"
        );
        assert_eq!(
            parse_line(format!("{line}\r\n").as_bytes()),
            Some(Verdict::Pass)
        );
        let refused = ClosingLine::BadInput(&"no device tree").to_string();
        assert_eq!(refused, "psci-bench: INCOMPLETE: bad input: no device tree");
        assert_eq!(parse_line(refused.as_bytes()), Some(Verdict::BadInput));
        let stopped = ClosingLine::Incomplete(&"exception on CPU 0.3").to_string();
        assert_eq!(stopped, "psci-bench: INCOMPLETE: exception on CPU 0.3");
        assert_eq!(parse_line(stopped.as_bytes()), Some(Verdict::Incomplete));
        let codes = [
            Verdict::Pass,
            Verdict::Fail,
            Verdict::BadInput,
            Verdict::Incomplete,
        ];
        assert_eq!(codes.map(Verdict::exit_code), [0, 1, 2, 3]);
    }

    #[test]
    fn a_damaged_line_is_no_verdict() {
        let line = ClosingLine::Ended(&GOOD).to_string();
        let old = format!("{:#}", ClosingLine::Ended(&GOOD));
        assert_eq!(old, line.replace(", 0 rows skipped", ""));
        assert_eq!(parse_line(old.as_bytes()), Some(Verdict::Pass));
        for line in [line, old] {
            for cut in 0..line.len() {
                assert_eq!(parse_line(&line.as_bytes()[..cut]), None, "{cut}");
            }
        }
        for wrong in [
            "PASS",
            "psci-bench: PASS (all of them)",
            "psci-bench: PASS ( passed, 0 skipped, 0 failed; 1 samples, 0 not counted, 0 CPUs lost)",
            "psci-bench: PASS (1 passed, 0 skipped, 0 failed; 1 samples, 0 not counted,  rows skipped, 0 CPUs lost)",
            "psci-bench: PASS (1 passed, 0 skipped, 0 failed; 1 samples, 0 not counted, 0 rows skippe, 0 CPUs lost)",
            "psci-bench 0.1.0",
            "",
        ] {
            assert_eq!(parse_line(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(parse_line(b"psci-bench: \xff"), None);
    }
}
