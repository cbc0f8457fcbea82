//! Hostile submissions by chance.

use std::fmt::Write as _;

use serde_json::json;

use crate::model::Dice;

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
pub struct HostileSubmission {
    pub query: String,
    pub media_type: Option<&'static str>,
    pub body: Vec<u8>,
}

/// Chooses submissions.
pub struct SubmissionDice(pub Dice);

impl SubmissionDice {
    pub fn next(&self) -> HostileSubmission {
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
        HostileSubmission {
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
        let mut pairs: Vec<_> = (0..=self.0.below(6))
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
                _ => write!(encoded, "%{byte:02X}").expect("text"),
            }
        }
        if self.0.chance(4) {
            let cut: &&str = self.0.one(&["%FF", "%C3", "%00"]);
            encoded.push_str(cut);
        }
        if is_body && self.0.chance(4) {
            let cut: &&str = self.0.one(&["%", "%z1", "%2"]);
            encoded.push_str(cut);
        }
        encoded
    }

    /// Changes some bytes, or leaves the rest away.
    fn spoil(&self, body: &mut Vec<u8>) {
        for _ in 0..=self.0.below(3) {
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
