//! Cost of checking the caller, on endpoint 2; the same for all endpoints.

use serde_json::json;
use shared::credential::CredentialKind;

use crate::bench::desk::Desk;
use crate::bench::row::Row;
use crate::bench::target::Line;
use crate::world::World;

const URI: &str = "/leads/1001?i=acme";

pub(super) async fn measure() -> Vec<Row> {
    let desk = Desk::open().await;
    let wallet = desk.wallet(7).await;
    let refused = |trips, what| Line::within(trips, "any", what);
    let malformed = desk.get(URI).header("apitoken", "fk_typo");
    desk.measure(refused(0, "malformed credential"), 401, malformed)
        .await;
    let elsewhere = World::new().await.wallet(7).await;
    let unknown = desk.get(URI).with(&elsewhere);
    desk.measure(refused(1, "unknown credentials"), 401, unknown)
        .await;
    let no_token = desk.get(URI).header("apitoken", &wallet.key);
    desk.measure(refused(1, "one credential of two"), 401, no_token)
        .await;
    let other = desk.get("/leads/1001?i=nobody").with(&wallet);
    desk.measure(refused(1, "credentials of another instance"), 401, other)
        .await;
    let first = Line::within(2, "any", "the first request of a process").shows("lead");
    desk.measure(first, 200, desk.get(URI).with(&desk.new_wallet(7).await))
        .await;
    let revoked = desk.wallet(7).await;
    let operator = desk.operator();
    for (kind, id) in [
        (CredentialKind::Key, &revoked.key_id),
        (CredentialKind::Token, &revoked.token_id),
    ] {
        operator.revoke(kind, id).await.expect("it is revoked");
    }
    let revoked = desk.get(URI).with(&revoked);
    desk.measure(refused(1, "revoked credentials"), 401, revoked)
        .await;
    // A process reserves a twentieth of a limit in one write and then counts in memory.
    desk.set("requests_per_minute", &json!(40)).await;
    for (trips, what) in [
        (3, "under a limit, the first of a block"),
        (1, "under a limit, the second of a block"),
    ] {
        let line = Line::within(trips, "any", what).shows("lead");
        desk.measure(line, 200, desk.get(URI).with(&wallet)).await;
    }
    desk.set("requests_per_minute", &json!(1)).await;
    let line = Line::within(2, "any", "over a limit");
    desk.measure(line, 429, desk.get(URI).with(&wallet)).await;
    desk.close()
}
