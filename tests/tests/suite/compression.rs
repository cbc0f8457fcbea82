//! gzip of responses above 4 KB (C-103).

use std::collections::BTreeSet;

use axum::Router;
use axum::extract::Path;
use axum::routing::get;
use http::{HeaderMap, header};
use shared::http::{ErrorFormat, RouteGroup};
use tests::World;
use tests::sales::{add_opportunities, plain_opportunity};
use tests::world::{Raw, Request};

use crate::isolation::world;
use tests::catalogue::catalogue;

/// Valid requests to every route, and to some with large responses.
fn requests<'w>(world: &'w World, key: &str, token: &str) -> Vec<(String, Request<'w>)> {
    let requests = catalogue().into_iter();
    let requests = requests.map(|route| (route.name(), route.with(world, "i=acme", key, token)));
    let mut requests: Vec<_> = requests.collect();
    let all_fields = world.get("/leads?i=acme&allFields=1").header("apitoken", key);
    let all_fields = all_fields.header("authorization", &format!("Bearer {token}"));
    requests.insert(0, ("all fields".to_owned(), all_fields));
    requests
}

/// The responses of a new world.
async fn answers(accepted: &str) -> Vec<(String, Raw)> {
    let world = world().await;
    let more = (2..6).map(|id| plain_opportunity(id, 7, 0)).collect();
    add_opportunities(&world.operator("acme"), more).await;
    let wallet = world.wallet(7).await;
    let mut answers = Vec::new();
    for (name, call) in requests(&world, &wallet.key, &wallet.token) {
        let answer = call.header("accept-encoding", accepted).send_raw().await;
        assert!(answer.status.is_success(), "{name}: {answer:?}");
        answers.push((name, answer));
    }
    answers
}

fn text<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    headers.get(name).map(|value| value.to_str().expect("text"))
}

/// Compressed responses have the bytes of plain ones, and say that they depend on the header.
#[tokio::test]
async fn every_route_compresses_large_responses() {
    let mut compressed = BTreeSet::new();
    let (packed, plain) = tokio::join!(answers("br, gzip;q=0.5"), answers("gzip;q=0"));
    assert_eq!(packed.len(), catalogue().len() + 1);
    for ((name, packed), (_, plain)) in packed.into_iter().zip(plain) {
        // Its key differs.
        if name != "POST /calendarmeeting" {
            assert_eq!(packed.text, plain.text, "{name}");
        }
        let is_large = plain.text.len() > 4096;
        assert_eq!(text(&plain.headers, "content-encoding"), None, "{name}");
        assert_eq!(
            text(&packed.headers, "content-encoding"),
            is_large.then_some("gzip"),
            "{name}"
        );
        for answer in [&packed, &plain] {
            let expected = is_large.then_some("accept-encoding");
            assert_eq!(text(&answer.headers, "vary"), expected, "{name}");
        }
        compressed.extend(is_large.then_some(name));
    }
    for name in [
        "all fields",
        "GET /book/{instance}/{keyName}",
        "POST /crm/opportunities/{id}",
    ] {
        assert!(compressed.contains(name), "{name}: {compressed:?}");
    }
}

#[tokio::test]
async fn small_empty_and_unaccepted_responses_stay_plain() {
    let bytes = async |Path(length): Path<usize>| format!("\"{}\"", "x".repeat(length - 2));
    let routes = Router::new().route("/bytes/{length}", get(bytes));
    let shape = ErrorFormat::Error;
    let world = World::empty().await.with_group(RouteGroup { routes, shape });
    for (length, accepted, is_compressed) in [
        (4096, "gzip", false),
        (4097, "gzip", true),
        (4097, "*", true),
        (4097, "gzip;q=0, *", false),
        (4097, "br, deflate, identity", false),
        (4097, "", false),
    ] {
        let call = world.get(&format!("/bytes/{length}"));
        let answer = call.header("accept-encoding", accepted).send_raw().await;
        assert_eq!(answer.text.len(), length);
        assert_eq!(
            answer.headers.contains_key(header::CONTENT_ENCODING),
            is_compressed,
            "{length} {accepted}"
        );
    }
    for (method, path, status) in [("HEAD", "/bytes/9000", 200), ("OPTIONS", "/bytes/9000", 204)] {
        let call = world.call(method, path).header("accept-encoding", "gzip");
        let answer = call.send_raw().await;
        assert_eq!((answer.status.as_u16(), answer.text.len()), (status, 0));
        assert!(
            status == 200 || !answer.headers.contains_key(header::VARY),
            "{answer:?}"
        );
    }
}
