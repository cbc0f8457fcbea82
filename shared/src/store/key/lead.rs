//! The keys of leads, of what leads to them, and of their calls.

use super::{Key, Keys, class};
use crate::ids::{CallId, CompanyId, EventId, LeadId, UserId};
use crate::words::KeySpan;
use table::{KeyRange, PAGE, unsharded};

impl Keys<'_> {
    /// All leads' records by id.
    pub fn leads(self) -> String {
        self.pk("lead")
    }

    /// A lead's record.
    pub fn lead(self, id: LeadId) -> Key {
        Key::new(self.leads(), id.padded())
    }

    /// The custom fields of a large lead.
    pub fn lead_details(self, id: LeadId) -> Key {
        Key::new(self.pk("lead-details"), id.padded())
    }

    /// The list of all leads, archived or not, by id.
    pub fn lead_list(self, archived: bool) -> String {
        self.pk(&format!("leads#{}", u8::from(archived)))
    }

    /// The list of an owner's leads, archived or not, by id.
    pub fn owner_list(self, archived: bool, owner: UserId) -> String {
        self.pk(&format!("leads#{}#{owner}", u8::from(archived)))
    }

    /// The totals of the list of leads, an item for each owner.
    pub fn lead_totals(self, archived: bool) -> String {
        self.pk(&format!("lead-total#{}", u8::from(archived)))
    }

    /// The totals of leads with access lists, an item for each owner and lists. They are apart from the others because only
    /// some viewers need them, and there may be any number of them.
    pub fn restricted_lead_totals(self, archived: bool) -> String {
        self.pk(&format!("{RESTRICTED_LEADS}#{}", u8::from(archived)))
    }

    /// The numbers of leads by ranges of ids, of all lists.
    pub fn lead_ranks(self) -> String {
        self.pk(LEAD_RANKS)
    }

    /// The ranks of an owner's list, or of the list of all, with their shards.
    pub fn list_ranks(self, owner: Option<UserId>) -> KeyRange {
        KeyRange::beginning(self.lead_ranks(), ranked(owner))
    }

    /// A rank of an owner's list, or of the list of all.
    pub fn lead_rank(self, owner: Option<UserId>, rank: u64) -> Key {
        Key::new(self.lead_ranks(), format!("{}{rank:011}", ranked(owner)))
    }

    /// The leads that have a number, the best match first: not archived before archived, then by id (C-72).
    pub fn phone(self, digits: &str) -> String {
        self.pk(&format!("phone#{digits}"))
    }

    /// A lead among those that have a number.
    pub fn phone_lead(self, digits: &str, archived: bool, id: LeadId) -> Key {
        Key::new(self.phone(digits), matched(archived, id))
    }

    /// The leads that have an e-mail address that is no word, by its digest: not archived before archived, then by id (C-92).
    pub fn email(self, digest: &str) -> String {
        self.pk(&format!("email#{digest}"))
    }

    /// A lead among those that have an e-mail address.
    pub fn email_lead(self, digest: &str, archived: bool, id: LeadId) -> Key {
        Key::new(self.email(digest), matched(archived, id))
    }

    /// The leads with a word of the same first character (C-20), by word, then id.
    pub fn words(self, archived: bool, word: &str) -> String {
        self.pk(&format!("word#{}#{}", u8::from(archived), first(word)))
    }

    /// A lead among those that have a word.
    pub fn word_lead(self, archived: bool, word: &str, id: LeadId) -> Key {
        Key::new(self.words(archived, word), keyed(word, &id.padded()))
    }

    /// The leads with an e-mail address that is this word, by id; the range is of the first.
    pub fn addressed(self, archived: bool, word: &str) -> KeyRange {
        KeyRange {
            limit: 1,
            ..KeyRange::beginning(self.words(archived, word), format!("{word}{ADDRESS}"))
        }
    }

    /// A lead among those that have a word and whose whole e-mail address it is.
    pub fn addressed_lead(self, archived: bool, word: &str, id: LeadId) -> Key {
        let sk = format!("{word}{ADDRESS}{}", id.padded());
        Key::new(self.words(archived, word), sk)
    }

    /// The leads with more words than have items of their own, by id.
    pub fn wordy_leads(self, archived: bool) -> String {
        self.pk(&format!("wordy#{}", u8::from(archived)))
    }

    /// The leads with numbers of the same two last digits (C-20), by the digits backwards, then id.
    pub fn number_endings(self, archived: bool, backwards: &str) -> String {
        let last: String = backwards.chars().take(2).collect();
        self.pk(&format!("number#{}#{last}", u8::from(archived)))
    }

    /// A lead among those that have a number, whose digits are written backwards.
    pub fn number_lead(self, archived: bool, backwards: &str, id: LeadId) -> Key {
        Key::new(
            self.number_endings(archived, backwards),
            keyed(backwards, &id.padded()),
        )
    }

    /// The claim that keeps concurrent requests from making two leads for one e-mail address.
    pub fn new_email(self, digest: &str) -> Key {
        Key::new(self.pk(&format!("new-email#{digest}")), "new-email")
    }

    /// The claim that keeps two first calls of one line from making two leads. The line appears as a digest only, because
    /// the item outlives the lead for a while.
    pub fn new_caller(self, line: &str) -> Key {
        Key::new(self.pk(&format!("new-caller#{line}")), "new-caller")
    }

    /// A lead's timeline.
    pub fn timeline(self, lead: LeadId) -> String {
        self.pk(&format!("timeline#{lead}"))
    }

    /// An event on a lead's timeline.
    pub fn event(self, lead: LeadId, id: EventId) -> Key {
        Key::new(self.timeline(lead), format!("event#{}", id.padded()))
    }

    /// The calls of a lead that have no event on its timeline yet, by id.
    pub fn lead_calls(self, lead: LeadId) -> String {
        self.pk(&format!("lead-call#{lead}"))
    }

    /// A call among those of its lead that have no event yet.
    pub fn lead_call(self, lead: LeadId, id: CallId) -> Key {
        Key::new(self.lead_calls(lead), id.padded())
    }

    /// The partitions of all calls, each by id: one has those from before format 6, the others have the later ones in
    /// turn, because the end of a partition admits no more than 500 new records a second.
    pub fn calls(self) -> Vec<String> {
        let parts = (0..CALL_PARTS).map(|part| self.call_part(part));
        [self.pk("call")].into_iter().chain(parts).collect()
    }

    fn call_part(self, number: u64) -> String {
        self.pk(&format!("call#{}", number % CALL_PARTS))
    }

    /// A new record of the call history.
    pub fn call(self, id: CallId) -> Key {
        let [spread, former] = self.call_places(id);
        if self.spreads_calls() { spread } else { former }
    }

    /// The two keys at which a call may be.
    pub fn call_places(self, id: CallId) -> [Key; 2] {
        [self.call_part(id.get()), self.pk("call")].map(|partition| Key::new(partition, id.padded()))
    }

    /// The leads of a company.
    pub fn company_leads(self, company: CompanyId) -> String {
        self.pk(&format!("company-lead#{company}"))
    }

    /// The notices of records whose copies elsewhere may be stale.
    pub fn notices(self) -> String {
        self.pk("notice")
    }

    /// The notice that a lead changed.
    pub fn lead_notice(self, lead: LeadId) -> Key {
        Key::new(self.notices(), format!("lead#{}", lead.padded()))
    }

    /// The deleted leads of which something may be left.
    pub fn erasures(self) -> String {
        self.pk("erasure")
    }

    /// The mark that data of a deleted lead may remain in other records.
    pub fn erasure(self, lead: LeadId) -> Key {
        Key::new(self.erasures(), lead.padded())
    }
}

