//! Restores a line to what the UART sent by removing LAVA YAML, escape sequences, control
//! characters and timestamps. Lines are processed separately, because a log may combine several
//! sources.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::lava_log::LavaEntry;

/// Escape sequences (ECMA-48, section 5.4) and control characters. If a sequence is unknown, only
/// its ESC is removed, because text may follow.
static CONTROL: LazyLock<Regex> = LazyLock::new(|| {
    let pattern = r"(?x-u)
        \x1b (?: \[ [\x20-\x3f]* [\x40-\x7e]            # CSI
               | \] [^\x07\x1b]* (?: \x07 | \x1b\\ )    # OSC: a terminal's title
               | [()*+\#\x20] .
               | [\[\]78=>cDEHM] )?
        | [\x00\x07\x11\x13\x7f]";
    Regex::new(pattern).expect("a pattern")
});

/// Timestamps: `[...]` containing a time; `Jan  2 10:11:12`; `2026-01-02T10:11:12.345`, optionally
/// with a time zone or without the date; `1767348672.123456`.
static STAMPS: LazyLock<Regex> = LazyLock::new(|| {
    const NAME: &str =
        "Mon|Tue|Wed|Thu|Fri|Sat|Sun|Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec";
    let pattern = format!(
        r"(?x-u) ^ (?: \xef\xbb\xbf )? (?:
            \[ (?: {NAME} | [-0-9:.,TZ+/\x20] )* [0-9][:.] (?: {NAME} | [-0-9:.,TZ+/\x20] )* \] \x20?
          | (?: (?: {NAME} ) \x20 [0-9\x20]{{3}} | [0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}} [\x20T_] )?
            [0-9]{{2}}:[0-9]{{2}}:[0-9]{{2}} (?: [.,] [0-9]* )?
            (?: Z | [+-] [0-9]{{2}} :? [0-9]{{2}} )? (?: [>:|] \x20? | [\x20\t] )
          | [0-9]+ \. [0-9]{{3,}} (?: [\t:>] \x20? | \x20 )
        )*"
    );
    Regex::new(&pattern).expect("a pattern")
});

/// Returns the line that the target sent, or an empty line if it sent nothing.
pub(super) fn clean(line: &[u8]) -> Cow<'_, [u8]> {
    let mut text = Cow::Borrowed(line);
    if let Some(entry) = LavaEntry::text_in(line).and_then(LavaEntry::parse) {
        let own = entry.into_target_text();
        text = own.trim_ascii_end().as_bytes().to_vec().into();
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
    let start = STAMPS.find(&text).map_or(0, |it| it.end());
    match text {
        Cow::Borrowed(text) => text[start..].into(),
        Cow::Owned(text) => text[start..].to_vec().into(),
    }
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
            "[2026-01-02 10:11:12.345] @PB",
            "[2026-01-02T10:11:12+01:00] @PB",
            "2026-01-02 10:11:12 @PB",
            "10:11:12.345> @PB",
            "[   1.234567] @PB",
            "[1.234567 0.000123] @PB",
            "[Fri Jan  2 10:11:12 2026] @PB",
            "Jan  2 10:11:12 @PB",
            "1767348672.123456 @PB",
            "[10:11:12] [    0.000000] @PB",
            "\u{1b}[0;32m@PB\u{1b}[0m",
            "\u{1b}]0;title\u{7}@PB\u{1b}(B\u{1b}[K",
            "\0@Px\u{8}B\u{11}\u{13}",
        ] {
            assert_eq!(cleaned(line), "@PB", "{line:?}");
        }
        assert_eq!(cleaned("10:11:12.345   TEST COMPLETE"), "  TEST COMPLETE");
        for text in [
            "  TEST",
            "[CPU 1] is",
            "10 samples",
            "Marching 10:11:12 on",
            "[",
        ] {
            assert_eq!(cleaned(text), text);
            assert_eq!(cleaned(&format!("{text}\u{1b}[")), text);
        }
    }

    #[test]
    fn entries_of_lavas_target_are_unquoted() {
        let entry = |rest: &str| format!(r#"- {{"dt": "2026-01-02T10:11:12.345678", {rest}}}"#);
        let target = |message: &str| entry(&format!(r#""lvl": "target", "msg": {message}"#));
        let feedback = entry(r#""lvl": "feedback", "msg": "@PB 0001""#);
        let escaped = target(r#""say \"a\\b\" \e[0m\x41é\r""#);
        let half = target(r#""{\\\"a\": \\\"b\\\\\"\\\"}""#);
        let twice = target(r#""{\\\"a\\\": \\\"b\\\\\"\\\"}""#);
        let flow = "- {dt: x, lvl: target, msg: '10:11:12 @PB'}".to_owned();
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
