//! Through all records of an entity, adding up what they contribute to reports.

use std::sync::atomic::{AtomicU64, Ordering};

use futures_util::stream::{self, StreamExt as _, TryStreamExt as _};

use crate::id::MAX_ID;
use crate::report::{Cube, Entity, Question, Record};
use crate::store::Reader;
use crate::store::calls::CallRecord;
use crate::store::error::StoreError;
use crate::store::item::{self, Item};
use crate::store::key::{self, Counter};
use crate::store::table::{PAGE, Page, Span, key_of};
use crate::store::{leads, meetings, opportunities, tickets};
use crate::time::{Timestamp, Zone};

/// What a report may read that is computed while somebody waits for it, in read units: some 8 MB of records.
pub const MOST_UNITS: u64 = 2_000;
/// Queries that are under way at the same time for it.
const TOGETHER: usize = 20;
/// The bytes of one read unit.
const UNIT: usize = 4096;

/// What is left of the units that may be consumed.
#[derive(Debug)]
pub struct Allowance(AtomicU64);

impl Allowance {
    pub fn new(units: u64) -> Self {
        Self(AtomicU64::new(units))
    }

    /// Takes what a page cost; whether so much was left.
    fn take(&self, page: &Page) -> bool {
        let bytes: usize = page.items.iter().map(item::bytes).sum();
        let units = u64::try_from(bytes.div_ceil(UNIT).max(1)).unwrap_or(u64::MAX);
        let left = |left: u64| Some(left.saturating_sub(units));
        let before = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, left);
        before.is_ok_and(|before| before >= units)
    }
}

/// Questions about one entity, and what has been added up for each.
#[derive(Debug)]
pub struct Tally<'q> {
    pub zone: Zone,
    /// `None` where it was given up.
    pub cubes: Vec<(&'q Question, Option<Cube>)>,
}

impl<'q> Tally<'q> {
    pub fn new(questions: impl IntoIterator<Item = &'q Question>, zone: Zone) -> Self {
        let cubes = questions
            .into_iter()
            .map(|question| (question, Some(Cube::default())));
        Self {
            zone,
            cubes: cubes.collect(),
        }
    }

    fn add(&mut self, record: Record<'_>) {
        for (question, cube) in &mut self.cubes {
            let Some(cube) = cube else { continue };
            if let Some(fact) = question.fact(record, self.zone) {
                cube.add(fact);
            }
        }
    }

    /// Gives up the cubes that hold more sums.
    pub fn give_up_above(&mut self, most: usize) {
        for (_, cube) in &mut self.cubes {
            if cube.as_ref().is_some_and(|cube| cube.len() > most) {
                *cube = None;
            }
        }
    }

    /// What one question comes to, where just one was asked.
    fn only(self) -> Cube {
        self.cubes.into_iter().filter_map(|(_, cube)| cube).collect()
    }

    /// Adds a page's records of an entity, and moves the span behind them. Whether there is more.
    pub fn add_page(&mut self, entity: Entity, page: Page, span: &mut Span) -> Result<bool, StoreError> {
        let last = page.items.last().map(key_of).transpose()?;
        span.after = last.map(|key| key.sk).or(span.after.take());
        for item in page.items {
            self.add_item(entity, item)?;
        }
        Ok(page.more)
    }

    /// Adds the record that an item of an entity holds.
    fn add_item(&mut self, entity: Entity, item: Item) -> Result<(), StoreError> {
        match entity {
            Entity::Leads => self.add(Record::Lead(&leads::decode(item)?.lead)),
            Entity::Opportunities => {
                let record = opportunities::decode(&item)?;
                self.add(Record::Opportunity(&record.card.opportunity));
            }
            Entity::Tickets => self.add(Record::Ticket(&tickets::decode(&item)?.ticket)),
            Entity::Meetings => self.add(Record::Meeting(&meetings::decode(&item)?.meeting)),
            Entity::Calls => {
                let record: CallRecord = item::decode("call", item)?;
                self.add(Record::Call(&record.call));
            }
        }
        Ok(())
    }
}

impl Reader {
    /// What a report comes to now, and the time; `None` where that would take more than [`MOST_UNITS`]. A query of the first
    /// records and a get of their counter; the others in parallel parts.
    pub(super) async fn compute(
        &self,
        question: &Question,
        zone: Zone,
    ) -> Result<Option<(Timestamp, Cube)>, StoreError> {
        let (now, entity) = (self.table.ambient.now(), question.entity());
        let left = Allowance::new(MOST_UNITS);
        let (counter, name) = counter(entity);
        let counter = self.keys().counter(counter);
        let head = self.table.query(Span::head(self.records_of(entity), PAGE));
        let (head, counter) = tokio::try_join!(head, self.table.get(&counter))?;
        let last = item::number("counter", &counter.unwrap_or_default(), name)?;
        let rest = self.behind(entity, &head, last)?;
        if !left.take(&head) {
            return Ok(None);
        }
        let mut tally = Tally::new([question], zone);
        head.items
            .into_iter()
            .try_for_each(|item| tally.add_item(entity, item))?;
        let parts = stream::iter(rest).map(|span| self.compute_part(question, zone, span, &left));
        let mut parts = parts.buffer_unordered(TOGETHER);
        let mut cube = tally.only();
        while let Some(part) = parts.try_next().await? {
            let Some(part) = part else { return Ok(None) };
            cube.merge(part);
        }
        Ok(Some((now, cube)))
    }

