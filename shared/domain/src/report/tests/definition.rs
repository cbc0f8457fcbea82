use super::*;

/// The lines of `vectors/sample-instance.ndjson`.
#[test]
fn definitions_round_trip() {
    for fields in [
        json!({ "entity": "opportunities", "measure": "count", "groupBy": "column" }),
        json!({ "entity": "opportunities", "measure": "sum", "field": "value", "groupBy": "month", "filters": { "status": "gain" } }),
        json!({ "entity": "calls", "measure": "count", "groupBy": "day" }),
        json!({ "type": "pie", "entity": "calls", "measure": "average", "field": "duration", "groupBy": "service",
            "filters": { "user": [7, 80], "service": "acme" } }),
    ] {
        let definition = define(&fields).unwrap();
        let written = Value::from(definition.sparse());
        for (name, value) in fields.as_object().unwrap() {
            assert_eq!(&written[name], value, "{name}");
        }
        assert_eq!(
            written.as_object().unwrap().len(),
            fields.as_object().unwrap().len() + 4
        );
        assert_eq!(
            serde_json::from_value::<Definition>(json!(definition)).unwrap(),
            definition
        );
    }
}

#[test]
fn the_entitys_amount_is_the_default() {
    for (entity, field) in [
        ("opportunities", "value"),
        ("tickets", "duration"),
        ("meetings", "duration"),
        ("calls", "duration"),
    ] {
        for measure in ["sum", "average"] {
            let short = json!({ "entity": entity, "measure": measure, "groupBy": "user", "filters": { "user": null } });
            let mut long = short.clone();
            long["field"] = json!(field);
            assert_eq!(define(&short), define(&long));
            assert_eq!(json!(define(&short).unwrap())["field"], field);
        }
    }
}

/// Every entity with every grouping, measure and filter.
#[test]
fn entities_accept_only_their_aspects_and_measures() {
    let aspects = ["status", "column", "funnel", "user", "channel", "service", "type"];
    for (entity, fitting, has_amount) in [
        ("leads", &["user", "channel"][..], false),
        (
            "opportunities",
            &["status", "column", "funnel", "user", "channel"],
            true,
        ),
        ("tickets", &["status", "user", "channel"], true),
        ("meetings", &["status", "user"], true),
        ("calls", &["status", "user", "service", "type"], true),
    ] {
        let with = |name: &str, value: Value| {
            let mut line = json!({ "entity": entity, "measure": "count", "groupBy": "day" });
            line[name] = value;
            define(&line)
        };
        for time in ["day", "week", "month"] {
            assert!(with("groupBy", json!(time)).is_ok(), "{entity} by {time}");
        }
        for aspect in aspects {
            let fits = fitting.contains(&aspect);
            assert_eq!(
                with("groupBy", json!(aspect)).is_ok(),
                fits,
                "{entity} by {aspect}"
            );
            let values = [
                json!(7),
                json!("x"),
                json!("open"),
                json!("scheduled"),
                json!("COMPLETE"),
                json!("INCOMING"),
            ];
            let filtered = values
                .iter()
                .any(|value| with("filters", json!({ aspect: value })).is_ok());
            assert_eq!(filtered, fits, "{entity} filtered by {aspect}");
        }
        for measure in ["sum", "average"] {
            assert_eq!(
                with("measure", json!(measure)).is_ok(),
                has_amount,
                "{measure} of {entity}"
            );
        }
    }
}

