//! The keywords that records use for skip and failure reasons.

use itertools::Itertools as _;
use serde::Serialize;
use serde_json::Value;

/// Returns the keyword for a reason: `not-tried`.
pub fn reason_word(reason: &impl Serialize) -> String {
    let text = reason_text(reason);
    text.split(": ")
        .next()
        .expect("split returns at least one part")
        .to_owned()
}

/// Returns a reason with its details: `not-tried: mpidr 0x1, power_state 5`.
pub fn reason_text(reason: &impl Serialize) -> String {
    match serde_json::to_value(reason) {
        Ok(Value::Object(reason)) => {
            let named = |(word, details)| format!("{word}: {}", details_text(details));
            reason.iter().next().map_or_else(String::new, named)
        }
        Ok(word) => details_text(&word),
        Err(_) => String::new(),
    }
}

fn details_text(details: &Value) -> String {
    match details {
        Value::String(word) => word.clone(),
        Value::Object(fields) => {
            let named = |(name, value)| format!("{name} {}", details_text(value));
            fields.iter().map(named).join(", ")
        }
        other => other.to_string(),
    }
}
