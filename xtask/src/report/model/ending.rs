//! How a run ended: by its records where they are whole, as they have
//! checksums and the last line has none.

use psci_bench::model::new::Totals;
use psci_bench::model::{ClosingLine, Verdict};
use psci_bench::record::line::FORMAT;

use super::closing::ByRecords;
use super::integrity::Integrity;
use super::results::{Status, Test};
use super::run::Run;
use crate::setup::plural::many;

impl Run {
    /// How the run ended; None where that can not be told.
    #[must_use]
    pub fn verdict(&self) -> Option<Verdict> {
        let said = self.closing.as_ref().map(|it| it.verdict);
        match (self.is_ended(), self.by_records.as_ref()) {
            (true, Some(by_records)) => Some(by_records.verdict),
            _ => said,
        }
    }

    /// The last line, as it came or as the records have it, and what it is
    /// worth.
    #[must_use]
    pub fn verdict_said(&self) -> String {
        let records = self.by_records.as_ref().filter(|_| self.is_ended());
        match (&self.closing, records) {
            (Some(closing), Some(records)) if records.is_said_by(&closing.line) => {
                closing.line.clone()
            }
            (_, Some(records)) => format!("{}, by the records", records.shown()),
            (Some(closing), None) if self.is_ended() => {
                format!("{} (not verified)", closing.line)
            }
            (Some(closing), None) => closing.line.clone(),
            (None, None) if self.integrity.records.is_none() && self.integrity.farewell => {
                "none, as of TFTF; the suite came to its end".to_owned()
            }
            (None, None) => match &self.broken_closing {
                Some(line) => format!("none: the last line is damaged: '{line}'"),
                None => "none: the log has no last line".to_owned(),
            },
        }
    }

    /// What is wrong with the last line, where the records are whole.
    fn closing_doubt(&self) -> Option<String> {
        let records = self.by_records.as_ref().filter(|_| self.is_ended())?;
        match (&self.closing, &self.broken_closing) {
            (Some(closing), _) if records.is_said_by(&closing.line) => None,
            (Some(closing), _) => Some(format!(
                "the last line, which has no checksum, contradicts the records: it is '{}', and \
                 they make it '{}'",
                closing.line,
                records.shown()
            )),
            (None, Some(line)) => Some(format!(
                "the last line is damaged ('{line}'): the verdict is that of the records"
            )),
            (None, None) => {
                Some("there is no last line: the verdict is that of the records".to_owned())
            }
        }
    }

    /// What to know of the run as it came, besides what it lacks.
    #[must_use]
    pub fn doubts(&self) -> Vec<String> {
        let mut all: Vec<String> = self.closing_doubt().into_iter().collect();
        let Integrity {
            records,
            rt_instr_repeated: repeated,
            rt_instr_ambiguous: ambiguous,
            ..
        } = &self.integrity;
        let format = records.as_ref().and_then(|it| it.format);
        if let Some(format) = format.filter(|it| *it != u64::from(FORMAT)) {
            all.push(format!(
                "the records are of format {format}, and this version knows {FORMAT}: what they \
                 say may mean something else"
            ));
        }
        let say = |count: u32| {
            let lines = many(count as usize, "RT_INSTR line");
            format!("{lines} {}", if count == 1 { "says" } else { "say" })
        };
        if *repeated > 0 {
            all.push(format!(
                "{} again what one before does: counted once",
                say(*repeated)
            ));
        }
        if *ambiguous > 0 {
            all.push(format!(
                "{} something else of a CPU than one before does: neither is taken",
                say(*ambiguous)
            ));
        }
        all
    }

