//! The keys of leads, their look-ups and lists, and their calls.

use super::base::{Keys, class, number};
use crate::ids::{CallId, CompanyId, EventId, LeadId, UserId};
use crate::words::KeySpan;
use table::Key;
use table::{KeyRange, unsharded};

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

    /// The totals of leads with access lists, an item for each owner and set of lists. They have their own partition,
    /// because only some viewers need them and there may be any number of them.
    pub fn restricted_lead_totals(self, archived: bool) -> String {
        self.pk(&format!("{RESTRICTED_LEADS}#{}", u8::from(archived)))
    }

    /// The blocks of the list of leads, archived or not: numbers of leads by ranges of ids.
    pub fn lead_blocks(self, archived: bool) -> String {
        self.pk(&format!("{LEAD_BLOCKS}#{}", u8::from(archived)))
    }

    /// A block of the list of leads. Blocks are numbered by their ranges of ids.
    pub fn lead_block(self, archived: bool, block: u64) -> Key {
        Key::new(self.lead_blocks(archived), number(block))
    }

    /// The leads that have a number, the best match first: not archived before archived, then by id (C-72).
    pub fn phone(self, digits: &str) -> String {
        self.pk(&format!("phone#{digits}"))
    }

    /// The look-up of a lead by a number.
    pub fn phone_lead(self, digits: &str, archived: bool, id: LeadId) -> Key {
        Key::new(self.phone(digits), matched(archived, id))
    }

    /// The leads with an e-mail address that is not a word, by its digest: not archived before archived, then by id
    /// (C-92).
    pub fn email(self, digest: &str) -> String {
        self.pk(&format!("email#{digest}"))
    }

    /// The look-up of a lead by the digest of its e-mail address.
    pub fn email_lead(self, digest: &str, archived: bool, id: LeadId) -> Key {
        Key::new(self.email(digest), matched(archived, id))
    }

    /// The leads with a word of the same first character (C-20), by word, then id.
    pub fn words(self, archived: bool, word: &str) -> String {
        self.pk(&format!("word#{}#{}", u8::from(archived), first(word)))
    }

    /// The item of a lead's word.
    pub fn word_lead(self, archived: bool, word: &str, id: LeadId) -> Key {
        Key::new(self.words(archived, word), keyed(word, &id.padded()))
    }

    /// The range of the first lead, by id, with this word as its whole e-mail address.
    pub fn addressed(self, archived: bool, word: &str) -> KeyRange {
        KeyRange {
            limit: 1,
            ..KeyRange::beginning(self.words(archived, word), format!("{word}{ADDRESS}"))
        }
    }

    /// The item of a lead's word that is its whole e-mail address.
    pub fn addressed_lead(self, archived: bool, word: &str, id: LeadId) -> Key {
        let sk = format!("{word}{ADDRESS}{}", id.padded());
        Key::new(self.words(archived, word), sk)
    }

    /// The leads with too many words for items of all of them, by id.
    pub fn wordy_leads(self, archived: bool) -> String {
        self.pk(&format!("wordy#{}", u8::from(archived)))
    }

    /// The leads with numbers of the same two last digits (C-20), by the reversed digits, then id.
    pub fn number_endings(self, archived: bool, backwards: &str) -> String {
        let last: String = backwards.chars().take(2).collect();
        self.pk(&format!("number#{}#{last}", u8::from(archived)))
    }

    /// The item of a lead's number. The digits are reversed.
    pub fn number_lead(self, archived: bool, backwards: &str, id: LeadId) -> Key {
        Key::new(
            self.number_endings(archived, backwards),
            keyed(backwards, &id.padded()),
        )
    }

    /// The claim that prevents concurrent requests from creating two leads with one e-mail address.
    pub fn email_claim(self, digest: &str) -> Key {
        Key::new(self.pk(&format!("new-email#{digest}")), "new-email")
    }

    /// The claim that prevents two first calls from one line from creating two leads. It contains only a digest of the
    /// line, because the item may outlive the lead.
    pub fn phone_claim(self, line: &str) -> Key {
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

    /// The events of forms, by lead, then id.
    pub fn form_events(self) -> String {
        self.pk("form-event")
    }

    /// The beginning of the sort keys of a lead's events of forms.
    pub fn of_lead(lead: LeadId) -> String {
        format!("{}#", lead.padded())
    }

    /// An event of a form on a lead's timeline.
    pub fn form_event(self, lead: LeadId, id: EventId) -> Key {
        Key::new(
            self.form_events(),
            format!("{}{}", Self::of_lead(lead), id.padded()),
        )
    }

    /// The calls of a lead that have no event on its timeline yet, by id.
    pub fn lead_calls(self, lead: LeadId) -> String {
        self.pk(&format!("lead-call#{lead}"))
    }

    /// The link from a lead to a call without an event.
    pub fn lead_call(self, lead: LeadId, id: CallId) -> Key {
        Key::new(self.lead_calls(lead), id.padded())
    }

    /// The partitions of all calls, each by id. Calls are distributed over them, because the end of a partition admits
    /// only 500 new records a second.
    pub fn calls(self) -> Vec<String> {
        (0..CALL_PARTS).map(|part| self.call_part(part)).collect()
    }

    fn call_part(self, number: u64) -> String {
        self.pk(&format!("call#{}", number % CALL_PARTS))
    }

    /// The key of a call.
    pub fn call(self, id: CallId) -> Key {
        Key::new(self.call_part(id.get()), id.padded())
    }

    /// The leads of a company.
    pub fn company_leads(self, company: CompanyId) -> String {
        self.pk(&format!("company-lead#{company}"))
    }

    /// The stale markers of records with copies in other records.
    pub fn stale_markers(self) -> String {
        self.pk("notice")
    }

    /// The stale marker of a lead.
    pub fn stale_marker(self, lead: LeadId) -> Key {
        Key::new(self.stale_markers(), format!("lead#{}", lead.padded()))
    }

    /// The tombstones of deleted leads with data that may not be erased yet.
    pub fn tombstones(self) -> String {
        self.pk("erasure")
    }

    /// The tombstone of a deleted lead.
    pub fn tombstone(self, lead: LeadId) -> Key {
        Key::new(self.tombstones(), lead.padded())
    }
}

