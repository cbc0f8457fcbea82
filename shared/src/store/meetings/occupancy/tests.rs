//! Decoding, busy times, and the required days.

use serde_json::{Value, json};

use super::super::agenda;
use super::*;
use crate::ids::UserId;
use crate::instance::InstanceName;
use table::item::n;

/// Calendar 5 of user 7, open always, for meetings of 30 minutes with a buffer of 10, with changes.
fn calendar(changes: &Value) -> Calendar {
    let mut line = json!({
        "id": 5, "name": "Demo", "keyName": "demo", "publicId": "pub_5", "isPublished": true, "userId": 7,
        "timezone": "UTC", "durationMinutes": 30, "bufferMinutes": 10, "hours": {},
        "createDate": "2026-01-05T12:00:00.000Z", "updateDate": "2026-01-05T12:00:00.000Z",
    });
    for (name, value) in changes.as_object().unwrap() {
        line[name] = value.clone();
    }
    serde_json::from_value(line).unwrap()
}

fn acme() -> InstanceName {
    InstanceName::parse("acme").unwrap()
}

fn id(id: u64) -> CalendarId {
    CalendarId::new(id).unwrap()
}

fn time(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

fn item(numbers: &[(&str, u64)]) -> Item {
    let numbers = numbers.iter();
    numbers
        .map(|(name, number)| ((*name).to_owned(), n(number)))
        .collect()
}

/// An agenda with these days, by their sort keys.
fn agenda(of: AgendaOf, days: &[(&str, &[(&str, u64)])]) -> Agenda {
    let acme = acme();
    let keys = Keys::of(&acme);
    let mut agenda = Agenda::of(of);
    for (day, numbers) in days {
        let key = Key::new(keys.agenda(of), *day);
        agenda.renew(keys, &key, &item(numbers)).unwrap();
    }
    agenda
}

/// The buffers of calendars that share time, by the total that calendars add to.
fn buffers(calendars: &[Calendar]) -> BTreeMap<CalendarId, Buffer> {
    let numbers = calendars.iter().filter_map(shared_buffer);
    shared_buffers(&numbers.map(|(name, number)| (name, n(number))).collect()).unwrap()
}

fn occupancy(
    own: &[(&str, &[(&str, u64)])],
    of_user: &[(&str, &[(&str, u64)])],
    others: &[Calendar],
) -> Occupancy {
    Occupancy {
        own: agenda(AgendaOf::Calendar(id(5)), own),
        of_user: Some(UserTimes {
            agenda: agenda(AgendaOf::User(UserId::new(7).unwrap()), of_user),
            buffers: buffers(others),
        }),
        is_user_active: true,
    }
}

const MINUTE: i64 = 60_000;

/// Busy times have the calendar's buffer, and exclude a meeting's own time unless another meeting shares it.
#[test]
fn times_of_the_own_calendar() {
    let calendar = calendar(&json!({}));
    let taken = |start, end: i64| Busy::of_millis(start, end + 10 * MINUTE);
    let (alone, shared) = (Busy::of_millis(10, 20), Busy::of_millis(20, 30));
    let days: [(&str, &[_]); 2] = [
        (
            "1970-01-01",
            &[("v", 7), ("n.10_20_5", 1), ("n.20_30_5", 2), ("n.30_40_5", 0)],
        ),
        ("1970-01-02", &[("v", 1), ("n.-5_90000000_5", 1)]),
    ];
    let occupancy = occupancy(&days, &[], &[]);
    let long = taken(-5, 90_000_000);
    let times = |except| occupancy.busy_times(&calendar, except);
    assert_eq!(times(None), [taken(10, 20), taken(20, 30), long]);
    assert_eq!(times(Some(alone)), [taken(20, 30), long]);
    assert_eq!(times(Some(shared)), [taken(10, 20), taken(20, 30), long]);
}

/// C-52: meetings of other calendars that share time, each with the present buffer of its own; those of the own calendar
/// are in its own agenda.
#[test]
fn times_of_the_user() {
    let own = calendar(&json!({}));
    let others = [
        calendar(&json!({ "id": 6, "bufferMinutes": 0 })),
        calendar(&json!({ "id": 7, "bufferMinutes": 1440 })),
        calendar(&json!({ "id": 8, "sharesTime": false })),
        own.clone(),
    ];
    let of_user: [(&str, &[_]); 1] = [(
        "1970-01-01",
        &[
            ("n.1_2_5", 1),
            ("n.1_3_6", 1),
            ("n.1_4_7", 2),
            ("n.1_5_8", 1),
            ("n.1_6_6", 0),
        ],
    )];
    let times = occupancy(&[], &of_user, &others).busy_times(&own, Some(Busy::of_millis(1, 3)));
    assert_eq!(
        times,
        [Busy::of_millis(1, 3), Busy::of_millis(1, 4 + 1440 * MINUTE)]
    );
}

/// The agenda reads the names that meetings write, and no others.
#[test]
fn a_stretch_of_time_is_read_under_its_name() {
    let of = AgendaOf::Calendar(id(5));
    for (from, to) in [
        ("2027-03-01T12:00:00.001Z", "2027-03-01T12:30:00Z"),
        ("1969-12-31T12:00:00Z", "1969-12-31T23:59:59.999Z"),
    ] {
        let busy = Busy::new(time(from), time(to));
        let name = agenda::name(id(9), busy);
        let read: Vec<_> = agenda(of, &[("1970-01-01", &[(&name, 3)])]).times().collect();
        assert_eq!(read, [(id(9), busy, 3)]);
    }
    let acme = acme();
    let keys = Keys::of(&acme);
    for name in [
        "n.10",
        "n.1_2",
        "n.a_b_5",
        "n.1_2_x",
        "n.1_2_0",
        "n.1_2_5_6",
        "n.",
    ] {
        let key = Key::new(keys.agenda(of), "1970-01-01");
        assert!(
            Agenda::of(of).renew(keys, &key, &item(&[(name, 1)])).is_err(),
            "{name}"
        );
    }
    for name in ["n.x", "n.0"] {
        assert!(shared_buffers(&item(&[(name, 1)])).is_err(), "{name}");
    }
    assert!(shared_buffers(&item(&[("n.5", 1442)])).is_err());
}

/// A booking requires the version of every day on which a meeting can take its time, including days without meetings:
/// within the own buffer on its calendar, and within the longest shared one in the agenda of its user.
#[test]
fn days_are_required_to_be_as_they_were_read() {
    let (acme, own) = (acme(), calendar(&json!({})));
    let keys = Keys::of(&acme);
    let days = |others: &[Calendar], date| {
        let occupancy = occupancy(&[("2027-03-01", &[("v", 7)])], &[], others);
        let mut transaction = Transaction::default();
        occupancy.require(&mut transaction, keys, &own, time(date));
        let days: Vec<_> = transaction.writes().map(|(key, ..)| key.to_string()).collect();
        days.join(", ")
    };
    let mut other = calendar(&json!({ "id": 6 }));
    let noon = "acme#agenda#5 2027-03-01, acme#user-agenda#7 2027-03-01";
    assert_eq!(days(&[other.clone()], "2027-03-01T12:00:00Z"), noon);
    assert_eq!(
        days(&[other.clone()], "2027-03-01T23:20:00.001Z"),
        "acme#agenda#5 2027-03-01, acme#agenda#5 2027-03-02, acme#user-agenda#7 2027-03-01, acme#user-agenda#7 2027-03-02"
    );
    other = calendar(&json!({ "id": 6, "bufferMinutes": 721 }));
    assert_eq!(
        days(&[other], "2027-03-01T12:00:00Z"),
        "acme#agenda#5 2027-03-01, acme#user-agenda#7 2027-02-28, acme#user-agenda#7 2027-03-01"
    );
}
