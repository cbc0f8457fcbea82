//! Names and dates of departments and groups: 32 items of each, which only lists, imports and exports read.
//!
//! They change in one transaction with the directory's head, which decides which departments and groups exist.

use std::collections::BTreeMap;

use super::DepartmentUsers;
use crate::directory::{Department, DirectoryDetails, DirectoryHead, GroupName};
use crate::ids::{DepartmentId, GroupId};
use crate::store::Reader;
use crate::store::key::Keys;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use table::item::{self, Item, s};
use table::{Key, KeyRange, StoreError, key_of};

const KIND: &str = "details";
/// The attribute of an item of details.
const DETAILS: &str = "details";

/// The details and users of departments.
#[derive(Debug, Default)]
pub struct DepartmentList {
    /// The details, without groups.
    pub details: DirectoryDetails,
    /// The users of each department that has any.
    pub users: DepartmentUsers,
}

impl Reader {
    /// The departments with their users. One query for each MB of departments and of members, in parallel.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn departments(&self) -> Result<DepartmentList, StoreError> {
        let members = self.table.query_all(KeyRange::whole(self.keys().members()));
        let (members, details) = tokio::try_join!(members, self.department_details())?;
        Ok(DepartmentList {
            details,
            users: super::department_users(members)?,
        })
    }

    /// Completes a list with all departments of `head`, which was read in parallel with it. No call, unless a
    /// department was added in between.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn complete_departments(
        &self,
        head: &DirectoryHead,
        mut list: DepartmentList,
    ) -> Result<DepartmentList, StoreError> {
        let known = &list.details.departments;
        if !head.departments.keys().all(|id| known.contains_key(id)) {
            list.details = self.department_details().await?;
            list.details.complete(head);
        }
        Ok(list)
    }

    async fn department_details(&self) -> Result<DirectoryDetails, StoreError> {
        let keys = self.keys();
        let items = self.table.query_all(KeyRange::whole(keys.departments())).await?;
        let mut details = DirectoryDetails::default();
        for item in items {
            let read = table::readable(item, |item| decode_details(keys, &item));
            details.extend(read.unwrap_or_default());
        }
        Ok(details)
    }
}

/// The departments or groups in an item. Those whose id belongs to another item are omitted.
pub fn decode_details(keys: Keys<'_>, item: &Item) -> Result<DirectoryDetails, StoreError> {
    let (key, mut details) = (key_of(item)?, DirectoryDetails::default());
    if key.pk == keys.departments() {
        let departments = decode_members::<Department>(item)?.into_iter();
        let known = departments.filter_map(|(id, department)| Some((DepartmentId::new(id)?, department)));
        details.departments = known.filter(|(id, _)| keys.department(*id) == key).collect();
    } else {
        let groups = decode_members::<GroupName>(item)?.into_iter();
        let known = groups.filter_map(|(id, name)| Some((GroupId::new(id)?, name)));
        details.groups = known.filter(|(id, _)| keys.group(*id) == key).collect();
    }
    Ok(details)
}

/// The JSON members of an item whose names are ids, decoded. Members with other names are omitted.
fn decode_members<T: DeserializeOwned>(item: &Item) -> Result<Vec<(u64, T)>, StoreError> {
    let members: Map<String, Value> = item::need_json(KIND, item, DETAILS)?;
    let known = members
        .into_iter()
        .filter_map(|(id, member)| Some((id.parse().ok()?, member)));
    let decode = |member| serde_json::from_value(member).map_err(|cause| item::corrupt(KIND, cause));
    known.map(|(id, member)| Ok((id, decode(member)?))).collect()
}

/// Details of departments and groups as items. Parents are in the head, so they are omitted.
pub fn encode_details(keys: Keys<'_>, details: &DirectoryDetails) -> BTreeMap<Key, Item> {
    let departments = details.departments.iter().map(|(id, department)| {
        let department = Department {
            parent: None,
            ..department.clone()
        };
        (keys.department(*id), id.to_string(), json!(department))
    });
    let groups = details.groups.iter();
    let groups = groups.map(|(id, name)| (keys.group(*id), id.to_string(), json!(name)));
    details_items(departments.chain(groups))
}

/// The items with these details: key of the item, name of its JSON member, and the member.
fn details_items(members: impl Iterator<Item = (Key, String, Value)>) -> BTreeMap<Key, Item> {
    let mut items: BTreeMap<Key, Map<String, Value>> = BTreeMap::new();
    for (key, name, member) in members {
        items.entry(key).or_default().insert(name, member);
    }
    let item = |members| Item::from([(DETAILS.to_owned(), s(json!(members).to_string()))]);
    items
        .into_iter()
        .map(|(key, members)| (key, item(members)))
        .collect()
}
