//! The lines of the demo: those of `demo.ndjson`, with dates that move with the calendar, and several hundred computed
//! records of the last 120 days, so that every board and report shows something.
//!
//! Generated records differ between two days only in their dates. None was created or changed on the current day.

use std::ops::Range;

use serde_json::{Value, json};
use shared::time::{Day, Timestamp};

use super::words::{CHANNELS, CITIES, FIRST_NAMES, LAST_NAMES, LOSSES, PRODUCTS, SALE_CHANNELS, USERS};

const DATA: &str = include_str!("../../demo/demo.ndjson");
/// The day to which the dates of the file refer.
const WRITTEN: &str = "2026-11-21";

/// Ids of computed records follow those of the file.
const LEADS: Range<u64> = 1013..1201;
const OPPORTUNITIES: Range<u64> = 14..401;
const CALLS: Range<u64> = 2..201;
const TICKETS: Range<u64> = 4..64;
const MEETINGS: Range<u64> = 5..105;

/// Age in days of the oldest computed lead. The others follow evenly until yesterday.
const OLDEST_LEAD: u64 = 119;
/// Maximum age in days of other computed records, except for the creation of meetings.
const OLDEST: u64 = 90;
/// Start of working hours in UTC: 8 o'clock in São Paulo.
const MORNING: u64 = 11;
const WORKING_DAYS: u32 = 5;
/// Number of working days with meetings, all within [`OLDEST`] days.
const MEETING_DAYS: usize = 62;
const DAY_MILLIS: i64 = 86_400_000;

/// All lines of an import, for an instance that starts now.
pub fn lines(now: Timestamp) -> Option<String> {
    let today = Day::parse(now.to_string().get(..10)?)?;
    let written = Timestamp::parse(&format!("{WRITTEN}T00:00:00Z"))?;
    let age = (now.unix_millis() - written.unix_millis()) / DAY_MILLIS;
    // Whole weeks, so that meetings stay on working days.
    let days = u64::try_from(age).unwrap_or_default() / 7 * 7;
    let mut demo = RecordGenerator {
        today,
        random: Random(20),
        lines: DATA.lines().map(|line| with_moved_dates(line, days)).collect(),
    };
    LEADS.for_each(|id| demo.add_lead(id));
    OPPORTUNITIES.for_each(|id| demo.add_opportunity(id));
    CALLS.for_each(|id| demo.add_call(id));
    TICKETS.for_each(|id| demo.add_ticket(id));
    demo.add_meetings();
    Some(demo.lines.join("\n"))
}

/// A line with every date moved by some days. Every text that begins with a date is a date.
fn with_moved_dates(line: &str, days: u64) -> String {
    let moved = line.split('"').map(|text| {
        let day = text.get(..10).and_then(Day::parse);
        day.map_or_else(
            || text.to_owned(),
            |day| format!("{}{}", day.plus_days(days), &text[10..]),
        )
    });
    moved.collect::<Vec<_>>().join("\"")
}

/// Pseudo-random numbers that are the same on every run (splitmix64).
struct Random(u64);

impl Random {
    /// A number from 0 to `bound - 1`.
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % bound
    }

    fn choose<T: Copy>(&mut self, choices: &[T]) -> T {
        let at = usize::try_from(self.below(choices.len() as u64)).unwrap_or_default();
        choices[at]
    }

    /// Returns `true` with a probability in percent.
    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

/// The lines so far.
struct RecordGenerator {
    today: Day,
    random: Random,
    lines: Vec<String>,
}

impl RecordGenerator {
    fn add(&mut self, line: &Value) {
        self.lines.push(line.to_string());
    }

    /// A time within working hours, this many days ago.
    fn ago(&mut self, days: u64) -> String {
        let (hour, minute, second) = (
            MORNING + self.random.below(9),
            self.random.below(60),
            self.random.below(60),
        );
        let day = self.today.minus_days(days);
        format!("{day}T{hour:02}:{minute:02}:{second:02}.000Z")
    }

    /// The id of a random lead that existed this many days ago.
    fn lead_known(&mut self, days: u64) -> u64 {
        let count = LEADS.end - LEADS.start;
        let existing = OLDEST_LEAD.saturating_sub(days) * count / OLDEST_LEAD;
        LEADS.start + self.random.below(existing.max(1))
    }

