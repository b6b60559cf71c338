//! The end of a run, as reported in its last line.
//!
//! A CI job without special support for psci-bench needs to read only this line. The same module
//! therefore both writes and parses it. Examples:
//!
//! ```text
//! psci-bench: PASS (6 passed, 0 skipped, 0 failed; 0 rows skipped, 0 CPUs lost)
//! psci-bench: FAIL (5 passed, 0 skipped, 1 failed; 0 rows skipped, 1 CPU lost)
//! psci-bench: FAIL at step 3 (2 passed, 0 failed; 1 CPU lost)
//! psci-bench: INCOMPLETE: bad input: bootargs word 1 "iterations=0": ...
//! psci-bench: INCOMPLETE: exception on CPU 0.3
//! ```

use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;

use hardware::text::plural::Many;
use hardware::text::prose::{COLUMNS, one_line, paragraph, width};

use super::totals::Totals;

/// The prefix of every run's last line.
pub const PREFIX: &str = "psci-bench: ";

/// The text between PREFIX and the reason if the input was rejected.
const BAD_INPUT: &str = "INCOMPLETE: bad input: ";

/// The end of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// At least one scenario was measured, and no problems were found.
    Pass,
    /// The run completed, but there were problems.
    Fail,
    /// The run did not complete.
    Incomplete,
    /// The run did not start: its input was rejected.
    BadInput,
}

impl Verdict {
    /// Returns the verdict for a completed run. If every scenario was skipped, the verdict is FAIL,
    /// because a job that no longer measures anything must not pass.
    pub fn from_totals(totals: &Totals) -> Self {
        let has_failed = totals.failed > 0 || totals.lost > 0 || totals.failed_step.is_some();
        if totals.passed > 0 && !has_failed {
            Self::Pass
        } else {
            Self::Fail
        }
    }

    /// Returns the corresponding exit code.
    pub const fn exit_code(self) -> u8 {
        match self {
            Self::Pass => 0,
            Self::Fail => 1,
            Self::BadInput => 2,
            Self::Incomplete => 3,
        }
    }
}

/// The last line, without its line ending.
#[derive(Clone, Copy)]
pub enum ClosingLine<'a> {
    /// The run completed with these counts.
    Ended(&'a Totals),
    /// The run did not complete, for this reason.
    Incomplete(&'a dyn fmt::Display),
    /// The run rejected its input, for this reason.
    BadInput(&'a dyn fmt::Display),
}

impl ClosingLine<'_> {
    /// Prints the line. If the reason is too long for the line, it is first printed in full, and
    /// the line contains as much of it as fits. Counts are never truncated, because a truncated
    /// line has no verdict.
    pub fn print(&self, out: &mut dyn fmt::Write) -> fmt::Result {
        match self {
            Self::Ended(_) => writeln!(out, "{self}"),
            Self::Incomplete(reason) | Self::BadInput(reason) => {
                if width(self) > COLUMNS {
                    paragraph(out, "ERROR:   ", 9, reason)?;
                }
                one_line(out, self)
            }
        }
    }

    /// Returns the verdict that the line reports.
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
            Self::Ended(totals) => {
                let is_pass = self.verdict() == Verdict::Pass;
                let word = if is_pass { "PASS" } else { "FAIL" };
                let (passed, failed) = (totals.passed, totals.failed);
                let lost = Many(totals.lost.into(), "CPU");
                if let Some(step) = totals.failed_step {
                    return write!(
                        f,
                        "{word} at step {step} ({passed} passed, {failed} failed; {lost} lost)"
                    );
                }
                write!(
                    f,
                    "{word} ({passed} passed, {} skipped, {failed} failed; {} skipped, {lost} lost)",
                    totals.skipped,
                    Many(totals.rows_skipped, "row"),
                )
            }
            Self::Incomplete(reason) => write!(f, "INCOMPLETE: {reason}"),
            Self::BadInput(reason) => write!(f, "{BAD_INPUT}{reason}"),
        }
    }
}

/// Returns the verdict of a complete and valid last line, with or without its line ending.
pub fn parse_line(line: &[u8]) -> Option<Verdict> {
    let line = core::str::from_utf8(line).ok()?.trim_ascii_end();
    let text = line.strip_prefix(PREFIX)?;
    if text.starts_with(BAD_INPUT) {
        Some(Verdict::BadInput)
    } else if text.starts_with("INCOMPLETE: ") {
        Some(Verdict::Incomplete)
    } else {
        Some(Verdict::from_totals(&parse_totals(line)?))
    }
}

