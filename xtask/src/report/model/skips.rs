//! What of a run was skipped: scenarios, and rows of those that were not.

use psci_bench::plan::{Method, ScenarioId};

use super::results::{Row, Status, Test, Why};
use super::run::Run;

/// The most CPUs that are named of one reason.
const CPUS_MAX: usize = 8;

impl Run {
    /// What was skipped, as a sentence that `--deny-skipped` ends with; None
    /// where nothing was.
    #[must_use]
    pub fn denied(&self) -> Option<String> {
        let all: Vec<String> = self.tests.iter().flat_map(|it| self.skips(it)).collect();
        (!all.is_empty())
            .then(|| format!("skipped, which --deny-skipped forbids: {}", all.join("; ")))
    }

    /// The skips of a scenario: itself, or its rows by their reasons.
    fn skips(&self, test: &Test) -> Vec<String> {
        let mut name = test.scenario.word().to_owned();
        let is_suite = test.scenario.known().is_some_and(ScenarioId::is_suite);
        if is_suite && test.method.is(Method::Warm) {
            name.push_str(", method warm");
        }
        let mut all = Vec::new();
        if test.status == Status::Skipped {
            let why = test.why.iter().map(|why| format!(": {why}"));
            all.push(format!("{name}{}", why.collect::<String>()));
        }
        let rows = self.skipped_rows(test).into_iter();
        all.extend(rows.map(|(cpus, why)| format!("{name}, {cpus}: {why}")));
        all
    }

    /// The skipped rows of a scenario: the CPUs that share a reason, and it.
    #[must_use]
    pub fn skipped_rows<'t>(&self, test: &'t Test) -> Vec<(String, &'t Why)> {
        let mut groups: Vec<(&Why, Vec<&Row>)> = Vec::new();
        for row in &test.rows {
            let Some(why) = &row.skipped else { continue };
            match groups.iter_mut().find(|group| group.0 == why) {
                Some(group) => group.1.push(row),
                None => groups.push((why, vec![row])),
            }
        }
        let named = groups.into_iter().map(|(why, rows)| {
            let labels = rows.iter().take(CPUS_MAX).map(|row| self.label(row.cpu));
            let mut cpus = format!("CPU {}", labels.collect::<Vec<_>>().join(", "));
            if let Some(more) = rows.len().checked_sub(CPUS_MAX).filter(|it| *it > 0) {
                cpus.push_str(&format!(" and {more} more"));
            }
            (cpus, why)
        });
        named.collect()
    }
}