/// The text between a whole e-mail address and the id of its lead. Between other words and the id is `#` alone.
const ADDRESS: &str = "#@";

/// The number of partitions of calls.
const CALL_PARTS: u64 = 4;

pub(crate) const LEAD_BLOCKS: &str = "lead-block";

/// The number of a block, by its sort key or that of a shard.
pub fn numbered_block(sk: &str) -> Option<u64> {
    unsharded(sk).parse().ok()
}

pub(crate) const RESTRICTED_LEADS: &str = "lead-total-restricted";

/// The prefix of the classes of an owner's leads with access lists.
pub fn class_of(owner: UserId) -> String {
    class([&owner.to_string(), ""])
}

/// The lead of a stale marker, by its key.
pub fn stale_marker_lead(key: &Key) -> Option<LeadId> {
    LeadId::new(key.sk.strip_prefix("lead#")?.parse().ok()?)
}

/// The lead of a tombstone, by its key.
pub fn tombstone_lead(key: &Key) -> Option<LeadId> {
    LeadId::new(key.sk.parse().ok()?)
}

/// The first character of a word, by which words are divided into partitions.
pub(super) fn first(word: &str) -> String {
    word.chars().take(1).collect()
}

/// The sort key of a record with a text, such as a word: items sort by text, then id.
pub(super) fn keyed(text: &str, id: &str) -> String {
    format!("{text}#{id}")
}

/// The key range of the items with a text in a span, in a partition with sort keys from [`keyed`].
pub fn in_span(partition: String, span: &KeySpan) -> KeyRange {
    let (after, last) = match span {
        KeySpan::Prefix(prefix) => (prefix.clone(), char::MAX),
        KeySpan::Key(text) => (format!("{text}#"), '~'),
    };
    KeyRange {
        through: Some(format!("{after}{last}")),
        after: Some(after),
        ..KeyRange::whole(partition)
    }
}

/// The sort key of a lead's look-up by number or e-mail address.
fn matched(archived: bool, id: LeadId) -> String {
    format!("{}#{}", u8::from(archived), id.padded())
}

/// The lead in the sort key of a look-up. `None` if no such key is ever written.
pub fn looked_up_lead(sk: &str) -> Option<LeadId> {
    keyed_id(sk).and_then(LeadId::new)
}

/// The id in the sort key of a look-up.
pub fn keyed_id(sk: &str) -> Option<u64> {
    let (_, id) = sk.rsplit_once('#').unwrap_or_default();
    id.strip_prefix('@').unwrap_or(id).parse().ok()
}
