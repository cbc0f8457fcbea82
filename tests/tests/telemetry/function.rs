//! Log lines of a deployed function, for each request.

use std::panic;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::routing::get;
use dynamodb::faults::Fault;
use serde_json::{Value, json};
use shared::environment::Environment;
use shared::http::{ErrorFormat, RouteGroup};
use shared::telemetry::{self, JsonSubscriber};
use tests::people::settle;
use tests::world::{at, over_sdk};
use tests::{ACME, Answer, NOW, World, template};
use tracing::Instrument as _;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::DefaultGuard;

use crate::emf::metrics;

/// The lines of this thread, which runs the test and its service, while this exists.
pub struct Written {
    lines: Arc<Mutex<Vec<Value>>>,
    _guard: DefaultGuard,
}

impl Written {
    pub fn down_to(level: LevelFilter) -> Self {
        let lines = Arc::new(Mutex::new(Vec::new()));
        let (environment, _) = Environment::frozen(at(NOW));
        let sink = Arc::clone(&lines);
        let subscriber = JsonSubscriber::new(environment, level, "funil-test".to_owned(), move |text| {
            let line = text.strip_suffix('\n').expect("a line break");
            assert!(!line.contains('\n'), "{line}");
            let line = serde_json::from_str(line).expect("JSON");
            sink.lock().expect("the lines").push(line);
        });
        Self {
            lines,
            _guard: tracing::subscriber::set_default(subscriber),
        }
    }

    /// The lines since the last `take`.
    pub fn take(&self) -> Vec<Value> {
        std::mem::take(&mut *self.lines.lock().expect("the lines"))
    }

    /// The only line since then.
    pub fn only(&self) -> Value {
        let [line] = <[Value; 1]>::try_from(self.take()).expect("one line");
        line
    }
}

pub fn info() -> Written {
    Written::down_to(LevelFilter::INFO)
}

fn id(answer: &Answer) -> &str {
    answer.headers["x-request-id"].to_str().expect("an id")
}

/// A metric of the function `funil-test`.
pub fn of_function(name: &str, value: impl Into<f64>) -> crate::emf::Metric {
    let dimensions = vec![("function".to_owned(), "funil-test".to_owned())];
    (dimensions, name.to_owned(), "Count".to_owned(), value.into())
}

const TRACEPARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";

/// Complete line and metrics of a request with calls.
#[tokio::test]
async fn requests_log_one_line_with_metrics() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let written = info();
    let request = world.get("/leads?i=acme&search=maria").with(&wallet);
    let answer = request.header("traceparent", TRACEPARENT).send().await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.headers["x-funil-version"], env!("CARGO_PKG_VERSION"));
    let mut line = written.only();
    let found = metrics(&line);
    let milliseconds = line["milliseconds"].take().as_f64().expect("a duration");
    line["_aws"].take();
    let cost = &answer.cost;
    let (calls, read, write) = (cost.calls.len(), cost.read_units(), cost.write_units());
    assert!(calls > 0 && read > 0.0 && milliseconds > 0.0);
    assert_eq!(
        line,
        json!({
            "timestamp": NOW, "level": "INFO", "target": "request", "function": "funil-test", "message": "request",
            "version": env!("CARGO_PKG_VERSION"), "request_id": id(&answer), "trace_id": TRACEPARENT[3..35], "route": "GET /leads", "instance": "acme", "credential": wallet.key_id,
            "status": 200, "milliseconds": null, "cold_start": 1, "calls": calls,
            "round_trips": cost.round_trips, "read_units": read, "write_units": write, "_aws": null,
        })
    );
    let by_route = vec![
        ("function".to_owned(), "funil-test".to_owned()),
        ("route".to_owned(), "GET /leads".to_owned()),
    ];
    assert_eq!(
        found,
        [
            (
                by_route,
                "milliseconds".to_owned(),
                "Milliseconds".to_owned(),
                milliseconds
            ),
            of_function("calls", u32::try_from(calls).expect("few")),
            of_function("read_units", read),
            of_function("write_units", write),
            of_function("cold_start", 1),
        ]
    );
}

