//! Two instances with equal reports are isolated.

use serde_json::json;
use tests::reports::{add_reports, plotted, report};

use super::{OTHER, world};

#[tokio::test]
async fn equal_reports_in_two_instances() {
    let world = world().await;
    let by_user = json!({ "entity": "opportunities", "groupBy": "funnel", "name": "Outro" });
    add_reports(
        &world.operator(OTHER),
        [report(1, &by_user), report(2, &json!({}))],
    )
    .await;
    for refreshed in [false, true] {
        if refreshed {
            assert_eq!(
                world.store.refresh_reports().await.expect("they are refreshed"),
                3
            );
        }
        for (instance, names, first) in [
            ("acme", &["Relatório 1"][..], "2026-01-01"),
            (OTHER, &["Outro", "Relatório 2"], "Vendas"),
        ] {
            let key = world.wallet_of(instance, 14).await.key;
            let ask = async |path: &str| {
                let uri = format!("/{path}?i={instance}&apitoken={key}&from=2026-01-01&to=2026-01-02");
                world.get(&uri).send().await
            };
            let list = ask("advancedreports").await.body["data"]["reports"].clone();
            let list = list
                .as_array()
                .expect("a list")
                .iter()
                .map(|report| &report["name"]);
            assert_eq!(list.collect::<Vec<_>>(), names);
            assert_eq!(plotted(&ask("reportchart/1").await)[0][0], first);
            let second = if instance == OTHER { 200 } else { 404 };
            assert_eq!(ask("reportchart/2").await.status, second);
        }
    }
}
