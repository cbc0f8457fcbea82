//! The keys of the directory, of tags and loss reasons, and of what is derived from all users' records.

use super::{Key, Keys, number};
use crate::ids::{DepartmentId, LossReasonId, TagId, UserId};

/// Ids of users whose names are in one item: names of 500 characters each still fit it.
const NAMES: u64 = 100;
/// Range of user ids in one item of a department's members.
const MEMBERS: u64 = 1000;

impl Keys<'_> {
    /// Settings, departments and groups.
    pub fn directory(self) -> Key {
        Key::new(self.pk("directory"), "directory")
    }

    /// The users' names in the first format.
    pub fn names(self) -> Key {
        Key::new(self.pk("directory"), "names")
    }

    /// The users' names, an item for each hundred ids.
    pub fn user_names(self) -> String {
        self.pk("names")
    }

    /// The item that has a user's name.
    pub fn user_name(self, user: UserId) -> Key {
        Key::new(self.user_names(), number(user.get() / NAMES))
    }

    /// The members of all departments.
    pub fn members(self) -> String {
        self.pk("members")
    }

    /// The item that has a user among the members of a department.
    pub fn member(self, department: DepartmentId, user: UserId) -> Key {
        let range = number(user.get() / MEMBERS);
        Key::new(self.members(), format!("{}#{range}", department.padded()))
    }

    /// All tags.
    pub fn tags(self) -> String {
        self.pk("tag")
    }

    /// A tag.
    pub fn tag(self, id: TagId) -> Key {
        Key::new(self.tags(), id.padded())
    }

    /// All loss reasons.
    pub fn loss_reasons(self) -> String {
        self.pk("loss-reason")
    }

    /// A loss reason.
    pub fn loss_reason(self, id: LossReasonId) -> Key {
        Key::new(self.loss_reasons(), id.padded())
    }
}

/// The prefix of the sort keys of a department's members.
pub fn department_members(department: DepartmentId) -> String {
    format!("{}#", department.padded())
}

/// The department whose members an item contains; `None` where the key is not one that is ever written.
pub fn member_department(sk: &str) -> Option<DepartmentId> {
    DepartmentId::new(sk.split_once('#')?.0.parse().ok()?)
}