    fn add_lead(&mut self, id: u64) {
        let position = id - LEADS.start;
        let age = OLDEST_LEAD - position * (OLDEST_LEAD - 1) / (LEADS.end - LEADS.start - 1);
        let created = self.ago(age);
        let (city, state, _) = city(id);
        let line = json!({
            "kind": "lead", "id": id, "firstname": self.random.choose(&FIRST_NAMES),
            "lastname": self.random.choose(&LAST_NAMES),
            "email": self.random.chance(85).then(|| format!("lead{id}@example.com")),
            "mobile": format!("+{}", mobile(id)), "city": city, "state": state, "country": "Brazil",
            "timezone": "America/Sao_Paulo", "preferred_locale": "pt-BR", "owner": self.random.choose(&USERS).0,
            "points": self.random.below(12), "acquisition_channel": self.random.choose(&CHANNELS),
            "createDate": created,
        });
        self.add(&line);
    }

    /// Adds an opportunity. The older it is, the more likely it is closed and in a late column.
    fn add_opportunity(&mut self, id: u64) {
        let age = 1 + self.random.below(OLDEST);
        let is_closed = self.random.chance(15 + age * 60 / OLDEST);
        let status = match (is_closed, self.random.chance(55)) {
            (false, _) => "open",
            (true, true) => "gain",
            (true, false) => "lost",
        };
        let created = self.ago(age);
        let changed = self.random.below(age);
        // Not on the current day, and not before the creation.
        let changed = if changed == 0 {
            created.clone()
        } else {
            self.ago(changed)
        };
        let is_resale = self.random.chance(30);
        let (funnel, columns): (u64, &[u64]) = if is_resale {
            (4, &[41, 42])
        } else {
            (3, &[31, 32, 33])
        };
        let is_late = self.random.chance(age / 3);
        let column = match columns {
            [.., last] if status == "gain" || is_late => *last,
            _ => self.random.choose(columns),
        };
        let (product, price) = self.random.choose(&PRODUCTS);
        let cents = price * (60 + self.random.below(120)) + self.random.choose(&[0, 0, 50, 90]);
        let mut line = json!({
            "kind": "opportunity", "id": id, "title": product, "value": format!("{}.{:02}", cents / 100, cents % 100),
            "crm_id": funnel, "crm_column": column, "lead_id": self.lead_known(age), "status": status,
            "user": self.random.choose(&USERS).0, "createDate": created, "updateDate": changed,
            "sale_channel": self.random.choose(&SALE_CHANNELS), "fields": self.fields(id, is_resale),
        });
        self.outcome(&mut line, status, &changed);
        self.add(&line);
    }

    /// Sets the time and the reason of closing, or the expected time.
    fn outcome(&mut self, line: &mut Value, status: &str, changed: &str) {
        match status {
            "gain" => line["gain_date"] = json!(changed),
            "lost" => {
                line["lost_date"] = json!(changed);
                line["loss_reason"] = json!(self.random.choose(&LOSSES));
            }
            _ => {
                let close = self.today.plus_days(3 + self.random.below(60));
                line["expectedCloseDate"] = json!(format!("{close}T21:00:00.000Z"));
            }
        }
    }

    fn fields(&mut self, id: u64, is_resale: bool) -> Value {
        let order = format!("A-{}", 1120 + id);
        if is_resale {
            return json!({ "Último pedido": order });
        }
        json!({ "Origem do Lead": self.random.choose(&CHANNELS), " Número do pedido ": order })
    }

    /// Adds a call and its event.
    fn add_call(&mut self, id: u64) {
        let age = 1 + self.random.below(OLDEST);
        let lead = self.lead_known(age);
        let is_answered = self.random.chance(78);
        let is_incoming = self.random.chance(60);
        let (status, duration) = if is_answered {
            ("COMPLETE", 20 + self.random.below(600))
        } else {
            ("INCOMPLETE", 0)
        };
        let (user, created, number) = (self.random.choose(&USERS).0, self.ago(age), mobile(lead));
        let service = self.random.choose(&["acme-voip", "acme-voip", "ramal"]);
        let kind = if is_incoming { "INCOMING" } else { "OUTGOING" };
        self.add(&json!({
            "kind": "call", "id": id, "user": user, "leadPhone": number, "type": kind, "status": status, "duration": duration,
            "record": is_answered, "service": service, "lead": lead, "callId": format!("c-{id}"), "createDate": created,
        }));
        self.add(&json!({
            "kind": "event", "id": id, "lead": lead, "name": format!("voip.call_{}", kind.to_lowercase()), "operator": user,
            "phone": number, "status": status, "duration": duration, "callId": format!("c-{id}"), "service": service,
            "call": id, "createDate": created,
        }));
    }

    fn add_ticket(&mut self, id: u64) {
        let age = 1 + self.random.below(OLDEST);
        let (user, name) = self.random.choose(&USERS);
        let created = self.ago(age);
        let is_closed = self.random.chance(80);
        // After working hours.
        let ended = is_closed.then(|| format!("{}T21:00:00.000Z", &created[..10]));
        let line = json!({
            "kind": "ticket", "id": id, "lead_relation": self.lead_known(age),
            "status": if is_closed { "closed" } else { "open" },
            "attendant": user, "attendantName": name, "name": self.random.choose(&PRODUCTS).0,
            "type": "chatapp", "accid": "demo",
            "startDate": created, "endDate": ended, "star": is_closed.then(|| 3 + self.random.below(3)),
            "unread": 0, "sequence": id,
            "createDate": created, "updateDate": created, "chatapp_number": "554130001000",
        });
        self.add(&line);
    }

