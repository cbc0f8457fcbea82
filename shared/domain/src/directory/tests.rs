use super::*;
use crate::ids::UserId;
use crate::permissions::AccessLevel;

const fn permissions(leads: AccessLevel) -> Permissions {
    Permissions {
        leads,
        ..Permissions::EVERYTHING
    }
}

pub(crate) fn user(id: u64) -> UserId {
    UserId::new(id).unwrap()
}

pub(crate) fn department(id: u64) -> DepartmentId {
    DepartmentId::new(id).unwrap()
}

/// Department 1 contains 2, and 2 contains 4; 3 is separate. User n*10+g works in department n with the access level of
/// group g. User 99 is an admin, 98 is inactive, and 97 has neither department nor group.
#[expect(clippy::too_many_lines, reason = "a fixture is as long as it has groups")]
pub(crate) fn directory() -> (Directory, BTreeMap<UserId, Membership>) {
    let mut directory = Directory::default();
    for (id, parent) in [(1, None), (2, Some(1)), (3, None), (4, Some(2))] {
        let parent = parent.map(department);
        directory
            .departments
            .insert(department(id), Department::new(format!("D{id}"), parent));
    }
    for (id, reach) in [
        (1, AccessLevel::All),
        (2, AccessLevel::Department),
        (3, AccessLevel::Own),
        (4, AccessLevel::None),
    ] {
        let group = Group {
            name: format!("G{id}"),
            permissions: permissions(reach),
        };
        directory.groups.insert(GroupId::new(id).unwrap(), group);
    }
    let plain = Membership {
        department: None,
        group: None,
        admin: false,
        inactive: false,
    };
    let mut users = BTreeMap::new();
    for at in 1..=4 {
        for group in 1..=4 {
            let membership = Membership {
                department: Some(department(at)),
                group: GroupId::new(group),
                ..plain
            };
            users.insert(user(at * 10 + group), membership);
        }
    }
    users.insert(user(99), Membership { admin: true, ..plain });
    users.insert(
        user(98),
        Membership {
            inactive: true,
            group: GroupId::new(1),
            ..plain
        },
    );
    users.insert(user(97), plain);
    (directory, users)
}

#[test]
fn directories_and_memberships_round_trip() {
    let (directory, users) = directory();
    let (head, details) = directory.clone().split();
    assert_eq!(Directory::of_parts(head, details), directory);
    for (id, text) in [(11, "[1,1,0]"), (99, "[0,0,1]"), (98, "[0,1,2]")] {
        let membership = users[&user(id)];
        assert_eq!(serde_json::to_string(&membership).unwrap(), text);
        assert_eq!(serde_json::from_str::<Membership>(text).unwrap(), membership);
    }
}

#[test]
fn malformed_memberships_are_rejected() {
    for wrong in [
        "[0,0,4]",
        "[0,0]",
        "[1000000000000000,0,0]",
        "[0,1000000000000000,0]",
        "{}",
    ] {
        assert!(serde_json::from_str::<Membership>(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn keys_that_are_no_ids_are_rejected() {
    #[derive(Debug, Deserialize)]
    struct ById(#[serde(with = "by_id")] BTreeMap<DepartmentId, u8>);
    let read = |text: &str| serde_json::from_str::<ById>(text).map(|ById(map)| map);
    assert_eq!(read(r#"{"1":7}"#).unwrap(), BTreeMap::from([(department(1), 7)]));
    for wrong in [r#"{"0":7}"#, r#"{"x":7}"#] {
        assert!(read(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn a_cycle_of_departments_terminates() {
    let mut directory = DirectoryHead::default();
    for (id, parent) in [(1, 2), (2, 1)] {
        directory
            .departments
            .insert(department(id), Some(department(parent)));
    }
    assert!(!directory.is_within(department(1), department(3)));
}
