//! Converts values that are known to be convertible to JSON.

use alloc::string::String;

use serde::Serialize;

/// Returns `value` as JSON. `value` contains no fractions and no maps.
pub(crate) fn to_json(value: &impl Serialize) -> String {
    match serde_json::to_string(value) {
        Ok(json) => json,
        // `expect` would format the error, which would add 4 KB to the payload.
        Err(_) => unreachable!("only fractions and maps cannot be converted to JSON"),
    }
}
