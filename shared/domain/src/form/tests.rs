use serde_json::json;

use super::*;

fn form(changes: &Value) -> Form {
    let mut line = json!({ "id": 1, "name": "contact", "tokenHash": "0".repeat(64) });
    for (name, value) in changes.as_object().unwrap() {
        line[name] = value.clone();
    }
    serde_json::from_value(line).unwrap()
}

fn now() -> Timestamp {
    Timestamp::parse("2026-01-02T03:04:05.678Z").unwrap()
}

fn submitted(fields: &Value, custom: &Value) -> Submitted {
    let map = |value: &Value| value.as_object().unwrap().clone();
    Submitted {
        fields: map(fields),
        custom: map(custom),
        utm: Map::new(),
        ..Submitted::default()
    }
}

#[test]
fn tokens_are_compared_by_hash() {
    let hash = TokenHash::of("a-token").unwrap();
    assert!(hash.is(&TokenHash::of("a-token").unwrap()));
    // The same digits at the beginning are not enough.
    let alike = TokenHash(format!("{}{}", hash.prefix(), "0".repeat(48)));
    assert!(!hash.is(&alike) && alike.prefix() == hash.prefix());
    assert!(!format!("{hash:?}").contains(hash.prefix()));
    for bad in ["", " ", "a b", "ã", "a\n", &"x".repeat(257)] {
        assert_eq!(TokenHash::of(bad), None, "{bad}");
    }
    let digits = "0".repeat(63);
    for bad in [digits.clone(), format!("{digits}G"), format!("{digits}A")] {
        assert_eq!(TokenHash::try_from(bad), Err(BadTokenHash));
    }
}

