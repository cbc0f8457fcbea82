//! The effect of each permission of a group on all protected routes (C-82). Public routes, including 13 and
//! 19, have no permissions.

use serde_json::{Value, json};
use shared::directory::Group;
use shared::ids::GroupId;
use shared::people::User;
use shared::permissions::Permissions;
use tests::people::{add_users, department, user};
use tests::{Wallet, World};

use tests::catalogue::protected;

type Refusals = &'static [(&'static str, &'static str, u16)];

/// A permission that is removed from a user who has all others, and the rejected routes. All other routes
/// return 200.
const TABLE: [(&str, Refusals); 10] = [
    (
        "leads",
        &[
            ("GET", "/leads/1001", 404),
            ("GET", "/leads/1001/timeline", 404),
            ("GET", "/leads/1001/meetings", 404),
            ("PUT", "/leads/1002", 404),
            ("PUT", "/leads", 404),
            ("DELETE", "/leads/1006", 404),
            ("POST", "/lead/archive", 404),
            ("POST", "/crmopportunity", 400),
            ("GET", "/listopportunitysleadcomplete/1001", 404),
            ("GET", "/sac360/lead/1001", 400),
            ("GET", "/sac360/list_file_attendance/501", 400),
            ("GET", "/sac360/list_file_lead/1001", 400),
            ("POST", "/sac360/relaction", 400),
        ],
    ),
    (
        "opportunities",
        &[
            ("POST", "/crmopportunity", 400),
            ("GET", "/crmopportunity/1", 404),
            ("PUT", "/crmopportunity/1", 400),
            ("GET", "/crmfastloadv2/3", 401),
            ("POST", "/crm/opportunities/3", 401),
        ],
    ),
    ("wonLost", &[]),
    (
        "deleteLeads",
        &[("DELETE", "/leads/1006", 403), ("DELETE", "/leads", 403)],
    ),
    ("archiveLeads", &[("POST", "/lead/archive", 403)]),
    (
        "editLeads",
        &[
            ("POST", "/leads", 403),
            ("PUT", "/leads/1002", 403),
            ("PUT", "/leads", 403),
        ],
    ),
    (
        "editOpportunities",
        &[
            ("POST", "/crmopportunity", 400),
            ("PUT", "/crmopportunity/1", 400),
        ],
    ),
    (
        "calendars",
        &[
            ("GET", "/pcalendar", 403),
            ("GET", "/calendarmeeting/5", 403),
            ("GET", "/leads/1001/meetings", 403),
        ],
    ),
    (
        "tickets",
        &[
            ("GET", "/sac360/lead/1001", 400),
            ("GET", "/sac360/list_file_attendance/501", 400),
            ("GET", "/sac360/list_file_lead/1001", 400),
            ("POST", "/sac360/relaction", 400),
        ],
    ),
    (
        "reports",
        &[("GET", "/advancedreports", 403), ("GET", "/reportchart/1", 403)],
    ),
];

/// Credentials of a user with every permission but one.
async fn lacking(world: &World, permission: &str) -> Wallet {
    let mut permissions = json!(Permissions::EVERYTHING);
    permissions[permission] = match permissions[permission] {
        Value::Bool(_) => json!(false),
        _ => json!("none"),
    };
    let group = Group {
        name: "Quase todos".to_owned(),
        permissions: serde_json::from_value(permissions).expect("permissions"),
    };
    let (operator, id) = (world.operator("acme"), GroupId::new(99).expect("a group id"));
    operator
        .put_directory(|directory| {
            directory.groups.insert(id, group.clone());
        })
        .await
        .expect("the directory can be written");
    let somebody = User {
        department: Some(department(1)),
        group: Some(id),
        ..User::new(user(99), "Iara")
    };
    add_users(&operator, &[somebody]).await;
    world.wallet(99).await
}

#[tokio::test]
async fn each_permission_rejects_its_routes() {
    for (permission, refusals) in TABLE {
        let world = super::world().await;
        let wallet = lacking(&world, permission).await;
        let mut met = 0;
        for route in protected() {
            let named = refusals
                .iter()
                .find(|(method, path, _)| *method == route.method && *path == route.path);
            let expected = named.map_or(200, |(_, _, status)| *status);
            met += usize::from(named.is_some());
            let answer = route
                .with(&world, "i=acme", &wallet.key, &wallet.token)
                .send()
                .await;
            assert_eq!(
                answer.status.as_u16(),
                expected,
                "without {permission}: {route:?}: {}",
                answer.body
            );
            let text = match expected {
                401 => "Unauthorized",
                403 => "Forbidden",
                404 => "Not found",
                _ => continue,
            };
            assert_eq!(answer.body, route.says(text), "without {permission}: {route:?}");
        }
        assert_eq!(met, refusals.len(), "{permission}: each refusal is of a route");
    }
}

/// C-82: routes that do not reject return nothing.
#[tokio::test]
async fn lists_without_a_permission_are_empty() {
    let world = super::world().await;
    let wallet = lacking(&world, "leads").await;
    let listed = world.get("/leads?i=acme").with(&wallet).send().await;
    listed.is(200, &json!({ "data": { "total": 0, "leads": [] } }));
    let uri = format!("/leads?i=acme&apitoken={}", wallet.key);
    let deleted = world.call("DELETE", &uri).json(&json!({ "ids": [1001] })).send();
    let nothing = json!({ "msg": "deleted", "data": { "ids": [], "notFound": [1001] } });
    deleted.await.is(200, &nothing);
    let wallet = lacking(&world, "opportunities").await;
    let funnels = world
        .get(&format!("/crm?i=acme&apitoken={}", wallet.key))
        .send()
        .await;
    funnels.is(200, &json!([]));
}
