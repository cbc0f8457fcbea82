//! Every route of the template × every kind of invalid credential: none, malformed, unknown, expired,
//! revoked, of another instance, of another user. New routes are included automatically.

use serde_json::{Value, json};
use shared::credential::CredentialKind;
use tests::{Wallet, World};

use super::{OTHER, expired, unknown, world};
use tests::catalogue::{Place, catalogue, protected, public};

/// Somebody's credentials, and one of each kind in place of them: a key and a token, empty where there is none.
struct Credentials {
    own: Wallet,
    /// The first [`COMMON`] are tried under both placements, and on public routes.
    others: Vec<(&'static str, (String, String))>,
}

const COMMON: usize = 7;

async fn credentials(world: &World) -> Credentials {
    let (own, colleague) = (world.wallet(7).await, world.wallet(8).await);
    let (foreign, expired, inactive) = (
        world.wallet_of(OTHER, 7).await,
        expired(world).await,
        world.wallet(10).await,
    );
    let (revoked, half_revoked) = (world.wallet(7).await, world.wallet(7).await);
    let operator = world.operator("acme");
    for (kind, id) in [
        (CredentialKind::Key, &revoked.key_id),
        (CredentialKind::Token, &revoked.token_id),
        (CredentialKind::Key, &half_revoked.key_id),
    ] {
        operator.revoke(kind, id).await.expect("it is revoked");
    }
    let mut diego = tests::people::users().remove(3);
    diego.active = false;
    tests::people::add_users(&operator, &[diego]).await;
    let unknown = Wallet {
        key: unknown(CredentialKind::Key),
        token: unknown(CredentialKind::Token),
        ..own.clone()
    };
    let mixed = |key: &Wallet, token: &Wallet| (key.key.clone(), token.token.clone());
    let both = |wallet: &Wallet| mixed(wallet, wallet);
    let cut = |secret: &str| secret[..secret.len() - 1].to_owned();
    let mut typo = own.key.clone();
    typo.replace_range(10..11, if typo[10..11] == *"x" { "y" } else { "x" });
    Credentials {
        others: vec![
            ("none", (String::new(), String::new())),
            ("malformed", (cut(&own.key), cut(&own.token))),
            ("unknown", both(&unknown)),
            ("expired", both(&expired)),
            ("revoked", both(&revoked)),
            ("another instance's", both(&foreign)),
            ("another user's token", mixed(&own, &colleague)),
            ("an unknown key", mixed(&unknown, &own)),
            ("an unknown token", mixed(&own, &unknown)),
            ("a typing error", (typo, own.token.clone())),
            ("another instance's key", mixed(&foreign, &own)),
            ("another instance's token", mixed(&own, &foreign)),
            ("a revoked key", both(&half_revoked)),
            ("an inactive user's", both(&inactive)),
            ("swapped", (own.token.clone(), own.key.clone())),
            ("a token for a key", (own.token.clone(), own.token.clone())),
            ("a hash", (own.key_id.clone(), own.token_id.clone())),
        ],
        own,
    }
}

/// C-2, under both settings of where credentials may stand.
#[tokio::test]
async fn protected_routes_reject_every_invalid_credential() {
    for placement in ["strict", "anywhere"] {
        let world = world().await;
        let Credentials { own, others } = credentials(&world).await;
        let set = world
            .operator("acme")
            .set_setting("credential_placement", &json!(placement))
            .await;
        set.expect("a setting");
        let strict = placement == "strict";
        let tried = &others[..if strict { others.len() } else { COMMON }];
        let mut met = 0;
        for route in protected() {
            for (kind, (key, token)) in tried {
                met += 1;
                // Where only a key is taken, a token beside it is a header that nobody knows: the request is carried out, once.
                let is_ignored = strict && route.place != Place::Headers && *key == own.key;
                if is_ignored && *kind != "another user's token" {
                    continue;
                }
                let answer = route.with(&world, "i=acme", key, token);
                let answer = if route.place == Place::Query && !token.is_empty() {
                    answer.header("authorization", &format!("Bearer {token}"))
                } else {
                    answer
                };
                let answer = answer.send().await;
                if is_ignored {
                    assert_eq!(answer.status, 200, "{route:?}: {kind}, {placement}");
                    continue;
                }
                let swapped = ["none", "swapped"].contains(kind);
                let refused = route.unauthorized(swapped || *kind == "a token for a key", swapped);
                assert_eq!(
                    (answer.status.as_u16(), &answer.body),
                    (401, &refused),
                    "{route:?}: {kind}, {placement}"
                );
            }
            // The good ones delete what is deleted above.
            if !strict {
                let answer = route.with(&world, "i=acme", &own.key, &own.token).send().await;
                assert_eq!(answer.status, 200, "{route:?}: the good ones");
            }
        }
        assert_eq!(met, (catalogue().len() - public().len()) * tried.len());
    }
}

/// Their response does not depend on credentials.
#[tokio::test]
async fn public_routes_ignore_credentials() {
    let mut answers: Vec<Vec<Value>> = Vec::new();
    for nth in 0..COMMON {
        let world = world().await;
        let (kind, (key, token)) = credentials(&world).await.others[nth].clone();
        let mut answered = Vec::new();
        for route in public() {
            // Also repeated and of another scheme.
            let repeated = format!("apitoken={key}&apitoken=b");
            let mut call = route.call(&world, &["i=acme", &repeated]);
            if !key.is_empty() {
                let scheme = ["Bearer", "Basic"][nth % 2];
                let bearer = format!("{scheme} {token}");
                call = call.header("apitoken", &key).header("authorization", &bearer);
            }
            let mut answer = call.send().await;
            assert!(answer.status.is_success(), "{route:?}: {kind}");
            if let Some(data) = answer.body.get_mut("data").and_then(Value::as_object_mut) {
                // Each world has its own secret.
                data.shift_remove("rescheduleKey");
            }
            answered.push(json!([answer.body, answer.cost.calls.len()]));
        }
        answers.push(answered);
    }
    for (nth, answered) in answers.iter().enumerate() {
        assert_eq!(answered, &answers[0], "{nth}");
    }
}

/// The only credential of a public route, if the instance has set one (C-75).
#[tokio::test]
async fn the_webhook_requires_its_secret() {
    let world = world().await;
    let credentials = credentials(&world).await;
    for (instance, secret) in [("acme", "o antigo"), (OTHER, "o do outro"), ("acme", "o atual")] {
        let operator = world.operator(instance);
        let set = operator.set_setting("voip_webhook_secret", &json!(secret)).await;
        set.expect("a setting");
    }
    let webhook = public().into_iter().find(|route| route.route == "/voip/webhook");
    let body = webhook.expect("a row").body;
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
