//! The report data from which all formats are generated.

use anyhow::{Result, bail};

use crate::analysis::compare::Comparison;
use crate::analysis::history::History;
use crate::analysis::idle_audit::{IdleAudit, UnauditedTree};
use crate::log::LoggedRun;

/// All the data that a report presents.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The runs, in input order.
    pub runs: Vec<LoggedRun>,
    /// The comparison of each run with the baseline, if one was given.
    pub comparisons: Vec<Comparison>,
    /// The board's history across all runs (one per release), if requested.
    pub history: Option<History>,
    /// Audits of declared idle states, if requested.
    pub idle_audits: Vec<IdleAudit>,
    /// The trees without an audit, if several trees were to be audited.
    pub unaudited_trees: Vec<UnauditedTree>,
    /// The source of the audited tree, if it is to be changed.
    pub dts: Option<DtsSource>,
}

/// A device tree source or a part of one.
#[derive(Clone, Debug)]
pub struct DtsSource {
    /// The path for a diff.
    pub name: String,
    /// The contents.
    pub text: String,
}

impl From<Vec<LoggedRun>> for Report {
    fn from(runs: Vec<LoggedRun>) -> Self {
        Self {
            runs,
            ..Self::default()
        }
    }
}

impl Report {
    /// Returns the trees that could not be audited, with the reasons.
    pub fn refused_trees(&self) -> impl Iterator<Item = (&UnauditedTree, &str)> {
        let trees = self.unaudited_trees.iter();
        trees.filter_map(|tree| Some((tree, tree.refusal()?)))
    }

    /// Returns true if the report is about declared idle states.
    pub(super) fn is_idle_audit(&self) -> bool {
        !self.idle_audits.is_empty() || !self.unaudited_trees.is_empty()
    }

    /// Returns the audit of idle states if there is only one tree.
    pub(super) fn only_idle_audit(&self) -> Option<&IdleAudit> {
        match (self.idle_audits.as_slice(), self.unaudited_trees.as_slice()) {
            ([audit], []) => Some(audit),
            _ => None,
        }
    }

    /// Returns the only run, for a `format` that is limited to one.
    pub(super) fn only_run(&self, format: &str) -> Result<&LoggedRun> {
        let [logged] = self.runs.as_slice() else {
            let count = self.runs.len();
            bail!("{format} takes one run, but there are {count}; choose one with --run N");
        };
        Ok(logged)
    }
}
