//! `POST /api/hook/{name}`: the submission of a form.

use axum::Json;
use axum::response::{IntoResponse as _, Response};
use serde_json::json;
use shared::auth::{FormRequest, FormScope};
use shared::form::{Form, FormOpportunity, Submitted, UniqueField};
use shared::http::{Idempotent, RequestError, replayed};
use shared::ids::{FunnelId, LeadId};
use shared::opportunity::Opportunity;
use shared::store::{
    Claimed, Created, CreatedLead, FormReceived, IdempotencyKey, Identity, PrefetchedCreation,
    PrefetchedForm, Reader, StoreError, UniqueBy,
};

use crate::submission::Submission;

/// Attempts to record a submission while its lead is deleted concurrently.
const ATTEMPTS: usize = 4;

impl Submission {
    /// The expected form, with the reads that a lead from this submission needs. `None` if this process does not know
    /// the form.
    async fn begin_expected(&self, reader: &Reader) -> Result<Option<(Form, PrefetchedForm)>, StoreError> {
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
pub async fn submit(request: FormRequest) -> Result<Response, RequestError> {
    let (submission, reader, check) = request.parse(Submission::read).await?;
    let (scope, found) = check.join(submission.begin_expected(&reader)).await?;
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
        Box::pin(open_opportunity(&scope, wanted, &received)).await?;
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

/// Records a submission, unless an equal one was recorded for a lead that still exists. Both bring an archived lead back.
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
        let new_key = claims
            .first()
            .filter(|_| submission.has_key() && start.has_new_key());
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
        if let Some(id) = replayed(claimed)?
            && let Some(received) = received_before(scope, &claims, new_key, id).await?
        {
            return Ok(received);
        }
        start = submission.begin(store.reader(), form, submitted).await?;
    }
    Err(StoreError::Contention("receiving a form").into())
}

/// Returns the record of an earlier equal submission, whose lead is `id`. Claims a new key, and restores an archived lead.
/// `None` if the lead was deleted since, so that the submission is a new one.
async fn received_before(
    scope: &FormScope,
    claims: &[IdempotencyKey],
    new_key: Option<&IdempotencyKey>,
    id: u64,
) -> Result<Option<Received>, RequestError> {
    let store = &scope.store;
    let lead = LeadId::new(id).ok_or(StoreError::Contention("claiming a key"))?;
    let keep = async {
        match new_key {
            Some(key) => store.keep_found(key, id).await,
            None => Ok(Claimed::New),
        }
    };
    let (found, kept) = tokio::try_join!(store.reader().lead_record(lead), keep)?;
    let Some(found) = found else {
        store.release(claims, id).await?;
        return Ok(None);
    };
    replayed(kept)?;
    if found.lead.archived {
        store.archive_leads(vec![found], false, |_| true).await?;
    }
    Ok(Some(Received {
        lead,
        is_replay: true,
    }))
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

/// Creates the opportunity, unless the lead has an open one in the funnel, or the funnel does not have the column. A claim of
/// lead and funnel lets one of several simultaneous submissions create it. It also says for a day that a submission was
/// handled, so that an equal one, repeated after a failure or by an impatient visitor, creates nothing else.
async fn open_opportunity(
    scope: &FormScope,
    wanted: &FormOpportunity,
    received: &Received,
) -> Result<(), StoreError> {
    let (Some(funnel), lead) = (wanted.funnel, received.lead) else {
        return Ok(());
    };
    let claim = IdempotencyKey::new("form opportunity", &funnel.to_string(), &lead.to_string(), b"");
    let (store, reader) = (&scope.store, scope.store.reader());
    for _ in 0..ATTEMPTS {
        let (start, has_open) = tokio::try_join!(
            reader.begin_creation(funnel, (lead, None), Some(claim.clone())),
            reader.has_open_opportunity(lead, funnel)
        )?;
        match start.claimed {
            Claimed::New if has_open => return store.keep_found(&claim, lead.get()).await.map(drop),
            Claimed::Replay(earlier) | Claimed::Found(earlier) if !has_open && !received.is_replay => {
                store.release(std::slice::from_ref(&claim), earlier).await?;
                continue;
            }
            Claimed::New => {}
            _ => return Ok(()),
        }
        match create_opportunity(scope, wanted, (funnel, lead), start).await? {
            Some(Created::Claimed(_)) => {}
            _ => return Ok(()),
        }
    }
    Err(StoreError::Contention("opening an opportunity"))
}

/// Creates the opportunity of a form, with the owner of the form, of the lead, or the first user. `None` if lead, column or
/// user are missing.
async fn create_opportunity(
    scope: &FormScope,
    wanted: &FormOpportunity,
    (funnel, lead): (FunnelId, LeadId),
    start: PrefetchedCreation,
) -> Result<Option<Created>, StoreError> {
    let has_column = start
        .funnel
        .as_ref()
        .is_some_and(|funnel| funnel.has_column(wanted.column));
    let Some(stored) = &start.lead else {
        return Ok(None);
    };
    if !has_column {
        tracing::warn!(form = %scope.form.id, "a form names a missing column");
        return Ok(None);
    }
    let user = match scope.form.owner.or(stored.lead.owner) {
        Some(user) => Some(user),
        None => scope.store.reader().first_user().await?,
    };
    let Some(user) = user else { return Ok(None) };
    let (funnel_column, now) = ((funnel, wanted.column), scope.now());
    let opportunity = |id| Opportunity {
        title: wanted.title.clone(),
        value: wanted.value.unwrap_or_default(),
        ..Opportunity::new(id, funnel_column, lead, user, now)
    };
    let created = scope.store.insert_opportunity(start, opportunity).await?;
    Ok(Some(created))
}
