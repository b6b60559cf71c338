//! The AML opcodes that the reader skips (ACPI 6.5, section 20.3).

use Inline::{Block, Bytes, Name, Text};

/// The bytes between an opcode and its operands.
#[derive(Clone, Copy, Debug)]
pub enum Inline {
    /// This number of bytes.
    Bytes(usize),
    /// A name, followed by this number of bytes.
    Name(usize),
    /// A string that ends with a zero byte.
    Text,
    /// A block that starts with its length. It contains all operands.
    Block,
}

/// What skipping a term means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A declaration of an object that has no idle states.
    Declaration,
    /// A term that has no effect. Firmware overwrites terms in place with such terms.
    Filler,
    /// Code in a block that depends on a condition.
    Conditional,
    /// Other code.
    Code,
}

/// An opcode that can be skipped.
#[derive(Clone, Copy, Debug)]
pub struct Opcode {
    pub kind: Kind,
    /// The ASL name.
    pub name: &'static str,
    pub inline: Inline,
    /// The number of operands that are terms.
    pub operands: usize,
}

/// A method call. The number of its arguments is unknown without the method, so they are skipped
/// like terms of their own.
pub const CALL: Opcode = code("method call", Name(0), 0);

const fn term(kind: Kind, name: &'static str, inline: Inline, operands: usize) -> Opcode {
    Opcode {
        kind,
        name,
        inline,
        operands,
    }
}

const fn code(name: &'static str, inline: Inline, operands: usize) -> Opcode {
    term(Kind::Code, name, inline, operands)
}

const fn declaration(name: &'static str, inline: Inline, operands: usize) -> Opcode {
    term(Kind::Declaration, name, inline, operands)
}

const fn filler(name: &'static str) -> Opcode {
    term(Kind::Filler, name, Bytes(0), 0)
}

const fn conditional(name: &'static str) -> Opcode {
    term(Kind::Conditional, name, Block, 0)
}

