//! The directory's items, and the members of departments.
//!
//! Every request reads the head, so it is one text, which is read several times faster than hundreds of attributes, and
//! [compact]. Names and dates of departments and groups are in [items of their own](details); in the formats before 6
//! they were in the head. In the first format it also contained the memberships of all users, called standings; now
//! each user's is in its record and, so that checking a credential needs nothing else, in its credentials. Every write
//! of a department, a group, a user's record or its derived items, or a credential increments the version of the head,
//! so these writes have one order and agree.

mod compact;
mod details;

use std::collections::{BTreeMap, BTreeSet};

use futures_util::future::try_join_all;
use serde::Deserialize;

use super::Reader;
use super::credentials::Credential;
use super::key;
use crate::directory::{Directory, DirectoryDetails, DirectoryHead, Membership, by_id};
use crate::ids::{DepartmentId, UserId};
use crate::viewer::Viewer;
use table::StoreError;
use table::item::{self, Item, n, s};
use table::unknown::Raw;
use table::{KeyRange, key_of};

pub use compact::{LaterPermissions, MAX_DEPARTMENTS, MAX_GROUPS, has_room};
pub use details::{DepartmentList, compacted, decode_details, encode_details};

const KIND: &str = "directory";
/// The attribute that has the compact text.
const COMPACT: &str = "access";
/// The attribute that has all of the directory in formats 2 to 5.
const HEAD: &str = "head";
/// The same in the first format.
const FIRST: &str = "directory";
/// The attribute of an item of members that has their ids.
const MEMBERS: &str = "users";
/// Maximum departments that are queried one by one. For more, the whole partition is read.
const MAX_QUERIES: usize = 8;

/// The memberships of all users, which the first format has in the same item.
pub type Standings = BTreeMap<UserId, Membership>;

/// A directory as it is stored. A write requires that its version is unchanged.
#[derive(Debug, Clone)]
pub struct StoredDirectory {
    pub directory: DirectoryHead,
    /// Details of all departments and groups in formats 1 to 5; `None` where they are items of their own.
    pub details: Option<DirectoryDetails>,
    /// Permissions that this build does not know.
    pub later: LaterPermissions,
    /// Memberships of all users in the first format; `None` where each user's record has its own.
    pub standings: Option<Standings>,
    pub version: u64,
    pub raw: Raw,
}

/// The part of the first format that is not the directory.
#[derive(Deserialize)]
struct First {
    #[serde(default, with = "by_id")]
    users: Standings,
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

    /// The current membership of a credential's user; `None` if the user is deleted. No call, or one get if neither
    /// the directory nor the credential contains it.
    pub async fn membership(
        &self,
        stored: &StoredDirectory,
        credential: &Credential,
    ) -> Result<Option<Membership>, StoreError> {
        match (&stored.standings, credential.membership) {
            (Some(standings), _) => Ok(standings.get(&credential.user).copied()),
            (None, Some(membership)) => Ok(Some(membership)),
            (None, None) => {
                let user = self.user(credential.user).await?;
                Ok(user.map(|user| Membership::from(&user)))
            }
        }
    }

    /// The members of the departments on which this caller's decisions last depended, because they are likely to be needed again.
    pub(crate) async fn expected_members(&self) -> Result<Members, StoreError> {
        let departments = self.hints.departments.get(&self.caller.credentials);
        self.members(departments.unwrap_or_default()).await
    }

