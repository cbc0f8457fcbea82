//! Origins of items by their keys.

#![expect(
    clippy::too_many_lines,
    reason = "a table of cases is as long as it has cases"
)]

use super::*;

/// Derived items are recognised by their keys, and no other item is.
#[test]
fn the_origin_of_items() {
    let acme = acme();
    let keys = Keys(&acme);
    let (event, call) = (EventId::new(5).unwrap(), CallId::new(3).unwrap());
    let of_lead = Origin::Lead(Some(lead()));
    let meeting = MeetingId::new(30);
    for (key, origin) in [
        (entry(keys.lead_list(true), lead()), of_lead),
        (entry(keys.owner_list(false, user()), lead()), of_lead),
        (keys.phone_lead("5511", true, lead()), of_lead),
        (keys.email_lead("ab", true, lead()), of_lead),
        (Key::new(keys.email("ab"), "x"), Origin::Lead(None)),
        (keys.new_email("ab"), Origin::None),
        (keys.event(lead(), event), Origin::Event),
        (
            entry(keys.company_leads(CompanyId::new(2).unwrap()), lead()),
            of_lead,
        ),
        (Key::new(keys.lead_list(true), "x"), Origin::Lead(None)),
        (
            keys.lead_opportunity(lead(), OpportunityId::new(30).unwrap()),
            Origin::Opportunity(OpportunityId::new(30)),
        ),
        (
            Key::new(
                "acme#board#3#31#1#-#-".to_owned(),
                "251613786599999#999999999999969",
            ),
            Origin::Opportunity(OpportunityId::new(30)),
        ),
        (
            Key::new("acme#board#3#31#1#-#-".to_owned(), "x"),
            Origin::Opportunity(None),
        ),
        (keys.opportunity(OpportunityId::new(30).unwrap()), Origin::None),
        (keys.lead_notice(lead()), Origin::None),
        (keys.erasure(lead()), Origin::None),
        (keys.lead_call(lead(), CallId::new(12).unwrap()), Origin::None),
        (Key::new(keys.phone("5511"), "x"), Origin::Lead(None)),
        (total(keys.lead_totals(false), "7"), Origin::LeadTotal),
        (
            total(keys.restricted_lead_totals(false), "7#ab"),
            Origin::LeadTotal,
        ),
        (
            Key::new("acme#board-total#3#1".to_owned(), "31#7#open"),
            Origin::OpportunityTotal,
        ),
        (
            Key::new("acme#board-rank#3#31#0".to_owned(), "2912196#0"),
            Origin::OpportunityTotal,
        ),
        (
            Key::new("acme#board-total-restricted#3#1".to_owned(), "31#7#open#ab"),
            Origin::OpportunityTotal,
        ),
        (
            Key::new(
                "acme#board-rank-restricted#3#31#0".to_owned(),
                "2912196#7#open#ab",
            ),
            Origin::OpportunityTotal,
        ),
        (
            Key::new("acme#calendar-link#a-b_c".to_owned(), "calendar"),
            Origin::CalendarLink,
        ),
        (
            Key::new("acme#hook-link#contact".to_owned(), "0123456789abcdef"),
            Origin::FormLink,
        ),
        (
            Key::new("acme#calendar-public#pub_5".to_owned(), "calendar"),
            Origin::CalendarLink,
        ),
        (
            Key::new(
                "acme#meetings#5".to_owned(),
                "2027-03-01T12:30:00.000Z#000000000000030",
            ),
            Origin::Meeting(meeting),
        ),
        (Key::new("acme#meetings#5".to_owned(), "x"), Origin::Meeting(None)),
        (
            Key::new("acme#meetings#5".to_owned(), "x#0"),
            Origin::Meeting(None),
        ),
        (
            Key::new("acme#lead-meeting#1001".to_owned(), "000000000000030"),
            Origin::Meeting(meeting),
        ),
        (
            Key::new("acme#lead-meeting#1001".to_owned(), "x"),
            Origin::Meeting(None),
        ),
        (
            Key::new("acme#agenda#5".to_owned(), "2027-03-01"),
            Origin::MeetingTotal,
        ),
        (
            Key::new("acme#meeting-month#5".to_owned(), "2027-03-01"),
            Origin::MeetingTotal,
        ),
        (
            Key::new("acme#calendar".to_owned(), "000000000000005"),
            Origin::None,
        ),
        (
            Key::new("acme#meeting".to_owned(), "000000000000030"),
            Origin::None,
        ),
        (keys.reschedule_secret(), Origin::None),
        (keys.lead(lead()), Origin::None),
        (keys.call(call), Origin::None),
        (keys.directory(), Origin::None),
        (
            Key::new("acme2#leads#0".to_owned(), lead().padded()),
            Origin::None,
        ),
    ] {
        assert_eq!(keys.origin(&key), origin, "{key}");
    }
}
