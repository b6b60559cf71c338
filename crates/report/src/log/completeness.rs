//! Determines how complete a log is: whether it reaches the end of the run, and whether anything
//! was lost.

use std::slice;

use hardware::board::CpuIndex;
use hardware::text::plural::many;
use suite::model::{Cell, ClosingLine, End, Scenario, Status, Totals, Verdict};
use suite::record::FORMAT;

use super::format_5::READ_FORMATS;
use super::integrity::NAMED_MAX;
use super::logged_run::{Closing, LoggedRun};

impl LoggedRun {
    /// Returns the `end` record, unless the last line shows that the run was cut short, which can
    /// happen after the record is written.
    fn end(&self) -> Option<&End> {
        self.run.end.as_ref().filter(|_| self.is_reached())
    }

    /// Returns true if the run was not cut short. If there is an `end` record, only the last line
    /// can show that the run was cut short.
    fn is_reached(&self) -> bool {
        let has_end = self.run.end.is_some();
        match (&self.closing, &self.broken_closing) {
            (Some(closing), _) => closing.is_reached(),
            (None, Some(line)) => has_end && !self.is_closing_hidden && !line.contains("COMPL"),
            (None, None) => has_end || self.is_left(),
        }
    }

    /// Returns true for a TFTF log that extends to the end of the suite.
    fn is_left(&self) -> bool {
        self.header.version.is_none() && self.integrity.records.is_none() && self.integrity.farewell
    }

    /// Returns the verdict from the `end` record or, if there is none, from the last line.
    pub fn verdict(&self) -> Option<Verdict> {
        let by_records = self.end().map(|end_record| end_record.verdict);
        by_records.or(self
            .closing
            .as_ref()
            .map(|closing_line| closing_line.verdict))
    }

    /// Returns the last line, as received or rebuilt from the records, with a note on how reliable
    /// it is.
    pub fn verdict_text(&self) -> String {
        if self.why_no_run.is_some() {
            return "none: no run".to_owned();
        }
        match (&self.closing, self.end()) {
            (_, Some(end)) if !has_own_verdict(end) => {
                let line = ClosingLine::Ended(&end.totals);
                format!("{line} (contradicts the end record's verdict)")
            }
            (Some(closing), Some(end)) if closing.is_of(end) => closing.line.clone(),
            (_, Some(end)) => format!("{} (from the records)", ClosingLine::Ended(&end.totals)),
            (Some(closing), None) if closing.is_reached() => {
                format!("{} (not verified)", closing.line)
            }
            (Some(closing), None) => closing.line.clone(),
            (None, None) if self.is_left() => "none (TFTF); the suite ran to completion".to_owned(),
            (None, None) => format!("none: {}", self.lost_line()),
        }
    }

    /// Explains why the log has no valid last line.
    fn lost_line(&self) -> String {
        match &self.broken_closing {
            Some(line) if self.is_closing_hidden => {
                format!("the last line has other text before it: '{line}'")
            }
            Some(line) => format!("the last line is damaged: '{line}'"),
            None => "the last line is missing".to_owned(),
        }
    }

    /// Describes the problem, if any, with the last line of a log that has an `end` record.
    fn doubt_of_end(&self) -> Option<String> {
        let end = self.end()?;
        let problem = match &self.closing {
            Some(closing) if closing.is_of(end) => return None,
            Some(closing) => format!(
                "the last line, which has no checksum, contradicts the records: '{}'",
                closing.line
            ),
            None => self.lost_line(),
        };
        Some(format!("{problem}; the verdict is from the records"))
    }

    /// Returns reasons to doubt the parts of the run that were received.
    pub fn doubts(&self) -> Vec<String> {
        let about_end = self.doubt_of_end().into_iter();
        about_end.chain(self.integrity.doubts()).collect()
    }

    /// Returns true if the log contains the complete run with all records. A TFTF log is complete
    /// if it contains the suite's final message and all rows. Published tables are always complete.
    pub fn is_complete(&self) -> bool {
        self.lacks().is_empty()
    }

