//! Import and export of calendars (C-81), each with two unique names.

use serde_json::{Value, json};

use crate::import::{bench, records, refused};
use crate::support::Bench;

/// A calendar of user 7 with this `keyName` and `publicId`.
pub fn calendar(id: u64, key: &str, public: &str) -> String {
    format!(
        r#"{{"kind":"calendar","id":{id},"name":"Agenda {id}","keyName":"{key}","publicId":"{public}","userId":7,"timezone":"UTC","durationMinutes":30,"hours":{{"mon":[["09:00","12:00"]]}},"createDate":"2026-01-01T00:00:00.000Z"}}"#
    ) + "\n"
}

/// The links to calendars: each name with the calendar's id.
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

/// Requires the outcome of an import: the numbers of imported and of unchanged lines, and the reasons of rejected ones.
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
fn a_line_replaces_the_calendar_and_its_links() {
    let bench = bench();
    bench.import(&calendar(5, "a", "pub_a")).done();
    assert_links(&bench, [("link#a", 5), ("public#pub_a", 5)]);
    let changed = calendar(5, "b", "pub_a").replace("Agenda", "Plantão");
    assert_became(&bench, std::slice::from_ref(&changed), 1, 0, &[]);
    assert_links(&bench, [("link#b", 5), ("public#pub_a", 5)]);
    assert_became(&bench, std::slice::from_ref(&changed), 0, 1, &[]);
    assert_eq!(records(&bench.export(), "calendar")[0]["name"], "Plantão 5");
    // A change of other fields is visible through the link.
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
fn names_of_other_calendars_are_rejected() {
    let bench = bench();
    bench.import(&calendar(6, "a", "pub_a")).done();
    let taken = [
        "line 1: keyName: calendar 6 has it already",
        "line 2: publicId: calendar 6 has it already",
    ];
    let lines = [
        calendar(7, "a", "pub_b"),
        calendar(8, "b", "pub_a"),
        // Key names and public ids do not conflict.
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
    // `--overwrite` does not take another calendar's name either.
    let overwriting = bench.import_overwriting(&lines.concat()).document();
    assert_eq!(refused(&overwriting), taken);
}

/// The first line gets the name.
#[test]
fn one_of_two_lines_gets_a_name() {
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

/// The order of lines does not matter (C-81), whatever the number of dependencies.
#[test]
fn names_freed_by_the_same_import_can_be_used() {
    let bench = bench();
    let all: Vec<_> = (1..=250)
        .map(|id| calendar(id, &format!("k{id}"), &format!("p{id}")))
        .collect();
    assert_became(&bench, &all, 250, 0, &[]);
    // Each calendar takes the names of the calendar in the next line; then in reverse.
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
    // The calendars are in different batches.
    let mut far = all.clone();
    far[0] = calendar(1, "k250", "p250");
    far[249] = calendar(250, "last", "last");
    assert_became(&bench, &far, 2, 248, &[]);
    let link = bench.item("acme#calendar-link#k250", "calendar").unwrap();
    assert_eq!(link["id"]["S"], "1");
    assert!(bench.item("acme#calendar-link#k1", "calendar").is_none());
}

/// An invalid line frees no name, and a rejected calendar keeps its names.
#[test]
fn rejected_lines_free_no_name() {
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
fn cyclic_changes_of_names_need_an_unused_one() {
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
        // Calendar 4 waits for a name of the circle, but is not part of the circle.
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

#[test]
fn names_of_rejected_calendars_are_not_swapped() {
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

/// CL006: a published calendar of an inactive or missing user cannot be booked. That is a warning, no refusal and no
/// difference.
#[test]
fn calendars_of_inactive_users_are_warned_of() {
    let bench = bench();
    let published = |id: u64, user: u64| {
        let line = calendar(id, &format!("k{id}"), &format!("p{id}"));
        let line = line.replace(r#""userId":7"#, &format!(r#""isPublished":true,"userId":{user}"#));
        bench.import(&line).done().document()["warnings"].clone()
    };
    let warning =
        |id: u64, user: u64| format!("calendar {id} cannot be booked, because user {user} is not active");
    assert_eq!(published(5, 8), Value::Null);
    let gone = r#"{"kind":"user","id":8,"name":"Rui","active":false}"#;
    let imported = bench.import(&format!("{gone}\n")).done().document();
    assert_eq!(imported["warnings"], json!([warning(5, 8)]));
    // One that is not published needs no warning.
    bench
        .import(&calendar(6, "k6", "p6").replace(r#""userId":7"#, r#""userId":8"#))
        .done();
    bench.delete("acme#user", "000000000000007");
    let expected = json!([warning(5, 8), warning(9, 7)]);
    assert_eq!(published(9, 8), json!([warning(5, 8), warning(9, 8)]));
    bench.edit_json("acme#calendar", "000000000000009", "calendar", |line| {
        line["userId"] = json!(7);
    });
    let seen = bench.funil("doctor --instance acme --json").document();
    assert_eq!(seen["warnings"], expected);
    let told = bench.funil("doctor --instance acme");
    assert!(
        told.out.contains(&format!("warning: {}\n", warning(9, 7))),
        "{}",
        told.out
    );
}