    /// Whether the log has the run to its end: its records are printed at the
    /// end, and the last line behind them. Only a line that says so itself
    /// tells of a run that ended otherwise.
    fn is_ended(&self) -> bool {
        let is_whole = self.integrity.is_whole();
        match (&self.closing, &self.broken_closing) {
            (Some(closing), _) => matches!(closing.verdict, Verdict::Pass | Verdict::Fail),
            (None, Some(line)) => is_whole && !line.contains("COMPL"),
            (None, None) => is_whole || self.integrity.records.is_none() && self.integrity.farewell,
        }
    }

    /// Whether the run is there to its end: all records, and no last line that
    /// says that it did not reach it. A TFTF log is complete at its farewell,
    /// and published tables are by themselves.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        let all = self.integrity.records.is_none() || self.integrity.is_whole();
        self.integrity.tables || self.is_ended() && all
    }

    /// What an incomplete run ends with, and what to do.
    #[must_use]
    pub fn end_lacks(&self) -> String {
        let is_tftf = self.version.is_none() && self.integrity.records.is_none();
        match (&self.closing, &self.broken_closing) {
            (Some(closing), _) => format!("it ends with '{}'", closing.line),
            (None, Some(line)) => format!("the last line is damaged: '{line}'"),
            (None, None) if is_tftf => {
                "it does not end with 'NOTICE:  Exiting tests.': log until TFTF says that".into()
            }
            (None, None) => "no last line: log until the board says its verdict".into(),
        }
    }
}

impl ByRecords {
    /// What the records make the last line; None where they are not whole, or
    /// have a result that is not known here.
    pub(in crate::report) fn of(run: &Run) -> Option<Self> {
        if !run.integrity.is_whole() || run.tests.is_empty() {
            return None;
        }
        let mut totals = Totals::default();
        // Rows tell all samples, but of what is no scenario of TFTF's.
        let mut is_all = true;
        for (place, test) in run.tests.iter().enumerate() {
            // A scenario counts once over all placements of its helper, and is
            // failed where one of them is.
            let same = |it: &&Test| (&it.scenario, &it.method) == (&test.scenario, &test.method);
            let mut group = run.tests.iter().filter(same);
            let is_first = !run.tests.iter().take(place).any(|it| same(&it));
            let failed = group.any(|it| it.status == Status::Failed);
            match test.status {
                Status::Crashed | Status::Unknown => return None,
                _ if !is_first => {}
                _ if failed => totals.failed += 1,
                Status::Skipped => totals.skipped += 1,
                _ => totals.passed += 1,
            }
            is_all &= test.status == Status::Skipped || !test.rows.is_empty();
            is_all &= test.rows.iter().all(|row| row.valid.is_some());
            let sum = |of: fn(&super::results::Row) -> Option<u32>| -> u64 {
                let each = test.rows.iter().filter_map(of);
                each.map(u64::from).sum()
            };
            let skipped = test.rows.iter().filter(|row| row.skipped.is_some());
            totals.rows_skipped += skipped.count() as u64;
            totals.samples += sum(|row| row.valid);
            totals.rejected += sum(|row| row.rejected);
            let lost = test.rows.iter().filter(|row| row.lost.is_some()).count();
            totals.lost = totals.lost.max(u32::try_from(lost).unwrap_or(u32::MAX));
        }
        if !is_all {
            totals.samples = totals.samples.max(u64::from(totals.passed));
        }
        let line = ClosingLine::Ended(&totals);
        Some(Self {
            verdict: line.verdict(),
            line: line.to_string(),
            short: format!("{line:#}"),
            is_all,
        })
    }

    fn shown(&self) -> String {
        match self.line.split_once(';').filter(|_| !self.is_all) {
            Some((scenarios, _)) => format!("{scenarios})"),
            None => self.line.clone(),
        }
    }

    fn is_said_by(&self, line: &str) -> bool {
        let counts = |line: &str| match (self.is_all, line.split_once(';')) {
            (false, Some((scenarios, _))) => scenarios.to_owned(),
            _ => line.to_owned(),
        };
        let said = counts(line.trim_end());
        counts(&self.line) == said || counts(&self.short) == said
    }
}
