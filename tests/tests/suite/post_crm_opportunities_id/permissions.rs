//! Visibility of opportunities (C-82): in lists, on the board, and for changes (endpoint 8).

use serde_json::{Value, json};
use shared::directory::{Department, Group};
use shared::ids::GroupId;
use shared::opportunity::{Opportunity, ServicePermission, Status};
use shared::people::User;
use shared::permissions::{AccessLevel, Permissions};
use tests::World;
use tests::people::{add_users, department, user};
use tests::sales::{add_opportunities, page, plain_opportunity};

use super::{Client, ids, refused, shop};

/// The viewer, of department 2, which is below 1 and above 6; 3 is separate.
const VIEWER: u64 = 60;

/// Responsible users: the viewer, and one of its department, below it, above it, and separate.
const RESPONSIBLE: [(u64, u64, u64); 5] = [(1, VIEWER, 2), (2, 61, 2), (3, 62, 6), (4, 63, 1), (5, 64, 3)];

type Ids = &'static [u64];

/// Service permissions: number, kind, users, departments, and whether they permit the viewer.
const NARROWED: [(u64, ServicePermission, Ids, Ids, bool); 10] = [
    (0, ServicePermission::All, &[], &[], true),
    // Lists without effect, because the kind is `all`.
    (1, ServicePermission::All, &[61], &[3], true),
    (2, ServicePermission::Users, &[61, VIEWER], &[], true),
    (3, ServicePermission::Users, &[61], &[2], false),
    (4, ServicePermission::Users, &[], &[], false),
    (5, ServicePermission::Departments, &[], &[3, 2], true),
    // The viewer works below 1, and not in a department below its own.
    (6, ServicePermission::Departments, &[], &[1], true),
    (7, ServicePermission::Departments, &[], &[6], false),
    (8, ServicePermission::Departments, &[VIEWER], &[3], false),
    (9, ServicePermission::Departments, &[], &[], false),
];

const STATUSES: [(u64, Status); 3] = [(1, Status::Open), (2, Status::Gain), (3, Status::Lost)];

/// Every responsible user × service permission × status. The id has a digit for each.
fn opportunities() -> Vec<Opportunity> {
    let mut all = Vec::new();
    for (responsible, of, _) in RESPONSIBLE {
        for (narrowing, permission, users, departments, _) in NARROWED {
            for (status, begun) in STATUSES {
                let id = responsible * 100 + narrowing * 10 + status;
                let mut one = plain_opportunity(id, of, u32::try_from(id).expect("small"));
                one.begin_as(begun);
                one.service_permission = permission;
                one.service_permission_users = users.iter().copied().map(user).collect();
                one.service_permission_departments = departments.iter().copied().map(department).collect();
                all.push(one);
            }
        }
    }
    all
}

async fn world() -> World {
    let world = shop().await;
    let operator = world.operator("acme");
    operator
        .put_directory(|directory| {
            let below = Department::new("Rua", Some(department(2)));
            directory.departments.insert(department(6), below);
        })
        .await
        .expect("the directory");
    let users = RESPONSIBLE.map(|(_, id, at)| looking(id, at, false));
    add_users(&operator, &users).await;
    add_opportunities(&operator, opportunities()).await;
    world
}

fn looking(id: u64, at: u64, admin: bool) -> User {
    User {
        department: Some(department(at)),
        group: GroupId::new(30),
        admin,
        ..User::new(user(id), "Vera")
    }
}

/// Sets the permissions of the viewer's group.
async fn permit(world: &World, opportunities: AccessLevel, won_lost: bool) {
    let permissions = Permissions {
        opportunities,
        won_lost,
        ..Permissions::EVERYTHING
    };
    world
        .operator("acme")
        .put_directory(|directory| {
            let name = "Olheiros".to_owned();
            let id = GroupId::new(30).expect("a group id");
            directory.groups.insert(id, Group { name, permissions });
        })
        .await
        .expect("the directory");
}

