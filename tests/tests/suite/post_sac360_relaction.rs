//! `POST /sac360/relaction` (C-100).

use operator::kinds::Tickets;
use operator::{Operator, Outcome};
use serde_json::{Value, json};
use tests::tickets::{add_files, add_tickets, ask, assert_invalid, file, shown, shown_file, ticket};
use tests::world::over_sdk;
use tests::{ACME, Answer, NOW, Wallet, World};

use crate::faults::held::Held;

/// Ticket 501 of lead 1001 with some files.
async fn stocked(files: u64) -> World {
    let _sdk = over_sdk();
    let world = World::new().await;
    let operator = world.operator(ACME);
    add_tickets(&operator, [ticket(&Value::Null)]).await;
    let files = (1..=files).map(|n| file(&json!({ "store_path": format!("{n:03}") })));
    add_files(&operator, files).await;
    world
}

async fn relate(world: &World, wallet: &Wallet, body: &Value) -> Answer {
    let call = world.call("POST", "/sac360/relaction?i=acme").with(wallet);
    call.json(body).send().await
}

/// The ticket as it is after the move to lead 1002.
fn moved() -> Value {
    let now = tests::world::at(NOW);
    shown(&json!({ "lead_relation": 1002, "updateDate": now, "updateDateUnix": now.unix_seconds() }))
}

/// The number of tickets and files of a lead.
async fn of_lead(world: &World, wallet: &Wallet, lead: u64) -> (usize, usize) {
    let mut counts = Vec::new();
    for list in ["lead", "list_file_lead"] {
        let answer = ask(world, wallet, &format!("{list}/{lead}")).await;
        counts.push(answer.body.as_array().expect("an array").len());
    }
    (counts[0], counts[1])
}

/// All lists follow at once, for any number of files; the same request again changes nothing.
#[tokio::test]
async fn a_ticket_moves_with_its_files() {
    for files in [0, 1, 32, 33, 130] {
        let world = stocked(files).await;
        let admin = world.wallet(7).await;
        for body in [
            json!({ "lead": 1002, "attendance": 501 }),
            json!({ "lead": "1002", "attendance": "501", "ignored": true }),
        ] {
            let answer = relate(&world, &admin, &body).await;
            answer.is(200, &json!({ "msg": "updated", "data": moved() }));
            world.clock.set(world.clock.get().plus_seconds(60));
        }
        let count = usize::try_from(files).expect("small");
        assert_eq!(of_lead(&world, &admin, 1001).await, (0, 0));
        assert_eq!(of_lead(&world, &admin, 1002).await, (1, count));
        ask(&world, &admin, "lead/1002").await.is(200, &json!([moved()]));
        let of_ticket = ask(&world, &admin, "list_file_attendance/501").await;
        let paths = (1..=files).map(|n| shown_file(&json!({ "store_path": format!("{n:03}") })));
        of_ticket.is(200, &paths.collect());
        world.is_sound().await;
    }
}

/// The name of the former lead does not stay (C-24).
#[tokio::test]
async fn the_name_is_that_of_the_new_lead() {
    for (before, after) in [
        (json!("Maria Silva"), json!("João Pereira")),
        (Value::Null, Value::Null),
    ] {
        let world = stocked(0).await;
        let admin = world.wallet(7).await;
        add_tickets(&world.operator(ACME), [ticket(&json!({ "lead_name": before }))]).await;
        let answer = relate(&world, &admin, &json!({ "lead": 1002, "attendance": 501 })).await;
        assert_eq!(answer.body["data"]["lead_name"], after);
    }
}

#[tokio::test]
async fn ids_have_to_be_those_of_a_ticket_and_a_lead() {
    let world = stocked(1).await;
    let admin = world.wallet(7).await;
    let rule = "must be a whole number from 1 to 999999999999999";
    for (body, details) in [
        (json!({ "attendance": 501 }), format!("lead: {rule}")),
        (json!({ "lead": 1002 }), format!("attendance: {rule}")),
        (json!({ "lead": "x", "attendance": 501 }), format!("lead: {rule}")),
        (
            json!({ "lead": 1002, "attendance": 0 }),
            format!("attendance: {rule}"),
        ),
        (
            json!({ "lead": null, "attendance": 501 }),
            format!("lead: {rule}"),
        ),
        (json!([1002, 501]), "body: must be a JSON object".to_owned()),
        (
            json!({ "lead": 4711, "attendance": 501 }),
            "lead: lead 4711 does not exist".to_owned(),
        ),
        (
            json!({ "lead": 1002, "attendance": 4711 }),
            "attendance: ticket 4711 does not exist".to_owned(),
        ),
    ] {
        assert_invalid(&relate(&world, &admin, &body).await, &details);
    }
    assert_eq!(of_lead(&world, &admin, 1001).await, (1, 1));
}

/// The user must see the ticket's lead and the new one; leads 1001 and 1002 are of users 8 and 9. A ticket without lead is for
/// those who see all leads.
#[tokio::test]
async fn both_leads_have_to_be_seen() {
    let world = stocked(1).await;
    let operator = world.operator(ACME);
    let orphan = ticket(&json!({ "id": 502, "lead_relation": null }));
    add_tickets(&operator, [orphan]).await;
    tests::sales::open_shop(&operator).await;
    let own = world.wallet(9).await;
    let mine = async |world: &World| {
        let all = world.read(&own, "/leads?i=acme&query={leads{id}}").await;
        all.body["data"]["leads"][0]["id"].as_u64().expect("a lead")
    };
    let lead = mine(&world).await;
    // The second time the process knows the ticket's lead.
    for _ in 0..2 {
        for (ticket, lead, details) in [
            (501, lead, "attendance: ticket 501 does not exist"),
            (501, 1001, "lead: lead 1001 does not exist"),
            (502, lead, "attendance: ticket 502 does not exist"),
        ] {
            let answer = relate(&world, &own, &json!({ "lead": lead, "attendance": ticket })).await;
            assert_invalid(&answer, details);
        }
        ask(&world, &world.wallet(14).await, "list_file_attendance/501").await;
    }
    let admin = world.wallet(7).await;
    for body in [
        json!({ "lead": lead, "attendance": 502 }),
        json!({ "lead": lead, "attendance": 501 }),
    ] {
        assert_eq!(relate(&world, &admin, &body).await.status, 200);
    }
    let answer = relate(&world, &own, &json!({ "lead": lead, "attendance": 501 })).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    world.is_sound().await;
}

