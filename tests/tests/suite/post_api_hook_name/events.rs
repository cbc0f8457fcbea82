//! Nothing that was sent is lost: each submission is an event on the timeline of its lead (C-101).

use serde_json::{Value, json};
use tests::forms::{address, received, submission, submit};
use tests::{ACME, World};

use super::{NEW, lead, world};

/// A form of four fields, of which one identifies.
async fn contact() -> World {
    world(
        &json!({ "unique": ["email"], "fields": [{ "name": "nome", "to": "firstname" }, { "name": "email" },
        { "name": "fone", "to": "phone" }, { "name": "mensagem" }, { "name": "interesse" }] }),
    )
    .await
}

async fn values(world: &World) -> Vec<Value> {
    world
        .form_events()
        .await
        .into_iter()
        .map(|event| Value::Object(event.values))
        .collect()
}

#[tokio::test]
async fn a_second_message_is_an_event() {
    let world = contact().await;
    let sent = |text: &str| json!({ "nome": "Bia", "email": "bia@example.com", "mensagem": text, "utm_source": "ads", "x": 1 });
    let first = submit(&world, &sent("Oi")).await;
    first.is(200, &received(NEW));
    assert_eq!(
        (
            &first.headers["x-fields-ignored"],
            &first.headers["x-files-ignored"]
        ),
        (&"1".parse().expect("a value"), &"0".parse().expect("a value"))
    );
    world.clock.set(world.clock.get().plus_seconds(60));
    submit(&world, &sent("Oi de novo")).await.is(200, &received(NEW));
    submit(&world, &sent(" Oi de novo "))
        .await
        .is(200, &received(NEW));
    let events = world.form_events().await;
    let shown: Vec<_> = events.iter().map(|event| json!(event)).collect();
    assert_eq!(
        shown,
        [
            json!({ "id": 1, "lead": NEW, "name": "form.received", "form": 1,
            "values": { "nome": "Bia", "email": "bia@example.com", "mensagem": "Oi", "utm_source": "ads" },
            "createDate": "2026-11-21T12:00:00.000Z" }),
            json!({ "id": 2, "lead": NEW, "name": "form.received", "form": 1,
            "values": { "nome": "Bia", "email": "bia@example.com", "mensagem": "Oi de novo", "utm_source": "ads" },
            "createDate": "2026-11-21T12:01:00.000Z" }),
        ]
    );
    let shown = lead(&world, NEW).await;
    assert_eq!(
        (&shown["mensagem"], &shown["lastActive"]),
        (&json!("Oi"), &json!("2026-11-21T12:01:00.000Z"))
    );
    world.is_sound().await;
}

/// A day later the same submission is new, and without an address or a number each one is a lead of its own.
#[tokio::test]
async fn equal_submissions_are_those_of_a_day_and_a_person() {
    let world = contact().await;
    let sent = json!({ "nome": "Bia", "email": "bia@example.com" });
    submit(&world, &sent).await.is(200, &received(NEW));
    world.clock.set(world.clock.get().plus_days(2));
    submit(&world, &sent).await.is(200, &received(NEW));
    assert_eq!(values(&world).await.len(), 2);
    // A number without area code may be another person's, and these texts are no address.
    let sent = ["0000000000", "98765-4321"].map(|fone| json!({ "nome": "Ana", "fone": fone }));
    let nobodies = ["não tenho", "@"].map(|email| json!({ "nome": "Ana", "email": email }));
    let twice = sent
        .into_iter()
        .chain(nobodies)
        .flat_map(|sent| [sent.clone(), sent]);
    for (lead, sent) in (NEW + 1..).zip(twice) {
        submit(&world, &sent).await.is(200, &received(lead));
    }
    world.is_sound().await;
}

/// A number or an address of another lead stays in the event.
#[tokio::test]
async fn what_identifies_another_lead_is_not_copied() {
    let world = contact().await;
    submit(&world, &json!({ "nome": "Bia", "email": "bia@example.com" }))
        .await
        .is(200, &received(NEW));
    submit(&world, &json!({ "nome": "Caio", "fone": "(011) 98765-0101" }))
        .await
        .is(200, &received(NEW + 1));
    let mixed = json!({ "email": "bia@example.com", "fone": "+55 11 98765-0101", "mensagem": "?" });
    submit(&world, &mixed).await.is(200, &received(NEW));
    let shown = lead(&world, NEW).await;
    assert_eq!((&shown["phone"], &shown["mensagem"]), (&Value::Null, &json!("?")));
    assert_eq!(values(&world).await[2]["fone"], "+55 11 98765-0101");
    let own = json!({ "email": "bia@example.com", "fone": "11 98765-0202" });
    submit(&world, &own).await.is(200, &received(NEW));
    assert_eq!(lead(&world, NEW).await["phone"], "11 98765-0202");
    world.is_sound().await;
}

/// A new submission, and an equal one, which is no second event.
#[tokio::test]
async fn a_submission_restores_an_archived_lead() {
    let world = contact().await;
    let admin = world.wallet(7).await;
    let uri = format!("/lead/archive?i=acme&apitoken={}", admin.key);
    for body in [
        json!({ "id": 1001, "archived": true }),
        json!({ "ids": ["1001", 1001.0], "id": "", "archived": "True" }),
    ] {
        assert_eq!(world.call("POST", &uri).json(&body).send().await.status, 200);
        assert_eq!(lead(&world, 1001).await["archived"], true, "{body}");
        let sent = json!({ "email": "lead1001@example.com", "mensagem": "Voltei" });
        submit(&world, &sent).await.is(200, &received(1001));
        assert_eq!(lead(&world, 1001).await["archived"], false, "{body}");
    }
    assert_eq!(values(&world).await.len(), 1);
    world.is_sound().await;
}

