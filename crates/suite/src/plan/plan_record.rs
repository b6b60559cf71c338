//! A plan as it is stored in records and in JSON: an object with the boot arguments. Arguments that
//! are unknown or not set are absent.

use alloc::string::{String, ToString as _};
use core::fmt;

use hardware::text::keywords::Word;
use serde::de::{self, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::arguments::{Key, Plan};

impl Serialize for Plan {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        for (key, text) in self.known() {
            match text.parse::<u32>() {
                Ok(number) => map.serialize_entry(key.word(), &number)?,
                Err(_) => map.serialize_entry(key.word(), &text)?,
            }
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Plan {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_map(ArgumentsVisitor)
    }
}

struct ArgumentsVisitor;

impl<'de> Visitor<'de> for ArgumentsVisitor {
    type Value = Plan;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("boot arguments")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut arguments: A) -> Result<Plan, A::Error> {
        let mut plan = Plan::unknown();
        while let Some((word, value)) = arguments.next_entry::<String, ArgumentText>()? {
            // A later version may have more arguments.
            let Some(key) = Key::from_word(&word) else {
                continue;
            };
            if !plan.learn(key, &value.0) {
                return Err(de::Error::custom(format_args!(
                    "{word} does not accept {}",
                    value.0
                )));
            }
        }
        Ok(plan)
    }
}

/// An argument's value as written, from a string or a number.
struct ArgumentText(String);

impl<'de> Deserialize<'de> for ArgumentText {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Value {
            Number(u32),
            Text(String),
        }
        Ok(Self(match Value::deserialize(from)? {
            Value::Number(number) => number.to_string(),
            Value::Text(text) => text,
        }))
    }
}
