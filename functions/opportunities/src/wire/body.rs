//! A body that is a JSON object, read property by property. Properties that nobody asks for are ignored (C-4).

use serde_json::{Map, Value};
use shared::http::parse_json;

use super::fields::{self, Must};
use crate::error::Breach;

/// The properties of a body.
#[derive(Debug)]
pub struct Body(Map<String, Value>);

/// What a body says of a value that may be null.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Change<T> {
    /// Nothing: it stays as it is.
    #[default]
    Keep,
    /// Null: it is taken away.
    Clear,
    /// It becomes this.
    Set(T),
}

impl Body {
    /// Reads a JSON object.
    pub fn parse(bytes: &[u8]) -> Result<Self, Breach> {
        match parse_json(bytes)? {
            Value::Object(properties) => Ok(Self(properties)),
            _ => Err(Breach::NotObject),
        }
    }

    /// The same with null meaning absent.
    pub fn without_nulls(mut self) -> Self {
        self.0.retain(|_, value| !value.is_null());
        self
    }

    /// A property as `read` reads it; `None` where it is absent.
    pub fn optional<T>(
        &self,
        name: &'static str,
        read: impl Fn(&Value) -> Result<T, Must>,
    ) -> Result<Option<T>, Breach> {
        let value = self.0.get(name).map(read).transpose();
        value.map_err(|must| Breach::Field(name, must))
    }

    /// A property that must be there.
    pub fn required<T>(
        &self,
        name: &'static str,
        read: impl Fn(&Value) -> Result<T, Must>,
    ) -> Result<T, Breach> {
        self.optional(name, read)?.ok_or(Breach::Missing(name))
    }

    /// A property that null takes away.
    pub fn change<T>(
        &self,
        name: &'static str,
        read: impl Fn(&Value) -> Result<T, Must>,
    ) -> Result<Change<T>, Breach> {
        if self.0.get(name) == Some(&Value::Null) {
            return Ok(Change::Clear);
        }
        let value = self.optional(name, read)?;
        Ok(value.map_or(Change::Keep, Change::Set))
    }

    /// The custom fields, each with a value that one may hold; none where the property is absent.
    pub fn custom_fields(&mut self) -> Result<Map<String, Value>, Breach> {
        let fields = match self.0.shift_remove("fields") {
            None => Map::new(),
            Some(Value::Object(fields)) => fields,
            Some(_) => {
                return Err(Breach::Field(
                    "fields",
                    "must be an object of values by their fields' names",
                ));
            }
        };
        for (name, value) in &fields {
            fields::custom(value).map_err(|must| Breach::CustomField(name.clone(), must))?;
        }
        Ok(fields)
    }
}

impl<T> Change<T> {
    /// Changes a value; `make` makes what is set.
    pub fn apply<U>(&self, value: &mut Option<U>, make: impl FnOnce(&T) -> U) {
        match self {
            Self::Keep => {}
            Self::Clear => *value = None,
            Self::Set(new) => *value = Some(make(new)),
        }
    }
}
