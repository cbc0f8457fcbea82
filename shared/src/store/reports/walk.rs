//! Reads all records of an entity and sums their contributions to reports.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::future::try_join_all;

use crate::report::{Cube, Question, Record, ReportEntity};
use crate::store::Reader;
use crate::store::budget::MAX_QUERY_UNITS;
use crate::store::calls::CallRecord;
use crate::store::entity::Entity as _;
use crate::store::key::{self, Counter, Key};
use crate::store::leads;
use crate::store::meetings::MeetingState;
use crate::store::opportunities::OpportunitySnapshot;
use crate::store::tickets::TicketState;
use crate::time::{Timestamp, Zone};
use table::StoreError;
use table::item::{self, Item};
use table::{KeyRange, Page, key_of};

/// Maximum read units of a report computed within a request: some 8 MB of records.
pub const MAX_UNITS: u64 = 2_000;
/// Maximum duration of the computation. Together with earlier reads it stays below a function's timeout of 29 seconds.
pub const MAX_TIME: Duration = Duration::from_secs(12);
/// Number of parts into which a partition is divided after its first records. After the first page of one partition,
/// the budget allows one round of parallel queries of all parts.
const CONCURRENCY: usize = 6;

/// The remaining read units.
#[derive(Debug)]
struct ScanAllowance(u64);

impl ScanAllowance {
    /// Number of queries that fit into the budget at their maximum cost.
    fn queries(&self) -> usize {
        usize::try_from(self.0 / u64::from(MAX_QUERY_UNITS)).unwrap_or(usize::MAX)
    }

    /// Subtracts the cost of a page.
    fn take(&mut self, page: &Page) {
        self.0 = self.0.saturating_sub(page.whole_units().into());
    }
}