    /// Returns the missing parts of the log, with one clause for each.
    pub fn lacks(&self) -> Vec<String> {
        if let Some(why) = &self.why_no_run {
            return vec![why.clone()];
        }
        let mut clauses = self.integrity.shortfalls();
        if self.integrity.tables {
            return clauses;
        }
        clauses.extend(self.unread_format());
        let scenarios = self.run.scenarios.iter();
        let lost = scenarios.filter_map(|scenario| self.lost_of(scenario));
        clauses.extend(
            lost.take(NAMED_MAX)
                .map(|records| format!("{records} lost")),
        );
        clauses.extend(self.header_contradicts());
        clauses.extend((!self.is_reached()).then(|| self.end_lacks()));
        if self.run.scenarios.is_empty() {
            clauses.push("no scenarios".to_owned());
        }
        clauses.extend(self.integrity.contradictions.iter().cloned());
        if self.integrity.records.is_none() {
            clauses.extend(self.lines_lack());
        }
        clauses
    }

    /// Says so if the records have a format that this version does not read.
    fn unread_format(&self) -> Option<String> {
        let format = self.run.head.as_ref()?.format;
        (!READ_FORMATS.contains(&format)).then(|| {
            format!(
                "the records have format {format}, but this version reads format {FORMAT}: they \
                 may have a different meaning"
            )
        })
    }

    /// Returns a subject and a verb for a scenario's missing records, such as `2 records of X are`,
    /// or None if none are missing. The number of missing records is known only from the scenario's
    /// last record.
    pub fn lost_of(&self, scenario: &Scenario) -> Option<String> {
        let lost = scenario.lost_records;
        let name = scenario.id;
        if lost == 0 || self.integrity.records.is_none() {
            None
        } else if scenario.status == Status::Unknown {
            Some(format!("the last record of {name} is"))
        } else {
            let verb = if lost == 1 { "is" } else { "are" };
            Some(format!(
                "{} of {name} {verb}",
                many(lost as usize, "record")
            ))
        }
    }

    /// Describes the contradiction if the header, the records and the summary belong to different
    /// runs.
    fn header_contradicts(&self) -> Option<String> {
        let header = ("the header is", self.header.run);
        let records = ("the records are", self.run.id);
        let summary = ("the summary is", self.header.summary_run);
        let pairs = [(header, records), (summary, records), (summary, header)];
        pairs
            .into_iter()
            .find_map(|((one, one_id), (other, other_id))| {
                let one_id = one_id?;
                let other_id = other_id?;
                (one_id != other_id)
                    .then(|| format!("{one} from run {one_id}, but {other} from run {other_id}"))
            })
    }

    /// Describes a contradiction within the `end` record or, if no record is missing, between
    /// records, for example because two runs were pasted together.
    pub(super) fn records_contradict(&self) -> Option<String> {
        self.verdict_contradicts()
            .or_else(|| self.counts_contradict())
    }

    /// Describes the contradiction if the `end` record's verdict does not follow from its counts.
    fn verdict_contradicts(&self) -> Option<String> {
        let end = self
            .run
            .end
            .as_ref()
            .filter(|end_record| !has_own_verdict(end_record))?;
        Some(format!(
            "the end record's verdict contradicts its counts, '{}': the record was damaged before \
             its checksum was computed",
            ClosingLine::Ended(&end.totals)
        ))
    }

