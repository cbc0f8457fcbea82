//! Imports of changed originals refresh the copies of companies in leads, and of leads in opportunities.

use std::collections::BTreeSet;

use operator::kinds::{Companies, Dated, Leads, Opportunities};
use operator::{Operator, Outcome, RecordPages};
use serde_json::{Value, json};
use shared::ids::{ColumnId, CompanyId, FunnelId, LeadId, OpportunityId, UserId};
use shared::lead::Lead;
use shared::opportunity::Opportunity;
use shared::people::Company;
use shared::time::Timestamp;

use crate::import::{bench, lead};
use crate::support::Bench;

const FUNNEL: &str = r#"{"kind":"funnel","id":3,"name":"Vendas","columns":[{"id":31,"name":"Entrada"}]}"#;
const FIRST: &str = "000000000000001";
const WRITTEN: Outcome = Outcome::Written;

fn company(id: u64, name: &str) -> String {
    json!({ "kind": "company", "id": id, "companyname": name }).to_string() + "\n"
}

fn opportunity(id: u64, lead: u64) -> String {
    let line = json!({
        "kind": "opportunity", "id": id, "title": "Pedido", "crm_id": 3, "crm_column": 31, "lead_id": lead, "user": 7,
        "createDate": "2026-02-01T00:00:00.000Z",
    });
    line.to_string() + "\n"
}

/// An instance with users, a funnel and these lines.
fn bench_of(lines: &[String]) -> Bench {
    let bench = bench();
    bench.import(&(lines.concat() + FUNNEL)).done();
    bench
}

/// The names of each opportunity's lead and company, in order. The entries of the board must have the same names, and no
/// marker may remain.
#[track_caller]
fn named(bench: &Bench) -> Vec<String> {
    assert_eq!(bench.partition("acme#notice"), [] as [Value; 0]);
    let names = |pk: &str, attribute: &str, (first_name, company_name): (&str, &str)| {
        let name = |item: &Value| {
            let text = item[attribute]["S"].as_str().unwrap();
            let card: Value = serde_json::from_str(text).unwrap();
            let text = |value: &Value| value.as_str().unwrap_or("none").to_owned();
            format!(
                "{} of {}",
                text(&card["l"][first_name]),
                text(&card["c"][company_name])
            )
        };
        let mut items = bench.partition(pk);
        items.sort_by_key(|item| item["sk"].to_string());
        items.iter().map(name).collect::<Vec<_>>()
    };
    let records = names("acme#opportunity", "card", ("firstname", "companyname"));
    let mut entries = names("acme#board#3#31#0#-#-", "e", ("f", "n"));
    // All are created at one moment, so the entries are in the opposite order of their ids.
    entries.reverse();
    assert_eq!(records, entries);
    records
}

