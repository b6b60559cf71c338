//! Makes untrusted text safe to use in messages.

use itertools::Itertools as _;

/// Returns `text` without control characters. Otherwise, a line from a log or the name of a test or
/// file could move the cursor, break a line, or change the direction of the text that follows.
pub fn plain(text: &str) -> String {
    let letter = |c: char| match c {
        '\t' => c,
        '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '.',
        c if c.is_control() => '.',
        c => c,
    };
    text.chars().map(letter).collect()
}

/// The maximum length of a message within a sentence.
const MESSAGE_MAX: usize = 200;

/// Shortens a message from another program so that it fits in a sentence. The message may be of any
/// length and may have any number of lines.
pub(crate) fn message(text: &str) -> String {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    let words = plain(&lines.join(" "));
    match words.char_indices().nth(MESSAGE_MAX) {
        Some((end, _)) => format!("{} ...", &words[..end]),
        None => words,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_has_no_control_characters() {
        let odd = "a\u{1b}[31mb\tc\u{202e}d\u{2028}e\u{7f}\u{9b}f\r\n";
        assert_eq!(plain(odd), "a.[31mb\tc.d.e..f..");
        assert_eq!(message("one\r\n\n  > # two\n"), "one > # two");
        let long = message(&"\u{e4} ".repeat(5000));
        assert_eq!(long.chars().count(), MESSAGE_MAX + 4);
        assert!(long.ends_with(" ..."));
    }
}
