//! All paths of the service, and the responses to requests that no handler takes.
//!
//! API Gateway passes such a request to one function, by its route `$default`. That function has only its own handlers, so
//! this table has the paths of all. `funil serve` responds from the same table. A test compares it with the routers and
//! with template.yaml.

use axum::http::{HeaderValue, Method, Uri, header};
use axum::response::{IntoResponse as _, Redirect, Response};

use super::{ErrorFormat, Problem};

/// A path, its methods as in the header `allow`, and the format of its errors (C-4).
type Known = (&'static str, &'static str, ErrorFormat);

/// A path without parameters comes before one with parameters that also matches it.
const PATHS: [Known; 36] = [
    ("/leads", "GET,HEAD,POST,PUT,DELETE", ErrorFormat::Error),
    ("/leads/{id}", "GET,HEAD,PUT,DELETE", ErrorFormat::Error),
    ("/leads/{id}/timeline", "GET,HEAD", ErrorFormat::Error),
    ("/leads/{id}/meetings", "GET,HEAD", ErrorFormat::Error),
    ("/leadsadvanced", "POST", ErrorFormat::Error),
    ("/lead/archive", "POST", ErrorFormat::Error),
    ("/crmopportunity", "POST", ErrorFormat::Message),
    ("/crmopportunity/{id}", "GET,HEAD,PUT", ErrorFormat::Fixed),
    (
        "/listopportunitysleadcomplete/{id}",
        "GET,HEAD",
        ErrorFormat::Error,
    ),
    ("/crm", "GET,HEAD", ErrorFormat::Error),
    ("/crmfastloadv2/{id}", "GET,HEAD", ErrorFormat::Error),
    ("/crm/opportunities/{id}", "POST", ErrorFormat::OpportunityList),
    ("/pcalendar", "GET,HEAD", ErrorFormat::Error),
    ("/calendarmeeting", "POST", ErrorFormat::Error),
    ("/calendarmeeting/slots", "GET,HEAD", ErrorFormat::Error),
    ("/calendarmeeting/{id}", "GET,HEAD", ErrorFormat::Error),
    ("/book/{instance}/{keyName}", "GET,HEAD", ErrorFormat::Error),
    ("/advancedreports", "GET,HEAD", ErrorFormat::Error),
    ("/reportchart/{id}", "GET,HEAD", ErrorFormat::Error),
    ("/me", "GET,HEAD", ErrorFormat::Error),
    ("/user", "GET,HEAD", ErrorFormat::Error),
    ("/departament", "GET,HEAD", ErrorFormat::Error),
    ("/tags", "GET,HEAD", ErrorFormat::Error),
    ("/crmlossreason", "GET,HEAD", ErrorFormat::Error),
    ("/sac360/lead/{id}", "GET,HEAD", ErrorFormat::Fixed),
    (
        "/sac360/list_file_attendance/{id}",
        "GET,HEAD",
        ErrorFormat::Fixed,
    ),
    ("/sac360/list_file_lead/{id}", "GET,HEAD", ErrorFormat::Fixed),
    ("/sac360/relaction", "POST", ErrorFormat::Fixed),
    ("/voip/webhook", "POST", ErrorFormat::CallWebhook),
    ("/api/hook/{name}", "POST", ErrorFormat::Error),
    ("/openapi.yaml", "GET,HEAD", ErrorFormat::Error),
    ("/docs", "GET,HEAD", ErrorFormat::Error),
    ("/docs/start.js", "GET,HEAD", ErrorFormat::Error),
    ("/docs/swagger-ui.css", "GET,HEAD", ErrorFormat::Error),
    ("/docs/swagger-ui-bundle.js", "GET,HEAD", ErrorFormat::Error),
    ("/health", "GET,HEAD", ErrorFormat::Error),
];

/// The format of a path's errors; unknown paths have the common one.
pub fn format_of(path: &str) -> ErrorFormat {
    known(path).map_or(ErrorFormat::Error, |(_, _, format)| *format)
}

/// Responds with 405 for a known path, else with 404. The link of a booking page with a trailing slash, which people and
/// mail programs write, is redirected permanently to the link.
pub async fn refuse(method: Method, uri: Uri) -> Response {
    if let Some(answer) = not_allowed(uri.path()) {
        return answer;
    }
    let is_read = [Method::GET, Method::HEAD].contains(&method);
    let without_slash = uri.path().strip_suffix('/').filter(|_| is_read);
    let link = without_slash.filter(|path| fits("/book/{instance}/{keyName}", path));
    let Some(link) = link else {
        return ErrorFormat::Error.answer(&Problem::NoRoute);
    };
    let query = uri.query().map(|query| format!("?{query}")).unwrap_or_default();
    Redirect::permanent(&format!("{link}{query}")).into_response()
}

/// Responds with 405 to another method of a path that has a handler, which may be a page of `funil serve` alone.
pub async fn refuse_method(uri: Uri) -> Response {
    not_allowed(uri.path()).unwrap_or_else(|| ErrorFormat::Error.answer(&Problem::MethodNotAllowed))
}

/// The 405 of a known path.
fn not_allowed(path: &str) -> Option<Response> {
    let (_, methods, format) = known(path)?;
    let mut answer = format.answer(&Problem::MethodNotAllowed);
    let methods = HeaderValue::from_static(methods);
    answer.headers_mut().insert(header::ALLOW, methods);
    Some(answer)
}

fn known(path: &str) -> Option<&'static Known> {
    PATHS.iter().find(|(template, ..)| fits(template, path))
}

/// Whether a path matches a template, in which a segment in braces stands for any text.
fn fits(template: &str, path: &str) -> bool {
    let (mut wanted, mut given) = (template.split('/'), path.split('/'));
    loop {
        match (wanted.next(), given.next()) {
            (None, None) => return true,
            (Some(wanted), Some(given)) if wanted == given => {}
            (Some(wanted), Some(given)) if wanted.starts_with('{') && !given.is_empty() => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_path_is_found_by_itself() {
        for (template, ..) in PATHS {
            let path = template.replace(['{', '}'], "");
            assert_eq!(known(&path).map(|(found, ..)| *found), Some(template));
        }
        for path in [
            "/",
            "",
            "/leads/",
            "/leads//timeline",
            "/leads/7/8",
            "/Leads",
            "/docs/x",
        ] {
            assert_eq!(known(path), None, "{path}");
        }
    }
}
