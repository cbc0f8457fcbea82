//! Follows the new records of an instance, for `funil tail` (C-106).
//!
//! Records are found by the sequences of their ids, so a look without new records costs one batch of gets. A request
//! may reserve an id before it writes the record, so a missing id is looked for during a grace period.

use std::collections::BTreeSet;

use shared::ids::LeadId;
use shared::store::unscoped::key::Counter;
use shared::time::Timestamp;
use table::{KeyRange, item};

use crate::kinds::{Calls, ExportKind, Leads, Meetings, Opportunities, RecordKind, Tickets};
use crate::line::Fields;
use crate::pages::RecordPages;
use crate::{Operator, OperatorError};

/// Seconds after which a missing id is given up, longer than any request takes.
const GRACE: u32 = 60;
/// New records of a kind after which a look ends, for example during an import. The next look continues.
const MAX_FOUND: usize = 1000;

/// A record that is new.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewRecord {
    /// Its kind, as lines of an export name it.
    pub kind: &'static str,
    /// Its id.
    pub id: u64,
    /// Its fields, as lines of an export have them.
    pub fields: Fields,
}

/// Follows the leads, opportunities, meetings, tickets and calls of an instance.
#[derive(Debug)]
pub struct Tail {
    operator: Operator,
    sequences: [FollowedSequence; 5],
}

/// The ids of one kind.
#[derive(Debug)]
struct FollowedSequence {
    counter: Counter,
    name: &'static str,
    /// The lowest id to look for.
    first: u64,
    /// The shown ids from `first` on.
    shown: BTreeSet<u64>,
    /// The time at which missing ids are given up, and the last of these ids.
    grace: Option<(Timestamp, u64)>,
}

impl FollowedSequence {
    fn new(counter: Counter, name: &'static str) -> Self {
        Self {
            counter,
            name,
            first: 1,
            shown: BTreeSet::new(),
            grace: None,
        }
    }

    /// Moves `first` past the ids that are shown without a gap, and past a gap after its grace period. `last` is the
    /// last id of the look. Begins a grace period if ids up to `last` are missing.
    fn advance(&mut self, last: u64, now: Timestamp) {
        if let Some((_, missing)) = self.grace.take_if(|(until, _)| *until <= now) {
            self.first = self.first.max(missing + 1);
            self.shown = self.shown.split_off(&self.first);
        }
        while self.shown.remove(&self.first) {
            self.first += 1;
        }
        self.grace = match self.grace {
            Some((_, missing)) if missing < self.first => None,
            grace => grace,
        };
        if self.first <= last && self.grace.is_none() {
            self.grace = Some((now.plus_seconds(GRACE), last));
        }
    }
}

impl Tail {
    /// Begins after the existing records of the instance.
    ///
    /// # Errors
    /// [`OperatorError`] if there is no such instance or the table fails.
    pub async fn new(operator: Operator) -> Result<Self, OperatorError> {
        operator.directory_head().await?;
        let mut tail = Self {
            operator: operator.lenient(),
            sequences: [
                FollowedSequence::new(Counter::Lead, Leads::KIND.name()),
                FollowedSequence::new(Counter::Opportunity, Opportunities::KIND.name()),
                FollowedSequence::new(Counter::Meeting, Meetings::KIND.name()),
                FollowedSequence::new(Counter::Ticket, Tickets::KIND.name()),
                FollowedSequence::new(Counter::Call, Calls::KIND.name()),
            ],
        };
        let last = tail.last().await?;
        for (sequence, last) in tail.sequences.iter_mut().zip(last) {
            sequence.first = last + 1;
        }
        Ok(tail)
    }

