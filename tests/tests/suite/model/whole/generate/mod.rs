//! Random operations on existing, former and unknown records.

mod filters;
mod people;
mod sales;
mod visits;

use serde_json::{Value, json};

use super::super::Dice;
use super::op::{Ask, Op};
use super::reference::{REFUSED, Reference};
use super::setup::USERS;

const TERMS: [&str; 16] = [
    "maria", "SILVA", "joao", "973", "97326-34", "41+3678", "71629072", "lead100", "9", "çel", "s+mar",
    "com", "3471", "1005", "7", "a",
];
const VIEWS: [&str; 4] = [
    "",
    "&allFields=1",
    "&query={lead{fullname,owner{name},city}}",
    "&query={lead{owner,lastActive,points}}",
];
const LISTED: [&str; 4] = [
    "",
    "&allFields=1",
    "&query={leads{id,owner{name}}}",
    "&query={total,leads{fullname}}",
];
/// Lists without a record of their own.
const CHOICES: [&str; 10] = [
    "/crm",
    "/crm",
    "/crmfastloadv2/3",
    "/crmfastloadv2/3",
    "/crmfastloadv2/4",
    "/crmfastloadv2/9",
    "/user?limit=3&page=2&noblock=1",
    "/departament",
    "/tags",
    "/crmlossreason",
];
/// Number of last operations that can be repeated.
const REMEMBERED: usize = 60;

/// Method, path and body.
type Request = (&'static str, String, Value);

/// Generates operations.
pub struct Maker<'a> {
    pub dice: &'a Dice,
    pub reference: &'a Reference,
    pub done: &'a [Op],
}

