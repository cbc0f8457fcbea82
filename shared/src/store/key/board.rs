//! The keys of funnels and opportunities.

use super::base::Keys;
use super::lead::{first, keyed};
use crate::ids::{ColumnId, FunnelId, LeadId, MAX_ID, OpportunityId, UserId};
use crate::opportunity::Status;
use crate::time::Timestamp;
use table::Key;
use table::item::Item;
use table::unsharded;

/// A list of a column's opportunities: all of them, or those of a user, of a status, or of both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct BoardList {
    pub funnel: FunnelId,
    pub column: ColumnId,
    pub archived: bool,
    pub user: Option<UserId>,
    pub status: Option<Status>,
}

/// The opportunity's fields in the key of its entry in such a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EntryKey {
    pub funnel: FunnelId,
    pub column: ColumnId,
    pub archived: bool,
    pub create_date: Timestamp,
    pub id: OpportunityId,
}

impl EntryKey {
    /// The parts of an entry's key; `None` if the item has another key.
    pub fn of(entry: &Item) -> Option<Self> {
        let text = |name: &str| entry.get(name)?.as_s().ok();
        let mut parts = text("pk")?.split('#').skip(1);
        if parts.next()? != BOARD {
            return None;
        }
        let mut next_number = || parts.next()?.parse().ok();
        let (time, id) = text("sk")?.split_once('#')?;
        Some(Self {
            funnel: FunnelId::new(next_number()?)?,
            column: ColumnId::new(next_number()?)?,
            archived: next_number()? == 1,
            create_date: Timestamp::from_unix_millis(LAST_MILLI.checked_sub(time.parse().ok()?)?)?,
            id: OpportunityId::new(MAX_ID.checked_sub(id.parse().ok()?)?)?,
        })
    }
}

impl Keys<'_> {
    /// All funnels by id.
    pub fn funnels(self) -> String {
        self.pk("funnel")
    }

    /// A funnel.
    pub fn funnel(self, id: FunnelId) -> Key {
        Key::new(self.funnels(), id.padded())
    }

    /// All opportunities' records by id.
    pub fn opportunities(self) -> String {
        self.pk("opportunity")
    }

    /// An opportunity's record.
    pub fn opportunity(self, id: OpportunityId) -> Key {
        Key::new(self.opportunities(), id.padded())
    }

    /// The opportunities of a lead by id.
    pub fn lead_opportunities(self, lead: LeadId) -> String {
        self.pk(&format!("lead-opportunity#{lead}"))
    }

    /// The link from a lead to an opportunity.
    pub fn lead_opportunity(self, lead: LeadId, id: OpportunityId) -> Key {
        Key::new(self.lead_opportunities(lead), id.padded())
    }

    /// The opportunities of a funnel with a word of the same first character in the title (C-43), by word, then id.
    pub fn titles(self, funnel: FunnelId, word: &str) -> String {
        self.pk(&format!("title#{funnel}#{}", first(word)))
    }

    /// The item of a title's word.
    pub fn titled(self, funnel: FunnelId, word: &str, id: OpportunityId) -> Key {
        Key::new(self.titles(funnel, word), keyed(word, &id.padded()))
    }

    /// The opportunities of a funnel with too many title words for items of all of them, by id.
    pub fn wordy_titles(self, funnel: FunnelId) -> String {
        self.pk(&format!("wordy-title#{funnel}"))
    }

    /// The item of an opportunity with too many title words.
    pub fn wordy_title(self, funnel: FunnelId, id: OpportunityId) -> Key {
        Key::new(self.wordy_titles(funnel), keyed("", &id.padded()))
    }

    /// A list of a column's opportunities, the newest first.
    pub fn board(self, list: BoardList) -> String {
        let BoardList {
            funnel,
            column,
            archived,
            user,
            status,
        } = list;
        let user = user.map_or_else(|| "-".to_owned(), |user| user.to_string());
        let status = status.map_or("-", Status::as_str);
        self.pk(&format!(
            "{BOARD}#{funnel}#{column}#{}#{user}#{status}",
            u8::from(archived)
        ))
    }

    /// The totals of a funnel's columns: an item for each column, then an item for each user and ten columns.
    pub fn board_totals(self, funnel: FunnelId, archived: bool) -> String {
        self.pk(&format!("board-total#{funnel}#{}", u8::from(archived)))
    }

    /// The total of a column.
    pub fn column_total(self, funnel: FunnelId, archived: bool, column: ColumnId) -> Key {
        let sk = format!("{}{WHOLE}", column_begins(Some(column)));
        Key::new(self.board_totals(funnel, archived), sk)
    }

    /// The item with a user's total of a column. Columns with ids that differ only in the last digit share it.
    pub fn user_total(self, funnel: FunnelId, archived: bool, user: UserId, column: ColumnId) -> Key {
        let sk = format!("{}{WHOLE}", user_column_begins(user, column));
        Key::new(self.board_totals(funnel, archived), sk)
    }

    /// The totals of restricted opportunities, an item for each column, user, status and restriction. They have their
    /// own partition, because only some viewers need them and an import may contain any number of restrictions.
    pub fn restricted_totals(self, funnel: FunnelId, archived: bool) -> String {
        self.pk(&format!("{RESTRICTED_TOTAL}#{funnel}#{}", u8::from(archived)))
    }

    /// The daily counts of a column: numbers and cents of its opportunities by day of creation, the latest first.
    pub fn board_ranks(self, funnel: FunnelId, column: ColumnId, archived: bool) -> String {
        self.pk(&format!("board-rank#{funnel}#{column}#{}", u8::from(archived)))
    }

    /// The daily counts of each restricted class of a column.
    pub fn restricted_ranks(self, funnel: FunnelId, column: ColumnId, archived: bool) -> String {
        self.pk(&format!(
            "{RESTRICTED_RANK}#{funnel}#{column}#{}",
            u8::from(archived)
        ))
    }
}

