//! Wraps lines to the terminal width at word boundaries, and colors them.

use std::io::{self, IsTerminal, Write, stdout};
use std::str;

use console::Term;
use itertools::Itertools as _;
use textwrap::{Options, WordSplitter};

use crate::paint::Painter;

/// Wraps each line of `text` at `width` columns, and indents continuation lines by two more
/// columns. Words longer than a line are not broken.
pub fn wrapped(text: &str, width: usize) -> String {
    let mut lines = text.lines().map(|line| {
        let own_indent = line.len() - line.trim_start_matches(' ').len();
        let indent = " ".repeat(own_indent + 2);
        let options = Options::new(width)
            .subsequent_indent(&indent)
            .break_words(false)
            .word_splitter(WordSplitter::NoHyphenation);
        textwrap::fill(line, options)
    });
    lines.join("\n")
}

/// Writes text to standard output, wraps it if standard output is a terminal, and colors it if colors
/// are enabled.
pub struct TerminalText<W: Write> {
    out: W,
    width: Option<usize>,
    painter: Painter,
    /// The line so far.
    line: Vec<u8>,
}

impl<W: Write> TerminalText<W> {
    /// Returns a writer that writes text to `out`, which is standard output.
    pub fn new(out: W) -> Self {
        let is_terminal = stdout().is_terminal();
        Self {
            out,
            width: is_terminal.then(|| Term::stdout().size().1.into()),
            painter: Painter::for_stdout(),
            line: Vec::new(),
        }
    }

    fn end_line(&mut self) -> io::Result<()> {
        match (str::from_utf8(&self.line), self.width) {
            (Ok(line), Some(width)) if line.chars().count() > width => {
                let painted = self.painter.paint(line, &wrapped(line, width));
                self.out.write_all(painted.as_bytes())?;
            }
            (Ok(line), _) => {
                let painted = self.painter.paint(line, line);
                self.out.write_all(painted.as_bytes())?;
            }
            _ => self.out.write_all(&self.line)?,
        }
        self.line.clear();
        Ok(())
    }
}

impl<W: Write> Write for TerminalText<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for part in bytes.split_inclusive(|byte| *byte == b'\n') {
            match part.strip_suffix(b"\n") {
                Some(end) => {
                    self.line.extend(end);
                    self.end_line()?;
                    self.out.write_all(b"\n")?;
                }
                None => self.line.extend(part),
            }
        }
        Ok(bytes.len())
    }

    /// Writes any incomplete line first. Usually no line is incomplete, because text ends with a
    /// newline.
    fn flush(&mut self) -> io::Result<()> {
        self.end_line()?;
        self.out.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrapped_text_breaks_no_word_and_keeps_lines() {
        let text = "xtask: INCOMPLETE: no closing-line within 7 s\n  log: a/b c/d e/f g/hh";
        let expected =
            "xtask: INCOMPLETE: no\n  closing-line within\n  7 s\n  log: a/b c/d e/f\n    g/hh";
        assert_eq!(wrapped(text, 22), expected);
        assert_eq!(wrapped("target/long-path", 8), "target/long-path");
    }

    #[test]
    fn only_lines_that_are_too_wide_are_wrapped() {
        let mut terminal = TerminalText {
            out: Vec::new(),
            width: Some(10),
            painter: Painter::for_stdout(),
            line: Vec::new(),
        };
        write!(terminal, "a  b\n  * one two three\n\u{e4}\nend").expect("memory");
        terminal.flush().expect("memory");
        let text = String::from_utf8(terminal.out).expect("UTF-8");
        assert_eq!(text, "a  b\n  * one\n    two\n    three\n\u{e4}\nend");
    }
}