/// Changes of a count of calls by day, and the reason for their rejection.
const REJECTED: &str = r#"
{"entity":"people"} | unknown variant `people`, expected one of `leads`, `opportunities`, `tickets`, `meetings`, `calls`
{"groupBy":"column"} | groupBy: must be day or week or month or status or user or service or type for calls
{"field":"duration"} | field: must be absent where measure is count
{"filters":{"funnel":3}} | filters.funnel: is unknown; calls are filtered by status or user or service or type
{"filters":{"day":"2026-01-01"}} | filters.day: is unknown; calls are filtered by status or user or service or type
{"filters":{"status":"open"}} | filters.status: must be COMPLETE or INCOMPLETE, or a list of such
{"filters":{"user":"7"}} | filters.user: must be an id from 1 to 999999999999999, or a list of such
{"filters":{"user":[7,0]}} | filters.user: must be an id from 1 to 999999999999999, or a list of such
{"filters":{"user":[]}} | filters.user: must be an id from 1 to 999999999999999, or a list of such
{"filters":{"service":""}} | filters.service: must be text that is not empty, or a list of such
{"entity":"leads","measure":"sum"} | measure: must be count for leads
{"entity":"opportunities","measure":"sum","field":"duration"} | field: must be value for opportunities
"#;

#[test]
fn errors_name_the_field_and_its_valid_values() {
    for case in REJECTED.trim().lines() {
        let (changes, reason) = case.split_once(" | ").unwrap();
        let changes: Value = serde_json::from_str(changes).unwrap();
        let mut line = json!({ "entity": "calls", "measure": "count", "groupBy": "day" });
        for (name, value) in changes.as_object().unwrap() {
            line[name] = value.clone();
        }
        assert_eq!(define(&line).unwrap_err(), reason);
    }
    assert!(define(&json!({ "entity": "leads", "measure": "count", "groupBy": "day" })).is_ok());
}

/// Results for another query or another zone are stale. A new name does not change the query.
#[test]
fn a_digest_depends_on_question_and_zone() {
    let fields = json!({ "entity": "calls", "measure": "count", "groupBy": "day" });
    let own = question(&fields).digest(Zone::UTC);
    for (name, value, same) in [
        ("name", json!("Outro"), true),
        ("type", json!("line"), true),
        ("updateDate", json!("2026-02-01T00:00:00.000Z"), true),
        ("groupBy", json!("week"), false),
        ("measure", json!("average"), false),
        ("entity", json!("leads"), false),
        ("filters", json!({ "user": 7 }), false),
    ] {
        let mut changed = fields.clone();
        changed[name] = value;
        assert_eq!(question(&changed).digest(Zone::UTC) == own, same, "{name}");
    }
    assert_ne!(question(&fields).digest(zone("America/Sao_Paulo")), own);
}

#[test]
fn a_range_ends_today_and_has_thirty_days_by_default() {
    let today = day("2026-11-21");
    let asked = |from: Option<&str>, to: Option<&str>| {
        let range = Range::requested(from.map(day), to.map(day), today)?;
        Ok((range.from.to_string(), range.to.to_string(), range.days().count()))
    };
    let is = |from: &str, to: &str, days| Ok((from.to_owned(), to.to_owned(), days));
    assert_eq!(asked(None, None), is("2026-10-23", "2026-11-21", 30));
    assert_eq!(
        asked(None, Some("2026-03-01")),
        is("2026-01-31", "2026-03-01", 30)
    );
    assert_eq!(asked(Some("2026-11-21"), None), is("2026-11-21", "2026-11-21", 1));
    assert_eq!(asked(Some("2026-11-22"), None), Err(BadRange::Reversed));
    assert_eq!(
        asked(Some("2026-01-02"), Some("2026-01-01")),
        Err(BadRange::Reversed)
    );
    assert_eq!(
        asked(Some("2016-11-21"), Some("2026-11-21")),
        is("2016-11-21", "2026-11-21", 3653)
    );
    assert_eq!(
        asked(Some("2016-11-20"), Some("2026-11-21")),
        Err(BadRange::TooLong)
    );
    assert_eq!(
        asked(Some("9999-12-31"), Some("9999-12-31")),
        is("9999-12-31", "9999-12-31", 1)
    );
    assert_eq!(asked(None, Some("0001-01-02")), is("0001-01-01", "0001-01-02", 2));
}
