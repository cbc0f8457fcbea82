//! The same where others write the originals while copies are made of them.

use std::collections::BTreeSet;

use serde_json::json;
use shared::funnel::{Column, Funnel, FunnelAccess};
use shared::id::{ColumnId, CompanyId, FunnelId, LeadId, OpportunityId, UserId};
use shared::lead::Lead;
use shared::opportunity::Opportunity;
use shared::people::Company;
use shared::store::operator::{LeadLine, Operator, OpportunityLine, Outcome, Pages};
use shared::time::Timestamp;

use super::{cards, said, settled};
use crate::support::Bench;

fn time() -> Timestamp {
    Timestamp::parse("2026-01-01T00:00:00Z").unwrap()
}

fn firm(name: &str) -> Company {
    serde_json::from_value(json!({ "id": 5, "companyname": name })).unwrap()
}

fn line(id: u64, name: &str) -> LeadLine {
    let lead = Lead {
        firstname: Some(name.to_owned()),
        company: CompanyId::new(5),
        ..Lead::new(LeadId::new(id).unwrap(), time())
    };
    lead.into()
}

fn deal(id: u64, lead: u64) -> OpportunityLine {
    let at = (FunnelId::new(3).unwrap(), ColumnId::new(31).unwrap());
    let (id, lead) = (OpportunityId::new(id).unwrap(), LeadId::new(lead).unwrap());
    Opportunity::new(id, at, lead, UserId::new(7).unwrap(), time()).into()
}

/// The copy that a lead holds of a company.
fn copy(name: &str) -> String {
    json!({ "id": 5, "companyname": name }).to_string()
}

/// The different copies that leads hold.
fn company_copies(bench: &Bench) -> Vec<Option<String>> {
    let leads = bench.partition("acme#lead");
    let copies = leads.iter().map(|lead| lead["companyCopy"]["S"].as_str());
    let copies: BTreeSet<_> = copies.map(|copy| copy.map(str::to_owned)).collect();
    copies.into_iter().collect()
}

async fn board(operator: &Operator) {
    let column = Column {
        id: ColumnId::new(31).unwrap(),
        name: "Entrada".to_owned(),
        sequence: 1,
    };
    let funnel = Funnel {
        id: FunnelId::new(3).unwrap(),
        name: "Vendas".to_owned(),
        columns: vec![column],
        fields: Vec::new(),
        access: FunnelAccess::default(),
    };
    assert_eq!(
        operator.import_funnels(&[funnel]).await.unwrap(),
        [Outcome::Written]
    );
}

/// Four times, leads are imported under another name, some of them new.
async fn rename_leads(operator: &Operator) {
    for round in 1..=4_u64 {
        let lines = (10 * round..10 * round + 20).map(|id| line(id, &format!("Ana {round}")));
        operator.import_leads(lines.collect(), false).await.unwrap();
    }
}

/// Opportunities of the first thirty leads, five of each.
async fn make_deals(operator: &Operator) {
    for round in 0..5_u64 {
        let lines = (1..=30).map(|id| deal(100 * round + id, id));
        let outcomes = operator.import_opportunities(lines.collect(), false).await;
        assert_eq!(outcomes.unwrap(), vec![Outcome::Written; 30]);
    }
}

/// Leads come, change and get opportunities while their company changes, all in imports of their own.
#[tokio::test]
async fn imports_at_the_same_time_leave_no_copy_behind() {
    let bench = Bench::with_instance();
    let operators = [
        bench.operator().await,
        bench.operator().await,
        bench.operator().await,
    ];
    let [one, two, three] = &operators;
    board(one).await;
    one.import_companies(&[firm("0")]).await.unwrap();
    one.import_leads((1..=30).map(|id| line(id, "Ana")).collect(), false)
        .await
        .unwrap();
    let companies = async {
        for round in 1..=6 {
            two.import_companies(&[firm(&round.to_string())]).await.unwrap();
        }
    };
    tokio::join!(rename_leads(one), companies, make_deals(three));
    one.refresh_copies().await.unwrap();
    assert_eq!(company_copies(&bench), [Some(copy("6"))]);
    let mut pages = one.leads();
    let mut leads = Vec::new();
    while let Some(page) = pages.next().await.unwrap() {
        leads.extend(page);
    }
    let cards = cards(&bench).await;
    assert_eq!(cards.len(), 150);
    settled(&bench, &cards);
    for card in cards {
        let lead = leads
            .iter()
            .find(|lead| Some(lead.id) == card.opportunity.lead_id);
        assert_eq!((card.lead.as_ref(), card.company), (lead, Some(firm("6"))));
    }
}

/// Waits until the first records of a kind are there.
async fn arrived<T>(pages: impl Fn() -> Pages<T>) {
    while pages().next().await.unwrap().is_none_or(|page| page.is_empty()) {}
}

