//! Trees that cannot be audited, or that have nothing to audit.

/// A tree among several that has no audit.
#[derive(Clone, Debug)]
pub struct UnauditedTree {
    /// The file's path.
    pub source: String,
    /// Why there is no audit.
    pub why: Unaudited,
}

/// Why a tree has no audit.
#[derive(Clone, Debug)]
pub enum Unaudited {
    /// The tree declares no idle states, so there is nothing to audit.
    NoStates,
    /// The file cannot be read or audited, for this reason.
    Refused(String),
}

impl UnauditedTree {
    /// Returns the reason why the file cannot be audited; None if it has nothing to audit.
    pub fn refusal(&self) -> Option<&str> {
        match &self.why {
            Unaudited::NoStates => None,
            Unaudited::Refused(reason) => Some(reason),
        }
    }
}
