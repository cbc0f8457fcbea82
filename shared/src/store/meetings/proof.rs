//! The proof of a public caller that it booked a meeting (C-55).

use std::collections::HashMap;

use super::MeetingRecord;
use crate::calendar::Calendar;
use crate::ids::MeetingId;
use crate::meeting::RescheduleSecret;
use crate::store::key::{Key, Keys};
use table::StoreError;
use table::item::{self, Item};

const SECRET: &str = "secret";

/// The stored part of a proof: the instance's secret, and the meeting that the request names.
#[derive(Debug, Default)]
pub struct Proof {
    /// The secret of reschedule keys; `None` if the instance has none yet.
    pub secret: Option<RescheduleSecret>,
    /// The meeting, if it exists.
    meeting: Option<MeetingRecord>,
}

impl Proof {
    /// The keys of its items.
    pub fn keys(keys: Keys<'_>, meeting: Option<MeetingId>) -> impl Iterator<Item = Key> {
        let meeting = meeting.map(|id| keys.meeting(id));
        std::iter::once(keys.reschedule_secret()).chain(meeting)
    }

    /// Decodes it from the items that were found.
    ///
    /// # Errors
    /// [`StoreError::Corrupt`] if an item cannot be read.
    pub fn of(
        keys: Keys<'_>,
        meeting: Option<MeetingId>,
        found: &HashMap<Key, Item>,
    ) -> Result<Self, StoreError> {
        let meeting = meeting.and_then(|id| found.get(&keys.meeting(id)));
        Ok(Self {
            secret: found.get(&keys.reschedule_secret()).map(secret).transpose()?,
            meeting: meeting.map(MeetingRecord::decode).transpose()?,
        })
    }

    /// The meeting to move or cancel, if `key` is its key and it belongs to this calendar.
    #[must_use]
    pub fn admits(&self, calendar: &Calendar, key: &str) -> Option<&MeetingRecord> {
        let (secret, record) = (self.secret.as_ref()?, self.meeting.as_ref()?);
        (secret.admits(record.id, key) && record.calendar_id == calendar.id).then_some(record)
    }
}

/// The secret in an item.
pub fn secret(item: &Item) -> Result<RescheduleSecret, StoreError> {
    let text = item.get(SECRET).and_then(|text| text.as_s().ok());
    let text = text.ok_or_else(|| item::corrupt("secret", "it has no text"))?;
    Ok(RescheduleSecret::stored(text))
}

/// The item of a secret.
pub fn secret_item(secret: &RescheduleSecret) -> Item {
    Item::from([(SECRET.to_owned(), item::s(secret.reveal()))])
}
