//! Ten thousand hostile submissions of a seed: no error of the service, no value that was not sent, a sound instance.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use shared::lead::Lead;
use tests::forms::TOKEN;

use super::world;
use crate::model::{Dice, from_environment};

const SUBMISSIONS: u64 = 10_000;

const NAMES: [&str; 30] = [
    "nome",
    "nome",
    "nome",
    "nome",
    "nome",
    "email",
    "email",
    "whatsapp",
    "cidade",
    "cargo",
    "cargo",
    "utm_source",
    "utm_",
    "utm_\u{0}",
    "__proto__",
    "constructor",
    "hasOwnProperty",
    "id",
    "owner",
    "initial_password",
    "archived",
    "createdByType",
    "tags",
    "access_token",
    "i",
    "nome[]",
    "NOME",
    "pk",
    "#",
    "",
];
const TEXTS: [&str; 30] = [
    "Bia",
    "Ana Sá",
    "bia@example.com",
    "LEAD1001@example.com",
    "lead1002@example.com",
    "+55 11 97326-3471",
    "41988880001",
    "4188880001",
    "",
    " ",
    "\t\r\n",
    "null",
    "undefined",
    "true",
    "0",
    "-1",
    "NaN",
    "1e400",
    "<script>alert(1)</script>",
    "'; DROP TABLE leads; --",
    "a\u{0}b",
    "\r\nset-cookie: a=b",
    "\u{202e}txt",
    "😀",
    "e\u{301}",
    "\u{feff}x",
    "{{7*7}}",
    "${jndi:ldap://x}",
    "=1+1",
    "\"}]",
];
/// Values of JSON that are no text, as written.
const ODD: [&str; 16] = [
    "0",
    "-1",
    "1.5",
    "5541988880002",
    "12345678901234567890",
    "1e308",
    "1e400",
    "true",
    "false",
    "null",
    "[]",
    "{}",
    "[\"a\",[\"b\"]]",
    "{\"__proto__\":{\"owner\":7}}",
    "\"\\ud800\"",
    "{\"$gt\":\"\"}",
];
const MEDIA_TYPES: [Option<&str>; 7] = [
    None,
    Some("application/json"),
    Some("application/json;charset=utf-16"),
    Some("text/plain;charset=UTF-8"),
    Some("application/x-www-form-urlencoded"),
    Some("multipart/form-data; boundary=x"),
    Some("image/png; q=\""),
];

/// A submission, without instance and token.
#[derive(Debug)]
struct Hostile {
    query: String,
    media_type: Option<&'static str>,
    body: Vec<u8>,
}

struct Maker(Dice);

impl Maker {
    fn next(&self) -> Hostile {
        let dice = &self.0;
        let query = if dice.chance(20) {
            self.pairs(false)
        } else {
            String::new()
        };
        let mut body = match dice.below(20) {
            0..8 => self.object().into_bytes(),
            8..13 => self.pairs(true).into_bytes(),
            13 => (0..dice.below(200)).map(|_| self.byte()).collect(),
            14 => self.nested(dice.below(300)).into_bytes(),
            15 => dice.one(&ODD).as_bytes().to_vec(),
            16 => self.many().into_bytes(),
            17 => "x="
                .repeat(1 + usize::try_from(dice.below(70_000)).expect("small"))
                .into_bytes(),
            _ => format!("{{\"nome\":{}}}", self.value()).into_bytes(),
        };
        if dice.chance(20) {
            self.spoil(&mut body);
        }
        Hostile {
            query,
            media_type: *dice.one(&MEDIA_TYPES[..if dice.chance(90) { 5 } else { 7 }]),
            body,
        }
    }

    fn byte(&self) -> u8 {
        u8::try_from(self.0.below(256)).expect("a byte")
    }

    fn name(&self) -> String {
        match self.0.below(40) {
            0 => "n".repeat(65),
            1 => format!("utm_{}", "ã".repeat(70)),
            2 => "k".repeat(9_000),
            _ => (*self.0.one(&NAMES)).to_owned(),
        }
    }

    fn text(&self) -> String {
        let lengths = [64, 65, 255, 256, 1_000, 1_001, 16_000, 17_000];
        match self.0.below(30) {
            0 => "ã".repeat(*self.0.one(&lengths)),
            1 => "x".repeat(*self.0.one(&lengths)),
            2 => format!("Pessoa {}", self.0.below(500)),
            3 => format!("p{}@example.com", self.0.below(500)),
            _ => (*self.0.one(&TEXTS)).to_owned(),
        }
    }

    fn value(&self) -> String {
        if self.0.chance(15) {
            return (*self.0.one(&ODD)).to_owned();
        }
        json!(self.text()).to_string()
    }

    /// JSON text of an object, in which names may stand twice.
    fn object(&self) -> String {
        let mut fields: Vec<_> = (0..self.0.below(9))
            .map(|_| format!("{}:{}", json!(self.name()), self.value()))
            .collect();
        if self.0.chance(60) {
            fields.push("\"nome\":\"Bia\"".to_owned());
        }
        let mark = if self.0.chance(5) { "\u{feff} " } else { "" };
        format!("{mark}{{{}}}", fields.join(","))
    }

    fn many(&self) -> String {
        let fields = (0..45 + self.0.below(10)).map(|at| format!("\"f{at}\":{}", self.value()));
        format!("{{\"nome\":\"Bia\",{}}}", fields.collect::<Vec<_>>().join(","))
    }

    fn nested(&self, depth: u64) -> String {
        let depth = usize::try_from(depth).expect("small");
        let (opens, closes) = if self.0.chance(50) {
            ("[", "]")
        } else {
            ("{\"a\":", "}")
        };
        let inner = format!("{}1{}", opens.repeat(depth), closes.repeat(depth));
        format!("{{\"nome\":\"Bia\",{}:{inner}}}", json!(self.name()))
    }

