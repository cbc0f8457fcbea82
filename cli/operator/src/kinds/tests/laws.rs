//! Laws of all kinds, from the descriptions of their fields.

use super::*;

/// A value that does not fit a type, and the rule that it breaks; `None` if the type accepts any value.
fn unfit(shape: Shape) -> Option<(Value, String)> {
    let (value, rule) = match shape {
        Shape::Any | Shape::ReadOnly => return None,
        Shape::Text | Shape::Person | Shape::Digits => (json!({}), "text"),
        Shape::TextOrNumber | Shape::NumberOrText => (json!({}), "a number or text"),
        Shape::Scalar => (json!({}), "text, a number, true, false or null"),
        Shape::Id | Shape::Integer => (json!("x"), "a whole number that is not negative"),
        Shape::Number => (json!("x"), "a number"),
        Shape::Amount => (
            json!(-1),
            "an amount from 0 to 9999999999999.99 with at most two decimals",
        ),
        Shape::Flag => (json!("x"), "true or false"),
        Shape::ZeroOrOne => (json!(7), "0 or 1"),
        Shape::Time => (json!("today"), "a date-time such as 2026-11-21T12:00:00.000Z"),
        Shape::OneOf(values) => return Some((json!("x"), values.replace(' ', " or "))),
        Shape::Ids | Shape::Texts | Shape::List | Shape::Objects => (json!("x"), "a list"),
        Shape::Object => (json!("x"), "an object"),
    };
    Some((value, rule.to_owned()))
}

/// Refusals by another rule than that of the type.
const OTHERS: [&str; 3] = [
    "user.telephone: must be a number or text",
    "hook.token: must be 1 to 256 visible ASCII characters",
    "event.name: must be voip.call_incoming or voip.call_outgoing",
];

/// Each kind with each description of its fields and each of their names.
fn described() -> impl Iterator<Item = (Kind, &'static Field, &'static str)> {
    let fields = Kind::ALL
        .iter()
        .flat_map(|kind| kind.fields().iter().map(|field| (*kind, field)));
    let fields = fields.filter(|(_, field)| !field.is_inner());
    fields.flat_map(|(kind, field)| field.names().map(move |name| (kind, field, name)))
}

/// A good line with a field. The event of a form has other fields than that of a call.
fn line(kind: Kind, name: &str, value: &Value) -> String {
    let mut line = good(kind);
    if kind == Kind::Events && ["form", "values"].contains(&name) {
        line = json!({ "kind": "event", "id": 1, "lead": 1, "name": "form.received", "form": 1,
            "createDate": "2026-01-01T00:00:00Z" });
    }
    if name == "tokenHash" {
        line["token"] = Value::Null;
    }
    line[name] = value.clone();
    line.to_string()
}

#[test]
fn a_value_of_another_type_is_refused() {
    let (mut refused_values, mut others) = (0, Vec::new());
    for (kind, field, name) in described() {
        let Some((value, rule)) = unfit(field.shape) else {
            continue;
        };
        let reason = refused(&line(kind, name, &value));
        if !reason.starts_with(&format!("{name}: must be {rule}")) {
            others.push(format!("{}.{reason}", kind.name()));
        }
        refused_values += 1;
    }
    assert_eq!(others, OTHERS);
    assert!(refused_values > 200, "{refused_values}");
}

#[test]
fn a_needed_field_is_needed_and_no_other() {
    for (kind, field, name) in described() {
        let mut bare = good(kind);
        bare.as_object_mut().unwrap().shift_remove(name);
        let is_path = kind == Kind::Files && name == "store_path";
        if field.needed || is_path {
            let reason = refused(&bare.to_string());
            assert!(
                reason.starts_with(&format!("{name}: is missing")),
                "{kind:?}.{name}: {reason}"
            );
        } else {
            assert!(
                check_line(&bare.to_string()).is_ok(),
                "{kind:?}.{name}: {}",
                refused(&bare.to_string())
            );
        }
    }
}

#[test]
fn texts_have_their_limits() {
    for (kind, field, name) in described() {
        if let Some(max) = field.max() {
            let letter = if field.shape == Shape::Digits { "1" } else { "é" };
            let text = |length| json!(letter.repeat(length));
            let most = line(kind, name, &text(max));
            assert!(check_line(&most).is_ok(), "{}", refused(&most));
            let reason = format!("{name}: must have at most {max} characters");
            assert_eq!(refused(&line(kind, name, &text(max + 1))), reason, "{kind:?}");
        }
        if field.is_filled() {
            let reason = format!("{name}: must not be empty");
            assert_eq!(refused(&line(kind, name, &json!(""))), reason, "{kind:?}");
        }
    }
}

