//! A run's last line.

use run::model::{ClosingLine, End, Totals, Verdict, parse_totals};

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
        parse_totals(self.line.trim_end())
    }

    /// Returns true if the run was not cut short.
    pub(super) fn is_reached(&self) -> bool {
        matches!(self.verdict, Verdict::Pass | Verdict::Fail)
    }

    /// Returns true if this is the last line of a run with this `end` record: also
    /// one without the number of rows skipped, as earlier versions have it.
    pub(super) fn is_of(&self, end: &End) -> bool {
        let line = ClosingLine::Ended(&end.totals);
        let is = self.line.trim_end();
        is == line.to_string() || is == format!("{line:#}")
    }
}
