//! Every background job × an undecodable item of each kind that it reads, in instance `acme`: other instances
//! and the rest of `acme` are processed (C-87).

use operator::kinds::Automations;
use serde_json::{Value, json};
use shared::jobs::webhook_client::WebhookClient;
use tests::people::{lead, settle};
use tests::raw::RawTable;
use tests::reports::{add_reports, report};
use tests::sales::{add_opportunities, open_shop, plain_opportunity};
use tests::{ACME, World};

use crate::erasure::{PERSON, betrayed, furnish};

const OTHER: &str = "other-shop";
const BOTH: [&str; 2] = [ACME, OTHER];
const FIRST: &str = "000000000000001";
const LEAD: &str = "000000000001001";

/// The doctor's findings: item, reason, and whether it is repaired.
type Told = Vec<(String, String, bool)>;

struct Shops {
    world: World,
    table: RawTable,
}

impl Shops {
    /// Two instances with funnels, each with an opportunity of lead 1001 and one of lead 1006.
    async fn open() -> Self {
        let world = World::own().await;
        for instance in BOTH {
            let operator = world.operator(instance);
            settle(&operator).await;
            open_shop(&operator).await;
            let opportunities = [(11, 1001), (12, 1006)].map(|(id, of)| {
                let mut opportunity = plain_opportunity(id, 8, 0);
                opportunity.lead_id = Some(lead(of));
                opportunity
            });
            add_opportunities(&operator, opportunities.into()).await;
        }
        let table = world.raw();
        Self { world, table }
    }

    /// Makes an item undecodable except for its key. Returns the original.
    fn spoil(&self, pk: &str, sk: &str) -> Value {
        let sound = self.table.get(pk, sk).unwrap_or_else(|| panic!("{pk} {sk}"));
        let mut spoilt = sound.clone();
        for (name, value) in spoilt.as_object_mut().expect("an item") {
            if name != "pk" && name != "sk" {
                *value = json!({ "L": [{ "NULL": true }] });
            }
        }
        self.table.put(pk, sk, &spoilt);
        sound
    }

    async fn send(&self, method: &str, instance: &str, path: &str, body: &Value) {
        let wallet = self.world.wallet_of(instance, 7).await;
        let uri = format!("{path}?i={instance}&apitoken={}", wallet.key);
        let answer = self.world.call(method, &uri).json(body).send().await;
        assert!(answer.status.is_success(), "{}", answer.body);
    }

