use super::*;
use crate::call::Call;
use crate::lead::Lead;
use crate::meeting::Meeting;
use crate::ticket::Ticket;

fn call(changes: &Value) -> Call {
    let mut line = json!({
        "id": 1, "user": 8, "type": "INCOMING", "status": "COMPLETE", "duration": 65, "record": true, "service": "acme",
        "createDate": "2026-06-01T10:00:00.000Z",
    });
    change(&mut line, changes);
    serde_json::from_value(line).unwrap()
}

fn ticket(changes: &Value) -> Ticket {
    let mut line = json!({
        "id": 1, "createDate": "2026-05-01T10:00:00.000Z", "updateDate": "2026-05-01T10:00:00.000Z",
    });
    change(&mut line, changes);
    serde_json::from_value(line).unwrap()
}

fn meeting(changes: &Value) -> Meeting {
    let mut line = json!({
        "id": 1, "calendarId": 5, "date": "2027-03-01T12:00:00.000Z", "endDate": "2027-03-01T12:30:00.999Z",
        "createDate": "2026-05-01T10:00:00.000Z", "updateDate": "2026-05-01T10:00:00.000Z",
    });
    change(&mut line, changes);
    serde_json::from_value(line).unwrap()
}

fn change(line: &mut Value, changes: &Value) {
    for (name, value) in changes.as_object().unwrap() {
        line[name] = value.clone();
    }
}

/// Day, group and amount of a record in a report.
fn fact(fields: &Value, record: Record<'_>) -> Option<(String, String, u64)> {
    let fact = question(fields).fact(record, Zone::UTC)?;
    Some((fact.day.to_string(), fact.group, fact.amount))
}

fn group(entity: &str, aspect: &str, record: Record<'_>) -> String {
    let fields = json!({ "entity": entity, "measure": "count", "groupBy": aspect });
    fact(&fields, record).unwrap().1
}

#[test]
fn every_entity_is_grouped_by_each_aspect() {
    let bare = Lead::new(LeadId::new(1).unwrap(), at("2026-05-01T10:00:00Z"));
    let mut owned = bare.clone();
    owned.owner = UserId::new(8);
    owned.acquisition_channel = Some("VoIP".to_owned());
    let mut sold = opportunity(31, Status::Gain, 100, "2026-05-01T10:00:00Z");
    sold.sale_channel = Some("Site".to_owned());
    let attended = ticket(&json!({ "status": 5, "attendant": 8, "type": "chatapp" }));
    let closed = ticket(&json!({ "status": "closed" }));
    let moved = meeting(&json!({ "status": "rescheduled", "userId": 9 }));
    let call = call(&json!({}));
    for (entity, record, aspects) in [
        ("leads", Record::Lead(&bare), "day= user= channel="),
        ("leads", Record::Lead(&owned), "week= user=8 channel=VoIP"),
        (
            "opportunities",
            Record::Opportunity(&sold),
            "status=gain column=3/31 funnel=3 user=7 channel=Site",
        ),
        (
            "tickets",
            Record::Ticket(&attended),
            "status=5 user=8 channel=chatapp month=",
        ),
        ("tickets", Record::Ticket(&closed), "status=closed"),
        ("meetings", Record::Meeting(&moved), "status=rescheduled user=9"),
        (
            "calls",
            Record::Call(&call),
            "status=COMPLETE user=8 service=acme type=INCOMING",
        ),
    ] {
        for (aspect, text) in aspects.split(' ').filter_map(|pair| pair.split_once('=')) {
            assert_eq!(group(entity, aspect, record), text, "{entity} {aspect}");
        }
    }
}

fn amount(entity: &str, record: Record<'_>) -> Option<u64> {
    let fields = json!({ "entity": entity, "measure": "sum", "groupBy": "day" });
    fact(&fields, record).map(|(_, _, amount)| amount)
}

#[test]
fn every_entity_has_its_amount() {
    let sold = opportunity(31, Status::Open, 12_345, "2026-05-01T10:00:00Z");
    assert_eq!(amount("opportunities", Record::Opportunity(&sold)), Some(12_345));
    assert_eq!(amount("calls", Record::Call(&call(&json!({})))), Some(65));
    assert_eq!(
        amount("meetings", Record::Meeting(&meeting(&json!({})))),
        Some(1800)
    );
    // A ticket that is not closed has no duration, nor does one that ends before it begins.
    for (start, end, seconds) in [
        (
            json!("2026-05-01T10:00:00.000Z"),
            json!("2026-05-01T11:00:00.500Z"),
            Some(3600),
        ),
        (json!("2026-05-01T10:00:00.000Z"), json!(null), None),
        (json!(null), json!("2026-05-01T10:00:00.000Z"), None),
        (
            json!("2026-05-01T10:00:00.000Z"),
            json!("2026-05-01T09:59:59.000Z"),
            None,
        ),
    ] {
        let attended = ticket(&json!({ "startDate": start, "endDate": end }));
        assert_eq!(amount("tickets", Record::Ticket(&attended)), seconds);
        let counted = json!({ "entity": "tickets", "measure": "count", "groupBy": "day" });
        assert_eq!(
            fact(&counted, Record::Ticket(&attended)).map(|fact| fact.2),
            Some(0)
        );
    }
    let other = json!({ "entity": "leads", "measure": "count", "groupBy": "day" });
    assert_eq!(fact(&other, Record::Call(&call(&json!({})))), None);
}

