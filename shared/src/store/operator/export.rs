//! Reading everything of an instance in pages, for the operator's export (C-81).

use std::sync::{Arc, Mutex, PoisonError};

use super::{Operator, Unreadable};
use crate::calendar::Calendar;
use crate::call::{Call, Event};
use crate::funnel::Funnel;
use crate::id::{CallId, MeetingId, OpportunityId, TicketId};
use crate::lead::Lead;
use crate::meeting::Meeting;
use crate::people::{Company, Profile, User};
use crate::store::calendars;
use crate::store::calls::CallRecord;
use crate::store::erasure::Erasures;
use crate::store::error::StoreError;
use crate::store::item::{self, Item};
use crate::store::key::{Counter, Key};
use crate::store::leads;
use crate::store::meetings;
use crate::store::opportunities::{self, OpportunityRecord};
use crate::store::table::{PAGE, Page, Span, Table, key_of};
use crate::store::tickets;
use crate::ticket::{Ticket, TicketFile};

/// The most records that cannot be read of which the keys are kept.
const MAX_NOTED: usize = 1000;

/// The records of one kind in the order of their keys, a page at a time.
#[derive(Debug)]
pub struct Pages<T> {
    table: Table,
    /// What is still to be read.
    rest: Option<Span>,
    decode: fn(Item) -> Result<T, StoreError>,
    unreadable: Option<Arc<Mutex<Unreadable>>>,
}

impl<T> Pages<T> {
    pub(super) fn new(operator: &Operator, span: Span, decode: fn(Item) -> Result<T, StoreError>) -> Self {
        Self {
            table: operator.table().clone(),
            rest: Some(span),
            decode,
            unreadable: operator.1.unreadable.clone(),
        }
    }

    /// The next page, which may be empty; `None` behind the last. One query, of at most 1 MB. Of a lenient
    /// hand, records that cannot be read are left out and noted in [`Operator::unreadable`].
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn next(&mut self) -> Result<Option<Vec<T>>, StoreError> {
        let Some(span) = self.rest.take() else {
            return Ok(None);
        };
        let Page { items, more } = self.table.query(span.clone()).await?;
        if more {
            let last = items.last().map(key_of).transpose()?;
            self.rest = last.map(|Key { sk, .. }| Span {
                after: Some(sk),
                ..span
            });
        }
        readable(items, self.decode, self.unreadable.as_deref()).map(Some)
    }
}

/// What items hold; those that cannot be read are noted and left out, where that is wanted.
fn readable<T>(
    items: impl IntoIterator<Item = Item>,
    decode: impl Fn(Item) -> Result<T, StoreError>,
    unreadable: Option<&Mutex<Unreadable>>,
) -> Result<Vec<T>, StoreError> {
    let mut records = Vec::new();
    for item in items {
        let key = key_of(&item)?;
        match (decode(item), unreadable) {
            (Ok(record), _) => records.push(record),
            (Err(StoreError::Corrupt { cause, .. }), Some(unreadable)) => {
                let mut noted = unreadable.lock().unwrap_or_else(PoisonError::into_inner);
                noted.count += 1;
                if noted.items.len() < MAX_NOTED {
                    noted.items.push(format!("{key} cannot be read: {cause}"));
                }
            }
            (Err(error), _) => return Err(error),
        }
    }
    Ok(records)
}

/// The timeline's events in the order of their calls, a page of calls at a time.
#[derive(Debug)]
pub struct EventPages<'a> {
    operator: &'a Operator,
    calls: Pages<CallRecord>,
}

impl EventPages<'_> {
    /// The next page, which may be empty; `None` behind the last. One query and a batch of gets.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn next(&mut self) -> Result<Option<Vec<Event>>, StoreError> {
        let Some(records) = self.calls.next().await? else {
            return Ok(None);
        };
        let keys = records
            .iter()
            .filter_map(|record| Some(self.operator.keys().event(record.call.lead?, record.event?)));
        let keys: Vec<_> = keys.collect();
        let mut found = self.operator.table().get_many(keys.clone()).await?;
        let events = keys.iter().filter_map(|key| found.remove(key));
        let decode = |item| item::decode("event", item);
        readable(events, decode, self.calls.unreadable.as_deref()).map(Some)
    }
}

impl Operator {
    /// All users by id.
    #[must_use]
    pub fn users(&self) -> Pages<User> {
        let span = Span::head(self.keys().users(), PAGE);
        Pages::new(self, span, |item| item::decode("user", item))
    }

    /// All profiles by number.
    #[must_use]
    pub fn profiles(&self) -> Pages<Profile> {
        let span = Span::head(self.keys().profiles(), PAGE);
        Pages::new(self, span, |item| item::decode("profile", item))
    }

    /// All companies by id.
    #[must_use]
    pub fn companies(&self) -> Pages<Company> {
        let span = Span::head(self.keys().companies(), PAGE);
        Pages::new(self, span, |item| item::decode("company", item))
    }

