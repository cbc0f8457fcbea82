//! Imports concurrent with other writers of the same records.

use std::collections::BTreeMap;

use operator::kinds::Dated;
use operator::kinds::{Calendars, Calls, Events, Leads, Meetings, Users};
use operator::{OperatorError, Outcome};
use serde_json::{Value, json};
use shared::calendar::Calendar;
use shared::call::{Call, CallStatus, CallType};
use shared::credential::CredentialKind;
use shared::event::EventName;
use shared::ids::{CallId, EventId, LeadId, UserId};
use shared::lead::Lead;
use shared::meeting::Meeting;
use shared::people::User;
use shared::time::Timestamp;

use crate::import::assert_sound;
use crate::support::{Bench, USERS, command};

const WRITTEN: Outcome = Outcome::Written;

fn time() -> Timestamp {
    Timestamp::parse("2026-01-01T00:00:00Z").unwrap()
}

fn lead(id: u64, owner: u64, email: &str) -> Dated<Lead> {
    let lead = Lead {
        owner: UserId::new(owner),
        email: Some(email.to_owned()),
        phone: Some(format!("5511987{id:06}")),
        ..Lead::new(LeadId::new(id).unwrap(), time())
    };
    lead.into()
}

fn call(id: u64, lead: Option<u64>, duration: u64) -> Call {
    Call {
        id: CallId::new(id).unwrap(),
        user: UserId::new(8).unwrap(),
        lead_phone: None,
        kind: CallType::Outgoing,
        status: CallStatus::Complete,
        duration,
        record: false,
        service: "x".to_owned(),
        lead: lead.and_then(LeadId::new),
        lead_name: None,
        user_name: None,
        call_id: None,
        description: None,
        create_date: time(),
    }
}

/// Number of leads in each class.
fn totals(bench: &Bench) -> BTreeMap<String, String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let items = bench.partition("acme#lead-total#0");
    let totals = items
        .iter()
        .map(|item| (text(&item["sk"]["S"]), text(&item["n"]["N"])));
    totals.filter(|(_, n)| n != "0").collect()
}

fn counts<const N: usize>(expected: [(&str, &str); N]) -> BTreeMap<String, String> {
    let owned = expected.map(|(class, n)| (class.to_owned(), n.to_owned()));
    BTreeMap::from(owned)
}

#[tokio::test]
async fn one_lead_twice_is_replaced_and_counted_once() {
    let bench = Bench::with_instance();
    let operator = bench.operator().await;
    let lines = [lead(1, 7, "a"), lead(2, 7, "a"), lead(1, 8, "b"), lead(1, 8, "b")];
    let outcomes = operator.import::<Leads>(&lines, false).await.unwrap();
    assert_eq!(outcomes, [WRITTEN, WRITTEN, WRITTEN, Outcome::Unchanged]);
    assert_eq!(totals(&bench), counts([("7", "1"), ("8", "1")]));
}

#[tokio::test]
async fn concurrent_imports_leave_exact_totals() {
    let bench = Bench::with_instance();
    let (one, two) = (bench.operator().await, bench.operator().await);
    let lines = |owner: u64| (1..=60).map(|id| lead(id, owner, "a")).collect::<Vec<_>>();
    let (ours, theirs): (Vec<_>, Vec<_>) = (lines(7), lines(8));
    let (one, two) = tokio::join!(
        one.import::<Leads>(&ours, false),
        two.import::<Leads>(&theirs, false)
    );
    assert_eq!((one.unwrap().len(), two.unwrap().len()), (60, 60));
    let totals = totals(&bench);
    let counted: u64 = totals.values().map(|n| n.parse::<u64>().unwrap()).sum();
    assert_eq!(counted, 60, "{totals:?}");
    let owned: usize = [7, 8]
        .map(|owner| bench.partition(&format!("acme#leads#0#{owner}")).len())
        .iter()
        .sum();
    assert_eq!(owned, 60);
}

#[tokio::test]
async fn concurrently_imported_users_are_all_stored() {
    let bench = Bench::with_instance();
    let (one, two) = (bench.operator().await, bench.operator().await);
    let users = |first: u64| {
        let user =
            |id: u64| serde_json::from_value::<User>(json!({ "id": id, "name": format!("U{id}") })).unwrap();
        (first..first + 100).map(user).collect::<Vec<_>>()
    };
    let (ours, theirs) = (users(1), users(101));
    let (ours, theirs) = tokio::join!(
        one.import::<Users>(&ours, false),
        two.import::<Users>(&theirs, false)
    );
    assert!(
        ours.unwrap()
            .into_iter()
            .chain(theirs.unwrap())
            .all(|outcome| outcome == WRITTEN)
    );
    assert_eq!(one.user_ids().await.unwrap().len(), 200);
    assert_eq!(bench.partition("acme#user").len(), 200);
    assert_sound(&bench);
}

