//! Every operation of the interface, in each use with a different pattern of calls.

use serde_json::{Value, json};
use tests::bookings::{FREE, booking};
use tests::sales::page;

use super::ask::{Again, Ask};
use super::stage::Cast;
use crate::concurrency::bookings::moves::{canceling, moving};

/// Every use.
pub fn asks(cast: &Cast) -> Vec<Ask> {
    let all = [
        leads(),
        opportunities(),
        calendars(),
        bookings(cast),
        tickets_and_reports(),
        directory(),
        calls(),
        forms(),
    ];
    all.into_iter().flatten().collect()
}

const SELLER: fn(&Cast) -> &tests::Wallet = |cast| &cast.seller;

fn leads() -> Vec<Ask> {
    let (list, one) = ("/leads", "/leads/{id}");
    let new = json!({
        "firstname": "Nara", "mobile": "+55 41 98888-0002", "email": "Nara@example.com", "owner": 8,
    });
    let seven = json!({ "ids": [1007, 1002, 99] });
    vec![
        Ask::of("GET", list, "", "first page"),
        Ask::of("GET", list, "", "first page, whole").params("i=acme&allFields=1"),
        Ask::of("GET", list, "", "second page").params("i=acme&limit=2&page=2"),
        Ask::of("GET", list, "", "search").params("i=acme&search=mar"),
        Ask::of("GET", list, "", "own leads").by(SELLER),
        Ask::of("GET", list, "", "with owners' names").params("i=acme&query={leads{id,owner{name}}}"),
        Ask::of("GET", list, "", "with tags and companies")
            .params("i=acme&query={leads{id,companyData{companyname},tags{tag}}}")
            // An expected one that cannot be read is read again if a lead has it.
            .sparing_items(&[TAG]),
        Ask::of("GET", list, "", "by tag").params("i=acme&tag=1"),
        Ask::of("POST", "/leadsadvanced", "", "second page").body(json!({ "limit": 2, "page": 1 })),
        Ask::of("GET", list, "", "under a limit")
            .by(|cast| &cast.limited)
            .sparing(&["UpdateItem"]),
        Ask::of("GET", one, "1001", "one"),
        Ask::of("GET", "/leads/{id}/timeline", "1001", "events"),
        Ask::of("GET", "/leads/{id}/meetings", "1001", "meetings"),
        Ask::of("GET", one, "1001", "with its owner's name").params("i=acme&query={lead{owner{name}}}"),
        Ask::of("GET", one, "1001", "with its tags")
            .params("i=acme&query={lead{id},tags{tag}}")
            .sparing_items(&[TAG]),
        Ask::of("POST", list, "", "new, with a key")
            .params("i=acme&unique=phone,email")
            .body(new.clone())
            .sparing_items(&[USER])
            .again(Again::Replayed),
        Ask::of("POST", list, "", "new, unique")
            .params("i=acme&unique=phone,email")
            .body(new.clone())
            .sparing_items(&[USER]),
        Ask::of("POST", list, "", "existing, with a key")
            .params("i=acme&unique=email")
            .body(json!({ "email": "lead1001@example.com" }))
            .again(Again::Replayed)
            .sparing_items(&[WORD]),
        Ask::of("POST", list, "", "new")
            .body(new)
            .sparing_items(&[USER])
            .again(Again::Another),
        Ask::of("PUT", one, "1001", "owner, number and list")
            .body(json!({ "owner": 9, "mobile": "+55 41 98888-0003", "userAccess": [8] }))
            .sparing_items(&[USER]),
        Ask::of("PUT", list, "", "in the body").body(json!({ "id": 1001, "cor": "azul" })),
        Ask::of("PUT", one, "1001", "nothing").body(json!({ "city": "Curitiba" })),
        Ask::of("DELETE", one, "1006", "one").again(Again::Gone),
        Ask::of("DELETE", list, "", "several")
            .body(seven)
            .again(Again::Each),
        Ask::of("POST", "/lead/archive", "", "one").body(json!({ "archived": true, "id": 1005 })),
        Ask::of("POST", "/lead/archive", "", "several")
            .body(json!({ "archived": true, "ids": [1005, 1001, 99] }))
            .again(Again::Each),
    ]
}

