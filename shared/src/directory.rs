//! The directory of an instance: its settings, departments and groups.
//!
//! One item of the table, read with every request in the same round trip as the credential, so that permissions
//! and settings are those of now (C-2, C-12) at the price of one small read. It contains nothing of a user, so it does not
//! grow with them: the credential carries its user's standing, and the members of a department are read only for viewers
//! whose reach is their department.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::funnel::FunnelAccess;
use crate::id::{DepartmentId, GroupId, UserId};
use crate::opportunity::{Narrowing, Status};
use crate::permissions::{Permissions, Reach};
use crate::settings::Settings;

/// A department, perhaps below another.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Department {
    /// What it is called.
    pub name: String,
    /// The department it lies below.
    #[serde(default)]
    pub parent: Option<DepartmentId>,
}

/// A permission group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// What it is called.
    pub name: String,
    /// What its users may do.
    pub permissions: Permissions,
}

/// Where a user stands: all that an access decision needs to know of one. Three numbers are its serialized form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "[u64; 3]", into = "[u64; 3]")]
pub struct Standing {
    /// The user's department.
    pub department: Option<DepartmentId>,
    /// The user's permission group.
    pub group: Option<GroupId>,
    /// The user sees and may do everything.
    pub admin: bool,
    /// The user's credentials are void.
    pub inactive: bool,
}

/// What the third number of a standing is the sum of.
const ADMIN: u64 = 1;
const INACTIVE: u64 = 2;

impl From<Standing> for [u64; 3] {
    fn from(standing: Standing) -> Self {
        [
            standing.department.map_or(0, DepartmentId::get),
            standing.group.map_or(0, GroupId::get),
            u64::from(standing.admin) * ADMIN + u64::from(standing.inactive) * INACTIVE,
        ]
    }
}

impl TryFrom<[u64; 3]> for Standing {
    type Error = &'static str;

    fn try_from([department, group, marks]: [u64; 3]) -> Result<Self, Self::Error> {
        if marks > ADMIN + INACTIVE {
            return Err("a standing has a mark that nobody sets");
        }
        Ok(Self {
            department: (department > 0).then(|| department.try_into()).transpose()?,
            group: (group > 0).then(|| group.try_into()).transpose()?,
            admin: marks & ADMIN > 0,
            inactive: marks & INACTIVE > 0,
        })
    }
}

/// The settings, departments and groups of one instance.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Directory {
    /// The instance's settings.
    pub settings: Settings,
    /// Departments by id.
    #[serde(with = "by_id")]
    pub departments: BTreeMap<DepartmentId, Department>,
    /// Permission groups by id.
    #[serde(with = "by_id")]
    pub groups: BTreeMap<GroupId, Group>,
    /// Whether any automation is active: only then does a call raise a trigger (C-76). The import of automations keeps it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub triggers: bool,
}

impl Directory {
    /// Whether `department` is `ancestor` or lies below it. A circle of departments, which import refuses, ends.
    #[must_use]
    pub fn is_within(&self, department: DepartmentId, ancestor: DepartmentId) -> bool {
        std::iter::successors(Some(department), |at| self.departments.get(at)?.parent)
            .take(self.departments.len() + 1)
            .any(|at| at == ancestor)
    }

    /// A department and all below it.
    fn below(&self, department: DepartmentId) -> BTreeSet<DepartmentId> {
        let known = self.departments.keys().copied();
        let mut below: BTreeSet<_> = known.filter(|at| self.is_within(*at, department)).collect();
        below.insert(department);
        below
    }
}

/// Who may see a lead beside its owner: empty lists narrow nothing (C-82).
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct AccessLists {
    /// Users that are admitted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub user_access: Vec<UserId>,
    /// Departments that are admitted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub department_access: Vec<DepartmentId>,
    /// The departments count without those below them.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub ignore_sub_departments: bool,
}

impl AccessLists {
    /// Whether the lists admit everyone.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.user_access.is_empty() && self.department_access.is_empty()
    }
}

/// An active user with its permissions of now: decides what it sees.
#[derive(Debug, Clone)]
pub struct Viewer {
    user: UserId,
    standing: Standing,
    permissions: Permissions,
    directory: Arc<Directory>,
    /// The users of the viewer's department and those below it, itself among them: read only where its reach needs them.
    colleagues: Arc<BTreeSet<UserId>>,
}

/// Whose records a viewer's reach covers, before what the records themselves say: leads by their owners, opportunities
/// by their responsible users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Coverage {
    /// Everyone's, and those of nobody.
    All,
    /// Those of these users.
    Users(BTreeSet<UserId>),
    /// Nobody's.
    Nothing,
}

impl Viewer {
    /// The view of a user that stands so; `None` for an inactive one, whose credentials are void (C-2).
    #[must_use]
    pub fn new(directory: Arc<Directory>, user: UserId, standing: Standing) -> Option<Self> {
        let permissions = if standing.admin {
            Permissions::EVERYTHING
        } else {
            let group = standing.group.and_then(|group| directory.groups.get(&group));
            group.map(|group| group.permissions).unwrap_or_default()
        };
        (!standing.inactive).then(|| Self {
            user,
            standing,
            permissions,
            directory,
            colleagues: Arc::new(BTreeSet::from([user])),
        })
    }