/// Only the first request of a process includes its initialization.
#[tokio::test]
async fn a_process_reports_one_cold_start() {
    let world = World::new().await;
    let written = info();
    for process in [world.beside(), world] {
        for _ in 0..3 {
            process.get("/leads").send().await;
        }
        let cold: Vec<_> = written
            .take()
            .iter()
            .map(|line| line["cold_start"].clone())
            .collect();
        assert_eq!(cold, [1, 0, 0]);
    }
}

/// Every route of the template has its own name. Unknown paths are one route and are not in the line: each
/// name would be a billed metric.
#[tokio::test]
async fn lines_name_only_routes_of_the_template() {
    let world = World::new().await;
    let written = info();
    for route in &template::routes() {
        let path = route
            .path
            .replace("{id}", "1")
            .replace("{instance}", "acme")
            .replace("{name}", "contact");
        world
            .call(&route.method, &path.replace("{keyName}", "demo"))
            .send()
            .await;
        let line = written.take().pop().expect("a line");
        metrics(&line);
        assert_eq!(line["route"], format!("{} {}", route.method, route.path));
    }
    for (method, uri) in [
        ("GET", "/marker"),
        ("GET", "/leads/1001/marker?i=marker"),
        ("GET", "/%22,%22marker%22:%221%0a"),
        ("MARKER", "/leads"),
        ("MARKER", "/marker"),
        ("PATCH", "/leads"),
        ("HEAD", "/leads"),
        ("OPTIONS", "/leads"),
    ] {
        world.call(method, uri).send().await;
        let line = written.only();
        metrics(&line);
        assert_eq!(line["route"], "other", "{method} {uri}");
        assert!(!line.to_string().to_lowercase().contains("marker"), "{line}");
    }
}

/// Rejected input is not in the line: instance names, credentials, paths and headers.
#[tokio::test]
async fn rejected_input_is_not_logged() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let written = info();
    for uri in [
        "/leads?i=made-up-marker",
        "/leads/marker?i=made-up-marker",
        "/leads?i=%22%7d%0a%7b%22marker%22:%22",
        "/book/made-up-marker/marker",
        "/calendarmeeting/slots?i=made-up-marker&keyName=marker",
    ] {
        let asked = world.get(uri).header("user-agent", "marker");
        asked
            .header("x-request-id", "marker")
            .header("apitoken", "fk_marker")
            .send()
            .await;
        let line = written.only();
        metrics(&line);
        assert_eq!((&line["instance"], &line["credential"]), (&json!(""), &json!("")));
        assert!(!line.to_string().contains("marker"), "{line}");
    }
    // Nor is an existing instance, unless the request is authorized.
    world.get("/leads?i=acme").send().await;
    assert_eq!(written.only()["instance"], "");
    let strange = format!("/leads?i=other&apitoken={}", wallet.key);
    world.get(&strange).send().await;
    assert_eq!(written.only()["instance"], "");
}