/// C-61: archived records do not count. C-24: records of deleted leads do.
#[test]
fn archived_records_do_not_count() {
    let count = |entity: &str| json!({ "entity": entity, "measure": "count", "groupBy": "day" });
    let mut lead = Lead::new(LeadId::new(1).unwrap(), at("2026-05-01T10:00:00Z"));
    assert!(fact(&count("leads"), Record::Lead(&lead)).is_some());
    lead.archived = true;
    assert_eq!(fact(&count("leads"), Record::Lead(&lead)), None);
    let mut sold = opportunity(31, Status::Open, 1, "2026-05-01T10:00:00Z");
    sold.lead_id = None;
    assert!(fact(&count("opportunities"), Record::Opportunity(&sold)).is_some());
    sold.archived = true;
    assert_eq!(fact(&count("opportunities"), Record::Opportunity(&sold)), None);
    for (archive, counts) in [
        (json!(null), true),
        (json!(0), true),
        (json!(false), true),
        (json!("0"), true),
        (json!(""), true),
        (json!(1), false),
        (json!(true), false),
        (json!("1"), false),
    ] {
        let attended = ticket(&json!({ "archive": archive }));
        assert_eq!(
            fact(&count("tickets"), Record::Ticket(&attended)).is_some(),
            counts,
            "{archive}"
        );
    }
}

/// C-61: won and lost opportunities count on the day of that change, but only if the report selects no
/// others.
#[test]
fn closed_opportunities_count_on_their_closing_day() {
    let mut won = opportunity(31, Status::Gain, 1, "2026-05-01T10:00:00Z");
    won.gain_date = Some(at("2026-06-02T00:00:00Z"));
    let mut lost = opportunity(31, Status::Lost, 1, "2026-05-01T10:00:00Z");
    lost.lost_date = Some(at("2026-07-03T00:00:00Z"));
    let on = |filter: Value, opportunity: &Opportunity| {
        let filters = json!({ "status": filter });
        let fields =
            json!({ "entity": "opportunities", "measure": "count", "groupBy": "day", "filters": filters });
        fact(&fields, Record::Opportunity(opportunity)).map(|(day, ..)| day)
    };
    let some = |text: &str| Some(text.to_owned());
    for (filter, day_won, day_lost) in [
        (json!(null), some("2026-05-01"), some("2026-05-01")),
        (json!("open"), None, None),
        (json!("gain"), some("2026-06-02"), None),
        (json!("lost"), None, some("2026-07-03")),
        (json!(["gain", "lost"]), some("2026-06-02"), some("2026-07-03")),
        (json!(["open", "gain"]), some("2026-05-01"), None),
    ] {
        assert_eq!(
            (on(filter.clone(), &won), on(filter.clone(), &lost)),
            (day_won, day_lost),
            "{filter}"
        );
    }
    won.gain_date = None;
    assert_eq!(on(json!("gain"), &won), None);
    let by_column = json!({ "entity": "opportunities", "measure": "count", "groupBy": "column", "filters": { "funnel": 3, "column": [31, 32] } });
    assert!(fact(&by_column, Record::Opportunity(&lost)).is_some());
    lost.crm_column = ColumnId::new(33).unwrap();
    assert_eq!(fact(&by_column, Record::Opportunity(&lost)), None);
}

/// C-8, including days on which the clock changes.
#[test]
fn days_are_those_of_the_zone() {
    let by_day = question(&json!({ "entity": "calls", "measure": "count", "groupBy": "day" }));
    for (name, time, expected) in [
        ("America/Sao_Paulo", "2026-11-21T02:59:59.999Z", "2026-11-20"),
        ("America/Sao_Paulo", "2026-11-21T03:00:00.000Z", "2026-11-21"),
        // Days of 23 and 25 hours.
        ("America/New_York", "2026-03-08T04:59:59.999Z", "2026-03-07"),
        ("America/New_York", "2026-03-08T05:00:00.000Z", "2026-03-08"),
        ("America/New_York", "2026-03-09T03:59:59.999Z", "2026-03-08"),
        ("America/New_York", "2026-03-09T04:00:00.000Z", "2026-03-09"),
        ("America/New_York", "2026-11-02T04:59:59.999Z", "2026-11-01"),
        ("America/New_York", "2026-11-02T05:00:00.000Z", "2026-11-02"),
        // Midnight is skipped.
        ("America/Sao_Paulo", "2018-11-04T02:59:59.999Z", "2018-11-03"),
        ("America/Sao_Paulo", "2018-11-04T03:00:00.000Z", "2018-11-04"),
        ("Pacific/Kiritimati", "2026-12-31T10:00:00.000Z", "2027-01-01"),
    ] {
        let call = call(&json!({ "createDate": time }));
        let fact = by_day.fact(Record::Call(&call), zone(name)).unwrap();
        assert_eq!(fact.day.to_string(), expected, "{time} in {name}");
    }
}
