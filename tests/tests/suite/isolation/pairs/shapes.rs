//! Shapes of requests, with names instead of ids: `$lead` is an id of the kind that the pair selects.

use std::sync::LazyLock;

use tests::catalogue::{Place, place};

/// Names of ids, one for each kind of record that a route or body refers to.
pub const NAMES: [&str; 11] = [
    "$lead",
    "$doomed",
    "$funnel",
    "$column",
    "$opportunity",
    "$calendar",
    "$public",
    "$key",
    "$ticket",
    "$report",
    "$user",
];

/// A request: method, route of the template, path, parameters other than `i` and credentials, body.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    pub method: &'static str,
    pub route: &'static str,
    pub path: &'static str,
    pub params: &'static str,
    pub body: &'static str,
}

/// The shapes of a table: their fields in order, `-` where empty.
fn shapes(table: &'static str) -> Vec<Shape> {
    let shape = |line: &'static str| {
        let fields: Vec<_> = line.splitn(5, ' ').collect();
        let [method, route, path, params, body] = fields[..] else {
            panic!("{line}");
        };
        let filled = |field: &'static str| if field == "-" { "" } else { field };
        Shape {
            method,
            route,
            path,
            params: filled(params),
            body: filled(body),
        }
    };
    table.trim().lines().map(shape).collect()
}

/// Reads of one or few records in the own instance.
pub static READS: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    shapes(
        r"
GET /leads /leads archived=true&query={total,leads{fullname,owner{name}}} -
GET /crmopportunity/{id} /crmopportunity/$opportunity - -
GET /listopportunitysleadcomplete/{id} /listopportunitysleadcomplete/$lead - -
GET /leads/{id} /leads/$lead - -
GET /leads/{id} /leads/$lead - -
GET /leads/{id} /leads/$lead allFields=1 -
GET /leads/{id} /leads/$doomed - -
GET /leads/{id}/timeline /leads/$lead/timeline limit=2&page=$page -
GET /leads/{id}/meetings /leads/$lead/meetings limit=2&page=$page -
GET /me /me - -
GET /leads/{id} /leads/$lead query={lead{fullname,owner{name},city}} -
GET /crm /crm - -
GET /crmfastloadv2/{id} /crmfastloadv2/$funnel - -
GET /user /user noblock=1 -
GET /user /user limit=2&page=$page -
GET /departament /departament - -
GET /tags /tags - -
GET /crmlossreason /crmlossreason - -
GET /pcalendar /pcalendar - -
GET /pcalendar /pcalendar query={calendars{id,name,nextMeeting}} -
GET /calendarmeeting/{id} /calendarmeeting/$calendar from=1900-01-01T00:00:00Z&limit=2 -
GET /calendarmeeting/{id} /calendarmeeting/$public page=$page&limit=1 -
GET /calendarmeeting/slots /calendarmeeting/slots keyName=$key&to=2026-11-24T00:00:00Z -
GET /book/{instance}/{keyName} /book/$i/$key - -
GET /advancedreports /advancedreports - -
GET /reportchart/{id} /reportchart/$report - -
GET /reportchart/{id} /reportchart/$report from=2026-11-01&to=2026-11-03 -
GET /sac360/lead/{id} /sac360/lead/$lead - -
GET /sac360/lead/{id} /sac360/lead/1001 - -
GET /sac360/list_file_attendance/{id} /sac360/list_file_attendance/$ticket - -
GET /sac360/list_file_lead/{id} /sac360/list_file_lead/$lead - -
GET /sac360/list_file_lead/{id} /sac360/list_file_lead/1001 - -
",
    )
});

/// Lists and boards, with search terms, filters, and pages with cursors.
pub static LISTS: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    shapes(
        r#"
GET /leads /leads limit=3 -
GET /leads /leads search=$mark&limit=3&page=$page -
GET /leads /leads search=$phone -
POST /leadsadvanced /leadsadvanced - {"query":"{total,leads{fullname,owner{completName},companyData{companyname},tags{tag}}}","search":"$mark","page":$page,"limit":2}
GET /leads /leads limit=2&page=$page&allFields=1 -
POST /crm/opportunities/{id} /crm/opportunities/$funnel - {"page":$page,"limit":2,"columnId":5}
POST /crm/opportunities/{id} /crm/opportunities/5 - {"page":$page,"limit":2,"columnId":$column,"search":"$mark"}
POST /crm/opportunities/{id} /crm/opportunities/5 - {"page":1,"limit":3,"search":"$mark","searchBy":"opportunity"}
POST /crm/opportunities/{id} /crm/opportunities/5 - {"page":1,"limit":3,"columnId":5,"filterByUsers":[$user]}
POST /crm/opportunities/{id} /crm/opportunities/5 - {"page":1,"limit":3,"columnId":5,"filters":[{"filterType":"opField","properties":{"field":"Origem do Lead","value":"$mark","operator":"contains"}}]}
"#,
    )
});

