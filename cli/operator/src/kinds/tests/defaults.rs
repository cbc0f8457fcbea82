//! The fields that a line leaves out, and the forms that values are stored in.

use super::*;

/// C-90.
#[test]
fn whatsapp_is_stored_as_chatapp() {
    let stored = exported::<Leads>(&json!({ "chatapp": "1" }));
    assert_eq!(stored["chatapp"], "1");
    assert_eq!(exported::<Leads>(&json!({ "whatsapp": "1" })), stored);
    assert_eq!(
        exported::<Leads>(&json!({ "whatsapp": "1", "chatapp": "1" })),
        stored
    );
}

/// C-6: numbers with a fraction as text, and blank ones.
#[test]
fn numbers_may_be_texts() {
    for points in [json!("4.50"), json!(" 4.5 "), json!(4.5)] {
        let (lead, company) = (
            json!({ "points": points }),
            json!({ "points": points, "customer_count": "" }),
        );
        assert_eq!(exported::<Leads>(&lead)["points"], 4.5, "{points}");
        assert_eq!(exported::<Companies>(&company)["points"], 4.5, "{points}");
    }
    assert_eq!(
        exported::<Leads>(&json!({ "points": "" })),
        exported::<Leads>(&json!({}))
    );
}

/// C-108: a lead as endpoint 1 lists it.
#[test]
fn a_full_name_is_split() {
    let stored = exported::<Leads>(&json!({ "fullname": "Nara Vidal de Sá" }));
    assert_eq!(
        (&stored["firstname"], &stored["lastname"]),
        (&json!("Nara"), &json!("Vidal de Sá"))
    );
    let named = exported::<Leads>(&json!({ "firstname": "Nara", "fullname": "Outra Pessoa" }));
    assert_eq!(
        (&named["firstname"], named.get("lastname")),
        (&json!("Nara"), None)
    );
}

#[test]
fn absent_times_are_left_to_the_table() {
    let times = |rest: &Value| {
        let line = parse::<Reports>(&with(Kind::Reports, rest)).unwrap().unwrap();
        json!([line.create_date, line.update_date])
    };
    assert_eq!(times(&json!({})), json!([null, null]));
    assert_eq!(
        times(&json!({ "createDate": "2026-01-01T00:00:00Z", "updateDate": "2026-01-02T00:00:00Z" })),
        json!(["2026-01-01T00:00:00.000Z", "2026-01-02T00:00:00.000Z"])
    );
    let call = parse::<Calls>(&good(Kind::Calls).to_string()).unwrap().unwrap();
    assert_eq!(call.create_date, None);
}

#[test]
fn times_come_from_the_line_the_stored_record_or_the_clock() {
    let at = |text: &str| shared::time::Timestamp::parse(text).unwrap();
    let line = |rest: &Value| parse::<Tickets>(&with(Kind::Tickets, rest)).unwrap().unwrap();
    let [one, two, three] = [1, 2, 3].map(|day| format!("2026-01-0{day}T00:00:00Z"));
    let stored = line(&json!({ "createDate": one, "updateDate": two })).onto(None, at(&three));
    let onto = |rest: &Value, stored| {
        let ticket = line(rest).onto(stored, at(&three));
        (ticket.create_date, ticket.update_date)
    };
    assert_eq!(onto(&json!({}), None), (at(&three), at(&three)));
    assert_eq!(onto(&json!({ "createDate": one }), None), (at(&one), at(&one)));
    assert_eq!(onto(&json!({}), Some(&stored)), (at(&one), at(&two)));
    let changed = json!({ "updateDate": three });
    assert_eq!(onto(&changed, Some(&stored)), (at(&one), at(&three)));
}

#[test]
fn other_fields_of_a_lead_are_custom_ones() {
    let text = with(
        Kind::Leads,
        &json!({
            "name": null, "id": 7, "firstname": "Ana", "points": 4.0, "owner": null, "filial": "Apucarana",
            "faixas": [null, 1.5], "vip": null,
        }),
    );
    let line = parse::<Leads>(&text).unwrap().unwrap();
    assert_eq!(line.record.firstname.as_deref(), Some("Ana"));
    assert_eq!(line.record.points.as_u64(), Some(4));
    assert_eq!(line.create_date, None);
    assert_eq!(
        Value::Object(line.record.custom),
        json!({ "name": null, "filial": "Apucarana", "faixas": [null, 1.5], "vip": null })
    );
}

