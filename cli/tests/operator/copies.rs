//! What leads copy of companies and opportunities of leads, after imports that change the originals.

mod beside;

use std::collections::BTreeSet;

use serde_json::{Value, json};
use shared::store::Card;

use crate::import::{bench, lead};
use crate::support::Bench;

const FUNNEL: &str = r#"{"kind":"funnel","id":3,"name":"Vendas","columns":[{"id":31,"name":"Entrada"}]}"#;

fn company(id: u64, name: &str) -> String {
    format!(r#"{{"kind":"company","id":{id},"companyname":"{name}"}}"#) + "\n"
}

fn opportunity(id: u64, lead: u64) -> String {
    format!(
        r#"{{"kind":"opportunity","id":{id},"title":"Pedido","crm_id":3,"crm_column":31,"lead_id":{lead},"user":7,"createDate":"2026-02-01T00:00:00.000Z"}}"#
    ) + "\n"
}

/// The records of all opportunities.
async fn cards(bench: &Bench) -> Vec<Card> {
    let operator = bench.operator().await;
    let (mut pages, mut cards) = (operator.opportunities(), Vec::new());
    while let Some(page) = pages.next().await.unwrap() {
        cards.extend(page.into_iter().map(|record| record.card));
    }
    cards
}

/// What opportunities say of a lead's name and its company's, in their order, and that the boards say the same and no
/// notice stands.
#[track_caller]
fn settled(bench: &Bench, cards: &[Card]) -> Vec<(Option<String>, Option<String>)> {
    assert_eq!(bench.partition("acme#notice"), [] as [Value; 0]);
    let text = |item: &Value| item["card"]["S"].as_str().unwrap().to_owned();
    let set = |pk: &str| bench.partition(pk).iter().map(text).collect::<BTreeSet<_>>();
    assert_eq!(set("acme#opportunity"), set("acme#board#3#31#0#-#-"));
    let said = cards.iter().map(|card| {
        let name = card.lead.as_ref().and_then(|lead| lead.firstname.clone());
        (
            name,
            card.company.as_ref().map(|company| company.companyname.clone()),
        )
    });
    said.collect()
}

fn said(name: &str, company: Option<&str>) -> (Option<String>, Option<String>) {
    (Some(name.to_owned()), company.map(str::to_owned))
}

#[tokio::test]
async fn a_changed_company_reaches_every_opportunity_of_its_leads() {
    let bench = bench();
    let lines = [
        company(5, "Estrela"),
        company(6, "Horizonte"),
        lead(1, r#","firstname":"Ana","company":5"#),
        lead(2, r#","firstname":"Bia","company":6"#),
        lead(3, r#","firstname":"Caio""#),
        opportunity(1, 1),
        opportunity(2, 2),
        opportunity(3, 3),
        opportunity(4, 1),
    ];
    bench.import(&(lines.concat() + FUNNEL)).done();
    let [ana, bia, caio] = [
        said("Ana", Some("Estrela")),
        said("Bia", Some("Horizonte")),
        said("Caio", None),
    ];
    let all = [ana.clone(), bia.clone(), caio.clone(), ana];
    assert_eq!(settled(&bench, &cards(&bench).await), all);

    let changed = company(5, "Estrela do Sul");
    assert_eq!(bench.import(&changed).done().document()["imported"], 1);
    let ana = said("Ana", Some("Estrela do Sul"));
    let all = [ana.clone(), bia, caio.clone(), ana.clone()];
    assert_eq!(settled(&bench, &cards(&bench).await), all);
    let items = bench.items();
    let again = bench.import(&(lines.concat().replace("Estrela", "Estrela do Sul") + FUNNEL));
    assert_eq!(again.done().document()["unchanged"], 10);
    assert_eq!(bench.items(), items, "nothing was written");

    // The lead goes to another company.
    bench.import(&lead(2, r#","firstname":"Bia","company":5"#)).done();
    let bia = said("Bia", Some("Estrela do Sul"));
    assert_eq!(
        settled(&bench, &cards(&bench).await),
        [ana.clone(), bia, caio, ana]
    );
}

#[tokio::test]
async fn a_changed_lead_reaches_its_opportunities_and_custom_fields_do_not() {
    let bench = bench();
    let lines = [lead(1, r#","firstname":"Ana""#), opportunity(1, 1)];
    bench.import(&(lines.concat() + FUNNEL)).done();
    let record = || bench.item("acme#opportunity", "000000000000001").unwrap();
    let before = record();
    bench
        .import(&lead(1, r#","firstname":"Ana","filial":"Apucarana""#))
        .done();
    assert_eq!(
        record(),
        before,
        "no opportunity shows a custom field of its lead"
    );
    bench.import(&lead(1, r#","firstname":"Anna""#)).done();
    assert_eq!(settled(&bench, &cards(&bench).await), [said("Anna", None)]);
    // The copies are none of the line's doing.
    bench.set(
        "acme#opportunity",
        "000000000000001",
        "edited",
        &json!({ "N": "1" }),
    );
    bench.import(&lead(1, r#","firstname":"Bia""#)).done();
    let same = bench.import(&opportunity(1, 1)).done().document();
    assert_eq!(same["unchanged"], 1);
    assert_eq!(settled(&bench, &cards(&bench).await), [said("Bia", None)]);
    let kept = bench.import(&opportunity(1, 1).replace("Pedido", "Outro"));
    assert_eq!(kept.code, 1, "a refreshed copy leaves it changed through the API");
}

#[tokio::test]
async fn a_company_of_hundreds_of_leads_reaches_them_all() {
    let bench = bench();
    let leads = (1..=250).map(|id| lead(id, r#","firstname":"Ana","company":5"#));
    let opportunities = (1..=250).map(|id| opportunity(id, id));
    let lines: String = leads.chain(opportunities).collect();
    bench.import(&(lines + &company(5, "Estrela") + FUNNEL)).done();
    bench.import(&company(5, "Horizonte")).done();
    let cards = cards(&bench).await;
    assert_eq!(settled(&bench, &cards), vec![said("Ana", Some("Horizonte")); 250]);
}

/// An import that ends among the leads of a company has not written the company itself, so the next goes on.
#[tokio::test]
async fn an_import_that_ended_among_a_companys_leads_is_finished_by_the_next() {
    let bench = bench();
    let lines = [
        company(5, "Estrela"),
        lead(1, r#","firstname":"Ana","company":5"#),
        lead(2, r#","firstname":"Bia","company":5"#),
        opportunity(1, 1),
        opportunity(2, 2),
    ];
    bench.import(&(lines.concat() + FUNNEL)).done();
    let (pk, sk) = ("acme#lead", "000000000000002");
    let version = bench.item(pk, sk).unwrap()["v"].clone();
    bench.set(pk, sk, "v", &json!({ "S": "damaged" }));
    assert_eq!(bench.import(&company(5, "Horizonte")).code, 1);
    bench.set(pk, sk, "v", &version);
    let rest = bench.import(&company(5, "Horizonte")).done().document();
    assert_eq!(rest["imported"], 1);
    assert_eq!(
        settled(&bench, &cards(&bench).await),
        [said("Ana", Some("Horizonte")), said("Bia", Some("Horizonte"))]
    );
}

/// An import that ended behind a lead and before its opportunities left a notice, whatever lines come next.
#[tokio::test]
async fn a_notice_that_an_import_left_is_seen_to_by_the_next() {
    let bench = bench();
    let lines = [lead(1, r#","firstname":"Ana""#), opportunity(1, 1)];
    bench.import(&(lines.concat() + FUNNEL)).done();
    bench.set(
        "acme#lead",
        "000000000000001",
        "firstname",
        &json!({ "S": "Bia" }),
    );
    bench.put(
        "acme#notice",
        "lead#000000000000001",
        &json!({ "v": { "N": "1" } }),
    );
    assert_eq!(bench.import(FUNNEL).done().document()["unchanged"], 1);
    assert_eq!(settled(&bench, &cards(&bench).await), [said("Bia", None)]);
}
