//! Calendars as an import takes them and an export gives them (C-81): two names each, which no other calendar may have.

use serde_json::{Value, json};
use shared::ambient::Ambient;

use crate::import::{bench, records, refused};
use crate::support::{Bench, sample};

/// A calendar of user 7 with these names.
pub fn calendar(id: u64, key: &str, public: &str) -> String {
    format!(
        r#"{{"kind":"calendar","id":{id},"name":"Agenda {id}","keyName":"{key}","publicId":"{public}","userId":7,"timezone":"UTC","durationMinutes":30,"hours":{{"mon":[["09:00","12:00"]]}},"createDate":"2026-01-01T00:00:00.000Z"}}"#
    ) + "\n"
}

/// What leads to calendars: each name, and the id of its calendar.
fn links(bench: &Bench) -> Vec<(String, String)> {
    let text = |value: &Value| value["S"].as_str().unwrap().to_owned();
    let items = bench.items();
    let links = items.iter().filter_map(|item| {
        let pk = text(&item["pk"]);
        let name = pk.strip_prefix("acme#calendar-")?;
        Some((name.to_owned(), text(&item["id"])))
    });
    let mut links: Vec<_> = links.collect();
    links.sort();
    links
}

#[track_caller]
fn assert_links<const N: usize>(bench: &Bench, expected: [(&str, u64); N]) {
    let expected = expected.map(|(name, id)| (name.to_owned(), id.to_string()));
    assert_eq!(links(bench), expected);
    let seen = bench.funil("doctor --instance acme --json").done().document();
    assert_eq!(seen["differences"], json!([]));
}

/// What became of an import: how many were written, how many were there already, and who was refused.
#[track_caller]
fn assert_became(bench: &Bench, lines: &[String], imported: u64, unchanged: u64, refusals: &[&str]) {
    let document = bench.import(&lines.concat()).document();
    assert_eq!(refused(&document), refusals);
    assert_eq!(
        (&document["imported"], &document["unchanged"]),
        (&json!(imported), &json!(unchanged))
    );
}

#[test]
fn what_a_line_leaves_out_is_exported_as_its_default() {
    let bench = bench();
    bench.import(&calendar(5, "a", "pub_a")).done();
    assert_eq!(
        records(&bench.export(), "calendar"),
        [json!({
            "kind": "calendar", "id": 5, "name": "Agenda 5", "keyName": "a", "publicId": "pub_a", "isPublished": false,
            "userId": 7, "timezone": "UTC", "durationMinutes": 30, "bufferMinutes": 0, "minimumNoticeMinutes": 0,
            "hours": { "mon": [["09:00", "12:00"]], "tue": [], "wed": [], "thu": [], "fri": [], "sat": [], "sun": [] },
            "dates": {}, "horizon": { "type": "unlimited" },
            "createDate": "2026-01-01T00:00:00.000Z", "updateDate": "2026-01-01T00:00:00.000Z",
        })]
    );
    let numbers = bench.item("acme#counter", "calendar").unwrap();
    assert_eq!(numbers["calendar"]["N"], "5", "later ones are numbered above");
}