#[test]
fn values_have_two_forms_and_flags_four() {
    for (value, stored) in [
        (json!(213.2), "213.20"),
        (json!("213.2"), "213.20"),
        (json!(7), "7.00"),
    ] {
        let line = exported::<Opportunities>(&json!({ "value": value }));
        assert_eq!(line["value"], stored, "{value}");
    }
    for (archived, stored) in [
        (json!(1), json!(1)),
        (json!(true), json!(1)),
        (json!(0), Value::Null),
        (json!(false), Value::Null),
    ] {
        let line = exported::<Opportunities>(&json!({ "archived": archived }));
        assert_eq!(line.get("archived").unwrap_or(&Value::Null), &stored);
    }
}

#[test]
fn free_fields_keep_their_text() {
    let text = r#"{"fields":{" Número ":"","n":1e21,"m":-0.0,"k":12345678901234567890,"yes":true,"gone":null,"":4.0}}"#;
    let line = exported::<Opportunities>(&serde_json::from_str(text).unwrap());
    assert_eq!(
        line["fields"].to_string(),
        r#"{" Número ":"","n":1e+21,"m":-0.0,"k":12345678901234567890,"yes":true,"":4.0}"#
    );
    let text = r#"{"formData":{" b ":null,"a":[1e21,-0.0,4.0,12345678901234567890],"":{}},"properties":{"z":0,"a":[]}}"#;
    let line = exported::<Meetings>(&serde_json::from_str(text).unwrap());
    assert_eq!(
        [line["formData"].to_string(), line["properties"].to_string()],
        [
            r#"{" b ":null,"a":[1e+21,-0.0,4.0,12345678901234567890],"":{}}"#,
            r#"{"z":0,"a":[]}"#
        ]
    );
}

/// C-24.
#[test]
fn an_erased_form_is_not_an_empty_one() {
    let line = exported::<Meetings>(&json!({ "formData": null }));
    assert_eq!(line.get("formData"), Some(&Value::Null));
}

/// C-96, C-97: some systems have numbers there.
#[test]
fn numbers_in_place_of_text_are_kept_as_text() {
    for (number, text) in [(json!(7), "7"), (json!(2.5), "2.5"), (json!("7"), "7")] {
        for reason in ["loss_reason", "gain_reason"] {
            assert_eq!(
                exported::<Opportunities>(&json!({ reason: number }))[reason],
                text
            );
        }
        for field in ["telephone", "whatsapp", "branch"] {
            assert_eq!(exported::<Users>(&json!({ field: number }))[field], text);
        }
    }
}

#[test]
fn labels_and_the_directory_are_exported_as_they_were_read() {
    let user = json!({ "id": 1, "name": "A", "lastName": "B", "email": "a@example.com", "department": 2, "group": 3,
        "admin": true, "active": false, "telephone": "1", "photo": "https://photos.example/a.jpg", "whatsapp": "2",
        "branch": "3", "position_company": "Gerente", "username": "a", "last_login": "2026-11-20T10:00:00.000Z",
        "last_action": "2026-11-20T11:00:00.000Z" });
    assert_eq!(exported::<Users>(&user), user);
    assert_eq!(
        exported::<Tags>(&json!({ "color": null })),
        json!({ "id": 1, "tag": "A" })
    );
    let tag = json!({ "id": 1, "tag": "A", "color": "#e53935" });
    assert_eq!(exported::<Tags>(&tag), tag);
    assert_eq!(
        exported::<LossReasons>(&json!({})),
        json!({ "id": 1, "name": "A" })
    );
    let department = |rest: &Value| {
        let line = parse::<Departments>(&with(Kind::Departments, rest))
            .unwrap()
            .unwrap();
        Value::Object(Departments::export(&line).unwrap())
    };
    let plain = json!({ "id": 1, "name": "A" });
    assert_eq!(
        department(&json!({ "show_crm": 1, "show_sac360": true, "createDate": null })),
        plain
    );
    let full = json!({ "id": 1, "name": "A", "parent": 2, "show_crm": 0, "show_sac360": 0,
        "createDate": "2026-01-01T00:00:00.000Z", "updateDate": "2026-02-01T00:00:00.000Z" });
    assert_eq!(department(&full), full);
}

