//! Parses numbers, names and data in AML (ACPI 6.5, section 20.2). AML is never executed.

use alloc::vec::Vec;

use super::opcodes::{self, Inline, Kind, Opcode};

/// A four-character name segment.
pub type Segment = [u8; 4];

/// An AML name, relative to its scope.
#[derive(Clone, Debug)]
pub struct Name {
    /// True if the name starts at the root.
    pub is_absolute: bool,
    /// The number of scopes to go up before resolving the name.
    pub ups: usize,
    pub segments: Vec<Segment>,
}

/// The value of a term, as far as it can be read without executing AML.
#[derive(Clone, Debug)]
pub enum Value<'m> {
    Integer(u64),
    Text(&'m [u8]),
    /// The contents of a buffer, without the leading size.
    Buffer(&'m [u8]),
    /// The elements of a package.
    Package(Stream<'m>),
    Name(Name),
    /// A buffer or package whose size is an expression.
    Computed,
}

/// A sequential reader for part of a table. Once a method has returned None, the position is
/// undefined.
#[derive(Clone, Debug)]
pub struct Stream<'m> {
    /// The bytes that have not been read, up to the end of the part.
    pub bytes: &'m [u8],
    /// The table offset of the next byte.
    pub at: usize,
}

impl<'m> Stream<'m> {
    /// Starts reading a table at an offset.
    pub fn new(table: &'m [u8], at: usize) -> Self {
        let bytes = table.get(at..).unwrap_or(&[]);
        Self { bytes, at }
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Reads the next `count` bytes.
    pub fn take(&mut self, count: usize) -> Option<&'m [u8]> {
        let (taken, rest) = self.bytes.split_at_checked(count)?;
        (self.bytes, self.at) = (rest, self.at + count);
        Some(taken)
    }

    pub fn byte(&mut self) -> Option<u8> {
        self.take(1)?.first().copied()
    }

    fn number(&mut self, size: usize) -> Option<u64> {
        super::table::read_number(self.take(size)?, 0, size)
    }

    /// Reads an opcode. For a two-byte opcode, bits 15:8 contain the first byte, 0x5b.
    pub fn opcode(&mut self) -> Option<u16> {
        match self.byte()? {
            0x5b => Some(0x5b00 | u16::from(self.byte()?)),
            byte => Some(byte.into()),
        }
    }

    /// Reads a length-prefixed block. The length includes the size of the length field itself
    /// (section 20.2.4).
    pub fn part(&mut self) -> Option<Self> {
        let mut ahead = self.clone();
        let lead = usize::from(ahead.byte()?);
        let length = match lead >> 6 {
            0 => lead & 0x3f,
            more => (ahead.number(more)? as usize) << 4 | lead & 0xf,
        };
        let start = ahead.at - self.at;
        let bytes = self.take(length)?.get(start..)?;
        Some(Self {
            bytes,
            at: ahead.at,
        })
    }

    /// Reads a name (section 20.2.2).
    pub fn name(&mut self) -> Option<Name> {
        let mut name = Name {
            is_absolute: false,
            ups: 0,
            segments: Vec::new(),
        };
        let mut lead = self.byte()?;
        if lead == b'\\' {
            (name.is_absolute, lead) = (true, self.byte()?);
        }
        while lead == b'^' && !name.is_absolute {
            (name.ups, lead) = (name.ups + 1, self.byte()?);
        }
        let count = match lead {
            0 => 0,
            0x2e => 2,
            0x2f => self.byte()?.into(),
            first => {
                let &[second, third, fourth] = self.take(3)?.first_chunk()?;
                name.segments.push([first, second, third, fourth]);
                0
            }
        };
        let segments = self.take(4 * count)?.as_chunks().0;
        name.segments.extend_from_slice(segments);
        let is_sound = |segment: &Segment| {
            let [first, ..] = segment;
            let is_plain = |byte: &u8| matches!(byte, b'A'..=b'Z' | b'0'..=b'9' | b'_');
            segment.iter().all(is_plain) && !first.is_ascii_digit()
        };
        name.segments.iter().all(is_sound).then_some(name)
    }

    /// Reads a data value, or a name that refers to one.
    pub fn value(&mut self) -> Option<Value<'m>> {
        let start = self.clone();
        Some(match self.opcode()? {
            0 => Value::Integer(0),
            1 => Value::Integer(1),
            0xff => Value::Integer(u64::MAX),
            0x0a => Value::Integer(self.number(1)?),
            0x0b => Value::Integer(self.number(2)?),
            0x0c => Value::Integer(self.number(4)?),
            0x0e => Value::Integer(self.number(8)?),
            // RevisionOp, whose value does not matter here.
            0x5b30 => Value::Integer(0),
            0x0d => Value::Text(self.text()?),
            0x11 => {
                let mut part = self.part()?;
                match part.value_of_size() {
                    Some(_) => Value::Buffer(part.bytes),
                    None => Value::Computed,
                }
            }
            0x12 => {
                let mut part = self.part()?;
                part.byte()?;
                Value::Package(part)
            }
            0x13 => {
                let mut part = self.part()?;
                match part.value_of_size() {
                    Some(_) => Value::Package(part),
                    None => Value::Computed,
                }
            }
            _ => {
                *self = start;
                Value::Name(self.name()?)
            }
        })
    }

    /// Reads the size of a buffer or package. To limit nesting, accepts only an integer or a name.
    fn value_of_size(&mut self) -> Option<Value<'m>> {
        match self.bytes.first()? {
            0x11..=0x13 => None,
            _ => self.value(),
        }
    }

    /// Reads a string after its opcode.
    fn text(&mut self) -> Option<&'m [u8]> {
        let text = self.take(self.bytes.iter().position(|byte| *byte == 0)?)?;
        self.byte()?;
        Some(text)
    }

    /// Skips an opcode and its inline bytes, but not its operands. Returns None, without moving, if
    /// the opcode is unknown or has to be read.
    pub fn skip_opcode(&mut self) -> Option<Opcode> {
        let mut ahead = self.clone();
        let known = opcodes::opcode(ahead.opcode()?);
        let opcode = known.unwrap_or(opcodes::CALL);
        if known.is_none() {
            ahead = self.clone();
        }
        match opcode.inline {
            Inline::Bytes(count) => {
                ahead.take(count)?;
            }
            Inline::Name(count) => {
                ahead.name()?;
                ahead.take(count)?;
            }
            Inline::Text => {
                ahead.text()?;
            }
            Inline::Block => {
                ahead.part()?;
            }
        }
        *self = ahead;
        Some(opcode)
    }

    /// Returns true if the next term is an If whose condition is the number 0.
    pub fn is_never_run(&self) -> bool {
        let mut ahead = self.clone();
        let is_if = ahead.opcode() == Some(0xa0);
        is_if && ahead.part().and_then(|mut part| part.byte()) == Some(0)
    }

    /// Skips operands. What is not an operand, such as a declaration, is left in place.
    pub fn skip_operands(&mut self, mut count: usize) {
        while count > 0 {
            let mut ahead = self.clone();
            match ahead.skip_opcode() {
                Some(operand) if operand.kind != Kind::Declaration => {
                    *self = ahead;
                    count += operand.operands;
                }
                _ => return,
            }
            count -= 1;
        }
    }
}
