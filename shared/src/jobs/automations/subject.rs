//! The records that a fact is about, as they are now.

use serde_json::{Map, Value, json};

use crate::automation::template::{self, Values};
use crate::automation::{Action, Circumstances};
use crate::calendar::LinkName;
use crate::call::Call;
use crate::event::FormEvent;
use crate::funnel::Funnel;
use crate::ids::{LeadId, OpportunityId, UserId};
use crate::meeting::Meeting;
use crate::opportunity::Opportunity;
use crate::people::User;
use crate::store::entity::Stored;
use crate::store::facts::Raised;
use crate::store::key::{Cause, Key, Keys};
use crate::store::leads::LeadRecord;
use crate::store::{MeetingRecord, OpportunityRecord, Reader, WholeLead, calls, events, forms};
use table::StoreError;
use table::item::{self, Item};

/// The record that a fact is about, and the records that it names.
#[derive(Debug, Default)]
pub struct Subject {
    pub call: Option<Call>,
    pub lead: Option<WholeLead>,
    pub opportunity: Option<Opportunity>,
    pub meeting: Option<Meeting>,
    pub form: Option<FormEvent>,
    /// The name of the form; `None` if it was removed.
    pub form_name: Option<LinkName>,
}

/// The key of the record of a fact.
pub fn record_key(keys: Keys<'_>, cause: Cause) -> Key {
    match cause {
        Cause::Call(id) => keys.call(id),
        Cause::Lead(id, _) => keys.lead(id),
        Cause::Opportunity(id, _) => keys.opportunity(id),
        Cause::Meeting(id, _) => keys.meeting(id),
        Cause::Form(lead, event) => keys.form_event(lead, event),
    }
}

impl Reader {
    /// Whether the record of a fact is gone, or the lead without which nothing is sent of it. Reads the records.
    ///
    /// # Errors
    /// [`StoreError`] if they cannot be read.
    pub async fn is_without_record(&self, cause: Cause) -> Result<bool, StoreError> {
        let record = self.table.get(&record_key(self.keys(), cause)).await?;
        match self.subject(cause, record).await {
            // The delivery reports it.
            Err(StoreError::Corrupt { .. }) => Ok(false),
            subject => Ok(subject?.is_none()),
        }
    }

    /// The subject of a fact, given the item of its record. `None` if the record, or the lead of a call, is
    /// gone. It contains no data of a deleted lead (C-24). At most two gets, in parallel, and one for a large lead.
    pub(super) async fn subject(
        &self,
        cause: Cause,
        item: Option<Item>,
    ) -> Result<Option<Subject>, StoreError> {
        let Some(item) = item else { return Ok(None) };
        let needs_lead = matches!(cause, Cause::Call(_) | Cause::Lead(..) | Cause::Form(..));
        let subject = match cause {
            Cause::Call(_) => {
                let call = calls::decode(item)?;
                Subject {
                    lead: self.lead_if_any(call.lead).await?,
                    call: Some(call),
                    ..Subject::default()
                }
            }
            Cause::Lead(..) => Subject {
                lead: self.whole(LeadRecord::decode(item)?).await?,
                ..Subject::default()
            },
            Cause::Form(lead, _) => self.of_submission(lead, events::decode(&item)?).await?,
            Cause::Opportunity(..) => {
                let opportunity = OpportunityRecord::decode(item)?.value.opportunity;
                Subject {
                    lead: self.lead_if_any(opportunity.lead_id).await?,
                    opportunity: Some(opportunity),
                    ..Subject::default()
                }
            }
            Cause::Meeting(..) => self.of_meeting(MeetingRecord::decode(item)?.value).await?,
        };
        if needs_lead && subject.lead.is_none() {
            return Ok(None);
        }
        Ok(Some(subject.without_deleted()))
    }

    async fn of_submission(&self, lead: LeadId, event: FormEvent) -> Result<Subject, StoreError> {
        let form = self.keys().form(event.form);
        let (lead, form) = tokio::try_join!(self.lead_if_any(Some(lead)), self.table.get(&form))?;
        let form = form.as_ref().map(forms::form).transpose()?;
        Ok(Subject {
            lead,
            form: Some(event),
            form_name: form.map(|form| form.name),
            ..Subject::default()
        })
    }

    async fn of_meeting(&self, meeting: Meeting) -> Result<Subject, StoreError> {
        let (lead, opportunity) = tokio::try_join!(
            self.lead_if_any(meeting.lead_id),
            self.opportunity_if_any(meeting.opportunity_id)
        )?;
        Ok(Subject {
            lead,
            opportunity,
            meeting: Some(meeting),
            ..Subject::default()
        })
    }

    /// A lead by id; `None` without an id or a lead.
    async fn lead_if_any(&self, id: Option<LeadId>) -> Result<Option<WholeLead>, StoreError> {
        match id {
            Some(id) => self.whole_lead(id).await,
            None => Ok(None),
        }
    }

    /// An opportunity by id; `None` without an id or an opportunity.
    async fn opportunity_if_any(&self, id: Option<OpportunityId>) -> Result<Option<Opportunity>, StoreError> {
        let Some(id) = id else { return Ok(None) };
        let record = self.opportunity(id).await?;
        Ok(record.map(|Stored { value, .. }| value.opportunity))
    }
}