    /// The departments whose members this viewer's decisions rest on: none where no reach of it is its department.
    #[must_use]
    pub fn departments(&self) -> BTreeSet<DepartmentId> {
        let reaches = [self.permissions.leads, self.permissions.opportunities];
        let own = self
            .standing
            .department
            .filter(|_| reaches.contains(&Reach::Department));
        own.map(|own| self.directory.below(own)).unwrap_or_default()
    }

    /// The viewer, with the members of its [departments](Self::departments).
    #[must_use]
    pub fn among(mut self, members: BTreeSet<UserId>) -> Self {
        Arc::make_mut(&mut self.colleagues).extend(members);
        self
    }

    /// The user that is looking.
    #[must_use]
    pub fn user(&self) -> UserId {
        self.user
    }

    /// Whether the user sees everything, secrets of leads included (C-21).
    #[must_use]
    pub fn is_admin(&self) -> bool {
        self.standing.admin
    }

    /// The permissions of the user's group, or all of them for an admin.
    #[must_use]
    pub fn permissions(&self) -> &Permissions {
        &self.permissions
    }

    /// The instance's directory that these decisions rest on.
    #[must_use]
    pub fn directory(&self) -> &Directory {
        &self.directory
    }

    /// Whose leads the permission `leads` covers.
    #[must_use]
    pub fn lead_reach(&self) -> Coverage {
        self.coverage(self.permissions.leads)
    }

    /// Whose opportunities the permission `opportunities` covers.
    #[must_use]
    pub fn opportunity_reach(&self) -> Coverage {
        self.coverage(self.permissions.opportunities)
    }

    fn coverage(&self, reach: Reach) -> Coverage {
        match reach {
            Reach::All => Coverage::All,
            Reach::None => Coverage::Nothing,
            Reach::Own => Coverage::Users(BTreeSet::from([self.user])),
            Reach::Department => Coverage::Users(BTreeSet::clone(&self.colleagues)),
        }
    }

    /// Whether the viewer sees an opportunity of this responsible user and status (C-82). Won and lost ones need
    /// `wonLost`, even one's own (C-32); the responsible user passes everything else.
    #[must_use]
    pub fn sees_opportunity(&self, user: UserId, status: Status, narrowing: &Narrowing) -> bool {
        let own = user == self.user;
        let reached = match self.permissions.opportunities {
            Reach::All => true,
            Reach::Department => own || self.is_colleague(user),
            Reach::Own => own,
            Reach::None => false,
        };
        reached
            && (status == Status::Open || self.permissions.won_lost)
            && (self.passes_restrictions(user) || self.is_among(narrowing))
    }

    /// Whether no service permission hides this user's opportunities from the viewer.
    #[must_use]
    pub fn passes_restrictions(&self, user: UserId) -> bool {
        user == self.user || self.is_admin()
    }

    /// Whether the viewer sees a funnel (C-82).
    #[must_use]
    pub fn sees_funnel(&self, access: &FunnelAccess) -> bool {
        let admitted = self.is_admin()
            || access.is_open()
            || access.users.contains(&self.user)
            || access
                .departments
                .iter()
                .any(|department| self.works_within(*department))
            || self
                .standing
                .group
                .is_some_and(|group| access.groups.contains(&group));
        admitted && self.permissions.opportunities != Reach::None
    }

    fn is_among(&self, narrowing: &Narrowing) -> bool {
        match narrowing {
            Narrowing::Open => true,
            Narrowing::Users(users) => users.contains(&self.user),
            Narrowing::Departments(departments) => departments
                .iter()
                .any(|department| self.works_within(*department)),
        }
    }

    /// Whether the user works in a department or below it.
    fn works_within(&self, department: DepartmentId) -> bool {
        let own = self.standing.department;
        own.is_some_and(|own| self.directory.is_within(own, department))
    }

    /// Whether the viewer sees a lead with this owner and these access lists (C-82): the lists narrow the reach and
    /// never widen it, and the owner passes them always.
    #[must_use]
    pub fn sees_lead(&self, owner: Option<UserId>, lists: &AccessLists) -> bool {
        let own = owner == Some(self.user);
        let reached = match self.permissions.leads {
            Reach::All => true,
            Reach::Department => own || owner.is_some_and(|owner| self.is_colleague(owner)),
            Reach::Own => own,
            Reach::None => false,
        };
        reached && (own || self.is_admin() || lists.is_open() || self.is_admitted(lists))
    }

    fn is_admitted(&self, lists: &AccessLists) -> bool {
        let admits = |department: &DepartmentId| {
            self.standing.department.is_some_and(|own| {
                own == *department
                    || !lists.ignore_sub_departments && self.directory.is_within(own, *department)
            })
        };
        lists.user_access.contains(&self.user) || lists.department_access.iter().any(admits)
    }

    /// Whether `other` works in this user's department or below it.
    fn is_colleague(&self, other: UserId) -> bool {
        self.colleagues.contains(&other)
    }
}

/// Maps by id, written with text keys as the table's maps need them.
pub(crate) mod by_id {
    use std::collections::BTreeMap;

    use serde::de::{DeserializeOwned, Error as _};
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<K, V, S>(map: &BTreeMap<K, V>, serializer: S) -> Result<S::Ok, S::Error>
    where
        K: Copy + Into<u64>,
        V: Serialize,
        S: Serializer,
    {
        serializer.collect_map(map.iter().map(|(id, value)| ((*id).into().to_string(), value)))
    }

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
mod tests;