/// Writes, made only by the attacker in its own instance.
pub static WRITES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    shapes(
        r#"
POST /crmopportunity /crmopportunity id=5 {"title":"Pedido","crm_column":5,"lead_id":$lead}
POST /crmopportunity /crmopportunity id=$funnel {"title":"Pedido","crm_column":5,"lead_id":1001}
POST /crmopportunity /crmopportunity id=5 {"title":"Pedido","crm_column":$column,"lead_id":1001,"user":$user}
POST /crmopportunity /crmopportunity id=5 {"title":"Pedido","crm_column":5,"lead_id":1001}
PUT /crmopportunity/{id} /crmopportunity/$opportunity id=5 {"title":"Mudado"}
PUT /crmopportunity/{id} /crmopportunity/5 id=$funnel {"sequence":$page}
PUT /crmopportunity/{id} /crmopportunity/5 id=5 {"lead_id":$lead}
PUT /crmopportunity/{id} /crmopportunity/6 id=5 {"crm_column":$column}
PUT /crmopportunity/{id} /crmopportunity/7 id=5 {"user":$user,"status":"open"}
POST /lead/archive /lead/archive - {"archived":true,"id":$doomed}
POST /lead/archive /lead/archive - {"archived":false,"ids":[1001,$doomed]}
DELETE /leads/{id} /leads/$doomed - -
DELETE /leads /leads - {"ids":[$doomed]}
POST /calendarmeeting /calendarmeeting - {"keyName":"$key","date":"$date","leadId":1002}
POST /calendarmeeting /calendarmeeting - {"keyName":"demo","date":"$date","leadId":$lead}
POST /calendarmeeting /calendarmeeting - {"keyName":"demo","date":"$date","leadId":1001,"opportunityId":$opportunity}
POST /calendarmeeting /calendarmeeting - {"keyName":"demo","date":"$date","leadId":1001,"properties":{"rescheduleMeetingId":$moved,"rescheduleKey":"$proof"}}
POST /voip/webhook /voip/webhook - {"event":"call","data":{"user":$user,"leadPhone":"$phone","type":"INCOMING","status":"COMPLETE","duration":1,"record":false,"service":"x"}}
POST /voip/webhook /voip/webhook - {"event":"call","data":{"user":7,"leadPhone":"","lead":$lead,"type":"OUTGOING","status":"COMPLETE","duration":1,"record":false,"service":"x"}}
POST /leads /leads unique=phone,email {"firstname":"Nara","phone":"$phone","owner":$user}
PUT /leads /leads - {"id":$lead,"owner":$user}
PUT /leads/{id} /leads/$doomed - {"city":"Londrina","userAccess":[$user]}
POST /sac360/relaction /sac360/relaction - {"lead":$lead,"attendance":501}
POST /sac360/relaction /sac360/relaction - {"lead":1001,"attendance":"$ticket"}
POST /api/hook/{name} /api/hook/site access_token=$form_token {"firstname":"Ana","lastname":"$mark"}
"#,
    )
});

/// Requests to another instance, which must be rejected. The webhook's secret and the ids are the sender's.
pub static AIMED: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    shapes(
        r#"
POST /voip/webhook /voip/webhook - {"event":"call","data":{"user":$user,"leadPhone":"$phone","type":"INCOMING","status":"COMPLETE","duration":1,"record":false,"service":"x"}}
POST /calendarmeeting /calendarmeeting - {"keyName":"$only_key","date":"$date","leadId":null,"formData":{"firstname":"Intruso"}}
POST /calendarmeeting /calendarmeeting - {"keyName":"demo","date":"$date","leadId":$only}
POST /calendarmeeting /calendarmeeting - {"keyName":"demo","date":"$date","leadId":1001,"opportunityId":$only}
POST /calendarmeeting /calendarmeeting - {"keyName":"demo","date":"$date","leadId":1001,"properties":{"rescheduleMeetingId":$moved,"rescheduleKey":"$own_proof"}}
POST /api/hook/{name} /api/hook/site access_token=$form_token {"firstname":"Ana","lastname":"$mark"}
"#,
    )
});

/// Requests to the own instance.
pub fn all() -> impl Iterator<Item = &'static Shape> {
    READS.iter().chain(&*LISTS).chain(&*WRITES)
}

impl Shape {
    /// Placement of the route's credentials; `None` for public routes.
    pub fn place(&self) -> Option<Place> {
        Some(place(self.method, self.route)).filter(|place| *place != Place::None)
    }

    /// Whether it only reads.
    pub fn is_read(&self) -> bool {
        self.method == "GET" || ["/crm/opportunities/{id}", "/leadsadvanced"].contains(&self.route)
    }

    /// Name of the text in its errors.
    pub fn text(&self) -> &'static str {
        if self.route == "/crmopportunity" {
            "msg"
        } else {
            "error"
        }
    }

    /// The names of ids in it.
    pub fn names(&self) -> Vec<&'static str> {
        let has = |name: &&str| {
            [self.path, self.params, self.body]
                .iter()
                .any(|part| part.contains(*name))
        };
        NAMES.into_iter().filter(has).collect()
    }
}
