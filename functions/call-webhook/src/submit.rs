//! `POST /api/hook/{name}`: the submission of a form.

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;
use shared::auth::{FormRequest, FormScope, Prefetch};
use shared::form::{Form, FormOpportunity, Submitted, UniqueField};
use shared::http::{Idempotent, RawRequest, RequestError, replayed};
use shared::ids::LeadId;
use shared::opportunity::Opportunity;
use shared::store::{
    Claimed, CreatedLead, FormReceived, IdempotencyKey, Identity, PrefetchedForm, Reader, StoreError,
    UniqueBy,
};

use crate::submission::Submission;

/// Attempts to record a submission while its lead is deleted concurrently.
const ATTEMPTS: usize = 4;

impl Prefetch for Submission {
    /// The expected form, with the reads that a lead from this submission needs. `None` if this process does not know
    /// the form.
    type Found = Option<(Form, PrefetchedForm)>;
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
    ) -> Result<PrefetchedForm, StoreError> {
        let identity = Identity::of(submitted.number_texts(), submitted.text("email"), unique_by(form));
        reader.begin_form(identity, self.claims(form, submitted)).await
    }
}

/// Records a submission on the timeline of the lead with its number or e-mail address, and completes that lead, or
/// creates a lead. Then creates the opportunity. A new lead takes two round trips, or three if this process does not
/// know the form. An opportunity takes two more. An existing lead takes one more, and another one if it gets a number or
/// an address.
pub async fn submit(request: FormRequest<Submission>) -> Result<Response, RequestError> {
    let (scope, submission, found) = request.into_parts();
    let submitted = submission.accepted(&scope.form)?;
    // The prefetched reads depend on the form, which may have changed since this process read it.
    let start = match found {
        Some((form, start)) if form == scope.form => start,
        _ => {
            submission
                .begin(scope.store.reader(), &scope.form, &submitted)
                .await?
        }
    };
    let received = Box::pin(record(&scope, &submission, &submitted, start)).await?;
    if let Some(wanted) = &scope.form.opportunity {
        open_opportunity(&scope, wanted, &submitted, received.lead).await?;
    }
    let answer = Json(json!({ "msg": "received", "data": { "lead": received.lead } }));
    let counts = [
        ("x-fields-ignored", submitted.ignored),
        ("x-files-ignored", submission.files_ignored.0),
    ];
    let counts = counts.map(|(name, count)| (name, count.to_string()));
    if received.is_replay && submission.has_key() {
        return Ok(Idempotent::Replayed((counts, answer)).into_response());
    }
    Ok((counts, answer).into_response())
}

/// A recorded submission.
struct Received {
    lead: LeadId,
    /// Whether an equal one was recorded before, and this one was not.
    is_replay: bool,
}

/// Records a submission, unless an equal one was recorded for a lead that still exists.
async fn record(
    scope: &FormScope,
    submission: &Submission,
    submitted: &Submitted,
    mut start: PrefetchedForm,
) -> Result<Received, RequestError> {
    let (store, form) = (&scope.store, &scope.form);
    let claims = submission.claims(form, submitted);
    let new_lead = submitted.lead(form, LeadId::MAX, scope.now());
    for _ in 0..ATTEMPTS {
        let mut claimed = start.claimed;
        if claimed == Claimed::New {
            let (receipt, start) = store.receipt(form, submitted, start).await?;
            let found = match store.create_lead(start, new_lead.clone(), None).await? {
                CreatedLead::Made(lead) => return Ok(Received::first(lead.id)),
                CreatedLead::Existing(lead) => store.reader().whole_lead(lead.id).await?,
                CreatedLead::Claimed(other) => {
                    claimed = other;
                    None
                }
                CreatedLead::CompanyGone => None,
            };
            if let Some(lead) = found {
                match Box::pin(store.receive_form(lead, receipt)).await? {
                    FormReceived::Done(lead) => return Ok(Received::first(lead)),
                    FormReceived::Claimed(other) => claimed = other,
                    FormReceived::Gone => {}
                }
            }
        }
        if let Some(id) = replayed(claimed)? {
            let lead = LeadId::new(id).ok_or(StoreError::Contention("claiming a key"))?;
            if store.reader().whole_lead(lead).await?.is_some() {
                return Ok(Received {
                    lead,
                    is_replay: true,
                });
            }
            // The lead was deleted since, so the submission is a new one.
            store.release(&claims, id).await?;
        }
        start = submission.begin(store.reader(), form, submitted).await?;
    }
    Err(StoreError::Contention("receiving a form").into())
}

impl Received {
    fn first(lead: LeadId) -> Self {
        Self {
            lead,
            is_replay: false,
        }
    }
}

fn unique_by(form: &Form) -> UniqueBy {
    UniqueBy {
        phone: form.unique.contains(&UniqueField::Phone),
        email: form.unique.contains(&UniqueField::Email),
    }
}

/// Creates the opportunity, once for all equal submissions of a lead within 24 hours. A submission that is repeated
/// after a failure or by an impatient visitor creates no second one. Creates none if the lead has an open one in the
/// funnel, or if the funnel does not have the column.
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
    let reader = scope.store.reader();
    let (start, has_open) = tokio::try_join!(
        reader.begin_creation(funnel, (lead, None), Some(claim)),
        reader.has_open_opportunity(lead, funnel)
    )?;
    let has_column = start
        .funnel
        .as_ref()
        .is_some_and(|funnel| funnel.has_column(wanted.column));
    if start.claimed != Claimed::New || start.lead.is_none() || has_open {
        return Ok(());
    }
    if !has_column {
        tracing::warn!(form, "a form names a missing column");
        return Ok(());
    }
    let lead_owner = start.lead.as_ref().and_then(|stored| stored.lead.owner);
    let user = match scope.form.owner.or(lead_owner) {
        Some(user) => Some(user),
        None => reader.first_user().await?,
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
