//! The keys of stored items must never change unnoticed.

mod origin;
mod properties;

use super::*;
use crate::calendar::LinkName;
use crate::credential::Secret;
use crate::environment::Environment;
use crate::ids::{CalendarId, CallId, ColumnId, DepartmentId, EventId, FunnelId, GroupId, MAX_ID};
use crate::opportunity::Status;
use crate::time::{Day, Timestamp};

/// The keys of stored items must never change unnoticed.
#[track_caller]
fn assert_texts<const N: usize>(expected: [(Key, &str); N]) {
    for (key, text) in expected {
        assert_eq!(format!("{} {}", key.pk, key.sk), text);
    }
}

fn acme() -> InstanceName {
    InstanceName::parse("acme").unwrap()
}

fn lead() -> LeadId {
    LeadId::new(1001).unwrap()
}

fn user() -> UserId {
    UserId::new(7).unwrap()
}

/// Between the ranks of users, their shards, and days.
#[test]
fn nothing_is_between_a_rank_and_those_before_it() {
    let ranks = [
        "0000001",
        "0000001#0",
        "0000001#0~07",
        "0000001#0~08",
        "0000001#1",
        "0000001#10",
        "0000001#12",
        "0000001#12~31",
        "0000001#1~05",
        "0000002",
        "0000002#0",
    ];
    for pair in ranks.windows(2) {
        let before = before_rank(pair[1].to_owned());
        assert!(
            pair[0] <= before.as_str() && before.as_str() < pair[1],
            "{pair:?}"
        );
    }
}

#[test]
fn the_text_of_keys_outside_instances() {
    let hash = Secret::issue(CredentialKind::Key, &Environment::system()).hash();
    let credential_key = format!("#credential#{} credential", hash.as_str());
    assert_texts([
        (credential(&hash), &credential_key),
        (instance(&acme()), "#instance acme"),
    ]);
}

#[test]
fn the_text_of_the_operators_keys() {
    let acme = acme();
    let keys = Keys::of(&acme);
    let company = CompanyId::new(2).unwrap();
    assert_texts([
        (keys.directory(), "acme#directory directory"),
        (keys.counter(Counter::User), "acme#counter user"),
        (keys.counter(Counter::Funnel), "acme#counter funnel"),
        (
            keys.department(DepartmentId::new(2).unwrap()),
            "acme#department 07",
        ),
        (keys.group(GroupId::new(3).unwrap()), "acme#group 27"),
        (
            keys.user_name(UserId::new(99).unwrap()),
            "acme#names 000000000000000",
        ),
        (
            keys.user_name(UserId::new(100).unwrap()),
            "acme#names 000000000000001",
        ),
        (
            keys.member(DepartmentId::new(2).unwrap(), UserId::new(1999).unwrap()),
            "acme#members 000000000000002#000000000000001",
        ),
        (keys.counter(Counter::Lead), "acme#counter lead"),
        (keys.counter(Counter::Call), "acme#counter call"),
        (
            keys.credential(CredentialKind::Key, "ab"),
            "acme#credential key#ab",
        ),
        (
            keys.credential(CredentialKind::Token, "ab"),
            "acme#credential token#ab",
        ),
        (keys.user(user()), "acme#user 000000000000007"),
        (keys.company(company), "acme#company 000000000000002"),
        (keys.profile("5511987654321"), "acme#profile 5511987654321"),
    ]);
}

#[test]
fn the_text_of_leads_keys() {
    let acme = acme();
    let keys = Keys::of(&acme);
    assert_texts([
        (keys.lead(lead()), "acme#lead 000000000001001"),
        (keys.lead_details(lead()), "acme#lead-details 000000000001001"),
        (
            entry(keys.lead_list(false), lead()),
            "acme#leads#0 000000000001001",
        ),
        (
            entry(keys.lead_list(true), lead()),
            "acme#leads#1 000000000001001",
        ),
        (
            entry(keys.owner_list(false, user()), lead()),
            "acme#leads#0#7 000000000001001",
        ),
        (total(keys.lead_totals(false), "7"), "acme#lead-total#0 7"),
        (
            total(keys.restricted_lead_totals(true), "7#ab"),
            "acme#lead-total-restricted#1 7#ab",
        ),
        (
            keys.phone_lead("5511", true, lead()),
            "acme#phone#5511 1#000000000001001",
        ),
        (
            keys.page_cursor("ab", 12),
            "acme#bookmark#ab 00000000000000000012",
        ),
        (
            entry(keys.company_leads(CompanyId::new(2).unwrap()), lead()),
            "acme#company-lead#2 000000000001001",
        ),
        (keys.stale_marker(lead()), "acme#notice lead#000000000001001"),
        (keys.tombstone(lead()), "acme#erasure 000000000001001"),
        (
            keys.lead_call(lead(), CallId::new(12).unwrap()),
            "acme#lead-call#1001 000000000000012",
        ),
    ]);
}

