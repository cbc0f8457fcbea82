//! Contents of records, derived items, and the days that are read back.

use serde_json::{Value, json};

use super::*;
use crate::instance::InstanceName;

/// A meeting of lead 7 on calendar 5, at noon of 1 March 2027, with the fields of `but` replaced.
fn meeting(but: &Value) -> Meeting {
    let mut line = json!({
        "id": 30, "calendarId": 5, "date": "2027-03-01T12:00:00Z", "endDate": "2027-03-01T12:30:00Z", "leadId": 7,
        "createDate": "2027-01-01T00:00:00Z", "updateDate": "2027-01-02T00:00:00Z",
    });
    for (name, value) in but.as_object().unwrap() {
        line[name] = value.clone();
    }
    serde_json::from_value(line).unwrap()
}

fn acme() -> InstanceName {
    InstanceName::parse("acme").unwrap()
}

/// The keys of derived items, and the keys of totals with their contributions.
type Keyed = (Vec<String>, Vec<(String, Vec<(String, i64)>)>);

fn stored(meeting: &Meeting) -> MeetingRecord {
    Stored::new(meeting.clone())
}

fn keyed(meeting: &Meeting) -> Keyed {
    let acme = acme();
    let derived = stored(meeting).derived(Keys::of(&acme)).unwrap();
    let totals = derived.totals.iter().map(|(key, share)| {
        assert_eq!(share.attributes, Item::new());
        (key.to_string(), share.numbers.clone().into_iter().collect())
    });
    (
        derived.items.keys().map(ToString::to_string).collect(),
        totals.collect(),
    )
}

fn once(key: &str, number: &str) -> (String, Vec<(String, i64)>) {
    (key.to_owned(), vec![(number.to_owned(), 1)])
}

#[test]
fn records_round_trip() {
    let free = r#"{"formData":{"z":null,"a":[1e21,-0.0,12345678901234567890],"":{}},"properties":{"b":{}}}"#;
    let full = json!({ "opportunityId": 9, "userId": 3, "status": "rescheduled", "moves": 4 });
    let mut full = meeting(&full);
    let free = meeting(&serde_json::from_str(free).unwrap());
    full.form_data.clone_from(&free.form_data);
    full.properties.clone_from(&free.properties);
    let erased = meeting(&json!({ "leadId": null, "formData": null, "status": "canceled" }));
    for (meeting, edited, nonce) in [(full, true, Some("n".to_owned())), (erased, false, None)] {
        let record = MeetingRecord {
            version: 3,
            edited,
            nonce,
            ..Stored::new(meeting)
        };
        let item = record.encode().unwrap();
        assert_eq!(MeetingRecord::decode(item).unwrap(), record);
    }
}

#[test]
fn a_record_is_its_text_and_what_writes_need_of_it() {
    let plain = MeetingRecord {
        version: 3,
        ..stored(&meeting(&json!({ "formData": { "b": 1, "a": 4.0 } })))
    };
    let text = r#"{"id":30,"calendarId":5,"date":"2027-03-01T12:00:00.000Z","endDate":"2027-03-01T12:30:00.000Z","leadId":7,"status":"scheduled","formData":{"b":1,"a":4.0},"createDate":"2027-01-01T00:00:00.000Z","updateDate":"2027-01-02T00:00:00.000Z"}"#;
    let expected = Item::from([
        ("id".to_owned(), n(30)),
        ("meeting".to_owned(), s(text)),
        ("v".to_owned(), n(3)),
    ]);
    assert_eq!(plain.encode().unwrap(), expected);
    for broken in [
        Item::new(),
        Item::from([("meeting".to_owned(), s("{}"))]),
        Item::from([("meeting".to_owned(), n(1))]),
    ] {
        assert!(MeetingRecord::decode(&broken).is_err(), "{broken:?}");
    }
}

