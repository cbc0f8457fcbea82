//! The effect of each permission of a group on all protected routes (C-82). Public routes, including 13 and
//! 19, have no permissions.

use serde_json::{Value, json};
use shared::directory::Group;
use shared::ids::GroupId;
use shared::people::User;
use shared::permissions::Permissions;
use tests::people::{add_users, department, user};
use tests::{Wallet, World};

use tests::catalogue::{Entry, protected};

/// A permission that is removed from a user who has all others, and the rejected routes. All other routes return 200.
const TABLE: &str = "
leads
 GET /leads/1001 404
 GET /leads/1001/timeline 404
 GET /leads/1001/meetings 404
 PUT /leads/1002 404
 PUT /leads 404
 DELETE /leads/1006 404
 POST /lead/archive 404
 POST /crmopportunity 400
 GET /listopportunitysleadcomplete/1001 404
 GET /sac360/lead/1001 400
 GET /sac360/list_file_attendance/501 400
 GET /sac360/list_file_lead/1001 400
 POST /sac360/relaction 400
opportunities
 POST /crmopportunity 400
 GET /crmopportunity/1 404
 PUT /crmopportunity/1 400
 GET /crmfastloadv2/3 401
 POST /crm/opportunities/3 401
wonLost
deleteLeads
 DELETE /leads/1006 403
 DELETE /leads 403
archiveLeads
 POST /lead/archive 403
editLeads
 POST /leads 403
 PUT /leads/1002 403
 PUT /leads 403
editOpportunities
 POST /crmopportunity 400
 PUT /crmopportunity/1 400
calendars
 GET /pcalendar 403
 GET /calendarmeeting/5 403
 GET /leads/1001/meetings 403
tickets
 GET /sac360/lead/1001 400
 GET /sac360/list_file_attendance/501 400
 GET /sac360/list_file_lead/1001 400
 POST /sac360/relaction 400
reports
 GET /advancedreports 403
 GET /reportchart/1 403
";

/// A permission, and the rejected routes with their statuses.
type Rejected = (&'static str, Vec<(&'static str, u16)>);

fn table() -> Vec<Rejected> {
    let mut table: Vec<Rejected> = Vec::new();
    for line in TABLE.trim().lines() {
        match line.trim().rsplit_once(' ') {
            None => table.push((line, Vec::new())),
            Some((route, status)) => {
                let (_, rejected) = table.last_mut().expect("a permission");
                rejected.push((route, status.parse().expect("a status")));
            }
        }
    }
    table
}

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
    add_users(&operator, &[somebody()]).await;
    world.wallet(99).await
}

/// Of the group of [`lacking`].
fn somebody() -> User {
    User {
        department: Some(department(1)),
        group: GroupId::new(99),
        ..User::new(user(99), "Iara")
    }
}

/// A refusal is the same for an unknown record, and comes after the 400 for a malformed id.
async fn reveals_nothing(world: &World, wallet: &Wallet, route: &Entry, refused: u16) {
    if route.route.contains("{id}") {
        for (id, status) in [("999999999999", refused), ("a.b", 400)] {
            let path = route.route.replace("{id}", id);
            let other = Entry {
                path,
                ..route.clone()
            };
            let answer = other
                .with(world, "i=acme", &wallet.key, &wallet.token)
                .send()
                .await;
            assert_eq!(answer.status, status, "{other:?}: {}", answer.body);
        }
    }
    let mut body = route.body.clone();
    for name in ["id", "ids"] {
        if let Some(id) = body.get_mut(name) {
            *id = if name == "ids" { json!([]) } else { json!(4711) };
        }
    }
    let other = Entry {
        body,
        ..route.clone()
    };
    let answer = other
        .with(world, "i=acme", &wallet.key, &wallet.token)
        .send()
        .await;
    assert_eq!(answer.status, refused, "{other:?}: {}", answer.body);
}

/// Each permission × each route, whatever the record.
#[tokio::test]
async fn each_permission_rejects_its_routes() {
    for (permission, refusals) in table() {
        let world = super::world().await;
        let wallet = lacking(&world, permission).await;
        let mut met = 0;
        for route in protected() {
            let name = format!("{} {}", route.method, route.path);
            let named = refusals.iter().find(|(rejected, _)| *rejected == name);
            let expected = named.map_or(200, |(_, status)| *status);
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
                400 if !["leads", "opportunities"].contains(&permission) => {
                    let told = answer
                        .headers
                        .get("x-error-details")
                        .map(|told| told.to_str().expect("text"));
                    let told = told.unwrap_or_else(|| answer.body[route.text].as_str().expect("a text"));
                    assert_eq!(
                        told,
                        format!("{permission}: the user does not have this permission")
                    );
                    reveals_nothing(&world, &wallet, &route, 400).await;
                    continue;
                }
                _ => continue,
            };
            assert_eq!(answer.body, route.says(text), "without {permission}: {route:?}");
            if expected == 403 {
                reveals_nothing(&world, &wallet, &route, 403).await;
            }
        }
        assert_eq!(met, refusals.len(), "{permission}: each refusal is of a route");
        // An admin needs no permission, from the next request on.
        let admin = User {
            admin: true,
            ..somebody()
        };
        add_users(&world.operator("acme"), &[admin]).await;
        for (name, _) in refusals {
            let mut routes = protected().into_iter();
            let route = routes.find(|route| format!("{} {}", route.method, route.path) == name);
            let route = route.expect("a route");
            let answer = route
                .with(&world, "i=acme", &wallet.key, &wallet.token)
                .send()
                .await;
            assert_eq!(
                answer.status, 200,
                "an admin without {permission}: {route:?}: {}",
                answer.body
            );
        }
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
