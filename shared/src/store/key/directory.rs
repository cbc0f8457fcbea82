//! The keys of the directory, of tags and loss reasons, and of what is derived from all users' records.

use super::{Key, Keys, number};
use crate::ids::{DepartmentId, GroupId, LossReasonId, TagId, UserId};

/// Ids of users whose names are in one item: names of 500 characters each still fit it.
const NAMES: u64 = 100;
/// Range of user ids in one item of a department's members.
const MEMBERS: u64 = 1000;
/// Bits of the number of an item of details, so that all departments are in 32 items, fewer than a request reads at once.
const DETAILS: u32 = 5;

impl Keys<'_> {
    /// Settings, and what decides access: the parents of departments and the permissions of groups.
    pub fn directory(self) -> Key {
        Key::new(self.pk("directory"), "directory")
    }

    /// The other fields of departments.
    pub fn departments(self) -> String {
        self.pk("department")
    }

    /// The item that has the other fields of a department.
    pub fn department(self, id: DepartmentId) -> Key {
        Key::new(self.departments(), details(id.get()))
    }

    /// The names of groups.
    pub fn groups(self) -> String {
        self.pk("group")
    }

    /// The item that has the name of a group.
    pub fn group(self, id: GroupId) -> Key {
        Key::new(self.groups(), details(id.get()))
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

/// The item of details of an id. A hash spreads any ids evenly.
fn details(id: u64) -> String {
    let hash = id.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    format!("{:02}", hash >> (u64::BITS - DETAILS))
}

/// The prefix of the sort keys of a department's members.
pub fn department_members(department: DepartmentId) -> String {
    format!("{}#", department.padded())
}

/// The department whose members an item contains. `None` if no such key is ever written.
pub fn member_department(sk: &str) -> Option<DepartmentId> {
    DepartmentId::new(sk.split_once('#')?.0.parse().ok()?)
}
