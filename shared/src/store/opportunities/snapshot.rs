//! An opportunity with the copies that responses embed.

use serde::ser::Error as _;
use serde::{Serialize, Serializer};
use serde_json::value::{RawValue, to_raw_value};

use crate::instance::InstanceName;
use crate::lead::Lead;
use crate::opportunity::{Opportunity, OpportunityView};
use crate::people::Company;
use crate::store::leads::LeadRecord;

/// The kind of the record in errors.
pub const KIND: &str = "opportunity";

/// An opportunity with the copies of its lead and company that responses embed.
#[derive(Debug, Clone, PartialEq)]
pub struct OpportunitySnapshot {
    /// The opportunity.
    pub opportunity: Opportunity,
    /// Its lead, without custom fields; `None` if the lead was deleted.
    pub lead: Option<Lead>,
    /// The lead's company.
    pub company: Option<Company>,
}

/// Snapshots in the form of a response's list.
#[derive(Debug)]
pub struct SnapshotList<'a> {
    cards: &'a [OpportunitySnapshot],
    instance: &'a InstanceName,
}

impl<'a> SnapshotList<'a> {
    /// The list of an instance's snapshots.
    #[must_use]
    pub fn of(cards: &'a [OpportunitySnapshot], instance: &'a InstanceName) -> Self {
        Self { cards, instance }
    }

    /// The JSON text of the list. It is serialized in this crate, because this crate is optimised for speed and the
    /// functions for size.
    fn json(&self) -> serde_json::Result<Box<RawValue>> {
        let shown: Vec<_> = self.cards.iter().map(|card| card.view(self.instance)).collect();
        to_raw_value(&shown)
    }
}

impl Serialize for SnapshotList<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().map_err(S::Error::custom)?.serialize(serializer)
    }
}

impl OpportunitySnapshot {
    /// An opportunity with the copies of a lead's record. Without a record, an opportunity without copies and link
    /// (C-24).
    #[must_use]
    pub fn of(opportunity: Opportunity, lead: Option<&LeadRecord>) -> Self {
        let lead_id = lead.map(|record| record.lead.id);
        let (lead, company) = lead.map(|record| record.copied()).unzip();
        Self {
            opportunity: Opportunity {
                lead_id,
                ..opportunity
            },
            lead,
            company: company.flatten(),
        }
    }

    /// Removes the lead's secret, for viewers who are not admins (C-21).
    pub fn hide_secrets(&mut self) {
        if let Some(lead) = &mut self.lead {
            lead.hide_secrets();
        }
    }

    /// Its form in responses.
    #[must_use]
    pub fn view<'a>(&'a self, instance: &'a InstanceName) -> OpportunityView<'a> {
        OpportunityView::of(
            &self.opportunity,
            self.lead.as_ref(),
            self.company.as_ref(),
            instance,
        )
    }
}
