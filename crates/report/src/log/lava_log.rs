//! A LAVA log: a YAML sequence with one entry per line. `lava-run` writes entries without the dash.

use serde::Deserialize;
use serde_json::Value;

/// What a line of a LAVA log contains: a message and its level.
#[derive(Debug, Deserialize)]
pub(super) struct LavaEntry {
    #[serde(rename = "lvl")]
    level: String,
    #[serde(rename = "msg")]
    message: Value,
}

impl LavaEntry {
    /// Returns an entry's text if `line` looks like an entry, with or without a leading dash.
    pub(super) fn text_in(line: &[u8]) -> Option<&[u8]> {
        let text = line.trim_ascii();
        let after_dash = text.strip_prefix(b"-").map(<[u8]>::trim_ascii_start);
        match after_dash {
            Some(entry) if entry.starts_with(b"{") => Some(entry),
            _ => text.starts_with(b"{\"dt\"").then_some(text),
        }
    }

    /// Parses an entry's text.
    pub(super) fn parse(text: &[u8]) -> Option<Self> {
        serde_saphyr::from_slice(text).ok()
    }

    /// Returns the text that the target sent, or an empty string for any other entry. LAVA escapes
    /// each quotation mark with a backslash before writing the text as YAML.
    pub(super) fn into_target_text(self) -> String {
        let is_target = self.level.starts_with("target") || self.level.starts_with("feedback");
        match self.message {
            Value::String(text) if is_target => {
                if text.matches("\\\"").count() == text.matches('"').count() {
                    text.replace("\\\"", "\"")
                } else {
                    text
                }
            }
            _ => String::new(),
        }
    }
}
