//! The leads, opportunities and funnels that a user may see (C-82).

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::directory::{DirectoryHead, Membership};
use crate::funnel::FunnelAccess;
use crate::ids::{DepartmentId, UserId};
use crate::opportunity::Status;
use crate::permissions::{AccessLevel, Permissions};
use crate::visibility::{AccessLists, Restriction};

/// An active user with current permissions.
#[derive(Debug, Clone)]
pub struct Viewer {
    user: UserId,
    membership: Membership,
    permissions: Permissions,
    directory: Arc<DirectoryHead>,
    /// The users of the viewer's department and those below it, including the viewer; loaded only for the
    /// access level `department`.
    colleagues: Arc<BTreeSet<UserId>>,
}

/// The users whose records an access level covers, before the records' own restrictions. Leads count by
/// owner, opportunities by responsible user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OwnerScope {
    /// Records of every user and of no user.
    All,
    /// Records of these users.
    Users(BTreeSet<UserId>),
    /// No records.
    Nothing,
}

impl Viewer {
    /// The viewer for a user. Returns `None` for an inactive user, because their credentials are void (C-2).
    #[must_use]
    pub fn new(directory: Arc<DirectoryHead>, user: UserId, membership: Membership) -> Option<Self> {
        if membership.inactive {
            return None;
        }
        let permissions = if membership.admin {
            Permissions::EVERYTHING
        } else {
            let group = membership.group.and_then(|group| directory.groups.get(&group));
            group.copied().unwrap_or_default()
        };
        Some(Self {
            user,
            membership,
            permissions,
            directory,
            colleagues: Arc::new(BTreeSet::from([user])),
        })
    }

    /// The departments whose members the viewer needs; empty unless an access level is `department`.
    #[must_use]
    pub fn departments(&self) -> BTreeSet<DepartmentId> {
        let levels = [self.permissions.leads, self.permissions.opportunities];
        match self.membership.department {
            Some(own) if levels.contains(&AccessLevel::Department) => self.directory.below(own),
            _ => BTreeSet::new(),
        }
    }

    /// Adds the members of [`Self::departments`], whose records the access level `department` covers.
    #[must_use]
    pub fn with_colleagues(mut self, members: BTreeSet<UserId>) -> Self {
        Arc::make_mut(&mut self.colleagues).extend(members);
        self
    }

    /// The user's id.
    #[must_use]
    pub fn user(&self) -> UserId {
        self.user
    }

    /// Whether the user sees everything, including leads' secrets (C-21).
    #[must_use]
    pub fn is_admin(&self) -> bool {
        self.membership.admin
    }

    /// The permissions of the user's group. An admin has all permissions.
    #[must_use]
    pub fn permissions(&self) -> &Permissions {
        &self.permissions
    }

    /// The head of the instance's directory.
    #[must_use]
    pub fn directory(&self) -> &DirectoryHead {
        &self.directory
    }

    /// The owners covered by the permission `leads`.
    #[must_use]
    pub fn lead_owner_scope(&self) -> OwnerScope {
        self.owner_scope(self.permissions.leads)
    }

    /// The responsible users covered by the permission `opportunities`.
    #[must_use]
    pub fn opportunity_owner_scope(&self) -> OwnerScope {
        self.owner_scope(self.permissions.opportunities)
    }

    fn owner_scope(&self, level: AccessLevel) -> OwnerScope {
        match level {
            AccessLevel::All => OwnerScope::All,
            AccessLevel::None => OwnerScope::Nothing,
            AccessLevel::Own => OwnerScope::Users(BTreeSet::from([self.user])),
            AccessLevel::Department => OwnerScope::Users(BTreeSet::clone(&self.colleagues)),
        }
    }

    /// Whether the viewer sees an opportunity of this responsible user and status (C-82). Won and lost ones require
    /// `wonLost`, even from the responsible user (C-32). The responsible user passes all service permissions.
    #[must_use]
    pub fn sees_opportunity(&self, user: UserId, status: Status, restriction: &Restriction) -> bool {
        let is_own = user == self.user;
        let is_in_scope = match self.permissions.opportunities {
            AccessLevel::All => true,
            AccessLevel::Department => is_own || self.is_colleague(user),
            AccessLevel::Own => is_own,
            AccessLevel::None => false,
        };
        is_in_scope
            && (status == Status::Open || self.permissions.won_lost)
            && (self.passes_restrictions(user) || self.is_permitted_by(restriction))
    }

    /// Whether the viewer sees this user's opportunities regardless of service permissions.
    #[must_use]
    pub fn passes_restrictions(&self, user: UserId) -> bool {
        user == self.user || self.is_admin()
    }

    /// Whether the viewer sees a funnel (C-82).
    #[must_use]
    pub fn sees_funnel(&self, access: &FunnelAccess) -> bool {
        let is_permitted = self.is_admin()
            || access.is_open()
            || access.users.contains(&self.user)
            || access
                .departments
                .iter()
                .any(|department| self.works_within(*department))
            || self
                .membership
                .group
                .is_some_and(|group| access.groups.contains(&group));
        is_permitted && self.permissions.opportunities != AccessLevel::None
    }

    /// Whether an opportunity's restriction permits the viewer.
    fn is_permitted_by(&self, restriction: &Restriction) -> bool {
        match restriction {
            Restriction::Open => true,
            Restriction::Users(users) => users.contains(&self.user),
            Restriction::Departments(departments) => departments
                .iter()
                .any(|department| self.works_within(*department)),
        }
    }

    /// Whether the user's department is `department` or below it.
    fn works_within(&self, department: DepartmentId) -> bool {
        let own = self.membership.department;
        own.is_some_and(|own| self.directory.is_within(own, department))
    }

    /// Whether the viewer sees a lead with this owner and these access lists (C-82). The lists restrict the
    /// access level and never extend it; the owner always passes them.
    #[must_use]
    pub fn sees_lead(&self, owner: Option<UserId>, lists: &AccessLists) -> bool {
        let is_own = owner == Some(self.user);
        let is_in_scope = match self.permissions.leads {
            AccessLevel::All => true,
            AccessLevel::Department => is_own || owner.is_some_and(|owner| self.is_colleague(owner)),
            AccessLevel::Own => is_own,
            AccessLevel::None => false,
        };
        is_in_scope && (self.passes_access_lists(owner) || lists.is_open() || self.is_listed(lists))
    }

    /// Whether the viewer sees this owner's leads regardless of access lists.
    #[must_use]
    pub fn passes_access_lists(&self, owner: Option<UserId>) -> bool {
        owner == Some(self.user) || self.is_admin()
    }

    /// Whether the lists name the user, the user's department or, unless they exclude it, a department above that.
    fn is_listed(&self, lists: &AccessLists) -> bool {
        let is_permitted = |department: &DepartmentId| {
            if lists.ignore_sub_departments {
                return self.membership.department == Some(*department);
            }
            self.works_within(*department)
        };
        lists.user_access.contains(&self.user) || lists.department_access.iter().any(is_permitted)
    }

    /// Whether `other` is in this user's department or below it.
    fn is_colleague(&self, other: UserId) -> bool {
        self.colleagues.contains(&other)
    }
}

#[cfg(test)]
mod tests;
