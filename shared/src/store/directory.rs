//! The directory's items, and the members of departments.
//!
//! Every request reads the head, so it is one text, which is read several times faster than hundreds of attributes, and
//! [compact]. Names and dates of departments and groups are in [items of their own](details). A user's membership is in
//! its record and, so that checking a credential needs nothing else, in its credentials. Every write of a department, a
//! group, a user's record or its derived items, or a credential increments the version of the head, so these writes
//! have one order and agree.

mod compact;
mod details;

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::try_join_all;

use super::Reader;
use super::key;
use crate::directory::DirectoryHead;
use crate::ids::{DepartmentId, UserId};
use crate::viewer::Viewer;
use table::StoreError;
use table::item::{self, Item, n, s};
use table::unknown::Raw;
use table::{KeyRange, key_of};

pub use compact::{LaterPermissions, MAX_DEPARTMENTS, MAX_GROUPS, has_room};
pub use details::{DepartmentList, decode_details, encode_details};

const KIND: &str = "directory";
/// The attribute that has the compact text.
const COMPACT: &str = "access";
/// The attribute of an item of members that has their ids.
const MEMBERS: &str = "users";
/// Maximum departments that are queried one by one. For more, the whole partition is read.
const MAX_QUERIES: usize = 8;

/// A directory as it is stored. A write requires that its version is unchanged.
#[derive(Debug, Clone)]
pub struct StoredDirectory {
    pub directory: DirectoryHead,
    /// Permissions that this build does not know.
    pub later: LaterPermissions,
    pub version: u64,
    pub raw: Raw,
}

/// Users by department.
pub type DepartmentUsers = BTreeMap<DepartmentId, BTreeSet<UserId>>;

/// The members of departments.
#[derive(Debug, Clone, Default)]
pub struct Members {
    departments: BTreeSet<DepartmentId>,
    users: BTreeSet<UserId>,
}

impl Reader {
    /// The head of the instance's directory. Returns `None` if there is no such instance. One get.
    ///
    /// # Errors
    /// [`StoreError`] if it cannot be read.
    pub async fn directory(&self) -> Result<Option<DirectoryHead>, StoreError> {
        let item = self.table.get(&self.keys().directory()).await?;
        Ok(item
            .as_ref()
            .map(decode)
            .transpose()?
            .map(|stored| stored.directory))
    }

    /// The members of the departments on which this caller's decisions last depended, because they are likely to be needed again.
    pub(crate) async fn expected_members(&self) -> Result<Members, StoreError> {
        let departments = self.hints.departments.get(&self.caller.credentials);
        self.members(departments.unwrap_or_default()).await
    }

    /// Adds to a viewer the members of the departments on which its permissions depend, and remembers these
    /// departments. No call if there are none, or if they are the `expected` ones.
    pub(crate) async fn with_department_members(
        &self,
        viewer: Viewer,
        expected: Members,
    ) -> Result<Viewer, StoreError> {
        let departments = viewer.departments();
        let members = if departments == expected.departments {
            expected
        } else {
            let hint = (!departments.is_empty()).then(|| departments.clone());
            self.hints.departments.set(self.caller.credentials.clone(), hint);
            self.members(departments).await?
        };
        Ok(viewer.with_colleagues(members.users))
    }

    /// The members of these departments. Makes one query for each department, in parallel, or reads the whole partition if there
    /// are more than [`MAX_QUERIES`].
    async fn members(&self, departments: BTreeSet<DepartmentId>) -> Result<Members, StoreError> {
        let partition = self.keys().members();
        let ranges: Vec<_> = if departments.len() > MAX_QUERIES {
            vec![KeyRange::whole(partition)]
        } else {
            let range = |department: &DepartmentId| {
                KeyRange::beginning(partition.clone(), key::department_members(*department))
            };
            departments.iter().map(range).collect()
        };
        let parts = try_join_all(ranges.into_iter().map(|range| self.table.query_all(range))).await?;
        let mut users = BTreeSet::new();
        for item in parts.iter().flatten() {
            // The whole partition has the members of other departments too.
            let department = key::member_department(&key_of(item)?.sk);
            if department.is_some_and(|it| departments.contains(&it)) {
                users.extend(decode_members(item)?);
            }
        }
        Ok(Members { departments, users })
    }
}

/// The users of each department that has any, from all items of members.
fn department_users(items: Vec<Item>) -> Result<DepartmentUsers, StoreError> {
    let mut users = DepartmentUsers::new();
    for item in items {
        let department = key::member_department(&key_of(&item)?.sk);
        let members = table::readable(item, |item| decode_members(&item));
        if let (Some(department), Some(members)) = (department, members) {
            users.entry(department).or_default().extend(members);
        }
    }
    Ok(users)
}

/// Decodes a directory that is written again: attributes of later builds are kept.
pub fn decode_raw(item: &Item) -> Result<StoredDirectory, StoreError> {
    let raw = Raw::of(item);
    Ok(StoredDirectory { raw, ..decode(item)? })
}

/// Decodes a directory that is only read.
pub fn decode(item: &Item) -> Result<StoredDirectory, StoreError> {
    let text = item.get(COMPACT).and_then(|text| text.as_s().ok());
    let text = text.ok_or_else(|| item::corrupt(KIND, "it has no text"))?;
    let (directory, later) = compact::read(text).map_err(|cause| item::corrupt(KIND, cause))?;
    Ok(StoredDirectory {
        directory,
        later,
        version: item::number(KIND, item, "v")?,
        raw: Raw::default(),
    })
}

/// A directory as an item. Attributes that this build does not know are kept.
pub fn encode(stored: &StoredDirectory) -> Item {
    let recode = |raw: &Item| Some(encode_known(&decode(raw).ok()?));
    stored.raw.carry(encode_known(stored), recode)
}

/// A directory as an item, without attributes that this build does not know. Its text has the permissions that it does
/// not know.
fn encode_known(stored: &StoredDirectory) -> Item {
    let text = compact::write(&stored.directory, &stored.later);
    Item::from([(COMPACT.to_owned(), s(text)), ("v".to_owned(), n(stored.version))])
}

/// The users in an item of members.
pub fn decode_members(item: &Item) -> Result<BTreeSet<UserId>, StoreError> {
    item::need_json("members", item, MEMBERS)
}

/// An item of members: one text, the shortest form.
pub fn encode_members(users: &BTreeSet<UserId>) -> Item {
    Item::from([(MEMBERS.to_owned(), s(serde_json::json!(users).to_string()))])
}
