//! Placement of credentials (C-2).

use serde_json::json;
use shared::credential::CredentialKind;

use super::world;
use tests::catalogue::{Place, protected};

/// Misplaced credentials by placement of the route, `all` for all of them: whether the table is read, which places the 401 names, and
/// parameters and headers, in which KEY, TOKEN and OTHER are credentials.
const MISPLACED: &str = "
all | | key | | authorization: Bearer TOKEN
all | | key | | cookie: apitoken=x; x-apitoken: KEY; authorization: Bearer TOKEN
key | | | apitoken=garbage | apitoken: KEY; authorization: Bearer TOKEN
headers | reads | key token | apitoken=KEY |
headers | reads | key | apitoken=KEY | authorization: Bearer TOKEN
headers | reads | token | | apitoken: KEY
headers | | | | apitoken: garbage; authorization: Bearer TOKEN
headers | | | | apitoken: KEY; authorization: Bearer garbage
headers | reads | token | | apitoken: KEY; authorization: Basic Zm9v
headers | | repeated | | apitoken: KEY; apitoken: KEY; authorization: Bearer TOKEN
query | reads | key | | apitoken: KEY; authorization: Bearer TOKEN
query | reads | key | | authorization: Bearer KEY
query | | | apitoken=garbage |
query | | repeated | apitoken=KEY&apitoken=KEY |
header | reads | key | apitoken=KEY |
header | reads | key | apitoken=KEY | authorization: Bearer TOKEN
header | reads | key | | authorization: Bearer KEY
header | | key | | apitoken: TOKEN
header | | | apitoken=KEY | apitoken: garbage
header | | repeated | | apitoken: KEY; apitoken: KEY
either | reads | key | | authorization: Bearer KEY
either | | key | | apitoken: TOKEN
either | | | apitoken=garbage |
either | | | apitoken=KEY | apitoken: garbage
either | reads | | apitoken=OTHER | apitoken: KEY
either | | repeated | | apitoken: KEY; apitoken: KEY
either | | repeated | apitoken=KEY&apitoken=KEY | apitoken: KEY
";

/// C-2: misplaced credentials are ignored. C-3: malformed ones cost no read. C-103: the 401 states where they belong.
#[tokio::test]
async fn misplaced_credentials_are_ignored() {
    let world = world().await;
    let (own, other) = (world.wallet(7).await, world.wallet(8).await);
    let table = MISPLACED
        .replace("KEY", &own.key)
        .replace("TOKEN", &own.token)
        .replace("OTHER", &other.key);
    for route in protected() {
        let name = format!("{:?}", route.place).to_lowercase();
        // A malformed key in the query is ignored where the key is in the header.
        let is_header = matches!(route.place, Place::Headers | Place::Header);
        for line in table.trim().lines() {
            let cells: Vec<_> = line.split('|').map(str::trim).collect();
            let [places, reads, lacks, params, headers] = cells[..] else {
                panic!("{line}");
            };
            if places != name && places != "all" && (places != "key" || is_header) {
                continue;
            }
            let call = route.call(&world, &["i=acme", params]);
            let headers = headers.split("; ").filter_map(|header| header.split_once(": "));
            let answer = headers
                .fold(call, |call, (name, value)| call.header(name, value))
                .send()
                .await;
            if lacks == "repeated" {
                assert_eq!(answer.status, 401);
            } else {
                answer.is(
                    401,
                    &route.unauthorized(lacks.contains("key"), lacks.contains("token")),
                );
            }
            let asked = answer
                .cost
                .calls
                .iter()
                .any(|call| call.operation == "BatchGetItem");
            assert_eq!(asked, reads == "reads", "{} {line}", route.name());
        }
    }
}

/// C-2: `credential_placement` = `anywhere`.
#[tokio::test]
async fn credentials_anywhere() {
    let world = world().await;
    let (own, colleague) = (world.wallet(7).await, world.wallet(8).await);
    tests::people::set(
        &world.operator("acme"),
        "credential_placement",
        &json!("anywhere"),
    )
    .await;
    // Blank counts as absent, and other schemes are ignored.
    let table = "
admitted | &apitoken=KEY |
admitted | | apitoken: KEY
admitted | | authorization: Bearer KEY
 | | authorization: Bearer TOKEN
admitted | &apitoken= | apitoken: KEY
admitted | &apitoken=KEY | apitoken: BLANK
admitted | &apitoken=KEY | authorization: Bearer BLANK
admitted | &apitoken=KEY | authorization: Basic Zm9v
 | | authorization: Basic Zm9v
 | &apitoken= |
admitted | &apitoken=KEY | authorization: Bearer TOKEN
 | &apitoken=KEY | authorization: Bearer OTHER
 | &apitoken=KEY | authorization: Bearer nonsense
 | &apitoken=KEY | apitoken: COLLEAGUE
";
    for line in table.trim_matches('\n').lines() {
        let cells: Vec<_> = line.split('|').map(str::trim).collect();
        let values = [
            ("KEY", &*own.key),
            ("TOKEN", &own.token),
            ("OTHER", &colleague.token),
            ("COLLEAGUE", &colleague.key),
            ("BLANK", " "),
        ];
        let filled = |text: &str| {
            values
                .iter()
                .fold(text.to_owned(), |text, (name, value)| text.replace(name, value))
        };
        let (admitted, rest, header) = (cells[0] == "admitted", filled(cells[1]), filled(cells[2]));
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
            if let Some((name, value)) = header.split_once(": ") {
                call = call.header(name, value);
            }
            let status = call.send().await.status.as_u16();
            // Without `i` and a credential that can be read, nothing names the instance.
            let is_refused = status == 401 || status == 400 && ["/crm?", "/leads/1001?i="].contains(&path);
            assert!(
                if admitted { status == 200 } else { is_refused },
                "{status} {path} {line}"
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
    tests::people::set(&world.operator("acme"), "voip_webhook_secret", &json!("s3cret")).await;
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