/// All lines of a request contain its id, and that of its invocation.
#[tokio::test]
async fn lines_contain_request_and_invocation_ids() {
    let _sdk = over_sdk();
    // The SDK logs a failure without a connection as an error of its own.
    let world = World::own().await;
    settle(&world.operator(ACME)).await;
    let wallet = world.wallet(7).await;
    let world = world.with_faults(Arc::new(|_| Some(Fault::FailedBefore)));
    for level in [LevelFilter::INFO, LevelFilter::ERROR] {
        let written = Written::down_to(level);
        let invocation =
            tracing::info_span!("Lambda runtime invoke", requestId = "8f5e-1", xrayTraceId = "1-2");
        let asked = world.get("/leads?i=acme").with(&wallet).send();
        let answer = asked.instrument(invocation).await;
        assert_eq!(answer.status, 500);
        let lines = written.take();
        let levels: Vec<_> = lines.iter().map(|line| line["level"].clone()).collect();
        let all = ["ERROR", "INFO"].map(|level| json!(level));
        assert_eq!(levels, all[..if level == LevelFilter::INFO { 2 } else { 1 }]);
        for line in lines {
            assert_eq!(
                (
                    &line["request_id"],
                    &line["lambda_request_id"],
                    &line["timestamp"]
                ),
                (&json!(id(&answer)), &json!("8f5e-1"), &json!(NOW))
            );
            assert_eq!(line["target"] == "request", line.get("_aws").is_some(), "{line}");
        }
    }
}

/// Lines of the SDK and others below INFO, which may contain personal data, are not written at any level.
#[tokio::test]
async fn lines_below_info_are_not_written() {
    let written = Written::down_to(LevelFilter::TRACE);
    tracing::info!("told");
    tracing::debug!("not told");
    assert_eq!(written.only()["message"], "told");
}

/// The fields of an event do not replace the members that every line has.
#[tokio::test]
async fn fields_of_events_replace_no_other_member() {
    let routes = Router::new().route("/log", get(log_reserved_names));
    let world = World::new().await.with_group(RouteGroup {
        routes,
        shape: ErrorFormat::Error,
    });
    let written = info();
    let invocation = tracing::info_span!("Lambda runtime invoke", requestId = "8f5e-1");
    let asked = world.get("/log").header("traceparent", TRACEPARENT).send();
    asked.instrument(invocation).await;
    let lines = written.take();
    assert_eq!((lines.len(), &lines[0]["message"]), (2, &json!("told")));
    assert!(!lines[0].to_string().contains("replaced"), "{}", lines[0]);
}

async fn log_reserved_names() -> &'static str {
    tracing::info!(
        timestamp = "replaced",
        level = "replaced",
        function = "replaced",
        version = "replaced",
        request_id = "replaced",
        lambda_request_id = "replaced",
        trace_id = "replaced",
        "told"
    );
    "{}"
}

/// Only with literals of the program's text as message.
#[tokio::test]
async fn panics_are_logged_without_formatted_text() {
    let routes = Router::new().route("/boom/{what}", get(boom));
    let world = World::new().await.with_group(RouteGroup {
        routes,
        shape: ErrorFormat::Error,
    });
    let written = info();
    let before = panic::take_hook();
    telemetry::report_panics();
    let mut told = Vec::new();
    for uri in ["/boom/plain", "/boom/maria"] {
        let answer = world.get(uri).send().await;
        told.push((answer, written.take()));
    }
    panic::set_hook(before);
    for ((answer, lines), reason) in told.iter().zip(["a plain cause", "withheld"]) {
        let [panicked, request] = &lines[..] else {
            panic!("{lines:?}")
        };
        assert_eq!(
            (&panicked["level"], &panicked["message"], &panicked["reason"]),
            (&json!("ERROR"), &json!("panic"), &json!(reason))
        );
        let place = panicked["place"].as_str().expect("a place");
        assert!(place.contains("function.rs:"), "{place}");
        assert_eq!(panicked["request_id"], id(answer));
        assert_eq!(
            (&request["status"], &request["route"]),
            (&json!(500), &json!("GET /boom/{what}"))
        );
        // The alarm of gradual releases counts it.
        let label = vec![("release".to_owned(), "none".to_owned())];
        assert!(metrics(request).contains(&(label, "faults".to_owned(), "Count".to_owned(), 1.0)));
    }
}

#[expect(clippy::panic, reason = "it is what is tested")]
async fn boom(what: axum::extract::Path<String>) -> &'static str {
    match what.as_str() {
        "plain" => panic!("a plain cause"),
        other => panic!("cannot read {other}"),
    }
}