/// Between a whole e-mail address and the id of its lead.
const ADDRESS: &str = "#@";

/// The number of partitions of new calls.
const CALL_PARTS: u64 = 4;

const LEAD_RANKS: &str = "lead-rank";
const ALL: &str = "all";

/// The prefix of the ranks of an owner's list, or of the list of all leads.
fn ranked(owner: Option<UserId>) -> String {
    owner.map_or_else(|| format!("{ALL}#"), |owner| format!("{owner}#"))
}

/// The list, of an owner or of all, and the number of a rank or its shard, by its sort key; `None` where it is not one that
/// is ever written.
pub fn ranked_list(sk: &str) -> Option<(Option<UserId>, u64)> {
    let (list, rank) = unsharded(sk).split_once('#')?;
    let owner = match list {
        ALL => None,
        owner => Some(UserId::new(owner.parse().ok()?)?),
    };
    Some((owner, rank.parse().ok()?))
}

pub(crate) const RESTRICTED_LEADS: &str = "lead-total-restricted";

/// The prefix of the classes of an owner's leads with access lists.
pub fn class_of(owner: UserId) -> String {
    class([&owner.to_string(), ""])
}

/// The lead that a notice is about, by its key.
pub fn noticed(key: &Key) -> Option<LeadId> {
    LeadId::new(key.sk.strip_prefix("lead#")?.parse().ok()?)
}

/// The lead that a mark of a deletion is about, by its key.
pub fn marked(key: &Key) -> Option<LeadId> {
    LeadId::new(key.sk.parse().ok()?)
}

/// Whether a key is that of a look-up that leads and opportunities of format 1 lack.
pub fn is_new_look_up(key: &Key) -> bool {
    const KINDS: [&str; 6] = ["email", "word", "wordy", "number", "title", "wordy-title"];
    let kind = key.pk.split('#').nth(1);
    kind.is_some_and(|kind| KINDS.contains(&kind))
}

/// The part of a partition of words by which they are divided.
pub(super) fn first(word: &str) -> String {
    word.chars().take(1).collect()
}

/// The sort key of a record among those of one text.
pub(super) fn keyed(text: &str, id: &str) -> String {
    format!("{text}#{id}")
}

/// The sort keys of the texts in a span.
pub fn in_span(partition: String, span: &KeySpan) -> KeyRange {
    let (after, last) = match span {
        KeySpan::Prefix(prefix) => (prefix.clone(), char::MAX),
        KeySpan::Key(text) => (format!("{text}#"), '~'),
    };
    KeyRange {
        through: Some(format!("{after}{last}")),
        after: Some(after),
        ..KeyRange::head(partition, PAGE)
    }
}

/// The sort key of a lead among those of one number or e-mail address.
fn matched(archived: bool, id: LeadId) -> String {
    format!("{}#{}", u8::from(archived), id.padded())
}

/// The lead of a sort key of a look-up. `None` if no such key is ever written.
pub fn looked_up_lead(sk: &str) -> Option<LeadId> {
    keyed_id(sk).and_then(LeadId::new)
}

/// The id in the sort key of a look-up.
pub fn keyed_id(sk: &str) -> Option<u64> {
    let (_, id) = sk.rsplit_once('#').unwrap_or_default();
    id.strip_prefix('@').unwrap_or(id).parse().ok()
}
