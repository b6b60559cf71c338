//! Writes values as JSON, as far as records need it. serde_json, which reads them, has several
//! times the code.

use alloc::string::String;
use core::fmt::{self, Write};

use serde::{Serialize, Serializer, ser};

/// Appends `value` to `text`: in ASCII, without spaces between values, and without `@`.
///
/// # Panics
/// Panics if `value` has fractions, characters or bytes, which no record has.
pub fn append(text: &mut String, value: &impl Serialize) {
    let Ok(()) = value.serialize(Json(text));
}

/// Writing to a `String` does not fail.
#[derive(Debug)]
enum Never {}

impl fmt::Display for Never {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

impl ser::Error for Never {
    fn custom<T: fmt::Display>(message: T) -> Self {
        panic!("{message}");
    }
}

impl ser::StdError for Never {}

type Written = Result<(), Never>;

/// Writes one value.
struct Json<'t>(&'t mut String);

impl<'t> Json<'t> {
    // Not inlined, like the functions below, as they are called for each type of value.
    #[inline(never)]
    fn word(self, word: &str) -> Written {
        self.0.push_str(word);
        Ok(())
    }

    fn number(self, number: impl fmt::Display) -> Written {
        let _ = write!(self.0, "{number}");
        Ok(())
    }

    #[inline(never)]
    fn list(self, begin: &'static str, end: &'static str) -> List<'t> {
        self.0.push_str(begin);
        List {
            text: self.0,
            end,
            is_first: true,
        }
    }

    /// Begins an object with the name of a variant, whose contents follow.
    #[inline(never)]
    fn variant(self, name: &'static str) -> Self {
        self.0.push('{');
        push_key(self.0, name);
        self
    }
}

fn push_key(text: &mut String, key: &'static str) {
    push_text(text, key);
    text.push(':');
}

fn push_text(text: &mut String, value: &str) {
    text.push('"');
    for c in value.chars() {
        match c {
            '"' | '\\' => text.extend(['\\', c]),
            ' '..='~' if c != '@' => text.push(c),
            _ => {
                for unit in c.encode_utf16(&mut [0; 2]) {
                    let _ = write!(text, "\\u{unit:04x}");
                }
            }
        }
    }
    text.push('"');
}

/// Writes the elements of an array or an object.
struct List<'t> {
    text: &'t mut String,
    end: &'static str,
    is_first: bool,
}

impl List<'_> {
    /// Returns the writer of the next element.
    #[inline(never)]
    fn next(&mut self) -> Json<'_> {
        if !self.is_first {
            self.text.push(',');
        }
        self.is_first = false;
        Json(self.text)
    }

    /// Returns the writer of the next field's value.
    #[inline(never)]
    fn field(&mut self, key: &'static str) -> Json<'_> {
        push_key(self.next().0, key);
        Json(self.text)
    }

    fn close(self) -> Written {
        Json(self.text).word(self.end)
    }
}

impl<'t> Serializer for Json<'t> {
    type Ok = ();
    type Error = Never;
    type SerializeSeq = List<'t>;
    type SerializeTuple = List<'t>;
    type SerializeTupleStruct = List<'t>;
    type SerializeTupleVariant = List<'t>;
    type SerializeMap = List<'t>;
    type SerializeStruct = List<'t>;
    type SerializeStructVariant = List<'t>;

    fn serialize_bool(self, value: bool) -> Written {
        self.word(if value { "true" } else { "false" })
    }

