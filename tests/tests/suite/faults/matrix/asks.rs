//! Every operation of the interface, in each use with a different pattern of calls.

use serde_json::Value;
use tests::bookings::FREE;
use tests::catalogue::{place, route_of};

use super::ask::{Again, Ask};
use super::stage::Cast;

/// A use in each row: request; use; flags; items whose content does not matter; an earlier request.
///
/// Flags: `seller`, `limited` for the caller; `replayed`, `gone`, `each`, `another` for a repeated request; `lacks` for a request that
/// works without a lead; `UpdateItem` for an operation that may fail.
const ROWS: &str = r#"
GET /leads?i=acme | first page
GET /leads?i=acme&allFields=1 | first page, whole
GET /leads?i=acme&limit=2&page=2 | second page
GET /leads?i=acme&search=mar | search
GET /leads?i=acme | own leads | seller
GET /leads?i=acme&query={leads{id,owner{name}}} | with owners' names
GET /leads?i=acme&query={leads{id,companyData{companyname},tags{tag}}} | with tags and companies | | acme#tag
GET /leads?i=acme&tag=1 | by tag
POST /leadsadvanced?i=acme {"limit":2,"page":1} | second page
GET /leads?i=acme | under a limit | limited UpdateItem
GET /leads/1001?i=acme | one
GET /leads/1001/timeline?i=acme | events
GET /leads/1001/meetings?i=acme | meetings
GET /leads/1001?i=acme&query={lead{owner{name}}} | with its owner's name
GET /leads/1001?i=acme&query={lead{id},tags{tag}} | with its tags | | acme#tag
POST /leads?i=acme&unique=phone,email NEW | new, with a key | replayed | acme#user
POST /leads?i=acme&unique=phone,email NEW | new, unique | | acme#user
POST /leads?i=acme&unique=email {"email":"lead1001@example.com"} | existing, with a key | replayed | acme#word#
POST /leads?i=acme NEW | new | another | acme#user
PUT /leads/1001?i=acme {"owner":9,"mobile":"+55 41 98888-0003","userAccess":[8]} | owner, number and list | | acme#user
PUT /leads?i=acme {"id":1001,"cor":"azul"} | in the body
PUT /leads/1001?i=acme {"city":"Curitiba"} | nothing
DELETE /leads/1006?i=acme | one | gone
DELETE /leads?i=acme {"ids":[1007,1002,99]} | several | each
POST /lead/archive?i=acme {"archived":true,"id":1005} | one
POST /lead/archive?i=acme {"archived":true,"ids":[1005,1001,99]} | several | each
POST /crmopportunity?id=3&i=acme {"title":"Reforma","crm_column":31,"lead_id":1001,"value":"213.20"} | one, with a key | replayed
POST /crmopportunity?id=3&i=acme {"title":"Reforma","crm_column":31,"lead_id":1001,"value":"213.20"} | one | another
PUT /crmopportunity/1?id=3&i=acme {"title":"Outra"} | title
PUT /crmopportunity/1?id=3&i=acme {"status":"gain","crm_column":32} | status and column
PUT /crmopportunity/1?id=3&i=acme {"lead_id":1002} | lead
PUT /crmopportunity/1?id=3&i=acme {} | nothing
GET /crmopportunity/1?i=acme | opportunity | | acme#funnel
GET /listopportunitysleadcomplete/1001?i=acme | lead's | | acme#funnel
GET /listopportunitysleadcomplete/1001?i=acme&limit=1&page=2 | lead's, second page | | acme#funnel
GET /crm?i=acme | funnels
GET /crmfastloadv2/3?i=acme | totals
GET /crmfastloadv2/3?i=acme | totals, own | seller
POST /crm/opportunities/3?i=acme {"page":1,"limit":25} | board
POST /crm/opportunities/3?i=acme {"page":1,"limit":25} | board, own | seller
POST /crm/opportunities/3?i=acme {"page":1,"limit":25,"search":"maria","searchBy":"lead"} | board, searched
POST /crm/opportunities/3?i=acme {"page":1,"limit":25,"modifiedSince":"2026-01-01T00:00:00Z"} | board, changed since
POST /crm/opportunities/3?i=acme {"page":1,"limit":3,"columnId":31} | column, full page
POST /crm/opportunities/3?i=acme {"page":2,"limit":1,"columnId":31} | column, later page
GET /pcalendar?i=acme | all
GET /pcalendar?i=acme | all, known | | | /pcalendar?i=acme
GET /pcalendar?query={calendars{id}} | without i
GET /calendarmeeting/5?i=acme&from=2026-11-23T00:00:00Z | first page | | acme#calendar
GET /calendarmeeting/5?i=acme&from=2026-11-23T00:00:00Z&page=1&limit=1 | later page | | acme#calendar, acme#meetings#5 2026-11-23T09:00:00.000Z
GET /calendarmeeting/pub_5?i=acme&from=2026-11-23T00:00:00Z | by publicId
GET /calendarmeeting/slots?i=acme&keyName=demo | link unknown
GET /calendarmeeting/slots?i=acme&keyName=demo | link known | | | SLOTS
GET /book/acme/demo?i=acme | page
POST /calendarmeeting?i=acme {"keyName":"demo","date":"DATE","leadId":null,FORM} | new lead | replayed
POST /calendarmeeting?i=acme {"keyName":"demo","date":"DATE","leadId":null,FORM} | new lead, link known | replayed | | SLOTS
POST /calendarmeeting?i=acme {"keyName":"demo","date":"DATE","leadId":null,FORM} | new lead, no key | another
POST /calendarmeeting?i=acme {"keyName":"demo","date":"DATE","leadId":1001,"formData":{}} | known lead | replayed | acme#lead
POST /calendarmeeting?i=acme {"keyName":"demo","date":"DATE","leadId":1001,"formData":{},"opportunityId":1} | opportunity | replayed | acme#lead
POST /calendarmeeting?i=acme {"keyName":"demo","date":"LATER","leadId":LEAD,"formData":{},"properties":{"rescheduleMeetingId":PROOF}} | moved | replayed | acme#lead
POST /calendarmeeting?i=acme {"keyName":"demo","date":"LATER","leadId":LEAD,"formData":{},"properties":{"rescheduleMeetingId":PROOF}} | moved, no key | another | acme#lead
POST /calendarmeeting?i=acme {"keyName":"demo","date":"FIRST","leadId":LEAD,"formData":{},"properties":{"cancelMeetingId":PROOF}} | cancelled | replayed | acme#lead
GET /sac360/lead/1001?i=acme | tickets
GET /sac360/list_file_attendance/501?i=acme | files
GET /sac360/list_file_attendance/501?i=acme | files, own leads | seller
GET /sac360/list_file_attendance/501?i=acme | files, own leads, known | seller | | FILES
GET /sac360/list_file_lead/1001?i=acme | files
POST /sac360/relaction?i=acme {"lead":1002,"attendance":501} | one | | acme#ticket-file#501
POST /sac360/relaction?i=acme {"lead":1002,"attendance":501} | one, known | | acme#ticket-file#501 | FILES
GET /advancedreports?i=acme | all
GET /reportchart/1?i=acme | stored | | acme#report-data#
GET /reportchart/2?i=acme | stored, columns | | acme#report-data#
GET /reportchart/2?i=acme&from=2024-01-01&to=2024-02-01 | not stored | | acme#report-data#
GET /me?i=acme | caller
GET /user?i=acme | all
GET /user?i=acme&noblock=1&limit=3&page=2 | active, second page | | acme#user
GET /departament?i=acme | all
GET /tags?i=acme | all
GET /crmlossreason?i=acme | all
POST /voip/webhook?i=acme CALL+55 11 97326-3471 | known lead | replayed lacks
POST /voip/webhook?i=acme CALL+55 41 98888-0001 | new lead | replayed lacks
POST /voip/webhook?i=acme CALL+55 11 97326-3471 | known lead, no key | another lacks
POST /voip/webhook?i=acme CALLanonymous | no lead | replayed
POST /api/hook/contact?i=acme&access_token=tok-4b1d9e {"nome":"Bia","email":"bia@example.com"} | new lead | replayed | acme#word#
POST /api/hook/contact?i=acme&access_token=tok-4b1d9e {"nome":"Maria","email":"lead1001@example.com"} | known lead, complete | | acme#word#
POST /api/hook/contact?i=acme&access_token=tok-4b1d9e {"nome":"Maria","email":"lead1001@example.com","cargo":"CEO"} | known lead, completed | | acme#word#
"#;

