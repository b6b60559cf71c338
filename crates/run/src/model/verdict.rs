//! The end of a run, as its last line says it and its reader understands it.
//!
//! The last line is the one thing that a job which knows nothing else about
//! psci-bench reads, so it is written and read here, by one definition:
//!
//! ```text
//! psci-bench: PASS (6 passed, 0 skipped, 0 failed; 960 samples, 0 not counted, 0 rows skipped, 0 CPUs lost)
//! psci-bench: FAIL (5 passed, 0 skipped, 1 failed; 955 samples, 9 not counted, 0 rows skipped, 1 CPU lost)
//! psci-bench: INCOMPLETE: bad input: bootargs word 1 "iterations=0": ...
//! psci-bench: INCOMPLETE: exception on CPU 0.3
//! ```

use alloc::format;
use alloc::string::ToString;
use alloc::vec::Vec;
use core::fmt;

use hardware::text::plural::Many;

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
    /// Returns the verdict over a run that reached its end. If every scenario was skipped,
    /// that is FAIL: a job must not stay green that has lost its subject.
    pub fn from_totals(totals: &Totals) -> Self {
        let measured = totals.passed > 0 && totals.samples > 0;
        if measured && totals.failed == 0 && totals.lost == 0 {
            Self::Pass
        } else {
            Self::Fail
        }
    }

    /// The exit code that stands for it.
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
                let (passed, skipped, failed) = (totals.passed, totals.skipped, totals.failed);
                let samples = Many(totals.samples, "sample");
                let (rejected, rows) = (totals.rejected, Many(totals.rows_skipped, "row"));
                write!(
                    f,
                    "{word} ({passed} passed, {skipped} skipped, {failed} failed; {samples}, \
                     {rejected} not counted, "
                )?;
                if !f.alternate() {
                    write!(f, "{rows} skipped, ")?;
                }
                write!(f, "{} lost)", Many(totals.lost.into(), "CPU"))
            }
            Self::Incomplete(reason) => write!(f, "INCOMPLETE: {reason}"),
            Self::BadInput(reason) => write!(f, "{BAD_INPUT}{reason}"),
        }
    }
}

/// Returns the verdict of a whole and sound last line; its line end may be on.
pub fn parse_line(line: &[u8]) -> Option<Verdict> {
    let line = core::str::from_utf8(line).ok()?.trim_ascii_end();
    let said = line.strip_prefix(PREFIX)?;
    match said.starts_with("INCOMPLETE: ") {
        true if said.starts_with(BAD_INPUT) => Some(Verdict::BadInput),
        true => Some(Verdict::Incomplete),
        false => Some(Verdict::from_totals(&parse_totals(line)?)),
    }
}

/// Returns the counts in the last line of a run that reached its end. The alternate form
/// does not have that of rows skipped.
pub fn parse_totals(line: &str) -> Option<Totals> {
    let numbers = line.split(|c: char| !c.is_ascii_digit());
    let numbers = numbers.filter(|digits| !digits.is_empty());
    let numbers: Vec<u32> = numbers.map(|it| it.parse().ok()).collect::<Option<_>>()?;
    let &[
        passed,
        skipped,
        failed,
        samples,
        rejected,
        ref rows @ ..,
        lost,
    ] = &*numbers
    else {
        return None;
    };
    let totals = Totals {
        passed,
        skipped,
        failed,
        samples: samples.into(),
        rejected: rejected.into(),
        rows_skipped: rows.first().copied().unwrap_or(0).into(),
        lost,
        ..Totals::default()
    };
    let own = ClosingLine::Ended(&totals);
    let is_own = line == own.to_string() || line == format!("{own:#}");
    is_own.then_some(totals)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn good() -> Totals {
        let mut totals = Totals::default();
        (totals.passed, totals.samples) = (6, 960);
        totals
    }

    type Edit = fn(&mut Totals);

    #[test]
    fn what_passes() {
        let rows: [(Edit, Verdict); 9] = [
            (|_| (), Verdict::Pass),
            (|t| (t.passed, t.skipped) = (1, 5), Verdict::Pass),
            (|t| (t.caller_side, t.rejected) = (6, 3), Verdict::Pass),
            (|t| t.rows_skipped = 7, Verdict::Pass),
            (|t| t.failed = 1, Verdict::Fail),
            (|t| t.lost = 1, Verdict::Fail),
            (|t| (t.passed, t.skipped) = (0, 6), Verdict::Fail),
            (|t| t.samples = 0, Verdict::Fail),
            (|t| *t = Totals::default(), Verdict::Fail),
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
        (ones.samples, ones.rows_skipped, ones.lost) = (1, 1, 1);
        for (code, line, expected) in [
            (
                1,
                ClosingLine::Ended(&ones),
                "FAIL (6 passed, 0 skipped, 0 failed; 1 sample, 0 not counted, 1 row skipped, 1 CPU lost)",
            ),
            (
                0,
                ClosingLine::Ended(&good()),
                "PASS (6 passed, 0 skipped, 0 failed; 960 samples, 0 not counted, 0 rows skipped, 0 CPUs lost)",
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
        let short = format!("{:#}", ClosingLine::Ended(&good()));
        assert_eq!(short, line.replace(", 0 rows skipped", ""));
        assert_eq!(parse_line(short.as_bytes()), Some(Verdict::Pass));
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
