//! The middleware of every request: request id, body limit, CORS, compression, panics, cost and log line.

use std::borrow::Cow;
use std::panic::AssertUnwindSafe;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use futures_util::FutureExt as _;
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Version, header};
use http_body_util::BodyExt as _;

use super::json::{ANSWER_LIMIT, TOO_LARGE};
use super::problem::{ErrorFormat, Problem};
use super::{App, Origins, compression, cors, limit, multipart, routes};
use crate::environment::Environment;
use crate::release::release;
use crate::store::{Cost, Meter};
use crate::telemetry::request::Trace;
use crate::telemetry::{self, Stopwatch};
use crate::traceparent::{self, Traceparent};

/// Header with the number of items omitted because they cannot be read.
const ITEMS_UNREADABLE: HeaderName = HeaderName::from_static("x-items-unreadable");
/// Maximum bytes of a body (C-6).
pub const BODY_LIMIT: usize = 256 * 1024;
/// Maximum bytes read of a body that is too large. Many clients read the response only after they have sent the body.
const MAX_DRAINED: usize = 8 * 1024 * 1024;

/// Request id, in the header `x-request-id` and in the log.
#[derive(Debug, Clone)]
pub struct RequestId(pub String);

/// Runs a request's handler with a request id, limits, metrics and the headers of every response. Writes the log line.
/// A response never contains the text of a panic.
pub async fn handle(
    State((app, shape)): State<(App, ErrorFormat)>,
    mut request: Request,
    next: Next,
) -> Response {
    let (began, is_cold_start) = (Stopwatch::start(), app.takes_first_request());
    let id = app.environment().token();
    request.extensions_mut().insert(RequestId(id.clone()));
    let origin = request.headers().get(header::ORIGIN).cloned();
    let path = request.extensions().get::<MatchedPath>().cloned();
    let method = request.method().clone();
    let accepts_gzip = compression::accepts_gzip(request.headers());
    let (meter, trace) = (
        Meter::default(),
        Trace::of(&id, traceparent_of(request.headers())),
    );
    let mut answer = if method == Method::OPTIONS {
        preflight()
    } else {
        let work = AssertUnwindSafe(run_handler(request, next, shape)).catch_unwind();
        // The panic hook has logged the panic.
        trace
            .follow(meter.measure(work))
            .await
            .unwrap_or_else(|_| shape.answer(&Problem::Internal))
    };
    limit::show(trace.allowance(), &mut answer);
    add_common_headers(&app, &id, origin.as_ref(), answer.headers_mut());
    let mut answer = compression::compress(answer, accepts_gzip).await;
    let cost = meter.cost();
    let route = route(&method, path.as_ref(), answer.status());
    if !cost.unreadable.is_empty() && answer.status().is_success() {
        answer
            .headers_mut()
            .insert(ITEMS_UNREADABLE, cost.unreadable.len().into());
    }
    log(&id, &route, &trace, answer.status(), began, is_cold_start, &cost);
    answer.extensions_mut().insert(cost);
    answer
}

/// As [`handle`], for a request that no router matches. Its errors have the format of its path.
pub async fn handle_unmatched(state: State<App>, request: Request, next: Next) -> Response {
    let shape = routes::format_of(request.uri().path());
    handle(State((state.0, shape)), request, next).await
}

/// The caller's trace, if its header is valid.
fn traceparent_of(headers: &HeaderMap) -> Option<Traceparent> {
    let header = headers.get(traceparent::HEADER)?;
    Traceparent::parse(header.to_str().ok()?)
}

fn add_common_headers(app: &App, id: &str, origin: Option<&HeaderValue>, headers: &mut HeaderMap) {
    if !is_page(headers) {
        add_json_headers(headers);
    }
    add_headers(app.origins(), id, origin, headers);
}

fn add_json_headers(headers: &mut HeaderMap) {
    let json = HeaderValue::from_static("application/json; charset=utf-8");
    headers.insert(header::CONTENT_TYPE, json);
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
}

/// Adds the headers of every response of any type.
fn add_headers(origins: &Origins, id: &str, origin: Option<&HeaderValue>, headers: &mut HeaderMap) {
    headers.insert(
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    );
    headers.insert(
        "x-request-id",
        HeaderValue::from_str(id).unwrap_or(HeaderValue::from_static("")),
    );
    headers.insert(
        "x-funil-version",
        HeaderValue::from_str(release()).unwrap_or(HeaderValue::from_static("")),
    );
    origins.allow(origin, headers);
}