/// Every use.
pub fn asks(cast: &Cast) -> Vec<Ask> {
    ROWS.trim().lines().map(|row| ask(&filled(row, cast))).collect()
}

/// A row with the texts for its names in capitals.
fn filled(row: &str, cast: &Cast) -> String {
    let booked = |name: &str| cast.booked[name].to_string();
    let proof = format!(r#"{},"rescheduleKey":{}"#, booked("id"), booked("rescheduleKey"));
    let row = match row.split_once("CALL") {
        Some((before, after)) => {
            let (phone, after) = after.split_once(" |").expect("a use");
            format!(
                r#"{before}{{"event":"call","data":{{"user":8,"leadPhone":"{phone}","type":"INCOMING","status":"COMPLETE","duration":65,"record":true,"service":"acme-voip"}}}} |{after}"#
            )
        }
        None => row.to_owned(),
    };
    let new = r#"{"firstname":"Nara","mobile":"+55 41 98888-0002","email":"Nara@example.com","owner":8}"#;
    row.replace(" NEW ", &format!(" {new} "))
        .replace(
            "FORM",
            r#""formData":{"firstname":"Bia","email":"bia@example.com"}"#,
        )
        .replace("FIRST", FREE[0])
        .replace("DATE", FREE[1])
        .replace("LATER", FREE[2])
        .replace("LEAD", &booked("leadId"))
        .replace("PROOF", &proof)
        .replace("SLOTS", "/calendarmeeting/slots?i=acme&keyName=demo")
        .replace("FILES", "/sac360/list_file_attendance/501?i=acme")
}

fn ask(row: &str) -> Ask {
    let mut cells = row.split(" |").map(str::trim);
    let mut next = || cells.next().unwrap_or_default();
    let (request, what, flags, spare_items, before) = (next(), next(), next(), next(), next());
    let (method, request) = request.split_once(' ').expect("a method");
    let (uri, body) = request.split_once(' ').unwrap_or((request, "null"));
    let (path, params) = uri.split_once('?').expect("parameters");
    let route = route_of(method, path).path;
    let is = |flag: &str| flags.split(' ').any(|one| one == flag);
    // A prefix of a key ends with its partition key, unless it has more.
    let spare = |item: &str| {
        if item.ends_with('#') || item.contains(' ') {
            item.to_owned()
        } else {
            format!("{item} ")
        }
    };
    Ask {
        method: method.to_owned(),
        place: place(method, &route),
        route,
        what: what.to_owned(),
        path: path.to_owned(),
        params: params.to_owned(),
        body: serde_json::from_str::<Value>(body).expect("JSON"),
        who: match flags.split(' ').next() {
            Some("seller") => |cast| &cast.seller,
            Some("limited") => |cast| &cast.limited,
            _ => |cast| &cast.admin,
        },
        before: before.to_owned(),
        again: match flags.split(' ').next() {
            Some("replayed") => Again::Replayed,
            Some("gone") => Again::Gone,
            Some("each") => Again::Each,
            Some("another") => Again::Another,
            _ => Again::Same,
        },
        spares_counters: is("UpdateItem"),
        spare_items: spare_items
            .split(", ")
            .filter(|item| !item.is_empty())
            .map(spare)
            .collect(),
        may_lack_lead: is("lacks"),
    }
}
