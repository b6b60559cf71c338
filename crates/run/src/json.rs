//! Infallible conversion of values to JSON.

use alloc::string::String;

use serde::Serialize;

/// Returns `value` as JSON. `value` must not contain floats or maps.
pub(crate) fn to_json(value: &impl Serialize) -> String {
    match serde_json::to_string(value) {
        Ok(json) => json,
        // `expect` would format the error, which would add 4 KB to the payload.
        Err(_) => unreachable!("a value without floats or maps can always be converted to JSON"),
    }
}
