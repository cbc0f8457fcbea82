//! Origins of items by their keys: derived items are recognised, and no other item is.

use super::*;

#[test]
fn the_origin_of_built_keys() {
    let acme = acme();
    let keys = Keys::of(&acme);
    let (event, call) = (EventId::new(5).unwrap(), CallId::new(3).unwrap());
    let (company, opportunity) = (CompanyId::new(2).unwrap(), OpportunityId::new(30).unwrap());
    let (of_lead, of_some_lead) = (Origin::Lead(Some(lead())), Origin::Lead(None));
    let of_opportunity = Origin::Opportunity(Some(opportunity));
    for (key, origin) in [
        (entry(keys.lead_list(true), lead()), of_lead),
        (entry(keys.owner_list(false, user()), lead()), of_lead),
        (keys.phone_lead("5511", true, lead()), of_lead),
        (keys.email_lead("ab", true, lead()), of_lead),
        (Key::new(keys.email("ab"), "x"), of_some_lead),
        (keys.email_claim("ab"), Origin::None),
        (keys.word_lead(false, "ana#x", lead()), of_lead),
        (keys.addressed_lead(true, "ana@x", lead()), of_lead),
        (Key::new(keys.words(true, "ana"), "x"), of_some_lead),
        (entry(keys.wordy_leads(false), lead()), of_lead),
        (keys.number_lead(false, "1743", lead()), of_lead),
        (Key::new(keys.number_endings(true, "1743"), "1743#"), of_some_lead),
        (keys.lead_details(lead()), of_lead),
        (keys.event(lead(), event), Origin::Event),
        (entry(keys.company_leads(company), lead()), of_lead),
        (Key::new(keys.lead_list(true), "x"), of_some_lead),
        (keys.lead_opportunity(lead(), opportunity), of_opportunity),
        (
            keys.wordy_title(FunnelId::new(3).unwrap(), opportunity),
            of_opportunity,
        ),
        (keys.opportunity(opportunity), Origin::None),
        (keys.stale_marker(lead()), Origin::None),
        (keys.tombstone(lead()), Origin::None),
        (keys.lead_call(lead(), call), Origin::None),
        (Key::new(keys.phone("5511"), "x"), of_some_lead),
        (total(keys.lead_totals(false), "7"), Origin::LeadTotal),
        (
            total(keys.restricted_lead_totals(false), "7#ab"),
            Origin::LeadTotal,
        ),
        (keys.reschedule_secret(), Origin::None),
        (keys.lead(lead()), Origin::None),
        (keys.call(call), Origin::None),
        (keys.directory(), Origin::None),
    ] {
        assert_eq!(keys.origin(&key), origin, "{key}");
    }
}

#[test]
fn the_origin_of_stored_keys() {
    let acme = acme();
    let opportunity = Origin::Opportunity(OpportunityId::new(30));
    let meeting = Origin::Meeting(MeetingId::new(30));
    for (text, origin) in [
        (
            "acme#board#3#31#1#-#- 251613786599999#999999999999969",
            opportunity,
        ),
        ("acme#board#3#31#1#-#- x", Origin::Opportunity(None)),
        ("acme#lead-block#1 000000000000007", Origin::LeadTotal),
        ("acme#board-total#3#1 31#7#open", Origin::OpportunityTotal),
        ("acme#board-rank#3#31#0 2912196#0", Origin::OpportunityTotal),
        (
            "acme#board-total-restricted#3#1 31#7#open#ab",
            Origin::OpportunityTotal,
        ),
        (
            "acme#board-rank-restricted#3#31#0 2912196#7#open#ab",
            Origin::OpportunityTotal,
        ),
        ("acme#calendar-link#a-b_c calendar", Origin::CalendarLink),
        ("acme#hook-link#contact 0123456789abcdef", Origin::FormLink),
        ("acme#calendar-public#pub_5 calendar", Origin::CalendarLink),
        (
            "acme#meetings#5 2027-03-01T12:30:00.000Z#000000000000030",
            meeting,
        ),
        ("acme#meetings#5 x", Origin::Meeting(None)),
        ("acme#lead-meeting#1001 000000000000030", meeting),
        ("acme#lead-meeting#1001 x", Origin::Meeting(None)),
        ("acme#agenda#5 2027-03-01", Origin::MeetingTotal),
        ("acme#user-agenda#7 2027-03-01", Origin::MeetingTotal),
        ("acme#shared-buffers buffers", Origin::CalendarTotal),
        ("acme#meeting-month#5 2027-03-01", Origin::MeetingTotal),
        ("acme#calendar 000000000000005", Origin::None),
        ("acme#meeting 000000000000030", Origin::None),
        ("acme2#leads#0 000000000001001", Origin::None),
    ] {
        let (pk, sk) = text.split_once(' ').unwrap();
        assert_eq!(
            Keys::of(&acme).origin(&Key::new(pk.to_owned(), sk)),
            origin,
            "{text}"
        );
    }
}
