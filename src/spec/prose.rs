//! Lines of at most [`COLUMNS`] printable ASCII characters, whatever goes in.
//!
//! A board's model, a firmware's error or a boot argument comes from outside
//! and may hold anything, line ends and terminal escapes among it; and a list
//! of 512 CPUs does not fit on a line. What has a fixed shape (tables,
//! records, TFTF's lines) does not come through here.

use alloc::string::String;
use core::fmt::{self, Write};

/// The widest line.
pub const COLUMNS: usize = 120;

/// Running text, broken into lines between words.
struct Prose<'w> {
    out: &'w mut dyn Write,
    /// Blanks that a line after the first begins with.
    indent: usize,
    /// Characters on the line so far.
    column: usize,
    /// True if the next word stands beside another one.
    follows: bool,
    /// The word that is being collected: its place depends on its length.
    word: [u8; COLUMNS],
    len: usize,
}

/// Writes `text` in lines of which the first begins with `lead`, and the
/// others with `indent` blanks.
pub(crate) fn paragraph(
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
        word: [0; COLUMNS],
        len: 0,
    };
    write!(prose, "{text}")?;
    prose.place_word()?;
    prose.out.write_char('\n')
}

impl Prose<'_> {
    fn place_word(&mut self) -> fmt::Result {
        let Some(word) = self.word.get(..self.len).filter(|w| !w.is_empty()) else {
            return Ok(());
        };
        let gap = usize::from(self.follows);
        if self.column + gap + word.len() > COLUMNS {
            self.out.write_char('\n')?;
            fill(self.out, ' ', self.indent)?;
            self.column = self.indent;
        } else if self.follows {
            self.out.write_char(' ')?;
            self.column += 1;
        }
        self.out
            .write_str(core::str::from_utf8(word).unwrap_or("?"))?;
        self.column += word.len();
        self.follows = true;
        self.len = 0;
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
            // A word that no line could hold is broken where it must be.
            if self.len >= COLUMNS - self.indent {
                self.place_word()?;
            }
            if let Some(place) = self.word.get_mut(self.len) {
                *place = printable(c) as u8;
                self.len += 1;
            }
        }
        Ok(())
    }
}

/// Adds to a text: at each call shorter code than a text of its own.
pub(crate) fn append(text: &mut String, more: fmt::Arguments<'_>) {
    // A String takes all.
    let _ = text.write_fmt(more);
}

/// Writes a character so many times.
pub(crate) fn fill(out: &mut dyn Write, c: char, times: usize) -> fmt::Result {
    for _ in 0..times {
        out.write_char(c)?;
    }
    Ok(())
}

/// The end of a line that was cut.
const MORE: &str = " ...";

/// The mark for the beginning of a path that was cut.
const LESS: &str = "...";
/// The fewest characters that are kept of a path, its end.
const PATH_LEAST: usize = 12;

/// Text on its way, of whose first path, a word that begins with a slash, so many
/// characters are left out.
struct ShortPath<'w> {
    out: &'w mut dyn Write,
    /// Number of characters that are still to be left out.
    skip: usize,
    /// Bytes of the path so far; None before it.
    length: Option<usize>,
    /// True if the path has ended.
    is_past: bool,
    /// The character before.
    last: char,
}

impl<'w> ShortPath<'w> {
    fn new(out: &'w mut dyn Write, skip: usize) -> Self {
        Self {
            out,
            skip,
            length: None,
            is_past: false,
            last: ' ',
        }
    }
}

impl Write for ShortPath<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match &mut self.length {
                // A long one has lost its beginning already.
                None if matches!(c, '/' | '.') && self.last == ' ' => {
                    self.length = Some(0);
                    if self.skip > 0 {
                        self.out.write_str(LESS)?;
                    }
                }
                Some(_) if c == ' ' || c == ':' => self.is_past = true,
                _ => {}
            }
            self.last = c;
            if let (Some(length), false) = (&mut self.length, self.is_past) {
                *length += 1;
                if *length <= self.skip {
                    continue;
                }
            }
            self.out.write_char(c)?;
        }
        Ok(())
    }
}

/// The writer that text passes through.
struct Nowhere;

impl Write for Nowhere {
    fn write_str(&mut self, _: &str) -> fmt::Result {
        Ok(())
    }
}

/// One line. In one that is longer than [`COLUMNS`] characters the first path is
/// shortened, so that there is room for the reason behind it; what is still longer
/// is cut between two words, if there is a place for that in its second half, and
/// says so.
pub(crate) fn one_line(out: &mut dyn Write, what: &dyn fmt::Display) -> fmt::Result {
    let excess = width(what).saturating_sub(COLUMNS);
    let mut nowhere = Nowhere;
    let mut path = ShortPath::new(&mut nowhere, 0);
    write!(path, "{what}")?;
    let most = path.length.unwrap_or(0).saturating_sub(PATH_LEAST);
    let skip = match excess {
        0 => 0,
        _ => most.min(excess + LESS.len()),
    };
    struct Line {
        text: [u8; COLUMNS],
        /// Of what there is, more than was kept.
        len: usize,
    }
    impl Write for Line {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            for c in text.chars() {
                if let Some(place) = self.text.get_mut(self.len) {
                    *place = printable(c) as u8;
                }
                self.len += 1;
            }
            Ok(())
        }
    }
    let mut line = Line {
        text: [b' '; COLUMNS],
        len: 0,
    };
    write!(ShortPath::new(&mut line, skip), "{what}")?;
    const MOST: usize = COLUMNS - MORE.len();
    let (end, more) = if line.len > COLUMNS {
        // The blank may be the first character that has no place.
        let blanks = COLUMNS / 2..=MOST;
        let blank = blanks.rev().find(|at| line.text.get(*at) == Some(&b' '));
        (blank.unwrap_or(MOST), MORE)
    } else {
        (line.len, "")
    };
    let text = line.text.get(..end).unwrap_or_default();
    out.write_str(core::str::from_utf8(text).unwrap_or("?"))?;
    out.write_str(more)?;
    out.write_char('\n')
}

