//! Records from which nothing is derived: can each be read?

use super::Doctor;
use crate::people::{Company, Profile, User};
use crate::store::automations;
use crate::store::error::StoreError;
use crate::store::item::{self, Item};
use crate::store::operator::OperatorError;
use crate::store::operator::export::Pages;
use crate::store::reports;
use crate::store::table::{PAGE, Span, key_of};

type Read = fn(Item) -> Result<(), StoreError>;

impl Doctor<'_> {
    /// Reads them all. Funnels and what has derived items are read elsewhere, users and automations also.
    pub(super) async fn others(&mut self) -> Result<(), OperatorError> {
        let keys = self.operator.keys();
        let kinds: [(Option<&'static str>, String, Read); 5] = [
            (Some("profiles"), keys.profiles(), |item| {
                item::decode::<Profile>("profile", item).map(drop)
            }),
            (Some("companies"), keys.companies(), |item| {
                item::decode::<Company>("company", item).map(drop)
            }),
            (Some("reports"), keys.reports(), |item| {
                reports::definition(&item).map(drop)
            }),
            (None, keys.users(), |item| {
                item::decode::<User>("user", item).map(drop)
            }),
            (None, keys.automations(), |item| {
                automations::decode(&item).map(drop)
            }),
        ];
        for (plural, partition, read) in kinds {
            let mut pages = Pages::new(self.operator, Span::head(partition, PAGE), Ok);
            while let Some(page) = pages.next().await? {
                if let Some(plural) = plural {
                    self.looked_at(plural, page.len());
                }
                for record in page {
                    let key = key_of(&record)?;
                    if let Err(cause) = read(record) {
                        self.report(key.to_string(), cause.to_string(), false);
                    }
                }
            }
        }
        Ok(())
    }
}
