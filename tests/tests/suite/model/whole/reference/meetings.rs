//! Endpoints 11 to 13 and free times.

use serde_json::{Value, json};
use tests::bookings::{OFF_GRID, OUTSIDE, TAKEN, TOO_SOON};

use super::claims::{Claimed, mismatch};
use super::clock::{day, seconds, start, time, weekday};
use super::{Asked, Record, Reference, Said, error, number, page, text};

const MINUTE: i64 = 60;

fn invalid(details: &str) -> Said {
    (400, json!({ "error": "Invalid request", "details": details }))
}

fn coded(status: u16, code: &str, msg: &str) -> Said {
    (status, json!({ "error": code, "msg": msg }))
}

fn no_calendar() -> Said {
    coded(
        400,
        "CL006",
        "the calendar does not belong to the instance or is not active",
    )
}

/// UTC offset of a calendar's zone. None of the zones has daylight saving time.
fn offset(calendar: &Value) -> i64 {
    match calendar["timezone"].as_str() {
        Some("America/Sao_Paulo") => -180 * MINUTE,
        _ => 0,
    }
}

fn minutes(calendar: &Value, name: &str) -> i64 {
    calendar[name].as_i64().unwrap_or(0) * MINUTE
}

/// Possible starts on a day of the calendar's zone, free or taken (C-52).
pub fn grid(calendar: &Value, day: i64) -> Vec<i64> {
    let clock = |text: &Value| {
        let (hours, minutes) = text.as_str().expect("a time").split_once(':').expect("a time");
        let [hours, minutes] = [hours, minutes].map(|text| text.parse::<i64>().expect("a number"));
        start(day) - offset(calendar) + (hours * 60 + minutes) * MINUTE
    };
    let length = minutes(calendar, "durationMinutes");
    let step = length + minutes(calendar, "bufferMinutes");
    let openings = calendar["hours"][weekday(day)].as_array().into_iter().flatten();
    let starts = openings.flat_map(|opening| {
        let (opens, closes) = (clock(&opening[0]), clock(&opening[1]));
        let starts = std::iter::successors(Some(opens), move |start| Some(start + step));
        starts.take_while(move |start| start + length <= closes)
    });
    starts.collect()
}

impl Reference {
    pub fn add_meeting(&mut self, line: &Value) {
        let mut meeting = line.as_object().expect("a line").clone();
        meeting.shift_remove("kind");
        meeting.insert("opportunityId".to_owned(), Value::Null);
        meeting.insert("moves".to_owned(), json!(0));
        let id = number(&meeting, "id");
        self.last_meeting = self.last_meeting.max(id);
        self.imported_meetings.insert(id);
        self.meetings.insert(id, meeting);
    }

    pub fn calendars(&self) -> impl Iterator<Item = &Value> {
        self.calendars.values()
    }

    /// A calendar by its id or its `publicId`.
    fn calendar(&self, name: &str) -> Option<&Value> {
        self.calendars().find(|one| {
            one["publicId"] == json!(name) || name.parse().is_ok_and(|id: u64| one["id"] == json!(id))
        })
    }

    fn linked(&self, link: &str) -> Option<&Value> {
        self.calendars().find(|one| one["keyName"] == json!(link))
    }

    /// A calendar with an active link. Every user is active.
    fn active(&self, link: &str) -> Option<&Value> {
        self.linked(link).filter(|one| one["isPublished"] == json!(true))
    }

    fn meetings_on<'a>(&'a self, calendar: &'a Value) -> impl Iterator<Item = &'a Record> {
        self.meetings
            .values()
            .filter(|one| one["calendarId"] == calendar["id"])
    }

    /// Whether a meeting with buffer overlaps another one with buffer (C-52).
    fn is_taken(&self, calendar: &Value, from: i64, but: Option<u64>) -> bool {
        let until = from + minutes(calendar, "durationMinutes") + minutes(calendar, "bufferMinutes");
        let shares = |one: &Value| one["sharesTime"] != json!(false);
        self.meetings.values().any(|one| {
            let on = &self.calendars[&number(one, "calendarId")];
            let concerns = on["id"] == calendar["id"]
                || one["userId"] == calendar["userId"] && shares(on) && shares(calendar);
            let ends = seconds(text(one, "endDate")) + minutes(on, "bufferMinutes");
            let is_other = one["status"] != json!("canceled") && Some(number(one, "id")) != but;
            concerns && is_other && from < ends && seconds(text(one, "date")) < until
        })
    }

