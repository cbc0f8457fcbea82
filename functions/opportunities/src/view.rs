//! Views of funnels, columns and opportunities.

use serde::Serialize;
use serde_json::{Value, json};
use shared::auth::Scope;
use shared::funnel::{Column, CustomField, Funnel};
use shared::ids::{ColumnId, FunnelId};
use shared::instance::InstanceName;
use shared::opportunity::{OpportunityView, total_value};
use shared::store::{ColumnSnapshots, LeadOpportunities, OpportunitySnapshot, SnapshotList};

/// A funnel in the list of endpoint 9 (C-34).
#[derive(Debug, Serialize)]
pub struct FunnelView<'a> {
    id: FunnelId,
    name: &'a str,
    columns: Vec<ColumnHead<'a>>,
    fields: &'a [CustomField],
}

#[derive(Debug, Serialize)]
struct ColumnHead<'a> {
    id: ColumnId,
    name: &'a str,
    sequence: u64,
    crm: FunnelId,
}

impl<'a> ColumnHead<'a> {
    fn of(column: &'a Column, funnel: FunnelId) -> Self {
        Self {
            id: column.id,
            name: &column.name,
            sequence: column.sequence,
            crm: funnel,
        }
    }
}

/// A column with its totals (C-96).
#[derive(Debug, Serialize)]
pub struct TotalsView<'a> {
    #[serde(flatten)]
    head: ColumnHead<'a>,
    total: u64,
    #[serde(rename = "totalValue")]
    total_value: Value,
}

impl<'a> TotalsView<'a> {
    pub fn of(column: &'a ColumnSnapshots, funnel: FunnelId) -> Self {
        Self {
            head: ColumnHead::of(&column.column, funnel),
            total: column.count,
            total_value: total_value(column.count, column.cents),
        }
    }
}

/// A column of the board (C-45).
#[derive(Debug, Serialize)]
pub struct ColumnView<'a> {
    #[serde(flatten)]
    totals: TotalsView<'a>,
    items: SnapshotList<'a>,
}

impl<'a> FunnelView<'a> {
    pub fn of(funnel: &'a Funnel) -> Self {
        let head = |column| ColumnHead::of(column, funnel.id);
        Self {
            id: funnel.id,
            name: &funnel.name,
            columns: funnel.columns_in_order().into_iter().map(head).collect(),
            fields: &funnel.fields,
        }
    }
}

impl<'a> ColumnView<'a> {
    /// The column with at most this many of its cards.
    pub fn of(
        column: &'a ColumnSnapshots,
        max_cards: usize,
        funnel: FunnelId,
        instance: &'a InstanceName,
    ) -> Self {
        Self {
            totals: TotalsView::of(column, funnel),
            items: SnapshotList::of(column.cards.get(..max_cards).unwrap_or(&column.cards), instance),
        }
    }
}

/// The opportunities of a lead, each as endpoint 10 lists it, with its funnel and its user's names (C-95).
pub fn of_lead(page: &LeadOpportunities, instance: &InstanceName) -> Vec<Value> {
    let view = |opportunity| {
        let mut view = json!(OpportunityView::of(
            opportunity,
            Some(&page.lead),
            page.company.as_ref(),
            instance
        ));
        view["funnel_id"] = json!(opportunity.crm_id);
        let user = page.users.get(&opportunity.user);
        view["user"] =
            json!(user.map(|user| json!({ "id": user.id, "name": user.name, "lastName": user.last_name })));
        view
    };
    page.opportunities.iter().map(view).collect()
}

/// Removes data that the user may not see from snapshots: leads' secrets are for admins (C-21).
pub fn censor<'a>(cards: impl IntoIterator<Item = &'a mut OpportunitySnapshot>, scope: &Scope) {
    if !scope.viewer.is_admin() {
        cards.into_iter().for_each(OpportunitySnapshot::hide_secrets);
    }
}

/// The record returned by endpoints 7 and 8 (C-33).
pub fn record(mut card: OpportunitySnapshot, scope: &Scope) -> Value {
    censor([&mut card], scope);
    card.view(scope.instance()).with_number()
}
