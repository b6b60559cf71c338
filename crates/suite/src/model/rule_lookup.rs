//! Finds the rule that a record names.
//!
//! Like `plan/scenario_id.rs`, this file imports from a folder that comes after its own: records
//! name rules, and the list of rules leads to the code that verifies them.

use alloc::string::String;

use serde::{Deserialize, Deserializer, de};

use super::rule::Rule;
use crate::scenarios::rules;

impl Rule {
    /// Returns the rule with this key.
    pub fn from_key(key: &str) -> Option<&'static Self> {
        rules().find(|rule| rule.key == key)
    }

    /// Returns the rule with this key.
    ///
    /// # Panics
    /// Panics if no rule has this key.
    pub fn named(key: &str) -> &'static Self {
        Self::from_key(key).unwrap_or_else(|| panic!("no rule has the key \"{key}\""))
    }
}

impl<'de> Deserialize<'de> for &'static Rule {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let key = String::deserialize(from)?;
        Rule::from_key(&key)
            .ok_or_else(|| de::Error::custom(format_args!("unknown rule \"{key}\"")))
    }
}
