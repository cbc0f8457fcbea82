//! Thousands of hostile submissions of a seed: no error of the service, no value that was not sent, a sound instance.

mod maker;

use std::collections::BTreeMap;

use serde_json::{Value, json};
use shared::json::decimal_text;
use shared::lead::Lead;
use shared::text::without_index;
use shared::text::{clean, cut};
use tests::forms::TOKEN;

use super::world;
use crate::model::{Dice, from_environment};
use maker::{HostileSubmission, SubmissionDice};

/// Their number; set by `SUBMISSIONS`.
const SUBMISSIONS: u64 = 4_000;

/// Maximum length of a value of `utm_*` in characters.
const MAX_UTM: usize = 255;

/// The values that a submission sends, by name: every one alone, and those of a repeated name joined.
#[derive(Default)]
struct SentValues(BTreeMap<String, Vec<Value>>);

impl SentValues {
    fn add(&mut self, hostile: &HostileSubmission) {
        let query = pairs(hostile.query.as_bytes());
        let text = hostile
            .body
            .strip_prefix(b"\xEF\xBB\xBF")
            .unwrap_or(&hostile.body);
        let mut body = pairs(text.trim_ascii());
        if let Ok(Value::Object(fields)) = shared::json::parse(text) {
            for (name, value) in fields {
                let parts = value.as_array().map(Vec::as_slice).unwrap_or_default();
                let parts = parts.iter().filter_map(text_of).collect::<Vec<_>>();
                let name = without_index(name);
                let all = body.entry(name.clone()).or_default();
                all.extend(text_of(&value));
                all.extend(parts);
                self.0.entry(name).or_default().push(value);
            }
        }
        for (name, values) in query {
            body.entry(name).or_default().extend(values);
        }
        for (name, values) in body {
            add_joined(self.0.entry(name).or_default(), values);
        }
    }

    /// Whether a field of the lead is a value that was sent under a name, as text.
    fn has_text(&self, name: &str, held: &Value) -> bool {
        let mut sent = self.0.get(name).into_iter().flatten();
        sent.any(|value| {
            (!value.is_string() && value == held)
                || text_of(value).is_some_and(|text| *held == text || *held == cut(&text, MAX_UTM))
        })
    }
}

/// The text that a lead has for a value.
fn text_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => clean(text).map(str::to_owned),
        Value::Number(number) => Some(decimal_text(number)),
        Value::Bool(flag) => Some(flag.to_string()),
        _ => None,
    }
}

/// The values of form-encoded pairs by name.
fn pairs(text: &[u8]) -> BTreeMap<String, Vec<String>> {
    let mut values = BTreeMap::<String, Vec<String>>::new();
    for pair in text.split(|byte| *byte == b'&') {
        let at = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
        let value = decoded(pair.get(at + 1..).unwrap_or_default());
        let name = without_index(decoded(&pair[..at]));
        values.entry(name).or_default().push(value);
    }
    values
}

/// Adds the values of a repeated name: each alone, and the distinct ones joined.
fn add_joined(known: &mut Vec<Value>, values: Vec<String>) {
    let mut distinct = Vec::new();
    for value in values.iter().filter_map(|value| clean(value)) {
        if !distinct.contains(&value) {
            distinct.push(value);
        }
    }
    known.push(distinct.join(", ").into());
    known.extend(values.into_iter().map(Value::from));
}

/// The characters of 0x80 to 0x9F in Windows-1252.
const WINDOWS: &str = "€\u{81}‚ƒ„…†‡ˆ‰Š‹Œ\u{8d}Ž\u{8f}\u{90}‘’“”•–—˜™š›œ\u{9d}žŸ";

/// The text of percent-encoded bytes; Windows-1252 where they are not UTF-8.
fn decoded(bytes: &[u8]) -> String {
    let mut text = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let digits = bytes
            .get(at + 1..at + 3)
            .and_then(|digits| std::str::from_utf8(digits).ok());
        let digits = digits.filter(|digits| digits.bytes().all(|digit| digit.is_ascii_hexdigit()));
        let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match (bytes[at], byte) {
            (b'%', Some(byte)) => {
                text.push(byte);
                at += 2;
            }
            (b'+', _) => text.push(b' '),
            (byte, _) => text.push(byte),
        }
        at += 1;
    }
    String::from_utf8(text).unwrap_or_else(|error| {
        let character = |byte: u8| match byte {
            0x80..=0x9f => WINDOWS.chars().nth(usize::from(byte) - 0x80).unwrap_or_default(),
            other => char::from(other),
        };
        error.into_bytes().into_iter().map(character).collect()
    })
}

