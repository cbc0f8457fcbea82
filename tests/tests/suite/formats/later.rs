//! Items of a later build, with additional attributes at the top level and in nested objects. This build
//! reads, changes and rewrites them, and keeps the unknown attributes (C-88).

use serde_json::{Value, json};
use tests::raw::RawTable;
use tests::{ACME, Wallet, World};

use super::reads_as_before;
use super::stage::{Kept, export, import, set};

/// Name of the later build's attributes.
const LATER: &str = "later";

/// Free-form members, where additional names would be data.
const FREE: [&str; 18] = [
    "custom",
    "f",
    "ut",
    "fields",
    "formData",
    "properties",
    "utmTags",
    "t",
    "names",
    "users",
    "departments",
    "groups",
    "dates",
    "filters",
    "actions",
    "parts",
    "narrowing",
    "days",
];

/// Items that are replaced and never rewritten: results of reports, and expiring items.
fn is_passing(pk: &str) -> bool {
    [
        "#report-",
        "#rate#",
        "#bookmark#",
        "#idempotency#",
        "#new-caller#",
        "#trigger",
        "#notice",
        "#erasure",
    ]
    .iter()
    .any(|part| pk.contains(part))
}

/// Adds attributes to an item.
fn extend(item: &Value) -> Value {
    let mut item = item.clone();
    for (name, value) in item.as_object_mut().expect("an item") {
        extend_attribute(name, value);
    }
    item[LATER] = json!({ "S": "x" });
    item
}

fn extend_attribute(name: &str, value: &mut Value) {
    let (kind, value) = value
        .as_object_mut()
        .expect("a value")
        .iter_mut()
        .next()
        .expect("one");
    match (kind.as_str(), value) {
        ("M", Value::Object(members)) => {
            members
                .iter_mut()
                .for_each(|(name, value)| extend_attribute(name, value));
            if !FREE.contains(&name) {
                members.insert(LATER.to_owned(), json!({ "N": "7" }));
            }
        }
        ("L", Value::Array(elements)) => elements.iter_mut().for_each(|value| extend_attribute("", value)),
        ("S", Value::String(text)) if !FREE.contains(&name) && text.starts_with('{') => {
            let mut json: Value = serde_json::from_str(text).expect("JSON");
            extend_json("", &mut json);
            *text = json.to_string();
        }
        _ => {}
    }
}

fn extend_json(name: &str, value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in &mut *members {
                // Maps by id are extended nevertheless.
                if !FREE.contains(&name.as_str()) || ["departments", "groups"].contains(&name.as_str()) {
                    extend_json(name, value);
                }
            }
            if !FREE.contains(&name) {
                members.insert(LATER.to_owned(), json!({ "x": 7 }));
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|value| extend_json(name, value)),
        _ => {}
    }
}

/// Number of the later build's attributes in an item.
fn count(item: &Value) -> usize {
    item.to_string().matches(LATER).count()
}

/// Records of the kinds that the filled table lacks.
const MORE: &str = r##"{"kind":"tag","id":10,"tag":"Quente","color":"#e53935"}
{"kind":"hook","id":2,"name":"contact","token":"tok","unique":["email"],"owner":8,"fields":[{"name":"nome","to":"firstname"},{"name":"email"},{"name":"cargo"}],"opportunity":{"column":31,"title":"Site"}}
{"kind":"automation","id":4,"name":"Mudou","trigger":"lead","event":"updated","actions":[{"type":"notify","url":"https://erp.example/h","secret":"whsec","method":"PUT","headers":{"a":"b"},"body":{"n":"{contactfield=fullname}"}}]}"##;

/// A filled table, as a later build would have written it.
async fn later_world() -> (World, RawTable, Kept) {
    let (world, table, mut kept) = set().await;
    import(&world, MORE).await;
    let is_more = |record: &Value| {
        let kind = record["kind"].as_str().unwrap_or_default();
        (kind == "hook" && record["id"] == 2)
            || (kind == "tag" && record["id"] == 10)
            || (kind == "automation" && record["id"] == 4)
    };
    kept.export
        .extend(export(&world).await.into_iter().filter(is_more));
    let items: Vec<_> = table.items().iter().map(extend).collect();
    table.put_all(&items);
    (world, table, kept)
}

#[tokio::test]
async fn items_of_a_later_build_are_read() {
    let (world, _, kept) = later_world().await;
    reads_as_before(&world, &kept, "extended").await;
    world.is_sound().await;
}