    async fn call(&self, instance: &str, lead: u64) {
        let body = json!({ "event": "call", "data": { "user": 8, "leadPhone": "", "lead": lead, "type": "INCOMING",
            "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
        let uri = format!("/voip/webhook?i={instance}");
        let answer = self.world.call("POST", &uri).json(&body).send().await;
        assert_eq!(answer.status, 201);
    }

    async fn automate_with(&self, action: &Value) {
        let line = json!({ "id": 1, "name": "Ligou", "trigger": "leadPhoneCall", "event": "received",
            "actions": [action], "active": true });
        for instance in BOTH {
            let automation = serde_json::from_value(line.clone()).expect("an automation");
            let operator = self.world.operator(instance);
            operator
                .import::<Automations>(&[automation], false)
                .await
                .expect("written");
            for lead in [1001, 1006] {
                self.call(instance, lead).await;
            }
        }
    }

    fn attribute(&self, instance: &str, kind: &str, sk: &str, name: &str) -> Value {
        let item = self.table.get(&format!("{instance}#{kind}"), sk);
        item.map_or(Value::Null, |item| item[name].clone())
    }

    /// Whether an opportunity's copy of its lead is archived.
    fn is_copied(&self, instance: &str, opportunity: u64) -> bool {
        let card = self.attribute(instance, "opportunity", &format!("{opportunity:015}"), "card");
        card.to_string().contains(r#"\"archived\":true"#)
    }

    async fn copy(&self) {
        maintenance::copy(&self.world.store).await.expect("copies");
    }

    fn later(&self, seconds: u32) {
        let clock = &self.world.clock;
        clock.set(clock.get().plus_seconds(seconds));
    }

    async fn doctor(&self, repair: bool) -> Told {
        let seen = self.world.operator(ACME).doctor(repair, &|_| {}).await;
        let differences = seen.expect("the doctor comes to an end").differences.into_iter();
        differences
            .map(|found| (found.item, found.reason, found.repaired))
            .collect()
    }
}

fn told(found: &Told, item: &str, reason: &str, repaired: bool) -> bool {
    let expected = (item.to_owned(), reason.to_owned(), repaired);
    found.contains(&expected)
}

#[tokio::test]
async fn refresh_of_copies_survives_undecodable_items() {
    let notice = format!("lead#{LEAD}");
    for (pk, sk, heals) in [
        ("#instance", ACME, true),
        ("acme#notice", notice.as_str(), true),
        ("acme#lead", LEAD, false),
        ("acme#opportunity", "000000000000011", false),
    ] {
        let shops = Shops::open().await;
        for instance in BOTH {
            let body = json!({ "archived": true, "id": [1001, 1006] });
            shops.send("POST", instance, "/lead/archive", &body).await;
        }
        let sound = shops.spoil(pk, sk);
        shops.copy().await;
        for (instance, opportunity) in [(OTHER, 11), (OTHER, 12), (ACME, 12)] {
            assert!(
                shops.is_copied(instance, opportunity),
                "{pk}: {instance} {opportunity}"
            );
        }
        assert_eq!(shops.is_copied(ACME, 11), heals, "{pk}");
        if heals {
            continue;
        }
        // It fails once, not in every round; the doctor names it, and retries it once it is readable.
        let at = format!("acme#notice {notice}");
        let kind = pk.trim_start_matches("acme#");
        let reason = format!("is stuck, because the {kind} could not be read");
        assert_eq!(
            shops.attribute(ACME, "notice", &notice, "stuck"),
            json!({ "N": "1" })
        );
        assert!(told(&shops.doctor(false).await, &at, &reason, false), "{pk}");
        shops.table.put(pk, sk, &sound);
        assert!(told(&shops.doctor(true).await, &at, &reason, true), "{pk}");
        assert!(shops.is_copied(ACME, 11), "{pk}");
        assert_eq!(shops.doctor(false).await, [], "{pk}");
    }
}

/// Readers continue with an unreadable marker: its key has all they need.
#[tokio::test]
async fn unreadable_markers_remain_effective() {
    let shops = Shops::open().await;
    let body = json!({ "archived": true, "id": [1001] });
    shops.send("POST", ACME, "/lead/archive", &body).await;
    shops.spoil("acme#notice", &format!("lead#{LEAD}"));
    shops.table.put("acme#notice", "x", &json!({ "v": { "N": "1" } }));
    shops.table.put("acme#erasure", "x", &json!({}));
    let wallet = shops.world.wallet(7).await;
    let uri = format!("/crm/opportunities/3?i=acme&apitoken={}", wallet.key);
    let page = tests::sales::page(1, 25, &json!({ "columnId": 31 }));
    let answer = shops.world.call("POST", &uri).json(&page).send().await;
    let archived = |id: u64| {
        let all = answer.body.as_array().expect("opportunities");
        let found = all
            .iter()
            .find(|found| found["id"] == id)
            .expect("the opportunity");
        found["dataLead"]["archived"].clone()
    };
    assert_eq!(
        (archived(11), archived(12)),
        (json!(true), json!(false)),
        "{}",
        answer.body
    );
    let found = shops.doctor(false).await;
    for (item, reason) in [
        (
            format!("acme#notice lead#{LEAD}"),
            "cannot be read; it will be renewed",
        ),
        ("acme#notice x".to_owned(), "names no lead; it will be set aside"),
        ("acme#erasure x".to_owned(), "names no lead"),
    ] {
        assert!(told(&found, &item, reason, false), "{found:?}");
    }
    shops.copy().await;
    assert_eq!(shops.table.get("acme#notice", "x"), None);
    assert!(shops.table.get("acme#aside", "notice#x").is_some());
    assert!(shops.is_copied(ACME, 11));
}

#[tokio::test]
async fn erasure_survives_undecodable_items() {
    let person = format!("{PERSON:015}");
    for (pk, sk) in [
        ("acme#notice", format!("lead#{person}")),
        ("acme#opportunity", FIRST.to_owned()),
        ("acme#meeting", FIRST.to_owned()),
        ("acme#ticket", FIRST.to_owned()),
        ("acme#call#1", FIRST.to_owned()),
        ("acme#timeline#2001", format!("event#{FIRST}")),
    ] {
        let shops = Shops::open().await;
        furnish(&shops.world).await;
        for (instance, id) in [(ACME, PERSON), (OTHER, 1001)] {
            let path = format!("/leads/{id}");
            shops.send("DELETE", instance, &path, &Value::Null).await;
        }
        let sk = if shops.table.get(pk, &sk).is_some() {
            sk
        } else {
            let items = shops.table.items();
            let found = items.iter().find(|item| item["pk"]["S"] == pk).expect(pk);
            found["sk"]["S"].as_str().expect("a key").to_owned()
        };
        let sound = shops.spoil(pk, &sk);
        shops.copy().await;
        let card = shops.attribute(OTHER, "opportunity", "000000000000011", "card");
        assert!(!card.to_string().contains(r#"\"l\":"#), "{pk}: {card}");
        let records = ["acme#opportunity", "acme#meeting", "acme#ticket"];
        for item in shops.table.items() {
            let partition = item["pk"]["S"].as_str().expect("a key");
            let is_sound = (partition, item["sk"]["S"].as_str()) != (pk, Some(sk.as_str()));
            // An unreadable event does not name its call.
            let is_call = partition.starts_with("acme#call#");
            let names_call = !pk.starts_with("acme#timeline") || !is_call;
            if is_sound && names_call && (is_call || records.contains(&partition)) {
                assert_eq!(betrayed(&item.to_string()), [""; 0], "{pk}: {item}");
            }
        }
        if pk != "acme#notice" {
            assert!(shops.table.get("acme#erasure", &person).is_some(), "{pk}");
            let found = shops.doctor(false).await;
            let is_stuck = |(item, reason, _): &(String, String, bool)| {
                item.starts_with("acme#notice") && reason.starts_with("is stuck")
            };
            assert!(found.iter().any(is_stuck), "{pk}: {found:?}");
            shops.table.put(pk, &sk, &sound);
            shops.doctor(true).await;
        }
        shops.later(60);
        shops.copy().await;
        assert_eq!(shops.table.get("acme#erasure", &person), None, "{pk}");
        crate::erasure::is_erased(&shops.world).await;
    }
}

#[tokio::test]
async fn automations_survive_undecodable_items() {
    let first = format!("call#{FIRST}");
    for (pk, sk) in [
        ("#instance", ACME),
        ("acme#trigger", first.as_str()),
        ("acme#call#1", FIRST),
        ("acme#lead", LEAD),
        ("acme#directory", "directory"),
        ("acme#automation", FIRST),
    ] {
        let shops = Shops::open().await;
        shops
            .automate_with(&json!({ "type": "addPoints", "points": 7 }))
            .await;
        shops.spoil(pk, sk);
        maintenance::act(&shops.world.store).await.expect("actions");
        let mut due = vec![(OTHER, LEAD), (OTHER, "000000000001006")];
        if !["acme#directory", "acme#automation"].contains(&pk) {
            due.push((ACME, "000000000001006"));
        }
        for (instance, lead) in due {
            let points = shops.attribute(instance, "lead", lead, "points");
            assert_eq!(points, json!({ "N": "7" }), "{pk}: {instance} {lead}");
        }
        // Without a directory the doctor reports only that.
        if !["#instance", "acme#directory"].contains(&pk) {
            let found = shops.doctor(false).await;
            let reason = format!(
                "was set aside, because the {} could not be read",
                pk.split('#').nth(1).unwrap_or_default()
            );
            assert!(
                told(&found, &format!("acme#aside trigger#{first}"), &reason, false),
                "{found:?}"
            );
        }
    }
}

#[tokio::test]
async fn deliveries_survive_undecodable_items() {
    let first = format!("notify#{FIRST}#{FIRST}#00");
    for (pk, sk) in [
        ("#instance", ACME),
        ("acme#trigger", first.as_str()),
        ("acme#call#1", FIRST),
        ("acme#lead", LEAD),
    ] {
        let shops = Shops::open().await;
        let notify = json!({ "type": "notify", "url": "https://erp.example/", "secret": "s" });
        shops.automate_with(&notify).await;
        maintenance::act(&shops.world.store).await.expect("actions");
        shops.spoil(pk, sk);
        let nobody = WebhookClient::plain(|_, _| Vec::new(), |_| false);
        maintenance::deliver(&shops.world.store, &nobody)
            .await
            .expect("deliveries");
        let second = first.replacen("0001#", "0002#", 1);
        for (instance, sk) in [(OTHER, &first), (OTHER, &second), (ACME, &second)] {
            let tries = shops.attribute(instance, "trigger", sk, "tries");
            assert_eq!(tries, json!({ "N": "1" }), "{pk}: {instance} {sk}");
        }
    }
}

#[tokio::test]
async fn report_refresh_survives_undecodable_items() {
    for (pk, sk) in [
        ("#instance", ACME),
        ("acme#report", FIRST),
        ("acme#report-data#1", "head"),
        ("acme#report-walk", "calls"),
        ("acme#call#1", FIRST),
    ] {
        let shops = Shops::open().await;
        for instance in BOTH {
            let leads = report(2, &json!({ "entity": "leads" }));
            add_reports(&shops.world.operator(instance), [report(1, &Value::Null), leads]).await;
            for lead in [1001, 1006] {
                shops.call(instance, lead).await;
            }
        }
        maintenance::refresh(&shops.world.store).await.expect("reports");
        shops.later(6 * 3600);
        if pk == "acme#report-walk" {
            shops.table.put(pk, sk, &json!({ "walk": { "S": "{}" } }));
        }
        shops.spoil(pk, sk);
        maintenance::refresh(&shops.world.store).await.expect("reports");
        let now = json!({ "S": shops.world.clock.get() });
        for (instance, id) in [(OTHER, 1), (OTHER, 2), (ACME, 2), (ACME, 1)] {
            let at = shops.attribute(instance, &format!("report-data#{id}"), "head", "generatedAt");
            let left_out = (instance, id) == (ACME, 1) && pk == "acme#report";
            assert_eq!(at == now, !left_out, "{pk}: {instance} {id}");
        }
    }
}
