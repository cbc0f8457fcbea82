//! Placement of credentials (C-2).

use serde_json::json;
use shared::credential::CredentialKind;

use super::world;
use tests::catalogue::{Place, protected};

/// Parameters and headers of a request with misplaced credentials, whether the table is read, and which places the 401 names.
type Misplaced<'a> = (Vec<&'a str>, Vec<(&'a str, &'a str)>, bool, &'a str);

/// C-2: misplaced credentials are ignored. C-3: malformed ones cost no read. C-103: the 401 states where they belong.
#[tokio::test]
async fn misplaced_credentials_are_ignored() {
    let world = world().await;
    let own = world.wallet(7).await;
    let (key, bearer) = (own.key.as_str(), format!("Bearer {}", own.token));
    let (bearer, in_query) = (bearer.as_str(), format!("apitoken={key}"));
    let key_as_bearer = format!("Bearer {key}");
    let neither: [Misplaced<'_>; 3] = [
        (vec![], vec![("authorization", bearer)], false, "key"),
        (
            vec![],
            vec![
                ("cookie", "apitoken=x"),
                ("x-apitoken", key),
                ("authorization", bearer),
            ],
            false,
            "key",
        ),
        (
            vec!["apitoken=garbage"],
            vec![("apitoken", key), ("authorization", bearer)],
            false,
            "",
        ),
    ];
    let not_in_headers: [Misplaced<'_>; 7] = [
        (vec![&in_query], vec![], true, "key token"),
        (vec![&in_query], vec![("authorization", bearer)], true, "key"),
        (vec![], vec![("apitoken", key)], true, "token"),
        (
            vec![],
            vec![("apitoken", "garbage"), ("authorization", bearer)],
            false,
            "",
        ),
        (
            vec![],
            vec![("apitoken", key), ("authorization", "Bearer garbage")],
            false,
            "",
        ),
        (
            vec![],
            vec![("apitoken", key), ("authorization", "Basic Zm9v")],
            true,
            "token",
        ),
        (
            vec![],
            vec![("apitoken", key), ("apitoken", key), ("authorization", bearer)],
            false,
            "",
        ),
    ];
    let not_in_query: [Misplaced<'_>; 4] = [
        (
            vec![],
            vec![("apitoken", key), ("authorization", bearer)],
            true,
            "key",
        ),
        (vec![], vec![("authorization", &key_as_bearer)], true, "key"),
        (vec!["apitoken=garbage"], vec![], false, ""),
        (vec![&in_query, &in_query], vec![], false, ""),
    ];
    let not_in_header: [Misplaced<'_>; 6] = [
        (vec![&in_query], vec![], true, "key"),
        (vec![&in_query], vec![("authorization", bearer)], true, "key"),
        (vec![], vec![("authorization", &key_as_bearer)], true, "key"),
        (vec![], vec![("apitoken", &own.token)], false, "key"),
        (vec![&in_query], vec![("apitoken", "garbage")], false, ""),
        (vec![], vec![("apitoken", key), ("apitoken", key)], false, ""),
    ];
    let others_key = format!("apitoken={}", world.wallet(8).await.key);
    let in_neither: [Misplaced<'_>; 7] = [
        (vec![], vec![("authorization", &key_as_bearer)], true, "key"),
        (vec![], vec![("apitoken", &own.token)], false, "key"),
        (vec!["apitoken=garbage"], vec![], false, ""),
        (vec![&in_query], vec![("apitoken", "garbage")], false, ""),
        (vec![&others_key], vec![("apitoken", key)], true, ""),
        (vec![], vec![("apitoken", key), ("apitoken", key)], false, ""),
        (vec![&in_query, &in_query], vec![("apitoken", key)], false, ""),
    ];
    for route in protected() {
        // A malformed key in the query is ignored where the key is in the header.
        let (own, common): (&[Misplaced<'_>], _) = match route.place {
            Place::Headers => (&not_in_headers, &neither[..2]),
            Place::Header => (&not_in_header, &neither[..2]),
            Place::Query => (&not_in_query, &neither[..]),
            Place::Either | Place::None => (&in_neither, &neither[..]),
        };
        for (params, headers, reads, lacks) in common.iter().chain(own) {
            let mut call = route.call(&world, &[&["i=acme"], params.as_slice()].concat());
            for (name, value) in headers {
                call = call.header(name, value);
            }
            let answer = call.send().await;
            let refused = route.unauthorized(lacks.contains("key"), lacks.contains("token"));
            let count = |name: &str| headers.iter().filter(|(header, _)| *header == name).count();
            let is_repeated = count("apitoken") > 1 || count("authorization") > 1 || params.len() > 1;
            if is_repeated {
                assert_eq!(answer.status, 401);
            } else {
                answer.is(401, &refused);
            }
            let asked = answer
                .cost
                .calls
                .iter()
                .any(|call| call.operation == "BatchGetItem");
            assert_eq!(asked, *reads, "{route:?} {params:?} {headers:?}");
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
        // Blank counts as absent, and other schemes are ignored.
        ("&apitoken=", vec![("apitoken", key.to_owned())], true),
        (&query, vec![("apitoken", " ".to_owned())], true),
        (&query, vec![("authorization", "Bearer ".to_owned())], true),
        (&query, vec![("authorization", "Basic Zm9v".to_owned())], true),
        ("", vec![("authorization", "Basic Zm9v".to_owned())], false),
        ("&apitoken=", vec![], false),
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
        for path in [
            "/leads/1001?i=acme",
            "/leads/1001?i=",
            "/crm?",
            "/pcalendar?i=acme",
            "/pcalendar?",
            "/calendarmeeting/5?",
            "/sac360/lead/1001?i=acme",
        ] {
            let mut call = world.get(&format!("{path}{rest}"));
            for (name, value) in &headers {
                call = call.header(name, value);
            }
            let status = call.send().await.status.as_u16();
            // Without `i` and a credential that can be read, nothing names the instance.
            let is_refused = status == 401 || status == 400 && ["/crm?", "/leads/1001?i="].contains(&path);
            assert!(
                if admitted { status == 200 } else { is_refused },
                "{status} {path} {rest:.10} {headers:?}"
            );
        }
    }
}

/// C-2: an access token is checked only where the endpoint requires one.
#[tokio::test]
async fn unrequired_tokens_are_ignored() {
    let world = world().await;
    let (own, colleague) = (world.wallet(7).await, world.wallet(8).await);
    for route in protected() {
        for token in [&colleague.token, "garbage"] {
            let call = match route.place {
                Place::Query => route.call(&world, &["i=acme", &format!("apitoken={}", own.key)]),
                _ => route.call(&world, &["i=acme"]).header("apitoken", &own.key),
            };
            let answer = call
                .header("authorization", &format!("Bearer {token}"))
                .send()
                .await;
            let asked = route.place == Place::Headers;
            assert_eq!(answer.status == 401, asked, "{route:?}: {}", answer.body);
        }
    }
}

/// C-1: an invalid credential has no instance; a malformed one costs no read.
#[tokio::test]
async fn invalid_credentials_without_an_instance_are_rejected() {
    let world = world().await;
    let (own, revoked) = (world.wallet(7).await, world.wallet(7).await);
    let (inactive, expired) = (world.wallet(10).await, super::expired(&world).await);
    let operator = world.operator("acme");
    operator
        .revoke(CredentialKind::Key, &revoked.key_id)
        .await
        .expect("a key is revoked");
    let mut diego = tests::people::users().remove(3);
    diego.active = false;
    tests::people::add_users(&operator, &[diego]).await;
    let unknown = super::unknown(CredentialKind::Key);
    for route in protected().iter().filter(|route| route.place == Place::Either) {
        for i in ["", "i=", "i=%20"] {
            for (key, reads) in [
                ("", false),
                ("garbage", false),
                (&own.token, false),
                (&own.key_id, false),
                (&unknown, true),
                (&revoked.key, true),
                (&expired.key, true),
                (&inactive.key, true),
            ] {
                let answer = route.with(&world, i, key, "").send().await;
                answer.is(
                    401,
                    &route.unauthorized(key.is_empty() || key == own.token, false),
                );
                assert_eq!(!answer.cost.calls.is_empty(), reads, "{route:?} {key:.4}");
            }
            assert_eq!(route.with(&world, i, &own.key, "").send().await.status, 200);
        }
    }
}

/// C-103: where spec.md fixes the body of a 401, a header states where the credential belongs: endpoints 10 and 19. It is the
/// same for every instance, existing or not.
#[tokio::test]
async fn fixed_bodies_have_the_place_in_a_header() {
    let world = world().await;
    world
        .operator("acme")
        .set_setting("voip_webhook_secret", &json!("s3cret"))
        .await
        .expect("a setting");
    let key = world.wallet(7).await.key;
    let places = [
        "apitoken: the API key belongs in the query parameter apitoken",
        "secret: belongs in the header x-voip-signature or the query parameter secret, once",
    ];
    for instance in ["acme", "nobody", "ACME"] {
        for (path, right, body, place) in [
            (
                "/crm/opportunities/3",
                format!("&apitoken={}", super::unknown(CredentialKind::Key)),
                json!({ "error": "Unauthorized" }),
                places[0],
            ),
            (
                "/voip/webhook",
                "&secret=wrong".to_owned(),
                json!({ "msg": "unauthorized" }),
                places[1],
            ),
        ] {
            for (rest, place) in [("", Some(place)), ("&secret=", Some(place)), (&right, None)] {
                let uri = format!("{path}?i={instance}{rest}");
                let answer = world
                    .call("POST", &uri)
                    .header("authorization", &key)
                    .send()
                    .await;
                answer.is(401, &body);
                let told = answer.headers.get("x-error-details");
                assert_eq!(told.map(|told| told.to_str().expect("text")), place, "{uri}");
            }
        }
    }
}
