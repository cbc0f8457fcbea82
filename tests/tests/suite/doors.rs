//! People's data is read alike at every door (C-108): a number that came in by one identifies its lead at each other, in
//! every spelling, and texts are clean.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use shared::ids::LeadId;
use shared::lead::Lead;
use tests::bookings::{book, booking, open_calendars};
use tests::catalogue::{Entry, catalogue};
use tests::forms::{add_form, submit};
use tests::{ACME, Answer, Wallet, World};

use crate::formats::export;

/// The spellings of one number that people and programs use, the normal form first.
fn spellings(line: &str) -> [String; 8] {
    let (area, exchange, last) = (&line[..2], &line[2..7], &line[7..]);
    [
        format!("55{line}"),
        format!("(0{area}) {exchange}-{last}"),
        format!("0 15 {area} {exchange}-{last}"),
        format!("(0xx{area}) {exchange}{last}"),
        format!("+55 (0){area} {exchange} {last} ramal 3"),
        format!("{area}{}{last}", &exchange[1..]),
        format!("55{line}@s.whatsapp.net"),
        format!("tel:+55-{area}-{exchange}-{last};ext=12 / 11 3333-0000"),
    ]
}

/// Doors that make a lead of a number, and those that find its lead.
const MAKING: [&str; 4] = ["POST /leads", "form", "booking", "call"];
const FINDING: [&str; 4] = ["POST /leads?unique", "form", "call", "search"];

async fn world() -> World {
    let world = World::new().await;
    tests::sales::open_shop(&world.operator(ACME)).await;
    open_calendars(&world.operator(ACME)).await;
    add_form(&world.operator(ACME), &json!({ "unique": ["phone"] })).await;
    world
}

async fn post(world: &World, admin: &Wallet, query: &str, body: &Value) -> u64 {
    let call = world.call("POST", &format!("/leads?i=acme{query}")).with(admin);
    let answer = call.json(body).send().await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    answer.body["id"].as_u64().expect("an id")
}

async fn stored(world: &World, id: u64) -> Lead {
    let leads = world.leads().await;
    leads
        .into_iter()
        .find(|lead| lead.id.get() == id)
        .expect("the lead")
}

async fn search(world: &World, wallet: &Wallet, term: &str) -> Answer {
    let term = term
        .bytes()
        .fold(String::new(), |term, byte| term + &format!("%{byte:02X}"));
    world.read(wallet, &format!("/leads?i=acme&search={term}")).await
}

async fn call(world: &World, number: &str) -> Option<u64> {
    let data = json!({ "user": 8, "leadPhone": number, "type": "INCOMING", "status": "COMPLETE", "duration": 5,
        "record": false, "service": "x" });
    let answer = world
        .webhook(&json!({ "event": "call", "data": data }))
        .send()
        .await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    let calls = world.calls().await;
    calls.last().expect("the call").lead.map(LeadId::get)
}

/// The lead of a number that comes in by a door. `turn` distinguishes bookings.
async fn through(world: &World, admin: &Wallet, door: &str, number: &str, turn: usize) -> u64 {
    match door {
        "POST /leads" => post(world, admin, "", &json!({ "phone": number })).await,
        "POST /leads?unique" => post(world, admin, "&unique[]=phone", &json!({ "mobile": number })).await,
        "form" => {
            let answer = submit(
                world,
                &json!({ "nome": "Ana", "whatsapp": number, "cargo": turn }),
            )
            .await;
            answer.body["data"]["lead"].as_u64().expect("a lead")
        }
        "booking" => {
            let date = format!("2026-11-23T{}:00Z", ["09:00", "09:40", "10:20", "11:00"][turn]);
            let form = json!({ "firstname": "Ana", "phone": number });
            let answer = book(world, &booking(&date, &json!({ "formData": form }))).await;
            answer.body["data"]["leadId"]
                .as_u64()
                .unwrap_or_else(|| panic!("{date}: {}", answer.body))
        }
        "call" => call(world, number).await.expect("a lead"),
        _ => {
            let answer = search(world, admin, number).await;
            let leads = answer.body["data"]["leads"].as_array().expect("leads").clone();
            assert_eq!(leads.len(), 1, "{number}: {}", answer.body);
            leads[0]["id"].as_u64().expect("an id")
        }
    }
}

