//! The keys of the directory, of tags and loss reasons, and of items derived from several users' records.

use super::{Key, Keys, number};
use crate::ids::{DepartmentId, GroupId, LossReasonId, TagId, UserId};

/// Number of consecutive user ids in one item of names. Names of 500 characters each fit it.
const NAMES: u64 = 100;
/// Number of consecutive user ids in one item of a department's members.
const MEMBERS: u64 = 1000;
/// Bits of the number of an item of details. So the details of all departments are in 32 items, fewer than a request
/// reads at once.
const DETAILS: u32 = 5;

impl Keys<'_> {
    /// The head of the directory: settings, the parents of departments and the permissions of groups.
    pub fn directory(self) -> Key {
        Key::new(self.pk("directory"), "directory")
    }

    /// The details of departments: their other fields.
    pub fn departments(self) -> String {
        self.pk("department")
    }

    /// The item with the details of a department.
    pub fn department(self, id: DepartmentId) -> Key {
        Key::new(self.departments(), details(id.get()))
    }

    /// The details of groups: their names.
    pub fn groups(self) -> String {
        self.pk("group")
    }

    /// The item with the details of a group.
    pub fn group(self, id: GroupId) -> Key {
        Key::new(self.groups(), details(id.get()))
    }

    /// The users' names, an item for each hundred ids.
    pub fn user_names(self) -> String {
        self.pk("names")
    }

    /// The item with a user's name.
    pub fn user_name(self, user: UserId) -> Key {
        Key::new(self.user_names(), number(user.get() / NAMES))
    }

    /// The members of all departments.
    pub fn members(self) -> String {
        self.pk("members")
    }

    /// The item of a department's members that contains a user, if it is a member.
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

/// The sort key of the details of an id. A hash spreads ids evenly.
fn details(id: u64) -> String {
    let hash = id.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{:02}", hash >> (u64::BITS - DETAILS))
}

/// The prefix of the sort keys of a department's members.
pub fn department_members(department: DepartmentId) -> String {
    format!("{}#", department.padded())
}

/// The department in the sort key of an item of members. `None` if no such key is ever written.
pub fn member_department(sk: &str) -> Option<DepartmentId> {
    DepartmentId::new(sk.split_once('#')?.0.parse().ok()?)
}
