//! The words of records for the reasons of skips and failures.

use serde::Serialize;
use serde_json::Value;

/// Returns the word of a reason: `not-tried`.
pub fn reason_word(reason: &impl Serialize) -> String {
    let text = reason_text(reason);
    text.split_once(": ")
        .map_or(text.as_str(), |it| it.0)
        .to_owned()
}

/// Returns a reason with its details: `not-tried: mpidr 0x1, power_state 5`.
pub fn reason_text(reason: &impl Serialize) -> String {
    match serde_json::to_value(reason) {
        Ok(Value::Object(reason)) => {
            let named = |(word, details)| format!("{word}: {}", details_text(details));
            reason.iter().next().map(named).unwrap_or_default()
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
            let all: Vec<String> = fields.iter().map(named).collect();
            all.join(", ")
        }
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use psci_bench::measure::Fault;
    use psci_bench::model::{Failure, Skip};

    use super::*;

    #[test]
    fn reasons_have_their_details() {
        let (cpu, fault) = (1, Fault::Late(255));
        let late = Failure::Timer { cpu, fault };
        assert_eq!(reason_text(&late), "timer: cpu 1, fault late 255");
        assert_eq!(reason_word(&late), "timer");
        assert_eq!(reason_text(&Skip::NoIdleState), "no-idle-state");
    }
}