/// The visible ids, newest first: of these responsible users (by number) and statuses, unless restricted. The
/// viewer's own are not restricted.
fn seen(responsible: &[u64], won_lost: bool, admin: bool) -> Vec<u64> {
    let mut seen = Vec::new();
    for (of, _, _) in RESPONSIBLE
        .iter()
        .rev()
        .filter(|(of, _, _)| responsible.contains(of))
    {
        for (narrowing, _, _, _, admits) in NARROWED.iter().rev() {
            for (status, _) in STATUSES.iter().rev() {
                if (*status == 1 || won_lost) && (*of == 1 || *admits || admin) {
                    seen.push(of * 100 + narrowing * 10 + status);
                }
            }
        }
    }
    seen
}

/// Requires that lists, board and endpoint 8 agree.
async fn sees(world: &World, viewer: &Client<'_>, expected: &[u64], what: &str) {
    for _ in 0..2 {
        assert_eq!(viewer.walk(100, &Value::Null).await, expected, "{what}");
    }
    for (more, keep) in filters() {
        let of: Vec<_> = expected.iter().copied().filter(|id| keep(*id)).collect();
        assert_eq!(viewer.walk(100, &more).await, of, "{what} {more}");
        let board = viewer.ask(3, &page(1, 5, &more)).await.body;
        let cents: u64 = of.iter().map(|id| id * 100 + 1).sum();
        let value = match of.len() {
            0 => json!(0),
            _ => json!(format!("{}.{:02}", cents / 100, cents % 100)),
        };
        let first: Vec<_> = of.iter().copied().take(5).collect();
        assert_eq!(
            (
                &board[0]["total"],
                &board[0]["totalValue"],
                ids(&board[0]["items"])
            ),
            (&json!(of.len()), &value, first),
            "{what} {more}"
        );
    }
    // Two of seven, because each is a request.
    for id in opportunities()
        .iter()
        .map(|one| one.id.get())
        .filter(|id| id % 7 < 2)
    {
        let answer = viewer.change(id, &json!({})).await;
        if expected.contains(&id) {
            assert_eq!(
                (answer.status.as_u16(), &answer.body["data"]["id"]),
                (200, &json!(id)),
                "{what}"
            );
        } else {
            let details = format!("opportunity_id: opportunity {id} does not exist in funnel 3");
            refused(&answer, &details);
        }
    }
    world.is_sound().await;
}

type Keep = fn(u64) -> bool;

fn filters() -> [(Value, Keep); 6] {
    [
        (json!({}), |_| true),
        (json!({ "filterByStatus": ["gain"] }), |id| id % 10 == 2),
        (json!({ "filterByStatus": ["open", "lost"] }), |id| id % 10 != 2),
        (json!({ "filterByUsers": [VIEWER] }), |id| id / 100 == 1),
        (
            json!({ "filterByUsers": [62, 64], "filterByStatus": ["open"] }),
            |id| [3, 5].contains(&(id / 100)) && id % 10 == 1,
        ),
        // Filters on records: totals are counted instead of summed.
        (json!({ "search": "pedido", "searchBy": "opportunity" }), |_| true),
    ]
}

/// Every access level, with and without `wonLost`, over every responsible user, service permission and
/// status.
#[tokio::test]
async fn every_access_level_shows_its_opportunities() {
    let world = world().await;
    let viewer = Client::of(&world, VIEWER).await;
    for (reach, responsible) in [
        (AccessLevel::All, &[1, 2, 3, 4, 5][..]),
        (AccessLevel::Department, &[1, 2, 3]),
        (AccessLevel::Own, &[1]),
    ] {
        for won_lost in [true, false] {
            permit(&world, reach, won_lost).await;
            let expected = seen(responsible, won_lost, false);
            sees(&world, &viewer, &expected, &format!("{reach:?} {won_lost}")).await;
        }
    }
}