/// C-2: no credential keeps its user's former membership, whichever of issue and deactivation comes first.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_issued_during_a_deactivation_are_void() {
    let bruno = json!({ "id": 8, "name": "Bruno", "active": false });
    let bruno = serde_json::from_value::<User>(bruno).unwrap();
    let user = UserId::new(8).unwrap();

    let bench = Bench::with_instance();
    bench.import(USERS).done();
    let deactivated = vec![bruno.clone()];
    let (direct, handle) = (bench.operator().await, tokio::runtime::Handle::current());
    let late = bench
        .operator_late(move |_| {
            let outcomes = handle.block_on(direct.import::<Users>(&deactivated, false));
            assert_eq!(outcomes.unwrap(), [WRITTEN]);
        })
        .await;
    let issued = tokio::task::spawn(async move { late.issue(CredentialKind::Key, user, None, None).await });
    assert!(matches!(
        issued.await.unwrap(),
        Err(OperatorError::InactiveUser(..))
    ));

    let bench = Bench::with_instance();
    bench.import(USERS).done();
    let late = bench
        .operator_late(|endpoint| {
            let issue = "key issue --instance acme --user 8";
            assert!(command(endpoint, issue).status().unwrap().success());
        })
        .await;
    let outcomes = late.import::<Users>(&[bruno], false).await;
    assert_eq!(outcomes.unwrap(), [WRITTEN]);
    let carried: Vec<_> = bench.items();
    let carried = carried.iter().filter_map(|item| item.get("standing"));
    let inactive = json!({ "L": [{ "N": "0" }, { "N": "0" }, { "N": "2" }] });
    assert_eq!(carried.collect::<Vec<_>>(), [&inactive]);
    assert_sound(&bench);
}

/// C-9: the concurrent revocation stays, and the error gives the reason.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_that_is_revoked_concurrently_gets_no_limit() {
    let bench = Bench::with_instance();
    bench.import(USERS).done();
    let user = UserId::new(8).unwrap();
    let operator = bench.operator().await;
    let issued = operator.issue(CredentialKind::Key, user, None, None).await;
    let id = issued.unwrap().entry.id;
    let revoke = format!("key revoke --instance acme {id}");
    let late = bench
        .operator_late(move |endpoint| {
            assert!(command(endpoint, &revoke).status().unwrap().success());
        })
        .await;
    let limited = late.limit_key(&id, None).await;
    assert!(
        matches!(limited, Err(OperatorError::RevokedAlready { .. })),
        "{limited:?}"
    );
    assert_sound(&bench);
}

#[tokio::test]
async fn one_call_twice_has_one_event() {
    let bench = Bench::with_instance();
    let operator = bench.operator().await;
    let leads = [lead(1, 7, "a"), lead(2, 7, "a")];
    operator.import::<Leads>(&leads, false).await.unwrap();
    let lines = [call(5, Some(1), 1).into(), call(5, Some(2), 2).into()];
    let outcomes = operator.import::<Calls>(&lines, false).await.unwrap();
    assert_eq!(outcomes, [WRITTEN, WRITTEN]);
    assert_eq!(bench.partition("acme#timeline#1").len(), 0);
    assert_eq!(bench.partition("acme#timeline#2").len(), 1);

    let event = |id: u64| call(5, Some(2), 2).event(EventId::new(id).unwrap()).unwrap();
    assert_eq!(event(20).name, EventName::CallOutgoing);
    let outcomes = operator
        .import::<Events>(&[event(20).into(), event(21).into()], false)
        .await
        .unwrap();
    assert_eq!(outcomes, [WRITTEN, WRITTEN]);
    let timeline = bench.partition("acme#timeline#2");
    assert_eq!((timeline.len(), &timeline[0]["id"]["N"]), (1, &json!("21")));
}

#[tokio::test]
async fn calls_of_deleted_leads_are_rejected() {
    let bench = Bench::with_instance();
    let operator = bench.operator().await;
    operator.import::<Leads>(&[lead(1, 7, "a")], false).await.unwrap();
    let lines = [
        call(5, Some(1), 1).into(),
        call(6, Some(9), 1).into(),
        call(7, None, 1).into(),
    ];
    let outcomes = operator.import::<Calls>(&lines, false).await.unwrap();
    let gone = Outcome::Refused("lead: lead 9 does not exist".to_owned());
    assert_eq!(outcomes, [WRITTEN, gone, WRITTEN]);
    let written =
        ["acme#call#1", "acme#call#2", "acme#call#3"].map(|partition| bench.partition(partition).len());
    assert_eq!(written, [1, 0, 1]);
}

/// A calendar with these names.
fn calendar(id: u64, name: &str, public: &str) -> Dated<Calendar> {
    let calendar = json!({
        "id": id, "name": "Agenda", "keyName": name, "publicId": public, "userId": 7, "timezone": "UTC",
        "durationMinutes": 30, "hours": {}, "createDate": time(), "updateDate": time(),
    });
    serde_json::from_value::<Calendar>(calendar).unwrap().into()
}

