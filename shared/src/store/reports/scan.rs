//! Reads all records of an entity and sums their contributions to reports.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::future::try_join_all;

use crate::meeting::Meeting;
use crate::report::{Cube, Question, Record, ReportEntity};
use crate::store::Reader;
use crate::store::budget::MAX_QUERY_UNITS;
use crate::store::calls::CallRecord;
use crate::store::entity::Entity as _;
use crate::store::key::{self, Counter, Key};
use crate::store::leads;
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
    fn affordable_queries(&self) -> usize {
        usize::try_from(self.0 / u64::from(MAX_QUERY_UNITS)).unwrap_or(usize::MAX)
    }

    /// Subtracts the cost of a page.
    fn subtract(&mut self, page: &Page) {
        self.0 = self.0.saturating_sub(page.whole_units().into());
    }
}

/// Questions about one entity, with the sums of each.
#[derive(Debug)]
pub struct ReportAccumulator<'q> {
    pub zone: Zone,
    /// The sums of each question; `None` if they were abandoned.
    pub cubes: Vec<(&'q Question, Option<Cube>)>,
    /// Whether unreadable records are skipped and added to `unreadable`; otherwise they are errors.
    pub skips_unreadable: bool,
    /// The skipped records, each with the name of its kind.
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
            skips_unreadable: false,
            unreadable: Vec::new(),
        }
    }

    /// Adds a record to each cube that is not abandoned, unless the question excludes the record.
    fn add(&mut self, record: Record<'_>) {
        for (question, cube) in &mut self.cubes {
            let Some(cube) = cube else { continue };
            if let Some(fact) = question.fact(record, self.zone) {
                cube.add(fact);
            }
        }
    }

    /// Abandons cubes that use more than `max_bytes` of memory.
    pub fn abandon_above(&mut self, max_bytes: usize) {
        for (_, cube) in &mut self.cubes {
            if cube.as_ref().is_some_and(|cube| cube.weight() > max_bytes) {
                *cube = None;
            }
        }
    }

    /// Approximate memory of all cubes in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.cubes
            .iter()
            .flat_map(|(_, cube)| cube)
            .map(Cube::weight)
            .sum()
    }

    /// The sums of an accumulator with a single question.
    fn into_cube(self) -> Cube {
        self.cubes.into_iter().filter_map(|(_, cube)| cube).collect()
    }

    /// Adds records. Returns the sort key of the last item, also if it was skipped; `None` without items.
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
                Err(StoreError::Corrupt { key: kind, .. }) if self.skips_unreadable => {
                    self.unreadable.push((key, kind));
                }
                outcome => outcome?,
            }
        }
        Ok(last)
    }

    /// Decodes an item as a record of `entity` and adds it.
    fn add_item(&mut self, entity: ReportEntity, item: Item) -> Result<(), StoreError> {
        match entity {
            ReportEntity::Leads => self.add(Record::Lead(&leads::partial(item)?)),
            ReportEntity::Opportunities => {
                let snapshot = OpportunitySnapshot::decode(&item)?;
                self.add(Record::Opportunity(&snapshot.opportunity));
            }
            ReportEntity::Tickets => self.add(Record::Ticket(&TicketState::decode(&item)?.ticket)),
            ReportEntity::Meetings => self.add(Record::Meeting(&Meeting::decode(&item)?)),
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
    /// `max_time`. A query of the first records of each partition and a get of their counter; then parallel queries of
    /// the rest.
    pub(crate) async fn compute(
        &self,
        question: &Question,
        zone: Zone,
        max_time: Duration,
    ) -> Result<Option<(Timestamp, Cube)>, StoreError> {
        let now = self.environment.now();
        let computed = tokio::time::timeout(max_time, self.compute_within_units(question, zone)).await;
        let cube = computed.unwrap_or(Ok(None))?;
        Ok(cube.map(|cube| (now, cube)))
    }

    /// The sums of all records; `None` if their queries could exceed [`MAX_UNITS`].
    ///
    /// Reads the first page of each partition, and divides the remaining records by id into ranges. Each round then
    /// reads a page of as many ranges as fit into the allowance if every page has the maximum cost. Ranges with
    /// further records are read in later rounds.
    async fn compute_within_units(
        &self,
        question: &Question,
        zone: Zone,
    ) -> Result<Option<Cube>, StoreError> {
        let entity = question.entity();
        let mut allowance = ScanAllowance(MAX_UNITS);
        let (counter, attribute) = counter(entity);
        let counter_key = self.keys().counter(counter);
        let partitions = KeyRange::of_each(self.records_of(entity), None, None).into_iter();
        let first_pages = try_join_all(partitions.map(|partition| self.table.query(partition)));
        let (first_pages, counter_item) = tokio::try_join!(first_pages, self.table.get(&counter_key))?;
        let last_id = item::number("counter", &counter_item.unwrap_or_default(), attribute)?;
        let mut unread = VecDeque::new();
        let mut accumulator = ReportAccumulator::new([question], zone);
        for page in first_pages {
            allowance.subtract(&page);
            unread.extend(ranges_after(&page, last_id)?);
            accumulator.add_items(entity, page.items)?;
        }
        while !unread.is_empty() {
            let round = allowance.affordable_queries().min(unread.len());
            if round == 0 {
                return Ok(None);
            }
            let ranges: Vec<_> = unread.drain(..round).collect();
            let queries = ranges.iter().cloned().map(|range| self.table.query(range));
            let pages = try_join_all(queries).await?;
            for (mut range, page) in ranges.into_iter().zip(pages) {
                allowance.subtract(&page);
                let last_key = accumulator.add_items(entity, page.items)?;
                if page.more {
                    range.after = last_key.or(range.after);
                    unread.push_back(range);
                }
            }
        }
        Ok(Some(accumulator.into_cube()))
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

/// The records of a partition after its first page, in [`CONCURRENCY`] ranges with equally many ids up to `last_id`.
/// Empty if the page is the only one.
fn ranges_after(first_page: &Page, last_id: u64) -> Result<Vec<KeyRange>, StoreError> {
    if !first_page.more {
        return Ok(Vec::new());
    }
    let Some(last_read) = first_page.items.last() else {
        return Ok(Vec::new());
    };
    let last_read = key_of(last_read)?;
    let id = last_read.sk.parse::<u64>();
    let id = id.map_err(|cause| item::corrupt("record's key", cause))?;
    let parts = u64::try_from(CONCURRENCY).unwrap_or(1);
    Ok(key::split(&last_read.pk, id, last_id, parts))
}

/// The counter of an entity's ids, and the attribute that contains its value.
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
            left.subtract(&page);
            assert_eq!(
                (left.0, left.affordable_queries()),
                (before.saturating_sub(units), queries)
            );
        }
    }

    /// After a first page of 1 MB, the budget allows a query of every part at its maximum cost.
    #[test]
    fn a_first_round_reads_all_parts() {
        let mut left = ScanAllowance(MAX_UNITS);
        left.subtract(&page(256, UNIT));
        assert_eq!(left.affordable_queries(), CONCURRENCY);
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
        let mut accumulator = ReportAccumulator::new([&service, &status], Zone::UTC);
        for name in ["a", "b", "a", "c", "a"] {
            let call = json!({
                "id": 1, "user": 8, "type": "INCOMING", "status": "COMPLETE", "duration": 1, "record": false,
                "service": name, "createDate": "2026-06-01T10:00:00.000Z",
            });
            accumulator.add(Record::Call(&serde_json::from_value(call).unwrap()));
            // The memory of a day with two groups of one letter, or with one group of eight letters.
            accumulator.abandon_above(640 + 2 * 65);
        }
        let remaining: Vec<_> = accumulator
            .cubes
            .iter()
            .map(|(_, cube)| cube.as_ref().map(Cube::len))
            .collect();
        assert_eq!(remaining, [None, Some(1)]);
    }
}