/// `none`: 401 on 10, `[]` on 9, 400 on 7 and 8, including the own ones.
#[tokio::test]
async fn without_a_permission_nothing_is_visible() {
    let world = world().await;
    let viewer = Client::of(&world, VIEWER).await;
    for won_lost in [true, false] {
        permit(&world, AccessLevel::None, won_lost).await;
        for more in [
            json!({}),
            json!({ "columnId": 31 }),
            json!({ "filterByUsers": [VIEWER] }),
        ] {
            let answer = viewer.ask(3, &page(1, 25, &more)).await;
            answer.is(401, &json!({ "error": "Unauthorized" }));
        }
        let uri = format!("/crm?i=acme&apitoken={}", viewer.wallet.key);
        world.get(&uri).send().await.is(200, &json!([]));
        refused(
            &viewer.change(101, &json!({})).await,
            "id: funnel 3 does not exist",
        );
        let new = json!({ "title": "x", "crm_column": 31, "lead_id": 1001 });
        let call = world.call("POST", "/crmopportunity?id=3&i=acme");
        let answer = call.with(&viewer.wallet).json(&new).send().await;
        answer.is(400, &json!({ "msg": "id: funnel 3 does not exist" }));
    }
}

/// An admin sees everything, whatever its group may do; a user without a group sees nothing.
#[tokio::test]
async fn admins_see_everything() {
    let world = world().await;
    let operator = world.operator("acme");
    permit(&world, AccessLevel::None, false).await;
    let viewer = Client::of(&world, VIEWER).await;
    for group in [GroupId::new(30), None] {
        let admin = User {
            group,
            ..looking(VIEWER, 2, true)
        };
        add_users(&operator, &[admin]).await;
        let expected = seen(&[1, 2, 3, 4, 5], true, true);
        sees(&world, &viewer, &expected, &format!("admin {group:?}")).await;
    }
    let nobody = User {
        group: None,
        ..looking(VIEWER, 2, false)
    };
    add_users(&operator, &[nobody]).await;
    let answer = viewer.ask(3, &page(1, 25, &Value::Null)).await;
    answer.is(401, &json!({ "error": "Unauthorized" }));
}

/// `department` then means the own ones only, and no department's restriction permits the user.
#[tokio::test]
async fn users_without_a_department_see_their_own() {
    let world = world().await;
    let homeless = User {
        department: None,
        ..looking(VIEWER, 2, false)
    };
    add_users(&world.operator("acme"), &[homeless]).await;
    permit(&world, AccessLevel::Department, true).await;
    let viewer = Client::of(&world, VIEWER).await;
    assert_eq!(viewer.walk(100, &Value::Null).await, seen(&[1], true, false));
    permit(&world, AccessLevel::All, true).await;
    let mut expected = seen(&[1, 2, 3, 4, 5], true, false);
    expected.retain(|id| id / 100 == 1 || ![5, 6].contains(&(id / 10 % 10)));
    assert_eq!(viewer.walk(100, &Value::Null).await, expected);
}

/// C-2: after a change of a user's or a colleague's department, from the next request.
#[tokio::test]
async fn permissions_apply_from_the_next_request() {
    let world = world().await;
    let operator = world.operator("acme");
    permit(&world, AccessLevel::Department, true).await;
    let viewer = Client::of(&world, VIEWER).await;
    assert_eq!(
        viewer.walk(100, &Value::Null).await,
        seen(&[1, 2, 3], true, false)
    );
    add_users(&operator, &[looking(61, 3, false)]).await;
    assert_eq!(viewer.walk(100, &Value::Null).await, seen(&[1, 3], true, false));
    let gone = User {
        active: false,
        ..looking(62, 6, false)
    };
    add_users(&operator, &[gone]).await;
    // An inactive user's records still belong to the department.
    assert_eq!(viewer.walk(100, &Value::Null).await, seen(&[1, 3], true, false));
    let inactive = User {
        active: false,
        ..looking(VIEWER, 2, false)
    };
    add_users(&operator, &[inactive]).await;
    let answer = viewer.ask(3, &page(1, 25, &Value::Null)).await;
    answer.is(401, &json!({ "error": "Unauthorized" }));
}