#[test]
fn the_text_of_opportunities_keys() {
    let acme = acme();
    let keys = Keys::of(&acme);
    let opportunity = OpportunityId::new(30).unwrap();
    let date = Timestamp::parse("2026-09-04T09:30:00.000Z").unwrap();
    let place = place(date, opportunity);
    assert_eq!(place, "251613786599999#999999999999969");
    for (user, status, list) in [
        (None, None, "-#-"),
        (Some(user()), None, "7#-"),
        (None, Some(Status::Gain), "-#gain"),
        (Some(user()), Some(Status::Open), "7#open"),
    ] {
        let board = keys.board(BoardList {
            funnel: FunnelId::new(3).unwrap(),
            column: ColumnId::new(31).unwrap(),
            archived: true,
            user,
            status,
        });
        assert_eq!(board, format!("acme#board#3#31#1#{list}"));
    }
    let of_lead = keys.lead_opportunity(lead(), opportunity);
    assert_texts([
        (keys.opportunity(opportunity), "acme#opportunity 000000000000030"),
        (of_lead, "acme#lead-opportunity#1001 000000000000030"),
        (keys.counter(Counter::Opportunity), "acme#counter opportunity"),
        (keys.idempotency("ab"), "acme#idempotency#ab idempotency"),
    ]);
}

#[test]
fn the_text_of_funnels_keys() {
    let acme = acme();
    let keys = Keys::of(&acme);
    let (funnel, column) = (FunnelId::new(3).unwrap(), ColumnId::new(31).unwrap());
    let day = rank_day(Timestamp::parse("2026-09-04T09:30:00.000Z").unwrap());
    let (of_column, of_user) = (
        keys.column_total(funnel, false, column),
        keys.user_total(funnel, false, UserId::new(300).unwrap(), column),
    );
    let restricted = total(keys.restricted_totals(funnel, false), "31#7#open#ab");
    let rank = rank(&day, UserId::new(300).unwrap());
    let ranks = total(keys.board_ranks(funnel, column, false), &rank);
    let restricted_ranks = total(keys.restricted_ranks(funnel, column, false), "2912196#7#open#ab");
    assert_texts([
        (keys.funnel(funnel), "acme#funnel 000000000000003"),
        (of_column, "acme#board-total#3#0 column#31#-"),
        (of_user, "acme#board-total#3#0 user#300#3#-"),
        (restricted, "acme#board-total-restricted#3#0 31#7#open#ab"),
        (ranks, "acme#board-rank#3#31#0 2912196#2"),
        (
            restricted_ranks,
            "acme#board-rank-restricted#3#31#0 2912196#7#open#ab",
        ),
    ]);
}

#[test]
fn the_text_of_rates_keys() {
    let acme = acme();
    let key = |budget| Keys::of(&acme).rate(budget, 29_921_040);
    let booking = Budget::Public(crate::store::PublicRoute::Booking);
    assert_texts([
        (key(Budget::Keys), "acme#rate#keys 000000029921040"),
        (
            key(Budget::Key("1f0c2b9a77de")),
            "acme#rate#key#1f0c2b9a77de 000000029921040",
        ),
        (key(booking), "acme#rate#public#booking 000000029921040"),
        (key(Budget::Webhook), "acme#rate#webhook 000000029921040"),
    ]);
}

