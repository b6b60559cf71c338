//! Removes LAVA YAML, escape sequences and control characters from a line. Lines are processed
//! separately, because a log may combine several sources.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::lava_log::LavaEntry;

/// Escape sequences (ECMA-48, section 5.4), control characters, concealed text and byte order
/// marks. If a sequence is unknown, only its ESC is removed, because text may follow.
static CONTROL: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?x-u)
        \x1b \[ 8 m [^\x1b]* \x1b \[ 0 m                  # concealed: Jenkins' notes
      | \x1b (?: \[ [\x20-\x3f]* [\x40-\x7e]            # CSI
               | [\]PX^_] [^\x07\x1b]* (?: \x07 | \x1b\\ )    # OSC, DCS, SOS, PM, APC
               | [()*+\#\x20] .
               | [\[\]78=>cDEHM] )?
        | [\x00\x07\x11\x13\x7f]
        | \xef\xbb\xbf";
    Regex::new(pattern).expect("a pattern")
});

/// Returns the line's text, which is empty if the target sent nothing.
pub(super) fn clean(line: &[u8]) -> Cow<'_, [u8]> {
    let mut text = Cow::Borrowed(line);
    if let Some(entry) = LavaEntry::text_in(line).and_then(LavaEntry::parse) {
        let target_text = entry.into_target_text();
        text = target_text.trim_ascii_end().as_bytes().to_vec().into();
    }
    if text.contains(&8) || CONTROL.is_match(&text) {
        let mut plain = Vec::new();
        for byte in CONTROL.replace_all(&text, &b""[..]).iter() {
            match byte {
                8 => drop(plain.pop()),
                byte => plain.push(*byte),
            }
        }
        text = plain.into();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(line: &str) -> String {
        String::from_utf8_lossy(&clean(line.as_bytes())).into_owned()
    }

    #[test]
    fn additions_of_terminals_are_removed() {
        for line in [
            "@PB",
            "\u{1b}[0;32m@PB\u{1b}[0m",
            "\u{1b}]0;title\u{7}@PB\u{1b}(B\u{1b}[K",
            "\u{1b}_bk;t=1700000000000\u{7}@PB",
            "\u{1b}[8mha:////4AAA+/==\u{1b}[0m@PB",
            "\u{feff}@PB",
            "\0@Px\u{8}B\u{11}\u{13}",
        ] {
            assert_eq!(cleaned(line), "@PB", "{line:?}");
        }
        for text in ["  TEST", "[CPU 1] is", "10:11:12 samples", "["] {
            assert_eq!(cleaned(text), text);
            assert_eq!(cleaned(&format!("{text}\u{1b}[")), text);
        }
    }

    #[test]
    fn entries_of_lavas_target_are_unquoted() {
        let entry = |fields: &str| format!(r#"- {{"dt": "2026-01-02T10:11:12.345678", {fields}}}"#);
        let target = |message: &str| entry(&format!(r#""lvl": "target", "msg": {message}"#));
        let feedback = entry(r#""lvl": "feedback", "msg": "@PB 0001""#);
        let escaped = target(r#""say \"a\\b\" \e[0m\x41é\r""#);
        let half = target(r#""{\\\"a\": \\\"b\\\\\"\\\"}""#);
        let twice = target(r#""{\\\"a\\\": \\\"b\\\\\"\\\"}""#);
        let flow = "- {dt: x, lvl: target, msg: '@PB'}".to_owned();
        for (line, text) in [
            (escaped, "say \"a\\b\" A\u{e9}"),
            (half, r#"{\"a": \"b\\"\"}"#),
            (twice, r#"{"a": "b\""}"#),
            (target("'it''s'"), "it's"),
            (target(r#""""#), ""),
            (target("{a: 1}"), ""),
            (entry(r#""lvl": "info", "msg": "@PB 0001""#), ""),
            (feedback, "@PB 0001"),
            (target(r#""@PB\t0001""#)[2..].to_owned(), "@PB\t0001"),
            (flow, "@PB"),
        ] {
            assert_eq!(cleaned(&line), text, "{line}");
        }
        for broken in ["- {", "- {\"lvl\": \"target\"}", &target("\"\\")] {
            assert_eq!(cleaned(broken), broken);
        }
    }
}
