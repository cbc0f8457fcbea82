//! Keys are parsed back as they were built.

use proptest::prelude::*;

use super::*;
use crate::ids::{AutomationId, FileId};
use crate::ticket::FileName;

fn ids() -> impl Strategy<Value = u64> {
    prop_oneof![1..=MAX_ID, 1..=2000_u64, Just(MAX_ID)]
}

proptest! {
    /// Keys with ids of leads, users and records of leads.
    #[test]
    fn keys_of_records_are_parsed_back(
        (id, other) in (ids(), ids()),
        millis in -62_135_596_800_000..=Timestamp::LAST_MILLIS,
        archived in any::<bool>(),
        (text, path) in ("[0-9a-f]{1,32}", ".{0,40}"),
    ) {
        let acme = acme();
        let keys = Keys::of(&acme);
        let date = Timestamp::from_unix_millis(millis).unwrap();
        let (lead, user, department) =
            (LeadId::new(id).unwrap(), UserId::new(other).unwrap(), DepartmentId::new(id).unwrap());
        let (opportunity, meeting, ticket) =
            (OpportunityId::new(id).unwrap(), MeetingId::new(id).unwrap(), TicketId::new(id).unwrap());
        let (calendar, email) = (CalendarId::new(other).unwrap(), keys.email_lead(&text, archived, lead));

        prop_assert_eq!(placed_ticket(&keys.lead_ticket(lead, date, ticket).sk), Some(ticket));
        prop_assert_eq!(stale_marker_lead(&keys.stale_marker(lead)), Some(lead));
        prop_assert_eq!(tombstone_lead(&keys.tombstone(lead)), Some(lead));
        let block = keys.lead_block(archived, id);
        for item in std::iter::once(block.clone()).chain(table::shards(&block)) {
            prop_assert_eq!(numbered_block(&item.sk), Some(id));
        }
        prop_assert_eq!(looked_up_lead(&keys.phone_lead(&text, archived, lead).sk), Some(lead));
        prop_assert_eq!(looked_up_lead(&email.sk), Some(lead));
        let (word, number) = (keys.word_lead(archived, &path, lead), keys.number_lead(archived, &text, lead));
        let address = keys.addressed_lead(archived, &text, lead);
        let titled = keys.titled(FunnelId::new(other).unwrap(), &path, opportunity);
        prop_assert_eq!(member_department(&keys.member(department, user).sk), Some(department));
        prop_assert!(keys.member(department, user).sk.starts_with(&department_members(department)));
        for name in [FileName::Id(FileId::new(other).unwrap()), FileName::Path(ticket, path)] {
            prop_assert_eq!(keys.listed_file(&keys.ticket_file(ticket, &name)), Some(name.clone()));
            prop_assert_eq!(keys.listed_file(&keys.lead_file(lead, ticket, &name)), Some(name));
        }
        for (key, origin) in [
            (entry(keys.lead_list(archived), lead), Origin::Lead(Some(lead))),
            (entry(keys.owner_list(archived, user), lead), Origin::Lead(Some(lead))),
            (keys.phone_lead(&text, archived, lead), Origin::Lead(Some(lead))),
            (keys.lead_details(lead), Origin::Lead(Some(lead))),
            (email, Origin::Lead(Some(lead))),
            (word, Origin::Lead(Some(lead))),
            (address, Origin::Lead(Some(lead))),
            (titled, Origin::Opportunity(Some(opportunity))),
            (number, Origin::Lead(Some(lead))),
            (keys.lead_opportunity(lead, opportunity), Origin::Opportunity(Some(opportunity))),
            (keys.listed_meeting(calendar, date, meeting), Origin::Meeting(Some(meeting))),
            (keys.lead_meeting(lead, meeting), Origin::Meeting(Some(meeting))),
            (keys.lead_ticket(lead, date, ticket), Origin::Ticket(Some(ticket))),
        ] {
            prop_assert_eq!(keys.origin(&key), origin);
        }
    }

    /// Days and classes of boards.
    #[test]
    fn keys_of_boards_are_parsed_back(
        (id, other) in (ids(), ids()),
        millis in -62_135_596_800_000..=Timestamp::LAST_MILLIS,
        text in "[0-9a-f]{1,32}",
    ) {
        let date = Timestamp::from_unix_millis(millis).unwrap();
        let (day, user) = (rank_day(date), other.to_string());
        let ranked = rank(&day, UserId::new(other).unwrap());
        prop_assert_eq!(ranked_day(&ranked), day.as_str());
        let (after, through) = rank_span(Some(date), Some(date));
        for rank in [&ranked, &format!("{ranked}~15"), &restricted_rank(&day, "7#open")] {
            prop_assert!(after.as_ref() < Some(rank) && Some(rank) < through.as_ref());
        }
        let tomorrow = Timestamp::from_unix_millis(millis + DAY_MILLIS);
        for other in tomorrow.into_iter().map(|date| rank(&rank_day(date), UserId::new(other).unwrap())) {
            prop_assert!(Some(&other) < after.as_ref());
        }
        let class = class([&user, "open", &text]);
        let ranked = restricted_rank(&day, &class);
        prop_assert_eq!(restricted_ranked(&ranked), Some((day.as_str(), class.as_str())));
        let parts = class_parts(&class).collect::<Vec<_>>();
        prop_assert_eq!(parts, [user.as_str(), "open", text.as_str()]);
        let acme = acme();
        let keys = Keys::of(&acme);
        let (funnel, column) = (FunnelId::new(other).unwrap(), ColumnId::new(id).unwrap());
        let (user, total) = (UserId::new(other).unwrap(), |key: Key| total_of(&key.sk));
        let of_column = keys.column_total(funnel, false, column);
        prop_assert!(of_column.sk.starts_with(&column_begins(Some(column))));
        prop_assert_eq!(total(of_column), Some(BoardTotalOf::Column(column)));
        let of_user = keys.user_total(funnel, false, user, column);
        prop_assert!(of_user.sk.starts_with(&user_begins(user)));
        prop_assert!(of_user.sk.starts_with(&user_column_begins(user, column)));
        prop_assert_eq!(total(of_user), Some(BoardTotalOf::User(user)));
        let place = place(date, OpportunityId::new(id).unwrap());
        prop_assert_eq!(placed(&place), Some(id));
        prop_assert!(before_places(date) < place && place < after_places(date));
        prop_assert!(rank_begins(&day).unwrap() < place);
    }

    /// Outbox entries, notifications and parts of results.
    #[test]
    fn keys_of_jobs_are_parsed_back(
        (id, other) in (ids(), ids()),
        (generation, action) in (0..=999_999_999_999_u64, 0..99_usize),
        text in "[0-9a-f]{1,32}",
    ) {
        let acme = acme();
        let keys = Keys::of(&acme);
        let call = Cause::Call(CallId::new(id).unwrap());
        let trigger = keys.trigger(call);
        prop_assert_eq!(triggered(&trigger.sk), Some(call));
        prop_assert_eq!(streamed(&trigger.pk, &trigger.sk), Some((acme.clone(), call)));
        prop_assert_eq!(original_key(&aside_key(&trigger)), Some(trigger));
        let automation = AutomationId::new(other).unwrap();
        let notification = keys.notification(call, automation, action);
        prop_assert_eq!(notified(&notification.sk), Some((call, automation, action)));
        let part = report_part_sort(&report_part_name("2026-05", action), &report_version(generation, &text));
        prop_assert_eq!(report_generation(&part), Some(generation));
        let slice = report_slice(&text, generation);
        let draft = keys.report_draft(crate::ids::ReportId::new(id).unwrap(), &slice, action);
        prop_assert!(draft.sk.starts_with(&report_slice_begins(&slice)));
    }

    /// The parts cover every number after the first ones once.
    #[test]
    fn a_split_covers_every_number_once(
        first in 1..=MAX_ID, ahead in 0..=10_000_u64, parts in 1..=9_u64, offset in 1..=20_000_u64,
    ) {
        let last = first.saturating_add(ahead).min(MAX_ID);
        let ranges = split("p", first, last, parts);
        let sought = number(first.saturating_add(offset).min(MAX_ID));
        let holds = |range: &KeyRange| {
            range.after.as_ref().is_some_and(|after| *after < sought)
                && range.through.as_ref().is_none_or(|through| sought <= *through)
        };
        let expected = usize::from(sought > number(first));
        prop_assert_eq!(ranges.iter().filter(|range| holds(range)).count(), expected);
    }
}
