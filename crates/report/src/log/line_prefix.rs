//! The text that a tool puts before every line of a log, such as a timestamp or a source's name.
//!
//! No list of tools is kept. A line that contains a known line after other text shows the prefix,
//! and a neighboring line confirms it. Numbers, and the names of months and days, may differ from
//! line to line; everything else is fixed.

use super::embedded_line;

/// The maximum length of a prefix in bytes. A CI system may print the names of the job and the
/// step before each line.
const PREFIX_MAX: usize = 256;

/// Words that change with the time.
const CALENDAR: [&[u8]; 21] = [
    b"Jan", b"Feb", b"Mar", b"Apr", b"May", b"Jun", b"Jul", b"Aug", b"Sep", b"Oct", b"Nov", b"Dec",
    b"Mon", b"Tue", b"Wed", b"Thu", b"Fri", b"Sat", b"Sun", b"AM", b"PM",
];

/// A prefix. It matches all prefixes of the same form. One that was taken from a single line may be
/// ordinary text: only another line with the same form shows that it is the log's prefix.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct LinePrefix {
    parts: Vec<PrefixPart>,
    /// The blanks after the last part. They are missing from an empty line if a tool has removed
    /// trailing blanks.
    blanks: Vec<u8>,
    /// True if a plus sign may replace the blank, as in GitLab's logs.
    may_continue: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum PrefixPart {
    Fixed(Vec<u8>),
    /// The blanks that pad a number.
    Padding {
        /// True if there is at least one.
        is_required: bool,
    },
    /// A number, with or without a fraction.
    Number,
    /// A word such as `02T10` or a hexadecimal number. One with a digit shows the form; others may
    /// have none.
    Mixed,
    /// One of [`CALENDAR`].
    Calendar,
}

/// A line without its prefix.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StrippedLine<'l> {
    pub(super) text: &'l [u8],
    /// True if the prefix says that the line continues the previous one.
    pub(super) is_continuation: bool,
}

impl LinePrefix {
    /// Returns the prefix before the first known line in `line`; None if there is no known line, or
    /// no text before it.
    pub(super) fn before_known_line(line: &[u8]) -> Option<Self> {
        let end = embedded_line::find_known(line)?;
        (1..=PREFIX_MAX)
            .contains(&end)
            .then(|| Self::with_form_of(&line[..end]))
    }

    fn with_form_of(prefix: &[u8]) -> Self {
        let may_continue = is_gitlab(prefix);
        let (text, blanks) = if may_continue {
            (&prefix[..prefix.len() - 1], &b" "[..])
        } else {
            prefix.split_at(prefix.trim_ascii_end().len())
        };
        Self {
            parts: parts(text),
            blanks: blanks.to_vec(),
            may_continue,
        }
    }

    /// Returns true if the prefix of a line may say that it continues the previous one.
    pub(super) fn may_continue(&self) -> bool {
        self.may_continue
    }

    /// Returns `line` without a prefix of this form; None if `line` does not start with one.
    pub(super) fn strip<'l>(&self, line: &'l [u8]) -> Option<StrippedLine<'l>> {
        let mut rest = line;
        for part in &self.parts {
            rest = part.strip(rest)?;
        }
        let continued = rest.strip_prefix(b"+").filter(|_| self.may_continue);
        let text = match continued {
            Some(text) => text,
            None if rest.trim_ascii().is_empty() => &[],
            None => rest.strip_prefix(&*self.blanks)?,
        };
        Some(StrippedLine {
            text,
            is_continuation: continued.is_some(),
        })
    }
}

impl PrefixPart {
    /// Returns the part for a word; None if the word is fixed.
    fn of_word(word: &[u8]) -> Option<Self> {
        if CALENDAR.contains(&word) {
            Some(Self::Calendar)
        } else if !word.iter().any(u8::is_ascii_digit) {
            None
        } else if word.iter().any(u8::is_ascii_alphabetic) {
            Some(Self::Mixed)
        } else {
            Some(Self::Number)
        }
    }