#[test]
fn fields_lead_to_what_forms_can_set() {
    let field = |name: &str| Some(Target::Field(name.to_owned()));
    assert_eq!(Target::named("email"), field("email"));
    assert_eq!(Target::named("whatsapp"), field("chatapp"));
    assert_eq!(Target::named("filial"), Some(Target::Custom("filial".to_owned())));
    for closed in [
        "id",
        "owner",
        "initial_password",
        "fullname",
        "utmTags",
        "points",
        "tags",
        "archived",
    ] {
        assert_eq!(Target::named(closed), None, "{closed}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table is as long as it has cases")]
fn rules_of_a_form() {
    let validate = |changes: Value| form(&changes).validate();
    assert_eq!(
        validate(json!({ "fields": [{ "name": "nome", "to": "firstname" }, { "name": "cargo" }] })),
        Ok(())
    );
    let long = "x".repeat(65);
    for (changes, reason) in [
        (
            json!({ "fields": [{ "name": "" }] }),
            "fields[0].name: must have 1 to 64 characters",
        ),
        (
            json!({ "fields": [{ "name": long }] }),
            "fields[0].name: must have 1 to 64 characters",
        ),
        (
            json!({ "fields": [{ "name": "a", "to": "" }] }),
            "fields[0].to: must have 1 to 64 characters",
        ),
        (
            json!({ "fields": [{ "name": "a", "to": "owner" }] }),
            "fields[0].to: is not a field that a form can set",
        ),
        (
            json!({ "fields": [{ "name": "utm_source" }] }),
            "fields[0].name: must not be i, access_token or begin with utm_",
        ),
        (
            json!({ "fields": [{ "name": "a" }, { "name": "a", "to": "b" }] }),
            "fields[1].name: is in the list already",
        ),
        (
            json!({ "fields": [{ "name": "email" }, { "name": "b", "to": "email" }] }),
            "fields[1].to: another field of the form has it",
        ),
        (
            json!({ "opportunity": { "column": 31, "title": "" } }),
            "opportunity.title: must have 1 to 255 characters",
        ),
        (
            json!({ "opportunity": { "column": 31, "title": "Site {form=nome}" } }),
            "opportunity.title: must not have placeholders; an automation fills them",
        ),
        (
            json!({ "fields": [{ "name": "itens[]" }] }),
            "fields[0].name: must not end with [], which the names of submissions lose",
        ),
        (
            json!({ "fields": [{ "name": "nome", "to": "name" }] }),
            "fields[0].to: must be written firstname",
        ),
        (
            json!({ "fields": [{ "name": "fone", "to": "Phone " }] }),
            "fields[0].to: must be written phone",
        ),
        (
            json!({ "tags": vec![1; 51] }),
            "tags: must have at most 50 elements",
        ),
    ] {
        assert_eq!(validate(changes), Err(reason.to_owned()));
    }
}

#[test]
fn a_lead_gets_only_what_it_lacks() {
    let form = form(&json!({ "owner": 7, "tags": [2, 3] }));
    let mut lead = Lead::new(LeadId::new(9).unwrap(), now());
    lead.firstname = Some("Maria".to_owned());
    lead.city = Some(" ".to_owned());
    lead.owner = UserId::new(8);
    lead.tags = vec![TagId::new(3).unwrap()];
    lead.custom.insert("filial".to_owned(), json!("Sul"));
    lead.utm_tags = vec![json!({ "utm_source": "a" })];
    let sent = submitted(
        &json!({ "firstname": "Outra", "lastname": "Silva", "city": "Recife", "preferred_locale": "en" }),
        &json!({ "filial": "Norte", "cargo": "CEO" }),
    );
    let completed = sent.complete(&form, &lead);
    let expected = Lead {
        lastname: Some("Silva".to_owned()),
        city: Some("Recife".to_owned()),
        tags: [3, 2].map(|id| TagId::new(id).unwrap()).into(),
        custom: json!({ "filial": "Sul", "cargo": "CEO" })
            .as_object()
            .unwrap()
            .clone(),
        ..lead
    };
    assert_eq!(completed, expected);
    assert_eq!(sent.complete(&form, &completed), completed);
    // A lead may have more tags than a form.
    let tags = (10..70).map(|id| TagId::new(id).unwrap()).collect();
    let tagged = sent.complete(&form, &Lead { tags, ..completed });
    assert_eq!(tagged.tags.len(), 62);
}

#[test]
fn a_new_lead_has_the_owner_and_the_origin() {
    let form = form(&json!({ "owner": 7 }));
    let mut sent = submitted(&json!({ "email": "a@b.c", "preferred_locale": "en" }), &json!({}));
    sent.utm.insert("utm_source".to_owned(), json!("ads"));
    let id = LeadId::new(9).unwrap();
    let expected = Lead {
        email: Some("a@b.c".to_owned()),
        preferred_locale: "en".to_owned(),
        owner: UserId::new(7),
        created_by_type: Some("form".to_owned()),
        utm_tags: vec![json!({ "utm_source": "ads" })],
        ..Lead::new(id, now())
    };
    assert_eq!(sent.lead(&form, id, now()), expected);
    assert!(sent.is_named() && !submitted(&json!({ "city": "x" }), &json!({})).is_named());
}

/// The free-form fields of forms are limited (C-89).
#[test]
fn a_lead_does_not_grow_without_end() {
    let form = form(&json!({}));
    let mut lead = Lead::new(LeadId::new(9).unwrap(), now());
    for turn in 0..60 {
        let mut sent = submitted(&json!({}), &json!({}));
        sent.utm.insert("utm_source".to_owned(), json!(turn));
        lead = sent.complete(&form, &lead);
    }
    assert_eq!(lead.utm_tags.len(), MAX_UTM_TAGS);
    lead.custom.insert("text".to_owned(), json!("x".repeat(93_000)));
    // The fields that fit are added.
    let sent = submitted(
        &json!({ "city": "Recife" }),
        &json!({ "less": "x", "more": "x".repeat(7000) }),
    );
    let completed = sent.complete(&form, &lead);
    assert_eq!(
        (
            completed.city.as_deref(),
            completed.custom.get("less"),
            completed.custom.get("more")
        ),
        (Some("Recife"), Some(&json!("x")), None)
    );
}
