//! Import and export of tickets and files (C-81).

use serde_json::json;

use crate::import::{assert_sound, bench, lead, listed, records};
use crate::support::Bench;

const ID: &str = "000000000000501";

fn ticket(id: u64, rest: &str) -> String {
    format!(r#"{{"kind":"ticket","id":{id},"createDate":"2026-05-01T10:00:00.000Z"{rest}}}"#) + "\n"
}

fn file(ticket: u64, rest: &str) -> String {
    format!(r#"{{"kind":"file","ticket":{ticket}{rest}}}"#) + "\n"
}

/// An instance with users 7 and 8, leads 1 and 2, and opportunity 9.
fn bench_of_tickets() -> Bench {
    let bench = bench();
    let lines = [
        lead(1, ""),
        lead(2, ""),
        r#"{"kind":"funnel","id":3,"name":"Vendas","columns":[{"id":31,"name":"Entrada"}]}"#.to_owned()
            + "\n",
        r#"{"kind":"opportunity","id":9,"title":"P","crm_id":3,"crm_column":31,"user":7,"lead_id":1}"#
            .to_owned()
            + "\n",
    ];
    bench.import(&lines.concat()).done();
    bench
}

#[test]
fn a_line_replaces_the_ticket_in_every_list() {
    let bench = bench_of_tickets();
    let files: String = (10..50)
        .map(|n| file(501, &format!(r#","store_path":"s/{n}""#)))
        .collect();
    bench
        .import(&(ticket(501, r#","lead_relation":1"#) + &files))
        .done();
    let place = |millis: &str| format!("{millis}#999999999999498");
    assert_eq!(listed(&bench, "acme#lead-ticket#1"), [place("251624671199999")]);
    assert_eq!(listed(&bench, "acme#lead-file#1").len(), 40);
    let moved = ticket(501, r#","lead_relation":2"#).replace("10:00:00.000Z", "10:00:00.001Z");
    assert_eq!(bench.import(&moved).done().document()["imported"], 1);
    for pk in ["acme#lead-ticket#1", "acme#lead-file#1"] {
        assert_eq!(listed(&bench, pk), [""; 0], "{pk}");
    }
    assert_eq!(listed(&bench, "acme#lead-ticket#2"), [place("251624671199998")]);
    assert_eq!(listed(&bench, "acme#lead-file#2").len(), 40);
    assert_eq!(listed(&bench, "acme#lead-file#2")[0], format!("{ID}#path#s/10"));
    assert_eq!(listed(&bench, "acme#ticket-file#501").len(), 40);
    assert!(bench.item("acme#ticket", ID).unwrap().get("unsettled").is_none());
    assert_sound(&bench);
    let freed = bench.import(&ticket(501, "")).done().document();
    assert_eq!(freed["imported"], 1);
    assert_eq!(listed(&bench, "acme#lead-file#2"), [""; 0]);
    assert_eq!(bench.import(&files).done().document()["unchanged"], 40);
    assert_sound(&bench);
}

/// A file without an id is identified by ticket and path; a file with an id by the id, in any ticket.
#[test]
fn a_line_replaces_the_file_of_its_id_or_path() {
    let bench = bench_of_tickets();
    let tickets = [
        ticket(501, r#","lead_relation":1"#),
        ticket(502, r#","lead_relation":2"#),
    ];
    bench.import(&tickets.concat()).done();
    let path = |ticket: u64, ext: &str| file(ticket, &format!(r#","store_path":"a","ext":"{ext}""#));
    let id = |ticket: u64| file(ticket, r#","id":7,"store_path":"a""#);
    let lines = [path(501, "x"), path(502, "x"), id(501)];
    assert_eq!(bench.import(&lines.concat()).done().document()["imported"], 3);
    // Of several lines of one file the last one applies.
    let again = [path(501, "y"), path(501, "z"), id(501), id(502), path(502, "x")];
    let document = bench.import(&again.concat()).done().document();
    assert_eq!(
        (&document["imported"], &document["unchanged"]),
        (&json!(2), &json!(3))
    );
    let file =
        |ticket: u64, ext: &str| json!({ "kind": "file", "ticket": ticket, "store_path": "a", "ext": ext });
    assert_eq!(
        records(&bench.export(), "file"),
        [
            json!({ "kind": "file", "id": 7, "ticket": 502, "store_path": "a" }),
            file(501, "z"),
            file(502, "x"),
        ]
    );
    let of_502 = ["id#000000000000007", "path#a"];
    assert_eq!(listed(&bench, "acme#ticket-file#502"), of_502);
    assert_eq!(listed(&bench, "acme#ticket-file#501"), ["path#a"]);
    assert_eq!(listed(&bench, "acme#lead-file#2").len(), 2);
    assert_sound(&bench);
}