/// Questions about one entity, with the sums of each.
#[derive(Debug)]
pub struct ReportAccumulator<'q> {
    pub zone: Zone,
    /// The sums of each question; `None` if they were abandoned.
    pub cubes: Vec<(&'q Question, Option<Cube>)>,
    /// Whether unreadable records are skipped and noted; otherwise they are errors.
    pub leaves_out: bool,
    /// The skipped records, each with its kind.
    pub unreadable: Vec<(Key, &'static str)>,
}

impl<'q> ReportAccumulator<'q> {
    pub fn new(questions: impl IntoIterator<Item = &'q Question>, zone: Zone) -> Self {
        let cubes = questions
            .into_iter()
            .map(|question| (question, Some(Cube::default())));
        Self {
            zone,
            cubes: cubes.collect(),
            leaves_out: false,
            unreadable: Vec::new(),
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

    /// Abandons cubes that use more than `most` bytes of memory.
    pub fn give_up_above(&mut self, most: usize) {
        for (_, cube) in &mut self.cubes {
            if cube.as_ref().is_some_and(|cube| cube.weight() > most) {
                *cube = None;
            }
        }
    }

    /// Approximate memory of all cubes in bytes.
    pub fn weight(&self) -> usize {
        self.cubes
            .iter()
            .flat_map(|(_, cube)| cube)
            .map(Cube::weight)
            .sum()
    }

    /// The result of the only question.
    fn only(self) -> Cube {
        self.cubes.into_iter().filter_map(|(_, cube)| cube).collect()
    }

    /// Adds records. Returns the sort key of the last one.
    pub fn add_items(
        &mut self,
        entity: ReportEntity,
        items: Vec<Item>,
    ) -> Result<Option<String>, StoreError> {
        let mut last = None;
        for item in items {
            let key = key_of(&item)?;
            last = Some(key.sk.clone());
            match self.add_item(entity, item) {
                Err(StoreError::Corrupt { key: kind, .. }) if self.leaves_out => {
                    self.unreadable.push((key, kind));
                }
                outcome => outcome?,
            }
        }
        Ok(last)
    }

    /// Adds the record in an item.
    fn add_item(&mut self, entity: ReportEntity, item: Item) -> Result<(), StoreError> {
        match entity {
            ReportEntity::Leads => self.add(Record::Lead(&leads::partial(item)?)),
            ReportEntity::Opportunities => {
                let snapshot = OpportunitySnapshot::decode(&item)?;
                self.add(Record::Opportunity(&snapshot.opportunity));
            }
            ReportEntity::Tickets => self.add(Record::Ticket(&TicketState::decode(&item)?.ticket)),
            ReportEntity::Meetings => self.add(Record::Meeting(&MeetingState::decode(&item)?.meeting)),
            ReportEntity::Calls => {
                let record: CallRecord = item::decode("call", item)?;
                self.add(Record::Call(&record.call));
            }
        }
        Ok(())
    }
}

impl Reader {
    /// The current result of a report, and its time. `None` if it would take more than [`MAX_UNITS`] or longer than
    /// `within`. A query of the first records of each partition and a get of their counter; then parallel queries of
    /// the rest.
    pub(crate) async fn compute(
        &self,
        question: &Question,
        zone: Zone,
        within: Duration,
    ) -> Result<Option<(Timestamp, Cube)>, StoreError> {
        let now = self.environment.now();
        let computed = tokio::time::timeout(within, self.compute_within_units(question, zone)).await;
        let cube = computed.unwrap_or(Ok(None))?;
        Ok(cube.map(|cube| (now, cube)))
    }

    /// Reads in rounds. Each round's maximum cost is within the remaining budget, so the budget is never exceeded.
    async fn compute_within_units(
        &self,
        question: &Question,
        zone: Zone,
    ) -> Result<Option<Cube>, StoreError> {
        let entity = question.entity();
        let mut left = ScanAllowance(MAX_UNITS);
        let (counter, name) = counter(entity);
        let counter = self.keys().counter(counter);
        let heads = KeyRange::of_each(self.records_of(entity), None, None).into_iter();
        let heads = try_join_all(heads.map(|head| self.table.query(head)));
        let (heads, counter) = tokio::try_join!(heads, self.table.get(&counter))?;
        let last = item::number("counter", &counter.unwrap_or_default(), name)?;
        let mut rest = VecDeque::new();
        let mut tally = ReportAccumulator::new([question], zone);
        for head in heads {
            left.take(&head);
            rest.extend(behind(&head, last)?);
            tally.add_items(entity, head.items)?;
        }
        while !rest.is_empty() {
            let together = left.queries().min(rest.len());
            if together == 0 {
                return Ok(None);
            }
            let spans: Vec<_> = rest.drain(..together).collect();
            let pages = try_join_all(spans.iter().cloned().map(|span| self.table.query(span))).await?;
            for (mut span, page) in spans.into_iter().zip(pages) {
                left.take(&page);
                let last = tally.add_items(entity, page.items)?;
                if page.more {
                    span.after = last.or(span.after);
                    rest.push_back(span);
                }
            }
        }
        Ok(Some(tally.only()))
    }

    /// The partitions of an entity's records.
    pub(crate) fn records_of(&self, entity: ReportEntity) -> Vec<String> {
        match entity {
            ReportEntity::Leads => vec![self.keys().leads()],
            ReportEntity::Opportunities => vec![self.keys().opportunities()],
            ReportEntity::Tickets => vec![self.keys().tickets()],
            ReportEntity::Meetings => vec![self.keys().meetings()],
            ReportEntity::Calls => self.keys().calls(),
        }
    }
}

/// The records after the first ones of a partition, in parts with equally many ids.
fn behind(head: &Page, last: u64) -> Result<Vec<KeyRange>, StoreError> {
    let Some(end) = head.items.last().filter(|_| head.more) else {
        return Ok(Vec::new());
    };
    let end = key_of(end)?;
    let first = end.sk.parse();
    let first: u64 = first.map_err(|cause| item::corrupt("record's key", cause))?;
    let parts = u64::try_from(CONCURRENCY).unwrap_or(1);
    Ok(key::split(&end.pk, first, last, parts))
}

/// The counter of an entity's ids, and its attribute.
fn counter(entity: ReportEntity) -> (Counter, &'static str) {
    match entity {
        ReportEntity::Leads => (Counter::Lead, "lead"),
        ReportEntity::Opportunities => (Counter::Opportunity, "opportunity"),
        ReportEntity::Tickets => (Counter::Ticket, "ticket"),
        ReportEntity::Meetings => (Counter::Meeting, "meeting"),
        ReportEntity::Calls => (Counter::Call, "call"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::report::Definition;

    /// The bytes of one read unit.
    const UNIT: usize = 4096;

    fn question(group_by: &str) -> Question {
        let line = json!({
            "id": 1, "name": "R", "entity": "calls", "measure": "count", "groupBy": group_by,
            "createDate": "2026-01-01T00:00:00.000Z", "updateDate": "2026-01-01T00:00:00.000Z",
        });
        serde_json::from_value::<Definition>(line).unwrap().question
    }

    fn page(items: usize, bytes: usize) -> Page {
        let item = Item::from([("x".to_owned(), item::s("x".repeat(bytes - 1)))]);
        Page {
            items: vec![item; items],
            more: true,
        }
    }

    #[test]
    fn an_allowance_is_used_up_by_the_bytes_that_are_read() {
        let mut left = ScanAllowance(3 * u64::from(MAX_QUERY_UNITS) + 4);
        for (page, units, queries) in [
            (page(1, UNIT), 1, 3),
            (page(0, 1), 1, 3),
            (page(2, UNIT / 2 + 1), 2, 3),
            (page(1, 1), 1, 2),
            (page(600, UNIT), 600, 0),
            (page(600, UNIT), 600, 0),
        ] {
            let before = left.0;
            left.take(&page);
            assert_eq!((left.0, left.queries()), (before.saturating_sub(units), queries));
        }
    }

    /// After a first page of 1 MB, the budget allows a query of every part at its maximum cost.
    #[test]
    fn a_first_round_reads_all_parts() {
        let mut left = ScanAllowance(MAX_UNITS);
        left.take(&page(256, UNIT));
        assert_eq!(left.queries(), CONCURRENCY);
    }

    /// A request ends in time even if the table never answers.
    #[tokio::test]
    async fn a_report_that_takes_too_long_is_given_up() {
        let mute = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let location = crate::store::Location {
            table: "none".to_owned(),
            endpoint: Some(format!("http://{}", mute.local_addr().unwrap())),
        };
        let (environment, _) =
            crate::environment::Environment::frozen(Timestamp::parse("2026-11-21T12:00:00Z").unwrap());
        let store = crate::store::Store::connect(location, environment).await;
        let reader = store.reader(crate::instance::InstanceName::parse("acme").unwrap());
        let question = question("day");
        let computed = reader.compute(&question, Zone::UTC, Duration::from_millis(50));
        assert_eq!(computed.await.unwrap(), None);
        // A function's timeout is 29 seconds, and each of two earlier calls may take 8.
        assert!(MAX_TIME + Duration::from_secs(2 * 8) < Duration::from_secs(29));
    }

    #[test]
    fn a_question_with_too_many_groups_is_given_up_and_the_others_are_not() {
        let (service, status) = (question("service"), question("status"));
        let mut tally = ReportAccumulator::new([&service, &status], Zone::UTC);
        for name in ["a", "b", "a", "c", "a"] {
            let call = json!({
                "id": 1, "user": 8, "type": "INCOMING", "status": "COMPLETE", "duration": 1, "record": false,
                "service": name, "createDate": "2026-06-01T10:00:00.000Z",
            });
            tally.add(Record::Call(&serde_json::from_value(call).unwrap()));
            // The memory of a day with two groups of one letter, or with one group of eight letters.
            tally.give_up_above(640 + 2 * 65);
        }
        let held: Vec<_> = tally
            .cubes
            .iter()
            .map(|(_, cube)| cube.as_ref().map(Cube::len))
            .collect();
        assert_eq!(held, [None, Some(1)]);
    }
}