    /// If no record is missing, describes any contradiction between the `end` record's counts and
    /// the cells.
    fn counts_contradict(&self) -> Option<String> {
        let integrity = &self.integrity;
        let end = self.run.end.as_ref().filter(|_| integrity.is_whole())?;
        if integrity.guessed_cpus > 0 {
            let cpus = many(integrity.guessed_cpus as usize, "CPU");
            return Some(format!("rows for {cpus} that are not in any record"));
        }
        let mut received = Totals::default();
        for scenario in &self.run.scenarios {
            received.add(slice::from_ref(scenario));
        }
        let totals = &end.totals;
        let counts = [
            ("sample", totals.samples, received.samples),
            ("rejected attempt", totals.rejected, received.rejected),
            ("skipped row", totals.rows_skipped, received.rows_skipped),
        ];
        let (counted, found): (Vec<String>, Vec<String>) = counts
            .into_iter()
            .filter(|(_, counted_total, found_total)| counted_total != found_total)
            .map(|(noun, counted_total, found_total)| {
                (many(counted_total as usize, noun), found_total.to_string())
            })
            .unzip();
        (!counted.is_empty()).then(|| {
            format!(
                "the end record counts {}, but the cells have {}: the records are from several \
                 runs, or were damaged before their checksums were computed",
                counted.join(" and "),
                found.join(" and ")
            )
        })
    }

    /// Returns the missing parts of a log without records. Missing rows are detected from the CPUs
    /// of other scenarios, and missing scenarios from the counts in the last line or in the TFTF
    /// summary.
    fn lines_lack(&self) -> Vec<String> {
        let mut clauses = Vec::new();
        let damaged = self.integrity.rt_instr_wrong as usize;
        if damaged > 0 {
            clauses.push(many(damaged, "damaged RT_INSTR line"));
        }
        for scenario in &self.run.scenarios {
            if scenario.status == Status::Unknown {
                clauses.push(format!("the log does not show how {} ended", scenario.id));
            }
            clauses.extend(self.missing_rows(scenario));
        }
        let totals = self.closing.as_ref().and_then(Closing::totals);
        let lost = totals.map_or(0, |totals| totals.lost as usize);
        let logged = self.run.cpus.len();
        let listed = self.header.cpus.unwrap_or(0);
        if (1..listed.saturating_sub(lost)).contains(&logged) {
            clauses.push(format!(
                "rows for {}, but the header lists {}",
                many(logged, "CPU"),
                many(listed, "CPU")
            ));
        }
        let ends = self.count_ends();
        if totals.is_some_and(|totals| [totals.passed, totals.skipped, totals.failed] != ends) {
            let [passed, skipped, failed] = ends;
            clauses.push(format!(
                "the last line contradicts the scenarios: {passed} passed, {skipped} skipped, \
                 {failed} failed"
            ));
        }
        clauses
    }

    /// Describes the rows that are missing from a scenario in a log without records.
    fn missing_rows(&self, scenario: &Scenario) -> Option<String> {
        if matches!(scenario.status, Status::Skipped(_)) {
            return None;
        }
        let has_row = |cell: &Cell| cell.has_figures() || cell.skipped.is_some();
        let cpus = self.run.cpu_indices();
        let lost: Vec<CpuIndex> = cpus
            .filter(|cpu| !scenario.cell(*cpu).is_some_and(has_row))
            .collect();
        let id = scenario.id;
        if lost.len() == self.run.cpus.len() {
            Some(format!("no figure for {id}"))
        } else if lost.is_empty() {
            None
        } else {
            Some(format!("no row for {} in {id}", self.list_cpus(&lost)))
        }
    }

    /// Returns the number of scenarios that passed, were skipped, and failed.
    fn count_ends(&self) -> [u32; 3] {
        let mut ends = [0; 3];
        for scenario in &self.run.scenarios {
            match scenario.status {
                Status::Passed => ends[0] += 1,
                Status::Skipped(_) => ends[1] += 1,
                Status::Failed(_) | Status::Crashed => ends[2] += 1,
                Status::Unknown => {}
            }
        }
        ends
    }

    /// Describes how an incomplete run ends, and what to do about it.
    fn end_lacks(&self) -> String {
        let is_tftf = self.header.version.is_none() && self.integrity.records.is_none();
        match &self.closing {
            Some(closing) => format!("it ends with '{}'", closing.line),
            None if self.broken_closing.is_some() => self.lost_line(),
            None if is_tftf => {
                let end = "'NOTICE:  Exiting tests.': keep logging until TFTF prints that";
                format!("it does not end with {end}")
            }
            None => "no last line: keep logging until the board prints its verdict".into(),
        }
    }
}

