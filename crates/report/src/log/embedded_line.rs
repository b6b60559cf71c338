//! Finds lines of a run in damaged text: after other text, or broken into parts.

use std::sync::LazyLock;

use memchr::memmem;
use regex::bytes;
use suite::model::{self, Status};
use suite::record::RecordLine;

use super::plain_line::{PlainLine, TALLY, parse, tally};

/// Returns the offset of the first known line in `line`, which may have other text before it. Only
/// lines that do not occur in other text are considered, so last lines are not.
pub(super) fn find_known(line: &[u8]) -> Option<usize> {
    static BEGIN: LazyLock<bytes::Regex> = LazyLock::new(|| {
        let begins = r"(?-u)@PB |<RT_INSTR:|> Executing '|psci-bench |NOTICE:|  TEST COMPLETE";
        bytes::Regex::new(begins).expect("a pattern")
    });
    let mut begins = BEGIN.find_iter(line).map(|mark| mark.start());
    begins.find(|offset| is_known(&line[*offset..]))
}

/// Returns true if a line contains one that is printed while firmware or the payload starts. It may
/// have other text before it.
pub(super) fn is_of_boot(line: &[u8]) -> bool {
    find_known(line).is_some_and(|offset| {
        matches!(
            parse(&line[offset..]),
            PlainLine::Version { .. }
                | PlainLine::Built { .. }
                | PlainLine::TftfStart
                | PlainLine::Payload(_)
        )
    })
}

fn is_known(line: &[u8]) -> bool {
    if RecordLine::parse(line).is_some() {
        return true;
    }
    match parse(line) {
        PlainLine::Version { .. }
        | PlainLine::Built { .. }
        | PlainLine::TftfStart
        | PlainLine::RunningAt(_)
        | PlainLine::Payload(_)
        | PlainLine::Begin(Some(_))
        | PlainLine::RtInstr(_) => true,
        PlainLine::Complete(status) => status != Status::Unknown,
        _ => false,
    }
}

/// Returns true if `text` is a line of its own rather than the rest of another one.
pub(super) fn is_line(text: &[u8]) -> bool {
    find_known(text) == Some(0) || parse(text) != PlainLine::Other
}

/// Returns a run's last line, or a count from TFTF's summary, that has other text before it. Both
/// can only show that something is missing.
pub(super) fn find_hidden(line: &[u8]) -> PlainLine<'_> {
    let find = |mark: &[u8]| {
        let offset = memmem::find(line, mark)?;
        str::from_utf8(&line[offset..]).ok()
    };
    let closing = find(model::PREFIX.as_bytes()).map(PlainLine::HiddenClosing);
    let tally = || find(TALLY.as_bytes()).and_then(|count| tally(count.trim_end()));
    closing.or_else(tally).unwrap_or(PlainLine::Other)
}

/// Joins `begun`, the start of an RT_INSTR line broken by a terminal, with its next part. Returns
/// None if `line` may be something else. If both ends are digits, more digits or a space may be
/// missing between them.
pub(super) fn joined(begun: &[u8], line: &[u8]) -> Option<Vec<u8>> {
    let may_belong = |byte: &u8| byte.is_ascii_alphanumeric() || b"_ \t/>".contains(byte);
    let are_digits = begun.last()?.is_ascii_digit() && line.first()?.is_ascii_digit();
    let is_certain = !are_digits && line.iter().all(may_belong);
    (is_certain && parse(line) == PlainLine::Other).then(|| [begun, line].concat())
}
