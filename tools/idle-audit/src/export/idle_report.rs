//! An audit's results, from which all formats are generated.

use report::log::LoggedRun;

use crate::audit::{IdleAudit, UnauditedTree};

/// The results of an audit.
#[derive(Clone, Debug, Default)]
pub struct IdleReport {
    /// The audits, one for each tree.
    pub audits: Vec<IdleAudit>,
    /// The trees without an audit, if several trees were to be audited.
    pub unaudited_trees: Vec<UnauditedTree>,
    /// The source of the audited tree, if it is to be changed.
    pub dts: Option<DtsSource>,
    /// The measured runs that the states were compared with.
    pub runs: Vec<LoggedRun>,
}

/// A device tree source or a part of one.
#[derive(Clone, Debug)]
pub struct DtsSource {
    /// The path for a diff.
    pub name: String,
    /// The contents.
    pub text: String,
}

impl IdleReport {
    /// Returns the trees that could not be audited, with the reasons.
    pub fn refused_trees(&self) -> impl Iterator<Item = (&UnauditedTree, &str)> {
        let trees = self.unaudited_trees.iter();
        trees.filter_map(|tree| Some((tree, tree.refusal()?)))
    }

    /// Returns the audit if there is only one tree.
    pub(super) fn only_audit(&self) -> Option<&IdleAudit> {
        match (self.audits.as_slice(), self.unaudited_trees.as_slice()) {
            ([audit], []) => Some(audit),
            _ => None,
        }
    }
}
