//! `POST /api/hook/{name}`: the submission of a form.

use axum::Json;
use serde_json::{Value, json};
use shared::auth::{FormRequest, FormScope, Prefetch};
use shared::form::{Form, FormOpportunity, Submitted, UniqueField};
use shared::http::{Idempotent, RawRequest, RequestError, replayed};
use shared::ids::LeadId;
use shared::lead::Lead;
use shared::opportunity::Opportunity;
use shared::store::{
    Claimed, CreatedLead, IdempotencyKey, Identity, PrefetchedLead, Reader, StoreError, UniqueBy,
};

use crate::submission::Submission;

impl Prefetch for Submission {
    /// The expected form, with the reads that a lead from this submission needs. `None` if this process does not know
    /// the form.
    type Found = Option<(Form, PrefetchedLead)>;
    type Error = RequestError;

    const NEEDS_COLLEAGUES: bool = false;

    fn parse(request: &RawRequest) -> Result<Self, RequestError> {
        Self::read(request)
    }

    async fn prefetch(&self, reader: &Reader) -> Result<Self::Found, StoreError> {
        let Some(form) = self.hinted_form(reader) else {
            return Ok(None);
        };
        // The handler reports an invalid submission.
        let Ok(submitted) = self.accepted(&form) else {
            return Ok(None);
        };
        let start = self.begin(reader, &form, &submitted).await?;
        Ok(Some((form, start)))
    }
}

impl Submission {
    /// Reads the records that the creation of a lead depends on.
    async fn begin(
        &self,
        reader: &Reader,
        form: &Form,
        submitted: &Submitted,
    ) -> Result<PrefetchedLead, StoreError> {
        let numbers = ["phone", "mobile", "chatapp"].map(|name| submitted.text(name));
        let numbers = numbers.into_iter().flatten();
        let identity = Identity::of(numbers, submitted.text("email"), unique_by(form));
        reader.begin_lead(identity, self.claim(form)).await
    }
}

/// Creates a lead from a submission, or completes the existing lead with its number or e-mail address. Then creates the
/// opportunity. A new lead takes two round trips, or three if this process does not know the form. An opportunity takes
/// two more. An existing lead takes two more to complete it, and one more to store the request's key.
pub async fn submit(request: FormRequest<Submission>) -> Result<Idempotent<Json<Value>>, RequestError> {
    let (scope, submission, found) = request.into_parts();
    let submitted = submission.accepted(&scope.form)?;
    let lead = submitted.lead(&scope.form, LeadId::MAX, scope.now());
    // The prefetched reads depend on the form, which may have changed since this process read it.
    let start = match found {
        Some((form, start)) if form == scope.form => start,
        _ => {
            submission
                .begin(scope.store.reader(), &scope.form, &submitted)
                .await?
        }
    };
    let (lead, is_replay) = match replayed(start.claimed)? {
        Some(id) => (LeadId::new(id), true),
        None => match scope.store.create_lead(start, lead, None).await? {
            CreatedLead::Made(lead) => (Some(lead.id), false),
            CreatedLead::Existing(lead) => {
                let lead = complete(&scope, &submitted, *lead).await?;
                (Some(lead), keep_found(&scope, &submission, lead).await?)
            }
            CreatedLead::Claimed(claimed) => (replayed(claimed)?.and_then(LeadId::new), true),
            CreatedLead::CompanyGone => (None, false),
        },
    };
    let lead = lead.ok_or(StoreError::Contention("claiming a key"))?;
    if let Some(wanted) = &scope.form.opportunity {
        open_opportunity(&scope, wanted, &submitted, lead).await?;
    }
    let received = Json(json!({ "msg": "received", "data": { "lead": lead } }));
    if is_replay {
        return Ok(Idempotent::Replayed(received));
    }
    Ok(Idempotent::Made(received))
}

fn unique_by(form: &Form) -> UniqueBy {
    UniqueBy {
        phone: form.unique.contains(&UniqueField::Phone),
        email: form.unique.contains(&UniqueField::Email),
    }
}

/// Fills the missing values of an existing lead. Makes no call if none are missing.
async fn complete(scope: &FormScope, submitted: &Submitted, lead: Lead) -> Result<LeadId, StoreError> {
    if submitted.complete(&scope.form, &lead) == lead {
        return Ok(lead.id);
    }
    // Applied to the current record, and again after a conflict. It never refuses.
    let completed = |lead: &Lead| Ok::<_, ()>(submitted.complete(&scope.form, lead));
    if let Some(stored) = scope.store.reader().whole_lead(lead.id).await? {
        Box::pin(scope.store.update_lead(stored, None, completed)).await?;
    }
    Ok(lead.id)
}

/// Stores that a submission with a key found a lead. Returns whether a concurrent equal submission stored this first,
/// so that this one is a replay.
async fn keep_found(scope: &FormScope, submission: &Submission, lead: LeadId) -> Result<bool, RequestError> {
    let Some(claim) = submission.claim(&scope.form) else {
        return Ok(false);
    };
    let claimed = scope.store.keep_found(&claim, lead.get()).await?;
    Ok(replayed(claimed)?.is_some())
}

/// Creates the opportunity, once for all equal submissions of a lead within 24 hours. A submission that is repeated
/// after a failure or by an impatient visitor creates no second one. Creates none if the funnel does not have the
/// column.
async fn open_opportunity(
    scope: &FormScope,
    wanted: &FormOpportunity,
    submitted: &Submitted,
    lead: LeadId,
) -> Result<(), StoreError> {
    let Some(funnel) = wanted.funnel else {
        return Ok(());
    };
    // The claim's key contains the submission, so that an equal one is a replay.
    let content = json!([submitted.fields, submitted.custom]).to_string();
    let form = scope.form.id.to_string();
    let claim = IdempotencyKey::new("form opportunity", &form, &format!("{lead} {content}"), b"");
    let start = scope
        .store
        .reader()
        .begin_creation(funnel, (lead, None), Some(claim))
        .await?;
    let has_column = start
        .funnel
        .as_ref()
        .is_some_and(|funnel| funnel.has_column(wanted.column));
    if start.claimed != Claimed::New || start.lead.is_none() {
        return Ok(());
    }
    if !has_column {
        tracing::warn!(form, "a form names a missing column");
        return Ok(());
    }
    let lead_owner = start.lead.as_ref().and_then(|stored| stored.lead.owner);
    let user = match scope.form.owner.or(lead_owner) {
        Some(user) => Some(user),
        None => scope.store.reader().first_user().await?,
    };
    let Some(user) = user else { return Ok(()) };
    let (funnel_column, now) = ((funnel, wanted.column), scope.now());
    let opportunity = |id| Opportunity {
        title: wanted.title.clone(),
        value: wanted.value.unwrap_or_default(),
        ..Opportunity::new(id, funnel_column, lead, user, now)
    };
    scope.store.insert_opportunity(start, opportunity).await.map(drop)
}
