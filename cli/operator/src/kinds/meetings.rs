//! Meetings. They may overlap, as they did in the former system.

use serde_json::Value;
use shared::ids::MeetingId;
use shared::meeting::Meeting;
use shared::store::unscoped::calendars;
use shared::store::unscoped::entity::Entity as _;
use shared::store::unscoped::erasure::PendingErasures;
use shared::store::unscoped::meetings::MeetingRecord;

use super::prelude::*;

/// The meetings.
#[derive(Debug)]
pub struct Meetings;

impl RecordKind for Meetings {
    type Record = Meeting;
    /// A meeting without a user gets the calendar's user.
    type Line = Dated<Meeting>;
    const KIND: Kind = Kind::Meetings;
    const FIELDS: &'static [Field] = &[
        ID,
        field(Shape::Id, "calendarId").needed().decided(Kind::Calendars),
        field(Shape::Id, "leadId").decided(Kind::Leads),
        field(Shape::Id, "opportunityId").decided(Kind::Opportunities),
        field(Shape::Id, "userId").refers(Kind::Users),
        field(Shape::OneOf("scheduled rescheduled canceled"), "status").or(r#""scheduled""#),
        field(Shape::Object, "formData properties"),
        field(Shape::Integer, "moves")
            .or("0")
            .note("to 20; an import never lowers it"),
        field(Shape::Time, "date endDate").needed(),
        field(Shape::Time, "createDate updateDate"),
        field(Shape::ReadOnly, "rescheduleKey"),
    ];

    fn parse(fields: Fields) -> Result<Self::Line, String> {
        // An absent form was empty, and a null form was erased (C-24).
        let erased = fields.get("formData").is_some_and(Value::is_null);
        let mut line = Dated::<Meeting>::read::<Self>(fields)?;
        let meeting = &mut line.record;
        if erased {
            meeting.form_data = None;
        }
        if meeting.end_date < meeting.date {
            return Err("endDate: must not be before date".to_owned());
        }
        if meeting.end_date > meeting.date.plus_days(Meeting::MAX_DAYS) {
            return Err(format!(
                "endDate: must be at most {} days after date, because a meeting is written to each of its days",
                Meeting::MAX_DAYS
            ));
        }
        if meeting.moves > Meeting::MAX_MOVES {
            return Err(format!("moves: must be at most {}", Meeting::MAX_MOVES));
        }
        check_form_size(meeting)?;
        Ok(line)
    }

    fn identity(meeting: &Meeting) -> u64 {
        meeting.id.get()
    }

    fn export(meeting: &Meeting) -> serde_json::Result<Fields> {
        Ok(meeting.sparse())
    }
}

/// Requires that form and properties of a meeting are within the limits of a booking (C-54).
fn check_form_size(meeting: &Meeting) -> Result<(), String> {
    let mut names = meeting.form_data.iter().flatten().map(|(name, _)| name);
    let is_too_long = |name: &&String| name.chars().count() > Meeting::MAX_NAME;
    if let Some(name) = names.find(is_too_long) {
        let name = shared::text::cut(name, Meeting::MAX_NAME);
        return Err(format!(
            "formData.{name}: must have a name of at most {} characters",
            Meeting::MAX_NAME
        ));
    }
    let bytes = |part: &Fields| serde_json::to_vec(part).map_or(usize::MAX, |json| json.len());
    let form = meeting.form_data.as_ref().map_or(0, bytes);
    if form.saturating_add(bytes(&meeting.properties)) > Meeting::MAX_FREE {
        return Err("formData: must have at most 16 KB together with properties".to_owned());
    }
    Ok(())
}

impl StoredKind for Meetings {
    const STORAGE: Storage = Storage {
        sequence: Some((Counter::Meeting, "meeting")),
        unchanged: version,
        ..Storage::of(
            ["meeting", "meetings"],
            |keys| vec![keys.meetings()],
            |keys, id| Some(keys.meeting(MeetingId::parse(id)?)),
            |keys, item| MeetingRecord::decode(item)?.derived_as_read(keys),
        )
    };
    const DECODE: fn(Item) -> Result<Meeting, StoreError> = |item| Meeting::decode(&item);
    const STOPS_AT: Option<&'static str> = Some("meeting");
    const WITHOUT: Option<fn(Meeting, &PendingErasures) -> Meeting> =
        Some(|meeting, erasures| erasures.meeting(meeting));
    const CHECK_READS_TABLE: bool = true;

    /// Imported meetings do not change their leads' `lastActive`.
    async fn write(operator: &Operator, lines: &[&Self::Line], mode: Mode) -> Written {
        operator.write_each::<Self>(lines, mode).await
    }
}

impl Decide for Meetings {
    fn reads(keys: Keys<'_>, meeting: &Meeting, _mode: Mode) -> Vec<Key> {
        let mut reads = vec![keys.meeting(meeting.id), keys.calendar(meeting.calendar_id)];
        reads.extend(meeting.lead_id.map(|lead| keys.lead(lead)));
        reads.extend(meeting.opportunity_id.map(|id| keys.opportunity(id)));
        reads
    }

    fn decide(operator: &Operator, line: &Self::Line, found: &FoundItems, mode: Mode) -> Decision {
        let keys = operator.keys();
        let stored = found.get(&keys.meeting(line.record.id));
        let stored = stored.map(MeetingRecord::decode).transpose()?;
        let mut meeting = line.onto(stored.as_ref().map(|stored| &stored.value), operator.now());
        let calendar = meeting.calendar_id;
        let calendar = found.need(&keys.calendar(calendar), "calendarId", Kind::Calendars, calendar)?;
        if let Some(id) = meeting.lead_id {
            found.need(&keys.lead(id), "leadId", Kind::Leads, id)?;
        }
        if let Some(id) = meeting.opportunity_id {
            let key = keys.opportunity(id);
            found.need(&key, "opportunityId", Kind::Opportunities, id)?;
        }
        let user = calendars::calendar(calendar)?.user_id;
        meeting.user_id.get_or_insert(user);
        if let Some(stored) = &stored {
            // A calendar file's sequence number never falls.
            meeting.moves = meeting.moves.max(stored.moves);
            if stored.value == meeting {
                return Err(Skip::Unchanged);
            }
            same_record(stored.made, line.create_date, stored.value.create_date)?;
            replaceable(Kind::Meetings, meeting.id, stored.edited, mode)?;
        }
        let record = MeetingRecord::imported(stored.as_ref(), meeting);
        let mut transaction = record.put(keys, stored.as_ref())?;
        if let Some(lead) = record.lead_id {
            // A transaction that links a lead checks that it exists (C-24).
            transaction.check(keys.lead(lead), Condition::Present);
        }
        Ok(transaction)
    }
}
