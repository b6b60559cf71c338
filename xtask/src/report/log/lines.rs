//! Lines of a log, whatever ends them, without holding more than one.

use std::io::{self, Read};

use memchr::memchr2;

/// The longest line that is kept together; a longer one comes in pieces.
const LINE_MAX: usize = 1 << 16;
/// The number of bytes that are read at a time.
const CHUNK: usize = 1 << 18;

/// A line without its end, which may be CR, LF, or any row of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::report) struct Line<'b> {
    /// The number, from 1, as editors count: by line feeds.
    pub(in crate::report) number: u64,
    /// The place of its first byte in the log.
    pub(in crate::report) offset: u64,
    /// The bytes.
    pub(in crate::report) bytes: &'b [u8],
}

/// The lines of a reader.
pub(in crate::report) struct Lines<R> {
    from: R,
    buffer: Vec<u8>,
    /// The part of `buffer` that is not given out yet.
    start: usize,
    end: usize,
    /// Number and offset of the byte at `start`.
    number: u64,
    offset: u64,
    /// True if nothing of the line with `number` was given out.
    is_at_start: bool,
}

impl<R: Read> Lines<R> {
    pub(in crate::report) fn of(from: R) -> Self {
        Self {
            from,
            buffer: vec![0; CHUNK],
            start: 0,
            end: 0,
            number: 1,
            offset: 0,
            is_at_start: true,
        }
    }

    /// Returns the number of bytes that were given out.
    pub(in crate::report) fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the number of lines that were begun.
    pub(in crate::report) fn count(&self) -> u64 {
        self.number - u64::from(self.is_at_start)
    }

    /// Returns the next line; None at the end.
    pub(in crate::report) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        let mut searched = 0;
        let (len, ended) = loop {
            let rest = self.buffer.get(self.start..self.end).unwrap_or_default();
            let fresh = rest.get(searched..).unwrap_or_default();
            if let Some(at) = memchr2(b'\n', b'\r', fresh) {
                break (searched + at, true);
            }
            if rest.len() >= LINE_MAX {
                break (LINE_MAX, false);
            }
            searched = rest.len();
            if self.fill()? == 0 {
                if searched == 0 {
                    return Ok(None);
                }
                break (searched, false);
            }
        };
        let (number, offset, start) = (self.number, self.offset, self.start);
        let taken = len + usize::from(ended);
        self.start += taken;
        self.offset += taken as u64;
        self.is_at_start = ended && self.buffer.get(start + len) == Some(&b'\n');
        self.number += u64::from(self.is_at_start);
        let bytes = self.buffer.get(start..start + len).unwrap_or_default();
        Ok(Some(Line {
            number,
            offset,
            bytes,
        }))
    }

    /// Reads more bytes behind those in the buffer.
    fn fill(&mut self) -> io::Result<usize> {
        self.buffer.copy_within(self.start..self.end, 0);
        self.end -= self.start;
        self.start = 0;
        let room = self.buffer.get_mut(self.end..).unwrap_or_default();
        loop {
            match self.from.read(room) {
                Ok(count) => {
                    self.end += count;
                    return Ok(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

const _: () = assert!(CHUNK > LINE_MAX);

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte at a time.
    struct Slow<'b>(&'b [u8]);

    impl Read for Slow<'_> {
        fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
            let Some((first, rest)) = self.0.split_first() else {
                return Ok(0);
            };
            room[0] = *first;
            self.0 = rest;
            Ok(1)
        }
    }

    fn all(mut lines: Lines<impl Read>) -> Vec<(u64, u64, Vec<u8>)> {
        let mut all = Vec::new();
        while let Some(line) = lines.next().expect("reads") {
            if !line.bytes.is_empty() {
                all.push((line.number, line.offset, line.bytes.to_vec()));
            }
        }
        all
    }

    #[test]
    fn lines_end_by_any_mixture_of_cr_and_lf() {
        let log = b"a\nbb\r\nc\r\r\nd\re\n\rf";
        let expected: Vec<(u64, u64, Vec<u8>)> = vec![
            (1, 0, b"a".to_vec()),
            (2, 2, b"bb".to_vec()),
            (3, 6, b"c".to_vec()),
            (4, 10, b"d".to_vec()),
            (4, 12, b"e".to_vec()),
            (5, 15, b"f".to_vec()),
        ];
        assert_eq!(all(Lines::of(&log[..])), expected);
        assert_eq!(all(Lines::of(Slow(log))), expected);
        assert_eq!(all(Lines::of(&b""[..])), []);
    }

    #[test]
    fn lines_are_counted_as_editors_do() {
        for (log, count) in [
            (&b""[..], 0),
            (b"a", 1),
            (b"a\n", 1),
            (b"a\nb", 2),
            (b"\n\n", 2),
        ] {
            let mut lines = Lines::of(log);
            while lines.next().expect("reads").is_some() {}
            assert_eq!(lines.count(), count, "{log:?}");
        }
    }

    #[test]
    fn endless_line_comes_in_pieces() {
        let log = vec![b'x'; 3 * LINE_MAX + 7];
        let pieces: Vec<_> = all(Lines::of(&log[..]));
        assert_eq!(pieces.len(), 4);
        assert!(pieces.iter().all(|piece| piece.0 == 1));
        assert_eq!(
            pieces.iter().map(|piece| piece.2.len()).sum::<usize>(),
            log.len()
        );
    }
}
