use serde_json::json;

use super::*;
use crate::automation::{Event, Trigger};

fn department(id: u64) -> DepartmentId {
    DepartmentId::new(id).unwrap()
}

fn group(id: u64) -> GroupId {
    GroupId::new(id).unwrap()
}

const LARGEST: u64 = 999_999_999_999_999;

/// A head whose departments are these, each with its parent.
fn head(parents: impl IntoIterator<Item = (u64, Option<u64>)>) -> DirectoryHead {
    let parents = parents.into_iter();
    DirectoryHead {
        departments: parents
            .map(|(id, parent)| (department(id), parent.map(department)))
            .collect(),
        ..DirectoryHead::default()
    }
}

#[test]
fn heads_round_trip() {
    for parents in [
        vec![],
        vec![(1, None)],
        vec![
            (1, Some(1)),
            (2, Some(1)),
            (3, Some(999)),
            (34, None),
            (35, Some(LARGEST)),
        ],
        vec![
            (31, None),
            (63, Some(LARGEST)),
            (1087, Some(32)),
            (LARGEST, Some(31)),
        ],
        (1..=2_000).map(|id| (id * 7, Some(14_007 - id * 7))).collect(),
    ] {
        let mut head = head(parents);
        for (id, leads) in (1..).zip(LEVELS) {
            let permissions = Permissions {
                leads,
                won_lost: id > 1,
                reports: id > 2,
                ..Permissions::default()
            };
            head.groups.insert(group(id), permissions);
        }
        head.groups.insert(group(LARGEST), Permissions::EVERYTHING);
        head.events.insert("lead.created".to_owned());
        let text = write(&head, &LaterPermissions::new());
        assert_eq!(read(&text), Ok((head, LaterPermissions::new())), "{text}");
    }
}

#[test]
fn each_permission_has_its_own_bits() {
    for bits in (8..16).map(|bit| 1_u64 << bit).chain([1, 2, 3, 0x10, 0x20, 0x30]) {
        assert_eq!(pack_permissions(unpack_permissions(bits)), bits);
    }
}

#[test]
fn unreadable_heads_are_refused() {
    for text in [
        "{",
        r#"{"departments":"A"}"#,
        r#"{"departments":"AA"}"#,
        r#"{"departments":"BABg"}"#,
        r#"{"departments":"B!"}"#,
        r#"{"departments":"gggggggggggggggB"}"#,
        r#"{"groups":{"1":"all"}}"#,
        r#"{"groups":{"1":-1}}"#,
    ] {
        assert!(read(text).is_err(), "{text}");
    }
}

/// C-88: bits and access levels of a later build allow nothing, and stay.
#[test]
fn permissions_of_later_builds_stay() {
    let bits = pack_permissions(Permissions::EVERYTHING) | 1 << 40;
    for (stored, changed) in [
        (json!(bits), json!(bits & !(1 << 15))),
        // Access level 5.
        (json!(0x205), json!(0x8200)),
    ] {
        let text = json!({ "groups": { "7": stored } }).to_string();
        let (mut head, later) = read(&text).unwrap();
        let groups = |head: &DirectoryHead| {
            let text = write(head, &later);
            serde_json::from_str::<serde_json::Value>(&text).unwrap()["groups"]["7"].clone()
        };
        assert_eq!(groups(&head), stored);
        let permissions = head.groups.get_mut(&group(7)).unwrap();
        permissions.reports = !permissions.reports;
        assert_eq!(groups(&head), changed);
    }
}

/// C-86, C-89: a head at its limits has at most 8 KB, whatever its ids and settings are.
#[test]
#[expect(clippy::too_many_lines, reason = "it is as long as there are settings")]
fn a_full_head_is_two_units() {
    let mut full = head([]);
    for (name, value) in [
        ("voip_webhook_secret", json!("\"".repeat(256))),
        ("timezone", json!("America/Argentina/ComodRivadavia")),
        ("currency", json!("USD")),
        ("page_base", json!(0)),
        ("credential_placement", json!("anywhere")),
        ("requests_per_minute", json!(1_000_000)),
        ("public_requests_per_minute", json!(1_000_000)),
        ("webhook_requests_per_minute", json!(1_000_000)),
        ("read_budget", json!(1_000_000)),
    ] {
        full.settings.set(name, &value).unwrap();
    }
    assert_eq!(full.settings.entries().len(), crate::settings::NAMES.len());
    full.triggers = true;
    full.suspended = Timestamp::parse("2026-11-21T12:00:00.000Z");
    for trigger in [Trigger::Lead, Trigger::Opportunity, Trigger::Meeting] {
        let moments = trigger.moments().iter();
        full.events.extend(moments.map(|moment| {
            Event {
                trigger,
                moment: *moment,
            }
            .to_string()
        }));
    }
    let permissions = Permissions::EVERYTHING;
    for digits in [7, 15] {
        let mut next = full.clone();
        let step = 10_u64.pow(digits) / 1_001;
        let grow = |head: &mut DirectoryHead, at: u64| {
            head.departments
                .insert(department(at * step), Some(department(step)));
            if at <= 100 {
                head.groups.insert(group(at * 10 * step), permissions);
            }
        };
        let mut count = 0;
        for at in 1..=1_001 {
            let before = next.clone();
            grow(&mut next, at);
            if !has_room(&next) {
                next = before;
                break;
            }
            count = at;
        }
        println!(
            "{count} departments with ids of {digits} digits: {} bytes",
            write(&next, &LaterPermissions::new()).len()
        );
        assert!(
            count == if digits == 7 { 1_000 } else { count } && count >= 350,
            "{count}"
        );
        let key = 2 * "directory".len() + "pkskaccessv#".len() + 63 + 20;
        assert!(write(&next, &LaterPermissions::new()).len() + key <= 8_192);
    }
}
