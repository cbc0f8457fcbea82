//! `funil get`: one request to a running service (C-106).

use std::io::{self, IsTerminal as _};

use clap::Args;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use serde_json::Value;
use shared::instance::InstanceName;

use super::text::{self, Colours};
use super::{Answer, Failure, Global};
use crate::client::{ServiceResponse, ServiceUrl};

pub const AFTER_HELP: &str = "\
FUNIL_KEY in the environment is the API key, FUNIL_TOKEN the access token. Each goes to the places where an endpoint may require
it; for the key these are the header and the query, which proxies may log. Characters such as spaces and braces need no
encoding. The JSON is indented and coloured on a terminal, and unchanged elsewhere; NO_COLOR=1 leaves out the colours.

Examples:
  funil get /crm
  funil get '/leads/1001?query={lead{fullname,owner{name}}}'
  funil get --url https://api.example.com --instance acme '/leads?limit=3' | jq .data.total

Exit codes: 0 the status is 2xx; 1 it is another, or there is no response; 2 wrong usage.";

#[derive(Debug, Args)]
pub struct GetArgs {
    /// URL of the service
    #[arg(long, value_name = "URL", env = "FUNIL_URL", default_value = "http://127.0.0.1:3000", value_parser = url)]
    url: ServiceUrl,
    /// Instance name, the parameter `i` of a path without one
    #[arg(long, value_name = "NAME", env = "FUNIL_INSTANCE")]
    instance: Option<InstanceName>,
    /// Path with its query, such as /leads?limit=3
    path: String,
}

fn url(text: &str) -> Result<ServiceUrl, &'static str> {
    ServiceUrl::parse(text).ok_or("must be a URL such as http://127.0.0.1:3000")
}

pub async fn run(get: &GetArgs, global: &Global) -> Result<Answer, Failure> {
    let (key, token) = (secret("FUNIL_KEY")?, secret("FUNIL_TOKEN")?);
    let mut headers = HeaderMap::new();
    if let Some(key) = &key {
        headers.insert("apitoken", key.clone());
    }
    if let Some(token) = &token {
        let value = [b"Bearer ", token.as_bytes()].concat();
        headers.insert(
            header::AUTHORIZATION,
            HeaderValue::from_bytes(&value).map_err(http_error)?,
        );
    }
    let instance = get.instance.as_ref().map(InstanceName::as_str);
    let path = with_parameters(
        &get.path,
        [
            ("i", instance),
            // Endpoints differ in the place of the key, and ignore it elsewhere (C-2).
            ("apitoken", key.as_ref().and_then(|key| key.to_str().ok())),
        ],
    );
    let response = get.url.get(&path, headers).await.map_err(|cause| {
        Failure::Refused(format!(
            "the service cannot be reached: {cause}; check --url and that it runs"
        ))
    })?;
    answer(&response, global.json, key.is_some())
}

/// A credential from the environment. Other users of this machine can read the arguments of a process (C-80).
fn secret(name: &str) -> Result<Option<HeaderValue>, Failure> {
    let Some(text) = std::env::var(name).ok().filter(|text| !text.is_empty()) else {
        return Ok(None);
    };
    let is_credential = text
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let value = HeaderValue::from_str(&text).ok().filter(|_| is_credential);
    let value = value.ok_or_else(|| {
        Failure::Usage(format!(
            "{name} is not a credential; issue one with: funil key issue"
        ))
    });
    value.map(Some)
}

fn http_error(cause: impl Into<http::Error>) -> Failure {
    Failure::Refused(cause.into().to_string())
}

/// Adds the parameters that have a value and are absent from the path's query.
fn with_parameters(path: &str, parameters: [(&str, Option<&str>); 2]) -> String {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let has_parameter = |name: &str| query.split('&').any(|part| part.split('=').next() == Some(name));
    let mut parts: Vec<_> = query
        .split('&')
        .filter(|part| !part.is_empty())
        .map(str::to_owned)
        .collect();
    for (name, value) in parameters {
        parts.extend(
            value
                .filter(|_| !has_parameter(name))
                .map(|value| format!("{name}={value}")),
        );
    }
    let query = if parts.is_empty() {
        String::new()
    } else {
        format!("?{}", parts.join("&"))
    };
    format!("/{}{query}", path.trim_start_matches('/'))
}

/// The body of a successful response, as it is printed; otherwise an error with the status and the next step.
fn answer(response: &ServiceResponse, as_json: bool, has_key: bool) -> Result<Answer, Failure> {
    let body = String::from_utf8_lossy(&response.body);
    let document = serde_json::from_str::<Value>(&body).ok();
    if !response.status.is_success() {
        return Err(Failure::Refused(refusal(
            response.status,
            document.as_ref(),
            has_key,
        )));
    }
    let is_indented = !as_json && io::stdout().is_terminal();
    let text = match &document {
        Some(document) if is_indented => text::pretty(document, Colours::of(&io::stdout())),
        _ => body.trim_end().to_owned(),
    };
    Ok(Answer {
        text,
        // JSON is printed as received. With `--json`, other text becomes a JSON string.
        document: document.is_none().then(|| Value::from(body.trim_end())),
        ..Answer::default()
    })
}

/// The status with the messages of the body, and the next step.
fn refusal(status: StatusCode, document: Option<&Value>, has_key: bool) -> String {
    let field = |name| document.and_then(|document| document.get(name));
    let words = ["error", "msg", "details", "err"].into_iter().filter_map(field);
    let words = words.map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
    let mut parts = vec![status.as_u16().to_string()];
    parts.extend(words);
    let next = match status {
        StatusCode::UNAUTHORIZED if !has_key => {
            "; set FUNIL_KEY, and FUNIL_TOKEN for endpoints that require both; issue them with: funil key issue, funil token issue"
        }
        StatusCode::UNAUTHORIZED => {
            "; check FUNIL_KEY, FUNIL_TOKEN and --instance; funil key list and funil token list show which are valid"
        }
        StatusCode::BAD_REQUEST => "; check the path and --instance",
        StatusCode::TOO_MANY_REQUESTS => "; send it again in a minute",
        _ => "",
    };
    // The service is not trusted, and a terminal interprets control characters.
    parts.join(": ").replace(char::is_control, " ") + next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_added_where_they_are_absent() {
        for (path, expected) in [
            ("/crm", "/crm?i=acme&apitoken=fk_1"),
            ("crm?", "/crm?i=acme&apitoken=fk_1"),
            ("/leads?limit=3", "/leads?limit=3&i=acme&apitoken=fk_1"),
            ("/crm?i=demo&apitoken=fk_2", "/crm?i=demo&apitoken=fk_2"),
        ] {
            let added = with_parameters(path, [("i", Some("acme")), ("apitoken", Some("fk_1"))]);
            assert_eq!(added, expected);
        }
        assert_eq!(
            with_parameters("/docs", [("i", None), ("apitoken", None)]),
            "/docs"
        );
    }
}