impl Reader {
    /// The values for the placeholders of an action. A batch of gets of funnel and user if it names the column or the
    /// user's first name.
    pub(super) async fn values(&self, subject: &Subject, action: &Action) -> Result<Values, StoreError> {
        let mut values = subject.fields(self);
        let Some(opportunity) = &subject.opportunity else {
            return Ok(values);
        };
        let placeholders = action.placeholders().unwrap_or_default();
        let names = |field| {
            placeholders
                .iter()
                .any(|(_, placeholder)| placeholder.field == field)
        };
        let (funnel, user) = (
            self.keys().funnel(opportunity.crm_id),
            self.keys().user(opportunity.user),
        );
        let funnel_key = names("etapa").then_some(funnel);
        let user_key = names("userFirstName").then_some(user);
        let wanted = funnel_key.iter().chain(&user_key).cloned();
        let mut found = self.table.get_many(wanted).await?;
        let funnel = funnel_key.and_then(|key| found.remove(&key));
        let funnel: Option<Funnel> = funnel.map(|item| item::decode("funnel", item)).transpose()?;
        let user = user_key.and_then(|key| found.remove(&key));
        let user: Option<User> = user.map(|item| item::decode("user", item)).transpose()?;
        let column = funnel.and_then(|funnel| {
            let mut columns = funnel.columns.into_iter();
            columns
                .find(|column| column.id == opportunity.crm_column)
                .map(|column| column.name)
        });
        for (name, value) in [
            ("etapa", json!(column)),
            ("gainDate", json!(opportunity.gain_date)),
            ("user_id", json!(opportunity.user)),
            ("userFirstName", json!(user.map(|user| user.name))),
            ("funil_id", json!(opportunity.crm_id)),
        ] {
            values.opportunity.entry(name).or_insert(value);
        }
        Ok(values)
    }
}

impl Subject {
    /// Removes the remaining data of a lead that is gone from the other records.
    fn without_deleted(self) -> Self {
        if self.lead.is_some() {
            return self;
        }
        Self {
            opportunity: self.opportunity.map(|opportunity| Opportunity {
                lead_id: None,
                ..opportunity
            }),
            meeting: self.meeting.map(Meeting::without_lead),
            ..self
        }
    }

    /// The user for whom an opportunity is created. The first of: the user of the call, of the meeting, of the
    /// opportunity, the lead's owner.
    pub fn user(&self) -> Option<UserId> {
        let of_call = self.call.as_ref().map(|call| call.user);
        let of_meeting = self.meeting.as_ref().and_then(|meeting| meeting.user_id);
        let of_opportunity = self.opportunity.as_ref().map(|opportunity| opportunity.user);
        let owner = self.lead.as_ref().and_then(|record| record.lead.owner);
        of_call.or(of_meeting).or(of_opportunity).or(owner)
    }

    /// The fact with all values that filters compare. The writes of calls and meetings do not read the records of some,
    /// whose values are those of now.
    pub fn settled(&self, fact: Raised) -> Raised {
        if fact.is_settled {
            return fact;
        }
        let related = self.opportunity.as_ref().map(Circumstances::of);
        let related = related.unwrap_or_default();
        let lead = self.lead.as_ref().map(|record| &record.lead);
        let caller = self.call.as_ref().and(lead);
        let circumstances = Circumstances {
            funnel: related.funnel,
            column: related.column,
            status: related.status,
            owner: fact.circumstances.owner.or(caller.and_then(|lead| lead.owner)),
            source: lead.and_then(|lead| lead.acquisition_channel.clone()),
            form: None,
        };
        Raised {
            is_settled: true,
            circumstances,
            ..fact
        }
    }

    /// The fields of the records.
    fn fields(&self, reader: &Reader) -> Values {
        let lead = self.lead.as_ref();
        let opportunity = self.opportunity.as_ref();
        Values {
            lead: lead.map_or_else(Map::new, |record| {
                template::lead_fields(&record.lead, reader.instance())
            }),
            opportunity: opportunity.map_or_else(Map::new, template::opportunity_fields),
            form: self
                .form
                .as_ref()
                .map_or_else(Map::new, |event| event.values.clone()),
        }
    }

    /// The members of a notification that describe the records.
    pub fn describe(&self, reader: &Reader) -> Map<String, Value> {
        let Values {
            lead, opportunity, ..
        } = self.fields(reader);
        let mut described = Map::new();
        if let Some(event) = &self.form {
            let form = json!({ "id": event.form, "name": self.form_name, "values": event.values });
            described.insert("form".to_owned(), form);
        }
        if self.lead.is_some() {
            described.insert("lead".to_owned(), Value::Object(lead));
        }
        if self.opportunity.is_some() {
            described.insert("opportunity".to_owned(), Value::Object(opportunity));
        }
        let meeting = self.meeting.as_ref().map(|meeting| ("meeting", json!(meeting)));
        let call = self.call.as_ref().map(|call| ("call", json!(call)));
        described.extend(
            [meeting, call]
                .into_iter()
                .flatten()
                .map(|(name, value)| (name.to_owned(), value)),
        );
        described
    }
}
