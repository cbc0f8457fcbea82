//! Two instances with equal tickets and files are isolated.

use serde_json::json;
use tests::tickets::{add_files, add_tickets, file, shown, shown_file, ticket};

use super::{OTHER, world};

#[tokio::test]
async fn equal_tickets_in_two_instances() {
    let world = world().await;
    let operator = world.operator(OTHER);
    add_tickets(&operator, [ticket(&json!({ "name": "Outra" }))]).await;
    add_files(&operator, [file(&json!({ "ext": "mov" }))]).await;
    for (instance, name, ext) in [("acme", "Atendimento", "mp4"), (OTHER, "Outra", "mov")] {
        let key = world.wallet_of(instance, 14).await.key;
        let file = json!([shown_file(&json!({ "ext": ext }))]);
        for (path, body) in [
            ("lead/1001", json!([shown(&json!({ "name": name }))])),
            ("list_file_attendance/501", file.clone()),
            ("list_file_lead/1001", file.clone()),
        ] {
            let call = world.get(&format!("/sac360/{path}?i={instance}"));
            call.header("apitoken", &key).send().await.is(200, &body);
        }
    }
}
