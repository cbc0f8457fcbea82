//! Shapes of requests, with names instead of ids: `$lead` is an id of the kind that the pair selects.

use super::super::guarded::{PUBLIC, Place, place};

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

const fn shape(
    method: &'static str,
    route: &'static str,
    path: &'static str,
    params: &'static str,
    body: &'static str,
) -> Shape {
    Shape {
        method,
        route,
        path,
        params,
        body,
    }
}

/// Reads of one or few records in the own instance.
pub const READS: [Shape; 29] = [
    shape(
        "GET",
        "/leads",
        "/leads",
        "archived=true&query={total,leads{fullname,owner{name}}}",
        "",
    ),
    shape(
        "GET",
        "/crmopportunity/{id}",
        "/crmopportunity/$opportunity",
        "",
        "",
    ),
    shape(
        "GET",
        "/listopportunitysleadcomplete/{id}",
        "/listopportunitysleadcomplete/$lead",
        "",
        "",
    ),
    shape("GET", "/leads/{id}", "/leads/$lead", "", ""),
    shape("GET", "/leads/{id}", "/leads/$lead", "", ""),
    shape("GET", "/leads/{id}", "/leads/$lead", "allFields=1", ""),
    shape("GET", "/leads/{id}", "/leads/$doomed", "", ""),
    shape(
        "GET",
        "/leads/{id}",
        "/leads/$lead",
        "query={lead{fullname,owner{name},city}}",
        "",
    ),
    shape("GET", "/crm", "/crm", "", ""),
    shape("GET", "/crmfastloadv2/{id}", "/crmfastloadv2/$funnel", "", ""),
    shape("GET", "/user", "/user", "noblock=1", ""),
    shape("GET", "/user", "/user", "limit=2&page=$page", ""),
    shape("GET", "/departament", "/departament", "", ""),
    shape("GET", "/tags", "/tags", "", ""),
    shape("GET", "/crmlossreason", "/crmlossreason", "", ""),
    shape("GET", "/pcalendar", "/pcalendar", "", ""),
    shape(
        "GET",
        "/pcalendar",
        "/pcalendar",
        "query={calendars{id,name,nextMeeting}}",
        "",
    ),
    shape(
        "GET",
        "/calendarmeeting/{id}",
        "/calendarmeeting/$calendar",
        "from=0001-01-01T00:00:00Z&limit=2",
        "",
    ),
    shape(
        "GET",
        "/calendarmeeting/{id}",
        "/calendarmeeting/$public",
        "page=$page&limit=1",
        "",
    ),
    shape(
        "GET",
        "/calendarmeeting/slots",
        "/calendarmeeting/slots",
        "keyName=$key&to=2026-11-24T00:00:00Z",
        "",
    ),
    shape("GET", "/book/{instance}/{keyName}", "/book/$i/$key", "", ""),
    shape("GET", "/advancedreports", "/advancedreports", "", ""),
    shape("GET", "/reportchart/{id}", "/reportchart/$report", "", ""),
    shape(
        "GET",
        "/reportchart/{id}",
        "/reportchart/$report",
        "from=2026-11-01&to=2026-11-03",
        "",
    ),
    shape("GET", "/sac360/lead/{id}", "/sac360/lead/$lead", "", ""),
    shape("GET", "/sac360/lead/{id}", "/sac360/lead/1001", "", ""),
    shape(
        "GET",
        "/sac360/list_file_attendance/{id}",
        "/sac360/list_file_attendance/$ticket",
        "",
        "",
    ),
    shape(
        "GET",
        "/sac360/list_file_lead/{id}",
        "/sac360/list_file_lead/$lead",
        "",
        "",
    ),
    shape(
        "GET",
        "/sac360/list_file_lead/{id}",
        "/sac360/list_file_lead/1001",
        "",
        "",
    ),
];

