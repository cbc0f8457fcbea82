//! Random requests for columns and boards (endpoint 10), and what the model answers to them.

use serde_json::{Map, Value, json};
use shared::text::fold;
use tests::sales::FIELDS;
use tests::world::at;

use super::Bench;
use super::state::{FUNNELS, SELLERS, number, sees_funnel, text};

const TERMS: [&str; 12] = [
    "",
    "  ",
    "maria",
    "SILVA",
    "joao",
    "nobrega",
    "973",
    "97326-34",
    "lead100",
    "renova",
    "são joão",
    "1",
];

impl Bench {
    /// A body for endpoint 10 with random filters.
    fn filters(&self) -> Map<String, Value> {
        let dice = &self.dice;
        let mut body = Map::new();
        let mut put = |percent, name: &str, value: Value| {
            if dice.chance(percent) {
                body.insert(name.to_owned(), value);
            }
        };
        put(
            40,
            "filterByUsers",
            json!(dice.some(&[7, 8, 9, 10, 11, 13, 14, 15, 99, 0])),
        );
        put(40, "filterByStatus", json!(dice.some(&["open", "gain", "lost"])));
        put(25, "filterByCreateDate", self.range());
        put(15, "filterByExpectedCloseDate", self.range());
        put(
            25,
            "filters",
            Value::Array((0..dice.below(4)).map(|_| self.condition()).collect()),
        );
        put(25, "search", json!(dice.one(&TERMS)));
        put(50, "searchBy", json!(dice.one(&["lead", "opportunity"])));
        put(30, "onlyArchived", json!(dice.chance(50)));
        body
    }

    fn range(&self) -> Value {
        let end = |earlier: u32| {
            let days = u32::try_from(self.dice.below(400)).expect("small");
            match self.dice.below(4) {
                0 => Value::Null,
                1 => json!(
                    at("2026-01-02T00:00:00Z")
                        .plus_days(days)
                        .plus_seconds(earlier)
                        .to_string()
                ),
                _ => json!(&at("2026-01-02T00:00:00Z").plus_days(days).to_string()[..10]),
            }
        };
        if self.dice.chance(10) {
            return Value::Null;
        }
        let (start, end) = (end(0), end(12_345));
        let days = [&start, &end].map(|end| end.as_str().map(day_of));
        let in_order = matches!(&days, [Some(start), Some(end)] if start <= end) || days.contains(&None);
        json!({ "start": if in_order { start } else { Value::Null }, "end": end })
    }

    fn condition(&self) -> Value {
        let dice = &self.dice;
        let names = [FIELDS[0], FIELDS[1], "Número do pedido", "nada"];
        let values = ["google", "Google", "GOO", "", "7", "true", "indica", "zzz"];
        let mut condition = json!({
            "filterType": dice.one(&["opField", "opField", "opField", "opField", "leadField"]),
            "properties": { "field": dice.one(&names), "value": dice.one(&values) },
        });
        if dice.chance(70) {
            condition["properties"]["operator"] =
                json!(dice.one(&["=", "!=", "contains", "like", "isNotNull"]));
        }
        if dice.chance(60) {
            condition["operator"] = json!(dice.one(&["AND", "OR", "or", "xor"]));
        }
        if dice.chance(30) {
            condition["category"] = json!(dice.one(&["opportunity", "opportunity", "lead"]));
        }
        condition
    }

    pub async fn read_column(&mut self) {
        let (funnel, columns) = *self.dice.one(&FUNNELS);
        let (page, limit) = (self.dice.below(5), *self.dice.one(&[1, 3, 10, 25, 100]));
        let mut body = self.filters();
        let column = *self.dice.one(columns);
        body.insert("page".to_owned(), json!(page));
        body.insert("limit".to_owned(), json!(limit));
        body.insert("columnId".to_owned(), json!(column));
        let body = Value::Object(body);
        let Some((by, answer)) = self.ask(funnel, &body).await else {
            return;
        };
        let expected = self.expected(by, funnel, column, &body);
        let skipped = usize::try_from(page.saturating_sub(1) * limit).expect("small");
        let expected: Vec<_> = expected
            .into_iter()
            .skip(skipped)
            .take(usize::try_from(limit).expect("small"))
            .collect();
        self.compare_list(&answer, &expected);
    }