#[tokio::test]
async fn a_number_identifies_its_lead_through_every_pair_of_doors() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let mut turn = 0;
    for (at, making) in MAKING.into_iter().enumerate() {
        for (spelt, number) in spellings(&format!("119876{at}0101"))
            .into_iter()
            .enumerate()
            .take(4)
        {
            let line = format!("119876{at}010{spelt}");
            let made = through(&world, &admin, making, &spellings(&line)[(spelt + at) % 8], spelt).await;
            for (other, finding) in FINDING.into_iter().enumerate() {
                turn += 1;
                let spelling = &spellings(&line)[(spelt + other) % 7];
                let found = through(&world, &admin, finding, spelling, turn).await;
                assert_eq!(found, made, "{making} {number}, {finding} {spelling}");
            }
        }
    }
    world.is_sound().await;
}

/// What can be nobody's number makes no lead of a call, and no two people one.
#[tokio::test]
async fn nobodys_number_identifies_nobody() {
    let world = world().await;
    let admin = world.wallet(7).await;
    for number in [
        "+266696687",
        "+7378742833",
        "0",
        "000000000000",
        "anonymous",
        "ramal 12",
    ] {
        assert_eq!(call(&world, number).await, None, "{number}");
    }
    for number in ["0000000000", "98765-4321", "3333-4444"] {
        let body = json!({ "firstname": "Ana", "phone": number });
        let ids = [
            post(&world, &admin, "&unique=phone", &body).await,
            post(&world, &admin, "&unique=phone", &body).await,
        ];
        assert_ne!(ids[0], ids[1], "{number}");
    }
    // Without area code it is found by a call and by a search as before.
    assert!(call(&world, "98765-4321").await.is_some());
    world.is_sound().await;
}

/// Blanks, numbers, lists and full names, as each door takes them.
#[tokio::test]
async fn texts_are_read_alike() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let sent = json!({ "firstname": " Ana ", "lastname": " Luz ", "email": " q@x.example ", "phone": 5_511_987_650_501.0,
        "mobile": " ", "interesse": ["a", " b ", "", "a"] });
    let posted = post(&world, &admin, "", &sent).await;
    let booked = book(
        &world,
        &booking("2026-11-23T09:00:00Z", &json!({ "formData": sent })),
    )
    .await;
    assert_eq!(booked.body["data"]["formData"], json!({ "interesse": "a, b" }));
    for id in [posted, booked.body["data"]["leadId"].as_u64().expect("a lead")] {
        let lead = stored(&world, id).await;
        let texts = [
            &lead.firstname,
            &lead.lastname,
            &lead.email,
            &lead.phone,
            &lead.mobile,
        ];
        let expected = [
            Some("Ana"),
            Some("Luz"),
            Some("q@x.example"),
            Some("5511987650501"),
            None,
        ];
        assert_eq!(texts.map(Option::as_deref), expected);
        assert_eq!(lead.fullname(), "Ana Luz");
    }
    let split = post(&world, &admin, "", &json!({ "name": "Nara Vidal de Sá" })).await;
    let lead = stored(&world, split).await;
    assert_eq!(
        (lead.firstname.as_deref(), lead.lastname.as_deref()),
        (Some("Nara"), Some("Vidal de Sá"))
    );
    let same = json!({ "whatsapp": "", "chatapp": "11 90010-0021" });
    let other = json!({ "whatsapp": 11_900_100_021_u64, "chatapp": " 11900100021 " });
    for (fields, chatapp) in [(same, "11 90010-0021"), (other, "11900100021")] {
        let made = post(&world, &admin, "", &fields).await;
        let lead = stored(&world, made).await;
        assert_eq!(lead.chatapp.as_deref(), Some(chatapp));
    }
    let made = post(
        &world,
        &admin,
        "",
        &json!({ "firstname": "Ana", "phone": 1e22, "email": 5e-7, "owner": "8.0" }),
    )
    .await;
    let lead = stored(&world, made).await;
    let shown = (
        lead.phone.as_deref(),
        lead.email.as_deref(),
        lead.owner.map(u64::from),
    );
    assert_eq!(
        shown,
        (Some("10000000000000000000000"), Some("0.0000005"), Some(8))
    );
    // A caller from abroad with a trunk prefix that is not dialled.
    let from_abroad = call(&world, "+44 (0)20 7946 0111").await;
    assert_eq!(call(&world, "+442079460111").await, from_abroad);
    // Half an emoji is no reason to lose a call.
    let data = r#"{"event":"call","data":{"user":8,"leadPhone":"+5511987650501","type":"INCOMING","status":"COMPLETE",
        "duration":5,"record":false,"service":"x","leadName":"aaa\ud83d"}}"#;
    let answer = world
        .call("POST", "/voip/webhook?i=acme")
        .bytes(data)
        .send()
        .await;
    assert_eq!(answer.status, 201, "{}", answer.body);
    assert_eq!(
        world.calls().await.last().expect("the call").lead_name.as_deref(),
        Some("aaa\u{fffd}")
    );
    world.is_sound().await;
}