#[test]
fn a_changed_company_reaches_every_opportunity_of_its_leads() {
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
    let bench = bench_of(&lines);
    assert_eq!(
        named(&bench),
        [
            "Ana of Estrela",
            "Bia of Horizonte",
            "Caio of none",
            "Ana of Estrela"
        ]
    );
    let changed = bench.import(&company(5, "Estrela do Sul")).done().document();
    assert_eq!(changed["imported"], 1);
    assert_eq!(
        named(&bench),
        [
            "Ana of Estrela do Sul",
            "Bia of Horizonte",
            "Caio of none",
            "Ana of Estrela do Sul"
        ]
    );
    let items = bench.items();
    let again = bench.import(&(lines.concat().replace("Estrela", "Estrela do Sul") + FUNNEL));
    assert_eq!(again.done().document()["unchanged"], 10);
    assert_eq!(bench.items(), items, "nothing was written");
    // The lead changes its company.
    bench.import(&lead(2, r#","firstname":"Bia","company":5"#)).done();
    assert_eq!(named(&bench)[1], "Bia of Estrela do Sul");
}

#[test]
fn a_changed_lead_reaches_its_opportunities_and_custom_fields_do_not() {
    let bench = bench_of(&[lead(1, r#","firstname":"Ana""#), opportunity(1, 1)]);
    let record = || bench.item("acme#opportunity", FIRST).unwrap();
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
    assert_eq!(named(&bench), ["Anna of none"]);
    // The copies in a line are ignored.
    bench.set("acme#opportunity", FIRST, "edited", &json!({ "N": "1" }));
    bench.import(&lead(1, r#","firstname":"Bia""#)).done();
    assert_eq!(bench.import(&opportunity(1, 1)).done().document()["unchanged"], 1);
    assert_eq!(named(&bench), ["Bia of none"]);
    let kept = bench.import(&opportunity(1, 1).replace("Pedido", "Outro"));
    assert_eq!(kept.code, 1, "a refreshed copy leaves it changed through the API");
}

/// The company is written after its leads' copies, so the next import completes an interrupted one.
#[test]
fn a_company_of_hundreds_of_leads_reaches_them_all() {
    let leads = (1..=250).map(|id| lead(id, r#","firstname":"Ana","company":5"#));
    let lines = leads.chain((1..=250).map(|id| opportunity(id, id)));
    let bench = bench_of(&lines.chain([company(5, "Estrela")]).collect::<Vec<_>>());
    let (pk, sk) = ("acme#lead", "000000000000202");
    let version = bench.item(pk, sk).unwrap()["v"].clone();
    bench.set(pk, sk, "v", &json!({ "S": "damaged" }));
    assert_eq!(bench.import(&company(5, "Horizonte")).code, 1);
    bench.set(pk, sk, "v", &version);
    let rest = bench.import(&company(5, "Horizonte")).done().document();
    assert_eq!(rest["imported"], 1);
    assert_eq!(named(&bench), vec!["Ana of Horizonte"; 250]);
}

/// Any import processes the stale marker of an interrupted one.
#[test]
fn stale_markers_of_an_interrupted_import_are_processed() {
    let bench = bench_of(&[lead(1, r#","firstname":"Ana""#), opportunity(1, 1)]);
    bench.set("acme#lead", FIRST, "firstname", &json!({ "S": "Bia" }));
    bench.put(
        "acme#notice",
        &format!("lead#{FIRST}"),
        &json!({ "v": { "N": "1" } }),
    );
    assert_eq!(bench.import(FUNNEL).done().document()["unchanged"], 1);
    assert_eq!(named(&bench), ["Bia of none"]);
}

fn time() -> Timestamp {
    Timestamp::parse("2026-01-01T00:00:00Z").unwrap()
}

fn firm(name: &str) -> Company {
    serde_json::from_value(json!({ "id": 5, "companyname": name })).unwrap()
}

/// A lead of company 5.
fn line(id: u64, name: &str) -> Dated<Lead> {
    let lead = Lead {
        firstname: Some(name.to_owned()),
        company: CompanyId::new(5),
        ..Lead::new(LeadId::new(id).unwrap(), time())
    };
    lead.into()
}

fn deal(id: u64, lead: u64) -> Dated<Opportunity> {
    let at = (FunnelId::new(3).unwrap(), ColumnId::new(31).unwrap());
    let (id, lead) = (OpportunityId::new(id).unwrap(), LeadId::new(lead).unwrap());
    Opportunity::new(id, at, lead, UserId::new(7).unwrap(), time()).into()
}

/// The distinct names in leads' copies of companies.
fn company_copies(bench: &Bench) -> Vec<Option<String>> {
    let leads = bench.partition("acme#lead");
    let copies = leads.iter().map(|lead| {
        let copy: Value = serde_json::from_str(lead["companyCopy"]["S"].as_str()?).unwrap();
        Some(copy["companyname"].as_str().unwrap().to_owned())
    });
    copies.collect::<BTreeSet<_>>().into_iter().collect()
}

/// Imports leads four times under other names. Some of the leads are new each time.
async fn rename_leads(operator: &Operator) {
    for round in 1..=4_u64 {
        let lines = (10 * round..10 * round + 20).map(|id| line(id, &format!("Ana {round}")));
        operator
            .import::<Leads>(&lines.collect::<Vec<_>>(), false)
            .await
            .unwrap();
    }
}

/// Creates five opportunities for each of the first thirty leads.
async fn make_deals(operator: &Operator) {
    for round in 0..5_u64 {
        let lines = (1..=30).map(|id| deal(100 * round + id, id));
        let outcomes = operator
            .import::<Opportunities>(&lines.collect::<Vec<_>>(), false)
            .await;
        assert_eq!(outcomes.unwrap(), vec![WRITTEN; 30]);
    }
}

/// Concurrent imports create and change leads and opportunities while their company changes.
#[tokio::test]
async fn concurrent_imports_leave_no_stale_copy() {
    let bench = bench_of(&[]);
    let (one, two, three) = (
        bench.operator().await,
        bench.operator().await,
        bench.operator().await,
    );
    one.import::<Companies>(&[firm("0")], false).await.unwrap();
    let leads: Vec<_> = (1..=30).map(|id| line(id, "Ana")).collect();
    one.import::<Leads>(&leads, false).await.unwrap();
    let companies = async {
        for round in 1..=6 {
            two.import::<Companies>(&[firm(&round.to_string())], false)
                .await
                .unwrap();
        }
    };
    tokio::join!(rename_leads(&one), companies, make_deals(&three));
    one.refresh_copies().await.unwrap();
    assert_eq!(company_copies(&bench), [Some("6".to_owned())]);
    let named = named(&bench);
    assert!(
        named.len() == 150 && named.iter().all(|name| name.ends_with(" of 6")),
        "{named:?}"
    );
    bench.funil("doctor --instance acme").done();
}

/// Waits until the first records of a kind exist.
async fn arrived<T>(pages: impl Fn() -> RecordPages<T>) {
    while pages().next().await.unwrap().is_none_or(|page| page.is_empty()) {}
}

/// The company changes during the import of its leads. In the first case the leads are written in descending order of
/// their ids, so a scan of the company's leads misses new ones. In the second case the import has read the company and
/// has not yet written any of its leads.
#[tokio::test]
async fn a_company_changed_during_the_import_of_its_leads() {
    let others = (1..=900).map(|id| Dated::from(Lead::new(LeadId::new(id).unwrap(), time())));
    let new = Some("new".to_owned());
    let cases: [(Vec<Dated<Lead>>, bool, Vec<_>); 2] = [
        (
            (1..=600).rev().map(|id| line(id, "Ana")).collect(),
            true,
            vec![new.clone()],
        ),
        (
            others.chain((901..=920).map(|id| line(id, "Ana"))).collect(),
            false,
            vec![None, new],
        ),
    ];
    for (lines, linked, copies) in cases {
        let bench = Bench::with_instance();
        let (one, two) = (bench.operator().await, bench.operator().await);
        one.import::<Companies>(&[firm("former")], false).await.unwrap();
        let count = lines.len();
        let change = async {
            arrived(|| two.records::<Leads>()).await;
            let written = two.import::<Companies>(&[firm("new")], false).await.unwrap();
            (written, bench.partition("acme#company-lead#5").is_empty())
        };
        let (leads, (written, none)) = tokio::join!(one.import::<Leads>(&lines, false), change);
        assert_eq!(
            (leads.unwrap().len(), written, none),
            (count, vec![WRITTEN], !linked)
        );
        assert_eq!(company_copies(&bench), copies);
    }
}

/// Imports 300 opportunities of lead 1, and calls `change` as soon as the first ones exist.
async fn import_deals<T>(bench: &Bench, change: impl AsyncFnOnce(&Operator) -> T) -> (Vec<Outcome>, T) {
    let (one, two) = (bench.operator().await, bench.operator().await);
    one.import::<Leads>(&[line(1, "Ana")], false).await.unwrap();
    let deals: Vec<_> = (1..=300).map(|id| deal(id, 1)).collect();
    let deals = one.import::<Opportunities>(&deals, false);
    let change = async {
        arrived(|| two.opportunities()).await;
        change(&two).await
    };
    let (deals, changed) = tokio::join!(deals, change);
    (deals.unwrap(), changed)
}

#[tokio::test]
async fn a_lead_changed_during_the_import_of_its_opportunities() {
    let bench = bench_of(&[]);
    let change = async |operator: &Operator| {
        operator.import::<Leads>(&[line(1, "Anna")], false).await.unwrap();
        operator.refresh_copies().await.unwrap();
    };
    assert_eq!(import_deals(&bench, change).await.0, vec![WRITTEN; 300]);
    assert_eq!(named(&bench), vec!["Anna of none"; 300]);
}

/// C-24: the transaction that links a lead checks that it exists.
#[tokio::test]
async fn a_lead_deleted_during_the_import_of_its_opportunities() {
    let bench = bench_of(&[]);
    let deletion = async |_: &Operator| {
        bench.delete("acme#lead", FIRST);
        bench.partition("acme#opportunity").len()
    };
    let (deals, linked) = import_deals(&bench, deletion).await;
    let gone = Outcome::Refused("lead_id: lead 1 does not exist".to_owned());
    assert_eq!(deals, [vec![WRITTEN; linked], vec![gone; 300 - linked]].concat());
    assert_eq!(bench.partition("acme#opportunity").len(), linked);
}

/// The slower refresh has read an outdated lead.
#[tokio::test]
async fn concurrent_refreshes_of_a_changing_lead() {
    let bench = bench_of(&[]);
    let (one, two) = (bench.operator().await, bench.operator().await);
    one.import::<Leads>(&[line(1, "Ana")], false).await.unwrap();
    let deals: Vec<_> = (1..=20).map(|id| deal(id, 1)).collect();
    one.import::<Opportunities>(&deals, false).await.unwrap();
    for round in 0..12 {
        let changes = async {
            for name in ["Anna".to_owned(), format!("Ana {round}")] {
                one.import::<Leads>(&[line(1, &name)], false).await.unwrap();
                one.refresh_copies().await.unwrap();
            }
        };
        let other = async {
            two.refresh_copies().await.unwrap();
            two.refresh_copies().await.unwrap();
        };
        tokio::join!(changes, other);
        one.refresh_copies().await.unwrap();
        assert_eq!(named(&bench), vec![format!("Ana {round} of none"); 20]);
    }
}