#[test]
fn the_text_of_calendars_and_meetings_keys() {
    let acme = acme();
    let keys = Keys::of(&acme);
    let calendar = CalendarId::new(5).unwrap();
    let meeting = MeetingId::new(30).unwrap();
    let name = LinkName::parse("V1StGXR8_Z5jdHi6B-myT").unwrap();
    let date = Timestamp::parse("2027-03-01T09:30:00.000-03:00").unwrap();
    assert_texts([
        (keys.calendar(calendar), "acme#calendar 000000000000005"),
        (
            keys.calendar_link(&name),
            "acme#calendar-link#V1StGXR8_Z5jdHi6B-myT calendar",
        ),
        (
            keys.calendar_public(&name),
            "acme#calendar-public#V1StGXR8_Z5jdHi6B-myT calendar",
        ),
        (keys.meeting(meeting), "acme#meeting 000000000000030"),
        (
            keys.listed_meeting(calendar, date, meeting),
            "acme#meetings#5 2027-03-01T12:30:00.000Z#000000000000030",
        ),
        (
            keys.lead_meeting(lead(), meeting),
            "acme#lead-meeting#1001 000000000000030",
        ),
        (
            keys.agenda_day(AgendaOf::Calendar(calendar), Day::parse("2027-03-01").unwrap()),
            "acme#agenda#5 2027-03-01",
        ),
        (
            keys.agenda_day(AgendaOf::User(user()), Day::parse("2027-03-01").unwrap()),
            "acme#user-agenda#7 2027-03-01",
        ),
        (keys.calendar_buffers(), "acme#shared-buffers buffers"),
        (
            keys.meeting_month(calendar, "2027-03"),
            "acme#meeting-month#5 2027-03-01",
        ),
        (keys.reschedule_secret(), "acme#secret reschedule"),
        (keys.counter(Counter::Calendar), "acme#counter calendar"),
        (keys.counter(Counter::Meeting), "acme#counter meeting"),
    ]);
    let records = [keys.calendars(), keys.meetings()];
    assert_eq!(records, ["acme#calendar", "acme#meeting"]);
}

/// A calendar's meetings sort by start, then by id. They sort after the text of their start, its day and its month.
#[test]
fn listed_meetings_sort_by_their_start() {
    let acme = acme();
    let at = |date: &str, id| {
        let date = Timestamp::parse(date).unwrap();
        let calendar = CalendarId::new(5).unwrap();
        let key = Keys::of(&acme).listed_meeting(calendar, date, MeetingId::new(id).unwrap());
        key.sk
    };
    let listed = [
        at("1900-01-01T00:00:00Z", 9),
        at("2027-03-01T12:00:00Z", 9),
        at("2027-03-01T12:00:00Z", 10),
        at("2027-03-01T12:00:00.001Z", 1),
        at("2027-10-01T00:00:00Z", 1),
        at("9999-12-31T23:59:59.999Z", MAX_ID),
    ];
    assert!(listed.is_sorted());
    for begin in ["2027-03-01T12:00:00.000Z", "2027-03-01", "2027-03"] {
        assert!(
            listed[0].as_str() < begin && begin < listed[1].as_str(),
            "{begin}"
        );
    }
}

/// Places sort from the newest to the oldest, contain their opportunity, and follow the start of their day.
#[test]
fn places_sort_from_new_to_old() {
    let time = |date: &str| Timestamp::parse(date).unwrap();
    let at = |date: &str, id| place(time(date), OpportunityId::new(id).unwrap());
    let places = [
        at("9999-12-31T23:59:59.999Z", 1),
        at("2026-09-05T00:00:00Z", 1),
        at("2026-09-04T23:59:59.999Z", MAX_ID),
        at("2026-09-04T23:59:59.999Z", 1),
        at("2026-09-04T00:00:00Z", 7),
        at("2026-09-03T23:59:59.999Z", 7),
        at("1969-12-31T23:59:59.999Z", 8),
        at("1900-01-01T00:00:00Z", 9),
    ];
    assert!(places.is_sorted());
    assert_eq!(placed(&places[4]), Some(7));
    let begins = |date: &str| rank_begins(&rank_day(time(date))).unwrap();
    let fourth = begins("2026-09-04T12:00:00Z");
    assert!(places[1] < fourth && fourth < places[2]);
    let third = begins("2026-09-03T12:00:00Z");
    assert!(places[4] < third && third < places[5]);
    let before_1970 = begins("1969-12-31T00:00:00Z");
    assert!(places[5] < before_1970 && before_1970 < places[6]);
}

#[test]
fn the_text_of_calls_keys() {
    let acme = acme();
    let keys = Keys::of(&acme);
    let (call, event) = (CallId::new(3).unwrap(), EventId::new(5).unwrap());
    assert_texts([
        (keys.call(call), "acme#call#3 000000000000003"),
        (
            keys.event(lead(), event),
            "acme#timeline#1001 event#000000000000005",
        ),
        (keys.phone_claim("ab"), "acme#new-caller#ab new-caller"),
        (keys.email_claim("ab"), "acme#new-email#ab new-email"),
        (
            keys.word_lead(false, "ávila", lead()),
            "acme#word#0#á ávila#000000000001001",
        ),
        (
            entry(keys.wordy_leads(true), lead()),
            "acme#wordy#1 000000000001001",
        ),
        (
            keys.number_lead(true, "17437962311", lead()),
            "acme#number#1#17 17437962311#000000000001001",
        ),
    ]);
}
