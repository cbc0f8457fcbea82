//! An export after an erasure can be imported, with nulls (C-24, C-81).

use indicatif::ProgressBar;
use operator::import::{Source, import};
use operator::kinds::Companies;
use serde_json::json;
use tests::world::Answer;
use tests::{ACME, Wallet, World};

use super::{delete_person, erase, exported, is_erased, stage};

async fn meetings(world: &World, wallet: &Wallet) -> Answer {
    let uri = format!(
        "/calendarmeeting/5?from=1900-01-01T00:00:00Z&apitoken={}",
        wallet.key
    );
    world.get(&uri).send().await
}

/// Exported during or after the erasure, into an empty instance: the same records, without errors.
#[tokio::test]
async fn exports_after_an_erasure_can_be_imported() {
    for erased in [false, true] {
        let world = stage().await;
        let wallet = world.wallet(7).await;
        let company = json!({ "id": 1, "companyname": "Obra" });
        let company = serde_json::from_value(company).expect("a company");
        let written = world.operator(ACME).import::<Companies>(&[company], false).await;
        written.expect("the company can be written");
        delete_person(&world, &wallet).await;
        if erased {
            erase(&world).await;
        }
        let text = exported(&world).await;
        let other = World::empty().await;
        let operator = other.operator(ACME);
        operator.create_instance().await.expect("the instance is new");
        let source = Source::spool(text.as_bytes()).expect("a source");
        let report = import(&operator, &source, false, &ProgressBar::hidden()).await;
        let report = report.expect("an import");
        assert!(report.refused.is_empty(), "{:?}", report.refused);
        is_erased(&other).await;
        assert_eq!(exported(&other).await, text);
        let there = other.wallet(7).await;
        assert_eq!(
            meetings(&other, &there).await.body,
            meetings(&world, &wallet).await.body
        );
        if erased {
            assert_eq!(other.calls().await, world.calls().await);
        }
    }
}
