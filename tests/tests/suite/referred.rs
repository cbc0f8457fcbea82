//! Items to which records refer: their unreadability concerns no other record, and all of them are found, however many there are.

use serde_json::json;
use shared::funnel::{Funnel, FunnelAccess};
use shared::ids::TagId;
use tests::World;
use tests::labels::add_tags;
use tests::people::{add_leads, lead, plain_lead, settle};
use tests::sales::{add_funnels, add_opportunities, column, columns, funnel, open_shop, plain_opportunity};

/// An unreadable tag, funnel or user is no fault of records without it. Where it belongs to a record it is omitted and counted.
#[tokio::test]
async fn unreadable_items_do_not_affect_other_records() {
    let world = World::own().await;
    let table = world.raw();
    let operator = world.operator("acme");
    settle(&operator).await;
    open_shop(&operator).await;
    add_tags(&operator, [1, 2]).await;
    let mut tagged = plain_lead(2001, "Pessoa", "de Tal", Some(7));
    tagged.tags = [1].into_iter().filter_map(TagId::new).collect();
    add_leads(&operator, vec![tagged]).await;
    let mut opportunity = plain_opportunity(1, 9, 0);
    opportunity.lead_id = Some(lead(2001));
    add_opportunities(&operator, vec![opportunity]).await;
    let wallet = world.wallet(7).await;
    let tags = "query={lead{tags{id}}}";
    for (pk, id, path, part, unreadable) in [
        ("acme#funnel", 4, "/crmopportunity/1?", json!({ "/id": 1 }), None),
        (
            "acme#funnel",
            4,
            "/listopportunitysleadcomplete/2001?",
            json!({ "/0/id": 1 }),
            None,
        ),
        (
            "acme#tag",
            2,
            &format!("/leads/2001?{tags}"),
            json!({ "/data/lead/tags": [{ "id": 1 }] }),
            None,
        ),
        (
            "acme#tag",
            1,
            &format!("/leads/2001?{tags}"),
            json!({ "/data/lead/tags": [] }),
            Some("1"),
        ),
        (
            "acme#user",
            9,
            "/listopportunitysleadcomplete/2001?",
            json!({ "/0/id": 1, "/0/user": null }),
            Some("1"),
        ),
        (
            "acme#funnel",
            3,
            "/listopportunitysleadcomplete/2001?",
            json!({ "": [] }),
            Some("1"),
        ),
    ] {
        let sk = format!("{id:015}");
        let sound = table.get(pk, &sk).expect("an item");
        table.put(pk, &sk, &json!({ "id": { "L": [{ "NULL": true }] } }));
        let answer = world.get(&format!("{path}&i=acme")).with(&wallet).send().await;
        table.put(pk, &sk, &sound);
        assert_eq!(answer.status, 200, "{pk} {id} {path}: {}", answer.body);
        for (at, expected) in part.as_object().expect("parts") {
            assert_eq!(answer.body.pointer(at), Some(expected), "{pk} {id} {path}");
        }
        let counted = answer
            .headers
            .get("x-items-unreadable")
            .and_then(|count| count.to_str().ok());
        assert_eq!(counted, unreadable, "{pk} {id} {path}");
    }
}

/// Funnels and tags beyond the first 50 are read where a record needs them, one batch within the read budget.
#[tokio::test]
async fn records_find_funnels_and_tags_beyond_the_first() {
    let world = World::new().await;
    let operator = world.operator("acme");
    open_shop(&operator).await;
    let more = (1001..=1060).map(|id| Funnel {
        id: funnel(id),
        columns: columns(&[(10 * id, "Etapa", 1)]),
        name: "Mais".to_owned(),
        fields: Vec::new(),
        access: FunnelAccess::default(),
    });
    add_funnels(&operator, &more.collect::<Vec<_>>()).await;
    add_tags(&operator, 1..=260).await;
    let mut tagged = plain_lead(2001, "Pessoa", "de Tal", Some(7));
    tagged.tags = (61..=260).filter_map(TagId::new).collect();
    add_leads(&operator, vec![tagged]).await;
    let mut opportunity = plain_opportunity(1, 9, 0);
    (opportunity.crm_id, opportunity.crm_column) = (funnel(1060), column(10_600));
    opportunity.lead_id = Some(lead(2001));
    add_opportunities(&operator, vec![opportunity]).await;
    let wallet = world.known(7).await;
    for (path, trips) in [
        ("/crmopportunity/1?id=1060&i=acme", 1),
        ("/crmopportunity/1?i=acme", 2),
        ("/listopportunitysleadcomplete/2001?i=acme", 4),
        ("/leads/2001?i=acme&query={lead{tags{id}}}", 2),
    ] {
        let answer = world.get(path).with(&wallet).send().await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        assert_eq!(answer.cost.round_trips, trips, "{path}: {:?}", answer.cost);
        let empty = [json!([]), json!({ "data": { "lead": { "tags": [] } } })];
        assert!(!empty.contains(&answer.body), "{path}");
    }
    tests::people::set(&operator, "read_budget", &json!(100)).await;
    let answer = world
        .read(&wallet, "/leads/2001?i=acme&query={lead{tags{id}}}")
        .await;
    let details = "query: the tags of these leads are more than read_budget allows; select tags for fewer leads at a time";
    answer.is(400, &json!({ "error": "Invalid request", "details": details }));
}
