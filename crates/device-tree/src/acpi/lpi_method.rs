//! What an `_LPI` method returns, as far as its terms show it. AML is never executed.

use core::fmt;

use super::aml::{Segment, Stream, Value};
use super::namespace::{Namespace, Object, ObjectPath};
use super::opcodes::{self, Kind};

const NAME: u16 = 0x08;
const IF: u16 = 0xa0;
const ELSE: u16 = 0xa1;
const RETURN: u16 = 0xa4;

/// A named integer that decides what methods return.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switch {
    pub path: ObjectPath,
    /// The value in the tables. Firmware or an operating system can change it later.
    pub value: u64,
}

impl Switch {
    /// Returns a value with which methods take the other branch.
    pub fn other_value(&self) -> u64 {
        u64::from(self.value == 0)
    }
}

/// The value that a method returns, None if it returns nothing, or the reason why the value is not
/// known.
type ReturnedValue<'m> = Result<Option<Value<'m>>, Obstacle>;

/// What a method returns.
pub struct Returned<'m> {
    /// The switch that the method depends on, if any.
    pub switch: Option<Switch>,
    /// What is returned if the switch is not 0, or if there is no switch.
    pub if_set: ReturnedValue<'m>,
    /// What is returned if the switch is 0.
    pub if_clear: ReturnedValue<'m>,
}

impl<'m> Returned<'m> {
    /// Reads the terms of the method at `path`.
    ///
    /// # Errors
    /// Returns the reason if it is not known on what the returned value depends.
    pub fn read(
        namespace: &Namespace<'m>,
        path: &[Segment],
        mut terms: Stream<'m>,
    ) -> Result<Self, Obstacle> {
        skip_declarations(&mut terms)?;
        let mut ahead = terms.clone();
        if ahead.opcode() != Some(IF) {
            let value = match returned(terms) {
                Ok(None) => Err(Obstacle::Nothing),
                value => value,
            };
            return Ok(Self {
                switch: None,
                if_set: value.clone(),
                if_clear: value,
            });
        }
        let mut block = ahead.part().ok_or(Obstacle::Unreadable)?;
        let switch = switch(namespace, path, &mut block)?;
        let mut rest = ahead.clone();
        let mut other_block = None;
        if ahead.opcode() == Some(ELSE) {
            other_block = Some(ahead.part().ok_or(Obstacle::Unreadable)?);
            rest = ahead;
        }
        Ok(Self {
            switch: Some(switch),
            if_set: first_returned([Some(block), Some(rest.clone())]),
            if_clear: first_returned([other_block, Some(rest)]),
        })
    }
}

/// Returns the value that the first of two lists of terms returns, or otherwise the second one.
fn first_returned<'m>(lists: [Option<Stream<'m>>; 2]) -> ReturnedValue<'m> {
    for terms in lists.into_iter().flatten() {
        if let Some(value) = returned(terms)? {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// Skips terms that do not affect what a method returns.
fn skip_declarations(terms: &mut Stream<'_>) -> Result<(), Obstacle> {
    loop {
        let mut ahead = terms.clone();
        let is_skipped = match ahead.clone().opcode() {
            // The namespace has the value.
            Some(NAME) => {
                ahead.opcode();
                ahead.name().and_then(|_| ahead.value()).is_some()
            }
            Some(number) => match opcodes::opcode(number) {
                Some(opcode) if matches!(opcode.kind, Kind::Declaration | Kind::Filler) => {
                    let is_read = ahead.skip_opcode().is_some();
                    ahead.skip_operands(opcode.operands);
                    is_read
                }
                _ => return Ok(()),
            },
            None => return Ok(()),
        };
        if !is_skipped {
            return Err(Obstacle::Unreadable);
        }
        *terms = ahead;
    }
}

/// Returns the value that a list of terms returns; None if it ends without a Return.
fn returned<'m>(mut terms: Stream<'m>) -> ReturnedValue<'m> {
    skip_declarations(&mut terms)?;
    if terms.is_empty() {
        return Ok(None);
    }
    let number = terms.opcode().ok_or(Obstacle::Unreadable)?;
    if number == RETURN {
        return match terms.value() {
            Some(value) => Ok(Some(value)),
            None => Err(Obstacle::Expression),
        };
    }
    let opcode = opcodes::opcode(number).unwrap_or(opcodes::CALL);
    Err(Obstacle::Code(opcode.name))
}

/// Reads the condition of an If.
fn switch<'m>(
    namespace: &Namespace<'m>,
    path: &[Segment],
    block: &mut Stream<'m>,
) -> Result<Switch, Obstacle> {
    let Some(Value::Name(name)) = block.value() else {
        return Err(Obstacle::Condition);
    };
    match namespace.find(path, &name) {
        Some((path, Object::Value(Value::Integer(value)))) => Ok(Switch {
            path,
            value: *value,
        }),
        _ => Err(Obstacle::Condition),
    }
}

/// A reason why it is not known what a method returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A term is malformed.
    Unreadable,
    /// The method contains a term of this kind.
    Code(&'static str),
    /// The condition of an If is not a named integer.
    Condition,
    /// The value of a Return is neither data nor a name.
    Expression,
    /// The method has no Return.
    Nothing,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable => f.write_str("its AML cannot be read"),
            Self::Code(name) => {
                write!(f, "only executing it would show what it returns ({name})")
            }
            Self::Condition => f.write_str("the condition of its If is not a named integer"),
            Self::Expression => f.write_str("it returns the value of an expression"),
            Self::Nothing => f.write_str("it returns nothing"),
        }
    }
}
