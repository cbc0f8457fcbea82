//! What there is around an opportunity that is made or changed: the funnel, the people, the lead, the time.

use shared::directory::Viewer;
use shared::funnel::Funnel;
use shared::id::{ColumnId, LeadId, UserId};
use shared::opportunity::Opportunity;
use shared::scope::Scope;
use shared::store::LeadRecord;
use shared::time::{Timestamp, Zone};

use crate::error::Breach;

/// The most bytes of a record, in the form in which it is stored and exported (C-30).
const RECORD: usize = 100_000;

/// What a request's opportunity is judged against.
#[derive(Debug)]
pub struct Ground<'a> {
    /// Who asks.
    pub viewer: &'a Viewer,
    /// The funnel, which the viewer may see.
    pub funnel: &'a Funnel,
    /// The lead that the request names, where it exists and the viewer sees it.
    pub lead: Option<LeadId>,
    /// The user that the request names, where it exists.
    pub user: Option<UserId>,
    /// The time of the request.
    pub now: Timestamp,
}

impl<'a> Ground<'a> {
    /// The ground of a request that names a funnel and perhaps a lead and a user.
    pub fn of(
        scope: &'a Scope,
        funnel: &'a Funnel,
        (lead, user): (Option<&LeadRecord>, Option<UserId>),
    ) -> Self {
        let (viewer, lead) = (&scope.viewer, lead.map(|record| &record.lead));
        let seen = lead.filter(|lead| viewer.sees_lead(lead.owner, &lead.lists()));
        Self {
            viewer,
            funnel,
            lead: seen.map(|lead| lead.id),
            user,
            now: scope.now(),
        }
    }

    /// Where the instance's days begin.
    pub fn zone(&self) -> Zone {
        self.viewer.directory().settings.zone()
    }

    /// Whether an opportunity is one of the funnel's that the viewer sees (C-31, C-32).
    pub fn sees(&self, opportunity: &Opportunity) -> bool {
        let Opportunity { user, status, .. } = *opportunity;
        opportunity.crm_id == self.funnel.id
            && self
                .viewer
                .sees_opportunity(user, status, &opportunity.narrowing())
    }

    /// The column must be one of the funnel's.
    pub fn column(&self, column: ColumnId) -> Result<(), Breach> {
        let known = self.funnel.has_column(column);
        known.then_some(()).ok_or(Breach::Column(column, self.funnel.id))
    }

    /// The lead must exist and the viewer see it.
    pub fn lead(&self, lead: LeadId) -> Result<(), Breach> {
        let seen = self.lead == Some(lead);
        seen.then_some(()).ok_or(Breach::Lead(lead))
    }

    /// The user must exist, and may be inactive.
    pub fn user(&self, user: UserId) -> Result<(), Breach> {
        let known = self.user == Some(user) || user == self.viewer.user();
        known.then_some(()).ok_or(Breach::User(user))
    }

    /// The funnel must define a custom field of this name, byte for byte.
    pub fn field(&self, name: &str) -> Result<(), Breach> {
        let known = self.funnel.defines(name);
        known
            .then_some(())
            .ok_or_else(|| Breach::Undefined(name.to_owned(), self.funnel.id))
    }

    /// The record must not be too large.
    pub fn size(opportunity: &Opportunity) -> Result<(), Breach> {
        let text = serde_json::Value::Object(opportunity.sparse()).to_string();
        (text.len() <= RECORD).then_some(()).ok_or(Breach::TooLarge)
    }
}