    /// Adds to a viewer the members of the departments on which its permissions depend, and remembers these
    /// departments. No call if there are none, or if they are the `expected` ones. `standings` contains all members in
    /// the first format.
    pub(crate) async fn with_department_members(
        &self,
        viewer: Viewer,
        standings: Option<&Standings>,
        expected: Members,
    ) -> Result<Viewer, StoreError> {
        let departments = viewer.departments();
        if let Some(standings) = standings {
            let is_member = |membership: &Membership| {
                let department = membership.department;
                department.is_some_and(|department| departments.contains(&department))
            };
            let members = standings.iter().filter(|(_, membership)| is_member(membership));
            let users = members.map(|(user, _)| *user).collect();
            return Ok(viewer.with_colleagues(users));
        }
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

/// The users of each department that has any: from the memberships of the first format, else from all items of members.
fn department_users(standings: Option<Standings>, items: Vec<Item>) -> Result<DepartmentUsers, StoreError> {
    let mut users = DepartmentUsers::new();
    if let Some(standings) = standings {
        for (user, standing) in standings {
            if let Some(department) = standing.department {
                users.entry(department).or_default().insert(user);
            }
        }
        return Ok(users);
    }
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

/// Decodes a directory of any format that is only read. The attribute with its text determines the format.
pub fn decode(item: &Item) -> Result<StoredDirectory, StoreError> {
    let (version, raw) = (item::number(KIND, item, "v")?, Raw::default());
    if let Some(text) = item.get(COMPACT) {
        let text = text.as_s().map_err(|_| item::corrupt(KIND, "its text is none"))?;
        let (directory, later) = compact::read(text).map_err(|cause| item::corrupt(KIND, cause))?;
        return Ok(StoredDirectory {
            directory,
            details: None,
            later,
            standings: None,
            version,
            raw,
        });
    }
    let (attribute, standings) = if item.contains_key(HEAD) {
        (HEAD, None)
    } else {
        let First { users } = item::need_json(KIND, item, FIRST)?;
        (FIRST, Some(users))
    };
    let (directory, details) = item::need_json::<Directory>(KIND, item, attribute)?.split();
    Ok(StoredDirectory {
        directory,
        details: Some(details),
        later: LaterPermissions::new(),
        standings,
        version,
        raw,
    })
}

/// A directory as an item, in the format in which it was read. Attributes that this build does not know are kept.
pub fn encode(stored: &StoredDirectory) -> Item {
    let recode = |raw: &Item| Some(encode_known(&decode(raw).ok()?));
    stored.raw.carry(encode_known(stored), recode)
}

fn encode_known(stored: &StoredDirectory) -> Item {
    let (attribute, text) = match &stored.details {
        None => (COMPACT, compact::write(&stored.directory, &stored.later)),
        Some(details) => {
            let whole = Directory::of_parts(stored.directory.clone(), details.clone());
            let mut json = serde_json::json!(whole);
            if let (Some(fields), Some(standings)) = (json.as_object_mut(), &stored.standings) {
                let users = standings
                    .iter()
                    .map(|(id, membership)| (id.to_string(), membership));
                let users: BTreeMap<_, _> = users.collect();
                fields.insert("users".to_owned(), serde_json::json!(users));
            }
            let is_first_format = stored.standings.is_some();
            (if is_first_format { FIRST } else { HEAD }, json.to_string())
        }
    };
    Item::from([
        (attribute.to_owned(), s(text)),
        ("v".to_owned(), n(stored.version)),
    ])
}

/// The users in an item of members.
pub fn decode_members(item: &Item) -> Result<BTreeSet<UserId>, StoreError> {
    item::need_json("members", item, MEMBERS)
}

/// An item of members: one text, the shortest form.
pub fn encode_members(users: &BTreeSet<UserId>) -> Item {
    Item::from([(MEMBERS.to_owned(), s(serde_json::json!(users).to_string()))])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::directory::Department;
    use crate::ids::GroupId;

    #[test]
    fn each_format_round_trips() {
        let standing = Membership {
            department: DepartmentId::new(2),
            group: GroupId::new(3),
            admin: true,
            inactive: true,
        };
        let standings = BTreeMap::from([(UserId::new(8).unwrap(), standing)]);
        let mut directory = Directory {
            triggers: true,
            ..Directory::default()
        };
        let id = DepartmentId::new(2).unwrap();
        directory.departments.insert(id, Department::new("A", Some(id)));
        let (head, details) = directory.split();
        for (details, standings, attribute) in [
            (None, None, COMPACT),
            (Some(details.clone()), None, HEAD),
            (Some(details), Some(standings), FIRST),
        ] {
            let stored = StoredDirectory {
                directory: head.clone(),
                details,
                later: LaterPermissions::new(),
                standings,
                version: 7,
                raw: Raw::default(),
            };
            let item = encode(&stored);
            assert!(item.contains_key(attribute) && item.len() == 2);
            let read = decode(&item).unwrap();
            assert_eq!(
                (read.directory, read.details, read.standings, read.version),
                (stored.directory, stored.details, stored.standings, 7)
            );
        }
    }
}