#[test]
fn derived_items() {
    let acme = acme();
    let meeting = meeting(&json!({}));
    let stretch = once("acme#agenda#5 2027-03-01", "n.1803902400000_1803904200000_5");
    assert_eq!(
        keyed(&meeting),
        (
            vec![
                "acme#lead-meeting#7 000000000000030".to_owned(),
                "acme#meetings#5 2027-03-01T12:00:00.000Z#000000000000030".to_owned(),
            ],
            vec![stretch, once("acme#meeting-month#5 2027-03-01", "n.01")]
        )
    );
    let derived = stored(&meeting).derived(Keys::of(&acme)).unwrap();
    let items: Vec<_> = derived.items.values().collect();
    assert_eq!(items[0], &Item::new());
    assert_eq!(read(items[1]).unwrap(), meeting);
}

/// Start and end of a meeting, its busy days, the month of its start, and the number of the start's day.
const SPANS: [(&str, &str, &str, &str, &str); 5] = [
    (
        "2027-03-31T23:30:00Z",
        "2027-04-01T00:30:00Z",
        "2027-03-31 2027-04-01",
        "2027-03-01",
        "n.31",
    ),
    // The end is exclusive.
    (
        "2027-03-31T23:30:00Z",
        "2027-04-01T00:00:00Z",
        "2027-03-31",
        "2027-03-01",
        "n.31",
    ),
    // A meeting without length occupies the day of its start.
    (
        "2027-04-01T00:00:00Z",
        "2027-04-01T00:00:00Z",
        "2027-04-01",
        "2027-04-01",
        "n.01",
    ),
    (
        "2028-02-28T12:00:00-12:00",
        "2028-03-02T00:00:00.001Z",
        "2028-02-29 2028-03-01 2028-03-02",
        "2028-02-01",
        "n.29",
    ),
    (
        "9999-12-31T23:00:00Z",
        "9999-12-31T23:59:59.999Z",
        "9999-12-31",
        "9999-12-01",
        "n.31",
    ),
];

/// A meeting counts on each UTC day that it touches, and in the month of its start.
#[test]
fn every_day_of_a_meeting_counts_it() {
    let days = |from: &str, to: &str| {
        let (_, mut totals) = keyed(&meeting(&json!({ "date": from, "endDate": to })));
        let month = totals.pop().unwrap();
        let numbers: Vec<_> = totals.iter().map(|(_, numbers)| numbers.clone()).collect();
        assert!(numbers.windows(2).all(|pair| pair[0] == pair[1]), "{numbers:?}");
        let days: Vec<_> = totals
            .into_iter()
            .map(|(key, _)| key.replace("acme#agenda#5 ", ""))
            .collect();
        (days.join(" "), month)
    };
    for (from, to, taken, month, day) in SPANS {
        let begins = once(&format!("acme#meeting-month#5 {month}"), day);
        assert_eq!(days(from, to), (taken.to_owned(), begins), "{from} to {to}");
    }
}

#[test]
fn one_that_is_cancelled_or_has_no_lead() {
    let (listed, linked) = (
        "acme#meetings#5 2027-03-01T12:00:00.000Z#000000000000030".to_owned(),
        "acme#lead-meeting#7 000000000000030".to_owned(),
    );
    let stretch = once("acme#agenda#5 2027-03-01", "n.1803902400000_1803904200000_5");
    let begins = once("acme#meeting-month#5 2027-03-01", "n.01");
    assert_eq!(
        keyed(&meeting(&json!({ "status": "canceled" }))),
        (vec![linked, listed.clone()], vec![begins.clone()])
    );
    assert_eq!(
        keyed(&meeting(&json!({ "leadId": null, "status": "rescheduled" }))),
        (vec![listed], vec![stretch, begins])
    );
}

/// C-52: a meeting takes the time of its user, whatever its calendar.
#[test]
fn a_meeting_counts_in_the_agenda_of_its_user() {
    let of = |status: &str| keyed(&meeting(&json!({ "userId": 3, "status": status }))).1;
    let name = "n.1803902400000_1803904200000_5";
    let agendas = ["acme#agenda#5 2027-03-01", "acme#user-agenda#3 2027-03-01"].map(|key| once(key, name));
    let begins = once("acme#meeting-month#5 2027-03-01", "n.01");
    let [own, of_user] = agendas;
    assert_eq!(of("scheduled"), [own, begins.clone(), of_user]);
    assert_eq!(of("canceled"), [begins]);
}
