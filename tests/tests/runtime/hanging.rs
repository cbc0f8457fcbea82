//! A table that accepts calls and never responds: a request is answered by the timeouts of the function's own
//! calls, before Lambda's and API Gateway's, and the function continues.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use tests::runtime::{Function, Location, Outcome, Recorded, Stage};
use tests::template::{routes, template};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// docs/reliability.md: no request takes longer.
const MAX_REQUEST: Duration = Duration::from_secs(25);

/// Every call, by its method.
const EVERY_CALL: &str = "POST / ";
/// Writes, by the header `x-amz-target`.
const WRITES: &str = "DynamoDB_20120810.TransactWriteItems";

/// A connection to an engine that can hang.
struct HangingLine {
    address: String,
    hanging: Hanging,
}

/// The text from which a call hangs, if any does.
type Hanging = Arc<Mutex<Option<&'static str>>>;

impl HangingLine {
    async fn to(endpoint: &str) -> Self {
        let engine = endpoint.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let address = format!("http://{}", listener.local_addr().expect("an address"));
        let hanging = Hanging::default();
        let shared = Arc::clone(&hanging);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                tokio::spawn(relay(client, engine.clone(), Arc::clone(&shared)));
            }
        });
        Self { address, hanging }
    }

    /// From the first call with a text on, every call hangs; with `None`, none.
    fn hang(&self, from: Option<&'static str>) {
        *self.hanging.lock().expect("it is never poisoned") = from;
    }
}

/// Whether these bytes begin a call that hangs.
fn hangs(hanging: &Hanging, sent: &[u8]) -> bool {
    let mut from = hanging.lock().expect("it is never poisoned");
    let contains = |text: &str| sent.windows(text.len()).any(|part| part == text.as_bytes());
    let hangs = from.is_some_and(contains);
    if hangs {
        *from = Some(EVERY_CALL);
    }
    hangs
}

/// Passes calls on. After a call that hangs it passes nothing of its connection.
async fn relay(client: TcpStream, engine: String, hanging: Hanging) {
    let engine = TcpStream::connect(engine).await.expect("the engine listens");
    let ((mut asked, mut answered), (mut answers, mut asks)) = (client.into_split(), engine.into_split());
    let back = tokio::spawn(async move { tokio::io::copy(&mut answers, &mut answered).await });
    let (mut bytes, mut hung) = (vec![0; 64 * 1024], false);
    while let Ok(length @ 1..) = asked.read(&mut bytes).await {
        let sent = &bytes[..length];
        hung = hung || hangs(&hanging, sent);
        if !hung && asks.write_all(sent).await.is_err() {
            break;
        }
    }
    back.abort();
}

/// An event, the calls that hang, and the body of the response.
type Case = (&'static str, &'static str, Value);

fn cases() -> Vec<Case> {
    let error = || json!({ "error": "Internal error" });
    let message = || json!({ "msg": "Internal error" });
    let storage = || json!({ "msg": "failed_voip_webhook", "err": "storage" });
    vec![
        ("lead", EVERY_CALL, error()),
        ("leads-delete", WRITES, error()),
        ("opportunity-create", EVERY_CALL, message()),
        ("opportunity-create", WRITES, message()),
        ("slots-list", EVERY_CALL, error()),
        ("meeting-book", WRITES, error()),
        ("call-record", EVERY_CALL, storage()),
        ("call-record", WRITES, storage()),
        ("tickets-list", EVERY_CALL, error()),
        ("report", EVERY_CALL, error()),
        ("users-list", EVERY_CALL, error()),
    ]
}

/// Requires that an event is answered with a 500 while calls hang, and with a success afterwards.
async fn ask_while_hanging(stage: &Stage, (name, hanging, body): Case) {
    let recorded = Recorded::named(name);
    let line = HangingLine::to(&stage.endpoint).await;
    let table = Location {
        endpoint: Some(line.address.clone()),
        ..stage.table()
    };
    let mut process = Function::start(&recorded.function, &table).await;
    let event = stage.event(&recorded);
    let other = stage.event(&Recorded::named("unmatched-path"));
    // Initialization has finished, with a connection.
    assert!(matches!(process.invoke(&other).await, Outcome::Answered(answer) if answer["statusCode"] == 404));

    line.hang(Some(hanging));
    let Ok(Outcome::Answered(answer)) = tokio::time::timeout(MAX_REQUEST, process.invoke(&event)).await
    else {
        panic!(
            "{name}, {hanging}: not answered within {MAX_REQUEST:?}:\n{}",
            process.log()
        );
    };
    let told = (&answer["statusCode"], &answer["body"]);
    assert_eq!(told, (&json!(500), &json!(body.to_string())), "{name}, {hanging}");

    line.hang(None);
    let Outcome::Answered(answer) = process.invoke(&event).await else {
        panic!("{name}, {hanging}: not answered afterwards:\n{}", process.log());
    };
    assert!(
        answer["statusCode"].as_u64() < Some(300),
        "{name}, {hanging}: {answer}"
    );
}

/// Concurrently, on one table.
#[tokio::test]
async fn requests_to_a_hanging_table_return_internal_errors() {
    let limit = template()["Globals"]["Function"]["Timeout"].as_u64();
    assert!(Some(MAX_REQUEST.as_secs()) < limit, "{limit:?}");
    let cases = cases();
    let asked = cases.iter().map(|case| Recorded::named(case.0).function);
    let with_routes = routes().into_iter().map(|route| route.function);
    assert_eq!(
        asked.collect::<BTreeSet<_>>(),
        with_routes.collect(),
        "each function with a route has a case"
    );
    let stage = Stage::new("LeadsFunction").await;
    join_all(cases.into_iter().map(|case| ask_while_hanging(&stage, case))).await;
}
