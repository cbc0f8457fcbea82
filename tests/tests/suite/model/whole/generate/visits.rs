use serde_json::{Value, json};

use super::super::reference::clock::{date, day, seconds, time};
use super::super::reference::meetings::grid;
use super::{Maker, Request};

/// Numbers with and without country code and ninth digit, of leads, of a profile and unknown ones.
const PHONES: [&str; 17] = [
    "",
    "anônimo",
    "5511973263471",
    "551173263471",
    "11 97326-3471",
    "(11) 7326-3471",
    "4136782554",
    "+55 41 3678-2554",
    "551171629072",
    "5511971629072",
    "5511955550001",
    "551155550001",
    "11955550002",
    "5511987650001",
    "11 8765-0001",
    "+47 91 23 45 67",
    "4791234567",
];

impl Maker<'_> {
    /// One of the next days.
    fn coming_day(&self) -> i64 {
        let ahead = i64::try_from(self.dice.below(9)).expect("small");
        day(seconds(&self.reference.now)) + ahead
    }

    /// A time, mostly one of a calendar's starts, and the calendar's link.
    fn time_to_book(&self) -> (String, String) {
        let calendars: Vec<_> = self.reference.calendars().collect();
        let calendar = *self.dice.one(&calendars);
        let day = self.coming_day();
        let times = grid(calendar, day);
        let at = if times.is_empty() || self.dice.chance(8) {
            seconds(&format!("{}T09:10:00.000Z", date(day)))
        } else {
            let ahead = times.iter().find(|time| **time >= seconds(&self.reference.now));
            *ahead
                .filter(|_| self.dice.chance(25))
                .unwrap_or(self.dice.one(&times))
        };
        let link = calendar["keyName"].as_str().expect("a link");
        (link.to_owned(), time(at))
    }

    pub fn booking(&self) -> Request {
        let dice = self.dice;
        let (link, date) = self.time_to_book();
        let mut body = json!({ "keyName": link, "date": date });
        if dice.chance(35) {
            let nth = dice.below(1000);
            body["leadId"] = Value::Null;
            body["formData"] =
                json!({ "firstname": "Eva", "email": format!("eva{nth}@example.com"), "assunto": "casa" });
        } else {
            body["leadId"] = json!(self.lead());
        }
        let (_, opportunities) = self.reference.known();
        if dice.chance(25) && !opportunities.is_empty() {
            let opportunity = *dice.one(&opportunities);
            body["opportunityId"] = json!(opportunity);
            let lead = self.reference.lead_of(opportunity);
            if let Some(lead) = lead.filter(|_| dice.chance(80)) {
                body["leadId"] = json!(lead);
                body.as_object_mut().expect("a body").shift_remove("formData");
            }
        }
        if dice.chance(35) {
            let id = 1 + dice.below(self.reference.meetings_made() + 1);
            let of = if dice.chance(15) { id + 1 } else { id };
            body["properties"] = json!({ "rescheduleMeetingId": id, "rescheduleKey": format!("$key:{of}") });
        }
        ("POST", "/calendarmeeting".to_owned(), body)
    }

    pub fn calendar(&self) -> Request {
        let dice = self.dice;
        let from = date(self.coming_day());
        let (page, limit) = (dice.one(&[0, 0, 1, 2, 100_000]), dice.one(&[1, 3, 100]));
        let calendar = dice.one(&["5", "pub_5", "6", "pub_6", "7", "99"]);
        let path = match dice.below(6) {
            0 => "/pcalendar?query={calendars{id,nextMeeting}}".to_owned(),
            1 => "/pcalendar".to_owned(),
            2 => {
                let link = dice.one(&["demo", "demo", "visita", "visita", "fechada", "sala"]);
                let to = date(self.coming_day() + 9);
                format!(
                    "/calendarmeeting/slots?keyName={link}&from={from}T00:00:00.000Z&to={to}T11:00:00.000Z"
                )
            }
            3 => format!("/calendarmeeting/{calendar}?page={page}&limit={limit}"),
            4 => format!("/calendarmeeting/{calendar}?from={from}T00:00:00.000Z&page={page}&limit={limit}"),
            _ => {
                format!("/calendarmeeting/{calendar}?from=2026-11-01T00:00:00.000Z&page={page}&limit={limit}")
            }
        };
        ("GET", path, Value::Null)
    }

    pub fn call(&self) -> Request {
        let dice = self.dice;
        let mut data = json!({ "user": dice.one(&[7, 8, 8, 12, 12, 99]), "leadPhone": dice.one(&PHONES),
            "type": dice.one(&["INCOMING", "OUTGOING"]), "status": "COMPLETE", "duration": 5, "record": false,
            "service": "x" });
        if dice.chance(30) {
            data["lead"] = json!(self.lead());
        }
        (
            "POST",
            "/voip/webhook".to_owned(),
            json!({ "event": "call", "data": data }),
        )
    }

    pub fn report(&self) -> Request {
        let dice = self.dice;
        let days = |most| i64::try_from(dice.below(most)).expect("small");
        let from = self.coming_day() - days(100);
        let path = match dice.below(4) {
            0 => "/advancedreports".to_owned(),
            1 => format!("/reportchart/{}", 1 + dice.below(5)),
            _ => {
                let (from, to) = (date(from), date(from + days(60)));
                format!("/reportchart/{}?from={from}&to={to}", 1 + dice.below(4))
            }
        };
        ("GET", path, Value::Null)
    }
}