/// A file that comes while the ticket moves, and a ticket that moves meanwhile, end with the last lead.
#[tokio::test]
async fn concurrent_changes_are_kept() {
    for (files, moves, seen) in [0, 3].into_iter().flat_map(|files| {
        [
            (files, false, false),
            (files, true, false),
            (files, false, true),
            (files, true, true),
        ]
    }) {
        let world = stocked(files).await;
        let slow = Held::behind(&world, 0);
        let admin = world.wallet(7).await;
        let late = slow.world(&world);
        if seen {
            ask(&late, &admin, "list_file_attendance/501").await;
        }
        let work = async {
            let answer = relate(&late, &admin, &json!({ "lead": 1002, "attendance": 501 })).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
        };
        let meanwhile = async {
            if moves {
                let other = json!({ "lead": 1003, "attendance": 501 });
                assert_eq!(relate(&world, &admin, &other).await.status, 200);
            } else {
                add_files(&world.operator(ACME), [file(&json!({ "store_path": "late" }))]).await;
            }
        };
        slow.during(work, meanwhile).await;
        let expected = usize::try_from(files).expect("small") + usize::from(!moves);
        assert_eq!(
            of_lead(&world, &admin, 1002).await,
            (1, expected),
            "{files} {moves} {seen}"
        );
        for lead in [1001, 1003] {
            assert_eq!(of_lead(&world, &admin, lead).await, (0, 0));
        }
        world.is_sound().await;
    }
}

/// Ticket and list are read side by side. A file that comes after the list and before the ticket was read moves too.
#[tokio::test]
async fn a_list_older_than_the_ticket_is_not_trusted() {
    let _sdk = over_sdk();
    for files in [0, 3] {
        let world = stocked(files).await;
        let admin = world.known(7).await;
        ask(&world, &admin, "list_file_attendance/501").await;
        let slow = Held::before_records(&world, 0);
        let late = slow.world(&world);
        let work = async {
            let answer = relate(&late, &admin, &json!({ "lead": 1002, "attendance": 501 })).await;
            assert_eq!(answer.status, 200, "{}", answer.body);
        };
        let meanwhile = async {
            add_files(&world.operator(ACME), [file(&json!({ "store_path": "late" }))]).await;
        };
        slow.during(work, meanwhile).await;
        let expected = usize::try_from(files + 1).expect("small");
        assert_eq!(of_lead(&world, &admin, 1002).await, (1, expected));
        assert_eq!(of_lead(&world, &admin, 1001).await, (0, 0));
        world.is_sound().await;
    }
}

/// C-24: a lead that is deleted meanwhile gets nothing.
#[tokio::test]
async fn a_deleted_lead_gets_no_ticket() {
    let world = stocked(2).await;
    let slow = Held::behind(&world, 0);
    let admin = world.wallet(7).await;
    let late = slow.world(&world);
    let work = async {
        let answer = relate(&late, &admin, &json!({ "lead": 1002, "attendance": 501 })).await;
        assert_invalid(&answer, "lead: lead 1002 does not exist");
    };
    let meanwhile = async {
        let uri = format!("/leads/1002?i=acme&apitoken={}", admin.key);
        assert_eq!(world.call("DELETE", &uri).send().await.status, 200);
    };
    slow.during(work, meanwhile).await;
    assert_eq!(of_lead(&world, &admin, 1001).await, (1, 2));
    world.is_sound().await;
}

/// C-81: a line does not take back what the request changed.
#[tokio::test]
async fn an_import_does_not_take_it_back() {
    let world = stocked(1).await;
    let (operator, admin) = (world.operator(ACME), world.wallet(7).await);
    let body = json!({ "lead": 1002, "attendance": 501 });
    assert_eq!(relate(&world, &admin, &body).await.status, 200);
    let lines = [ticket(&Value::Null).into()];
    let import = async |operator: &Operator, overwrite| {
        let outcomes = operator.import::<Tickets>(&lines, overwrite).await;
        matches!(outcomes.expect("an import")[..], [Outcome::Refused(_)])
    };
    assert!(import(&operator, false).await);
    assert_eq!(of_lead(&world, &admin, 1002).await, (1, 1));
    assert!(!import(&operator, true).await);
    assert_eq!(of_lead(&world, &admin, 1001).await, (1, 1));
}

/// C-86: reading more files than the budget allows is refused before anything is written.
#[tokio::test]
async fn files_beyond_the_budget_are_refused() {
    let world = stocked(300).await;
    let (operator, admin) = (world.operator(ACME), world.wallet(7).await);
    tests::people::set(&operator, "read_budget", &json!(100)).await;
    let answer = relate(&world, &admin, &json!({ "lead": 1002, "attendance": 501 })).await;
    let details =
        "attendance: the ticket has more files than read_budget allows to read, or they take too long";
    assert_invalid(&answer, details);
    assert_eq!(of_lead(&world, &admin, 1001).await, (1, 300));
}