    /// The records that were created since the former look, kind by kind. One batch of gets, and a query for each kind
    /// with new or missing ids.
    ///
    /// # Errors
    /// [`OperatorError`] if the table fails.
    pub async fn next(&mut self) -> Result<Vec<NewRecord>, OperatorError> {
        let [leads, opportunities, meetings, tickets, calls] = self.last().await?;
        let mut found = self.read::<Leads>(0, leads).await?;
        found.extend(self.read::<Opportunities>(1, opportunities).await?);
        found.extend(self.read::<Meetings>(2, meetings).await?);
        found.extend(self.read::<Tickets>(3, tickets).await?);
        found.extend(self.read::<Calls>(4, calls).await?);
        Ok(found)
    }

    /// The last ids of the sequences.
    async fn last(&self) -> Result<[u64; 5], OperatorError> {
        let key = |sequence: &FollowedSequence| self.operator.keys().counter(sequence.counter);
        let items = self
            .operator
            .reads()
            .get_many(self.sequences.iter().map(key))
            .await?;
        let mut last = [0; 5];
        for (sequence, last) in self.sequences.iter().zip(&mut last) {
            if let Some(item) = items.get(&key(sequence)) {
                *last = item::number("counter", item, sequence.name)?;
            }
        }
        Ok(last)
    }

    /// The new records of the kind with this index in `sequences`, up to the id `last`, without data of leads that are
    /// being deleted (C-24).
    async fn read<K: ExportKind>(
        &mut self,
        index: usize,
        last: u64,
    ) -> Result<Vec<NewRecord>, OperatorError> {
        let (operator, sequence) = (&self.operator, &mut self.sequences[index]);
        let mut found = Vec::new();
        if sequence.first > last {
            return Ok(found);
        }
        // Ids of all kinds have one width.
        let padded = |id| LeadId::new(id).map(LeadId::padded);
        let (after, through) = (padded(sequence.first - 1), padded(last));
        let ranges = KeyRange::of_each(K::partitions(operator.keys()), after.as_ref(), through.as_ref());
        let mut pages = RecordPages::new(operator, ranges, K::decode);
        while let Some(page) = pages.next().await? {
            let new = page
                .into_iter()
                .filter(|record| sequence.shown.insert(K::identity(record)));
            let new: Vec<_> = new.collect();
            if new.is_empty() {
                continue;
            }
            let erasures = operator.erasures().await?;
            for record in new {
                let record = K::without(record, &erasures);
                found.push(NewRecord {
                    kind: K::KIND.name(),
                    id: K::identity(&record),
                    // A stored record has a JSON form.
                    fields: K::export(&record).unwrap_or_default(),
                });
            }
            if found.len() >= MAX_FOUND {
                break;
            }
        }
        // A look that ended early has read only up to the last found record.
        let last_read = match found.last() {
            Some(record) if found.len() >= MAX_FOUND => record.id,
            _ => last,
        };
        sequence.advance(last_read, operator.now());
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: u32) -> Timestamp {
        Timestamp::parse("2026-11-22T00:00:00Z")
            .unwrap()
            .plus_seconds(seconds)
    }

    /// Each step: seconds, last id of the sequence, found ids, and the lowest id to look for afterwards.
    #[test]
    fn missing_ids_are_looked_for_during_the_grace_period() {
        for steps in [
            &[(0, 3, &[1, 2, 3][..], 4), (1, 4, &[4], 5)][..],
            &[(0, 3, &[1, 3], 2), (1, 3, &[2], 4)],
            &[(0, 3, &[1, 3], 2), (59, 4, &[4], 2), (60, 4, &[], 5)],
            &[
                (0, 2, &[1], 2),
                (50, 4, &[3], 2),
                (60, 4, &[], 4),
                (119, 4, &[], 4),
                (120, 4, &[], 5),
            ],
        ] {
            let mut sequence = FollowedSequence::new(Counter::Lead, "lead");
            for (seconds, last, found, first) in steps {
                sequence.shown.extend(*found);
                sequence.advance(*last, at(*seconds));
                assert_eq!(sequence.first, *first, "{steps:?}");
            }
        }
    }
}