#[test]
fn bad_lines_are_told() {
    let bench = bench();
    let lines = [
        calendar(1, "a", "b").replace(r#""userId":7"#, r#""userId":99"#),
        calendar(2, "a b", "b"),
        calendar(3, "a", "b").replace("UTC", "Mars"),
        calendar(4, "a", "b").replace(r#""name""#, r#""color":"red","name""#),
        calendar(5, "a", "b").replace("12:00", "08:00"),
    ];
    assert_became(
        &bench,
        &lines,
        0,
        0,
        &[
            "line 1: userId: user 99 does not exist",
            "line 2: keyName: must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -",
            "line 3: timezone: must be an IANA time zone such as America/Sao_Paulo",
            "line 4: color: unknown field",
            "line 5: hours.mon[0]: must begin before it ends, unlike 09:00 to 08:00",
        ],
    );
    assert_links(&bench, []);
}

#[test]
fn the_samples_calendars_are_led_to_by_both_names() {
    let bench = Bench::with_instance();
    bench.import(&sample()).done();
    assert_links(
        &bench,
        [
            ("link#V1StGXR8_Z5jdHi6B-myT", 5),
            ("link#curto-prazo", 8),
            ("link#kq3Zr9XcB1mPvW8sLtY0u", 6),
            ("link#plantao-2027", 7),
            ("public#pub_5", 5),
            ("public#pub_6", 6),
            ("public#pub_7", 7),
            ("public#pub_8", 8),
        ],
    );
}

#[test]
fn a_line_replaces_the_calendar_of_its_id_and_what_leads_to_it() {
    let bench = bench();
    bench.import(&calendar(5, "a", "pub_a")).done();
    assert_links(&bench, [("link#a", 5), ("public#pub_a", 5)]);
    let changed = calendar(5, "b", "pub_a").replace("Agenda", "Plantão");
    assert_became(&bench, std::slice::from_ref(&changed), 1, 0, &[]);
    assert_links(&bench, [("link#b", 5), ("public#pub_a", 5)]);
    assert_became(&bench, std::slice::from_ref(&changed), 0, 1, &[]);
    assert_eq!(records(&bench.export(), "calendar")[0]["name"], "Plantão 5");
    // A change of neither name is seen by whoever comes by the link.
    let renamed = changed.replace("Plantão", "Visita");
    bench.import(&renamed).done();
    let link = bench.item("acme#calendar-link#b", "calendar").unwrap();
    assert!(
        link["calendar"]["S"].as_str().unwrap().contains("Visita 5"),
        "{link}"
    );
    bench.import(&calendar(5, "b", "pub_b")).done();
    assert_links(&bench, [("link#b", 5), ("public#pub_b", 5)]);
}

#[test]
fn times_that_a_line_leaves_out_stay() {
    let bench = bench();
    let timeless =
        |times: &str| calendar(5, "a", "b").replace(r#","createDate":"2026-01-01T00:00:00.000Z""#, times);
    let times = |bench: &Bench| {
        let record = &records(&bench.export(), "calendar")[0];
        [record["createDate"].clone(), record["updateDate"].clone()]
    };
    let before = Ambient::system().now().to_string();
    bench.import(&timeless("")).done();
    let [created, updated] = times(&bench);
    assert_eq!(created, updated);
    assert!(created.as_str().unwrap() >= before.as_str(), "{created} is now");
    assert_became(&bench, &[timeless("")], 0, 1, &[]);
    let told = r#","createDate":"2025-02-01T00:00:00.000Z","updateDate":"2025-03-01T00:00:00.000Z""#;
    bench.import(&timeless(told)).done();
    bench.import(&timeless("").replace("Agenda", "Visita")).done();
    assert_eq!(
        times(&bench),
        ["2025-02-01T00:00:00.000Z", "2025-03-01T00:00:00.000Z"]
    );
}

#[test]
fn a_name_that_another_calendar_has_is_refused() {
    let bench = bench();
    bench.import(&calendar(6, "a", "pub_a")).done();
    let taken = [
        "line 1: keyName: calendar 6 has it already",
        "line 2: publicId: calendar 6 has it already",
    ];
    let lines = [
        calendar(7, "a", "pub_b"),
        calendar(8, "b", "pub_a"),
        // A key name and a public id do not get in each other's way.
        calendar(9, "pub_a", "a"),
    ];
    assert_became(&bench, &lines, 1, 0, &taken);
    assert_links(
        &bench,
        [
            ("link#a", 6),
            ("link#pub_a", 9),
            ("public#a", 9),
            ("public#pub_a", 6),
        ],
    );
    // Not even --overwrite takes another calendar's name away.
    let overwriting = bench.import_overwriting(&lines.concat()).document();
    assert_eq!(refused(&overwriting), taken);
}

/// Of two lines that want one name the first gets it.
#[test]
fn two_lines_cannot_have_one_name() {
    let bench = bench();
    let lines = [
        calendar(7, "a", "b"),
        calendar(6, "a", "c"),
        calendar(5, "d", "b"),
    ];
    assert_became(
        &bench,
        &lines,
        1,
        0,
        &[
            "line 2: keyName: calendar 7 has it already",
            "line 3: publicId: calendar 7 has it already",
        ],
    );
    assert_links(&bench, [("link#a", 7), ("public#b", 7)]);
}

/// The order of the lines does not matter (C-81), however many wait for each other.
#[test]
fn a_name_that_becomes_free_in_the_same_import_can_be_had() {
    let bench = bench();
    let all: Vec<_> = (1..=250)
        .map(|id| calendar(id, &format!("k{id}"), &format!("p{id}")))
        .collect();
    assert_became(&bench, &all, 250, 0, &[]);
    // Each takes the names of the next one, which is a later line; and the other way round.
    let forward = [
        calendar(1, "k2", "p2"),
        calendar(2, "k3", "p3"),
        calendar(3, "x", "y"),
    ];
    assert_became(&bench, &forward, 3, 0, &[]);
    let mut back = [
        calendar(1, "k1", "p1"),
        calendar(2, "k2", "p2"),
        calendar(3, "k3", "p3"),
    ];
    back.reverse();
    assert_became(&bench, &back, 3, 0, &[]);
    // Beyond the lines that are otherwise written together.
    let mut far = all.clone();
    far[0] = calendar(1, "k250", "p250");
    far[249] = calendar(250, "last", "last");
    assert_became(&bench, &far, 2, 248, &[]);
    let link = bench.item("acme#calendar-link#k250", "calendar").unwrap();
    assert_eq!(link["id"]["S"], "1");
    assert!(bench.item("acme#calendar-link#k1", "calendar").is_none());
}

/// A bad line frees nothing, and one that is refused keeps what it has.
#[test]
fn a_name_is_free_only_where_its_calendar_gave_it_up() {
    let bench = bench();
    bench
        .import(
            &[
                calendar(1, "a", "b"),
                calendar(2, "c", "d"),
                calendar(3, "e", "f"),
            ]
            .concat(),
        )
        .done();
    let lines = [
        calendar(1, "c", "b"),
        calendar(2, "e", "d"),
        calendar(4, "a", "g"),
        calendar(3, "x y", "f"),
    ];
    assert_became(
        &bench,
        &lines,
        0,
        0,
        &[
            "line 1: keyName: calendar 2 has it already",
            "line 2: keyName: calendar 3 has it already",
            "line 3: keyName: calendar 1 has it already",
            "line 4: keyName: must be 1 to 64 characters of A-Z, a-z, 0-9, _ and -",
        ],
    );
}

#[test]
fn names_that_are_passed_round_need_another() {
    let bench = bench();
    let old = [
        calendar(1, "a", "b"),
        calendar(2, "c", "d"),
        calendar(3, "e", "f"),
    ];
    bench
        .import(&[old.concat(), calendar(4, "g", "h")].concat())
        .done();
    let third = "to swap names, import one of the calendars with a third name first";
    let round = [
        calendar(1, "c", "b"),
        calendar(2, "e", "d"),
        calendar(3, "a", "f"),
        // It waits for them, but none of them for it.
        calendar(4, "a", "h"),
        calendar(5, "i", "j"),
    ];
    let reasons = [
        &format!("line 1: keyName: calendar 2 has it already; {third}"),
        &format!("line 2: keyName: calendar 3 has it already; {third}"),
        &format!("line 3: keyName: calendar 1 has it already; {third}"),
        "line 4: keyName: calendar 1 has it already",
    ];
    assert_became(&bench, &round, 1, 0, &reasons);
    assert_became(&bench, &[calendar(1, "third", "b")], 1, 0, &[]);
    assert_became(&bench, &round[1..3], 2, 0, &[]);
    assert_became(&bench, &round[..1], 1, 0, &[]);
    let names = links(&bench);
    let names: Vec<_> = names.iter().map(|(name, id)| format!("{name} {id}")).collect();
    assert_eq!(
        names[..5],
        ["link#a 3", "link#c 1", "link#e 2", "link#g 4", "link#i 5"]
    );
}

/// Calendars that refuse each other and would give up nothing do not swap.
#[test]
fn names_that_are_kept_are_not_passed_round() {
    let bench = bench();
    bench
        .import(&[calendar(1, "a", "b"), calendar(2, "c", "d")].concat())
        .done();
    let reasons = [
        "line 1: keyName: calendar 2 has it already",
        "line 2: publicId: calendar 1 has it already",
    ];
    assert_became(
        &bench,
        &[calendar(1, "c", "b"), calendar(2, "c", "b")],
        0,
        0,
        &reasons,
    );
}
