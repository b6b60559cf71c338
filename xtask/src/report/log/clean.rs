//! A line as the UART sent it: without additions of terminals and labs.
//!
//! Each line is looked at by itself, as one log may have come by several ways:
//! * LAVA's log of YAML: `- {"dt": "...", "lvl": "target", "msg": "..."}`;
//!   other entries than the target's are left out;
//! * escape sequences of colours and cursors, NUL, BEL, XON and XOFF; a
//!   backspace takes the character before it;
//! * time stamps in front, in brackets or not, also several.

use memchr::{memchr, memchr3};

use super::lava_log::LavaEntry;

/// The buffers in which a line is made anew, if it has additions.
#[derive(Debug, Default)]
pub(super) struct Cleaner {
    unescaped: String,
    plain: Vec<u8>,
}

impl Cleaner {
    /// Returns the line that the target sent; empty if it sent none.
    pub(super) fn clean<'c>(&'c mut self, line: &'c [u8]) -> &'c [u8] {
        let mut rest = line;
        if let Some(entry) = LavaEntry::text_in(rest).and_then(LavaEntry::parse) {
            self.unescaped = entry.into_target_text();
            rest = self.unescaped.as_bytes().trim_ascii_end();
        }
        if has_control(rest) {
            self.plain.clear();
            without_control(rest, &mut self.plain);
            rest = &self.plain;
        }
        rest = rest.strip_prefix(b"\xef\xbb\xbf").unwrap_or(rest);
        without_stamps(rest)
    }
}

const ESC: u8 = 0x1b;

fn has_control(line: &[u8]) -> bool {
    memchr3(ESC, 0, 8, line).is_some()
        || memchr3(7, 0x11, 0x13, line).is_some()
        || memchr(0x7f, line).is_some()
}

/// Appends `line` without escape sequences and control characters to `out`.
fn without_control(line: &[u8], out: &mut Vec<u8>) {
    let mut rest = line;
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match *first {
            ESC => rest = after.get(escape(after)..).unwrap_or_default(),
            8 => {
                out.pop();
            }
            0 | 7 | 0x11 | 0x13 | 0x7f => {}
            byte => out.push(byte),
        }
    }
}

/// Returns the length of the escape sequence behind an ESC (ECMA-48, section 5.4).
/// One of an unknown form is the ESC alone: text may follow.
fn escape(after: &[u8]) -> usize {
    match after.first() {
        // CSI: parameters, then one final byte.
        Some(b'[') => {
            let body = after.get(1..).unwrap_or_default();
            let end = body.iter().position(|b| !(0x20..0x40).contains(b));
            match end.and_then(|at| Some((at, body.get(at)?))) {
                Some((at, 0x40..0x7f)) => at + 2,
                _ => 1,
            }
        }
        // OSC: to BEL or ESC \, as in a terminal's title.
        Some(b']') => match after.iter().position(|b| matches!(*b, 7 | ESC)) {
            Some(at) if after.get(at) == Some(&7) => at + 1,
            Some(at) if after.get(at + 1) == Some(&b'\\') => at + 2,
            _ => 1,
        },
        Some(b'(' | b')' | b'*' | b'+' | b'#' | b' ') if after.len() > 1 => 2,
        Some(b'7' | b'8' | b'=' | b'>' | b'c' | b'D' | b'E' | b'H' | b'M') => 1,
        _ => 0,
    }
}

/// Returns `line` without the time stamps in front of it.
fn without_stamps(line: &[u8]) -> &[u8] {
    let mut rest = line;
    loop {
        // A record begins with @: the usual case is quick.
        let len = match rest.first() {
            Some(b'[') => bracketed(rest),
            Some(b'0'..=b'9') => clock(rest).or_else(|| seconds(rest)),
            Some(b'A'..=b'Z') => month(rest),
            _ => None,
        };
        match len.and_then(|len| rest.get(len..)) {
            Some(after) => rest = after.strip_prefix(b" ").unwrap_or(after),
            None => return rest,
        }
    }
}

/// Returns the length of `[...]` with a time: digits, their separators, a `:` or a
/// `.`.
fn bracketed(line: &[u8]) -> Option<usize> {
    let close = memchr(b']', line.get(..48.min(line.len()))?)?;
    let inner = line.get(1..close)?;
    let is_part = |b: &u8| b.is_ascii_digit() || b" -:.,TZ+/".contains(b);
    let weekday = inner
        .split(|b| *b == b' ')
        .all(|word| word.iter().all(is_part) || matches!(word.len(), 3) && is_name(word));
    let has = |set: &[u8]| inner.iter().any(|b| set.contains(b));
    (weekday && has(b":.") && inner.iter().any(u8::is_ascii_digit)).then_some(close + 1)
}

