//! Escapes untrusted text.

/// Returns `text` on one line.
pub(super) fn line(text: &str) -> String {
    text.replace(char::is_control, " ")
}

/// Returns `text` on one line, with a backslash before everything that reStructuredText or GitHub's
/// Markdown could interpret as markup. The result is also safe as an entire table entry or
/// paragraph.
pub fn markup(text: &str) -> String {
    let line = line(text);
    let mut escaped = String::with_capacity(line.len());
    let mut before = None;
    let mut rest = line.chars();
    while let Some(letter) = rest.next() {
        let next = rest.clone().next();
        let is_special = match letter {
            '\\' | '*' | '`' | '|' | '<' | '>' | '[' | '~' => true,
            _ if before.is_none() && begins_block(letter, next) => true,
            // An underscore inside a word is not markup.
            '_' => {
                let is_in_word =
                    |neighbor: Option<char>| neighbor.is_some_and(char::is_alphanumeric);
                !is_in_word(before) || !is_in_word(next)
            }
            // At the end of a paragraph, two colons introduce a literal block.
            ':' => before == Some(':'),
            '&' => next.is_some_and(|next_char| next_char.is_alphanumeric() || next_char == '#'),
            '.' | ')' => is_item(&escaped) && next.is_none_or(char::is_whitespace),
            _ => false,
        };
        if is_special {
            escaped.push('\\');
        }
        escaped.push(letter);
        before = Some(letter);
    }
    escaped
}

/// Returns true if text that starts with `first` and `next` is a list, a rule, a directive or a
/// field rather than a number.
fn begins_block(first: char, next: Option<char>) -> bool {
    let is_mark = first.is_ascii_punctuation() && !matches!(first, '_' | '"' | '\'');
    let is_number = matches!(first, '-' | '+' | '.')
        && next.is_some_and(|next_char| next_char.is_ascii_digit());
    is_mark && !is_number
}

/// Returns true if appending `.` or `)` to `text` would make it the label of a list item.
fn is_item(text: &str) -> bool {
    let is_letter = text.len() == 1 && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_letter || !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns `text` as the content of an XML element or attribute. Control characters, which XML does
/// not allow even when escaped, become U+FFFD.
pub(super) fn xml(text: &str) -> String {
    let is_refused = |letter: char| match letter {
        '\t' | '\n' => false,
        '\u{fffe}' | '\u{ffff}' => true,
        _ => letter.is_control(),
    };
    quick_xml::escape::escape(text.replace(is_refused, "\u{fffd}")).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_stays_text() {
        for (text, expected) in [
            ("test_rt_instr_x", "test_rt_instr_x"),
            ("fw_", "fw\\_"),
            ("__init__", "\\_\\_init\\_\\_"),
            ("a|b*c`d\\", "a\\|b\\*c\\`d\\\\"),
            ("<b>&amp; & x", "\\<b\\>\\&amp; & x"),
            ("[x](y)", "\\[x](y)"),
            ("# big", "\\# big"),
            ("a\nb\tc", "a b c"),
            ("so::", "so:\\:"),
            ("-", "\\-"),
            ("-12.3 %", "-12.3 %"),
            ("12. x", "12\\. x"),
            ("a)", "a\\)"),
            ("2.13.0", "2.13.0"),
        ] {
            assert_eq!(markup(text), expected);
        }
        assert_eq!(
            xml("<'&\">\u{1b}[0m\n"),
            "&lt;&apos;&amp;&quot;&gt;\u{fffd}[0m\n"
        );
    }
}
