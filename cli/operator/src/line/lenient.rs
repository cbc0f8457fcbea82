//! Reads whole numbers and booleans of a line as requests do (C-6): also as text, booleans in any case.

use serde::de::value::{MapDeserializer, SeqDeserializer};
use serde::de::{Deserializer, IntoDeserializer, Visitor};
use serde::forward_to_deserialize_any;
use serde_json::{Error, Value};
use shared::input::flag;
use shared::integer::whole_or_text;

/// A value of a line. What is read as any type stays as it was sent.
pub struct Lenient(pub Value);

macro_rules! whole_numbers {
    ($($method:ident)*) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
            match whole_or_text(&self.0) {
                Some(number) => visitor.visit_u64(number),
                None => self.0.$method(visitor),
            }
        }
    )*};
}

impl<'de> Deserializer<'de> for Lenient {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match self.0 {
            Value::Object(members) => {
                let members = members.into_iter().map(|(name, value)| (name, Self(value)));
                visitor.visit_map(MapDeserializer::new(members))
            }
            Value::Array(values) => visitor.visit_seq(SeqDeserializer::new(values.into_iter().map(Self))),
            other => other.deserialize_any(visitor),
        }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        match flag(&self.0) {
            Some(flag) => visitor.visit_bool(flag),
            None => self.0.deserialize_bool(visitor),
        }
    }

    whole_numbers! {
        deserialize_u8 deserialize_u16 deserialize_u32 deserialize_u64
        deserialize_i8 deserialize_i16 deserialize_i32 deserialize_i64
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if self.0.is_null() {
            visitor.visit_none()
        } else {
            visitor.visit_some(self)
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Error> {
        self.0.deserialize_enum(name, variants, visitor)
    }

    /// A number is no name of a variant.
    fn deserialize_identifier<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        self.0.deserialize_identifier(visitor)
    }

    forward_to_deserialize_any! {
        i128 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct
        ignored_any
    }
}

impl IntoDeserializer<'_, Error> for Lenient {
    type Deserializer = Self;

    fn into_deserializer(self) -> Self {
        self
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::super::read;
    use super::*;

    #[derive(Debug, PartialEq, Deserialize)]
    struct Line {
        id: u64,
        #[serde(default)]
        owner: Option<u64>,
        #[serde(default)]
        active: bool,
        #[serde(default)]
        ids: Vec<u64>,
        #[serde(default)]
        name: Option<String>,
        #[serde(default)]
        any: Value,
    }

    #[test]
    fn numbers_and_booleans_may_be_texts() {
        let line =
            json!({ "id": "7", "owner": "8.0", "active": "True", "ids": ["1", 2.0], "name": "", "any": "9" });
        let expected = Line {
            id: 7,
            owner: Some(8),
            active: true,
            ids: vec![1, 2],
            name: Some(String::new()),
            any: json!("9"),
        };
        assert_eq!(read(line.as_object().unwrap().clone()), Ok(expected));
    }

    #[test]
    fn blank_ones_are_absent() {
        let line = json!({ "id": 7, "owner": "", "active": " ", "name": "" });
        let expected = json!({ "id": 7, "name": "" });
        let read = |line: Value| read::<Line>(line.as_object().unwrap().clone());
        assert_eq!(read(line), read(expected));
        for (line, reason) in [
            (json!({ "id": "" }), "id: is missing"),
            (
                json!({ "id": "7a" }),
                "id: must be a whole number that is not negative",
            ),
            (
                json!({ "id": 7, "active": "yes" }),
                "active: must be true or false",
            ),
            (json!({ "id": 7, "ids": "" }), "ids: must be a list"),
            (json!({ "id": 7, "name": 5 }), "name: must be text"),
        ] {
            assert_eq!(read(line), Err(reason.to_owned()));
        }
    }
}
