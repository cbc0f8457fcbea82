//! A credential reaches its own instance only: every route of the template that takes credentials × every credential
//! that is not good for it.

use serde_json::{Value, json};
use shared::credential::Kind;
use tests::people::{settle, user};
use tests::template::routes;
use tests::world::at;
use tests::{Wallet, World};

const OTHER: &str = "other-shop";

/// The routes that take key and token, as URLs.
fn guarded() -> Vec<(String, String)> {
    let guarded = routes()
        .into_iter()
        .filter(|route| !["/voip/webhook"].contains(&route.path.as_str()));
    guarded
        .map(|route| (route.method, route.path.replace("{id}", "1001")))
        .collect()
}

async fn world() -> World {
    let world = World::new().await;
    settle(&world.operator(OTHER)).await;
    world
}

#[tokio::test]
async fn credentials_that_are_not_good() {
    let world = world().await;
    let (own, colleague) = (world.wallet(7).await, world.wallet(8).await);
    let (foreign, inactive) = (world.wallet_of(OTHER, 7).await, world.wallet(10).await);
    let (revoked, half_revoked, expired) = (
        world.wallet(7).await,
        world.wallet(7).await,
        expired(&world).await,
    );
    let operator = world.operator("acme");
    for id in [&revoked.key_id, &half_revoked.key_id] {
        operator.revoke(Kind::Key, id).await.expect("a key is revoked");
    }
    operator
        .revoke(Kind::Token, &revoked.token_id)
        .await
        .expect("a token is revoked");
    let mut diego = tests::people::users().remove(3);
    diego.active = false;
    tests::people::add_users(&operator, &[diego]).await;
    let unknown = Wallet {
        key: unknown(Kind::Key),
        token: unknown(Kind::Token),
        ..own.clone()
    };
    let mixed = |key: &Wallet, token: &Wallet| (key.key.clone(), token.token.clone());
    let both = |wallet: &Wallet| mixed(wallet, wallet);
    let mut typo = own.key.clone();
    typo.replace_range(10..11, if typo[10..11] == *"x" { "y" } else { "x" });
    let cases = [
        ("none", (String::new(), String::new())),
        ("unknown", both(&unknown)),
        ("an unknown key", mixed(&unknown, &own)),
        ("an unknown token", mixed(&own, &unknown)),
        ("a typing error", (typo, own.token.clone())),
        ("another instance's", both(&foreign)),
        ("another instance's key", mixed(&foreign, &own)),
        ("another instance's token", mixed(&own, &foreign)),
        ("another user's token", mixed(&own, &colleague)),
        ("revoked", both(&revoked)),
        ("a revoked key", both(&half_revoked)),
        ("expired", both(&expired)),
        ("an inactive user's", both(&inactive)),
        ("swapped", (own.token.clone(), own.key.clone())),
        ("a token for a key", (own.token.clone(), own.token.clone())),
        ("a hash", (own.key_id.clone(), own.token_id.clone())),
    ];
    for (method, path) in guarded() {
        for (case, (key, token)) in &cases {
            let mut call = world.call(&method, &format!("{path}?i=acme"));
            if !key.is_empty() {
                call = call
                    .header("apitoken", key)
                    .header("authorization", &format!("Bearer {token}"));
            }
            let answer = call.send().await;
            assert_eq!(
                (answer.status.as_u16(), &answer.body),
                (401, &unauthorized()),
                "{method} {path}: {case}"
            );
        }
        let answer = world
            .call(&method, &format!("{path}?i=acme"))
            .with(&own)
            .send()
            .await;
        assert_eq!(answer.status, 200, "{method} {path}: the good ones");
    }
}

/// C-2: what stands in the wrong place is not there. C-3: what is malformed costs no read.
#[tokio::test]
async fn credentials_in_the_wrong_place() {
    let world = world().await;
    let own = world.wallet(7).await;
    let (key, bearer) = (own.key.as_str(), format!("Bearer {}", own.token));
    let bearer = bearer.as_str();
    for (method, path) in guarded() {
        let in_query = format!("{path}?i=acme&apitoken={key}");
        let plain = format!("{path}?i=acme");
        for (uri, headers, reads) in [
            (&in_query, &[][..], true),
            (&in_query, &[("authorization", bearer)], true),
            (&plain, &[("apitoken", key)], true),
            (&plain, &[("authorization", bearer)], false),
            (
                &plain,
                &[("apitoken", "garbage"), ("authorization", bearer)],
                false,
            ),
            (
                &plain,
                &[("apitoken", key), ("authorization", "Bearer garbage")],
                false,
            ),
            (
                &plain,
                &[("apitoken", key), ("authorization", "Basic Zm9v")],
                false,
            ),
            (
                &plain,
                &[("apitoken", key), ("apitoken", key), ("authorization", bearer)],
                false,
            ),
            (&plain, &[("api-token", key), ("authorization", bearer)], false),
            (
                &plain,
                &[
                    ("cookie", "apitoken=x"),
                    ("x-apitoken", key),
                    ("authorization", bearer),
                ],
                false,
            ),
        ] {
            let mut call = world.call(&method, uri);
            for (name, value) in headers {
                call = call.header(name, value);
            }
            let answer = call.send().await;
            answer.is(401, &unauthorized());
            let credential_reads = answer
                .cost
                .calls
                .iter()
                .filter(|call| call.operation == "BatchGetItem")
                .count();
            assert_eq!(credential_reads > 0, reads, "{method} {path} {headers:?}");
        }
    }
}