/// Returns the counts in the last line of a completed run. The line has no sample counts.
pub fn parse_totals(line: &str) -> Option<Totals> {
    let numbers: Option<Vec<u32>> = line
        .split(|letter: char| !letter.is_ascii_digit())
        .filter(|digits| !digits.is_empty())
        .map(|digits| digits.parse().ok())
        .collect();
    let totals = match *numbers? {
        [passed, skipped, failed, rows_skipped, lost] => Totals {
            passed,
            skipped,
            failed,
            rows_skipped: rows_skipped.into(),
            lost,
            ..Totals::default()
        },
        [step, passed, failed, lost] => Totals {
            failed_step: Some(step),
            passed,
            failed,
            lost,
            ..Totals::default()
        },
        _ => return None,
    };
    (line == ClosingLine::Ended(&totals).to_string()).then_some(totals)
}

#[cfg(test)]
mod tests {
    use alloc::format;

    use super::*;

    fn good() -> Totals {
        Totals {
            passed: 6,
            ..Totals::default()
        }
    }

    type Edit = fn(&mut Totals);

    #[test]
    fn what_passes() {
        let rows: [(Edit, Verdict); 8] = [
            (|_| (), Verdict::Pass),
            (
                |totals| (totals.passed, totals.skipped) = (1, 5),
                Verdict::Pass,
            ),
            (
                |totals| (totals.caller_side, totals.rejected) = (6, 3),
                Verdict::Pass,
            ),
            (|totals| totals.rows_skipped = 7, Verdict::Pass),
            (|totals| totals.failed = 1, Verdict::Fail),
            (|totals| totals.lost = 1, Verdict::Fail),
            (
                |totals| (totals.passed, totals.skipped) = (0, 6),
                Verdict::Fail,
            ),
            (|totals| *totals = Totals::default(), Verdict::Fail),
        ];
        for (edit, expected) in rows {
            let mut totals = good();
            edit(&mut totals);
            let line = ClosingLine::Ended(&totals);
            assert_eq!(line.verdict(), expected, "{line}");
            assert_eq!(parse_line(format!("{line}\r\n").as_bytes()), Some(expected));
        }
    }

    #[test]
    fn the_line_and_its_code() {
        let mut ones = good();
        (ones.rows_skipped, ones.lost) = (1, 1);
        let step = Totals {
            failed_step: Some(3),
            lost: 1,
            passed: 2,
            ..Totals::default()
        };
        for (code, line, expected) in [
            (
                1,
                ClosingLine::Ended(&ones),
                "FAIL (6 passed, 0 skipped, 0 failed; 1 row skipped, 1 CPU lost)",
            ),
            (
                1,
                ClosingLine::Ended(&step),
                "FAIL at step 3 (2 passed, 0 failed; 1 CPU lost)",
            ),
            (
                0,
                ClosingLine::Ended(&good()),
                "PASS (6 passed, 0 skipped, 0 failed; 0 rows skipped, 0 CPUs lost)",
            ),
            (
                2,
                ClosingLine::BadInput(&"no tree"),
                "INCOMPLETE: bad input: no tree",
            ),
            (
                3,
                ClosingLine::Incomplete(&"exception"),
                "INCOMPLETE: exception",
            ),
        ] {
            let verdict = line.verdict();
            assert_eq!(line.to_string(), format!("psci-bench: {expected}"));
            assert_eq!(parse_line(line.to_string().as_bytes()), Some(verdict));
            assert_eq!(verdict.exit_code(), code);
        }
    }

    #[test]
    fn a_damaged_line_is_no_verdict() {
        let line = ClosingLine::Ended(&good()).to_string();
        for cut in 0..line.len() {
            assert_eq!(parse_line(&line.as_bytes()[..cut]), None, "{cut}");
        }
        for wrong in [
            line.replace("psci-bench: ", ""),
            line.replace("(6 passed", "(all"),
            line.replace("0 failed", "1 failed"),
            line.replace("PASS", "FAIL"),
            line.replace("(6 ", "( "),
            line.replace("0 rows", " rows"),
            line.replace("rows skipped", "rows skippe"),
            "psci-bench 0.1.0".into(),
        ] {
            assert_eq!(parse_line(wrong.as_bytes()), None, "{wrong}");
        }
        assert_eq!(parse_line(b"psci-bench: \xff"), None);
    }
}
