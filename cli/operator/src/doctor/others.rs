//! Checks that records without derived items are readable.

use super::{Doctor, Result};
use shared::labels::{LossReason, Tag};
use shared::people::{Company, Profile, User};
use shared::store::unscoped::{automations, reports};
use table::item::{self, Item};
use table::{StoreError, key_of};

type DecodeCheck = fn(Item) -> Result<(), StoreError>;

const PROFILE: DecodeCheck = |item| item::decode::<Profile>("profile", item).map(drop);
const TAG: DecodeCheck = |item| item::decode::<Tag>("tag", item).map(drop);
const LOSS_REASON: DecodeCheck = |item| item::decode::<LossReason>("loss reason", item).map(drop);
const COMPANY: DecodeCheck = |item| item::decode::<Company>("company", item).map(drop);
const REPORT: DecodeCheck = |item| reports::definition(&item).map(drop);
const USER: DecodeCheck = |item| item::decode::<User>("user", item).map(drop);
const AUTOMATION: DecodeCheck = |item| automations::decode(&item).map(drop);

impl Doctor<'_> {
    /// Reads all of them. Users are counted with the directory, and automations are not counted.
    pub(super) async fn check_other_records(&mut self) -> Result<()> {
        let keys = self.operator.keys();
        let kinds = [
            (Some("profiles"), keys.profiles(), PROFILE),
            (Some("tags"), keys.tags(), TAG),
            (Some("loss reasons"), keys.loss_reasons(), LOSS_REASON),
            (Some("companies"), keys.companies(), COMPANY),
            (Some("reports"), keys.reports(), REPORT),
            (None, keys.users(), USER),
            (None, keys.automations(), AUTOMATION),
        ];
        for (plural, partition, read) in kinds {
            let mut pages = self.pages(partition);
            while let Some(page) = pages.next().await? {
                if let Some(plural) = plural {
                    self.count_checked(plural, page.len());
                }
                for record in page {
                    let key = key_of(&record)?;
                    if let Err(cause) = read(record) {
                        self.report(key, cause, false);
                    }
                }
            }
        }
        Ok(())
    }
}
