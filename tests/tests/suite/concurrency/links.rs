//! The first opportunity of a lead and a concurrent change of the lead, placed exactly before the other's transaction. A
//! lead without opportunities sets no stale marker, so one of the two is decided again.

use std::sync::Arc;

use serde_json::{Value, json};
use tests::people::lead;
use tests::raw::RawTable;
use tests::sales::{add_opportunities, plain_opportunity};
use tests::world::{Answer, over_sdk};
use tests::{ACME, Wallet, World};

use super::bookings::{before, before_each};
use super::{look, post, put, shop};

/// A lead without opportunities.
const LEAD: u64 = 1006;

/// A write of the lead, or one that links an opportunity to it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum LeadWrite {
    Rename,
    Archive,
    Call,
    Create,
    Move,
    Import,
}

impl LeadWrite {
    async fn happen(self, world: &World, wallet: &Wallet) {
        let answer = match self {
            Self::Rename => rename(world, wallet).await,
            Self::Archive => {
                let body = json!({ "archived": true, "id": [LEAD] });
                let uri = format!("/lead/archive?i=acme&apitoken={}", wallet.key);
                world.call("POST", &uri).json(&body).send().await
            }
            Self::Call => {
                let body = json!({ "event": "call", "data": { "user": 8, "leadPhone": "", "lead": LEAD,
                    "type": "OUTGOING", "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
                world.webhook(&body).send().await
            }
            Self::Create => {
                let body = json!({ "title": "Um", "crm_column": 31, "lead_id": LEAD });
                post(world, wallet, None, &body).await
            }
            Self::Move => put(world, wallet, 9, &json!({ "lead_id": LEAD })).await,
            Self::Import => {
                let mut opportunity = plain_opportunity(8, 8, 0);
                opportunity.lead_id = Some(lead(LEAD));
                return add_opportunities(&world.operator(ACME), vec![opportunity]).await;
            }
        };
        assert!(answer.status.is_success(), "{self:?}: {}", answer.body);
    }
}

async fn rename(world: &World, wallet: &Wallet) -> Answer {
    let call = world.call("PUT", &format!("/leads/{LEAD}?i=acme")).with(wallet);
    call.json(&json!({ "firstname": "Outra" })).send().await
}

/// The lead in its opportunity.
async fn shown(world: &World, wallet: &Wallet) -> Value {
    let list = look(world, wallet, &json!({ "columnId": 31 })).await.body;
    let cards = list.as_array().expect("a list").iter();
    let mut of_lead = cards.filter(|card| card["lead_id"] == LEAD);
    of_lead.next().expect("its opportunity")["dataLead"].clone()
}

fn markers(table: &RawTable) -> usize {
    let items = table.items();
    items
        .iter()
        .filter(|item| item["pk"]["S"] == "acme#notice")
        .count()
}

/// A shop with opportunity 9 of another lead.
async fn stocked() -> (World, Wallet) {
    let world = shop().await;
    let operator = world.operator(ACME);
    add_opportunities(&operator, vec![plain_opportunity(9, 8, 0)]).await;
    let wallet = world.known(7).await;
    (world, wallet)
}

const CHANGES: [LeadWrite; 3] = [LeadWrite::Rename, LeadWrite::Archive, LeadWrite::Call];
const LINKS: [LeadWrite; 3] = [LeadWrite::Create, LeadWrite::Move, LeadWrite::Import];

/// C-12: the opportunity shows the changed lead, whichever of both is first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_first_link_and_a_change_of_the_lead_exclude_each_other() {
    let _sdk = over_sdk();
    for change in CHANGES {
        for link in LINKS {
            for (first, second) in [(change, link), (link, change)] {
                if first == LeadWrite::Import {
                    // The tests of the operator interrupt imports.
                    continue;
                }
                let (world, wallet) = stocked().await;
                let (beside, of) = (Arc::new(world.beside()), wallet.clone());
                let overtake = move || {
                    let (beside, wallet) = (beside.clone(), of.clone());
                    async move { second.happen(&beside, &wallet).await }
                };
                let world = world.with_faults(before("TransactWriteItems", 1, overtake));
                first.happen(&world, &wallet).await;
                let lead = world.get(&format!(
                    "/leads/{LEAD}?i=acme&query={{lead{{firstname,lastActive}}}}"
                ));
                let lead = lead.with(&wallet).send().await.body["data"]["lead"].clone();
                let copy = shown(&world, &wallet).await;
                for name in ["firstname", "lastActive"] {
                    assert_eq!(copy[name], lead[name], "{first:?} overtaken by {second:?}");
                }
                // The doctor compares every copy without a marker.
                world.is_sound().await;
                maintenance::copy(&world.store).await.expect("copies");
                world.clock.set(world.clock.get().plus_seconds(60));
                maintenance::copy(&world.store).await.expect("copies");
                assert_eq!(markers(&world.raw()), 0);
                world.is_sound().await;
            }
        }
    }
}

/// C-4: a lead that others change again and again gets its opportunity.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_opportunity_is_made_while_its_lead_changes() {
    let _sdk = over_sdk();
    let (world, wallet) = stocked().await;
    let (beside, of) = (Arc::new(world.beside()), wallet.clone());
    let overtake = move || {
        let (beside, wallet) = (beside.clone(), of.clone());
        async move { LeadWrite::Call.happen(&beside, &wallet).await }
    };
    let world = world.with_faults(before_each("TransactWriteItems", 1..=20, overtake));
    LeadWrite::Create.happen(&world, &wallet).await;
    world.is_sound().await;
}

/// C-87: only a lead that an opportunity was linked to sets a marker when it is changed.
#[tokio::test]
async fn leads_without_opportunities_set_no_marker() {
    for link in LINKS {
        let (world, wallet) = stocked().await;
        let table = world.raw();
        let alone = rename(&world, &wallet).await;
        assert_eq!((alone.status.as_u16(), markers(&table)), (200, 0));
        let noted = || table.get("acme#lead", &format!("{LEAD:015}")).expect("it exists")["u"]["N"].clone();
        assert_eq!(noted(), "1");
        link.happen(&world, &wallet).await;
        LeadWrite::Archive.happen(&world, &wallet).await;
        assert_eq!((markers(&table), noted()), (1, json!("0")), "{link:?}");
        world.is_sound().await;
    }
}