/// C-93 to C-98: the routes that read what only this build writes.
#[tokio::test]
async fn the_lists_of_a_later_build_are_read() {
    let (world, _, kept) = later_world().await;
    let wallet = &kept.wallet;
    for (path, kind, names) in [
        ("/tags", "tag", ["id", "tag", "color"].as_slice()),
        ("/crmlossreason", "lossReason", &["id", "name"]),
    ] {
        let records = kept.export.iter().filter(|record| record["kind"] == kind);
        let part = |record: &Value| {
            names
                .iter()
                .map(|name| ((*name).to_owned(), record[name].clone()))
                .collect()
        };
        let shown = Value::Array(records.map(part).collect());
        let answer = world.get(&format!("{path}?i={ACME}")).with(wallet).send().await;
        answer.is(200, &shown);
    }
    for path in [
        "/user",
        "/departament",
        "/crmfastloadv2/3",
        "/crmopportunity/1",
        "/listopportunitysleadcomplete/1001",
    ] {
        let answer = world.get(&format!("{path}?i={ACME}")).with(wallet).send().await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        let shown = answer.body.to_string();
        assert!(shown.len() > 100 && !shown.contains(LATER), "{path}: {shown}");
    }
}

/// Every record of an export, with one change each.
fn changed(record: &Value) -> Value {
    let mut record = record.clone();
    let kind = record["kind"].as_str().expect("a kind").to_owned();
    let (name, value) = match kind.as_str() {
        "setting" => (
            "value",
            if record["name"] == "timezone" {
                json!("UTC")
            } else {
                json!(601)
            },
        ),
        "lead" => ("firstname", json!("Nova")),
        "opportunity" => ("title", json!("Nova")),
        "company" => ("companyname", json!("Nova")),
        "meeting" => ("status", json!("rescheduled")),
        "file" => ("url", json!("https://media.example/nova")),
        "call" => ("description", json!("Nova")),
        "event" if record["values"].is_object() => ("values", json!({ "nome": "Nova" })),
        "event" => ("duration", json!(66)),
        "tag" => ("tag", json!("Nova")),
        _ => ("name", json!("Nova")),
    };
    record[name] = value;
    if record["historico"].is_string() {
        record["historico"] = "Visitou. ".repeat(600).trim_end().into();
    }
    if kind == "calendar" {
        record["horizon"] = json!({ "type": "days", "days": 400 });
    }
    record
}

#[tokio::test]
async fn attributes_of_a_later_build_survive_changes() {
    let (world, table, kept) = later_world().await;
    let before = table.items();
    let wallet = &kept.wallet;
    let title = json!({ "title": "Pela API" });
    let uri = format!("/crmopportunity/1?id=3&i={ACME}&apitoken={}", wallet.key);
    let answer = world.call("PUT", &uri).with(wallet).json(&title).send().await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let uri = format!("/lead/archive?i={ACME}&apitoken={}", wallet.key);
    let archive = json!({ "ids": [1006], "archived": true });
    let answer = world.call("POST", &uri).with(wallet).json(&archive).send().await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    for (method, path, body) in [
        (
            "PUT",
            "/leads/1001",
            json!({ "firstname": "Nova", "tags": [10], "cor": "azul" }),
        ),
        (
            "POST",
            "/sac360/relaction",
            json!({ "lead": 1002, "attendance": 501 }),
        ),
    ] {
        let call = world.call(method, &format!("{path}?i={ACME}")).with(wallet);
        let answer = call.json(&body).send().await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
    }
    let sent = json!({ "nome": "Nova", "email": "lead1001@example.com", "cargo": "CEO" });
    let submission = world.call("POST", "/api/hook/contact?i=acme&access_token=tok");
    let answer = submission.json(&sent).send().await;
    answer.is(200, &json!({ "msg": "received", "data": { "lead": 1001 } }));
    are_kept(&before, &table.items());

    let lines: Vec<_> = export(&world).await.iter().map(changed).collect();
    let text: Vec<_> = lines.iter().map(Value::to_string).collect();
    import(&world, &text.join("\n")).await;
    world
        .operator(ACME)
        .limit_key(&wallet.key_id, None)
        .await
        .expect("a limit");
    are_kept(&before, &table.items());
    assert_eq!(export(&world).await, lines);
    world.is_sound().await;
    maintenance::tend(&world.store).await.expect("it is tended");
    world.is_sound().await;
    are_kept(&before, &table.items());
}

