//! Sequential ids (C-11). The transaction of a record takes its id, so a rejected request takes none. After a conflict
//! at the counter, an unconditional addition reserves the id. For `CONTENDED_SECONDS` this process reserves all ids of
//! that counter in this way. An addition costs a call but cannot conflict.

use super::key::{Counter, Key};
use super::{Reader, Writer};
use crate::time::Timestamp;
use table::StoreError;
use table::Table;
use table::Transaction;
use table::item::{self, Item};

/// Number of seconds after a conflict for which ids are reserved.
const CONTENDED_SECONDS: u32 = 10;
/// Number of ids that a busy process reserves together, because an item admits 1,000 additions a second.
const BLOCK: u64 = 4;
/// A process is busy if it reserved ids less than this number of milliseconds ago. At this rate it uses a block within
/// a second.
const BUSY_MILLIS: i64 = 250;
/// Number of milliseconds after which the unused ids of a block are dropped, so that ids stay in the order of time.
const BLOCK_MILLIS: i64 = 1_000;

/// The ids that a process reserved together.
#[derive(Debug, Clone, Copy)]
pub struct ReservedBlock {
    /// The last id of the block in each sequence.
    last: [u64; 2],
    /// Number of unused ids of each sequence.
    left: u64,
    /// Time of the reservation.
    at: Timestamp,
}

impl ReservedBlock {
    /// The next unused ids; `None` if the block is used up or too old.
    fn take(&mut self, now: Timestamp) -> Option<[Sequence; 2]> {
        if now.unix_millis() >= self.at.unix_millis() + BLOCK_MILLIS {
            return None;
        }
        self.left = self.left.checked_sub(1)?;
        Some(self.last.map(|last| Sequence::Reserved(last - self.left)))
    }
}

/// The id of a new record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sequence {
    /// The id after this last taken id, on condition that the counter is unchanged.
    Expect(u64),
    /// A reserved id.
    Reserved(u64),
}

impl Sequence {
    /// The id after the last taken id in the counter's item; the first id without an item.
    pub fn next(counter: Option<&Item>, name: &str) -> Result<Self, StoreError> {
        counter.map_or(Ok(Self::Expect(0)), |item| {
            item::number("counter", item, name).map(Self::Expect)
        })
    }

    /// Reserves an id by an addition, which cannot conflict.
    pub async fn reserve(table: &Table, counter: &Key, name: &'static str) -> Result<Self, StoreError> {
        let taken = table.add(counter, &[name], 1).await?;
        Ok(Self::Reserved(taken.first().copied().unwrap_or_default()))
    }

    /// Whether it is reserved.
    pub fn is_reserved(self) -> bool {
        matches!(self, Self::Reserved(_))
    }

    /// The id. [`StoreError::Corrupt`] if it is above the maximum id, because the sequence has ended.
    pub fn id<I: TryFrom<u64>>(self) -> Result<I, StoreError> {
        let number = match self {
            Self::Expect(last) => last + 1,
            Self::Reserved(number) => number,
        };
        let kind = std::any::type_name::<I>();
        let ended = |_| {
            item::corrupt(
                "counter",
                format_args!("the sequence of {kind} has ended at {number}"),
            )
        };
        I::try_from(number).map_err(ended)
    }

    /// Adds the taking of an expected id to `transaction`, on condition that the counter is unchanged. A reserved id
    /// needs no write.
    pub fn take(self, transaction: &mut Transaction, counter: Key, name: &'static str) {
        if let Self::Expect(last) = self {
            transaction.take_number(counter, name, last);
        }
    }
}

impl Reader {
    /// Whether this process met a conflict at a counter within the last `CONTENDED_SECONDS`.
    pub fn is_contended(&self, counter: Counter) -> bool {
        let until = self.hints.contended.get(&self.keys().counter(counter));
        until.is_some_and(|until| self.environment.now() < until)
    }

    /// Remembers a conflict at a counter.
    pub fn note_contention(&self, counter: Counter) {
        let until = self.environment.now().plus_seconds(CONTENDED_SECONDS);
        self.hints.contended.put(self.keys().counter(counter), until);
    }
}

impl Writer {
    /// The id for the first attempt: a reserved one if the counter is contended, with one write; otherwise `read`.
    pub async fn first_id(
        &self,
        read: Sequence,
        counter: Counter,
        name: &'static str,
    ) -> Result<Sequence, StoreError> {
        if !self.reader.is_contended(counter) {
            return Ok(read);
        }
        Sequence::reserve(&self.table, &self.keys().counter(counter), name).await
    }

    /// Reserves an id of each of two sequences of one counter. Makes no call if this process has unused ids of a block,
    /// else one write, which reserves [`BLOCK`] ids of each if the process is busy, otherwise one.
    pub async fn reserve_in_blocks(
        &self,
        counter: &Key,
        names: [&'static str; 2],
    ) -> Result<[Sequence; 2], StoreError> {
        let (blocks, now) = (&self.reader.hints.reserved, self.reader.environment.now());
        if let Some(ids) = blocks.change(counter, |block| block.take(now)).flatten() {
            return Ok(ids);
        }
        let last_block = blocks.get(counter);
        let is_busy =
            last_block.is_some_and(|block| now.unix_millis() < block.at.unix_millis() + BUSY_MILLIS);
        let count = if is_busy { BLOCK } else { 1 };
        let taken = self.table.add(counter, &names, count).await?;
        let mut block = ReservedBlock {
            last: std::array::from_fn(|index| taken.get(index).copied().unwrap_or_default()),
            left: count,
            at: now,
        };
        let ids = block.take(now).ok_or(StoreError::Contention("numbering"))?;
        blocks.put(counter.clone(), block);
        Ok(ids)
    }

    /// Reserves an id after a conflict at its counter, and remembers the conflict. One write.
    pub async fn reserve_after_conflict(
        &self,
        counter: Counter,
        name: &'static str,
    ) -> Result<Sequence, StoreError> {
        self.reader.note_contention(counter);
        Sequence::reserve(&self.table, &self.keys().counter(counter), name).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::{LeadId, MAX_ID};

    /// C-11: a sequence that has ended is a 500, and the log names kind and id.
    #[test]
    fn an_ended_sequence_is_named() {
        assert_eq!(Sequence::Expect(MAX_ID - 1).id().ok(), LeadId::new(MAX_ID));
        for ended in [Sequence::Expect(MAX_ID), Sequence::Reserved(MAX_ID + 1)] {
            let error = ended.id::<LeadId>().unwrap_err();
            assert!(matches!(error, StoreError::Corrupt { .. }), "{error}");
            let text = error.to_string();
            assert!(text.contains("LeadId has ended at 1000000000000000"), "{text}");
        }
    }
}