    fn serialize_i8(self, value: i8) -> Written {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Written {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Written {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Written {
        self.number(value)
    }

    fn serialize_u8(self, value: u8) -> Written {
        self.serialize_u64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Written {
        self.serialize_u64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Written {
        self.serialize_u64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Written {
        self.number(value)
    }

    fn serialize_f32(self, _: f32) -> Written {
        unimplemented!()
    }

    fn serialize_f64(self, _: f64) -> Written {
        unimplemented!()
    }

    fn serialize_char(self, _: char) -> Written {
        unimplemented!()
    }

    fn serialize_str(self, value: &str) -> Written {
        push_text(self.0, value);
        Ok(())
    }

    fn serialize_bytes(self, _: &[u8]) -> Written {
        unimplemented!()
    }

    fn serialize_none(self) -> Written {
        self.serialize_unit()
    }

    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Written {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Written {
        self.word("null")
    }

    fn serialize_unit_struct(self, _: &'static str) -> Written {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _: &'static str, _: u32, name: &'static str) -> Written {
        self.serialize_str(name)
    }

    fn serialize_newtype_struct<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        value: &T,
    ) -> Written {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        value: &T,
    ) -> Written {
        let Json(text) = self.variant(name);
        value.serialize(Json(text))?;
        Json(text).word("}")
    }

    fn serialize_seq(self, _: Option<usize>) -> Result<List<'t>, Never> {
        Ok(self.list("[", "]"))
    }

    fn serialize_tuple(self, _: usize) -> Result<List<'t>, Never> {
        Ok(self.list("[", "]"))
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<List<'t>, Never> {
        Ok(self.list("[", "]"))
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<List<'t>, Never> {
        Ok(self.variant(name).list("[", "]}"))
    }

    fn serialize_map(self, _: Option<usize>) -> Result<List<'t>, Never> {
        Ok(self.list("{", "}"))
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<List<'t>, Never> {
        Ok(self.list("{", "}"))
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        name: &'static str,
        _: usize,
    ) -> Result<List<'t>, Never> {
        Ok(self.variant(name).list("{", "}}"))
    }
}

impl ser::SerializeMap for List<'_> {
    type Ok = ();
    type Error = Never;

    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Written {
        key.serialize(self.next())
    }

    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
        self.text.push(':');
        value.serialize(Json(self.text))
    }

    fn end(self) -> Written {
        self.close()
    }
}

/// Implements serde's traits for the elements of arrays, which differ only in name.
macro_rules! elements {
    ($($list:ident $element:ident,)+) => {$(
        impl ser::$list for List<'_> {
            type Ok = ();
            type Error = Never;

            fn $element<T: Serialize + ?Sized>(&mut self, value: &T) -> Written {
                value.serialize(self.next())
            }

            fn end(self) -> Written {
                self.close()
            }
        }
    )+};
}

elements! {
    SerializeSeq serialize_element,
    SerializeTuple serialize_element,
    SerializeTupleStruct serialize_field,
    SerializeTupleVariant serialize_field,
}

/// Implements serde's traits for the fields of objects.
macro_rules! fields {
    ($($list:ident,)+) => {$(
        impl ser::$list for List<'_> {
            type Ok = ();
            type Error = Never;

            fn serialize_field<T: Serialize + ?Sized>(
                &mut self,
                key: &'static str,
                value: &T,
            ) -> Written {
                value.serialize(self.field(key))
            }

            fn end(self) -> Written {
                self.close()
            }
        }
    )+};
}

fields! {
    SerializeStruct,
    SerializeStructVariant,
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::vec;
    use std::vec::Vec;

    use super::*;

    #[derive(Serialize)]
    struct Unit;

    #[derive(Serialize)]
    struct Pair(i8, u64);

    #[derive(Serialize)]
    struct Named {
        number: Option<i64>,
        text: &'static str,
    }

    #[derive(Serialize)]
    enum Each {
        Unit,
        One(Unit),
        Two(bool, u16),
        Named { list: Vec<Pair> },
    }

    #[test]
    fn values_are_written_as_serde_json_writes_them() {
        let all = (
            BTreeMap::from([("a", 1u8), ("b", 2)]),
            Named {
                number: Some(i64::MIN),
                text: r#""a\b""#,
            },
            Named {
                number: None,
                text: "",
            },
            [
                Each::Unit,
                Each::One(Unit),
                Each::Two(true, 3),
                Each::Named {
                    list: vec![Pair(-1, u64::MAX), Pair(0, 0)],
                },
                Each::Named { list: Vec::new() },
            ],
            Result::<u32, u8>::Err(7),
        );
        let mut text = String::from("before ");
        append(&mut text, &all);
        let expected = serde_json::to_string(&all).expect("no fractions");
        assert_eq!(text, std::format!("before {expected}"));
    }

    #[test]
    fn text_is_ascii_without_at_signs() {
        let mut text = String::new();
        append(&mut text, &"a@b\n\u{7f}\u{b5}\u{1f600}");
        assert_eq!(text, r#""a\u0040b\u000a\u007f\u00b5\ud83d\ude00""#);
        let read: String = serde_json::from_str(&text).expect("JSON");
        assert_eq!(read, "a@b\n\u{7f}\u{b5}\u{1f600}");
    }
}
