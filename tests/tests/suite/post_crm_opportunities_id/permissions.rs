//! Who sees which opportunity (C-82): on lists, on the board, and where it is changed (endpoint 8).

use serde_json::{Value, json};
use shared::directory::{Department, Group};
use shared::id::GroupId;
use shared::opportunity::{Opportunity, ServicePermission, Status};
use shared::people::User;
use shared::permissions::{Permissions, Reach};
use tests::World;
use tests::people::{add_users, department, user};
use tests::sales::{add_opportunities, page, plain_opportunity};

use super::{Client, ids, refused, shop};

/// Who looks: of department 2, which lies below 1 and above 6; 3 stands apart.
const VIEWER: u64 = 60;

/// Responsible users: the viewer, and one of its department, below it, above it, and apart.
const RESPONSIBLE: [(u64, u64, u64); 5] = [(1, VIEWER, 2), (2, 61, 2), (3, 62, 6), (4, 63, 1), (5, 64, 3)];

type Ids = &'static [u64];

/// What `service_permission` says: number, users, departments, and whether it admits the viewer.
const NARROWED: [(u64, ServicePermission, Ids, Ids, bool); 10] = [
    (0, ServicePermission::All, &[], &[], true),
    // Lists that do not count, because it says `all`.
    (1, ServicePermission::All, &[61], &[3], true),
    (2, ServicePermission::Users, &[61, VIEWER], &[], true),
    (3, ServicePermission::Users, &[61], &[2], false),
    (4, ServicePermission::Users, &[], &[], false),
    (5, ServicePermission::Departments, &[], &[3, 2], true),
    // The viewer works below 1, and not in what lies below its own.
    (6, ServicePermission::Departments, &[], &[1], true),
    (7, ServicePermission::Departments, &[], &[6], false),
    (8, ServicePermission::Departments, &[VIEWER], &[3], false),
    (9, ServicePermission::Departments, &[], &[], false),
];

const STATUSES: [(u64, Status); 3] = [(1, Status::Open), (2, Status::Gain), (3, Status::Lost)];

/// Every responsible user × narrowing × status. The id has a digit for each.
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
            let below = Department {
                name: "Rua".to_owned(),
                parent: Some(department(2)),
            };
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
        id: user(id),
        name: "Vera".to_owned(),
        last_name: None,
        email: None,
        department: Some(department(at)),
        group: GroupId::new(30),
        admin,
        active: true,
    }
}

/// Gives the viewer's group these permissions.
async fn permit(world: &World, opportunities: Reach, won_lost: bool) {
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

/// What is seen, newest first: of these responsible users (by their number) and statuses, as far as it is not narrowed.
/// The viewer's own pass the narrowing.
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

/// Lists, board and endpoint 8 agree on what the viewer sees.
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
    for one in opportunities() {
        let id = one.id.get();
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
        // What only the records tell: the totals are counted instead of summed.
        (json!({ "search": "pedido", "searchBy": "opportunity" }), |_| true),
    ]
}

/// Every reach, with and without `wonLost`, over every responsible user, narrowing and status.
#[tokio::test]
async fn every_permission() {
    let world = world().await;
    let viewer = Client::of(&world, VIEWER).await;
    for (reach, responsible) in [
        (Reach::All, &[1, 2, 3, 4, 5][..]),
        (Reach::Department, &[1, 2, 3]),
        (Reach::Own, &[1]),
    ] {
        for won_lost in [true, false] {
            permit(&world, reach, won_lost).await;
            let expected = seen(responsible, won_lost, false);
            sees(&world, &viewer, &expected, &format!("{reach:?} {won_lost}")).await;
        }
    }
}

/// `none`: 401 on 10, `[]` on 9, 400 on 7 and 8, also for one's own.
#[tokio::test]
async fn no_permission() {
    let world = world().await;
    let viewer = Client::of(&world, VIEWER).await;
    for won_lost in [true, false] {
        permit(&world, Reach::None, won_lost).await;
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

/// An admin sees everything, whatever its group may do; one without a group sees nothing.
#[tokio::test]
async fn admins() {
    let world = world().await;
    let operator = world.operator("acme");
    permit(&world, Reach::None, false).await;
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

/// One without a department: `department` is then its own alone, and no department's narrowing admits it.
#[tokio::test]
async fn one_without_a_department() {
    let world = world().await;
    let homeless = User {
        department: None,
        ..looking(VIEWER, 2, false)
    };
    add_users(&world.operator("acme"), &[homeless]).await;
    permit(&world, Reach::Department, true).await;
    let viewer = Client::of(&world, VIEWER).await;
    assert_eq!(viewer.walk(100, &Value::Null).await, seen(&[1], true, false));
    permit(&world, Reach::All, true).await;
    let mut expected = seen(&[1, 2, 3, 4, 5], true, false);
    expected.retain(|id| id / 100 == 1 || ![5, 6].contains(&(id / 10 % 10)));
    assert_eq!(viewer.walk(100, &Value::Null).await, expected);
}

/// Permissions are those of now (C-2): one who changes departments, or whose colleague does, sees it with the next
/// request.
#[tokio::test]
async fn permissions_are_those_of_now() {
    let world = world().await;
    let operator = world.operator("acme");
    permit(&world, Reach::Department, true).await;
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
    // An inactive user's are still the department's.
    assert_eq!(viewer.walk(100, &Value::Null).await, seen(&[1, 3], true, false));
    let inactive = User {
        active: false,
        ..looking(VIEWER, 2, false)
    };
    add_users(&operator, &[inactive]).await;
    let answer = viewer.ask(3, &page(1, 25, &Value::Null)).await;
    answer.is(401, &json!({ "error": "Unauthorized" }));
}
