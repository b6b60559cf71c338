//! A run's last line.

use suite::model::{ClosingLine, End, Totals, Verdict, parse_totals};

/// A run's last line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Closing {
    /// The line's verdict.
    pub verdict: Verdict,
    /// The line itself.
    pub line: String,
}

impl Closing {
    /// Returns the counts from a PASS or FAIL line. Such a line does not include a sample count.
    pub fn totals(&self) -> Option<Totals> {
        parse_totals(self.line.trim_end())
    }

    /// Returns true if the run was not cut short.
    pub(super) fn is_reached(&self) -> bool {
        matches!(self.verdict, Verdict::Pass | Verdict::Fail)
    }

    /// Returns true if this is the last line of a run with this `end` record.
    pub(super) fn is_of(&self, end: &End) -> bool {
        self.line.trim_end() == ClosingLine::Ended(&end.totals).to_string()
    }
}
