//! PSCI's rules. Each rule is a constant next to the code that checks it, in `scenarios/fitness`.

use core::fmt;

use serde::{Serialize, Serializer};

/// A rule: what the specification requires of a function in a particular situation.
#[derive(Clone, Copy)]
pub struct Rule {
    /// The keyword in records.
    pub key: &'static str,
    /// A short description of what is checked, for a table row.
    pub title: &'static str,
    /// The return values that the specification permits; None if the check is not about the return
    /// value.
    pub permitted: Option<&'static str>,
    /// What the specification requires, as a sentence.
    pub statement: &'static str,
    /// The section of DEN0022F; None if it is the function's own section.
    pub section: Option<&'static str>,
    /// True if [`Check::value`](super::Check::value) is a `power_state`.
    pub is_of_state: bool,
}

impl Rule {
    /// A function is not called; a check only records whether it is listed.
    pub const LISTED: &Self = &Self {
        key: "listed",
        title: "not called",
        statement: "Every implementation provides the mandatory functions, and lists them.",
        section: Some("5.1"),
        ..Self::NONE
    };

    /// The defaults for a rule.
    pub(crate) const NONE: Self = Self {
        key: "",
        title: "",
        permitted: None,
        statement: "",
        section: None,
        is_of_state: false,
    };
}

impl PartialEq for Rule {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Rule {}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.key)
    }
}

impl Serialize for Rule {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.key)
    }
}