    /// Adds at most two meetings for each working day, at different hours.
    fn add_meetings(&mut self) {
        let is_working =
            |age: &u64| self.today.minus_days(*age).weekday().num_days_from_monday() < WORKING_DAYS;
        let ages: Vec<_> = (1..).filter(is_working).take(MEETING_DAYS).collect();
        let count = MEETINGS.end - MEETINGS.start;
        for (position, id) in (0..count).zip(MEETINGS) {
            // The meetings are spread evenly over the days, the oldest first.
            let index =
                usize::try_from((count - 1 - position) * MEETING_DAYS as u64 / count).unwrap_or_default();
            let (age, hour) = (ages[index], 12 + position % 3 * 3);
            let day = self.today.minus_days(age);
            let status =
                self.random
                    .choose(&["scheduled", "scheduled", "scheduled", "canceled", "rescheduled"]);
            let planned = age + 1 + self.random.below(5);
            let (created, lead) = (self.ago(planned), self.lead_known(planned));
            self.add(&json!({
                "kind": "meeting", "id": id, "calendarId": 1, "date": format!("{day}T{hour}:00:00.000Z"),
                "endDate": format!("{day}T{hour}:30:00.000Z"), "leadId": lead, "userId": 8, "status": status,
                "createDate": created, "updateDate": created,
            }));
        }
    }
}

fn city(lead: u64) -> (&'static str, &'static str, u64) {
    CITIES[usize::try_from(lead).unwrap_or_default() % CITIES.len()]
}

/// The number of a lead's mobile, with country and area.
fn mobile(lead: u64) -> String {
    format!("55{}9{}", city(lead).2, 60_000_000 + lead * 7919)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(now: &str) -> Vec<Value> {
        let text = lines(Timestamp::parse(now).unwrap()).unwrap();
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect()
    }

    fn count(records: &[Value], kind: &str) -> usize {
        records.iter().filter(|record| record["kind"] == kind).count()
    }

    #[test]
    fn the_demo_is_large_enough_to_show_something() {
        let records = records("2026-11-21T12:00:00Z");
        for (kind, expected) in [
            ("lead", 200),
            ("opportunity", 400),
            ("call", 200),
            ("event", 200),
            ("ticket", 63),
            ("meeting", 104),
        ] {
            assert_eq!(count(&records, kind), expected, "{kind}");
        }
    }

    /// No date is of the current day or later, except for planned ones.
    #[test]
    fn dates_follow_the_clock() {
        for (now, day, first) in [
            ("2026-11-21T00:00:00Z", "2026-11-21", "2026-03-11T12:00:01.123Z"),
            // Ten weeks and three days later.
            ("2027-02-02T23:59:59Z", "2027-02-02", "2026-05-20T12:00:01.123Z"),
            // A clock before the day on which the file was written moves nothing.
            ("2020-01-01T00:00:00Z", "2026-11-21", "2026-03-11T12:00:01.123Z"),
        ] {
            let records = records(now);
            let maria = records
                .iter()
                .find(|record| record["id"] == 1001 && record["kind"] == "lead");
            assert_eq!(maria.unwrap()["createDate"], first, "{now}");
            for record in &records {
                for name in ["createDate", "updateDate", "gain_date", "lost_date"] {
                    let date = record[name].as_str().unwrap_or_default();
                    assert!(date < day, "{now}: {record}");
                }
            }
        }
    }

    #[test]
    fn only_dates_differ_between_days() {
        let [one, other] = ["2026-11-21T00:00:00Z", "2026-12-05T00:00:00Z"].map(records);
        assert_eq!(one.len(), other.len());
        let title =
            |records: &[Value]| -> Vec<_> { records.iter().map(|record| record["title"].clone()).collect() };
        assert_eq!(title(&one), title(&other));
    }

    #[test]
    fn only_texts_that_begin_with_a_date_move() {
        let line = r#"{"a": "2026-12-28T10:00:00.000Z", "b": {"2026-12-24": []}, "c": "Inverno 2026", "d": "ção 2026-01-01"}"#;
        let expected = r#"{"a": "2027-01-04T10:00:00.000Z", "b": {"2026-12-31": []}, "c": "Inverno 2026", "d": "ção 2026-01-01"}"#;
        assert_eq!(with_moved_dates(line, 7), expected);
    }
}