/// C-6 to C-8: what PHP, low-code tools and other programs write for nothing, numbers and times.
#[tokio::test]
async fn programs_write_values_in_their_own_ways() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let opportunity = json!({ "title": "A", "crm_column": "31", "lead_id": "1001", "value": "10.5000", "sequence": "", "user": "",
        "fields": [], "expectedCloseDate": "2026-12-31 10:00:00 -0300" });
    let made = world
        .write(&admin, "POST", "/crmopportunity?id=3&i=acme", &opportunity)
        .await;
    let shown = ["value", "sequence", "expectedCloseDate"].map(|name| made.body[name].clone());
    assert_eq!(
        shown,
        [json!(10.5), json!(0), json!("2026-12-31T13:00:00.000Z")],
        "{}",
        made.body
    );
    let sum = json!({ "value": 0.1 + 0.2, "fields": [], "expectedCloseDate": "2026-12-31T10:00-03:00[America/Sao_Paulo]" });
    let changed = world
        .write(&admin, "PUT", "/crmopportunity/1?id=3&i=acme", &sum)
        .await;
    let shown = ["value", "expectedCloseDate"].map(|name| changed.body["data"][name].clone());
    assert_eq!(
        shown,
        [json!(0.3), json!("2026-12-31T13:00:00.000Z")],
        "{}",
        changed.body
    );
    let booked = booking(
        "2026-11-23 09:00:00 +0000",
        &json!({ "properties": [], "formData": { "firstname": "Bia" } }),
    );
    let booked = book(&world, &booked).await;
    assert_eq!(
        booked.body["data"]["date"], "2026-11-23T09:00:00.000Z",
        "{}",
        booked.body
    );
    // A number that was stored without its ninth digit is found by the digits of today.
    let old = post(&world, &admin, "", &json!({ "phone": "55 43 8765-4321" })).await;
    for term in ["98765-4321", "43 98765-4321", "8765 4321"] {
        let answer = search(&world, &admin, term).await;
        assert_eq!(
            answer.body["data"]["leads"][0]["id"],
            json!(old),
            "{term}: {}",
            answer.body
        );
    }
    world.is_sound().await;
}

/// One person is found whatever the apostrophe, the invisible signs and the form of the accents.
#[tokio::test]
async fn words_and_addresses_are_folded_alike() {
    let world = world().await;
    let admin = world.wallet(7).await;
    let made = post(&world, &admin, "", &json!({ "firstname": "Ma\u{200b}riana", "lastname": "D\u{2019}Ávila Łukasz", "email": "jose\u{301}@x.example" })).await;
    for term in ["D'Ávila", "d´avila", "mariana", "lukasz", "D\u{2019}avila maria"] {
        let answer = search(&world, &admin, term).await;
        assert_eq!(
            answer.body["data"]["leads"][0]["id"],
            json!(made),
            "{term}: {}",
            answer.body
        );
    }
    for email in [
        "josé@x.example",
        "JOSÉ@x.example\u{feff}",
        "jo\u{200b}sé@x.example",
    ] {
        let found = post(&world, &admin, "&unique=email", &json!({ "email": email })).await;
        assert_eq!(found, made, "{email:?}");
    }
    world.is_sound().await;
}

