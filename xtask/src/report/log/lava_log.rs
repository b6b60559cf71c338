//! LAVA's log: a sequence in YAML, an entry a line. `lava-run` writes entries without
//! the dash.

use serde::Deserialize;
use serde_json::Value;

/// An entry of the log.
#[derive(Debug, Deserialize)]
pub(in crate::report) struct LavaEntry {
    #[serde(rename = "lvl")]
    pub(in crate::report) level: String,
    #[serde(rename = "msg")]
    pub(in crate::report) message: Value,
}

impl LavaEntry {
    /// Returns the text of an entry, in `line` or behind its dash, if it begins as one
    /// does.
    pub(in crate::report) fn text_in(line: &[u8]) -> Option<&[u8]> {
        let line = line.trim_ascii();
        let rest = line.strip_prefix(b"-").map(<[u8]>::trim_ascii_start);
        rest.filter(|rest| rest.starts_with(b"{"))
            .or(Some(line).filter(|line| line.starts_with(b"{\"dt\"")))
    }

    /// Parses the text of an entry.
    pub(in crate::report) fn parse(text: &[u8]) -> Option<Self> {
        serde_saphyr::from_slice(text).ok()
    }

    /// Returns the text that the target sent; empty of another entry. LAVA writes a
    /// backslash in front of each quotation mark before it makes YAML of the text.
    pub(super) fn into_target_text(self) -> String {
        let is_target = ["target", "feedback"]
            .iter()
            .any(|it| self.level.starts_with(it));
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

#[cfg(test)]
mod tests {
    use crate::report::log::clean::Cleaner;

    #[test]
    fn entries_of_the_target_are_unquoted() {
        let entry = |rest: &str| format!(r#"- {{"dt": "2026-01-02T10:11:12.345678", {rest}}}"#);
        let target = |message: &str| entry(&format!(r#""lvl": "target", "msg": {message}"#));
        for (line, text) in [
            (
                target(r#""<RT_INSTR:x\t0\t1\t2/>""#),
                "<RT_INSTR:x\t0\t1\t2/>",
            ),
            (
                target(r#""say \"a\\b\" \e[0m\x41é\r""#),
                "say \"a\\b\" A\u{e9}",
            ),
            (
                target(r#""{\\\"a\": \\\"b\\\\\"\\\"}""#),
                r#"{\"a": \"b\\"\"}"#,
            ),
            (
                target(r#""{\\\"a\\\": \\\"b\\\\\"\\\"}""#),
                r#"{"a": "b\""}"#,
            ),
            (target("'it''s'"), "it's"),
            (target(r#""""#), ""),
            (target("{a: 1}"), ""),
            (entry(r#""lvl": "info", "msg": "@PB 0001""#), ""),
            (entry(r#""lvl": "feedback", "msg": "@PB 0001""#), "@PB 0001"),
            (target(r#""@PB\t0001""#)[2..].to_owned(), "@PB\t0001"),
            (
                "- {dt: 2026-01-02, lvl: target, msg: '10:11:12 @PB'}".to_owned(),
                "@PB",
            ),
        ] {
            let mut cleaner = Cleaner::default();
            let clean = String::from_utf8_lossy(cleaner.clean(line.as_bytes())).into_owned();
            assert_eq!(clean, text, "{line}");
        }
        for broken in ["- {", "- {\"lvl\": \"target\"}", &target("\"\\")] {
            let mut cleaner = Cleaner::default();
            assert_eq!(cleaner.clean(broken.as_bytes()), broken.as_bytes());
        }
    }
}
