//! Text of others as text: characters of markup stand with a backslash.

/// Returns `text` with no markup of reStructuredText, also as all of a table's cell or
/// of a paragraph.
pub(super) fn rst(text: &str) -> String {
    escaped(text, |before, c, next| match c {
        '\\' | '*' | '`' | '|' => true,
        // A reference ends in one, and in a word it is nothing.
        '_' => next.is_none_or(|next| !next.is_alphanumeric()),
        // At the end of a paragraph, two of them announce a literal block.
        ':' => before == Some(':'),
        _ => false,
    })
}

/// Returns `text` with no markup of Markdown as GitHub reads it.
pub(super) fn md(text: &str) -> String {
    escaped(text, |before, c, next| match c {
        '\\' | '|' | '*' | '`' | '<' | '>' | '[' => true,
        '_' => ![before, next]
            .iter()
            .all(|it| it.is_some_and(char::is_alphanumeric)),
        '~' => before == Some('~') || next == Some('~'),
        '&' => next.is_some_and(|next| next.is_alphanumeric() || next == '#'),
        '#' => before.is_none(),
        _ => false,
    })
}

/// Returns `text` with a backslash before each letter that is special by itself and its
/// neighbours, or that makes something else of the text's beginning.
fn escaped(text: &str, is_special: fn(Option<char>, char, Option<char>) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    let mut letters = letters(text).peekable();
    while let Some(c) = letters.next() {
        let next = letters.peek().copied();
        let at_start = before.is_none() && begins(c, next) || numbers(&out, c, next);
        if is_special(before, c, next) || at_start {
            out.push('\\');
        }
        out.push(c);
        before = Some(c);
    }
    out
}

/// `text` in one line, whatever was in it.
pub(super) fn line(text: &str) -> String {
    letters(text).collect()
}

fn letters(text: &str) -> impl Iterator<Item = char> {
    text.chars().map(|c| if c.is_control() { ' ' } else { c })
}

/// Returns `text` with U+FFFD in place of characters that no XML may contain, escaped
/// or not: control characters, of which logs have some.
pub(super) fn xml_characters(text: &str) -> String {
    let may = |c: char| match c {
        '\t' | '\n' => true,
        '\u{fffe}' | '\u{ffff}' => false,
        c => !c.is_control(),
    };
    text.chars()
        .map(|c| if may(c) { c } else { '\u{fffd}' })
        .collect()
}

/// Returns true if a text that begins so is a list, a rule, a directive or a field, and
/// no number.
fn begins(first: char, next: Option<char>) -> bool {
    let is_mark = first.is_ascii_punctuation() && !matches!(first, '_' | '"' | '\'' | '#');
    let is_number = matches!(first, '-' | '+' | '.') && next.is_some_and(|it| it.is_ascii_digit());
    is_mark && !is_number
}

/// Returns true if `c` makes an item of a numbered list of the text before it.
fn numbers(before: &str, c: char, next: Option<char>) -> bool {
    let ends = next.is_none_or(char::is_whitespace);
    let is_number = before.bytes().all(|it| it.is_ascii_digit());
    let is_letter = before.len() == 1 && before.bytes().all(|it| it.is_ascii_alphabetic());
    matches!(c, '.' | ')') && ends && !before.is_empty() && (is_number || is_letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_names() {
        for (text, in_rst, in_md) in [
            ("test_rt_instr_x", "test_rt_instr_x", "test_rt_instr_x"),
            ("fw_", "fw\\_", "fw\\_"),
            ("_a_b_", "_a_b\\_", "\\_a_b\\_"),
            ("__init__", "\\__init\\_\\_", "\\_\\_init\\_\\_"),
            ("a|b*c`d", "a\\|b\\*c\\`d", "a\\|b\\*c\\`d"),
            ("<b>&amp; & x", "\\<b>&amp; & x", "\\<b\\>\\&amp; & x"),
            ("a\\", "a\\\\", "a\\\\"),
            ("[x](y)", "\\[x](y)", "\\[x](y)"),
            ("~~x~", "\\~~x~", "\\~\\~x~"),
            ("# big", "# big", "\\# big"),
            ("a\nb\tc", "a b c", "a b c"),
            ("::", "\\:\\:", "\\::"),
            ("so::", "so:\\:", "so::"),
            ("-", "\\-", "\\-"),
            ("-12.3 %", "-12.3 %", "-12.3 %"),
            ("12. x", "12\\. x", "12\\. x"),
            ("a)", "a\\)", "a\\)"),
            ("12.5", "12.5", "12.5"),
            ("2.13.0", "2.13.0", "2.13.0"),
        ] {
            assert_eq!((rst(text).as_str(), md(text).as_str()), (in_rst, in_md));
        }
        assert_eq!(line("a\r\nb\u{1b}[m"), "a  b [m");
    }
}