/// C-2: `credential_placement` = `anywhere`.
#[tokio::test]
async fn credentials_anywhere() {
    let world = world().await;
    let (own, colleague) = (world.wallet(7).await, world.wallet(8).await);
    world
        .operator("acme")
        .set_setting("credential_placement", &json!("anywhere"))
        .await
        .expect("a setting");
    let (key, token) = (own.key.as_str(), own.token.as_str());
    let query = format!("&apitoken={key}");
    for (rest, headers, admitted) in [
        (query.as_str(), vec![], true),
        ("", vec![("apitoken", key.to_owned())], true),
        ("", vec![("authorization", format!("Bearer {key}"))], true),
        ("", vec![("authorization", format!("Bearer {token}"))], false),
        (&query, vec![("authorization", format!("Bearer {token}"))], true),
        (
            &query,
            vec![("authorization", format!("Bearer {}", colleague.token))],
            false,
        ),
        (
            &query,
            vec![("authorization", "Bearer nonsense".to_owned())],
            false,
        ),
        (&query, vec![("apitoken", colleague.key.clone())], false),
    ] {
        let mut call = world.get(&format!("/leads/1001?i=acme{rest}"));
        for (name, value) in &headers {
            call = call.header(name, value);
        }
        assert_eq!(
            call.send().await.status,
            if admitted { 200 } else { 401 },
            "{rest:.10} {headers:?}"
        );
    }
}

/// C-1: `i` is judged before credentials; an instance that does not exist answers like a credential that is not good.
#[tokio::test]
async fn the_instance() {
    let world = world().await;
    let own = world.wallet(7).await;
    let details = "i: must name the instance, once";
    for (method, path) in guarded() {
        for query in ["", "?i=", "?i=%20", "?i=acme&i=acme", "?i=acme&i=other-shop"] {
            let answer = world.call(&method, &format!("{path}{query}")).send().await;
            answer.is(400, &json!({ "error": "Invalid request", "details": details }));
        }
        for query in [
            "?i=other-shop",
            "?i=nobody",
            "?i=ACME",
            "?i=acme%20",
            "?i=acme%23",
            "?i=%FF",
            "?i=..",
        ] {
            world
                .call(&method, &format!("{path}{query}"))
                .with(&own)
                .send()
                .await
                .is(401, &unauthorized());
        }
    }
}

/// Credentials come before what else is wrong with a request.
#[tokio::test]
async fn a_stranger_learns_nothing_of_the_parameters() {
    let world = world().await;
    for uri in [
        "/leads/abc?i=acme",
        "/leads/1001?i=acme&query={nope}",
        "/leads?i=acme&limit=0",
    ] {
        world.get(uri).send().await.is(401, &unauthorized());
    }
}

/// The same ids exist in both instances; each sees its own.
#[tokio::test]
async fn equal_ids_in_two_instances() {
    let world = world().await;
    let mut maria = tests::people::plain_lead(1001, "Outra", "Maria", None);
    maria.mobile = Some("+55 11 97326-3471".to_owned());
    tests::people::add_leads(&world.operator(OTHER), vec![maria]).await;
    let (acme, other) = (world.wallet(7).await, world.wallet_of(OTHER, 7).await);
    for (instance, wallet, name) in [("acme", &acme, "Maria Silva"), (OTHER, &other, "Outra Maria")] {
        let answer = world
            .get(&format!("/leads/1001?i={instance}"))
            .with(wallet)
            .send()
            .await;
        assert_eq!(answer.body["data"]["lead"]["fullname"], name);
        let found = world.get(&format!(
            "/leads?i={instance}&search=maria&query={{leads{{fullname}}}}"
        ));
        let answer = found.with(wallet).send().await;
        assert_eq!(answer.body["data"]["leads"], json!([{ "fullname": name }]));
    }
    let call = json!({ "event": "call", "data": { "user": 8, "leadPhone": "+55 11 97326-3471", "type": "INCOMING",
        "status": "COMPLETE", "duration": 1, "record": false, "service": "x" } });
    world.clock.set(at("2026-11-22T00:00:00Z"));
    let answer = world
        .call("POST", &format!("/voip/webhook?i={OTHER}"))
        .json(&call)
        .send()
        .await;
    assert_eq!(answer.status, 201);
    assert!(
        world.calls().await.is_empty(),
        "the call of one instance is none of the other's"
    );
    let untouched = world
        .get("/leads/1001?i=acme&query={lead{lastActive}}")
        .with(&acme)
        .send()
        .await;
    assert_eq!(
        untouched.body["data"]["lead"]["lastActive"],
        "2026-03-11T12:00:01.123Z"
    );
}

fn unauthorized() -> Value {
    json!({ "error": "Unauthorized" })
}

fn unknown(kind: Kind) -> String {
    shared::credential::Secret::issue(kind, &shared::ambient::Ambient::system())
        .reveal()
        .to_owned()
}

/// Credentials that were good until a moment ago.
async fn expired(world: &World) -> Wallet {
    let operator = world.operator("acme");
    let now = world.clock.get();
    world.clock.set(at("2026-11-20T12:00:00Z"));
    let key = operator
        .issue(Kind::Key, user(7), None, Some(1))
        .await
        .expect("a key");
    let token = operator
        .issue(Kind::Token, user(7), None, Some(1))
        .await
        .expect("a token");
    world.clock.set(now);
    let text = |issued: &shared::store::operator::Issued| issued.secret.reveal().to_owned();
    Wallet {
        key: text(&key),
        token: text(&token),
        key_id: key.entry.id,
        token_id: token.entry.id,
    }
}