    pub async fn read_board(&mut self) {
        let (funnel, columns) = *self.dice.one(&FUNNELS);
        let limit = *self.dice.one(&[1, 3, 10, 100]);
        let mut body = self.filters();
        body.insert("page".to_owned(), json!(self.dice.below(9)));
        body.insert("limit".to_owned(), json!(limit));
        let body = Value::Object(body);
        let Some((by, answer)) = self.ask(funnel, &body).await else {
            return;
        };
        assert_eq!(answer.as_array().map(Vec::len), Some(columns.len()));
        for (at, column) in columns.iter().enumerate() {
            let expected = self.expected(by, funnel, *column, &body);
            let cents: u64 = expected
                .iter()
                .map(|one| text(one, "value").replace('.', "").parse::<u64>().expect("cents"))
                .sum();
            let total = match expected.len() {
                0 => json!(0),
                _ => json!(format!("{}.{:02}", cents / 100, cents % 100)),
            };
            let shown = &answer[at];
            assert_eq!(
                (
                    &shown["id"],
                    &shown["sequence"],
                    &shown["crm"],
                    &shown["total"],
                    &shown["totalValue"]
                ),
                (
                    &json!(column),
                    &json!(at + 1),
                    &json!(funnel),
                    &json!(expected.len()),
                    &total
                ),
                "{:?}",
                self.log.last()
            );
            let first: Vec<_> = expected
                .into_iter()
                .take(usize::try_from(limit).expect("small"))
                .collect();
            self.compare_list(&shown["items"], &first);
        }
    }

    /// Sends the request as somebody; `None` where it is refused, as it must be.
    async fn ask(&mut self, funnel: u64, body: &Value) -> Option<(u64, Value)> {
        let by = *self.dice.one(&SELLERS);
        // Each as a program of its own: an offset, not a walk.
        let agent = format!("model {}", self.dice.below(1 << 60));
        let uri = format!(
            "/crm/opportunities/{funnel}?i=acme&apitoken={}",
            self.wallet(by).key
        );
        let answer = self
            .world
            .call("POST", &uri)
            .header("user-agent", &agent)
            .json(body)
            .send()
            .await;
        self.log
            .push(format!("{by} asks for {body} of {funnel}: {}", answer.status));
        if !sees_funnel(by, funnel) {
            answer.is(401, &json!({ "error": "Unauthorized" }));
            return None;
        }
        assert_eq!(answer.status, 200, "{} {:?}", answer.body, self.log.last());
        let discarded = body["filters"]
            .as_array()
            .map_or(0, |filters| filters.iter().filter(|one| !is_good(one)).count());
        let told = answer
            .headers
            .get("x-filters-ignored")
            .and_then(|value| value.to_str().ok());
        assert_eq!(
            told,
            Some(discarded.to_string().as_str()),
            "{:?}",
            self.log.last()
        );
        Some((by, answer.body))
    }

    fn compare_list(&self, answer: &Value, expected: &[&Map<String, Value>]) {
        let ids = |list: &[&Map<String, Value>]| list.iter().map(|one| number(one, "id")).collect::<Vec<_>>();
        let shown: Vec<_> = answer
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(Value::as_object)
            .collect();
        assert_eq!(ids(&shown), ids(expected), "{:?}", self.log.last());
        for (shown, expected) in answer.as_array().expect("a list").iter().zip(expected) {
            self.compare_record(shown, expected, false);
        }
    }

