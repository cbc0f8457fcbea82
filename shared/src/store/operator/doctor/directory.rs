//! What the directory says of other records: where users stand, their names and departments' members, and whether an automation
//! is active.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::Doctor;
use super::settle::{Look, Wrong};
use crate::store::automations;
use crate::store::directory::Stored;
use crate::store::error::StoreError;
use crate::store::operator::user_lists::{UserLists, differences};
use crate::store::operator::{Operator, OperatorError};
use crate::store::transaction::Transaction;

/// Items of names and members that one transaction makes right: less than 4 MB.
const BATCH: usize = 40;

/// What users' records say of all users, which bounds memory, and what automations say of all.
struct Expected {
    lists: UserLists,
    triggers: bool,
}

impl Doctor<'_> {
    /// Compares the directory, the names and the members with the users' records, and with the automations.
    pub(super) async fn directory(&mut self) -> Result<(), OperatorError> {
        let operator = self.operator;
        let users = operator.user_ids().await?.len();
        self.looked_at("users", users);
        let what = operator.keys().directory().to_string();
        let (repair, left) = (self.repair, Cell::new(true));
        while left.replace(false) {
            let remaining = self.diagnosis.remaining;
            self.settle(&what, async || look(operator, repair, &left).await)
                .await?;
            if self.diagnosis.remaining > remaining {
                return Ok(());
            }
        }
        Ok(())
    }
}

/// Every write of a user or an automation changes the directory's version in its transaction, so under one version all is
/// of one moment, and a repair on condition of that version is right. `left` comes to say that a repair leaves something to
/// the next one.
async fn look(operator: &Operator, repair: bool, left: &Cell<bool>) -> Result<Look, OperatorError> {
    let stored = operator.stored_directory().await?;
    let expected = match Expected::read(operator).await {
        Ok(expected) => expected,
        Err(cause @ StoreError::Corrupt { .. }) => {
            let item = operator.keys().directory().to_string();
            let reason = format!("cannot be compared with the users and the automations: {cause}");
            return Ok(Look::Wrong(Wrong::beyond_repair(item, reason)));
        }
        Err(error) => return Err(error.into()),
    };
    let mut wrong = if stored.standings.is_some() {
        let names = operator.first_names().await?;
        expected.compare_first(operator, &stored, &names)
    } else {
        expected.compare_lists(operator, repair, left).await?
    };
    if operator.stored_directory().await?.version != stored.version {
        left.set(false);
        return Ok(Look::Changing);
    }
    wrong.wounds.extend(expected.triggers_told(operator, &stored));
    if wrong.wounds.is_empty() {
        return Ok(Look::Fine);
    }
    if let Some(remedy) = &mut wrong.remedy {
        let mut right = stored;
        right.directory.triggers = expected.triggers;
        if right.standings.is_some() {
            right.standings = Some(expected.lists.standings);
        }
        operator.put_next(remedy, right);
    }
    Ok(Look::Wrong(wrong))
}

impl Expected {
    async fn read(operator: &Operator) -> Result<Self, StoreError> {
        let lists = UserLists::of_records(operator).await?;
        let mut triggers = false;
        for item in operator.0.automation_items().await? {
            triggers |= automations::decode(&item)?.is_active();
        }
        Ok(Self { lists, triggers })
    }

    /// The items of names and members. Of those that differ a repair takes as many as one transaction holds.
    async fn compare_lists(
        &self,
        operator: &Operator,
        repair: bool,
        left: &Cell<bool>,
    ) -> Result<Wrong, StoreError> {
        let differing = self.lists.differing(operator).await?;
        let some = if repair { BATCH } else { differing.len() };
        left.set(differing.len() > some);
        let mut wounds = Vec::new();
        let mut remedy = Transaction::default();
        for differing in differing.into_iter().take(some) {
            let item = differing.key.to_string();
            let told = |reason: &String| (item.clone(), reason.clone());
            wounds.extend(differing.reasons.iter().map(told));
            differing.repair(&mut remedy);
        }
        Ok(Wrong {
            wounds,
            remedy: Some(remedy),
        })
    }

    /// The standings and names of the first format.
    fn compare_first(&self, operator: &Operator, stored: &Stored, names: &BTreeMap<String, String>) -> Wrong {
        let keys = operator.keys();
        let right = self.lists.names.values().flatten();
        let right = right.map(|(id, name)| (id.to_string(), name.clone())).collect();
        let standings = stored.standings.clone().unwrap_or_default();
        let mut wounds = Vec::new();
        for (key, reasons) in [
            (
                keys.directory(),
                differences("standing", &self.lists.standings, &standings),
            ),
            (keys.names(), differences("name", &right, names)),
        ] {
            wounds.extend(reasons.into_iter().map(|reason| (key.to_string(), reason)));
        }
        let mut remedy = Transaction::default();
        operator.put_first_names(&mut remedy, &right);
        let remedy = Some(remedy);
        Wrong { wounds, remedy }
    }

    fn triggers_told(&self, operator: &Operator, stored: &Stored) -> Option<(String, String)> {
        let reason = match (self.triggers, stored.directory.triggers) {
            (true, false) => "says that no automation is active, but one is: calls set none off",
            (false, true) => "says that an automation is active, but none is",
            _ => return None,
        };
        let item = operator.keys().directory().to_string();
        Some((item, reason.to_owned()))
    }
}
