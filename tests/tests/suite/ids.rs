//! Ids in paths, on every route that has one.

use serde_json::json;
use tests::Answer;
use tests::catalogue::{Entry, catalogue};

use crate::isolation;

/// Ids in paths: name of the parameter, and the 400 for an unknown one, if it is no 404.
fn named(route: &str) -> (&'static str, Option<String>) {
    const UNKNOWN: u64 = 999_999_999_999_999;
    let unknown = |name, kind: &str| (name, Some(format!("{name}: {kind} {UNKNOWN} does not exist")));
    match route.split('/').nth(1).unwrap_or_default() {
        "leads" => ("id", None),
        "reportchart" => ("report_id", None),
        "listopportunitysleadcomplete" => ("lead_id", None),
        "crm" | "crmfastloadv2" => unknown("funnel_id", "funnel"),
        "sac360" if route.contains("attendance") => unknown("ticket_id", "ticket"),
        "sac360" => unknown("lead_id", "lead"),
        _ => ("opportunity_id", None),
    }
}

/// C-4, C-23: malformed ids differ from unknown ones, which may be those of another instance.
#[tokio::test]
async fn malformed_and_unknown_ids_are_rejected_on_every_route() {
    let world = isolation::world().await;
    let wallet = world.wallet(7).await;
    let mut routes = catalogue();
    routes.retain(|route| route.route.contains("{id}") && route.route != "/calendarmeeting/{id}");
    for route in routes {
        let (name, unknown) = named(&route.route);
        let ask = async |id: &str| {
            let path = route.route.replace("{id}", id);
            let of_id = Entry {
                path,
                ..route.clone()
            };
            of_id
                .with(&world, "i=acme", &wallet.key, &wallet.token)
                .send()
                .await
        };
        let is_invalid = |answer: &Answer, details: &str| {
            let mut body = json!({ "error": "Invalid request" });
            if !route.fixed {
                body["details"] = details.into();
            }
            answer.is(400, &body);
            let told = answer
                .headers
                .get("x-error-details")
                .map(http::HeaderValue::as_bytes);
            assert_eq!(
                told,
                route.fixed.then_some(details.as_bytes()),
                "{}",
                route.name()
            );
        };
        for id in [
            "abc",
            "0",
            "-1",
            "+1",
            "01",
            "1.0",
            "1e3",
            "1,2",
            "null",
            "1%20",
            "%31x",
            "%00",
            "%FF",
            "%F0%9F%98%80",
            "1000000000000000",
            "99999999999999999999999",
        ] {
            let details = format!("{name}: must be a whole number from 1 to 999999999999999");
            is_invalid(&ask(id).await, &details);
        }
        let answer = ask("999999999999999").await;
        match unknown {
            Some(details) => is_invalid(&answer, &details),
            None if name == "opportunity_id" && route.method == "PUT" => {
                is_invalid(
                    &answer,
                    "opportunity_id: opportunity 999999999999999 does not exist in funnel 3",
                );
            }
            None => answer.is(404, &route.says("Not found")),
        }
    }
}