/// A meeting of lead 1 on calendar 1 that begins at this hour.
fn meeting(id: u64, hour: u64) -> Dated<Meeting> {
    let meeting = json!({
        "id": id, "calendarId": 1, "leadId": 1, "createDate": time(), "updateDate": time(),
        "date": format!("2027-03-01T{hour:02}:00:00Z"), "endDate": format!("2027-03-01T{hour:02}:30:00Z"),
    });
    serde_json::from_value::<Meeting>(meeting).unwrap().into()
}

/// After two concurrent imports of the same names each calendar has its own names or does not exist.
#[tokio::test]
async fn concurrently_requested_names_have_one_calendar() {
    let bench = Bench::with_instance();
    let (one, two) = (bench.operator().await, bench.operator().await);
    let lines = |from: u64| {
        let lines = (1..=60).map(|n| calendar(from + n, &format!("k{n}"), &format!("p{}", from + n)));
        lines.collect::<Vec<_>>()
    };
    let (ours, theirs) = (lines(0), lines(100));
    let (ours, theirs) = tokio::join!(
        one.import::<Calendars>(&ours, false),
        two.import::<Calendars>(&theirs, false)
    );
    for (at, (our, their)) in ours.unwrap().into_iter().zip(theirs.unwrap()).enumerate() {
        let taken = |by| Outcome::Refused(format!("keyName: calendar {by} has it already"));
        let first = (our.clone(), their.clone()) == (WRITTEN, taken(at + 1));
        let second = (our.clone(), their.clone()) == (taken(at + 101), WRITTEN);
        assert!(first || second, "{at}: {our:?} {their:?}");
    }
    assert_eq!(bench.partition("acme#calendar").len(), 60);
    assert_sound(&bench);
}

/// The write checks the names, not only the read.
#[tokio::test]
async fn concurrently_taken_names_are_rejected() {
    for (link, field) in [("link#k", "keyName"), ("public#p", "publicId")] {
        let bench = Bench::with_instance();
        let item = json!({
            "pk": { "S": format!("acme#calendar-{link}") }, "sk": { "S": "calendar" }, "id": { "S": "9" },
        });
        let request = json!({ "TableName": "funil", "Item": item });
        let operator = bench.operator_overtaken("PutItem", request).await;
        let outcomes = operator
            .import::<Calendars>(&[calendar(1, "k", "p")], false)
            .await
            .unwrap();
        let taken = Outcome::Refused(format!("{field}: calendar 9 has it already"));
        assert_eq!(outcomes, [taken]);
        assert_eq!(bench.partition("acme#calendar").len(), 0);
    }
}

/// C-24: the transaction that links a lead checks that it exists.
#[tokio::test]
async fn meetings_of_concurrently_deleted_leads_are_rejected() {
    let bench = Bench::with_instance();
    let operator = bench.operator().await;
    operator.import::<Leads>(&[lead(1, 7, "a")], false).await.unwrap();
    operator
        .import::<Calendars>(&[calendar(1, "k", "p")], false)
        .await
        .unwrap();
    let key = json!({ "pk": { "S": "acme#lead" }, "sk": { "S": "000000000000001" } });
    let request = json!({ "TableName": "funil", "Key": key });
    let overtaken = bench.operator_overtaken("DeleteItem", request).await;
    let outcomes = overtaken.import::<Meetings>(&[meeting(5, 12)], false).await;
    let gone = Outcome::Refused("leadId: lead 1 does not exist".to_owned());
    assert_eq!(outcomes.unwrap(), [gone]);
    for pk in [
        "acme#meeting",
        "acme#meetings#1",
        "acme#agenda#1",
        "acme#user-agenda#7",
        "acme#lead-meeting#1",
    ] {
        assert_eq!(bench.partition(pk).len(), 0, "{pk}");
    }
}

#[tokio::test]
async fn concurrently_imported_meetings_are_counted_exactly() {
    let bench = Bench::with_instance();
    let (one, two) = (bench.operator().await, bench.operator().await);
    one.import::<Leads>(&[lead(1, 7, "a")], false).await.unwrap();
    one.import::<Calendars>(&[calendar(1, "k", "p")], false)
        .await
        .unwrap();
    let lines = |hour: u64| (1..=40).map(|id| meeting(id, hour)).collect::<Vec<_>>();
    let (ours, theirs): (Vec<_>, Vec<_>) = (lines(12), lines(13));
    let (ours, theirs) = tokio::join!(
        one.import::<Meetings>(&ours, false),
        two.import::<Meetings>(&theirs, false)
    );
    assert_eq!((ours.unwrap().len(), theirs.unwrap().len()), (40, 40));
    assert_eq!(bench.partition("acme#meetings#1").len(), 40);
    let again = [meeting(1, 8), meeting(2, 9), meeting(1, 10), meeting(1, 10)];
    let outcomes = one.import::<Meetings>(&again, false).await.unwrap();
    assert_eq!(outcomes, [WRITTEN, WRITTEN, WRITTEN, Outcome::Unchanged]);
    assert_sound(&bench);
}
