//! Requests that read every kind of record, and their responses.

use serde_json::{Value, json};
use tests::{Wallet, World};

use super::stage::made;

/// A request and its response.
#[derive(Debug)]
pub struct Asked {
    pub method: String,
    pub path: String,
    pub status: u64,
    pub body: Value,
}

/// All requests to an instance.
pub async fn asks(world: &World, wallet: &Wallet) -> Vec<Asked> {
    let column = |page: u64| json!({ "page": page, "limit": 3, "columnId": 31 });
    let board = json!({ "page": 1, "limit": 2 });
    let meetings = "/calendarmeeting/7?from=1900-01-01T00:00:00Z";
    let none = Value::Null;
    let mut asked = Vec::new();
    for (method, path, body) in [
        ("GET", "/leads?limit=50", &none),
        ("GET", "/leads?showArchived=1&allFields=1&limit=50", &none),
        ("GET", "/leads/1001?allFields=1", &none),
        (
            "GET",
            "/leads/1002?query={lead{fullname,owner{name},company,utmTags}}",
            &none,
        ),
        ("GET", "/leads/1004?allFields=1", &none),
        ("GET", "/leads/1012", &none),
        ("GET", "/crm", &none),
        ("POST", "/crm/opportunities/3", &board),
        ("POST", "/crm/opportunities/3", &column(1)),
        ("POST", "/crm/opportunities/3", &column(2)),
        ("POST", "/crmopportunity?id=3", &made()),
        ("GET", "/pcalendar", &none),
        ("GET", meetings, &none),
        (
            "GET",
            "/calendarmeeting/slots?keyName=plantao-2027&from=2027-03-01T00:00:00Z&to=2027-03-03T00:00:00Z",
            &none,
        ),
        ("GET", "/sac360/lead/1001", &none),
        ("GET", "/sac360/list_file_attendance/502", &none),
        ("GET", "/sac360/list_file_lead/1003", &none),
        ("GET", "/advancedreports", &none),
        ("GET", "/reportchart/1", &none),
        ("GET", "/reportchart/2", &none),
        ("GET", "/reportchart/3", &none),
    ] {
        let join = if path.contains('?') { '&' } else { '?' };
        // Endpoints expect the key in different places and ignore the others.
        let uri = format!("{path}{join}i=acme&apitoken={}", wallet.key);
        let uri = uri.replace('{', "%7B").replace('}', "%7D");
        let mut call = world
            .call(method, &uri)
            .with(wallet)
            .header("idempotency-key", "k");
        if !body.is_null() {
            call = call.json(body);
        }
        let answer = call.send().await;
        asked.push(Asked {
            method: method.to_owned(),
            path: path.to_owned(),
            status: answer.status.as_u16().into(),
            body: answer.body,
        });
    }
    asked
}
