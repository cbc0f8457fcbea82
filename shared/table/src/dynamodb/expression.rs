//! DynamoDB's expressions of conditions and updates.

use std::collections::{BTreeMap, HashMap};

use aws_sdk_dynamodb::types::AttributeValue;

use crate::condition::Condition;
use crate::item::{Item, n};

/// A condition as DynamoDB expression.
pub struct Expression {
    pub text: Option<String>,
    pub names: HashMap<String, String>,
    pub values: Item,
}

impl Expression {
    /// The expression of a condition. It refers to its attribute and value as `#c` and `:c`.
    pub fn of(condition: &Condition) -> Self {
        if let Condition::Exactly { has, lacks } = condition {
            return Self::exactly(has, lacks);
        }
        let (text, name, value) = match condition {
            Condition::Always | Condition::Exactly { .. } => {
                return Self {
                    text: None,
                    names: HashMap::new(),
                    values: Item::new(),
                };
            }
            Condition::Absent => ("attribute_not_exists(pk)", None, None),
            Condition::Present => ("attribute_exists(pk)", None, None),
            Condition::Version(version) => ("#c = :c", Some("v"), Some(n(version))),
            Condition::Number { name, value: 0 } => {
                ("attribute_not_exists(#c) OR #c = :c", Some(*name), Some(n(0)))
            }
            Condition::Number { name, value } => ("#c = :c", Some(*name), Some(n(value))),
            Condition::AbsentOrText { name, value } => {
                let value = AttributeValue::S(value.clone());
                ("attribute_not_exists(pk) OR #c = :c", Some(*name), Some(value))
            }
            Condition::AbsentOrUpTo { name, value } => (
                "attribute_not_exists(pk) OR #c <= :c",
                Some(*name),
                Some(n(value)),
            ),
        };
        Self {
            text: Some(text.to_owned()),
            names: name
                .map(|name| ("#c".to_owned(), name.to_owned()))
                .into_iter()
                .collect(),
            values: value.map(|value| (":c".to_owned(), value)).into_iter().collect(),
        }
    }

    /// The expression of [`Condition::Exactly`].
    fn exactly(has: &Item, lacks: &[&'static str]) -> Self {
        let present = has.iter().map(|(name, value)| (name.as_str(), Some(value)));
        let absent = lacks.iter().map(|name| (*name, None));
        let (mut parts, mut names, mut values) = (Vec::new(), HashMap::new(), Item::new());
        for (at, (name, value)) in present.chain(absent).enumerate() {
            names.insert(format!("#c{at}"), name.to_owned());
            if let Some(value) = value {
                values.insert(format!(":c{at}"), value.clone());
                parts.push(format!("#c{at} = :c{at}"));
            } else {
                parts.push(format!("attribute_not_exists(#c{at})"));
            }
        }
        Self {
            text: Some(parts.join(" AND ")),
            names,
            values,
        }
    }

    /// The update expression that sets and removes attributes, and this condition with names and values of
    /// both.
    pub fn setting(mut self, set: &Item, remove: &[String]) -> (String, Self) {
        let mut assigned = Vec::new();
        for (at, (name, value)) in set.iter().enumerate() {
            self.names.insert(format!("#s{at}"), name.clone());
            self.values.insert(format!(":s{at}"), value.clone());
            assigned.push(format!("#s{at} = :s{at}"));
        }
        let mut expression = format!("SET {}", assigned.join(", "));
        let mut removed = Vec::new();
        for (at, name) in remove.iter().enumerate() {
            self.names.insert(format!("#r{at}"), name.clone());
            removed.push(format!("#r{at}"));
        }
        if !removed.is_empty() {
            expression = format!("{expression} REMOVE {}", removed.join(", "));
        }
        (expression, self)
    }

    /// The update expression that adds and sets, and this condition with names and values of both.
    pub fn updating(mut self, add: &BTreeMap<String, i64>, set: &Item) -> (String, Self) {
        let mut added = Vec::new();
        for (at, (attribute, by)) in add.iter().enumerate() {
            self.names.insert(format!("#a{at}"), attribute.clone());
            self.values.insert(format!(":a{at}"), n(by));
            added.push(format!("#a{at} :a{at}"));
        }
        let mut assigned = Vec::new();
        for (at, (attribute, value)) in set.iter().enumerate() {
            self.names.insert(format!("#s{at}"), attribute.clone());
            self.values.insert(format!(":s{at}"), value.clone());
            assigned.push(format!("#s{at} = :s{at}"));
        }
        let mut clauses = Vec::new();
        if !added.is_empty() {
            clauses.push(format!("ADD {}", added.join(", ")));
        }
        if !assigned.is_empty() {
            clauses.push(format!("SET {}", assigned.join(", ")));
        }
        (clauses.join(" "), self)
    }
}

/// The map, or `None` if it is empty, because DynamoDB rejects empty maps of names and values.
pub fn some<T>(map: HashMap<String, T>) -> Option<HashMap<String, T>> {
    (!map.is_empty()).then_some(map)
}
