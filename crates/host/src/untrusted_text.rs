//! Makes untrusted text safe to use in messages on a terminal, which shows Unicode. The payload's
//! console shows ASCII only: `hardware::text::untrusted`.

/// Returns `text` without control characters. Otherwise, a line from a log or the name of a test or
/// file could move the cursor, break a line, or change the direction of the text that follows.
pub fn plain(text: &str) -> String {
    let replace = |letter: char| match letter {
        '\t' => letter,
        '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '.',
        letter if letter.is_control() => '.',
        letter => letter,
    };
    text.chars().map(replace).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_of_others_has_no_control_characters() {
        let odd = "a\u{1b}[31mb\tc\u{202e}d\u{2028}e\u{7f}\u{9b}f\r\n";
        assert_eq!(plain(odd), "a.[31mb\tc.d.e..f..");
    }
}