    /// What lies behind the first records, in parts of equally many ids.
    fn behind(&self, entity: Entity, head: &Page, last: u64) -> Result<Vec<Span>, StoreError> {
        let Some(end) = head.items.last().filter(|_| head.more) else {
            return Ok(Vec::new());
        };
        let first = key_of(end)?.sk.parse().unwrap_or(0);
        let parts = u64::try_from(TOGETHER).unwrap_or(1);
        let step = last.min(MAX_ID).saturating_sub(first).div_ceil(parts).max(1);
        let bound = |part: u64| key::number(first + part * step);
        let spans = (0..parts).map(|part| Span {
            partition: self.records_of(entity),
            after: Some(bound(part)),
            // Records may be added meanwhile, so the last part has no end.
            through: (part + 1 < parts).then(|| bound(part + 1)),
            limit: PAGE,
        });
        Ok(spans.collect())
    }

    async fn compute_part(
        &self,
        question: &Question,
        zone: Zone,
        mut span: Span,
        left: &Allowance,
    ) -> Result<Option<Cube>, StoreError> {
        let entity = question.entity();
        let mut tally = Tally::new([question], zone);
        loop {
            let page = self.table.query(span.clone()).await?;
            if !left.take(&page) {
                return Ok(None);
            }
            if !tally.add_page(entity, page, &mut span)? {
                return Ok(Some(tally.only()));
            }
        }
    }

    /// The partition of an entity's records.
    pub(super) fn records_of(&self, entity: Entity) -> String {
        match entity {
            Entity::Leads => self.keys().leads(),
            Entity::Opportunities => self.keys().opportunities(),
            Entity::Tickets => self.keys().tickets(),
            Entity::Meetings => self.keys().meetings(),
            Entity::Calls => self.keys().calls(),
        }
    }
}

/// The counter of an entity's numbers, and the name of the number in it.
fn counter(entity: Entity) -> (Counter, &'static str) {
    match entity {
        Entity::Leads => (Counter::Lead, "lead"),
        Entity::Opportunities => (Counter::Opportunity, "opportunity"),
        Entity::Tickets => (Counter::Ticket, "ticket"),
        Entity::Meetings => (Counter::Meeting, "meeting"),
        Entity::Calls => (Counter::Call, "call"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::Definition;

    fn page(items: usize, bytes: usize) -> Page {
        let item = Item::from([("x".to_owned(), item::s("x".repeat(bytes - 1)))]);
        Page {
            items: vec![item; items],
            more: true,
        }
    }

    #[test]
    fn an_allowance_is_used_up_by_the_bytes_that_are_read() {
        let left = Allowance::new(5);
        for (page, enough) in [
            (page(1, UNIT), true),
            (page(0, 1), true),
            (page(2, UNIT / 2 + 1), true),
            (page(1, UNIT), true),
            (page(1, 1), false),
        ] {
            assert_eq!(left.take(&page), enough);
        }
    }

    #[test]
    fn a_question_with_too_many_groups_is_given_up_and_the_others_are_not() {
        let question = |group_by: &str| {
            let line = json!({
                "id": 1, "name": "R", "entity": "calls", "measure": "count", "groupBy": group_by,
                "createDate": "2026-01-01T00:00:00.000Z", "updateDate": "2026-01-01T00:00:00.000Z",
            });
            serde_json::from_value::<Definition>(line).unwrap().question
        };
        let (service, status) = (question("service"), question("status"));
        let mut tally = Tally::new([&service, &status], Zone::UTC);
        for name in ["a", "b", "a", "c", "a"] {
            let call = json!({
                "id": 1, "user": 8, "type": "INCOMING", "status": "COMPLETE", "duration": 1, "record": false,
                "service": name, "createDate": "2026-06-01T10:00:00.000Z",
            });
            tally.add(Record::Call(&serde_json::from_value(call).unwrap()));
            tally.give_up_above(2);
        }
        let held: Vec<_> = tally
            .cubes
            .iter()
            .map(|(_, cube)| cube.as_ref().map(Cube::len))
            .collect();
        assert_eq!(held, [None, Some(1)]);
    }
}
