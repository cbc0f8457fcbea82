//! Counts in the form of a file.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use table::item;
use table::{Key, StoreError};

use super::super::resume::parts;
use super::{Class, Recount};

/// A count in the form of a file.
#[derive(Debug, Serialize, Deserialize)]
pub struct SavedCount {
    from: Option<(String, String)>,
    until: Option<(String, String)>,
    unreadable: bool,
    classes: Vec<SavedClass>,
}

#[derive(Debug, Serialize, Deserialize)]
struct SavedClass {
    key: (String, String),
    members: u64,
    sums: BTreeMap<String, i128>,
    attributes: serde_json::Value,
}

impl SavedCount {
    pub fn of(count: &Recount) -> Self {
        let classes = count.classes.iter().map(|(key, class)| SavedClass {
            key: parts(key),
            members: class.members,
            sums: class.sums.clone(),
            // Attributes that are lost make the total a suspect, which is counted again.
            attributes: item::decode("class", class.attributes.clone()).unwrap_or_default(),
        });
        Self {
            from: count.from.as_ref().map(parts),
            until: count.until.as_ref().map(parts),
            unreadable: count.unreadable,
            classes: classes.collect(),
        }
    }

    /// # Errors
    /// [`StoreError`] if the file is damaged.
    pub fn restored(self) -> Result<Recount, StoreError> {
        let key = |(pk, sk)| Key::new(pk, sk);
        let mut count = Recount {
            from: self.from.map(key),
            until: self.until.map(key),
            unreadable: self.unreadable,
            ..Recount::default()
        };
        for SavedClass {
            key: at,
            members,
            sums,
            attributes,
        } in self.classes
        {
            let attributes = item::encode("class", &attributes)?;
            count.sums += sums.len();
            let class = Class {
                members,
                sums,
                attributes,
            };
            count.classes.insert(key(at), class);
        }
        Ok(count)
    }
}
