//! A job of a lab engine, and its results.

use std::collections::BTreeMap;

/// How a test case ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ending {
    /// As it should.
    Passed,
    /// It was not run.
    Skipped,
    /// The engine could not tell.
    Unknown,
    /// Not as it should.
    Failed,
}

impl Ending {
    /// In a word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Skipped => "skipped",
            Self::Unknown => "unknown",
            Self::Failed => "failed",
        }
    }
}

/// What the results of a job say together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Test cases by name. Of one that is there twice, the worse counts.
    pub cases: BTreeMap<String, Ending>,
    /// The measurements that the engine has kept, by name, such as
    /// `wakeup/cpu_susp_serial_1_0`.
    pub(super) measured: BTreeMap<String, Vec<f64>>,
    /// Why the job itself failed, if it did; empty where the engine does not say.
    pub failure: Option<String>,
    /// What else says that something failed.
    pub faults: Vec<String>,
    /// What is not there that has to be.
    pub lacks: Vec<String>,
    /// Whether the engine has said that the job is over.
    pub ended: bool,
}

impl Results {
    pub(super) fn add(&mut self, name: String, ending: Ending) {
        let known = self.cases.entry(name).or_insert(ending);
        *known = ending.max(*known);
    }

    /// Adds what another file of the job says. Both may say the same, as a log
    /// and the list of its results do: whichever comes first, it counts once.
    pub(super) fn merge(&mut self, other: Self) {
        for (name, ending) in other.cases {
            self.add(name, ending);
        }
        for (name, values) in other.measured {
            let known = self.measured.entry(name).or_default();
            if values.len() > known.len() {
                *known = values;
            }
        }
        // One that tells why comes before one that does not.
        let is_said = |it: &Option<String>| it.as_ref().is_some_and(|why| !why.is_empty());
        if self.failure.is_none() || is_said(&other.failure) && !is_said(&self.failure) {
            self.failure = other.failure;
        }
        self.faults.extend(other.faults);
        self.lacks.extend(other.lacks);
        self.ended |= other.ended;
    }

    /// How many test cases ended so.
    pub fn count(&self, ending: Ending) -> usize {
        self.cases.values().filter(|it| **it == ending).count()
    }

    /// How many measurements the engine has kept.
    pub fn measurements(&self) -> usize {
        self.measured.values().map(Vec::len).sum()
    }
}

/// A job, or a file of one.
#[derive(Clone, Debug)]
pub struct Job {
    /// Its folder or file.
    pub name: String,
    /// The engine, where a cell says it.
    pub engine: Option<String>,
    /// What the cell calls the board.
    pub board: Option<String>,
    /// What the cell calls the firmware.
    pub firmware: Option<String>,
    /// On how many CPUs the cell runs.
    pub cpus: Option<u64>,
    /// What the engine says; None where it has said nothing.
    pub results: Option<Results>,
    /// Which of the runs that were read are its own.
    pub runs: std::ops::Range<usize>,
    /// What is not there that has to be.
    pub lacks: Vec<String>,
    /// What to know of it besides.
    pub notes: Vec<String>,
    /// Whether the job fails where its runs have skipped something.
    pub deny_skipped: bool,
}