    /// Pairs, with percent signs as they should be or, in a body, not.
    fn pairs(&self, is_body: bool) -> String {
        let mut pairs: Vec<_> = (0..1 + self.0.below(6))
            .map(|_| {
                format!(
                    "{}={}",
                    self.encoded(&self.name(), is_body),
                    self.encoded(&self.text(), is_body)
                )
            })
            .collect();
        if self.0.chance(60) {
            pairs.push("nome=Bia".to_owned());
        }
        pairs.join("&")
    }

    fn encoded(&self, text: &str, is_body: bool) -> String {
        let mut encoded = String::new();
        // A head of a request is not as long.
        for byte in text.bytes().take(if is_body { usize::MAX } else { 300 }) {
            match byte {
                b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' => encoded.push(char::from(byte)),
                _ if is_body && byte.is_ascii() && self.0.chance(10) => encoded.push(char::from(byte)),
                b' ' if self.0.chance(50) => encoded.push('+'),
                _ => encoded.push_str(&format!("%{byte:02X}")),
            }
        }
        if self.0.chance(4) {
            encoded.push_str(*self.0.one(&["%FF", "%C3", "%00"]));
        }
        if is_body && self.0.chance(4) {
            encoded.push_str(*self.0.one(&["%", "%z1", "%2"]));
        }
        encoded
    }

    /// Changes some bytes, or leaves the rest away.
    fn spoil(&self, body: &mut Vec<u8>) {
        for _ in 0..1 + self.0.below(3) {
            if body.is_empty() {
                return;
            }
            let at = usize::try_from(self.0.below(body.len() as u64)).expect("an index");
            match self.0.below(4) {
                0 => body.truncate(at),
                1 => body[at] = self.byte(),
                2 => body.insert(at, self.byte()),
                _ => drop(body.remove(at)),
            }
        }
    }
}

/// The values that a submission sends, by name: every one alone, and those of a repeated name joined.
#[derive(Default)]
struct Sent(BTreeMap<String, Vec<Value>>);

impl Sent {
    fn add(&mut self, hostile: &Hostile) {
        self.add_pairs(hostile.query.as_bytes());
        let text = hostile
            .body
            .strip_prefix(b"\xEF\xBB\xBF")
            .unwrap_or(&hostile.body);
        self.add_pairs(text.trim_ascii());
        if let Ok(Value::Object(fields)) = shared::json::parse(text) {
            for (name, value) in fields {
                self.0.entry(name).or_default().push(value);
            }
        }
    }

    fn add_pairs(&mut self, text: &[u8]) {
        let mut joined = BTreeMap::<String, Vec<String>>::new();
        for pair in text.split(|byte| *byte == b'&') {
            let at = pair.iter().position(|byte| *byte == b'=').unwrap_or(pair.len());
            let value = decoded(pair.get(at + 1..).unwrap_or_default());
            joined.entry(decoded(&pair[..at])).or_default().push(value);
        }
        for (name, values) in joined {
            let known = self.0.entry(name).or_default();
            known.push(values.join(", ").into());
            known.extend(values.into_iter().map(Value::from));
        }
    }

    /// Whether a field of the lead is a value that was sent under a name, as text.
    fn has_text(&self, name: &str, held: &Value) -> bool {
        let mut sent = self.0.get(name).into_iter().flatten();
        sent.any(|value| match value {
            Value::String(text) => *held == text.trim(),
            Value::Number(number) => *held == number.to_string(),
            _ => false,
        })
    }

    fn has(&self, name: &str, held: &Value) -> bool {
        self.0.get(name).is_some_and(|values| values.contains(held))
    }
}

/// The text of percent-encoded bytes.
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
    String::from_utf8_lossy(&text).into_owned()
}

/// Requires that a lead has nothing but what it had and what was sent.
fn judge(lead: &Lead, before: &Lead, sent: &Sent) {
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
        let is_right = *held == had[name] || (may_be_new && sent.has_text(from, held));
        assert!(is_right, "{name} of {}: {held} was not sent", lead.id);
    }
    for (alias, held) in &lead.custom {
        let is_right =
            before.custom.get(alias) == Some(held) || (alias == "cargo" && sent.has("cargo", held));
        assert!(is_right, "{alias} of {}: {held} was not sent", lead.id);
    }
    for tags in lead
        .utm_tags
        .iter()
        .filter(|tags| !before.utm_tags.contains(tags))
    {
        for (name, held) in tags.as_object().expect("an object") {
            let was_sent = name.starts_with("utm_") && sent.has(name, held);
            assert!(was_sent, "{name} of {}: {held} was not sent", lead.id);
        }
    }
}

#[tokio::test]
async fn ten_thousand_hostile_submissions_do_no_harm() {
    let world = world(&json!({})).await;
    let before: BTreeMap<_, _> = world
        .leads()
        .await
        .into_iter()
        .map(|lead| (lead.id.get(), lead))
        .collect();
    let maker = Maker(Dice::new(from_environment("MODEL_SEED", 20_261_122)));
    let (mut sent, mut statuses) = (BTreeMap::<u64, Sent>::new(), BTreeMap::<u16, u64>::new());
    for turn in 0..SUBMISSIONS {
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
            400 | 404 | 413 => assert!(answer.cost.write_units() <= 0.0, "{}", told()),
            _ => panic!("{}", told()),
        }
    }
    println!("{statuses:?}");
    let nothing = Sent::default();
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
        made > 500 && statuses[&200] > 2_000 && statuses[&400] > 2_000,
        "{made} {statuses:?}"
    );
    world.is_sound().await;
}