fn opportunities() -> Vec<Ask> {
    let (make, change, list) = (
        "/crmopportunity",
        "/crmopportunity/{id}",
        "/crm/opportunities/{id}",
    );
    let of_lead = "/listopportunitysleadcomplete/{id}";
    let new = json!({ "title": "Reforma", "crm_column": 31, "lead_id": 1001, "value": "213.20" });
    let put = |what, body| Ask::of("PUT", change, "1", what).params("id=3&i=acme").body(body);
    let look = |what, body| Ask::of("POST", list, "3", what).body(body);
    let column = json!({ "columnId": 31 });
    vec![
        Ask::of("POST", make, "", "one, with a key")
            .params("id=3&i=acme")
            .body(new.clone())
            .again(Again::Replayed),
        Ask::of("POST", make, "", "one")
            .params("id=3&i=acme")
            .body(new)
            .again(Again::Another),
        put("title", json!({ "title": "Outra" })),
        put("status and column", json!({ "status": "gain", "crm_column": 32 })),
        put("lead", json!({ "lead_id": 1002 })),
        put("nothing", json!({})),
        // An expected funnel that cannot be read is read again if an opportunity is in it.
        Ask::of("GET", change, "1", "opportunity").sparing_items(&[FUNNEL]),
        Ask::of("GET", of_lead, "1001", "lead's").sparing_items(&[FUNNEL]),
        Ask::of("GET", of_lead, "1001", "lead's, second page")
            .params("i=acme&limit=1&page=2")
            .sparing_items(&[FUNNEL]),
        Ask::of("GET", "/crm", "", "funnels"),
        Ask::of("GET", "/crmfastloadv2/{id}", "3", "totals"),
        Ask::of("GET", "/crmfastloadv2/{id}", "3", "totals, own").by(SELLER),
        look("board", page(1, 25, &Value::Null)),
        look("board, own", page(1, 25, &Value::Null)).by(SELLER),
        look(
            "board, searched",
            page(1, 25, &json!({ "search": "maria", "searchBy": "lead" })),
        ),
        look(
            "board, changed since",
            page(1, 25, &json!({ "modifiedSince": "2026-01-01T00:00:00Z" })),
        ),
        look("column, full page", page(1, 3, &column)),
        look("column, later page", page(2, 1, &column)),
    ]
}

/// Records of calendars.
const CALENDAR: &str = "acme#calendar ";
/// Records of users.
const USER: &str = "acme#user ";
const TAG: &str = "acme#tag ";
const FUNNEL: &str = "acme#funnel ";
/// Entries of a ticket's list of files.
const ENTRY: &str = "acme#ticket-file#501 ";
/// Look-ups by words, of which a look-up by e-mail address reads the keys only.
const WORD: &str = "acme#word#";
/// Records of leads.
const LEAD: &str = "acme#lead ";
/// Stored results of reports: heads and parts.
const RESULT: &str = "acme#report-data#";

const SLOTS: &str = "/calendarmeeting/slots?i=acme&keyName=demo";

fn calendars() -> Vec<Ask> {
    let (list, meetings, slots) = ("/pcalendar", "/calendarmeeting/{id}", "/calendarmeeting/slots");
    let (day, link) = ("i=acme&from=2026-11-23T00:00:00Z", "i=acme&keyName=demo");
    vec![
        Ask::of("GET", list, "", "all"),
        Ask::of("GET", list, "", "all, known").knowing("/pcalendar?i=acme"),
        Ask::of("GET", list, "", "without i").params("query={calendars{id}}"),
        // The calendar of the listed meetings, and a skipped meeting.
        Ask::of("GET", meetings, "5", "first page")
            .params(day)
            .sparing_items(&[CALENDAR]),
        Ask::of("GET", meetings, "5", "later page")
            .params("i=acme&from=2026-11-23T00:00:00Z&page=1&limit=1")
            .sparing_items(&[CALENDAR, "acme#meetings#5 2026-11-23T09:00:00.000Z"]),
        Ask::of("GET", meetings, "pub_5", "by publicId").params(day),
        Ask::of("GET", slots, "", "link unknown").params(link),
        Ask::of("GET", slots, "", "link known")
            .params(link)
            .knowing(SLOTS),
        Ask::of("GET", "/book/{instance}/{keyName}", "acme/demo", "page"),
    ]
}