    /// All leads by id.
    #[must_use]
    pub fn leads(&self) -> Pages<Lead> {
        let span = Span::head(self.keys().leads(), PAGE);
        Pages::new(self, span, leads::read)
    }

    /// All funnels by id.
    #[must_use]
    pub fn funnels(&self) -> Pages<Funnel> {
        let span = Span::head(self.keys().funnels(), PAGE);
        Pages::new(self, span, |item| item::decode("funnel", item))
    }

    /// All opportunities' records by id, with the copies in them, which may be behind.
    #[must_use]
    pub fn opportunities(&self) -> Pages<OpportunityRecord> {
        let span = Span::head(self.keys().opportunities(), PAGE);
        Pages::new(self, span, |item| opportunities::decode(&item))
    }

    /// The deleted leads of which something may be left, and which nothing may show any more (C-24).
    ///
    /// # Errors
    /// [`StoreError`] where they cannot be read.
    pub async fn erasures(&self) -> Result<Erasures, StoreError> {
        self.0.erasures().await
    }

    /// The last opportunity that was numbered, `None` before the first. An export stops there, so that it holds none of a
    /// lead or a funnel that came while it ran.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn last_opportunity(&self) -> Result<Option<OpportunityId>, StoreError> {
        let last = self.last(Counter::Opportunity, "opportunity").await?;
        Ok(OpportunityId::new(last))
    }

    /// All calendars by id.
    #[must_use]
    pub fn calendars(&self) -> Pages<Calendar> {
        let span = Span::head(self.keys().calendars(), PAGE);
        Pages::new(self, span, |item| calendars::calendar(&item))
    }

    /// The last meeting that was numbered, `None` before the first. An export stops there, so that it holds none of a lead
    /// or an opportunity that came while it ran.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn last_meeting(&self) -> Result<Option<MeetingId>, StoreError> {
        let last = self.last(Counter::Meeting, "meeting").await?;
        Ok(MeetingId::new(last))
    }

    /// The meetings up to one of them, by id.
    #[must_use]
    pub fn meetings(&self, last: MeetingId) -> Pages<Meeting> {
        let span = Span {
            through: Some(last.padded()),
            ..Span::head(self.keys().meetings(), PAGE)
        };
        Pages::new(self, span, |item| {
            meetings::decode(&item).map(|record| record.meeting)
        })
    }

    /// The last ticket that was numbered, `None` before the first. An export stops there, so that it holds none of a lead
    /// that came while it ran.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn last_ticket(&self) -> Result<Option<TicketId>, StoreError> {
        let last = self.last(Counter::Ticket, "ticket").await?;
        Ok(TicketId::new(last))
    }

    /// The tickets up to one of them, by id.
    #[must_use]
    pub fn tickets(&self, last: TicketId) -> Pages<Ticket> {
        let span = Span {
            through: Some(last.padded()),
            ..Span::head(self.keys().tickets(), PAGE)
        };
        Pages::new(self, span, |item| {
            tickets::decode(&item).map(|record| record.ticket)
        })
    }

    /// All files: those with an id by it, then the others by ticket and path.
    #[must_use]
    pub fn files(&self) -> Pages<TicketFile> {
        let span = Span::head(self.keys().files(), PAGE);
        Pages::new(self, span, |item| {
            tickets::decode_file(&item).map(|record| record.file)
        })
    }

    /// The last call that was numbered, `None` before the first. An export stops there, so that it holds no call of a
    /// lead that came while it ran.
    ///
    /// # Errors
    /// [`StoreError`] where it cannot be read.
    pub async fn last_call(&self) -> Result<Option<CallId>, StoreError> {
        let last = self.last(Counter::Call, "call").await?;
        Ok(CallId::new(last))
    }

    /// The last number that was taken, 0 before the first.
    async fn last(&self, counter: Counter, name: &str) -> Result<u64, StoreError> {
        let counter = self.table().get(&self.keys().counter(counter)).await?;
        item::number("counter", &counter.unwrap_or_default(), name)
    }

    /// The calls up to one of them, by id.
    #[must_use]
    pub fn calls(&self, last: CallId) -> Pages<Call> {
        Pages::new(self, self.calls_through(last), |item| {
            item::decode("call", item).map(|record: CallRecord| record.call)
        })
    }

    /// The events of the calls up to one of them.
    #[must_use]
    pub fn events(&self, last: CallId) -> EventPages<'_> {
        let calls = Pages::new(self, self.calls_through(last), |item| item::decode("call", item));
        EventPages {
            operator: self,
            calls,
        }
    }

    fn calls_through(&self, last: CallId) -> Span {
        Span {
            through: Some(last.padded()),
            ..Span::head(self.keys().calls(), PAGE)
        }
    }
}