pub(crate) const BOARD: &str = "board";
pub(crate) const RESTRICTED_TOTAL: &str = "board-total-restricted";
pub(crate) const RESTRICTED_RANK: &str = "board-rank-restricted";

/// The latest time in Unix milliseconds, and its day since 1970. Sort keys contain the difference to it, so that later
/// times sort first.
const LAST_MILLI: i64 = Timestamp::LAST_MILLIS;
const LAST_DAY: i64 = LAST_MILLI / DAY_MILLIS;
/// The milliseconds of a day.
pub const DAY_MILLIS: i64 = 86_400_000;

/// The place of a record: its sort key in lists that are newest first, and highest id first within a millisecond (C-42,
/// C-62).
pub fn place(create_date: Timestamp, id: impl Into<u64>) -> String {
    format!("{}{:015}", place_time(create_date), MAX_ID - id.into())
}

/// The prefix of the places of a millisecond. Later ones sort first.
fn place_time(time: Timestamp) -> String {
    format!("{}#", inverted(time.unix_millis()))
}

/// Text before all places of a millisecond, and after the places of later ones. A space sorts before `#`.
pub fn before_places(time: Timestamp) -> String {
    format!("{} ", inverted(time.unix_millis()))
}

/// Text after all places of a millisecond, and before the places of earlier ones. `~` sorts after `#`.
pub fn after_places(time: Timestamp) -> String {
    format!("{}~", inverted(time.unix_millis()))
}

/// The digits of a millisecond with which later ones sort first.
fn inverted(millis: i64) -> String {
    format!("{:015}", LAST_MILLI - millis)
}

/// The id of the record at a place.
pub fn placed(place: &str) -> Option<u64> {
    let (_, id) = place.split_once('#')?;
    MAX_ID.checked_sub(id.parse().ok()?)
}

/// Number of consecutive user ids that share an item of a day's counts. Such an item has at most some 60 KB of
/// DynamoDB's 400 KB, and a write of it usually costs a few units even if all of these users are busy on the day.
const RANK_USERS: u64 = 128;