fn bookings(cast: &Cast) -> Vec<Ask> {
    let lead = json!({ "leadId": 1001, "formData": {} });
    let opportunity = json!({ "leadId": 1001, "formData": {}, "opportunityId": 1 });
    let book = |what, body: &Value| Ask::of("POST", "/calendarmeeting", "", what).body(body.clone());
    let new = booking(FREE[1], &json!({}));
    vec![
        book("new lead", &new).again(Again::Replayed),
        book("new lead, link known", &new)
            .again(Again::Replayed)
            .knowing(SLOTS),
        book("new lead, no key", &new).again(Again::Another),
        // The named lead.
        book("known lead", &booking(FREE[1], &lead))
            .again(Again::Replayed)
            .sparing_items(&[LEAD]),
        book("opportunity", &booking(FREE[1], &opportunity))
            .again(Again::Replayed)
            .sparing_items(&[LEAD]),
        book("moved", &moving(&cast.booked, FREE[2]))
            .again(Again::Replayed)
            .sparing_items(&[LEAD]),
        // Each move counts.
        book("moved, no key", &moving(&cast.booked, FREE[2]))
            .again(Again::Another)
            .sparing_items(&[LEAD]),
        book("cancelled", &canceling(&cast.booked))
            .again(Again::Replayed)
            .sparing_items(&[LEAD]),
    ]
}

fn tickets_and_reports() -> Vec<Ask> {
    let (files, chart) = ("/sac360/list_file_attendance/{id}", "/reportchart/{id}");
    vec![
        Ask::of("GET", "/sac360/lead/{id}", "1001", "tickets"),
        Ask::of("GET", files, "501", "files"),
        Ask::of("GET", files, "501", "files, own leads").by(SELLER),
        Ask::of("GET", files, "501", "files, own leads, known")
            .by(SELLER)
            .knowing("/sac360/list_file_attendance/501?i=acme"),
        Ask::of("GET", "/sac360/list_file_lead/{id}", "1001", "files"),
        Ask::of("POST", "/sac360/relaction", "", "one")
            .body(json!({ "lead": 1002, "attendance": 501 }))
            .sparing_items(&[ENTRY]),
        Ask::of("POST", "/sac360/relaction", "", "one, known")
            .body(json!({ "lead": 1002, "attendance": 501 }))
            .sparing_items(&[ENTRY])
            .knowing("/sac360/list_file_attendance/501?i=acme"),
        Ask::of("GET", "/advancedreports", "", "all"),
        // Damaged results are computed instead.
        Ask::of("GET", chart, "1", "stored").sparing_items(&[RESULT]),
        Ask::of("GET", chart, "2", "stored, columns").sparing_items(&[RESULT]),
        Ask::of("GET", chart, "2", "not stored")
            .params("i=acme&from=2024-01-01&to=2024-02-01")
            .sparing_items(&[RESULT]),
    ]
}

fn directory() -> Vec<Ask> {
    let users = "/user";
    vec![
        Ask::of("GET", "/me", "", "caller"),
        Ask::of("GET", users, "", "all"),
        Ask::of("GET", users, "", "active, second page").params("i=acme&noblock=1&limit=3&page=2")
            // The skipped users, and those that do not fit the page.
            .sparing_items(&[USER]),
        Ask::of("GET", "/departament", "", "all"),
        Ask::of("GET", "/tags", "", "all"),
        Ask::of("GET", "/crmlossreason", "", "all"),
    ]
}

fn calls() -> Vec<Ask> {
    let call = |what, phone: &str| {
        let ask = Ask::of("POST", "/voip/webhook", "", what).body(json!({ "event": "call", "data": {
            "user": 8, "leadPhone": phone, "type": "INCOMING", "status": "COMPLETE", "duration": 65, "record": true,
            "service": "acme-voip" } }));
        ask.again(Again::Replayed)
    };
    let (maria, nobody) = ("+55 11 97326-3471", "+55 41 98888-0001");
    vec![
        call("known lead", maria).may_lack_lead(),
        call("new lead", nobody).may_lack_lead(),
        call("known lead, no key", maria)
            .may_lack_lead()
            .again(Again::Another),
        call("no lead", "anonymous"),
    ]
}

fn forms() -> Vec<Ask> {
    let submit = |what, body| {
        Ask::of("POST", "/api/hook/{name}", "contact", what)
            .params("i=acme&access_token=tok-4b1d9e")
            .body(body)
            .sparing_items(&[WORD])
    };
    vec![
        submit("new lead", json!({ "nome": "Bia", "email": "bia@example.com" })).again(Again::Replayed),
        submit(
            "known lead, complete",
            json!({ "nome": "Maria", "email": "lead1001@example.com" }),
        ),
        submit(
            "known lead, completed",
            json!({ "nome": "Maria", "email": "lead1001@example.com", "cargo": "CEO" }),
        ),
    ]
}
