//! A table with records of every kind, as clients, an operator and maintenance leave it, including pending work.

use indicatif::ProgressBar;
use serde_json::{Value, json};
use tests::bookings::booking;
use tests::raw::RawTable;
use tests::{ACME, Wallet, World};

use super::asks::{Asked, asks};

/// The responses and the export of a table.
#[derive(Debug)]
pub struct Kept {
    pub wallet: Wallet,
    pub answers: Vec<Asked>,
    pub export: Vec<Value>,
}

/// A filled table of a world's own.
pub async fn set() -> (World, RawTable, Kept) {
    let world = World::own().await;
    let acme = world.operator(ACME);
    acme.create_instance().await.expect("the instance is new");
    import(&world, &sample()).await;
    for setting in [
        json!({ "kind": "setting", "name": "public_requests_per_minute", "value": 600 }),
        json!({ "kind": "automation", "id": 2, "name": "Avisar", "trigger": "leadPhoneCall", "event": "received",
            "actions": [{ "type": "notify", "url": "https://erp.example/h", "secret": "whsec" }], "active": true }),
        json!({ "kind": "call", "id": 2, "user": 8, "type": "OUTGOING", "status": "COMPLETE", "duration": 5,
            "record": false, "service": "acme-voip", "lead": 1002, "createDate": "2026-06-02T10:00:00.000Z" }),
    ] {
        import(&world, &setting.to_string()).await;
    }
    let other = world.operator("outra");
    tests::people::settle(&other).await;
    let wallet = world.wallet(7).await;
    write(&world, &wallet).await;
    world.is_sound().await;
    let kept = Kept {
        export: export(&world).await,
        answers: asks(&world, &wallet).await,
        wallet,
    };
    let table = world.raw();
    (world, table, kept)
}

/// The sample with fewer opportunities.
fn sample() -> String {
    let whole = include_str!("../../../vectors/sample-instance.ndjson");
    let few = |line: &&str| {
        let record: Value = serde_json::from_str(line).expect("JSON");
        record["kind"] != "opportunity" || record["id"].as_u64() <= Some(12)
    };
    whole.lines().filter(few).flat_map(|line| [line, "\n"]).collect()
}

/// Requests of clients, maintenance, and then work that remains pending.
async fn write(world: &World, wallet: &Wallet) {
    let sent = |method: &'static str, path: &'static str, body: Value| async move {
        let call = world
            .call(method, &format!("{path}?id=3&i=acme&apitoken={}", wallet.key))
            .with(wallet);
        let answer = call.header("idempotency-key", "k").json(&body).send().await;
        assert!(answer.status.is_success(), "{method} {path}: {}", answer.body);
    };
    sent("POST", "/crmopportunity", made()).await;
    sent(
        "PUT",
        "/crmopportunity/1",
        json!({ "title": "Outro", "fields": { "Origem do Lead": "site" } }),
    )
    .await;
    sent(
        "POST",
        "/lead/archive",
        json!({ "ids": [1002], "archived": true }),
    )
    .await;
    let walk = json!({ "page": 2, "limit": 3, "columnId": 31 });
    let first = json!({ "page": 1, "limit": 3, "columnId": 31 });
    sent("POST", "/crm/opportunities/3", first).await;
    sent("POST", "/crm/opportunities/3", walk).await;
    let body = booking("2027-03-01T10:00:00.000Z", &json!({ "keyName": "plantao-2027" }));
    sent("POST", "/calendarmeeting", body).await;
    sent("POST", "/voip/webhook", call("+55 11 91234-0001")).await;
    let nobody = shared::jobs::webhook_client::WebhookClient::plain(|_, _| Vec::new(), |_| false);
    maintenance::automate(&world.store, &nobody)
        .await
        .expect("automations are run");
    maintenance::tend(&world.store).await.expect("it is tended");
    world.clock.set(world.clock.get().plus_seconds(5));
    // Work from here on remains pending.
    sent("POST", "/voip/webhook", call("+55 11 97326-3471")).await;
    let path = format!("/leads/1012?i=acme&apitoken={}", wallet.key);
    let gone = world.call("DELETE", &path).with(wallet).send().await;
    assert_eq!(gone.status, 200, "{}", gone.body);
    // Its custom fields are in an item of their own.
    let renamed = json!({ "kind": "lead", "id": 1004, "firstname": "Josefa", "owner": 8, "filial": 2,
        "historico": "Ligou. ".repeat(600),
        "utmTags": [{ "utm_source": "ads" }], "channelRestrictions": { "email": { "disabled": true } } });
    import(world, &renamed.to_string()).await;
}

/// The opportunity created with an `Idempotency-Key`.
pub fn made() -> Value {
    json!({ "title": "Reforma", "value": 1234.5, "crm_column": 31, "lead_id": 1001, "user": 8,
        "fields": { "Origem do Lead": "feira" }, "service_permission": "users", "service_permission_users": [8, 9] })
}

fn call(phone: &str) -> Value {
    json!({ "event": "call", "data": { "user": 8, "leadPhone": phone, "type": "INCOMING", "status": "COMPLETE",
        "duration": 65, "record": true, "service": "acme-voip", "callId": "c-9" } })
}

/// Imports lines into `acme`.
pub async fn import(world: &World, lines: &str) {
    let source = operator::import::Source::spool(lines.as_bytes()).expect("a source");
    let bar = ProgressBar::hidden();
    let report = operator::import::import(&world.operator(ACME), &source, true, &bar).await;
    let report = report.expect("an import");
    assert_eq!((report.refused.len(), report.unlisted), (0, 0), "{report:?}");
}

/// The records of `acme` as exported.
pub async fn export(world: &World) -> Vec<Value> {
    let mut lines = Vec::new();
    let bar = ProgressBar::hidden();
    operator::export::export(&world.operator(ACME), &mut lines, &bar)
        .await
        .expect("an export");
    let lines = String::from_utf8(lines).expect("text");
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    lines.collect()
}
