//! C-82 for leads, as a table.

#![expect(clippy::too_many_lines, reason = "a table is as long as it has cases")]

use super::*;

const fn permissions(leads: Reach) -> Permissions {
    Permissions {
        leads,
        ..Permissions::EVERYTHING
    }
}

fn user(id: u64) -> UserId {
    UserId::new(id).unwrap()
}

fn department(id: u64) -> DepartmentId {
    DepartmentId::new(id).unwrap()
}

/// Department 1 above 2 above 4, and 3 apart. User n*10+g works in department n with the reach of group g; user 99 is
/// an admin, 98 inactive, 97 without department and group.
fn directory() -> (Directory, BTreeMap<UserId, Standing>) {
    let mut directory = Directory::default();
    for (id, parent) in [(1, None), (2, Some(1)), (3, None), (4, Some(2))] {
        let parent = parent.map(department);
        directory.departments.insert(
            department(id),
            Department {
                name: format!("D{id}"),
                parent,
            },
        );
    }
    for (id, reach) in [
        (1, Reach::All),
        (2, Reach::Department),
        (3, Reach::Own),
        (4, Reach::None),
    ] {
        let group = Group {
            name: format!("G{id}"),
            permissions: permissions(reach),
        };
        directory.groups.insert(GroupId::new(id).unwrap(), group);
    }
    let plain = Standing {
        department: None,
        group: None,
        admin: false,
        inactive: false,
    };
    let mut users = BTreeMap::new();
    for at in 1..=4 {
        for group in 1..=4 {
            let standing = Standing {
                department: Some(department(at)),
                group: GroupId::new(group),
                ..plain
            };
            users.insert(user(at * 10 + group), standing);
        }
    }
    users.insert(user(99), Standing { admin: true, ..plain });
    users.insert(
        user(98),
        Standing {
            inactive: true,
            group: GroupId::new(1),
            ..plain
        },
    );
    users.insert(user(97), plain);
    (directory, users)
}

/// The viewer, with the members of the departments that it asks for.
fn viewer(id: u64) -> Viewer {
    let (directory, users) = directory();
    let viewer = Viewer::new(Arc::new(directory), user(id), users[&user(id)]).unwrap();
    let departments = viewer.departments();
    let works_there = |standing: &Standing| standing.department.is_some_and(|at| departments.contains(&at));
    let members = users.iter().filter(|(_, standing)| works_there(standing));
    let members = members.map(|(id, _)| *id).collect();
    viewer.among(members)
}

fn lists(users: &[u64], departments: &[u64], ignore_sub_departments: bool) -> AccessLists {
    AccessLists {
        user_access: users.iter().copied().map(user).collect(),
        department_access: departments.iter().copied().map(department).collect(),
        ignore_sub_departments,
    }
}

#[test]
fn a_directory_is_read_as_it_was_written() {
    let (directory, users) = directory();
    let written = serde_json::to_string(&directory).unwrap();
    assert_eq!(serde_json::from_str::<Directory>(&written).unwrap(), directory);
    for (id, text) in [(11, "[1,1,0]"), (99, "[0,0,1]"), (98, "[0,1,2]")] {
        let standing = users[&user(id)];
        assert_eq!(serde_json::to_string(&standing).unwrap(), text);
        assert_eq!(serde_json::from_str::<Standing>(text).unwrap(), standing);
    }
}

#[test]
fn no_other_standing_is_read() {
    for wrong in [
        "[0,0,4]",
        "[0,0]",
        "[1000000000000000,0,0]",
        "[0,1000000000000000,0]",
        "{}",
    ] {
        assert!(serde_json::from_str::<Standing>(wrong).is_err(), "{wrong}");
    }
    for wrong in [r#"{"0":{"name":"A"}}"#, r#"{"x":{"name":"A"}}"#] {
        let wrong = format!(r#"{{"departments":{wrong}}}"#);
        assert!(serde_json::from_str::<Directory>(&wrong).is_err(), "{wrong}");
    }
}

#[test]
fn inactive_users_have_no_view() {
    let (directory, users) = directory();
    assert!(Viewer::new(Arc::new(directory), user(98), users[&user(98)]).is_none());
}

/// Members are read for nobody else.
#[test]
fn departments_matter_to_who_reaches_them() {
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
fn reach_decides_before_the_access_lists() {
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
        let covered = match viewer(who).lead_reach() {
            Coverage::All => true,
            Coverage::Users(owners) => owner.is_some_and(|owner| owners.contains(&user(owner))),
            Coverage::Nothing => false,
        };
        assert_eq!(covered, sees, "the reach of user {who} over owner {owner:?}");
    }
}

#[test]
fn access_lists_narrow_and_never_widen() {
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

#[test]
fn a_circle_of_departments_ends() {
    let mut directory = Directory::default();
    for (id, parent) in [(1, 2), (2, 1)] {
        let parent = Some(department(parent));
        directory.departments.insert(
            department(id),
            Department {
                name: String::new(),
                parent,
            },
        );
    }
    assert!(!directory.is_within(department(1), department(3)));
}
