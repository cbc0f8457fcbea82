//! The directory of an instance: its settings, departments and groups.
//!
//! The part that decides access, the [`DirectoryHead`], is one item, read with every request in the same round trip as
//! the credential, so permissions and settings are current (C-2, C-12) for one small read. The [`DirectoryDetails`]
//! contain the names and dates of departments and groups. They are in separate items, which only lists, imports and
//! exports read. The head does not grow with the users: a credential contains its user's membership, and the members of
//! a department are read only for viewers with the access level `department`.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::ids::{DepartmentId, GroupId};
use crate::integer::zero_or_one;
use crate::permissions::Permissions;
use crate::settings::Settings;
use crate::time::Timestamp;

/// A department, optionally below another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Department {
    /// Display name.
    pub name: String,
    /// The parent department.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<DepartmentId>,
    /// Whether its users work with opportunities. Imported and listed, without other effect.
    #[serde(
        default = "crate::json::default_true",
        with = "zero_or_one",
        skip_serializing_if = "Clone::clone"
    )]
    pub show_crm: bool,
    /// Whether its users work with tickets. Imported and listed, without other effect.
    #[serde(
        default = "crate::json::default_true",
        with = "zero_or_one",
        skip_serializing_if = "Clone::clone"
    )]
    pub show_sac360: bool,
    /// Creation, as far as the operator knows.
    #[serde(rename = "createDate", default, skip_serializing_if = "Option::is_none")]
    pub create_date: Option<Timestamp>,
    /// Last change, as far as the operator knows.
    #[serde(rename = "updateDate", default, skip_serializing_if = "Option::is_none")]
    pub update_date: Option<Timestamp>,
}

impl Department {
    /// A department with defaults for all other fields.
    #[must_use]
    pub fn new(name: impl Into<String>, parent: Option<DepartmentId>) -> Self {
        Self {
            name: name.into(),
            parent,
            show_crm: true,
            show_sac360: true,
            create_date: None,
            update_date: None,
        }
    }
}

/// A permission group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Group {
    /// Display name.
    pub name: String,
    /// Permissions of the group's users.
    pub permissions: Permissions,
}

/// The fields of a user that decide access. Serialized as three numbers: department, group, and the flags
/// `ADMIN` and `INACTIVE`. 0 means none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "[u64; 3]", into = "[u64; 3]")]
pub struct Membership {
    /// The user's department.
    pub department: Option<DepartmentId>,
    /// The user's permission group.
    pub group: Option<GroupId>,
    /// The user sees and may do everything.
    pub admin: bool,
    /// The user's credentials are void.
    pub inactive: bool,
}

/// Bits of the third number of a [`Membership`].
const ADMIN: u64 = 1;
const INACTIVE: u64 = 2;

impl From<Membership> for [u64; 3] {
    fn from(membership: Membership) -> Self {
        [
            membership.department.map_or(0, DepartmentId::get),
            membership.group.map_or(0, GroupId::get),
            u64::from(membership.admin) * ADMIN + u64::from(membership.inactive) * INACTIVE,
        ]
    }
}

impl TryFrom<[u64; 3]> for Membership {
    type Error = &'static str;

    fn try_from([department, group, flags]: [u64; 3]) -> Result<Self, Self::Error> {
        if flags > ADMIN + INACTIVE {
            return Err("a membership has an unknown flag");
        }
        Ok(Self {
            department: (department > 0).then(|| department.try_into()).transpose()?,
            group: (group > 0).then(|| group.try_into()).transpose()?,
            admin: flags & ADMIN > 0,
            inactive: flags & INACTIVE > 0,
        })
    }
}

/// The settings, departments and groups of one instance.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Directory {
    /// The instance's settings.
    pub settings: Settings,
    /// Departments by id.
    pub departments: BTreeMap<DepartmentId, Department>,
    /// Permission groups by id.
    pub groups: BTreeMap<GroupId, Group>,
    /// Whether an automation of incoming calls is active. Otherwise calls are not written to the outbox (C-76). Every
    /// change of an automation updates it.
    pub triggers: bool,
    /// The other events of active automations. Only these are written to the outbox (C-102). Every change of an
    /// automation updates them.
    pub events: BTreeSet<String>,
    /// The time since which the instance is suspended. Its credentials, public paths and automations do not work then
    /// (C-104).
    pub suspended: Option<Timestamp>,
}

impl Directory {
    /// Splits the directory into its two stored parts.
    #[must_use]
    pub fn split(self) -> (DirectoryHead, DirectoryDetails) {
        let mut details = DirectoryDetails::default();
        let mut parents = BTreeMap::new();
        for (id, mut department) in self.departments {
            parents.insert(id, department.parent.take());
            details.departments.insert(id, department);
        }
        let mut permissions = BTreeMap::new();
        for (id, group) in self.groups {
            permissions.insert(id, group.permissions);
            details.groups.insert(id, GroupName { name: group.name });
        }
        let head = DirectoryHead {
            settings: self.settings,
            departments: parents,
            groups: permissions,
            triggers: self.triggers,
            events: self.events,
            suspended: self.suspended,
        };
        (head, details)
    }