/// An omitted field and its default are stored alike, and so is null.
#[test]
fn a_default_is_that_of_an_omitted_field() {
    fn exported<K: RecordKind>(text: &str) -> Value {
        let line = parse::<K>(text).unwrap().unwrap();
        Value::Object(K::export(line.borrow()).unwrap())
    }
    for (kind, field, name) in described().filter(|(_, field, _)| !field.needed) {
        let default = field
            .default
            .map_or(Value::Null, |json| serde_json::from_str(json).unwrap());
        // An erased form is null (C-24). The others are needed where another field is absent or has another value.
        if ["formData", "store_path", "tokenHash", "form"].contains(&name) {
            continue;
        }
        let mut omitted: Value = serde_json::from_str(&line(kind, name, &Value::Null)).unwrap();
        let null = omitted.to_string();
        omitted.as_object_mut().unwrap().shift_remove(name);
        let stated = line(kind, name, &default);
        let omitted = omitted.to_string();
        let forms = [null, stated, omitted].map(|text| with_kind!(kind, K => exported::<K>(&text)));
        assert!(
            forms.windows(2).all(|pair| pair[0] == pair[1]),
            "{kind:?}.{name}: {forms:#?}"
        );
    }
}

/// Responses contain records in place of ids, and fields that an import ignores (C-105).
#[test]
fn responses_are_accepted() {
    for (kind, field, name) in described() {
        if field.shape == Shape::ReadOnly {
            let text = line(kind, name, &json!({ "id": 1 }));
            assert!(check_line(&text).is_ok(), "{kind:?}.{name}: {}", refused(&text));
        }
    }
    let lead = json!({ "owner": { "id": 7, "name": "Ana" }, "tags": [{ "id": 1, "tag": "a" }, 2] });
    let stored = exported::<Leads>(&lead);
    assert_eq!((&stored["owner"], &stored["tags"]), (&json!(7), &json!([1, 2])));
    let opportunity = json!({ "user": { "id": 8 }, "dataLead": {}, "dataCompanyExtra": [{ "_id": 1, "id": 2, "companyname": "A" }] });
    assert_eq!(exported::<Opportunities>(&opportunity)["user"], 8);
    let column = json!({ "id": 1, "name": "A", "crm": 3, "total": 0, "totalValue": 0 });
    let funnel = exported::<Funnels>(&json!({ "columns": [column] }));
    assert_eq!(
        funnel["columns"],
        json!([{ "id": 1, "name": "A", "sequence": 0 }])
    );
}

/// The records that a line of each kind refers to, by field.
#[test]
fn references_are_those_of_the_fields() {
    fn named<K: RecordKind>(rest: &Value) -> Vec<String> {
        let line = parse::<K>(&with(K::KIND, rest)).unwrap().unwrap();
        let references = K::references(line.borrow()).unwrap();
        let text = |reference: &Reference| reference.to_string().replace(" does not exist", "");
        references.iter().map(text).collect()
    }
    let lead = json!({ "owner": 7, "company": "2", "tags": [1, "3"] });
    assert_eq!(
        named::<Leads>(&lead),
        [
            "owner: user 7",
            "company: company 2",
            "tags: tag 1",
            "tags: tag 3"
        ]
    );
    let access = json!({ "access": { "users": [7], "groups": [1] } });
    assert_eq!(
        named::<Funnels>(&access),
        ["access.users: user 7", "access.groups: group 1"]
    );
    let actions = json!([{ "type": "setOwner", "user": 8 },
        { "type": "createOpportunity", "funnel": 3, "column": 31, "title": "x" }]);
    assert_eq!(
        named::<Automations>(&json!({ "actions": actions })),
        [
            "actions[1].funnel: funnel 3",
            "actions[1].column: column 31 is not one of funnel 3",
            "actions[0].user: user 8"
        ]
    );
    let filters = json!({ "filters": { "user": [7, 8] } });
    assert_eq!(
        named::<Reports>(&filters),
        ["filters.user: user 7", "filters.user: user 8"]
    );
    let placed = json!({ "opportunity": { "column": 31, "title": "x" } });
    assert_eq!(named::<Hooks>(&placed), ["opportunity.column: column 31"]);
}