/// Requires that every remaining item has the later build's attributes.
#[track_caller]
fn are_kept(before: &[Value], after: &[Value]) {
    let mut rewritten = 0;
    let is_passing = |item: &&Value| is_passing(item["pk"]["S"].as_str().expect("a key"));
    // An opportunity's entries are derived from its record.
    let is_entry = |item: &&Value| item.get("e").is_some();
    for item in before.iter().filter(|item| !is_passing(item) && !is_entry(item)) {
        let same = |other: &&Value| other["pk"] == item["pk"] && other["sk"] == item["sk"];
        let Some(found) = after.iter().find(same) else {
            continue;
        };
        rewritten += usize::from(found != item);
        assert!(count(found) >= count(item), "{item}\nbecame\n{found}");
    }
    assert!(rewritten > 5, "{rewritten}");
}

/// Edits the text of an item with JSON in this member.
fn edit(table: &RawTable, pk: &str, sk: &str, member: &str, edit: impl Fn(&mut Value)) {
    let mut item = table.get(pk, sk).expect("the item");
    let attributes = item.as_object_mut().expect("an item").values_mut();
    for text in attributes.filter_map(|value| value.get_mut("S")) {
        let json = serde_json::from_str(text.as_str().expect("text")).ok();
        if let Some(mut json) = json.filter(|json: &Value| json.get(member).is_some()) {
            edit(&mut json);
            *text = json.to_string().into();
        }
    }
    table.put(pk, sk, &item);
}

/// Unknown access levels and unknown values of settings are restrictive, and are kept.
#[tokio::test]
async fn unknown_permissions_allow_nothing_and_are_kept() {
    let (world, table, kept) = later_world().await;
    let at = ("acme#directory", "directory");
    edit(&table, at.0, at.1, "groups", |directory| {
        // An unknown access level to leads, and an unknown flag.
        directory["groups"]["2"] = json!(9 + (1_u64 << 40));
        directory["settings"]["credential_placement"] = json!("everywhere");
        directory["settings"]["colour"] = json!("red");
    });
    let seller = world.wallet(8).await;
    let listed = async |wallet: &Wallet| {
        let answer = world.get("/leads?i=acme&limit=50").with(wallet).send().await;
        assert_eq!(answer.status, 200, "{}", answer.body);
        answer.body["data"]["leads"].as_array().map(Vec::len)
    };
    assert_eq!(listed(&seller).await, Some(0));
    assert!(listed(&kept.wallet).await > Some(3));
    let misplaced = world
        .get(&format!("/leads?i=acme&apitoken={}", seller.key))
        .send()
        .await;
    assert_eq!(misplaced.status, 401);
    import(&world, r#"{"kind":"setting","name":"timezone","value":"UTC"}"#).await;
    let after = table.get(at.0, at.1).expect("the directory").to_string();
    for kept in [
        r#"\"2\":1099511627785"#,
        r#"\"everywhere\""#,
        r#"\"colour\":\"red\""#,
        "UTC",
    ] {
        assert!(after.contains(kept), "{kept}: {after}");
    }
}

/// An automation with an unknown action is neither run nor changed, and does not stop others or imports.
#[tokio::test]
async fn automations_of_a_later_build_are_skipped() {
    let (world, table, _) = later_world().await;
    let at = ("acme#automation", "000000000000001");
    edit(&table, at.0, at.1, "actions", |automation| {
        automation["actions"] =
            json!([{ "type": "sendMail", "to": "x" }, { "type": "addPoints", "points": 500 }]);
    });
    let automation = table.get(at.0, at.1);
    let line = json!({ "kind": "automation", "id": 3, "name": "Pontos", "trigger": "leadPhoneCall", "event": "received",
        "actions": [{ "type": "addPoints", "points": 3 }] });
    import(&world, &line.to_string()).await;
    let points = async || {
        let leads = world.leads().await;
        let lead = leads.into_iter().find(|lead| lead.id.get() == 1001);
        lead.expect("the lead").points.as_i64()
    };
    let before = points().await;
    let call = json!({ "event": "call", "data": { "user": 8, "leadPhone": "+55 11 97326-3471", "type": "INCOMING",
        "status": "COMPLETE", "duration": 65, "record": true, "service": "acme-voip" } });
    assert_eq!(world.webhook(&call).send().await.status, 201);
    let nobody = shared::jobs::webhook_client::WebhookClient::plain(|_, _| Vec::new(), |_| false);
    maintenance::automate(&world.store, &nobody)
        .await
        .expect("automations are run");
    // The filled table also has a call in its outbox.
    assert_eq!(points().await, before.map(|points| points + 6));
    assert_eq!(table.get(at.0, at.1), automation);
    world.is_sound().await;
}
