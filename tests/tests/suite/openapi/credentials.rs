//! Declared credentials of operations equal those that the service accepts (C-2).

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tests::openapi::{INTERFACE, Operation, members};
use tests::{ACME, Wallet, World};

/// A request to an operation with these credentials and only required parameters.
async fn status(world: &World, operation: Operation<'_>, wallet: &Wallet, shown: &[&str]) -> u16 {
    let (mut path, mut query) = (operation.path.to_owned(), vec![format!("i={ACME}")]);
    for parameter in INTERFACE.parameters(operation) {
        let name = parameter["name"].as_str().expect("a name");
        let example = &parameter["example"];
        let example = example
            .as_str()
            .map_or_else(|| example.to_string(), str::to_owned);
        match parameter["in"].as_str() {
            Some("path") => path = path.replace(&format!("{{{name}}}"), &example),
            Some("query") if parameter["required"] == true && name != "i" => {
                query.push(format!("{name}={example}"));
            }
            _ => {}
        }
    }
    if shown.contains(&"apiKeyQuery") {
        query.push(format!("apitoken={}", wallet.key));
    }
    let mut call = world.call(operation.method, &format!("{path}?{}", query.join("&")));
    for name in shown {
        call = match *name {
            "apiKeyHeader" => call.header("apitoken", &wallet.key),
            "accessToken" => call.header("authorization", &format!("Bearer {}", wallet.token)),
            _ => call,
        };
    }
    call.send().await.status.as_u16()
}

/// Whether the credentials satisfy one of the alternatives.
fn suffices(security: &Value, shown: &[&str]) -> bool {
    let alternatives = security.as_array().expect("alternatives");
    let met = |needed: &Value| members(needed).all(|(name, _)| shown.contains(&name));
    alternatives.is_empty() || alternatives.iter().any(met)
}

#[tokio::test]
async fn the_service_accepts_the_declared_credentials() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let all = ["apiKeyHeader", "apiKeyQuery", "accessToken"];
    for operation in INTERFACE.operations() {
        for mask in 0..8_usize {
            let shown: Vec<_> = (0..3)
                .filter(|bit| mask & (1 << bit) != 0)
                .map(|bit| all[bit])
                .collect();
            let status = status(&world, operation, &wallet, &shown).await;
            let expected = suffices(&operation.value["security"], &shown);
            assert_eq!(
                status != 401,
                expected,
                "{} {} with {shown:?}: {status}",
                operation.method,
                operation.path
            );
        }
    }
}

/// C-75: the secret may be in the header or in the query, and an instance may have none.
#[tokio::test]
async fn the_webhook_accepts_the_declared_credentials() {
    let world = World::new().await;
    let operator = world.operator(ACME);
    tests::people::set(&operator, "voip_webhook_secret", &json!("s3cret")).await;
    let call = |uri: &str| world.call("POST", uri).send();
    let answers = [
        call("/voip/webhook?i=acme").await.status.as_u16(),
        call("/voip/webhook?i=acme&secret=s3cret").await.status.as_u16(),
        world
            .call("POST", "/voip/webhook?i=acme")
            .header("x-voip-signature", "s3cret")
            .send()
            .await
            .status
            .as_u16(),
    ];
    assert_eq!(answers, [401, 400, 400]);
    let operation = INTERFACE
        .operations()
        .find(|operation| operation.path == "/voip/webhook");
    let security = &operation.expect("the webhook").value["security"];
    let declared: Vec<Vec<_>> = security
        .as_array()
        .expect("alternatives")
        .iter()
        .map(|needed| members(needed).map(|(name, _)| name).collect())
        .collect();
    assert_eq!(
        declared,
        [vec![], vec!["webhookSecretHeader"], vec!["webhookSecretQuery"]]
    );
}

#[test]
fn every_scheme_is_used() {
    let operations = INTERFACE.operations();
    let used: BTreeSet<_> = operations
        .flat_map(|operation| operation.value["security"].as_array().expect("alternatives"))
        .flat_map(|needed| members(needed).map(|(name, _)| name))
        .collect();
    let schemes = &INTERFACE.document()["components"]["securitySchemes"];
    let declared: BTreeSet<_> = members(schemes).map(|(name, _)| name).collect();
    assert_eq!(used, declared);
}