/// Adds the headers of every response (C-5) to the routes of documents, which need no app, and answers preflights and
/// other methods.
pub fn documents(routes: Router) -> Router {
    let environment = Environment::system();
    let routes = routes.method_not_allowed_fallback(routes::refuse_method);
    routes.layer(from_fn(move |request: Request, next: Next| {
        let id = environment.token();
        async move {
            let mut answer = if request.method() == Method::OPTIONS {
                preflight()
            } else {
                next.run(request).await
            };
            if answer.status().is_client_error() {
                add_json_headers(answer.headers_mut());
            }
            add_headers(&Origins::Any, &id, None, answer.headers_mut());
            answer
        }
    }))
}

/// A middleware around all routes for a service without a gateway: rejects a request with several `Host` headers, and an
/// HTTP/1.1 request without one. A proxy may have taken the other host.
pub async fn one_host(State(app): State<App>, request: Request, next: Next) -> Response {
    let hosts = request.headers().get_all(header::HOST).iter().count();
    let least = usize::from(request.version() == Version::HTTP_11);
    if (least..=1).contains(&hosts) {
        return next.run(request).await;
    }
    let (began, id) = (Stopwatch::start(), app.environment().token());
    let trace = Trace::of(&id, traceparent_of(request.headers()));
    let problem = Problem::Invalid("host: must be sent once".to_owned());
    let mut answer = trace.follow(async { ErrorFormat::Error.answer(&problem) }).await;
    let origin = request.headers().get(header::ORIGIN);
    add_common_headers(&app, &id, origin, answer.headers_mut());
    log(
        &id,
        "other",
        &trace,
        answer.status(),
        began,
        false,
        &Cost::default(),
    );
    answer
}

/// Reads the whole body, runs the handler, and writes its error in the format of the group. A body or a response that
/// is too large is an error.
async fn run_handler(request: Request, next: Next, shape: ErrorFormat) -> Response {
    let (mut parts, body) = request.into_parts();
    let body = match read_any(&mut parts, body).await {
        Ok(body) => body,
        Err(refusal) => return shape.answer(&refusal),
    };
    if let Some(details) = unsupported(&parts, &body) {
        return shape.answer(&Problem::Unsupported(details));
    }
    let mut answer = next.run(Request::from_parts(parts, Body::from(body))).await;
    if let Some(problem) = answer.extensions_mut().remove::<Problem>() {
        return shape.answer(&problem);
    }
    if http_body::Body::size_hint(answer.body()).lower() > ANSWER_LIMIT {
        return shape.answer(&Problem::Invalid(TOO_LARGE.to_owned()));
    }
    answer
}

/// Rejects a body unread if it announces more than [`MAX_DRAINED`] bytes, or more than `limit` and its client waits for
/// permission (`Expect: 100-continue`).
fn refuse_far_too_large(headers: &HeaderMap, limit: usize) -> Result<(), Problem> {
    let length = headers
        .get(header::CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok());
    let length = length.map_or(0, |length| length.parse().unwrap_or(usize::MAX));
    let waits = headers.contains_key(header::EXPECT);
    if length > MAX_DRAINED || (length > limit && waits) {
        return Err(Problem::TooLarge);
    }
    Ok(())
}

/// The whole body, a multipart one as a form-encoded one where the route accepts it.
async fn read_any(parts: &mut Parts, body: Body) -> Result<Bytes, Problem> {
    let is_form_route = is_of_form(parts);
    let media_type = parts
        .headers
        .get(header::CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok());
    let media_type = media_type.unwrap_or_default().to_owned();
    let is_multipart = media_type
        .trim_start()
        .to_ascii_lowercase()
        .starts_with("multipart/");
    if !is_form_route || !is_multipart {
        refuse_far_too_large(&parts.headers, BODY_LIMIT)?;
        return read_body(body).await;
    }
    refuse_far_too_large(&parts.headers, multipart::LIMIT)?;
    let (fields, files) = multipart::read(&media_type, body).await?;
    let kind = HeaderValue::from_static("application/x-www-form-urlencoded");
    parts.headers.insert(header::CONTENT_TYPE, kind);
    parts.extensions.insert(files);
    Ok(fields)
}