/// `c`, or what stands for it where it is not printable ASCII.
fn printable(c: char) -> char {
    match c {
        ' '..='~' => c,
        c if c.is_ascii_whitespace() => ' ',
        _ => '?',
    }
}

/// A number of things: `1 cluster`, `2 clusters`.
#[derive(Clone, Copy)]
pub struct Many(pub u64, pub &'static str);

impl fmt::Display for Many {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, Plural(self.0, self.1))
    }
}

/// The things alone: `batch`, `batches`.
#[derive(Clone, Copy)]
pub struct Plural(pub u64, pub &'static str);

impl fmt::Display for Plural {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.1)?;
        f.write_str(match self.0 {
            1 => "",
            _ if self.1.ends_with('h') => "es",
            _ => "s",
        })
    }
}

/// Returns the number of characters that `what` takes.
pub(crate) fn width(what: &dyn fmt::Display) -> usize {
    struct Count(usize);
    impl Write for Count {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            self.0 += text.len();
            Ok(())
        }
    }
    let mut count = Count(0);
    // Counting can not fail, and a Display that does has no width.
    let _ = write!(count, "{what}");
    count.0
}

/// The first of these items by comma, and how many more there are.
///
/// Eight CPUs or clusters in a line say where to look; five hundred do not.
pub(crate) fn listed<T: fmt::Display>(
    out: &mut dyn Write,
    items: &mut dyn Iterator<Item = T>,
) -> fmt::Result {
    const SHOWN: usize = 8;
    let mut more = 0usize;
    for (index, item) in items.enumerate() {
        match index {
            0 => write!(out, "{item}")?,
            1..SHOWN => write!(out, ", {item}")?,
            _ => more += 1,
        }
    }
    match more {
        0 => Ok(()),
        _ => write!(out, " and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prose(lead: &str, indent: usize, text: &str) -> String {
        let mut out = String::new();
        paragraph(&mut out, lead, indent, &text).expect("a String takes all");
        out
    }

    #[test]
    fn words_are_kept_whole_and_lines_short() {
        assert_eq!(prose("* ", 2, "one  two\nthree"), "* one two three\n");
        let long = prose("* ", 2, &"seven77 ".repeat(40));
        // Fourteen words of seven letters, their blanks and the indent.
        assert_eq!(long.lines().map(str::len).max(), Some(113));
        assert!(long.lines().skip(1).all(|l| l.starts_with("  seven77")));
        assert_eq!(long.matches("seven77").count(), 40);
        let endless = prose("  ", 4, &"x".repeat(400));
        assert!(endless.lines().all(|l| l.len() <= COLUMNS));
        assert_eq!(endless.matches('x').count(), 400);
    }

    fn line(text: &str) -> String {
        let mut out = String::new();
        one_line(&mut out, &text).expect("a String takes all");
        out
    }

    #[test]
    fn only_printable_ascii_is_kept() {
        assert_eq!(prose("", 0, "a\u{1b}[31m \u{b5}s\0"), "a?[31m ?s?\n");
        assert_eq!(line("tab\there\nand \u{2026}"), "tab here and ?\n");
    }

    /// A text that fits is whole, and a number has all its digits or is not there.
    #[test]
    fn a_line_is_cut_between_words() {
        let x = |less: usize| "x".repeat(COLUMNS - less);
        for (text, expected) in [
            (x(5) + " 5242", x(5) + " 5242"),
            (x(11) + " 5242880 bytes", x(11) + " ..."),
            (x(16) + " 5242880 bytes, and more", x(16) + " 5242880 ..."),
            ("x".repeat(500), x(4) + " ..."),
        ] {
            assert_eq!(line(&text), expected + "\n");
        }
    }

    #[test]
    fn a_path_is_shortened_before_the_reason() {
        let path = "/soc/interconnect@30000000/bus@30800000/serial@30880000";
        let lead = "psci-bench: INCOMPLETE: bad input: device tree: ";
        let reason = " #interrupt-cells: 0x7, expected 3 or 4 of them";
        let all = std::format!("{lead}{path}{reason}");
        assert!(all.len() > COLUMNS);
        let kept = &path[all.len() + LESS.len() - COLUMNS..];
        assert_eq!(line(&all), std::format!("{lead}...{kept}{reason}\n"));
        // A path that has lost its beginning loses more, and keeps its end.
        let words = " and so on".repeat(7);
        let cut = line(&std::format!("{lead}...{path} compatible:{words}"));
        let begin = std::format!("{lead}...ial@30880000 compatible: and");
        let is_cut = cut.starts_with(&begin) && cut.ends_with(" ...\n");
        assert!(is_cut && cut.len() <= COLUMNS + 1, "{cut}");
        assert_eq!(line(path), std::format!("{path}\n"));
    }

    #[test]
    fn lists_are_cut() {
        let mut out = String::new();
        listed(&mut out, &mut (0..3)).expect("a String takes all");
        assert_eq!(out, "0, 1, 2");
        out.clear();
        listed(&mut out, &mut (0..11)).expect("a String takes all");
        assert_eq!(out, "0, 1, 2, 3, 4, 5, 6, 7 and 3 more");
    }
}