    fn is_too_soon(&self, calendar: &Value, from: i64) -> bool {
        from < seconds(&self.now) + minutes(calendar, "minimumNoticeMinutes")
    }

    /// Whether a time is after the horizon.
    fn is_too_late(&self, calendar: &Value, from: i64) -> bool {
        let local = |time| day(time + offset(calendar));
        let days = calendar["horizon"]["days"].as_i64();
        days.is_some_and(|days| local(from) > local(seconds(&self.now)) + days)
    }

    /// The reason against a meeting at a time.
    fn judge_time(&self, calendar: &Value, from: i64, moved: Option<u64>) -> Result<(), &'static str> {
        if self.is_too_soon(calendar, from) {
            return Err(TOO_SOON);
        }
        if !grid(calendar, day(from + offset(calendar))).contains(&from) {
            return Err(OFF_GRID);
        }
        if self.is_too_late(calendar, from) {
            return Err(OUTSIDE);
        }
        if self.is_taken(calendar, from, moved) {
            return Err(TAKEN);
        }
        Ok(())
    }

    /// Endpoint 13, with errors in the order of C-53.
    pub fn book(&mut self, asked: &Asked<'_>) -> Said {
        let body = asked.body;
        let claim = self.key_claim(asked);
        match self.claims.find(claim.as_ref(), &self.now) {
            Claimed::Free => {}
            Claimed::Other => return mismatch(asked),
            Claimed::Done(made) => {
                self.replayed = true;
                return (200, json!({ "msg": "created", "data": self.meetings[&made] }));
            }
        }
        let link = body["keyName"].as_str().expect("a name");
        let moved = body["properties"]["rescheduleMeetingId"].as_u64();
        if let Some(id) = moved
            && let Some(refused) = self.refuse_change(id, link, body)
        {
            return refused;
        }
        let Some(calendar) = self.active(link).cloned() else {
            return no_calendar();
        };
        if moved.is_none()
            && let Some(refused) = self.refuse_references(body)
        {
            return refused;
        }
        let from = seconds(body["date"].as_str().expect("a date"));
        if let Err(msg) = self.judge_time(&calendar, from, moved) {
            return coded(409, "slot_unavailable", msg);
        }
        let until = time(from + minutes(&calendar, "durationMinutes"));
        let (id, meeting) = match moved {
            Some(id) => (id, self.move_meeting(id, &time(from), &until)),
            None => self.new_meeting(&calendar, &time(from), &until, body),
        };
        if let Some(lead) = meeting["leadId"].as_u64() {
            self.touch(lead);
        }
        self.claims.keep(claim, id, &self.now);
        (200, json!({ "msg": "created", "data": meeting }))
    }

    /// The refusal of a lead or an opportunity.
    fn refuse_references(&self, body: &Value) -> Option<Said> {
        let lead = body["leadId"].as_u64();
        if lead.is_some_and(|lead| !self.leads.contains_key(&lead)) {
            let msg = "the lead does not exist or does not belong to the instance";
            return Some(coded(400, "CL008", msg));
        }
        let one = self.opportunities.get(&body["opportunityId"].as_u64()?);
        let is_leads = lead.is_some() && one.is_some_and(|one| one["lead_id"] == json!(lead));
        let details = "opportunityId: must be an opportunity of the lead, and null for a new one";
        (!is_leads).then(|| invalid(details))
    }

    /// The refusal of a move by key or state (C-53). Imported meetings have no known key.
    fn refuse_change(&self, id: u64, link: &str, body: &Value) -> Option<Said> {
        let proof = body["properties"]["rescheduleKey"].as_str().unwrap_or_default();
        let meeting = self.meetings.get(&id).filter(|one| {
            let calendar = self.linked(link);
            calendar.is_some_and(|calendar| one["calendarId"] == calendar["id"])
        });
        let is_proved = !self.imported_meetings.contains(&id) && proof == format!("$key:{id}");
        match meeting.filter(|_| is_proved) {
            None => Some(invalid("rescheduleKey")),
            Some(one) if one["status"] == json!("canceled") => Some(invalid("canceled")),
            Some(one) if text(one, "date") <= self.now.as_str() => Some(invalid("past")),
            Some(_) => None,
        }
    }

    fn move_meeting(&mut self, id: u64, date: &str, end: &str) -> Record {
        let meeting = self.meetings.get_mut(&id).expect("a meeting");
        for (name, value) in [
            ("date", date),
            ("endDate", end),
            ("status", "rescheduled"),
            ("updateDate", &self.now),
        ] {
            meeting.insert(name.to_owned(), json!(value));
        }
        let moves = number(meeting, "moves") + 1;
        meeting.insert("moves".to_owned(), json!(moves));
        meeting.clone()
    }

    fn new_meeting(&mut self, calendar: &Value, date: &str, end: &str, body: &Value) -> (u64, Record) {
        let lead = body["leadId"].as_u64().unwrap_or_else(|| {
            let form = &body["formData"];
            self.make_lead(
                json!({ "firstname": form["firstname"], "email": form["email"], "createdByType": "booking" }),
            )
        });
        self.last_meeting += 1;
        let assunto = body["formData"].get("assunto");
        let meeting = json!({
            "id": self.last_meeting, "calendarId": calendar["id"], "date": date, "endDate": end, "leadId": lead,
            "opportunityId": body["opportunityId"], "userId": calendar["userId"], "status": "scheduled",
            "createDate": self.now, "updateDate": self.now, "properties": {}, "moves": 0,
            "formData": assunto.map_or_else(|| json!({}), |assunto| json!({ "assunto": assunto })),
        });
        let meeting = meeting.as_object().expect("an object").clone();
        self.meetings.insert(self.last_meeting, meeting.clone());
        (self.last_meeting, meeting)
    }

    pub fn forget_meetings(&mut self, lead: u64) {
        for meeting in self
            .meetings
            .values_mut()
            .filter(|one| one["leadId"] == json!(lead))
        {
            meeting.insert("leadId".to_owned(), Value::Null);
            meeting.insert("formData".to_owned(), Value::Null);
        }
    }

    pub fn list_meetings(&self, asked: &Asked<'_>, calendar: &str) -> Said {
        if !self.people.may(asked.by, "calendars") {
            return error(403);
        }
        let Some(calendar) = self.calendar(calendar) else {
            return error(404);
        };
        let from = match asked.param("from") {
            "" => self.now.as_str(),
            from => from,
        };
        let meetings = self.meetings_on(calendar);
        let mut meetings: Vec<_> = meetings.filter(|one| text(one, "date") >= from).collect();
        meetings.sort_by_key(|one| (text(one, "date"), number(one, "id")));
        let total = meetings.len();
        let (nth, limit) = (asked.number("page", 0), asked.number("limit", 50));
        let shown = page(meetings, nth * limit, limit);
        (200, json!({ "data": { "total": total, "meetings": shown } }))
    }

    pub fn list_calendars(&self, asked: &Asked<'_>) -> Said {
        if !self.people.may(asked.by, "calendars") {
            return error(403);
        }
        let selected = asked.param("query");
        let calendars = self.calendars().map(|calendar| {
            let going = self
                .meetings_on(calendar)
                .filter(|one| one["status"] != json!("canceled"));
            let dates = going.map(|one| text(one, "date"));
            let next = dates.filter(|date| *date > self.now.as_str()).min();
            if !selected.is_empty() {
                return json!({ "id": calendar["id"], "nextMeeting": next });
            }
            json!({ "id": calendar["id"], "name": calendar["name"], "isPublished": calendar["isPublished"],
                "createDate": calendar["createDate"], "userId": calendar["userId"],
                "updateDate": calendar["updateDate"], "publicId": calendar["publicId"], "nextMeeting": next })
        });
        let calendars: Vec<_> = calendars.collect();
        (200, json!({ "data": { "calendars": calendars } }))
    }

    /// The bookable starts in a range.
    pub fn list_slots(&self, asked: &Asked<'_>) -> Said {
        let Some(calendar) = self.active(asked.param("keyName")) else {
            return no_calendar();
        };
        let (from, to) = (seconds(asked.param("from")), seconds(asked.param("to")));
        let starts = (day(from) - 1..=day(to) + 1).flat_map(|day| grid(calendar, day));
        let free = starts
            .filter(|start| (from..to).contains(start) && self.judge_time(calendar, *start, None).is_ok());
        let free: Vec<_> = free.map(time).collect();
        let shown = json!({ "name": calendar["name"], "company": calendar["company"],
            "host": calendar["host"], "durationMinutes": calendar["durationMinutes"] });
        let data = json!({ "slots": free, "timezone": calendar["timezone"], "calendar": shown });
        (200, json!({ "data": data }))
    }
}
