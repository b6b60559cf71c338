//! A run's end: its last line, and the `end` record, which has a checksum.

use psci_bench::model::{ClosingLine, Verdict};
use psci_bench::model::{End, Totals};

use super::integrity::Integrity;

/// The last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closing {
    /// The verdict in it.
    pub verdict: Verdict,
    /// The line itself.
    pub line: String,
}

impl Closing {
    /// Returns the counts of a line that says PASS or FAIL.
    pub fn totals(&self) -> Option<Totals> {
        if !matches!(self.verdict, Verdict::Pass | Verdict::Fail) {
            return None;
        }
        let numbers = self.line.split(|c: char| !c.is_ascii_digit());
        let numbers = numbers.filter(|digits| !digits.is_empty());
        let numbers: Vec<u32> = numbers.map(str::parse).collect::<Result<_, _>>().ok()?;
        let &[passed, skipped, failed, samples, rejected, .., lost] = numbers.as_slice() else {
            return None;
        };
        Some(Totals {
            passed,
            skipped,
            failed,
            samples: samples.into(),
            rejected: rejected.into(),
            lost,
            ..Totals::default()
        })
    }
}

/// The parts of a log that tell a run's end.
pub(super) struct Ending<'r> {
    pub(super) closing: Option<&'r Closing>,
    /// A line that is a damaged last line.
    pub(super) broken: Option<&'r str>,
    pub(super) end: Option<&'r End>,
    pub(super) integrity: &'r Integrity,
}

impl<'r> Ending<'r> {
    /// Returns the `end` record of a run whose last line does not contradict that
    /// it was reached: the payload can stop between the two.
    fn end(&self) -> Option<&'r End> {
        self.end.filter(|_| self.is_reached())
    }

    /// Returns true if the run was not cut short. A run ends otherwise only if its
    /// last line says so.
    pub(super) fn is_reached(&self) -> bool {
        match (self.closing, self.broken) {
            (Some(closing), _) => matches!(closing.verdict, Verdict::Pass | Verdict::Fail),
            (None, Some(line)) => self.end.is_some() && !line.contains("COMPL"),
            (None, None) => self.end.is_some() || self.is_left(),
        }
    }

    /// Returns true for a log of TFTF's that comes to its end.
    fn is_left(&self) -> bool {
        self.integrity.records.is_none() && self.integrity.farewell
    }

    /// Returns the verdict: by the `end` record, else by the last line.
    pub(super) fn verdict(&self) -> Option<Verdict> {
        let by_records = self.end().map(|end| end.verdict);
        by_records.or(self.closing.map(|closing| closing.verdict))
    }

    /// Returns the last line, as it came or by the `end` record, and its worth.
    pub(super) fn text(&self) -> String {
        match (self.closing, self.end()) {
            (Some(closing), Some(end)) if is_line_of(end, closing) => closing.line.clone(),
            (_, Some(end)) => format!("{}, by the records", line_of(end)),
            (Some(closing), None) if self.is_reached() => {
                format!("{} (not verified)", closing.line)
            }
            (Some(closing), None) => closing.line.clone(),
            (None, None) if self.is_left() => {
                "none, as of TFTF; the suite came to its end".to_owned()
            }
            (None, None) => match self.broken {
                Some(line) => format!("none: the last line is damaged: '{line}'"),
                None => "none: the log has no last line".to_owned(),
            },
        }
    }

    /// Returns what is wrong with the last line, if the `end` record is there.
    pub(super) fn doubt(&self) -> Option<String> {
        let end = self.end()?;
        match (self.closing, self.broken) {
            (Some(closing), _) if is_line_of(end, closing) => None,
            (Some(closing), _) => Some(format!(
                "the last line, which has no checksum, contradicts the records: it is '{}', and \
                 they make it '{}'",
                closing.line,
                line_of(end)
            )),
            (None, Some(line)) => Some(format!(
                "the last line is damaged ('{line}'): the verdict is that of the records"
            )),
            (None, None) => {
                Some("there is no last line: the verdict is that of the records".to_owned())
            }
        }
    }

    /// Returns the end of an incomplete run, and what to do about it.
    pub(super) fn lack(&self, is_tftf: bool) -> String {
        match (self.closing, self.broken) {
            (Some(closing), _) => format!("it ends with '{}'", closing.line),
            (None, Some(line)) => format!("the last line is damaged: '{line}'"),
            (None, None) if is_tftf => {
                "it does not end with 'NOTICE:  Exiting tests.': log until TFTF says that".into()
            }
            (None, None) => "no last line: log until the board says its verdict".into(),
        }
    }
}

/// Returns the last line of a run with this `end` record.
fn line_of(end: &End) -> String {
    ClosingLine::Ended(&end.totals).to_string()
}

/// Returns true if `closing` is the last line of a run with this `end` record: also
/// one without the number of rows skipped, as earlier versions have it.
fn is_line_of(end: &End, closing: &Closing) -> bool {
    let line = ClosingLine::Ended(&end.totals);
    let is = closing.line.trim_end();
    is == line.to_string() || is == format!("{line:#}")
}