/// The opcodes that can be skipped, in ascending order. Each row has the first and the last number
/// of an opcode; see [`super::aml::Stream::opcode`].
#[rustfmt::skip]
static OPCODES: &[(u16, u16, Opcode)] = &[
    (0x00, 0x00, filler("Zero")),
    (0x01, 0x01, filler("One")),
    // The comparisons in Match are numbers, not opcodes.
    (0x02, 0x05, code("comparison", Bytes(0), 0)),
    (0x0a, 0x0a, code("integer", Bytes(1), 0)),
    (0x0b, 0x0b, code("integer", Bytes(2), 0)),
    (0x0c, 0x0c, code("integer", Bytes(4), 0)),
    (0x0d, 0x0d, code("string", Text, 0)),
    (0x0e, 0x0e, code("integer", Bytes(8), 0)),
    (0x11, 0x11, code("Buffer", Block, 0)),
    (0x12, 0x13, code("Package", Block, 0)),
    (0x15, 0x15, declaration("External", Name(2), 0)),
    (0x60, 0x67, code("Local", Bytes(0), 0)),
    (0x68, 0x6e, code("Arg", Bytes(0), 0)),
    (0x70, 0x70, code("Store", Bytes(0), 2)),
    (0x71, 0x71, code("RefOf", Bytes(0), 1)),
    (0x72, 0x72, code("Add", Bytes(0), 3)),
    (0x73, 0x73, code("Concatenate", Bytes(0), 3)),
    (0x74, 0x74, code("Subtract", Bytes(0), 3)),
    (0x75, 0x75, code("Increment", Bytes(0), 1)),
    (0x76, 0x76, code("Decrement", Bytes(0), 1)),
    (0x77, 0x77, code("Multiply", Bytes(0), 3)),
    (0x78, 0x78, code("Divide", Bytes(0), 4)),
    (0x79, 0x79, code("ShiftLeft", Bytes(0), 3)),
    (0x7a, 0x7a, code("ShiftRight", Bytes(0), 3)),
    (0x7b, 0x7b, code("And", Bytes(0), 3)),
    (0x7c, 0x7c, code("NAnd", Bytes(0), 3)),
    (0x7d, 0x7d, code("Or", Bytes(0), 3)),
    (0x7e, 0x7e, code("NOr", Bytes(0), 3)),
    (0x7f, 0x7f, code("XOr", Bytes(0), 3)),
    (0x80, 0x80, code("Not", Bytes(0), 2)),
    (0x81, 0x81, code("FindSetLeftBit", Bytes(0), 2)),
    (0x82, 0x82, code("FindSetRightBit", Bytes(0), 2)),
    (0x83, 0x83, code("DerefOf", Bytes(0), 1)),
    (0x84, 0x84, code("ConcatenateResTemplate", Bytes(0), 3)),
    (0x85, 0x85, code("Mod", Bytes(0), 3)),
    (0x86, 0x86, code("Notify", Bytes(0), 2)),
    (0x87, 0x87, code("SizeOf", Bytes(0), 1)),
    (0x88, 0x88, code("Index", Bytes(0), 3)),
    (0x89, 0x89, code("Match", Bytes(0), 6)),
    (0x8a, 0x8a, declaration("CreateDWordField", Bytes(0), 3)),
    (0x8b, 0x8b, declaration("CreateWordField", Bytes(0), 3)),
    (0x8c, 0x8c, declaration("CreateByteField", Bytes(0), 3)),
    (0x8d, 0x8d, declaration("CreateBitField", Bytes(0), 3)),
    (0x8e, 0x8e, code("ObjectType", Bytes(0), 1)),
    (0x8f, 0x8f, declaration("CreateQWordField", Bytes(0), 3)),
    (0x90, 0x90, code("LAnd", Bytes(0), 2)),
    (0x91, 0x91, code("LOr", Bytes(0), 2)),
    (0x92, 0x92, code("LNot", Bytes(0), 1)),
    (0x93, 0x93, code("LEqual", Bytes(0), 2)),
    (0x94, 0x94, code("LGreater", Bytes(0), 2)),
    (0x95, 0x95, code("LLess", Bytes(0), 2)),
    (0x96, 0x96, code("ToBuffer", Bytes(0), 2)),
    (0x97, 0x97, code("ToDecimalString", Bytes(0), 2)),
    (0x98, 0x98, code("ToHexString", Bytes(0), 2)),
    (0x99, 0x99, code("ToInteger", Bytes(0), 2)),
    (0x9c, 0x9c, code("ToString", Bytes(0), 3)),
    (0x9d, 0x9d, code("CopyObject", Bytes(0), 2)),
    (0x9e, 0x9e, code("Mid", Bytes(0), 4)),
    (0x9f, 0x9f, code("Continue", Bytes(0), 0)),
    (0xa0, 0xa0, conditional("If")),
    (0xa1, 0xa1, conditional("Else")),
    (0xa2, 0xa2, conditional("While")),
    (0xa3, 0xa3, filler("Noop")),
    (0xa4, 0xa4, code("Return", Bytes(0), 1)),
    (0xa5, 0xa5, code("Break", Bytes(0), 0)),
    (0xcc, 0xcc, code("BreakPoint", Bytes(0), 0)),
    (0xff, 0xff, filler("Ones")),
    (0x5b01, 0x5b01, declaration("Mutex", Name(1), 0)),
    (0x5b02, 0x5b02, declaration("Event", Name(0), 0)),
    (0x5b12, 0x5b12, code("CondRefOf", Bytes(0), 2)),
    (0x5b13, 0x5b13, declaration("CreateField", Bytes(0), 4)),
    (0x5b1f, 0x5b1f, code("LoadTable", Bytes(0), 6)),
    (0x5b20, 0x5b20, code("Load", Bytes(0), 2)),
    (0x5b21, 0x5b21, code("Stall", Bytes(0), 1)),
    (0x5b22, 0x5b22, code("Sleep", Bytes(0), 1)),
    // A mutex and a timeout.
    (0x5b23, 0x5b23, code("Acquire", Name(2), 0)),
    (0x5b24, 0x5b24, code("Signal", Bytes(0), 1)),
    (0x5b25, 0x5b25, code("Wait", Bytes(0), 2)),
    (0x5b26, 0x5b26, code("Reset", Bytes(0), 1)),
    (0x5b27, 0x5b27, code("Release", Bytes(0), 1)),
    (0x5b28, 0x5b28, code("FromBCD", Bytes(0), 2)),
    (0x5b29, 0x5b29, code("ToBCD", Bytes(0), 2)),
    (0x5b2a, 0x5b2a, code("Unload", Bytes(0), 1)),
    (0x5b30, 0x5b30, code("Revision", Bytes(0), 0)),
    (0x5b31, 0x5b31, code("Debug", Bytes(0), 0)),
    // A type and a code.
    (0x5b32, 0x5b32, code("Fatal", Bytes(5), 1)),
    (0x5b33, 0x5b33, code("Timer", Bytes(0), 0)),
    (0x5b80, 0x5b80, declaration("OperationRegion", Name(1), 2)),
    (0x5b81, 0x5b81, declaration("Field", Block, 0)),
    (0x5b84, 0x5b84, declaration("PowerResource", Block, 0)),
    (0x5b85, 0x5b85, declaration("ThermalZone", Block, 0)),
    (0x5b86, 0x5b86, declaration("IndexField", Block, 0)),
    (0x5b87, 0x5b87, declaration("BankField", Block, 0)),
    (0x5b88, 0x5b88, declaration("DataTableRegion", Name(0), 3)),
];

/// Returns the opcode with this number, or None if there is none or if it has to be read, not
/// skipped.
pub fn opcode(number: u16) -> Option<Opcode> {
    let next_index = OPCODES.partition_point(|(_, last_number, _)| *last_number < number);
    let (first, _, opcode) = OPCODES.get(next_index)?;
    (*first <= number).then_some(*opcode)
}

#[cfg(test)]
mod tests {
    use super::OPCODES;

    #[test]
    fn opcodes_are_in_ascending_order() {
        assert!(
            OPCODES
                .iter()
                .all(|(first_number, last_number, _)| first_number <= last_number)
        );
        let mut pairs = OPCODES.array_windows();
        assert!(pairs.all(|[one, other]| one.1 < other.0));
    }
}
