//! Formats any input as lines of at most [`COLUMNS`] printable ASCII characters.
//!
//! Untrusted text can contain anything, including line endings and terminal escapes, and a list of
//! 512 CPUs does not fit on a line.

use core::fmt::{self, Write};

use arrayvec::ArrayString;

use super::untrusted::to_printable;

/// The maximum line width, which is the width of a serial terminal.
pub const COLUMNS: usize = 80;

/// Returns true if a line is too wide for a terminal and is meant for people. Records and lines in
/// TFTF format are exempt because they are meant for programs.
pub fn is_too_wide(line: &str) -> bool {
    let is_for_programs = ["@PB ", "<RT_INSTR:", "> Executing '"]
        .iter()
        .any(|prefix| line.starts_with(prefix));
    line.len() > COLUMNS && !is_for_programs
}

/// Text that is wrapped between words.
struct Prose<'w> {
    out: &'w mut dyn Write,
    /// The number of spaces at the start of each line except the first.
    indent: usize,
    /// The number of characters on the current line.
    column: usize,
    /// True if the line already contains a word.
    follows: bool,
    /// The current word, which is buffered because its length determines which line it goes on.
    word: ArrayString<COLUMNS>,
}

/// Writes `text` after `lead`, with line wrapping. All lines except the first are indented.
pub fn paragraph(
    out: &mut dyn Write,
    lead: &str,
    indent: usize,
    text: &dyn fmt::Display,
) -> fmt::Result {
    out.write_str(lead)?;
    let mut prose = Prose {
        out,
        indent,
        column: lead.len(),
        follows: false,
        word: ArrayString::new(),
    };
    write!(prose, "{text}")?;
    prose.place_word()?;
    prose.out.write_char('\n')
}

impl Prose<'_> {
    fn place_word(&mut self) -> fmt::Result {
        if self.word.is_empty() {
            return Ok(());
        }
        let gap = usize::from(self.follows);
        if self.column + gap + self.word.len() > COLUMNS {
            self.out.write_char('\n')?;
            fill(self.out, ' ', self.indent)?;
            self.column = self.indent;
        } else {
            fill(self.out, ' ', gap)?;
            self.column += gap;
        }
        self.out.write_str(&self.word)?;
        self.column += self.word.len();
        self.follows = true;
        self.word.clear();
        Ok(())
    }
}

impl Write for Prose<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            if c.is_ascii_whitespace() {
                self.place_word()?;
                continue;
            }
            // Break a word that is too long for any line.
            if self.word.len() >= COLUMNS - self.indent {
                self.place_word()?;
            }
            let _ = self.word.try_push(to_printable(c));
        }
        Ok(())
    }
}

/// Writes a character `times` times.
pub fn fill(out: &mut dyn Write, c: char, times: usize) -> fmt::Result {
    (0..times).try_for_each(|_| out.write_char(c))
}

/// The marker for a truncated line.
const MORE: &str = " ...";

/// Printable text, limited to the characters that can fit on a single line.
struct Printable(ArrayString<{ COLUMNS + 1 }>);

impl Write for Printable {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            let _ = self.0.try_push(to_printable(c));
        }
        Ok(())
    }
}

/// Writes one line. Truncates a line that is longer than [`COLUMNS`] characters, at a space if the
/// second half of the line contains one.
pub fn one_line(out: &mut dyn Write, text: &dyn fmt::Display) -> fmt::Result {
    const MOST: usize = COLUMNS - MORE.len();
    let mut printable = Printable(ArrayString::new());
    write!(printable, "{text}")?;
    let Printable(mut line) = printable;
    if line.len() <= COLUMNS {
        return writeln!(out, "{line}");
    }
    // The line can also be cut at a space just past the limit.
    line.truncate(MOST + 1);
    let blank = line.rfind(' ').filter(|index| *index >= COLUMNS / 2);
    line.truncate(blank.unwrap_or(MOST));
    writeln!(out, "{line}{MORE}")
}

/// Returns the length of `text` in characters.
pub fn width(text: &dyn fmt::Display) -> usize {
    struct Count(usize);
    impl Write for Count {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 += text.len();
            Ok(())
        }
    }
    let mut count = Count(0);
    // Ignore errors, because counting cannot fail and the width does not matter if Display fails.
    let _ = write!(count, "{text}");
    count.0
}

#[cfg(test)]
mod tests {
    use std::string::String;

    use super::*;

    fn written(write: impl FnOnce(&mut String) -> fmt::Result) -> String {
        let mut out = String::new();
        write(&mut out).expect("writing to a String cannot fail");
        out
    }

    fn prose(lead: &str, indent: usize, text: &str) -> String {
        written(|out| paragraph(out, lead, indent, &text))
    }

    fn line(text: &str) -> String {
        written(|out| one_line(out, &text))
    }

    #[test]
    fn words_are_kept_whole_and_lines_short() {
        assert_eq!(prose("* ", 2, "one  two\nthree"), "* one two three\n");
        let long = prose("* ", 2, &"seven77 ".repeat(40));
        // The longest line holds nine seven-letter words, the spaces between them, and the indent.
        assert_eq!(long.lines().map(str::len).max(), Some(73));
        let mut others = long.lines().skip(1);
        assert!(others.all(|line| line.starts_with("  seven77")));
        assert_eq!(long.matches("seven77").count(), 40);
        let endless = prose("  ", 4, &"x".repeat(400));
        assert!(endless.lines().all(|line| line.len() <= COLUMNS));
        assert_eq!(endless.matches('x').count(), 400);
        assert_eq!(prose("", 0, "a\u{1b}[31m \u{b5}s\0"), "a?[31m ?s?\n");
        assert_eq!(line("tab\there\nand \u{2026}"), "tab here and ?\n");
    }

    /// Text that fits is not truncated. Numbers are either kept in full or omitted.
    #[test]
    fn a_line_is_cut_between_words() {
        let text_of_x = |shortfall: usize| "x".repeat(COLUMNS - shortfall);
        for (text, expected) in [
            (text_of_x(5) + " 5242", text_of_x(5) + " 5242"),
            (text_of_x(11) + " 5242880 bytes", text_of_x(11) + " ..."),
            (
                text_of_x(16) + " 5242880 bytes, and more",
                text_of_x(16) + " 5242880 ...",
            ),
            ("x".repeat(700), text_of_x(4) + " ..."),
        ] {
            assert_eq!(line(&text), expected + "\n");
        }
    }
}