/// Requires that a lead has nothing but what it had and what was sent.
fn judge(lead: &Lead, before: &Lead, sent: &SentValues) {
    let fields = |lead: &Lead| serde_json::to_value(lead).expect("JSON");
    let had = fields(before);
    for (name, held) in fields(lead).as_object().expect("a lead") {
        let from = match name.as_str() {
            "firstname" => "nome",
            "chatapp" => "whatsapp",
            "city" => "cidade",
            name => name,
        };
        let may_be_new = ["nome", "email", "whatsapp", "cidade"].contains(&from) && had[name].is_null();
        // A submission sets the one and restores by the other.
        if ["lastActive", "archived"].contains(&from) {
            continue;
        }
        let is_right = *held == had[name] || (may_be_new && sent.has_text(from, held));
        assert!(is_right, "{name} of {}: {held} was not sent", lead.id);
    }
    for (alias, held) in &lead.custom {
        let is_right =
            before.custom.get(alias) == Some(held) || (alias == "cargo" && sent.has_text("cargo", held));
        assert!(is_right, "{alias} of {}: {held} was not sent", lead.id);
    }
    for tags in lead
        .utm_tags
        .iter()
        .filter(|tags| !before.utm_tags.contains(tags))
    {
        for (name, held) in tags.as_object().expect("an object") {
            let was_sent = name.starts_with("utm_") && sent.has_text(name, held);
            assert!(was_sent, "{name} of {}: {held} was not sent", lead.id);
        }
    }
}

#[tokio::test]
async fn hostile_submissions_do_no_harm() {
    let world = world(&json!({})).await;
    let before: BTreeMap<_, _> = world
        .leads()
        .await
        .into_iter()
        .map(|lead| (lead.id.get(), lead))
        .collect();
    let maker = SubmissionDice(Dice::new(from_environment("MODEL_SEED", 20_261_122)));
    let (mut sent, mut statuses) = (BTreeMap::<u64, SentValues>::new(), BTreeMap::<u16, u64>::new());
    let submissions = from_environment("SUBMISSIONS", SUBMISSIONS);
    for turn in 0..submissions {
        let hostile = maker.next();
        let token = if maker.0.chance(2) { "wrong" } else { TOKEN };
        let joint = if hostile.query.is_empty() { "" } else { "&" };
        let uri = format!(
            "/api/hook/contact?i=acme&access_token={token}{joint}{}",
            hostile.query
        );
        let mut call = world.call("POST", &uri);
        if let Some(media_type) = hostile.media_type {
            call = call.header("content-type", media_type);
        }
        let answer = call.bytes(hostile.body.clone()).send().await;
        let status = answer.status.as_u16();
        *statuses.entry(status).or_default() += 1;
        let told = || format!("{turn}: {status} {} of {hostile:?}", answer.body);
        match status {
            200 => {
                let lead = answer.body["data"]["lead"].as_u64().expect("a lead");
                sent.entry(lead).or_default().add(&hostile);
            }
            400 | 404 | 413 | 415 => assert!(answer.cost.write_units() <= 0.0, "{}", told()),
            _ => panic!("{}", told()),
        }
    }
    println!("{statuses:?}");
    let nothing = SentValues::default();
    let mut made = 0;
    for lead in world.leads().await {
        let id = lead.id.get();
        let new = || {
            let mut new = Lead::new(lead.id, lead.create_date);
            new.created_by_type = Some("form".to_owned());
            new
        };
        made += u64::from(!before.contains_key(&id));
        judge(
            &lead,
            before.get(&id).unwrap_or(&new()),
            sent.get(&id).unwrap_or(&nothing),
        );
    }
    // Both outcomes have to be frequent for this to show anything.
    assert!(
        made * 20 > submissions && statuses[&200] * 5 > submissions && statuses[&400] * 5 > submissions,
        "{made} {statuses:?}"
    );
    world.is_sound().await;
}