/// The rows of the routes with a body.
fn with_body() -> impl Iterator<Item = Entry> {
    catalogue().into_iter().filter(|route| !route.body.is_null())
}

/// Adds a member of the body.
fn put(body: &mut Value, pointer: &str, value: Value) {
    let (parent, name) = pointer.rsplit_once('/').expect("a pointer");
    let parent = body.pointer_mut(parent).and_then(Value::as_object_mut);
    parent.expect("an object").insert(name.to_owned(), value);
}

/// All texts in the records of an instance.
async fn stored_texts(world: &World) -> BTreeSet<String> {
    fn collect(value: &Value, texts: &mut BTreeSet<String>) {
        match value {
            Value::String(text) => drop(texts.insert(text.clone())),
            Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
            Value::Object(members) => members.values().for_each(|member| collect(member, texts)),
            _ => {}
        }
    }
    let mut texts = BTreeSet::new();
    for record in export(world).await {
        collect(&record, &mut texts);
    }
    texts
}

/// Every route trims the texts of people: none is stored with its blanks.
#[tokio::test]
async fn every_route_reads_texts_of_people_alike() {
    let mut fields = 0;
    for mut route in with_body().filter(|route| !route.people.is_empty()) {
        let world = crate::isolation::world().await;
        let wallet = world.wallet(7).await;
        for pointer in route.people.clone() {
            fields += 1;
            put(
                &mut route.body,
                pointer,
                json!(format!("\t marca{fields}@x.example\u{a0} ")),
            );
        }
        let answer = route
            .with(&world, "i=acme", &wallet.key, &wallet.token)
            .send()
            .await;
        assert!(answer.status.is_success(), "{}: {}", route.name(), answer.body);
        let texts = stored_texts(&world).await;
        for field in fields - route.people.len() + 1..=fields {
            let mark = format!("marca{field}@x.example");
            assert!(texts.contains(&mark), "{}: {mark} is not stored", route.name());
            let with = |text: &&String| text.contains(&mark) && text.trim() != text.as_str();
            assert_eq!(texts.iter().find(with), None, "{}", route.name());
        }
    }
    assert!(fields >= 20, "{fields} fields");
}

/// Every route reads half of a surrogate pair as U+FFFD (C-70), and refuses a body in another encoding. `texts_are_read_alike`
/// has the webhook's.
#[tokio::test]
async fn every_route_reads_broken_text_alike() {
    for route in with_body().filter(|route| route.route != "/voip/webhook") {
        let mut statuses = Vec::new();
        for text in [&b"a"[..], br"a\ud83d", b"Jos\xe9"] {
            let world = crate::isolation::world().await;
            let wallet = world.wallet(7).await;
            let mut body = route.body.clone();
            // Endpoint 10 knows its members.
            let is_board = route.route == "/crm/opportunities/{id}";
            put(
                &mut body,
                if is_board { "/search" } else { "/observacao" },
                json!("@"),
            );
            let body = body.to_string();
            let (before, after) = body.split_once('@').expect("the text");
            let body = [before.as_bytes(), text, after.as_bytes()].concat();
            let empty = Entry {
                body: Value::Null,
                ..route.clone()
            };
            let call = empty.with(&world, "i=acme", &wallet.key, &wallet.token);
            let answer = call
                .header("content-type", "application/json")
                .bytes(body)
                .send()
                .await;
            statuses.push(answer.status.as_u16());
        }
        assert!(statuses[0] < 300, "{}: {statuses:?}", route.name());
        assert_eq!((statuses[1], statuses[2]), (statuses[0], 400), "{}", route.name());
    }
}