/// Returns true for the name of a day or month.
fn is_name(word: &[u8]) -> bool {
    const NAMES: &[u8] =
        b"Mon Tue Wed Thu Fri Sat Sun Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec";
    word.len() == 3 && NAMES.chunks(4).any(|name| name.starts_with(word))
}

/// Returns the length of `Jan  2 10:11:12`.
fn month(line: &[u8]) -> Option<usize> {
    let (name, day) = line.split_at_checked(4)?;
    if name.get(3) != Some(&b' ') || !is_name(&name[..3]) {
        return None;
    }
    let (day, time) = day.split_at_checked(3)?;
    let is_day = day.iter().all(|b| b.is_ascii_digit() || *b == b' ');
    is_day.then(|| Some(7 + clock(time)?))?
}

/// Returns the length of `2026-01-02 10:11:12.345`, also with a `T`, a zone, or
/// without the date; behind it a blank, a `>`, a `:` or a tab.
fn clock(line: &[u8]) -> Option<usize> {
    let mut at = shape(line, b"dddd-dd-dd").unwrap_or(0);
    if at > 0 {
        if !matches!(line.get(at), Some(b' ' | b'T' | b'_')) {
            return None;
        }
        at += 1;
    }
    at += shape(line.get(at..)?, b"dd:dd:dd")?;
    if let Some(b'.' | b',') = line.get(at) {
        at += 1 + digits(line.get(at + 1..)?);
    }
    match line.get(at) {
        Some(b'Z') => at += 1,
        Some(b'+' | b'-') => {
            let zone = line.get(at + 1..)?;
            at += 1 + shape(zone, b"dd:dd").or_else(|| shape(zone, b"dddd"))?;
        }
        _ => {}
    }
    match line.get(at) {
        Some(b'>' | b':' | b'|') => Some(at + 1),
        Some(b' ' | b'\t') => Some(at),
        _ => None,
    }
}

/// Returns the length of `1767348672.123456`: seconds with a fraction of three
/// digits or more.
fn seconds(line: &[u8]) -> Option<usize> {
    let whole = digits(line);
    let fraction = line.get(whole..)?.strip_prefix(b".")?;
    let parts = digits(fraction);
    let end = whole + 1 + parts;
    let blank = matches!(line.get(end), Some(b' ' | b'\t' | b':' | b'>'));
    (parts >= 3 && blank).then_some(end + usize::from(line.get(end) != Some(&b' ')))
}

fn digits(text: &[u8]) -> usize {
    text.iter().take_while(|b| b.is_ascii_digit()).count()
}

/// Returns the length of `form` if `text` begins so; a `d` there is a digit.
fn shape(text: &[u8], form: &[u8]) -> Option<usize> {
    let text = text.get(..form.len())?;
    let fits = |(have, want): (&u8, &u8)| match want {
        b'd' => have.is_ascii_digit(),
        _ => have == want,
    };
    text.iter().zip(form).all(fits).then_some(form.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn additions_of_terminals_are_removed() {
        for (line, text) in [
            ("@PB 0001 x", "@PB 0001 x"),
            ("[2026-01-02 10:11:12.345] @PB", "@PB"),
            ("[2026-01-02T10:11:12+01:00] @PB", "@PB"),
            ("2026-01-02T10:11:12.345678 @PB", "@PB"),
            ("2026-01-02 10:11:12 @PB", "@PB"),
            ("10:11:12.345 @PB", "@PB"),
            ("10:11:12.345> @PB", "@PB"),
            ("[   1.234567] @PB", "@PB"),
            ("[1.234567 0.000123] @PB", "@PB"),
            ("[Fri Jan  2 10:11:12 2026] @PB", "@PB"),
            ("Jan  2 10:11:12 @PB", "@PB"),
            ("1767348672.123456 @PB", "@PB"),
            ("[10:11:12] [    0.000000] @PB", "@PB"),
            ("\u{1b}[0;32m@PB\u{1b}[0m", "@PB"),
            ("\u{1b}]0;title\u{7}@PB\u{1b}(B\u{1b}[K", "@PB"),
            ("\0@Px\u{8}B\u{11}\u{13}", "@PB"),
            ("10:11:12.345   TEST COMPLETE", "  TEST COMPLETE"),
            ("  TEST COMPLETE", "  TEST COMPLETE"),
            ("[CPU 1] is no time", "[CPU 1] is no time"),
            ("10 samples", "10 samples"),
            ("Marching 10:11:12 on", "Marching 10:11:12 on"),
            ("", ""),
            ("[", "["),
            ("\u{1b}", ""),
            ("\u{1b}[", ""),
        ] {
            let mut cleaner = Cleaner::default();
            let clean = String::from_utf8_lossy(cleaner.clean(line.as_bytes())).into_owned();
            // Half an escape sequence may leave its bracket.
            assert_eq!(
                clean.trim_start_matches(if text.is_empty() { "[" } else { "" }),
                text,
                "{line:?}"
            );
        }
    }
}
