//! The results of a job, as reported by its lab engine.

use std::collections::BTreeMap;

use serde::Serialize;

/// How a test case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CaseStatus {
    Passed,
    /// Not run.
    Skipped,
    /// The engine itself reported `unknown`.
    Unknown,
    Failed,
}

impl CaseStatus {
    /// All statuses, in table order.
    pub(crate) const ALL: [Self; 4] = [Self::Passed, Self::Skipped, Self::Unknown, Self::Failed];
}

/// All of a job's results.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Results {
    /// Test cases by name. If a name occurs twice, the worse status is used.
    pub(crate) cases: BTreeMap<String, CaseStatus>,
    /// The measurements recorded by the engine, by name, such as `wakeup/cpu_susp_serial_1_0`.
    #[serde(skip)]
    pub(super) measured: BTreeMap<String, Vec<f64>>,
    /// The reason why the job itself failed, or an empty string if the engine reported none.
    pub(crate) failure: Option<String>,
    pub(crate) faults: Vec<String>,
    pub(crate) lacks: Vec<String>,
    /// True if the engine reported the end of the job.
    pub(crate) ended: bool,
}

impl Results {
    pub(super) fn add(&mut self, name: String, status: CaseStatus) {
        let known = self.cases.entry(name).or_insert(status);
        *known = status.max(*known);
    }

    /// Adds the results from another file of the job. A result that appears in both files (for
    /// example, in a log and in the list extracted from it) counts only once.
    pub(super) fn merge(&mut self, other: Self) {
        for (name, status) in other.cases {
            self.add(name, status);
        }
        for (name, values) in other.measured {
            let known = self.measured.entry(name).or_default();
            if values.len() > known.len() {
                *known = values;
            }
        }
        // A failure with a reason takes precedence over one without.
        let is_said = |it: &Option<String>| it.as_ref().is_some_and(|why| !why.is_empty());
        if self.failure.is_none() || is_said(&other.failure) && !is_said(&self.failure) {
            self.failure = other.failure;
        }
        self.faults.extend(other.faults);
        self.lacks.extend(other.lacks);
        self.ended |= other.ended;
    }

    pub(crate) fn count(&self, status: CaseStatus) -> usize {
        self.cases.values().filter(|it| **it == status).count()
    }

    pub(crate) fn measurements(&self) -> usize {
        self.measured.values().map(Vec::len).sum()
    }
}
