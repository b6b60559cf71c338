//! YAML, as much of it as is written here.
//!
//! What is written has comments for people, which no serialiser can be given,
//! and a fixed form: only scalars come from elsewhere.

/// `text` as a scalar that is a string, whatever is in it.
///
/// Single-quoted where that can be read; YAML 1.2 takes JSON's strings else.
pub(super) fn quoted(text: &str) -> String {
    // YAML does not print these, or takes them for the end of a line.
    let odd = |c: char| c.is_control() || "\u{2028}\u{2029}\u{feff}\u{fffe}\u{ffff}".contains(c);
    if text.chars().any(odd) {
        let json = serde_json::Value::from(text).to_string();
        return json
            .chars()
            .map(|c| match odd(c) {
                true => format!("\\u{:04x}", u32::from(c)),
                false => c.to_string(),
            })
            .collect();
    }
    format!("'{}'", text.replace('\'', "''"))
}

/// A list in one line.
pub(super) fn list<'t>(texts: impl IntoIterator<Item = &'t str>) -> String {
    let all: Vec<String> = texts.into_iter().map(quoted).collect();
    format!("[{}]", all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scalars() {
        assert_eq!(quoted("it's: #1"), "'it''s: #1'");
        assert_eq!(quoted(""), "''");
        assert_eq!(quoted("a\nb\t\"c\""), r#""a\nb\t\"c\"""#);
        assert_eq!(list(["a", "no", "1.0"]), "['a', 'no', '1.0']");
        for text in [
            "plain",
            "it's",
            "a\nb",
            "\\w+",
            "{x}",
            "- y",
            "\u{7f}",
            "a\u{2028}b",
        ] {
            let read: String = serde_saphyr::from_str(&quoted(text)).expect("a scalar");
            assert_eq!(read, text);
        }
    }
}
