//! Copies in the directory: users' memberships, names and departments, and the events that active automations wait for.

use std::cell::Cell;

use super::check::{Check, Finding, Inconsistency};
use super::{Doctor, Result, details};
use crate::Operator;
use crate::user_lists::UserLists;
use shared::directory::DirectoryHead;
use shared::store::unscoped::automations;
use shared::store::unscoped::directory::decode_raw;
use table::item::Item;
use table::{StoreError, Transaction};

/// Items of names and members that one transaction corrects, together less than 4 MB.
const BATCH: usize = 40;

/// The lists that follow from the users' records, and the part of the directory that follows from the automations.
/// Memory is bounded by the number of users.
struct Expected {
    lists: UserLists,
    automations: DirectoryHead,
}

impl Doctor<'_> {
    /// Compares the directory, the names and the members with the records of users and automations.
    pub(super) async fn check_directory(&mut self) -> Result<()> {
        let operator = self.operator;
        let key = operator.keys().directory();
        // One transaction does not repair everything, so the check is repeated while it leaves differences to a next
        // one.
        let (repair, has_more) = (self.repair, Cell::new(true));
        while has_more.replace(false) {
            let unrepaired = self.diagnosis.remaining;
            self.recheck(&key, &key, async |item| {
                check(operator, item, repair, &has_more).await
            })
            .await?;
            // An unrepaired difference would be found again, so the loop would not end.
            if self.diagnosis.remaining > unrepaired {
                break;
            }
        }
        self.report_unreadable_details().await
    }
}

/// Compares the directory's item and the items of names and members with the records. Every write of a user or an
/// automation raises the directory's version in its transaction. So everything that is read under one version is
/// consistent, and a repair on condition of that version is right. Sets whether differences remain for another repair.
async fn check(operator: &Operator, item: &Item, repair: bool, has_more: &Cell<bool>) -> Result<Check> {
    let key = operator.keys().directory();
    let stored = decode_raw(item)?;
    let expected = match Expected::read(operator).await {
        Ok(expected) => expected,
        Err(cause @ StoreError::Corrupt { .. }) => {
            let reason = format!("cannot be compared with the users and the automations: {cause}");
            return Ok(Check::wrong(&key, reason, None));
        }
        Err(error) => return Err(error.into()),
    };
    let (mut findings, mut fix) = (Vec::new(), Transaction::default());
    let max_items = if repair { BATCH } else { usize::MAX };
    let mut more = expected
        .compare_lists(operator, max_items, &mut findings, &mut fix)
        .await?;
    let mut right = stored;
    // A repair of the lists leaves the items of departments and groups to the next transaction, whose size is limited.
    if repair && !fix.is_empty() {
        more = true;
    } else {
        details::compare(operator, &mut right, &mut findings, &mut fix).await?;
    }
    has_more.set(more);
    let faults = summary_faults(&expected.automations, &right.directory);
    findings.extend(faults.map(|reason| (key.to_string(), reason.to_owned())));
    if findings.is_empty() {
        return Ok(Check::Fine);
    }
    right.directory.triggers = expected.automations.triggers;
    right.directory.events = expected.automations.events;
    operator.put_next(&mut fix, right);
    let fix = Some(fix);
    Ok(Check::Inconsistency(Inconsistency { findings, fix }))
}

/// Faults of the directory's summary of active automations.
fn summary_faults(expected: &DirectoryHead, stored: &DirectoryHead) -> impl Iterator<Item = &'static str> {
    let triggers = match (expected.triggers, stored.triggers) {
        (true, false) => Some("states that no automation is active, but at least one is: calls trigger none"),
        (false, true) => Some("states that an automation is active, but none is"),
        _ => None,
    };
    let events = (expected.events != stored.events).then_some(
        "lacks or exceeds the events of the active automations: writes trigger too few or too many",
    );
    triggers.into_iter().chain(events)
}

impl Expected {
    async fn read(operator: &Operator) -> Result<Self, StoreError> {
        let lists = UserLists::of_records(operator).await?;
        let items = operator.reader().automation_items().await?;
        let found = items.iter().map(automations::decode);
        let found = found.collect::<Result<Vec<_>, _>>()?;
        let mut directory = DirectoryHead::default();
        automations::summarize(&mut directory, &found);
        Ok(Self {
            lists,
            automations: directory,
        })
    }

    /// Compares the items of names and members. Adds the findings and writes of at most `max_items` differing items,
    /// and returns whether there are more.
    async fn compare_lists(
        &self,
        operator: &Operator,
        max_items: usize,
        findings: &mut Vec<Finding>,
        fix: &mut Transaction,
    ) -> Result<bool, StoreError> {
        let differing = self.lists.differing_items(operator).await?;
        let more = differing.len() > max_items;
        for differing in differing.into_iter().take(max_items) {
            let item = differing.key.to_string();
            findings.extend(
                differing
                    .reasons
                    .iter()
                    .map(|reason| (item.clone(), reason.clone())),
            );
            differing.fix(fix);
        }
        Ok(more)
    }
}