    /// Returns `text` without this part; None if `text` does not start with it.
    fn strip<'t>(&self, text: &'t [u8]) -> Option<&'t [u8]> {
        match self {
            Self::Fixed(fixed) => text.strip_prefix(&**fixed),
            Self::Padding { is_required } => {
                let blanks = text.iter().take_while(|byte| **byte == b' ').count();
                (blanks > 0 || !is_required).then(|| &text[blanks..])
            }
            Self::Number => {
                let len = word_len(text, u8::is_ascii_digit);
                (len > 0).then(|| &text[len..])
            }
            Self::Mixed => {
                let len = word_len(text, u8::is_ascii_alphanumeric);
                (len > 0).then(|| &text[len..])
            }
            Self::Calendar => CALENDAR.iter().find_map(|word| text.strip_prefix(*word)),
        }
    }
}

/// Returns the parts of a prefix without the blanks at its end.
fn parts(prefix: &[u8]) -> Vec<PrefixPart> {
    let mut parts = Vec::new();
    let mut rest = prefix;
    while let Some(first) = rest.first() {
        let blanks = rest.iter().take_while(|byte| **byte == b' ').count();
        let (padding, text) = rest.split_at(blanks);
        let word = &text[..word_len(text, u8::is_ascii_alphanumeric)];
        let word_part = PrefixPart::of_word(word);
        // Numbers are padded on the left or, before more text, on the right.
        let is_padded = |part: &PrefixPart| matches!(part, PrefixPart::Number | PrefixPart::Mixed);
        let is_padding = word_part.as_ref().is_some_and(is_padded)
            || blanks > 0 && parts.last().is_some_and(is_padded);
        if is_padding {
            let is_required = blanks > 0 && parts.last().is_some_and(ends_in_word);
            parts.push(PrefixPart::Padding { is_required });
        } else {
            push_fixed(&mut parts, padding);
        }
        rest = &text[word.len()..];
        match word_part {
            Some(part) => parts.push(part),
            None if blanks + word.len() > 0 => push_fixed(&mut parts, word),
            None => {
                push_fixed(&mut parts, &[*first]);
                rest = &rest[1..];
            }
        }
    }
    parts
}

/// Adds fixed text to the last part if that is fixed too.
fn push_fixed(parts: &mut Vec<PrefixPart>, text: &[u8]) {
    match parts.last_mut() {
        _ if text.is_empty() => {}
        Some(PrefixPart::Fixed(fixed)) => fixed.extend_from_slice(text),
        _ => parts.push(PrefixPart::Fixed(text.to_vec())),
    }
}

/// Returns true if a blank must follow the part to separate it from a word.
fn ends_in_word(part: &PrefixPart) -> bool {
    match part {
        PrefixPart::Fixed(fixed) => fixed.last().is_some_and(u8::is_ascii_alphanumeric),
        PrefixPart::Padding { .. } => false,
        PrefixPart::Number | PrefixPart::Mixed | PrefixPart::Calendar => true,
    }
}

/// Returns the length of the word that `text` starts with. A dot or comma between a digit and
/// another one is part of the word.
fn word_len(text: &[u8], is_part: fn(&u8) -> bool) -> usize {
    let is_digit = |index: usize| text.get(index).is_some_and(u8::is_ascii_digit);
    let is_point = |index: usize| b".,".contains(&text[index]) && index > 0 && is_digit(index - 1);
    let is_in_word =
        |index: &usize| is_part(&text[*index]) || is_point(*index) && is_digit(index + 1);
    (0..text.len()).take_while(is_in_word).count()
}

/// Returns true if a prefix ends like those of GitLab's runner: the time, the number and letter of
/// a stream, and a blank, or a plus sign if the line continues the previous one.
fn is_gitlab(prefix: &[u8]) -> bool {
    let Some((time, [high, low, stream, b' ' | b'+'])) = prefix.split_last_chunk() else {
        return false;
    };
    let is_number = high.is_ascii_hexdigit() && low.is_ascii_hexdigit();
    time.ends_with(b"Z ") && is_number && matches!(stream, b'O' | b'E')
}
