//! The opportunity of a submission.

use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::World;
use tests::forms::{received, submit};
use tests::sales::page;

use super::{NEW, world};

async fn opportunities(world: &World) -> Vec<Value> {
    let uri = format!(
        "/crm/opportunities/3?i=acme&apitoken={}",
        world.wallet(7).await.key
    );
    let body = page(1, 100, &json!({ "columnId": 32 }));
    let answer = world.call("POST", &uri).json(&body).send().await;
    answer.body.as_array().expect("a list").clone()
}

/// Its user is the form's owner, else the lead's, else the user with the lowest id.
#[tokio::test]
async fn a_submission_creates_an_opportunity() {
    let opportunity = json!({ "column": 32, "title": "Orçamento", "value": 1500.5 });
    for (owner, sent, lead, user) in [
        (
            json!(9),
            json!({ "nome": "Bia", "email": "bia@example.com" }),
            NEW,
            9,
        ),
        (
            Value::Null,
            json!({ "nome": "X", "email": "lead1001@example.com" }),
            1001,
            8,
        ),
        (Value::Null, json!({ "nome": "Bia" }), NEW, 7),
    ] {
        let world = world(&json!({ "owner": owner, "opportunity": opportunity })).await;
        submit(&world, &sent).await.is(200, &received(lead));
        let made = opportunities(&world).await;
        let shown: Vec<_> = made
            .iter()
            .map(|one| {
                json!([
                    one["title"],
                    one["value"],
                    one["lead_id"],
                    one["user"],
                    one["status"]
                ])
            })
            .collect();
        assert_eq!(shown, [json!(["Orçamento", "1500.50", lead, user, "open"])]);
        world.is_sound().await;
    }
}

/// The same submission within a day makes one, and another one none while that one is open.
#[tokio::test]
async fn equal_submissions_make_one_opportunity() {
    let opportunity = json!({ "column": 32, "title": "Orçamento" });
    let world = world(&json!({ "opportunity": opportunity })).await;
    let sent =
        |cargo: &str| json!({ "nome": "Bia", "email": "bia@example.com", "cargo": cargo, "utm_source": "a" });
    for (cargo, count) in [("CEO", 1), ("CEO", 1), ("CTO", 1), ("CEO", 1)] {
        submit(&world, &sent(cargo)).await.is(200, &received(NEW));
        assert_eq!(opportunities(&world).await.len(), count, "{cargo}");
    }
    world.clock.set(world.clock.get().plus_days(2));
    submit(&world, &sent("CEO")).await.is(200, &received(NEW));
    assert_eq!(opportunities(&world).await.len(), 1);
    assert_eq!(world.form_events().await.len(), 3);
    world.is_sound().await;
}

/// Wins every opportunity of the column.
async fn win(world: &World) {
    let admin = world.wallet(7).await;
    for one in opportunities(world).await {
        let uri = format!("/crmopportunity/{}?id=3&i=acme", one["id"]);
        let won = world
            .write(&admin, "PUT", &uri, &json!({ "status": "gain" }))
            .await;
        assert_eq!(won.status, 200, "{}", won.body);
    }
}

/// An equal submission creates nothing, also after the opportunity that hindered it is closed; another one does.
#[tokio::test]
async fn equal_submissions_make_none_after_a_win() {
    let opportunity = json!({ "column": 32, "title": "Orçamento" });
    let world = world(&json!({ "opportunity": opportunity })).await;
    let sent = |cargo: &str| json!({ "nome": "Bia", "email": "bia@example.com", "cargo": cargo });
    for (cargo, count) in [("CEO", 1), ("CTO", 1)] {
        submit(&world, &sent(cargo)).await.is(200, &received(NEW));
        assert_eq!(opportunities(&world).await.len(), count, "{cargo}");
    }
    win(&world).await;
    for (cargo, count) in [("CEO", 1), ("CTO", 1), ("COO", 2)] {
        submit(&world, &sent(cargo)).await.is(200, &received(NEW));
        assert_eq!(opportunities(&world).await.len(), count, "{cargo}");
    }
    win(&world).await;
    submit(&world, &sent("COO")).await.is(200, &received(NEW));
    assert_eq!(opportunities(&world).await.len(), 2);
    world.is_sound().await;
}

/// Simultaneous submissions of one person open one opportunity.
#[tokio::test]
async fn simultaneous_submissions_make_one_opportunity() {
    let opportunity = json!({ "column": 32, "title": "Orçamento" });
    let world = world(&json!({ "opportunity": opportunity })).await;
    for round in 1..=3 {
        let submissions = (0..6).map(async |at| {
            let sent = json!({ "nome": "Bia", "email": "bia@example.com", "cargo": format!("{round} {at}") });
            submit(&world, &sent).await.is(200, &received(NEW));
        });
        join_all(submissions).await;
        assert_eq!(opportunities(&world).await.len(), round, "{round}");
        win(&world).await;
    }
    world.is_sound().await;
}

/// The lead is not lost with a column that its funnel does not have any more.
#[tokio::test]
async fn a_column_that_is_gone_costs_no_lead() {
    let world = world(&json!({ "opportunity": { "column": 32, "title": "Orçamento" } })).await;
    // An import refuses to remove it.
    let (raw, key) = (world.raw(), ("acme#funnel", "000000000000003"));
    let mut funnel = raw.get(key.0, key.1).expect("the funnel");
    let columns = funnel["columns"]["L"].as_array_mut().expect("columns");
    columns.retain(|column| column["M"]["id"]["N"] != "32");
    raw.put(key.0, key.1, &funnel);
    submit(&world, &json!({ "nome": "Bia" }))
        .await
        .is(200, &received(NEW));
}