/// Lists and boards, with search terms, filters, and pages with cursors.
pub const LISTS: [Shape; 10] = [
    shape("GET", "/leads", "/leads", "limit=3", ""),
    shape("GET", "/leads", "/leads", "search=$mark&limit=3&page=$page", ""),
    shape("GET", "/leads", "/leads", "search=$phone", ""),
    shape(
        "POST",
        "/leadsadvanced",
        "/leadsadvanced",
        "",
        r#"{"query":"{total,leads{fullname,owner{completName},companyData{companyname},tags{tag}}}","search":"$mark","page":$page,"limit":2}"#,
    ),
    shape("GET", "/leads", "/leads", "limit=2&page=$page&allFields=1", ""),
    shape(
        "POST",
        "/crm/opportunities/{id}",
        "/crm/opportunities/$funnel",
        "",
        r#"{"page":$page,"limit":2,"columnId":5}"#,
    ),
    shape(
        "POST",
        "/crm/opportunities/{id}",
        "/crm/opportunities/5",
        "",
        r#"{"page":$page,"limit":2,"columnId":$column,"search":"$mark"}"#,
    ),
    shape(
        "POST",
        "/crm/opportunities/{id}",
        "/crm/opportunities/5",
        "",
        r#"{"page":1,"limit":3,"search":"$mark","searchBy":"opportunity"}"#,
    ),
    shape(
        "POST",
        "/crm/opportunities/{id}",
        "/crm/opportunities/5",
        "",
        r#"{"page":1,"limit":3,"columnId":5,"filterByUsers":[$user]}"#,
    ),
    shape(
        "POST",
        "/crm/opportunities/{id}",
        "/crm/opportunities/5",
        "",
        r#"{"page":1,"limit":3,"columnId":5,"filters":[{"filterType":"opField","properties":{"field":"Origem do Lead","value":"$mark","operator":"contains"}}]}"#,
    ),
];

/// The same bytes that all instances send with the same key.
pub const SAME: Shape = shape(
    "POST",
    "/crmopportunity",
    "/crmopportunity",
    "id=5",
    r#"{"title":"Pedido","crm_column":5,"lead_id":1001}"#,
);