/// Values of one name that come in several places are one value.
#[tokio::test]
async fn values_of_query_and_body_are_kept() {
    let world = contact().await;
    let uri = address("&mensagem=query&utm_source=a&fone=11+98765-0101");
    let body = "nome=Ana&mensagem=corpo&mensagem=query&utm_source=b&fone=11+98765-0102&fone=11+98765-0102";
    let answer = world
        .call("POST", &uri)
        .header("content-type", "application/x-www-form-urlencoded")
        .bytes(body)
        .send()
        .await;
    answer.is(200, &received(NEW));
    let expected = json!({ "nome": "Ana", "mensagem": "corpo, query", "fone": "11 98765-0102, 11 98765-0101", "utm_source": "b, a" });
    assert_eq!(values(&world).await, [expected]);
    let shown = lead(&world, NEW).await;
    assert_eq!(
        (&shown["phone"], &shown["mensagem"]),
        (&json!("11 98765-0102"), &json!("corpo, query"))
    );
    world.is_sound().await;
}

/// A browser's `FormData`, with a file, repeated names and names of lists.
#[tokio::test]
async fn multipart_forms_lists_and_repeated_names_are_taken() {
    let world = contact().await;
    let part =
        |head: &str, text: &str| format!("--b1\r\ncontent-disposition: form-data; {head}\r\n\r\n{text}\r\n");
    let parts = [
        part("name=\"nome\"", " Ana "),
        part("name=\"email\"", "ana@x.example"),
        part("name=\"email\"", ""),
        part("name=\"interesse[]\"", "a"),
        part("name=\"interesse[]\"", "b"),
        part("name=\"interesse[]\"", "a"),
        part("name=\"foto\"; filename=\"f.png\"", &"x".repeat(700_000)),
        part("name=\"vazio\"; filename=\"\"", ""),
        part("name=\"mensagem\"", &"ã".repeat(1440)),
    ];
    let body = parts.concat() + "--b1--\r\n";
    let call = world
        .call("POST", &address(""))
        .header("content-type", "multipart/form-data; boundary=b1");
    let answer = call.bytes(body.clone()).send().await;
    answer.is(200, &received(NEW));
    assert_eq!(answer.headers["x-files-ignored"], "1");
    let shown = lead(&world, NEW).await;
    assert_eq!(
        [
            &shown["firstname"],
            &shown["email"],
            &shown["interesse"],
            &shown["mensagem"]
        ],
        [
            &json!("Ana"),
            &json!("ana@x.example"),
            &json!("a, b"),
            &json!("ã".repeat(1440))
        ]
    );
    for (sent, id, interest) in [
        (
            "nome=B&email=b@x.example&email=b@x.example&interesse[0]=a&interesse[1]=b",
            NEW + 1,
            "a, b",
        ),
        ("nome=C&email=c@x.example&interesse[]=c", NEW + 2, "c"),
    ] {
        world
            .call("POST", &address(""))
            .bytes(sent)
            .send()
            .await
            .is(200, &received(id));
        assert_eq!(lead(&world, id).await["interesse"], interest);
    }
    let listed = json!({ "nome": "D", "email": ["d@x.example", "e@x.example"], "interesse": ["a", " ", 7], "fone": 5_511_987_650_501.0 });
    submission(&world, &listed)
        .send()
        .await
        .is(200, &received(NEW + 3));
    let shown = lead(&world, NEW + 3).await;
    assert_eq!(
        [&shown["email"], &shown["interesse"], &shown["phone"]],
        [&json!("d@x.example"), &json!("a, 7"), &json!("5511987650501")]
    );
    for (body, status) in [
        (body[..body.len() - 40].to_owned(), 400),
        ("x".repeat(5 << 20), 413),
        (parts[6].repeat(7), 413),
    ] {
        let call = world
            .call("POST", &address(""))
            .header("content-type", "multipart/form-data; boundary=b1");
        let answer = call.bytes(body).send().await;
        assert_eq!(answer.status, status, "{}", answer.body);
    }
    world.is_sound().await;
}

/// C-24, C-81: an event is exported, imported and erased with its lead.
#[tokio::test]
async fn events_are_exported_and_erased() {
    let world = contact().await;
    submit(
        &world,
        &json!({ "nome": "Bia", "email": "bia@example.com", "mensagem": "Segredo" }),
    )
    .await
    .is(200, &received(NEW));
    let mut lines = Vec::new();
    operator::export::export(
        &world.operator(ACME),
        &mut lines,
        &indicatif::ProgressBar::hidden(),
    )
    .await
    .expect("an export");
    let lines = String::from_utf8(lines).expect("text");
    let event = lines
        .lines()
        .find(|line| line.contains("form.received"))
        .expect("the event");
    let source = operator::import::Source::spool(event.as_bytes()).expect("a source");
    let report = operator::import::import(
        &world.operator(ACME),
        &source,
        false,
        &indicatif::ProgressBar::hidden(),
    )
    .await;
    assert_eq!(report.expect("an import").unchanged, 1);
    let admin = world.wallet(7).await;
    let path = format!("/leads/{NEW}?i=acme&apitoken={}", admin.key);
    assert_eq!(world.call("DELETE", &path).send().await.status, 200);
    maintenance::tend(&world.store).await.expect("it is tended");
    assert_eq!(world.form_events().await, []);
    assert!(
        !world
            .raw()
            .items()
            .iter()
            .any(|item| item.to_string().contains("Segredo"))
    );
    // An equal submission is new again.
    submit(
        &world,
        &json!({ "nome": "Bia", "email": "bia@example.com", "mensagem": "Segredo" }),
    )
    .await
    .is(200, &received(NEW + 1));
    world.is_sound().await;
}