/// Returns true if an `end` record has the verdict that follows from its counts.
fn has_own_verdict(end: &End) -> bool {
    end.verdict == Verdict::from_totals(&end.totals)
}

#[cfg(test)]
mod tests {
    use suite::model::{End, Verdict};
    use suite::plan::ScenarioId;
    use suite::record::MARK;

    use crate::log::tests::{read_one, sent, whole_log, with_records};

    type EndEdit = fn(&mut End);

    /// Records from two runs have valid checksums but contradict each other.
    #[test]
    fn records_that_contradict_each_other_are_incomplete() {
        let log = whole_log();
        let end = log
            .lines()
            .rfind(|line| line.starts_with(MARK))
            .expect("an end");
        let seq = end.split(' ').nth(2).expect("a sequence number");
        let edited_run = |edit: EndEdit| {
            let mut end = sent().end.expect("it ends");
            edit(&mut end);
            serde_json::json!({ "end": end }).to_string()
        };
        let end_edits: [(EndEdit, &str); 6] = [
            (|_| (), ""),
            (
                |end_record| end_record.totals.samples = 7,
                "counts 7 samples, but the cells have 36:",
            ),
            (
                |end_record| end_record.totals.rejected = 7,
                "counts 7 rejected attempts, but the cells have 0:",
            ),
            (
                |end_record| (end_record.totals.rejected, end_record.totals.rows_skipped) = (7, 1),
                "counts 7 rejected attempts and 1 skipped row, but the cells have 0 and 0:",
            ),
            (
                |end_record| end_record.verdict = Verdict::Fail,
                "verdict contradicts its counts, 'psci-bench: PASS (4 passed",
            ),
            (
                |end_record| end_record.totals.failed = 1,
                "verdict contradicts its counts, 'psci-bench: FAIL (4 passed",
            ),
        ];
        let fewer = "{\"cpus\":[0,[[\"0x0\",0,0,0]]]}".to_owned();
        let unnamed = "rows for 3 CPUs that are not in any record";
        let ends = end_edits.map(|(edit, part)| (seq, edited_run(edit), part));
        for (seq, json, part) in ends.into_iter().chain([("0003", fewer, unnamed)]) {
            let edits = [(seq, json.as_str())];
            let logged = read_one(with_records(&log, &edits));
            let lacks = logged.lacks().join("; ");
            assert_eq!(lacks.is_empty(), part.is_empty(), "{lacks}");
            assert!(lacks.contains(part), "{lacks}");
        }
    }

    /// A CPU without any lines is detected from the CPU count in the header.
    #[test]
    fn header_names_the_number_of_cpus() {
        let id = ScenarioId::PSCI_VERSION_PARALLEL;
        let rows = [0, 1].map(|cpu| format!("<RT_INSTR:{}\t0\t{cpu}\t9/>\n", id.tag()));
        let counts = "(1 passed, 0 skipped, 0 failed; 0 rows skipped";
        for (cpus, end, lack) in [
            (2, "psci-bench: PASS", ""),
            (
                3,
                "psci-bench: PASS",
                "rows for 2 CPUs, but the header lists 3 CPUs",
            ),
            (3, "psci-bench: FAIL", ""),
        ] {
            let lost = if end.ends_with("FAIL") {
                "1 CPU"
            } else {
                "0 CPUs"
            };
            let logged = read_one(format!(
                "  CPUs       : {cpus} in 1 cluster\n> Executing '{}'\n{}  TEST COMPLETE  Passed\n\
                 {end} {counts}, {lost} lost)\n",
                id.name(),
                rows.concat()
            ));
            assert_eq!(logged.lacks().join("; "), lack, "{cpus} {end}");
        }
    }
}
