//! Every route that names leads × every user's view of them (C-82).

use serde_json::json;
use tests::catalogue::{Entry, protected};
use tests::people::leads;
use tests::tickets::{add_files, add_tickets, file, ticket};
use tests::{ACME, World};

/// The leads that each user sees: all, the own ones, those of a department, or all but those restricted by access lists.
const SEEN: [(u64, &[u64]); 7] = [
    (7, &[1001, 1002, 1003, 1004, 1005, 1006, 1007, 1012]),
    (8, &[1001, 1006]),
    (9, &[1002, 1012]),
    (10, &[1001, 1002, 1003, 1005, 1006, 1012]),
    (11, &[1004]),
    (13, &[]),
    (14, &[1001, 1002, 1003, 1006, 1007, 1012]),
];

/// The routes that name a lead in the path or as `id` in the body, those that delete last.
fn routes() -> Vec<Entry> {
    let mut routes = protected();
    routes.retain(|route| {
        let is_lead = route.path.contains("/1001") || route.path.starts_with("/leads/");
        is_lead || ["/lead/archive", "/leads"].contains(&&*route.route) && route.body.get("id").is_some()
    });
    routes.sort_by_key(|route| route.method == "DELETE");
    routes
}

#[tokio::test]
async fn leads_are_visible_to_the_same_users_on_every_route() {
    assert!(routes().len() >= 10, "{:?}", routes());
    for (user, seen) in SEEN {
        let world = World::new().await;
        let operator = world.operator(ACME);
        let all: Vec<_> = leads().iter().map(|lead| lead.id.get()).collect();
        // The attendant of a ticket does not matter.
        let tickets = all
            .iter()
            .map(|id| ticket(&json!({ "id": id, "lead_relation": id, "attendant": 9 })));
        add_tickets(&operator, tickets).await;
        add_files(&operator, all.iter().map(|id| file(&json!({ "ticket": id })))).await;
        let wallet = world.wallet(user).await;
        for route in routes() {
            for lead in &all {
                let mut of_lead = route.clone();
                of_lead.path = route.route.replace("{id}", &lead.to_string());
                if let Some(id) = of_lead.body.get_mut("id") {
                    *id = json!(lead);
                }
                let answer = of_lead
                    .with(&world, "i=acme", &wallet.key, &wallet.token)
                    .send()
                    .await;
                let hidden = if route.path.starts_with("/sac360/") {
                    400
                } else {
                    404
                };
                let expected = if seen.contains(lead) { 200 } else { hidden };
                assert_eq!(
                    answer.status,
                    expected,
                    "user {user}, {}, {lead}: {}",
                    route.name(),
                    answer.body
                );
                match expected {
                    400 => assert_eq!(
                        answer.headers["x-error-details"],
                        format!("lead_id: lead {lead} does not exist")
                    ),
                    404 => assert_eq!(answer.body, json!({ "error": "Not found" })),
                    _ => {}
                }
            }
        }
        world.is_sound().await;
    }
}

/// The same for bulk requests.
#[tokio::test]
async fn bulk_requests_do_not_find_hidden_leads() {
    for (user, seen) in SEEN {
        let world = World::new().await;
        let wallet = world.wallet(user).await;
        let all: Vec<_> = leads().iter().map(|lead| lead.id.get()).collect();
        let hidden: Vec<_> = all.iter().filter(|lead| !seen.contains(lead)).collect();
        for (method, path, body) in [
            ("POST", "/lead/archive", json!({ "archived": true, "ids": all })),
            ("DELETE", "/leads", json!({ "ids": all })),
        ] {
            let uri = format!("{path}?i=acme&apitoken={}", wallet.key);
            let answer = world.call(method, &uri).json(&body).send().await;
            assert_eq!(
                answer.body["data"]["notFound"],
                json!(hidden),
                "user {user}: {}",
                answer.body
            );
        }
        world.is_sound().await;
    }
}
