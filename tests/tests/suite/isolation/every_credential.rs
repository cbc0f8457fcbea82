//! Every route of the template × every kind of credential that is not good: none, malformed, unknown, expired, revoked, of
//! another instance, of another user. A route that the template gets is in it at once.

use serde_json::{Value, json};
use shared::credential::Kind;
use tests::template::routes;
use tests::{Wallet, World};

use super::guarded::{Guarded, PUBLIC, Place, guarded};
use super::public::good;
use super::{OTHER, expired, unknown, world};

const KINDS: [&str; 7] = [
    "none",
    "malformed",
    "unknown",
    "expired",
    "revoked",
    "another instance's",
    "another user's",
];

/// Somebody's credentials, and one of each kind in place of them: a key and a token, empty where there is none.
struct Credentials {
    own: Wallet,
    others: [(String, String); 7],
}

async fn credentials(world: &World) -> Credentials {
    let (own, colleague) = (world.wallet(7).await, world.wallet(8).await);
    let (foreign, expired, revoked) = (
        world.wallet_of(OTHER, 7).await,
        expired(world).await,
        world.wallet(7).await,
    );
    let operator = world.operator("acme");
    for (kind, id) in [(Kind::Key, &revoked.key_id), (Kind::Token, &revoked.token_id)] {
        operator.revoke(kind, id).await.expect("it is revoked");
    }
    let both = |wallet: Wallet| (wallet.key, wallet.token);
    let cut = |secret: &str| secret[..secret.len() - 1].to_owned();
    Credentials {
        others: [
            (String::new(), String::new()),
            (cut(&own.key), cut(&own.token)),
            (unknown(Kind::Key), unknown(Kind::Token)),
            both(expired),
            both(revoked),
            both(foreign),
            (own.key.clone(), colleague.token),
        ],
        own,
    }
}

/// Where only a key is taken, somebody's token beside it is a header that nobody knows (C-2).
fn is_ignored(route: &Guarded, kind: &str, placement: &str) -> bool {
    kind == "another user's" && placement == "strict" && route.place != Place::Headers
}

/// C-2, under both settings of where credentials may stand.
#[tokio::test]
async fn routes_with_credentials() {
    for placement in ["strict", "anywhere"] {
        let world = world().await;
        let credentials = credentials(&world).await;
        let set = world
            .operator("acme")
            .set_setting("credential_placement", &json!(placement))
            .await;
        set.expect("a setting");
        let mut met = 0;
        for route in guarded() {
            for (kind, (key, token)) in KINDS.iter().zip(&credentials.others) {
                let answer = route.with(&world, "i=acme", key, token);
                let answer = if route.place == Place::Query && !token.is_empty() {
                    answer.header("authorization", &format!("Bearer {token}"))
                } else {
                    answer
                };
                let answer = answer.send().await;
                met += 1;
                if is_ignored(&route, kind, placement) {
                    assert_eq!(answer.status, 200, "{route:?}: {kind}, {placement}");
                    continue;
                }
                assert_eq!(
                    (answer.status.as_u16(), &answer.body),
                    (401, &route.says("Unauthorized")),
                    "{route:?}: {kind}, {placement}"
                );
            }
        }
        let ours = routes().into_iter().filter(|route| route.method != "ANY").count();
        assert_eq!(met, (ours - PUBLIC.len()) * KINDS.len());
    }
}

/// A public route answers as without credentials, whatever is presented.
#[tokio::test]
async fn public_routes() {
    let mut answers: Vec<Vec<Value>> = Vec::new();
    for (nth, kind) in KINDS.iter().enumerate() {
        let world = world().await;
        let (key, token) = credentials(&world).await.others[nth].clone();
        let mut answered = Vec::new();
        for (method, path) in PUBLIC {
            let (uri, body, status) = good(method, path);
            let mut call = world.call(method, &format!("{uri}&apitoken={key}"));
            if !key.is_empty() {
                let bearer = format!("Bearer {token}");
                call = call.header("apitoken", &key).header("authorization", &bearer);
            }
            if !body.is_null() {
                call = call.json(&body);
            }
            let mut answer = call.send().await;
            assert_eq!(answer.status, status, "{method} {path}: {kind}");
            if let Some(data) = answer.body.get_mut("data").and_then(Value::as_object_mut) {
                // Each world has a secret of its own.
                data.shift_remove("rescheduleKey");
            }
            answered.push(answer.body);
        }
        answers.push(answered);
    }
    for (kind, answered) in KINDS.iter().zip(&answers) {
        assert_eq!(answered, &answers[0], "{kind}");
    }
}

/// The one credential of a public route: the secret of the webhook, where the instance has one (C-75).
#[tokio::test]
async fn the_secret_of_the_webhook() {
    let world = world().await;
    let credentials = credentials(&world).await;
    for (instance, secret) in [("acme", "o antigo"), (OTHER, "o do outro"), ("acme", "o atual")] {
        let operator = world.operator(instance);
        let set = operator.set_setting("voip_webhook_secret", &json!(secret)).await;
        set.expect("a setting");
    }
    let (_, body, _) = good("POST", "/voip/webhook");
    let unauthorized = json!({ "msg": "unauthorized" });
    let bad = ["", "o atua", "ninguém", "o antigo", "o do outro", "O ATUAL"];
    for secret in bad
        .into_iter()
        .chain([credentials.own.key.as_str(), &credentials.own.token])
    {
        let call = world.webhook(&body);
        let call = if secret.is_empty() {
            call
        } else {
            call.header("x-voip-signature", secret)
        };
        call.send().await.is(401, &unauthorized);
    }
    assert!(world.calls().await.is_empty());
    let good = world.webhook(&body).header("x-voip-signature", "o atual");
    good.send().await.is(201, &json!({ "msg": "created", "id": 1 }));
}