/// The sort key prefix of a day's counts. The latest day sorts first.
pub fn rank_day(create_date: Timestamp) -> String {
    format!("{:07}", LAST_DAY - day(create_date))
}

/// The day of a time, numbered from 1970.
fn day(time: Timestamp) -> i64 {
    time.unix_millis().div_euclid(DAY_MILLIS)
}

/// The exclusive and the inclusive bound of the sort keys of daily counts, from the day of `newest` to the day of
/// `oldest`, both included; `None` without a bound. The latest day sorts first.
pub fn rank_span(newest: Option<Timestamp>, oldest: Option<Timestamp>) -> (Option<String>, Option<String>) {
    let end_of_day = |day: i64| format!("{:07}~", LAST_DAY - day);
    (
        newest.map(|newest| end_of_day(day(newest) + 1)),
        oldest.map(|oldest| end_of_day(day(oldest))),
    )
}

/// The sort key of the daily count with a user's numbers.
pub fn rank(day: &str, user: UserId) -> String {
    format!("{day}#{}", user.get() / RANK_USERS)
}

/// A text that sorts before a rank, which ends with a digit, and after all daily counts before it: the last character
/// is replaced by the one before it and `~~`, which sorts after `#` and digits.
pub fn before_rank(mut rank: String) -> String {
    let previous = rank.pop().map_or(0, u32::from).saturating_sub(1);
    rank.extend([char::from_u32(previous).unwrap_or_default(), '~', '~']);
    rank
}

/// The day in a daily count's sort key.
pub fn ranked_day(rank: &str) -> &str {
    rank.split_once('#').map_or(rank, |(day, _)| day)
}

/// The exclusive lower bound of the places of a day; `None` if the text is no day of a daily count.
pub fn rank_begins(day: &str) -> Option<String> {
    let day = LAST_DAY - day.parse::<i64>().ok()?;
    let last = day.checked_add(1)?.checked_mul(DAY_MILLIS)? - 1;
    Some(format!("{} ", inverted(last)))
}

/// The sort key of a restricted class's daily count.
pub fn restricted_rank(day: &str, class: &str) -> String {
    format!("{day}#{class}")
}

/// The day and the restricted class in such a sort key, also of a shard.
pub fn restricted_ranked(rank: &str) -> Option<(&str, &str)> {
    unsharded(rank).split_once('#')
}

/// The first parts of the sort keys of columns' totals and of users' totals.
const COLUMN: &str = "column";
const USER: &str = "user";
/// The last part of both.
const WHOLE: &str = "-";
/// Number of consecutive column ids that share an item of a user's totals, so that a move between these columns changes
/// one item. It has some 600 bytes, so a write of it costs one unit.
const USER_COLUMNS: u64 = 10;

/// The opportunities that a total counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoardTotalOf {
    /// The opportunities of a column.
    Column(ColumnId),
    /// The opportunities of a user in several columns.
    User(UserId),
}

/// The prefix of the sort keys of a column's total, or of the totals of all columns.
pub fn column_begins(column: Option<ColumnId>) -> String {
    column.map_or_else(|| format!("{COLUMN}#"), |column| format!("{COLUMN}#{column}#"))
}

/// The prefix of the sort keys of a user's totals.
pub fn user_begins(user: UserId) -> String {
    format!("{USER}#{user}#")
}

/// The sort key prefix of a user's total of a column.
pub fn user_column_begins(user: UserId, column: ColumnId) -> String {
    format!("{USER}#{user}#{}#", column.get() / USER_COLUMNS)
}

/// The opportunities that a total counts, by its sort key; `None` for other items.
pub fn total_of(total: &str) -> Option<BoardTotalOf> {
    let mut parts = total.split('#');
    let (kind, id) = (parts.next()?, parts.next()?.parse().ok()?);
    match kind {
        COLUMN => ColumnId::new(id).map(BoardTotalOf::Column),
        USER => UserId::new(id).map(BoardTotalOf::User),
        _ => None,
    }
}

/// The sort key prefix of a column's restricted totals.
pub fn total_column(column: ColumnId) -> String {
    format!("{column}#")
}
