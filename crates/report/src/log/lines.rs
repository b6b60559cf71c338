//! Reads a log line by line, with any line ending. At most one line is kept in memory.

use std::io::{self, BufRead, BufReader, Read};

use memchr::{memchr, memchr2};

/// The maximum line length. Longer lines are split.
pub(super) const LINE_MAX: usize = 1 << 16;
/// The number of bytes read at a time.
const CHUNK: usize = 1 << 18;

/// A line without its ending, which may be any sequence of CRs and LFs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct LogLine<'b> {
    /// The line number as shown by editors, which count line feeds, or CRs if there are no line
    /// feeds.
    pub(crate) number: u64,
    /// The offset of the line's first byte in the log.
    pub(crate) offset: u64,
    pub(crate) bytes: &'b [u8],
}

/// The lines read from a reader.
pub(crate) struct LogLines<R> {
    from: BufReader<R>,
    /// The number of bytes in `from`'s buffer that were returned; the next call consumes them.
    given: usize,
    /// The beginning of a line that continues in the next chunk.
    line: Vec<u8>,
    /// The line number of the next byte.
    number: u64,
    /// The number of bytes returned so far.
    pub(crate) offset: u64,
    /// The byte that counts as a line ending, determined by the first line.
    counted: Option<u8>,
    /// True if no part of line `number` has been returned yet.
    is_at_start: bool,
}

impl<R: Read> LogLines<R> {
    pub(crate) fn new(from: R) -> Self {
        Self {
            from: BufReader::with_capacity(CHUNK, from),
            given: 0,
            line: Vec::new(),
            number: 1,
            offset: 0,
            counted: None,
            is_at_start: true,
        }
    }

    /// Returns the number of lines started so far.
    pub(crate) fn count(&self) -> u64 {
        self.number - u64::from(self.is_at_start)
    }

    /// Returns the next line, or None at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<LogLine<'_>>> {
        self.from.consume(std::mem::take(&mut self.given));
        self.line.clear();
        let number = self.number;
        let offset = self.offset;
        let (len, end) = loop {
            let chunk = match self.from.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            let bytes = &chunk[..chunk.len().min(LINE_MAX - self.line.len())];
            let end_index = memchr2(b'\n', b'\r', bytes);
            let end = end_index.map(|index| bytes[index]);
            if self.counted.is_none() && end.is_some() {
                let counted_index = memchr(b'\n', bytes).or(end_index);
                self.counted = counted_index.map(|index| bytes[index]);
            }
            let len = end_index.unwrap_or(bytes.len());
            let consumed_len = len + usize::from(end.is_some());
            self.offset += consumed_len as u64;
            if consumed_len == 0 || end.is_some() {
                self.given = consumed_len;
                break (len, end);
            }
            self.line.extend_from_slice(bytes);
            self.from.consume(consumed_len);
        };
        if self.offset == offset {
            return Ok(None);
        }
        self.is_at_start = end.is_some() && end == self.counted;
        self.number += u64::from(self.is_at_start);
        let rest = &self.from.buffer()[..len];
        if !self.line.is_empty() {
            self.line.extend_from_slice(rest);
        }
        let bytes = if self.line.is_empty() {
            rest
        } else {
            &self.line
        };
        Ok(Some(LogLine {
            number,
            offset,
            bytes,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number, offset and bytes of each line that is not empty.
    fn read_all(mut lines: LogLines<impl Read>) -> Vec<(u64, u64, Vec<u8>)> {
        let mut read = Vec::new();
        while let Some(line) = lines.next().expect("reads") {
            if !line.bytes.is_empty() {
                read.push((line.number, line.offset, line.bytes.to_vec()));
            }
        }
        read
    }

    #[test]
    fn lines_end_by_any_mixture_of_cr_and_lf() {
        let log = b"a\nbb\r\nc\r\r\nd\re\n\rf";
        let expected = [
            (1, 0, "a"),
            (2, 2, "bb"),
            (3, 6, "c"),
            (4, 10, "d"),
            (4, 12, "e"),
            (5, 15, "f"),
        ]
        .map(|(number, offset, text)| (number, offset, text.into()));
        assert_eq!(read_all(LogLines::new(&log[..])), expected);
        let mut slow = LogLines::new(&log[..]);
        slow.from = BufReader::with_capacity(1, &log[..]);
        assert_eq!(read_all(slow), expected);
        let lines = read_all(LogLines::new(&b"a\rb\rc"[..]));
        assert!(lines.iter().map(|line| line.0).eq([1, 2, 3]));
        let endless = vec![b'x'; 3 * LINE_MAX + 7];
        let pieces = read_all(LogLines::new(&endless[..]));
        let len: usize = pieces.iter().map(|piece| piece.2.len()).sum();
        assert_eq!((pieces.len(), len, pieces[3].0), (4, endless.len(), 1));
    }
}
