//! Access to funnels (C-82): 401 on endpoint 10, absent from 9, unknown to 7 and 8.

use serde_json::{Value, json};
use shared::funnel::{Funnel, FunnelAccess};
use shared::ids::GroupId;
use shared::opportunity::Opportunity;
use tests::people::{department, user};
use tests::sales::{add_funnels, add_opportunities, column, columns, funnel, page, plain_opportunity, sales};

use super::{Client, ids, refused, shop};

type Ids = &'static [u64];

/// Access by users, departments and groups, and the permitted ones of users 7 to 11: 7 is an admin, 8 and 9
/// are of department 2 below 1 and of groups 21 and 22, 10 of 1 and group 23, 11 of 3 and group 24. A
/// funnel's id is 60 plus its index.
const ACCESS: [(Ids, Ids, Ids, Ids); 12] = [
    (&[], &[], &[], &[7, 8, 9, 10, 11]),
    (&[8], &[], &[], &[7, 8]),
    (&[8, 11], &[], &[], &[7, 8, 11]),
    (&[12], &[], &[], &[7]),
    // With those below it, and without those above it.
    (&[], &[1], &[], &[7, 8, 9, 10]),
    (&[], &[2], &[], &[7, 8, 9]),
    (&[], &[3], &[], &[7, 11]),
    (&[], &[], &[22], &[7, 9]),
    (&[], &[], &[22, 24], &[7, 9, 11]),
    // Any match suffices.
    (&[8], &[3], &[23], &[7, 8, 10, 11]),
    (&[9], &[2], &[22], &[7, 8, 9]),
    (&[99], &[9], &[99], &[7]),
];

fn guarded() -> impl Iterator<Item = Funnel> {
    ACCESS
        .iter()
        .zip(60..)
        .map(|((users, departments, groups, _), id)| Funnel {
            id: funnel(id),
            columns: columns(&[(id * 10, "Entrada", 1)]),
            access: FunnelAccess {
                users: users.iter().copied().map(user).collect(),
                departments: departments.iter().copied().map(department).collect(),
                groups: groups.iter().filter_map(|id| GroupId::new(*id)).collect(),
            },
            ..sales()
        })
}

#[tokio::test]
async fn funnels_are_visible_by_their_access_lists() {
    let world = shop().await;
    let operator = world.operator("acme");
    let funnels: Vec<_> = guarded().collect();
    add_funnels(&operator, &funnels).await;
    // One in each funnel for each of the users.
    let mut opportunities = Vec::new();
    for of in &funnels {
        for responsible in 7..=11 {
            opportunities.push(Opportunity {
                crm_id: of.id,
                crm_column: column(of.id.get() * 10),
                ..plain_opportunity(of.id.get() * 100 + responsible, responsible, 0)
            });
        }
    }
    add_opportunities(&operator, opportunities).await;
    for who in 7..=11 {
        let client = Client::of(&world, who).await;
        let uri = format!("/crm?i=acme&apitoken={}", client.wallet.key);
        let listed = ids(&world.get(&uri).send().await.body);
        for ((.., admitted), id) in ACCESS.iter().zip(60_u64..) {
            let seen = admitted.contains(&who);
            assert_eq!(listed.contains(&id), seen, "user {who} funnel {id}");
            let own = id * 100 + who;
            for more in [json!({ "columnId": id * 10 }), Value::Null] {
                let answer = client.ask(id, &page(1, 25, &more)).await;
                if !seen {
                    answer.is(401, &json!({ "error": "Unauthorized" }));
                    continue;
                }
                assert_eq!(answer.status, 200, "user {who} funnel {id}");
                let records = if more.is_null() {
                    &answer.body[0]["items"]
                } else {
                    &answer.body
                };
                assert!(ids(records).contains(&own), "user {who} funnel {id}");
            }
            let uri = format!("/crmopportunity/{own}?id={id}&i=acme");
            let call = world.call("PUT", &uri).with(&client.wallet).json(&json!({}));
            let update = call.send().await;
            let new = json!({ "title": "x", "crm_column": id * 10, "lead_id": 99 });
            let call = world.call("POST", &format!("/crmopportunity?id={id}&i=acme"));
            let create = call.with(&client.wallet).json(&new).send().await;
            let unknown = format!("id: funnel {id} does not exist");
            if seen {
                assert_eq!(update.status, 200, "user {who} funnel {id}");
                create.is(400, &json!({ "msg": "lead_id: lead 99 does not exist" }));
            } else {
                refused(&update, &unknown);
                create.is(400, &json!({ "msg": unknown }));
            }
        }
    }
}

/// A user who does not see the funnel sees neither the own opportunities in it, nor any of it through another
/// funnel.
#[tokio::test]
async fn a_funnel_shows_its_own_opportunities() {
    let world = shop().await;
    let elsewhere = (1..=3).map(|id| Opportunity {
        crm_id: funnel(4),
        crm_column: column(41),
        ..plain_opportunity(id, 7, 0)
    });
    add_opportunities(&world.operator("acme"), elsewhere.collect()).await;
    let admin = Client::of(&world, 7).await;
    assert_eq!(admin.found(&json!({})).await, [0; 0]);
    let of_four = page(1, 25, &json!({ "columnId": 41 }));
    assert_eq!(ids(&admin.ask(4, &of_four).await.body), [3, 2, 1]);
}