    /// Joins both parts of [`Self::split`]. The head decides which departments and groups exist. A department or group
    /// without details has its id as name.
    #[must_use]
    pub fn of_parts(head: DirectoryHead, mut details: DirectoryDetails) -> Self {
        details.complete(&head);
        let departments = head.departments.into_iter().filter_map(|(id, parent)| {
            let department = details.departments.remove(&id)?;
            Some((id, Department { parent, ..department }))
        });
        let groups = head.groups.into_iter().filter_map(|(id, permissions)| {
            let GroupName { name } = details.groups.remove(&id)?;
            Some((id, Group { name, permissions }))
        });
        Self {
            departments: departments.collect(),
            groups: groups.collect(),
            settings: head.settings,
            triggers: head.triggers,
            events: head.events,
            suspended: head.suspended,
        }
    }
}

/// The part of the directory that decides access, which every request reads.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DirectoryHead {
    /// The instance's settings.
    pub settings: Settings,
    /// The parent of each department.
    pub departments: BTreeMap<DepartmentId, Option<DepartmentId>>,
    /// The permissions of each group.
    pub groups: BTreeMap<GroupId, Permissions>,
    /// See [`Directory::triggers`].
    pub triggers: bool,
    /// See [`Directory::events`].
    pub events: BTreeSet<String>,
    /// See [`Directory::suspended`].
    pub suspended: Option<Timestamp>,
}

/// The part of the directory that does not decide access.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DirectoryDetails {
    /// The departments, without their parents.
    pub departments: BTreeMap<DepartmentId, Department>,
    /// The names of the groups.
    pub groups: BTreeMap<GroupId, GroupName>,
}

/// The name of a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupName {
    /// Display name.
    pub name: String,
}

impl DirectoryDetails {
    /// Adds other details.
    pub fn extend(&mut self, other: Self) {
        self.departments.extend(other.departments);
        self.groups.extend(other.groups);
    }

    /// Adds the departments and groups of a head that have no details, with their ids as names.
    pub fn complete(&mut self, head: &DirectoryHead) {
        for id in head.departments.keys() {
            let unnamed = || Department::new(id.to_string(), None);
            self.departments.entry(*id).or_insert_with(unnamed);
        }
        for id in head.groups.keys() {
            let name = || GroupName { name: id.to_string() };
            self.groups.entry(*id).or_insert_with(name);
        }
    }
}

impl DirectoryHead {
    /// Whether the instance answers requests.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.suspended.is_none()
    }

    /// Whether `department` is `ancestor` or below it. Terminates even if departments form a cycle, which
    /// import rejects.
    #[must_use]
    pub fn is_within(&self, department: DepartmentId, ancestor: DepartmentId) -> bool {
        std::iter::successors(Some(department), |at| *self.departments.get(at)?)
            .take(self.departments.len() + 1)
            .any(|at| at == ancestor)
    }

    /// A department and all its descendants.
    #[must_use]
    pub fn below(&self, department: DepartmentId) -> BTreeSet<DepartmentId> {
        let known = self.departments.keys().copied();
        let mut below: BTreeSet<_> = known.filter(|at| self.is_within(*at, department)).collect();
        below.insert(department);
        below
    }
}

/// Maps by id, serialized with text keys as DynamoDB maps require.
pub mod by_id {
    use std::collections::BTreeMap;

    use serde::de::{DeserializeOwned, Error as _};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    /// Serializes a map with text keys.
    ///
    /// # Errors
    /// Errors of the serializer.
    pub fn serialize<K, V, S>(map: &BTreeMap<K, V>, serializer: S) -> Result<S::Ok, S::Error>
    where
        K: Copy + Into<u64>,
        V: Serialize,
        S: Serializer,
    {
        serializer.collect_map(map.iter().map(|(id, value)| ((*id).into().to_string(), value)))
    }

    /// Deserializes a map with text keys.
    ///
    /// # Errors
    /// An error if a key is not an id, and errors of the deserializer.
    pub fn deserialize<'de, K, V, D>(deserializer: D) -> Result<BTreeMap<K, V>, D::Error>
    where
        K: TryFrom<u64> + Ord,
        V: DeserializeOwned,
        D: Deserializer<'de>,
    {
        BTreeMap::<u64, V>::deserialize(deserializer)?
            .into_iter()
            .map(|(id, value)| match K::try_from(id) {
                Ok(id) => Ok((id, value)),
                Err(_) => Err(D::Error::custom("a key is not an id")),
            })
            .collect()
    }
}

#[cfg(test)]
pub(crate) mod tests;
