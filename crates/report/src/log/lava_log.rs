//! LAVA's log: a sequence in YAML, an entry a line. `lava-run` writes entries without
//! the dash.

use serde::Deserialize;
use serde_json::Value;

/// An entry of the log.
#[derive(Debug, Deserialize)]
pub(crate) struct LavaEntry {
    #[serde(rename = "lvl")]
    pub(crate) level: String,
    #[serde(rename = "msg")]
    pub(crate) message: Value,
}

impl LavaEntry {
    /// Returns the text of an entry, in `line` or behind its dash, if it begins as one
    /// does.
    pub(super) fn text_in(line: &[u8]) -> Option<&[u8]> {
        let line = line.trim_ascii();
        let rest = line.strip_prefix(b"-").map(<[u8]>::trim_ascii_start);
        let entry = rest.filter(|rest| rest.starts_with(b"{"));
        entry.or(Some(line).filter(|line| line.starts_with(b"{\"dt\"")))
    }

    /// Parses the text of an entry.
    pub(crate) fn parse(text: &[u8]) -> Option<Self> {
        serde_saphyr::from_slice(text).ok()
    }

    /// Returns the text that the target sent; empty of another entry. LAVA writes a
    /// backslash in front of each quotation mark before it makes YAML of the text.
    pub(super) fn into_target_text(self) -> String {
        let mut levels = ["target", "feedback"].iter();
        let is_target = levels.any(|it| self.level.starts_with(it));
        match self.message {
            Value::String(text) if is_target => {
                let quotes = text.matches('"').count();
                match text.matches("\\\"").count() == quotes {
                    true => text.replace("\\\"", "\""),
                    false => text,
                }
            }
            _ => String::new(),
        }
    }
}
