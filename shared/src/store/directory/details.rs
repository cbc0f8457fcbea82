//! Names and dates of departments and groups: 32 items of each, which only lists, imports and exports read.
//!
//! They change in one transaction with the directory's head, which decides which departments and groups exist.

use std::collections::BTreeMap;

use super::{COMPACT, DepartmentUsers, HEAD, StoredDirectory, compact, decode_raw};
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
    /// The departments with their users. In parallel one query for each MB of departments and of members, and a get of the
    /// directory, which contains both in former formats.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn departments(&self) -> Result<DepartmentList, StoreError> {
        let (members, key) = (self.keys().members(), self.keys().directory());
        let (members, directory, departments) = tokio::try_join!(
            self.table.query_all(KeyRange::whole(members)),
            self.table.get(&key),
            self.department_details()
        )?;
        let stored = directory.as_ref().map(super::decode).transpose()?;
        let stored = stored.map(|stored| (stored.details, stored.standings));
        let (details, standings) = stored.unwrap_or_default();
        Ok(DepartmentList {
            details: details.unwrap_or(departments),
            users: super::department_users(standings, members)?,
        })
    }

    /// The list with all departments of a head that was read in parallel. No call, unless a department was added in between.
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

/// The departments or groups in an item. Those that belong to another item are left out.
pub fn decode_details(keys: Keys<'_>, item: &Item) -> Result<DirectoryDetails, StoreError> {
    let (key, mut details) = (key_of(item)?, DirectoryDetails::default());
    if key.pk == keys.departments() {
        let departments = members::<Department>(item)?.into_iter();
        let known = departments.filter_map(|(id, department)| Some((DepartmentId::new(id)?, department)));
        details.departments = known.filter(|(id, _)| keys.department(*id) == key).collect();
    } else {
        let groups = members::<GroupName>(item)?.into_iter();
        let known = groups.filter_map(|(id, name)| Some((GroupId::new(id)?, name)));
        details.groups = known.filter(|(id, _)| keys.group(*id) == key).collect();
    }
    Ok(details)
}

/// The members of an item whose names are ids.
fn members<T: DeserializeOwned>(item: &Item) -> Result<Vec<(u64, T)>, StoreError> {
    let members: Map<String, Value> = item::need_json(KIND, item, DETAILS)?;
    let known = members
        .into_iter()
        .filter_map(|(id, member)| Some((id.parse().ok()?, member)));
    let decode = |member| serde_json::from_value(member).map_err(|cause| item::corrupt(KIND, cause));
    known.map(|(id, member)| Ok((id, decode(member)?))).collect()
}

/// The items of details.
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
    gathered(departments.chain(groups))
}

/// Adds each member to its item, with its name.
fn gathered(members: impl Iterator<Item = (Key, String, Value)>) -> BTreeMap<Key, Item> {
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

/// A directory of formats 2 to 5 in the compact form, and the items of its details. Attributes of later builds stay.
pub fn compacted(
    keys: Keys<'_>,
    stored: &StoredDirectory,
    item: &Item,
) -> Result<(StoredDirectory, BTreeMap<Key, Item>), StoreError> {
    let mut text: Map<String, Value> = item::need_json("directory", item, HEAD)?;
    let (mut permissions, mut details) = (Map::new(), Vec::new());
    let mut members = |name: &str| match text.remove(name) {
        Some(Value::Object(members)) => members,
        _ => Map::new(),
    };
    for (text, mut department) in members("departments") {
        let fields = department.as_object_mut().map(|fields| fields.remove("parent"));
        if let (Some(id), Some(_)) = (text.parse().ok().and_then(DepartmentId::new), fields) {
            details.push((keys.department(id), text, department));
        }
    }
    for (text, mut group) in members("groups") {
        let own = group
            .as_object_mut()
            .and_then(|fields| fields.remove("permissions"));
        let id = text.parse().ok().and_then(GroupId::new);
        if let (Some(id), Some(own)) = (id, own) {
            let known = stored.directory.groups.get(&id).copied();
            permissions.insert(text.clone(), compact::packed(known, own));
            details.push((keys.group(id), text, group));
        }
    }
    let departments = compact::pack_departments(&stored.directory.departments);
    text.extend([
        ("departments".to_owned(), json!(departments)),
        ("groups".to_owned(), permissions.into()),
    ]);
    let mut compact = item.clone();
    compact.remove(HEAD);
    compact.insert(COMPACT.to_owned(), s(json!(text).to_string()));
    Ok((decode_raw(&compact)?, gathered(details.into_iter())))
}