impl Maker<'_> {
    pub fn next(&self) -> Op {
        let by = *self.dice.one(&USERS);
        if !self.reference.is_let_in(by) && self.dice.chance(60) {
            return Op::Issue { issue: by };
        }
        let (method, path, body) = match self.dice.below(1000) {
            0..60 => return self.pass(),
            60..75 => return Op::Tend { tend: true },
            75..79 => return Op::Issue { issue: by },
            79..82 => return Op::Revoke { revoke: by },
            82..112 => self.refused(),
            112..142 => return self.again(by),
            142..202 => return self.walk(by),
            202..214 => ("POST", "/leadsadvanced".to_owned(), self.advanced()),
            214..250 => ("GET", self.lead_list(), Value::Null),
            250..300 => (
                "GET",
                format!("/leads/{}?{}", self.lead(), self.dice.one(&VIEWS)),
                Value::Null,
            ),
            300..315 => ("DELETE", format!("/leads/{}", self.lead()), Value::Null),
            315..320 => (
                "DELETE",
                "/leads".to_owned(),
                json!({ "ids": [self.lead(), self.lead()] }),
            ),
            320..345 => ("POST", "/lead/archive".to_owned(), self.archive()),
            345..390 => self.lead_edit(),
            390..450 => self.creation(),
            450..580 => self.update(),
            580..600 => ("GET", (*self.dice.one(&CHOICES)).to_owned(), Value::Null),
            600..620 => self.of_lead(),
            620..735 => self.board(),
            735..765 => self.submission(),
            765..830 => self.booking(),
            830..870 => self.calendar(),
            870..925 => self.call(),
            925..945 => self.report(),
            _ => self.tickets(),
        };
        let key = self.key(&path);
        ask(by, (method, path, body), key)
    }

    /// Mostly a moment; sometimes long enough that keys, cursors, results or credentials expire.
    fn pass(&self) -> Op {
        let seconds = match self.dice.below(100) {
            0..30 => self.dice.one(&[0, 1]),
            30..60 => &60,
            60..80 => &600,
            80..94 => &3600,
            94..99 => &30_000,
            _ => &7_776_000,
        };
        Op::Pass { seconds: *seconds }
    }

    /// An idempotency key for some requests: few keys, so that they recur with other bodies.
    fn key(&self, path: &str) -> Option<String> {
        let takes = ["/crmopportunity?", "/leads?unique=", "/api/hook/"]
            .iter()
            .any(|start| path.starts_with(start))
            || ["/calendarmeeting", "/voip/webhook"].contains(&path);
        (takes && self.dice.chance(30)).then(|| format!("key-{}", self.dice.below(40)))
    }

    /// One of the last requests with a key, unchanged or with another body.
    fn again(&self, by: u64) -> Op {
        let last = self.done.iter().rev().take(REMEMBERED);
        let keyed = last.filter_map(|op| match op {
            Op::Ask(ask) if ask.key.is_some() => Some(ask),
            _ => None,
        });
        let keyed: Vec<_> = keyed.collect();
        if keyed.is_empty() {
            return ask(by, self.creation(), Some("key-0".to_owned()));
        }
        let mut again = (*self.dice.one(&keyed)).clone();
        match self.dice.below(10) {
            0 => again.by = by,
            1 => {
                (_, again.path, again.body) = match again.path.as_str() {
                    "/calendarmeeting" => self.booking(),
                    "/voip/webhook" => self.call(),
                    path if path.starts_with("/api/hook/") => self.submission(),
                    _ => self.creation(),
                }
            }
            _ => {}
        }
        Op::Ask(again)
    }

    fn refused(&self) -> Request {
        let one = self.dice.one(&REFUSED);
        (one.method, one.path.to_owned(), one.body.clone())
    }

    /// Mostly an existing lead, else a former or an unknown one.
    fn lead(&self) -> u64 {
        let (leads, _) = self.reference.known();
        if leads.is_empty() || self.dice.chance(15) {
            return 1001 + self.dice.below(12);
        }
        *self.dice.one(&leads)
    }

    fn lead_list(&self) -> String {
        let dice = self.dice;
        let search = if dice.chance(40) {
            format!("&search={}", dice.one(&TERMS))
        } else {
            String::new()
        };
        let tag = ["&tag=9", "&tag=10", "&tag=11"]
            .into_iter()
            .find(|_| dice.chance(5));
        format!(
            "/leads?page={}&limit={}&archived={}{search}{}{}",
            dice.one(&[0, 1, 1, 2, 3, 1_000_000]),
            dice.one(&[1, 2, 3, 50, 200]),
            dice.chance(30),
            tag.unwrap_or_default(),
            dice.one(&LISTED)
        )
    }

    fn advanced(&self) -> Value {
        let dice = self.dice;
        let mut body = json!({ "page": dice.one(&[0, 1, 2, 1_000_000]), "limit": dice.one(&[1, 2, 3, 50, 500]),
            "showArchived": dice.chance(30) });
        if dice.chance(40) {
            body["search"] = json!(dice.one(&TERMS).replace('+', " "));
        }
        if dice.chance(30) {
            body["query"] = json!("{total,leads{fullname,id}}");
        }
        body
    }

    fn archive(&self) -> Value {
        let archived = self.dice.chance(40);
        match self.dice.below(3) {
            0 => json!({ "archived": archived, "ids": [self.lead(), self.lead(), self.lead()] }),
            1 => json!({ "archived": archived, "id": [self.lead()] }),
            _ => json!({ "archived": archived, "id": self.lead() }),
        }
    }

    fn tickets(&self) -> Request {
        let ticket = 501 + self.dice.below(4);
        let path = match self.dice.below(4) {
            0 => {
                let body = json!({ "lead": self.lead(), "attendance": ticket.to_string() });
                return ("POST", "/sac360/relaction".to_owned(), body);
            }
            1 => format!("/sac360/lead/{}", self.lead()),
            2 => format!("/sac360/list_file_attendance/{ticket}"),
            _ => format!("/sac360/list_file_lead/{}", self.lead()),
        };
        ("GET", path, Value::Null)
    }
}

fn ask(by: u64, (method, path, body): Request, key: Option<String>) -> Op {
    Op::Ask(Ask {
        by,
        method: method.to_owned(),
        path,
        body,
        key,
        walks: false,
    })
}
