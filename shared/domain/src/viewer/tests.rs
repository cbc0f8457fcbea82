//! C-82 for leads, as a table.

use super::*;
use crate::directory::tests::{department, directory, user};

fn viewer(id: u64) -> Viewer {
    let (directory, users) = directory();
    let viewer = Viewer::new(Arc::new(directory.split().0), user(id), users[&user(id)]).unwrap();
    let departments = viewer.departments();
    let works_there =
        |membership: &Membership| membership.department.is_some_and(|at| departments.contains(&at));
    let members = users.iter().filter(|(_, membership)| works_there(membership));
    let members = members.map(|(id, _)| *id).collect();
    viewer.with_colleagues(members)
}

fn lists(users: &[u64], departments: &[u64], ignore_sub_departments: bool) -> AccessLists {
    AccessLists {
        user_access: users.iter().copied().map(user).collect(),
        department_access: departments.iter().copied().map(department).collect(),
        ignore_sub_departments,
    }
}

#[test]
fn inactive_users_have_no_view() {
    let (directory, users) = directory();
    assert!(Viewer::new(Arc::new(directory.split().0), user(98), users[&user(98)]).is_none());
}

#[test]
fn departments_are_needed_only_at_department_level() {
    for (who, departments) in [
        (12, vec![1, 2, 4]),
        (22, vec![2, 4]),
        (42, vec![4]),
        (11, vec![]),
        (13, vec![]),
        (14, vec![]),
        (99, vec![]),
        (97, vec![]),
    ] {
        let departments = departments.into_iter().map(department).collect();
        assert_eq!(viewer(who).departments(), departments, "user {who}");
    }
}

#[test]
fn the_access_level_precedes_the_access_lists() {
    let open = AccessLists::default();
    for (who, owner, sees) in [
        (11, None, true),
        (11, Some(33), true),
        (99, None, true),
        (12, Some(12), true),
        (12, Some(13), true),
        (12, Some(41), true),
        (12, Some(31), false),
        (22, Some(11), false),
        (12, None, false),
        (12, Some(97), false),
        (13, Some(13), true),
        (13, Some(11), false),
        (13, None, false),
        (14, Some(14), false),
        (97, Some(97), false),
    ] {
        assert_eq!(
            viewer(who).sees_lead(owner.map(user), &open),
            sees,
            "user {who}, owner {owner:?}"
        );
        let covered = match viewer(who).lead_owner_scope() {
            OwnerScope::All => true,
            OwnerScope::Users(owners) => owner.is_some_and(|owner| owners.contains(&user(owner))),
            OwnerScope::Nothing => false,
        };
        assert_eq!(covered, sees, "the reach of user {who} over owner {owner:?}");
    }
}

#[test]
fn access_lists_only_restrict() {
    for (who, owner, lists, sees) in [
        (11, None, lists(&[21], &[], false), false),
        (11, None, lists(&[11], &[], false), true),
        (11, Some(11), lists(&[21], &[3], false), true),
        (99, None, lists(&[21], &[], false), true),
        (41, None, lists(&[], &[1], false), true),
        (41, None, lists(&[], &[1], true), false),
        (41, None, lists(&[], &[4], true), true),
        (11, None, lists(&[], &[4], false), false),
        (31, None, lists(&[31], &[1], false), true),
        (31, None, lists(&[21], &[3], false), true),
        (13, Some(11), lists(&[13], &[1], false), false),
        (12, Some(31), lists(&[12], &[1], false), false),
        (12, None, lists(&[12], &[], false), false),
        (12, Some(13), lists(&[13], &[], false), false),
    ] {
        assert_eq!(
            viewer(who).sees_lead(owner.map(user), &lists),
            sees,
            "user {who}, owner {owner:?}, {lists:?}"
        );
    }
}