/// The change comes while leads are still written, each before those that are there, so that a walk through the company's
/// leads cannot meet it.
#[tokio::test]
async fn a_company_changes_while_its_leads_come_in() {
    let bench = Bench::with_instance();
    let (one, two) = (bench.operator().await, bench.operator().await);
    one.import_companies(&[firm("former")]).await.unwrap();
    let leads = one.import_leads((1..=600).rev().map(|id| line(id, "Ana")).collect(), false);
    let change = async {
        arrived(|| two.leads()).await;
        two.import_companies(&[firm("new")]).await.unwrap()
    };
    let (leads, change) = tokio::join!(leads, change);
    assert_eq!((leads.unwrap().len(), change), (600, vec![Outcome::Written]));
    assert_eq!(company_copies(&bench), [Some(copy("new"))]);
}

/// The change is through before the first of the company's leads is written, and behind the reading of all.
#[tokio::test]
async fn a_company_changes_before_its_leads_come_in() {
    let bench = Bench::with_instance();
    let (one, two) = (bench.operator().await, bench.operator().await);
    one.import_companies(&[firm("former")]).await.unwrap();
    let others = (1..=900).map(|id| LeadLine::from(Lead::new(LeadId::new(id).unwrap(), time())));
    let lines = others.chain((901..=920).map(|id| line(id, "Ana")));
    let leads = one.import_leads(lines.collect(), false);
    let change = async {
        arrived(|| two.leads()).await;
        two.import_companies(&[firm("new")]).await.unwrap();
        bench.partition("acme#company-lead#5").len()
    };
    let (leads, before) = tokio::join!(leads, change);
    assert_eq!((leads.unwrap().len(), before), (920, 0));
    assert_eq!(company_copies(&bench), [None, Some(copy("new"))]);
}

#[tokio::test]
async fn a_lead_changes_while_its_opportunities_come_in() {
    let bench = Bench::with_instance();
    let (one, two) = (bench.operator().await, bench.operator().await);
    board(&one).await;
    one.import_leads(vec![line(1, "Ana")], false).await.unwrap();
    let deals = one.import_opportunities((1..=300).map(|id| deal(id, 1)).collect(), false);
    let change = async {
        arrived(|| two.opportunities()).await;
        two.import_leads(vec![line(1, "Anna")], false).await.unwrap();
        two.refresh_copies().await.unwrap();
    };
    let (deals, ()) = tokio::join!(deals, change);
    assert_eq!(deals.unwrap(), vec![Outcome::Written; 300]);
    assert_eq!(
        settled(&bench, &cards(&bench).await),
        vec![said("Anna", None); 300]
    );
}

/// C-24: the transaction that links a lead checks that it exists.
#[tokio::test]
async fn a_lead_goes_while_its_opportunities_come_in() {
    let bench = Bench::with_instance();
    let (one, two) = (bench.operator().await, bench.operator().await);
    board(&one).await;
    one.import_leads(vec![line(1, "Ana")], false).await.unwrap();
    let deals = one.import_opportunities((1..=300).map(|id| deal(id, 1)).collect(), false);
    let deletion = async {
        arrived(|| two.opportunities()).await;
        bench.delete("acme#lead", "000000000000001");
        bench.partition("acme#opportunity").len()
    };
    let (deals, linked) = tokio::join!(deals, deletion);
    let gone = Outcome::Refused("lead_id: lead 1 does not exist".to_owned());
    let (written, refused) = (vec![Outcome::Written; linked], vec![gone; 300 - linked]);
    assert_eq!(deals.unwrap(), [written, refused].concat());
    assert_eq!(bench.partition("acme#opportunity").len(), linked);
}

/// Two that bring copies up to date while their lead keeps changing: the slower one's reading is old.
#[tokio::test]
async fn two_refresh_while_the_lead_changes() {
    let bench = Bench::with_instance();
    let (one, two) = (bench.operator().await, bench.operator().await);
    board(&one).await;
    one.import_leads(vec![line(1, "Ana")], false).await.unwrap();
    let deals = (1..=20).map(|id| deal(id, 1)).collect();
    one.import_opportunities(deals, false).await.unwrap();
    for round in 0..12 {
        let name = format!("Ana {round}");
        let changes = async {
            one.import_leads(vec![line(1, "Anna")], false).await.unwrap();
            one.refresh_copies().await.unwrap();
            one.import_leads(vec![line(1, &name)], false).await.unwrap();
            one.refresh_copies().await.unwrap();
        };
        let other = async {
            two.refresh_copies().await.unwrap();
            two.refresh_copies().await.unwrap();
        };
        tokio::join!(changes, other);
        one.refresh_copies().await.unwrap();
        assert_eq!(settled(&bench, &cards(&bench).await), vec![said(&name, None); 20]);
    }
}
