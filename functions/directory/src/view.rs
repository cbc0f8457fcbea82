//! Users and departments in responses.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use shared::directory::DirectoryHead;
use shared::ids::{DepartmentId, GroupId, UserId};
use shared::people::User;
use shared::store::DepartmentList;
use shared::time::Timestamp;

/// Maximum nesting of departments. JSON readers refuse some hundred levels.
const MAX_LEVELS: usize = 32;

/// A user (C-97). Unknown values are null.
#[derive(Debug, Serialize)]
pub struct UserView<'a> {
    id: UserId,
    name: &'a str,
    #[serde(rename = "lastName")]
    last_name: Option<&'a str>,
    email: Option<&'a str>,
    admin: u8,
    active: u8,
    department: Option<DepartmentId>,
    group: Option<GroupId>,
    telephone: Option<&'a str>,
    photo: Option<&'a str>,
    whatsapp: Option<&'a str>,
    branch: Option<&'a str>,
    position_company: Option<&'a str>,
    username: Option<&'a str>,
    last_login: Option<Timestamp>,
    last_action: Option<Timestamp>,
}

impl<'a> UserView<'a> {
    pub fn of(user: &'a User) -> Self {
        Self {
            id: user.id,
            name: &user.name,
            last_name: user.last_name.as_deref(),
            email: user.email.as_deref(),
            admin: user.admin.into(),
            active: user.active.into(),
            department: user.department,
            group: user.group,
            telephone: user.telephone.as_deref(),
            photo: user.photo.as_deref(),
            whatsapp: user.whatsapp.as_deref(),
            branch: user.branch.as_deref(),
            position_company: user.position_company.as_deref(),
            username: user.username.as_deref(),
            last_login: user.last_login,
            last_action: user.last_action,
        }
    }
}

/// A department with those below it (C-97).
#[derive(Debug, Serialize)]
pub struct DepartmentView<'a> {
    id: DepartmentId,
    name: &'a str,
    department: Option<DepartmentId>,
    users: Vec<UserId>,
    subs: Vec<DepartmentView<'a>>,
    show_crm: u8,
    show_sac360: u8,
    #[serde(rename = "createDate")]
    create_date: Option<Timestamp>,
    #[serde(rename = "updateDate")]
    update_date: Option<Timestamp>,
}

/// The top departments by id, each with those below it. Departments deeper than [`MAX_LEVELS`] are at that level.
pub fn department_views<'a>(
    directory: &'a DirectoryHead,
    list: &'a DepartmentList,
) -> Vec<DepartmentView<'a>> {
    let mut tree = Tree {
        directory,
        list,
        below: BTreeMap::new(),
    };
    for (id, parent) in &directory.departments {
        let parent = parent.filter(|parent| directory.departments.contains_key(parent));
        tree.below.entry(parent).or_default().insert(*id);
    }
    tree.subs(None, 1)
}

struct Tree<'a> {
    directory: &'a DirectoryHead,
    list: &'a DepartmentList,
    /// The departments by their parents; those without an existing parent under `None`.
    below: BTreeMap<Option<DepartmentId>, BTreeSet<DepartmentId>>,
}

impl<'a> Tree<'a> {
    /// The departments directly below `parent`. At the last level, all departments below it.
    fn subs(&self, parent: Option<DepartmentId>, level: usize) -> Vec<DepartmentView<'a>> {
        let mut below = self.below.get(&parent).cloned().unwrap_or_default();
        if level == MAX_LEVELS {
            below = self.all_below(below);
        }
        let views = below.into_iter().filter_map(|id| self.view(id, level));
        views.collect()
    }

    /// A department with those below it; `None` if it does not exist.
    fn view(&self, id: DepartmentId, level: usize) -> Option<DepartmentView<'a>> {
        let parent = *self.directory.departments.get(&id)?;
        let department = self.list.details.departments.get(&id)?;
        let users = self.list.users.get(&id).into_iter().flatten();
        Some(DepartmentView {
            id,
            name: &department.name,
            department: parent,
            users: users.copied().collect(),
            subs: if level < MAX_LEVELS {
                self.subs(Some(id), level + 1)
            } else {
                Vec::new()
            },
            show_crm: department.show_crm.into(),
            show_sac360: department.show_sac360.into(),
            create_date: department.create_date,
            update_date: department.update_date,
        })
    }

    /// These departments and all departments below them.
    fn all_below(&self, mut all: BTreeSet<DepartmentId>) -> BTreeSet<DepartmentId> {
        let mut unvisited: Vec<_> = all.iter().copied().collect();
        while let Some(id) = unvisited.pop() {
            for sub in self.below.get(&Some(id)).into_iter().flatten() {
                if all.insert(*sub) {
                    unvisited.push(*sub);
                }
            }
        }
        all
    }
}