#[test]
fn phones_are_stored_as_digits() {
    assert_eq!(exported::<Calls>(&json!({}))["leadPhone"], "5511");
    assert_eq!(exported::<Events>(&json!({ "phone": "+55 11" }))["phone"], "5511");
}

/// C-62.
#[test]
fn derived_fields_agree_with_their_times() {
    let times = json!({
        "createDate": "2026-05-01T10:00:00.999Z", "createDateUnix": 1_777_629_600,
        "updateDate": "2026-05-01T07:40:00-03:00", "updateDateUnix": 1_777_632_000,
        "lastMesssageUser": "2026-05-01T10:30:00.000Z", "lastMesssageUserUnix": 1_777_631_400,
    });
    assert!(check_line(&with(Kind::Tickets, &times)).is_ok());
    for time in ["createDate", "updateDate", "lastMesssageUser"] {
        for wrong in [json!(1), json!("1777629600"), json!(1.5)] {
            let mut line = times.clone();
            line[format!("{time}Unix")] = wrong;
            let reason = format!("{time}Unix: must be the Unix seconds of {time}");
            assert_eq!(refused(&with(Kind::Tickets, &line)), reason);
        }
    }
    assert!(check_line(&with(Kind::Tickets, &json!({ "createDateUnix": 5 }))).is_err());
}

#[test]
fn every_action_is_exported_as_it_was_read() {
    for action in [
        json!({ "type": "addPoints", "points": -5 }),
        json!({ "type": "setOwner", "user": 8 }),
        json!({ "type": "addAccess", "users": [9], "departments": [2] }),
        json!({ "type": "addAccess", "departments": [2] }),
        json!({ "type": "createOpportunity", "funnel": 3, "column": 31, "title": "Ligou", "value": "12.50" }),
        json!({ "type": "createOpportunity", "funnel": 3, "column": 31, "title": "Ligou" }),
        json!({ "type": "notify", "url": "https://erp.example/h", "secret": "s" }),
    ] {
        let line = exported::<Automations>(&json!({ "actions": [action] }));
        assert_eq!(line["actions"], json!([action]));
    }
    let filters = json!({ "filters": { "operatorNumber": "11" } });
    assert_eq!(exported::<Automations>(&filters)["filters"], filters["filters"]);
}

#[test]
fn values_at_their_limits_are_accepted() {
    for (kind, rest) in [
        // Names that differ in a byte are different.
        (
            Kind::Funnels,
            json!({ "fields": [{ "name": "Origem" }, { "name": " Origem" }, { "name": "origem" }] }),
        ),
        (
            Kind::Opportunities,
            json!({ "title": "é".repeat(255), "fields": { "a": "é".repeat(10_000) } }),
        ),
        (Kind::Calendars, json!({ "name": "é".repeat(255) })),
        (Kind::Meetings, json!({ "endDate": "2027-03-01T12:00:00Z" })),
        (Kind::Meetings, json!({ "endDate": "2027-03-22T12:00:00Z" })),
        (Kind::Meetings, json!({ "moves": 20 })),
        (Kind::Files, json!({ "store_path": null, "id": 7 })),
        (Kind::Files, json!({ "store_path": "é".repeat(250) })),
        (Kind::Settings, json!({ "value": null })),
    ] {
        let text = with(kind, &rest);
        assert!(check_line(&text).is_ok(), "{}", refused(&text));
    }
}

/// An export has the hash of the token, which restores the form.
#[test]
fn tokens_of_forms_are_exported_as_hashes() {
    let exported = exported::<Hooks>(&json!({}));
    let hash = shared::form::TokenHash::of("t").map(String::from);
    let expected = json!({ "id": 1, "name": "contact", "tokenHash": hash, "active": true });
    assert_eq!(exported, expected);
    let again = json!({ "token": null, "tokenHash": hash });
    assert_eq!(self::exported::<Hooks>(&again), expected);
}