    /// What of a column a user is to see.
    fn expected(&self, by: u64, funnel: u64, column: u64, body: &Value) -> Vec<&Map<String, Value>> {
        let holds = |name: &str, value: &Value| {
            let wanted = body[name].as_array().filter(|wanted| !wanted.is_empty());
            wanted.is_none_or(|wanted| wanted.contains(value))
        };
        let seen = self.model.seen(by).into_iter().filter(|one| {
            number(one, "crm_id") == funnel
                && number(one, "crm_column") == column
                && (number(one, "archived") == 1) == (body["onlyArchived"] == json!(true))
                && holds("filterByUsers", &one["user"])
                && holds("filterByStatus", &one["status"])
                && covers(&body["filterByCreateDate"], &one["createDate"])
                && covers(&body["filterByExpectedCloseDate"], &one["expectedCloseDate"])
                && conditions_hold(&body["filters"], funnel, &one["fields"])
                && self.is_found(one, body)
        });
        seen.collect()
    }

    fn is_found(&self, one: &Map<String, Value>, body: &Value) -> bool {
        let term = body["search"].as_str().unwrap_or_default().trim();
        if term.is_empty() {
            return true;
        }
        let has = |text: &str| fold(text).contains(&fold(term));
        if body["searchBy"] == json!("opportunity") {
            return has(text(one, "title")) || number(one, "id").to_string().contains(term);
        }
        let lead = &self.model.leads[&number(one, "lead_id")];
        let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
        let dials = !digits(term).is_empty()
            && !term.chars().any(char::is_alphabetic)
            && lead
                .numbers()
                .any(|number| digits(number).contains(&digits(term)));
        has(&lead.fullname()) || lead.email.as_deref().is_some_and(has) || dials
    }
}

/// The day of São Paulo that an end of a range names, or on which it lies.
fn day_of(end: &str) -> String {
    if end.len() == 10 {
        return end.to_owned();
    }
    let local = at(end).unix_millis() - 3 * 3_600_000;
    let local = shared::time::Timestamp::from_unix_millis(local).expect("a time");
    local.to_string()[..10].to_owned()
}

/// Days begin at 03:00 UTC in São Paulo in 2026 and 2027; times are compared as text.
fn covers(range: &Value, date: &Value) -> bool {
    let start = |day: &str| format!("{day}T03:00:00.000Z");
    let from = range["start"].as_str().map(|start_text| match start_text.len() {
        10 => start(start_text),
        _ => start_text.to_owned(),
    });
    let next = |day: String| at(&format!("{day}T00:00:00Z")).plus_days(1).to_string();
    let until = range["end"].as_str().map(|end| start(&next(day_of(end))[..10]));
    match date.as_str() {
        None => from.is_none() && until.is_none(),
        Some(date) => from.is_none_or(|from| *from <= *date) && until.is_none_or(|until| *date < *until),
    }
}

fn is_good(condition: &Value) -> bool {
    let operator = condition["properties"]["operator"].as_str().unwrap_or("=");
    condition["filterType"] == json!("opField")
        && ["=", "!=", "contains"].contains(&operator)
        && condition
            .get("category")
            .is_none_or(|category| *category == json!("opportunity"))
}

fn conditions_hold(conditions: &Value, funnel: u64, fields: &Value) -> bool {
    let good = conditions
        .as_array()
        .into_iter()
        .flatten()
        .filter(|condition| is_good(condition));
    let held = good.fold(None, |before: Option<bool>, condition| {
        let now = holds(condition, funnel, fields);
        let or = condition["operator"]
            .as_str()
            .is_some_and(|operator| operator.eq_ignore_ascii_case("or"));
        Some(match before {
            None => now,
            Some(before) if or => before || now,
            Some(before) => before && now,
        })
    });
    held.unwrap_or(true)
}

fn holds(condition: &Value, funnel: u64, fields: &Value) -> bool {
    let properties = &condition["properties"];
    let name = properties["field"].as_str().expect("a name");
    if funnel != 3 || !FIELDS.contains(&name) {
        return false;
    }
    let wanted = properties["value"].as_str().expect("a value").to_lowercase();
    let value = fields.get(name).map(|value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
            .to_lowercase()
    });
    match (properties["operator"].as_str().unwrap_or("="), value) {
        ("!=", value) => value != Some(wanted),
        ("contains", Some(value)) => value.contains(&wanted),
        (_, value) => value == Some(wanted),
    }
}