/// Writes, made only by the attacker in its own instance.
pub const WRITES: [Shape; 25] = [
    shape(
        "POST",
        "/crmopportunity",
        "/crmopportunity",
        "id=5",
        r#"{"title":"Pedido","crm_column":5,"lead_id":$lead}"#,
    ),
    shape(
        "POST",
        "/crmopportunity",
        "/crmopportunity",
        "id=$funnel",
        r#"{"title":"Pedido","crm_column":5,"lead_id":1001}"#,
    ),
    shape(
        "POST",
        "/crmopportunity",
        "/crmopportunity",
        "id=5",
        r#"{"title":"Pedido","crm_column":$column,"lead_id":1001,"user":$user}"#,
    ),
    SAME,
    shape(
        "PUT",
        "/crmopportunity/{id}",
        "/crmopportunity/$opportunity",
        "id=5",
        r#"{"title":"Mudado"}"#,
    ),
    shape(
        "PUT",
        "/crmopportunity/{id}",
        "/crmopportunity/5",
        "id=$funnel",
        r#"{"sequence":$page}"#,
    ),
    shape(
        "PUT",
        "/crmopportunity/{id}",
        "/crmopportunity/5",
        "id=5",
        r#"{"lead_id":$lead}"#,
    ),
    shape(
        "PUT",
        "/crmopportunity/{id}",
        "/crmopportunity/6",
        "id=5",
        r#"{"crm_column":$column}"#,
    ),
    shape(
        "PUT",
        "/crmopportunity/{id}",
        "/crmopportunity/7",
        "id=5",
        r#"{"user":$user,"status":"open"}"#,
    ),
    shape(
        "POST",
        "/lead/archive",
        "/lead/archive",
        "",
        r#"{"archived":true,"id":$doomed}"#,
    ),
    shape(
        "POST",
        "/lead/archive",
        "/lead/archive",
        "",
        r#"{"archived":false,"ids":[1001,$doomed]}"#,
    ),
    shape("DELETE", "/leads/{id}", "/leads/$doomed", "", ""),
    shape("DELETE", "/leads", "/leads", "", r#"{"ids":[$doomed]}"#),
    shape(
        "POST",
        "/calendarmeeting",
        "/calendarmeeting",
        "",
        r#"{"keyName":"$key","date":"$date","leadId":1002}"#,
    ),
    shape(
        "POST",
        "/calendarmeeting",
        "/calendarmeeting",
        "",
        r#"{"keyName":"demo","date":"$date","leadId":$lead}"#,
    ),
    shape(
        "POST",
        "/calendarmeeting",
        "/calendarmeeting",
        "",
        r#"{"keyName":"demo","date":"$date","leadId":1001,"opportunityId":$opportunity}"#,
    ),
    shape(
        "POST",
        "/calendarmeeting",
        "/calendarmeeting",
        "",
        r#"{"keyName":"demo","date":"$date","leadId":1001,"properties":{"rescheduleMeetingId":$moved,"rescheduleKey":"$proof"}}"#,
    ),
    shape(
        "POST",
        "/voip/webhook",
        "/voip/webhook",
        "",
        r#"{"event":"call","data":{"user":$user,"leadPhone":"$phone","type":"INCOMING","status":"COMPLETE","duration":1,"record":false,"service":"x"}}"#,
    ),
    shape(
        "POST",
        "/voip/webhook",
        "/voip/webhook",
        "",
        r#"{"event":"call","data":{"user":7,"leadPhone":"","lead":$lead,"type":"OUTGOING","status":"COMPLETE","duration":1,"record":false,"service":"x"}}"#,
    ),
    shape(
        "POST",
        "/leads",
        "/leads",
        "unique=phone,email",
        r#"{"firstname":"Nara","phone":"$phone","owner":$user}"#,
    ),
    shape("PUT", "/leads", "/leads", "", r#"{"id":$lead,"owner":$user}"#),
    shape(
        "PUT",
        "/leads/{id}",
        "/leads/$doomed",
        "",
        r#"{"city":"Londrina","userAccess":[$user]}"#,
    ),
    shape(
        "POST",
        "/sac360/relaction",
        "/sac360/relaction",
        "",
        r#"{"lead":$lead,"attendance":501}"#,
    ),
    shape(
        "POST",
        "/sac360/relaction",
        "/sac360/relaction",
        "",
        r#"{"lead":1001,"attendance":"$ticket"}"#,
    ),
    shape(
        "POST",
        "/api/hook/{name}",
        "/api/hook/site",
        "access_token=$form_token",
        r#"{"firstname":"Ana","lastname":"$mark"}"#,
    ),
];

/// Requests to another instance, which must be rejected. The webhook's secret and the ids are the sender's.
pub const AIMED: [Shape; 6] = [
    shape("POST", "/voip/webhook", "/voip/webhook", "", WRITES[17].body),
    shape(
        "POST",
        "/calendarmeeting",
        "/calendarmeeting",
        "",
        r#"{"keyName":"$only_key","date":"$date","leadId":null,"formData":{"firstname":"Intruso"}}"#,
    ),
    shape(
        "POST",
        "/calendarmeeting",
        "/calendarmeeting",
        "",
        r#"{"keyName":"demo","date":"$date","leadId":$only}"#,
    ),
    shape(
        "POST",
        "/calendarmeeting",
        "/calendarmeeting",
        "",
        r#"{"keyName":"demo","date":"$date","leadId":1001,"opportunityId":$only}"#,
    ),
    shape(
        "POST",
        "/calendarmeeting",
        "/calendarmeeting",
        "",
        r#"{"keyName":"demo","date":"$date","leadId":1001,"properties":{"rescheduleMeetingId":$moved,"rescheduleKey":"$own_proof"}}"#,
    ),
    shape(
        "POST",
        "/api/hook/{name}",
        "/api/hook/site",
        "access_token=$form_token",
        r#"{"firstname":"Ana","lastname":"$mark"}"#,
    ),
];

/// Requests to the own instance.
pub fn all() -> impl Iterator<Item = &'static Shape> {
    READS.iter().chain(&LISTS).chain(&WRITES)
}

impl Shape {
    /// Placement of the route's credentials; `None` for public routes.
    pub fn place(&self) -> Option<Place> {
        let is_public = PUBLIC.contains(&(self.method, self.route));
        (!is_public).then(|| place(self.method, self.route))
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
