//! Applies responses to the expected state, and checks them.

use serde_json::{Value, json};

use super::deed::{Deed, Look, guest, phone, reference};
use super::ledger::{Fate, Ledger, Life, Meeting, Opportunity, Person, Shape};
use super::wire::Answer;

impl Shape {
    /// Whether a record has this shape. Its value is a number in some responses and text in others (C-33).
    pub fn is_of(&self, record: &Value) -> bool {
        let value = match &record["value"] {
            Value::String(text) => *text == format!("{}.00", self.value),
            number => number
                .as_f64()
                .is_some_and(|number| format!("{number}") == self.value.to_string()),
        };
        let status = record["status"].as_str().unwrap_or("open");
        let dated = |name: &str| !record[name].is_null();
        value
            && record["crm_column"] == self.column
            && status == self.status
            && (record["archived"] == 1) == self.archived
            && dated("gain_date") == (status == "gain")
            && dated("lost_date") == (status == "lost")
    }
}

impl Ledger {
    /// Applies a response.
    pub fn settle(&mut self, number: usize, answer: Answer) {
        let deed = self.requests[number].deed.clone();
        let told = format!("{deed:?}: {answer:?}");
        match &deed {
            Deed::Sell { lead, shape } => self.sold(number, *lead, *shape, &answer),
            Deed::Change { opportunity, to, .. } => self.changed(*opportunity, *to, &answer),
            Deed::Book { lead, date, .. } => self.booked(number, *lead, date, &answer),
            Deed::Move { meeting, date } => self.moved(*meeting, date, &answer),
            Deed::Call { .. } => assert_eq!(answer.status, 201, "{told}"),
            Deed::Archive { leads, archived } => self.archived(leads, *archived, &answer),
            Deed::Delete { leads } => self.deleted(leads, &answer),
            Deed::Look(look) => self.looked(*look, &answer),
        }
        if let Some(lead) = deed.holds() {
            self.person(lead).busy = false;
        }
        if !matches!(deed, Deed::Look(_)) {
            self.answered += 1;
        }
        self.requests[number].fate = Fate::Answered(answer);
    }

    fn sold(&mut self, request: usize, lead: u64, shape: Shape, answer: &Answer) {
        if answer.status == 400 {
            assert!(!self.is_here(lead), "a lead that is there is unknown: {answer:?}");
            return;
        }
        let body = &answer.body;
        let right = answer.status == 200
            && body["title"] == *reference(request)
            && (answer.replayed || shape.is_of(body));
        assert!(right, "{shape:?}: {answer:?}");
        self.knows_opportunity(Self::number(body, "/id"), request, lead, shape);
    }

    /// Adds an opportunity.
    pub fn knows_opportunity(&mut self, id: u64, request: usize, lead: u64, shape: Shape) {
        let opportunity = Opportunity {
            request,
            lead,
            shape,
            next: None,
            changes: 0,
            moves: 0,
            busy: false,
        };
        let before = self.opportunities.insert(id, opportunity);
        assert!(before.is_none(), "opportunity {id} is told twice");
    }

    fn changed(&mut self, id: u64, to: Shape, answer: &Answer) {
        let right = answer.status == 200 && to.is_of(&answer.body["data"]);
        assert!(right, "{id} to {to:?}: {answer:?}");
        let known = self.opportunities.get_mut(&id).unwrap();
        (known.next, known.busy) = (None, false);
        known.change(to);
    }

    fn booked(&mut self, request: usize, lead: Option<u64>, date: &str, answer: &Answer) {
        match answer.status {
            409 => assert!(self.wanted[date] > 1, "nobody else wants {date}: {answer:?}"),
            400 => assert!(lead.is_some_and(|lead| !self.is_here(lead)), "{answer:?}"),
            _ => {
                assert_eq!(answer.status, 200, "{answer:?}");
                let meeting = &answer.body["data"];
                assert!(answer.replayed || meeting["date"] == *date, "{date}: {answer:?}");
                let lead = lead.unwrap_or_else(|| {
                    let lead = Self::number(meeting, "/leadId");
                    self.knows_guest(lead, request);
                    lead
                });
                let proof = meeting["rescheduleKey"].as_str().map(str::to_owned);
                assert!(proof.is_some(), "{answer:?}");
                self.knows_meeting(Self::number(meeting, "/id"), lead, date, proof);
            }
        }
    }

    /// Adds the lead of a booking.
    pub fn knows_guest(&mut self, lead: u64, request: usize) {
        let mark = guest(request);
        let person = Person {
            created: 1,
            ..Person::new(mark, phone(mark), 0)
        };
        let before = self.people.insert(lead, person);
        assert!(before.is_none(), "lead {lead} is told twice");
    }

    /// Adds a meeting.
    pub fn knows_meeting(&mut self, id: u64, lead: u64, date: &str, proof: Option<String>) {
        let meeting = Meeting {
            lead,
            date: date.to_owned(),
            next: None,
            moves: 0,
            proof,
            busy: false,
        };
        let before = self.meetings.insert(id, meeting);
        assert!(before.is_none(), "meeting {id} is told twice");
    }

    fn moved(&mut self, id: u64, date: &str, answer: &Answer) {
        let contested = self.wanted[date] > 1;
        let known = self.meetings.get_mut(&id).unwrap();
        (known.next, known.busy) = (None, false);
        if answer.status == 409 {
            assert!(contested, "nobody else wants {date}: {answer:?}");
            return;
        }
        let meeting = &answer.body["data"];
        let right = answer.status == 200 && meeting["id"] == id && meeting["date"] == date;
        assert!(right, "{id} to {date}: {answer:?}");
        known.move_to(date);
    }

    fn archived(&mut self, leads: &[u64], archived: bool, answer: &Answer) {
        assert_eq!(answer.status, 200, "{leads:?}: {answer:?}");
        let data = &answer.body["data"];
        let shown = match leads {
            [_] => std::slice::from_ref(&data["lead"]),
            _ => data["leads"].as_array().unwrap(),
        };
        let is_so = |lead: &u64| {
            let mut shown = shown.iter();
            shown.any(|shown| shown["id"] == *lead && shown["archived"] == archived)
        };
        assert!(leads.iter().all(is_so), "{leads:?}: {answer:?}");
        for lead in leads {
            let known = self.person(*lead);
            (known.next, known.busy) = (None, false);
            known.archive(archived);
        }
    }

    fn deleted(&mut self, leads: &[u64], answer: &Answer) {
        let data = &answer.body["data"];
        let told = match leads {
            [lead] => data["id"] == *lead,
            _ => data["ids"] == json!(leads),
        };
        assert!(answer.status == 200 && told, "{leads:?}: {answer:?}");
        for lead in leads {
            let known = self.person(*lead);
            (known.life, known.busy) = (Life::Gone, false);
        }
    }

    /// Acknowledged changes are visible at once (C-12).
    fn looked(&self, look: Look, answer: &Answer) {
        assert_eq!(answer.status, 200, "{look:?}: {answer:?}");
        match look {
            Look::Lead(lead) => {
                let shown = &answer.body["data"]["lead"];
                let is_so = shown["id"] == lead && shown["archived"] == self.people[&lead].archived;
                assert!(is_so, "{:?}: {answer:?}", self.people[&lead]);
            }
            Look::Tickets(lead) => {
                let shown = answer.body.as_array().unwrap().len();
                assert_eq!(shown, self.people[&lead].tickets, "{answer:?}");
            }
            _ => {}
        }
    }
}