/// The whole body. A body over [`BODY_LIMIT`] is read up to [`MAX_DRAINED`] and discarded.
async fn read_body(mut body: Body) -> Result<Bytes, Problem> {
    let (mut bytes, mut length) = (Vec::new(), 0);
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Problem::Invalid("body: broke off".to_owned()))?;
        let data = frame.into_data().unwrap_or_default();
        length += data.len();
        if length > MAX_DRAINED {
            break;
        }
        if length <= BODY_LIMIT {
            bytes.extend_from_slice(&data);
        }
    }
    if length > BODY_LIMIT {
        Err(Problem::TooLarge)
    } else {
        Ok(bytes.into())
    }
}

/// Whether a request is the submission of a form.
fn is_of_form(parts: &Parts) -> bool {
    let path = parts.extensions.get::<MatchedPath>();
    path.is_some_and(|path| path.as_str() == multipart::ROUTE)
}

/// Encodings of text that a form may state.
const FORM_CHARSETS: [&str; 7] = [
    "utf-8",
    "utf8",
    "us-ascii",
    "iso-8859-1",
    "latin1",
    "windows-1252",
    "cp1252",
];

/// Why a body is refused whose headers say that it is compressed, or is text in another encoding than UTF-8. A form may
/// be in Windows-1252.
fn unsupported(parts: &Parts, body: &[u8]) -> Option<&'static str> {
    let value = |name| {
        parts
            .headers
            .get(name)
            .and_then(|value: &HeaderValue| value.to_str().ok())
    };
    let coding = value(header::CONTENT_ENCODING).unwrap_or_default().trim();
    if !body.is_empty() && !coding.is_empty() && !coding.eq_ignore_ascii_case("identity") {
        return Some("content-encoding: the body must not be compressed");
    }
    let media_type = value(header::CONTENT_TYPE)
        .unwrap_or_default()
        .to_ascii_lowercase();
    let charset = media_type.split_once("charset=").map(|(_, charset)| charset);
    let charset = charset.map(|charset| charset.split(';').next().unwrap_or_default());
    let charset = charset.map(|charset| charset.trim_matches(['"', ' ']))?;
    let is_refused = if is_of_form(parts) {
        !charset.is_empty() && !FORM_CHARSETS.contains(&charset)
    } else {
        !charset.starts_with("utf-8") && std::str::from_utf8(body).is_err()
    };
    is_refused.then_some("content-type: the body must be in UTF-8")
}

/// Whether the handler has set the content type to HTML. All other responses are JSON (C-5).
fn is_page(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    kind.is_some_and(|kind| kind == b"text/html" || kind.starts_with(b"text/html;"))
}

fn preflight() -> Response {
    let mut answer = StatusCode::NO_CONTENT.into_response();
    cors::preflight(answer.headers_mut());
    answer
}

/// The route in the template's form, such as `GET /leads/{id}`, or `other` for unknown routes and for methods without
/// handlers. Each value is billed as a metric, so callers must not be able to create values.
fn route(method: &Method, path: Option<&MatchedPath>, status: StatusCode) -> Cow<'static, str> {
    let known = [Method::GET, Method::POST, Method::PUT, Method::DELETE];
    match path {
        Some(path) if known.contains(method) && status != StatusCode::METHOD_NOT_ALLOWED => {
            format!("{method} {}", path.as_str()).into()
        }
        _ => "other".into(),
    }
}

/// Writes the log line of a request, which also contains its metrics. The line never contains a secret, phone number,
/// address, query string or body.
fn log(
    id: &str,
    route: &str,
    trace: &Trace,
    status: StatusCode,
    began: Stopwatch,
    is_cold_start: bool,
    cost: &Cost,
) {
    let (caller, refused) = (trace.caller(), trace.refused());
    tracing::info!(
        target: telemetry::REQUEST,
        request_id = id,
        trace_id = trace.trace_id(),
        route,
        instance = caller.instance,
        credential = caller.credential,
        status = status.as_u16(),
        faults = status.is_server_error().then_some(1_u8),
        refused = refused.as_deref(),
        milliseconds = began.milliseconds(),
        cold_start = u8::from(is_cold_start),
        calls = cost.calls.len(),
        round_trips = cost.round_trips,
        read_units = cost.read_units(),
        write_units = cost.write_units(),
        "request"
    );
}
