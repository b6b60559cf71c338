//! A run's last line.

use psci_bench::model::{ClosingLine, End, Totals, Verdict};

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
        if !self.is_reached() {
            return None;
        }
        let numbers = self.line.split(|c: char| !c.is_ascii_digit());
        let numbers = numbers.filter(|digits| !digits.is_empty());
        let numbers: Vec<u32> = numbers.map(str::parse).collect::<Result<_, _>>().ok()?;
        let &[
            passed,
            skipped,
            failed,
            samples,
            rejected,
            ref rows @ ..,
            lost,
        ] = numbers.as_slice()
        else {
            return None;
        };
        let rows_skipped = rows.first().copied().unwrap_or(0).into();
        let (samples, rejected) = (samples.into(), rejected.into());
        let rest = Totals::default();
        Some(Totals {
            passed,
            skipped,
            failed,
            samples,
            rejected,
            rows_skipped,
            lost,
            ..rest
        })
    }

    /// Returns true if verdict and counts do not contradict each other.
    pub(super) fn is_consistent(&self) -> bool {
        let verdict = self.totals().map(|it| Verdict::from_totals(&it));
        !self.is_reached() || verdict == Some(self.verdict)
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
