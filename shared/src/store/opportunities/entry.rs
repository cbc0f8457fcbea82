//! The entry of an opportunity in a list: a copy of its record in a short form. The same text is in all of its lists.
//!
//! Boards read thousands of entries, and each opportunity has four, so they are short: short names, times as
//! milliseconds since 1970, money as cents. Defaults are absent, and so is what the entry's key contains. The text is
//! decoded without an intermediate form. Unknown names are ignored, because an entry is derived: its record has them.

mod values;

use serde::{Deserialize, Serialize};
use serde_json::value::{Map, Number, Value};

use super::snapshot::{KIND, OpportunitySnapshot};
use crate::ids::{ColumnId, CompanyId, DepartmentId, FunnelId, LeadId, OpportunityId, TagId, UserId};
use crate::lead::{self, Channel, ChannelRestrictions, Lead};
use crate::money::Cents;
use crate::opportunity::{Opportunity, ServicePermission, Status};
use crate::people::{Company, NumberOrText};
use crate::store::key::EntryKey;
use crate::time::Timestamp;
use table::StoreError;
use table::item::{self, Item, s};

use values::{
    cents, companies, is_active, is_default, is_offline, is_usual_locale, is_zero, optional_time, time, unset,
};

/// Attribute with the text of an entry.
const TEXT: &str = "e";

/// Declares the short form of a record: fields with attributes of their own, fields with short names, and optional times
/// with short names. A short name is absent if the field has the default of its type.
macro_rules! short_form {
    (
        $form:ident of $record:literal
        { $($(#[$own:meta])+ $special:ident: $special_type:ty,)* }
        { $($field:ident: $type:ty = $name:literal,)* }
        { $($time:ident = $time_name:literal,)* }
    ) => {
        #[derive(Serialize, Deserialize)]
        #[serde(remote = $record)]
        struct $form {
            $($(#[$own])+ $special: $special_type,)*
            $(
                #[serde(rename = $name, default, skip_serializing_if = "is_default")]
                $field: $type,
            )*
            $(
                #[serde(rename = $time_name, default, with = "optional_time", skip_serializing_if = "is_default")]
                $time: Option<Timestamp>,
            )*
        }
    };
}

short_form! {
    OpportunityForm of "Opportunity"
    {
        #[serde(skip, default = "unset::opportunity")]
        id: OpportunityId,
        #[serde(skip, default = "unset::funnel")]
        crm_id: FunnelId,
        #[serde(skip, default = "unset::column")]
        crm_column: ColumnId,
        #[serde(skip)]
        archived: bool,
        #[serde(skip, default = "unset::time")]
        create_date: Timestamp,
        #[serde(skip, default = "unset::time")]
        update_date: Timestamp,
        #[serde(rename = "u")]
        user: UserId,
        #[serde(rename = "v", default, with = "cents", skip_serializing_if = "is_default")]
        value: Cents,
        #[serde(rename = "ce", default, with = "companies", skip_serializing_if = "is_default")]
        data_company_extra: Vec<Company>,
    }
    {
        title: String = "t",
        lead_id: Option<LeadId> = "l",
        sequence: u64 = "n",
        status: Status = "s",
        loss_reason: Option<String> = "lr",
        gain_reason: Option<String> = "gr",
        sale_channel: Option<String> = "ch",
        campaign: Option<String> = "ca",
        await_column_approved: Value = "aa",
        await_column_approved_user: Value = "au",
        reject_appro: Value = "ra",
        reject_appro_desc: Value = "rd",
        service_permission: ServicePermission = "p",
        service_permission_user: Option<UserId> = "pu",
        service_permission_department: Option<DepartmentId> = "pd",
        service_permission_users: Vec<UserId> = "us",
        service_permission_users_select: Vec<Value> = "ul",
        service_permission_departments: Vec<DepartmentId> = "ds",
        service_permission_departments_select: Vec<Value> = "dl",
        fields: Map<String, Value> = "f",
        files: Vec<Value> = "fi",
        files_data: Vec<Value> = "fd",
        conf_installment: Vec<Value> = "ci",
    }
    {
        expected_close_date = "x",
        last_column_change = "cd",
        last_status_change = "sd",
        gain_date = "g",
        lost_date = "o",
        reopen_date = "r",
    }
}

short_form! {
    LeadForm of "Lead"
    {
        #[serde(skip, default = "unset::lead")]
        id: LeadId,
        #[serde(rename = "d", with = "time")]
        create_date: Timestamp,
        #[serde(skip, default = "unset::time")]
        last_active: Timestamp,
        #[serde(rename = "q", default = "lead::zero", skip_serializing_if = "is_zero")]
        points: Number,
        #[serde(rename = "r", default, with = "ChannelsForm", skip_serializing_if = "is_default")]
        channel_restrictions: ChannelRestrictions,
        #[serde(rename = "pl", default = "lead::preferred_locale", skip_serializing_if = "is_usual_locale")]
        preferred_locale: String,
        #[serde(rename = "ia", default = "lead::instance_active", skip_serializing_if = "is_active")]
        instance_active: String,
        #[serde(rename = "on", default = "lead::lead_online", skip_serializing_if = "is_offline")]
        lead_online: String,
        #[serde(skip)]
        custom: Map<String, Value>,
    }
    {
        firstname: Option<String> = "f",
        lastname: Option<String> = "l",
        email: Option<String> = "e",
        phone: Option<String> = "p",
        chatapp: Option<String> = "w",
        mobile: Option<String> = "m",
        owner: Option<UserId> = "o",
        stage: Option<u64> = "sg",
        photo_url: Option<String> = "ph",
        company: Option<CompanyId> = "c",
        user_access: Vec<UserId> = "ua",
        department_access: Vec<DepartmentId> = "da",
        ignore_sub_departments: bool = "is",
        address: Option<String> = "a",
        city: Option<String> = "y",
        state: Option<String> = "s",
        country: Option<String> = "n",
        zipcode: Option<String> = "z",
        timezone: Option<String> = "tz",
        archived: bool = "ar",
        acquisition_channel: Option<String> = "ac",
        created_by: Option<u64> = "cb",
        created_by_name: Option<String> = "cn",
        created_by_type: Option<String> = "ct",
        updated_by: Option<u64> = "ub",
        updated_by_name: Option<String> = "un",
        ips: Vec<String> = "ip",
        link_instancia: Option<String> = "li",
        initial_password: Option<String> = "pw",
        role: Option<u64> = "ro",
        department: Option<DepartmentId> = "dp",
        partner_instance: Option<u64> = "pi",
        tags: Vec<TagId> = "t",
        utm_tags: Vec<Value> = "ut",
    }
    {
        updated_date = "u",
    }
}

short_form! {
    ChannelsForm of "ChannelRestrictions"
    {
        #[serde(rename = "p", default, with = "ChannelForm", skip_serializing_if = "is_default")]
        social_photo: Channel,
        #[serde(rename = "w", default, with = "ChannelForm", skip_serializing_if = "is_default")]
        chatapp: Channel,
        #[serde(rename = "e", default, with = "ChannelForm", skip_serializing_if = "is_default")]
        email: Channel,
        #[serde(rename = "c", default, with = "ChannelForm", skip_serializing_if = "is_default")]
        social_chat: Channel,
    }
    {}
    {}
}

short_form! {
    ChannelForm of "Channel"
    {
        #[serde(rename = "u")]
        frequency_units: String,
    }
    {
        main_channel: bool = "m",
        disabled: bool = "d",
        frequency_value: Option<i64> = "v",
    }
    {}
}

short_form! {
    CompanyForm of "Company"
    {
        #[serde(rename = "i")]
        id: CompanyId,
    }
    {
        companyname: String = "n",
        cnpj: Option<String> = "cj",
        companyaddress: Option<String> = "a",
        companyannualrevenue: Option<NumberOrText> = "ar",
        companycity: Option<String> = "y",
        companycountry: Option<String> = "c",
        companyemail: Option<String> = "e",
        companyindustry: Option<String> = "in",
        companynemployees: Option<NumberOrText> = "ne",
        companyphone: Option<String> = "p",
        companystate: Option<String> = "s",
        companyzipcode: Option<String> = "z",
        created_by: Option<u64> = "cb",
        created_by_name: Option<String> = "cn",
        pain_points: Option<String> = "pp",
        owner: Option<UserId> = "o",
        photo_url: Option<String> = "ph",
        points: Option<Number> = "q",
        customer_count: Option<Number> = "cc",
        updated_by: Option<u64> = "ub",
        updated_by_name: Option<String> = "un",
    }
    {
        create_date = "d",
        updated_date = "u",
    }
}

/// The text of an entry. Two times are here, because they are absent if they equal another.
#[derive(Serialize, Deserialize)]
struct EntryText {
    #[serde(rename = "o", with = "OpportunityForm")]
    opportunity: Opportunity,
    /// Time of the last change, if it is not that of the creation.
    #[serde(
        rename = "u",
        default,
        with = "optional_time",
        skip_serializing_if = "is_default"
    )]
    updated: Option<Timestamp>,
    /// Its id is the opportunity's `lead_id`.
    #[serde(rename = "l", default, skip_serializing_if = "is_default")]
    lead: Option<LeadText>,
    /// `lastActive` of the lead, if it is not the time of its creation.
    #[serde(
        rename = "a",
        default,
        with = "optional_time",
        skip_serializing_if = "is_default"
    )]
    active: Option<Timestamp>,
    #[serde(rename = "c", default, skip_serializing_if = "is_default")]
    company: Option<CompanyText>,
}

#[derive(PartialEq, Serialize, Deserialize)]
struct LeadText(#[serde(with = "LeadForm")] Lead);

#[derive(PartialEq, Serialize, Deserialize)]
struct CompanyText(#[serde(with = "CompanyForm")] Company);

/// The part of an entry's text that sums and filters read.
#[derive(Deserialize)]
struct OpportunityText {
    #[serde(rename = "o", with = "OpportunityForm")]
    opportunity: Opportunity,
    #[serde(rename = "u", default, with = "optional_time")]
    updated: Option<Timestamp>,
}

/// The entry of an opportunity.
pub fn of(snapshot: &OpportunitySnapshot) -> Result<Item, StoreError> {
    let OpportunitySnapshot {
        opportunity,
        lead,
        company,
    } = snapshot.clone();
    let differing = |time: Timestamp, usual: Timestamp| (time != usual).then_some(time);
    encode(&EntryText {
        updated: differing(opportunity.update_date, opportunity.create_date),
        active: lead
            .as_ref()
            .and_then(|lead| differing(lead.last_active, lead.create_date)),
        opportunity,
        lead: lead.map(LeadText),
        company: company.map(CompanyText),
    })
}

/// The opportunity of an entry with its copies.
pub fn snapshot(entry: &Item) -> Result<OpportunitySnapshot, StoreError> {
    let text: EntryText = item::need_json(KIND, entry, TEXT)?;
    let mut snapshot = OpportunitySnapshot {
        opportunity: text.opportunity,
        lead: text.lead.map(|LeadText(lead)| lead),
        company: text.company.map(|CompanyText(company)| company),
    };
    complete(&mut snapshot.opportunity, entry, text.updated)?;
    if let Some((lead, id)) = snapshot.lead.as_mut().zip(snapshot.opportunity.lead_id) {
        lead.id = id;
        lead.last_active = text.active.unwrap_or(lead.create_date);
    }
    Ok(snapshot)
}

/// The opportunity of an entry. Its copies are not decoded.
pub fn opportunity(entry: &Item) -> Result<Opportunity, StoreError> {
    let OpportunityText {
        mut opportunity,
        updated,
    } = item::need_json(KIND, entry, TEXT)?;
    complete(&mut opportunity, entry, updated)?;
    Ok(opportunity)
}

/// Whether an item is an entry.
pub fn is_entry(item: &Item) -> bool {
    item.contains_key(TEXT)
}

/// An entry without names that this build does not know; `None` if it cannot be read.
pub fn known(entry: &Item) -> Option<Item> {
    let text: EntryText = item::need_json(KIND, entry, TEXT).ok()?;
    encode(&text).ok()
}

fn encode(text: &EntryText) -> Result<Item, StoreError> {
    let text = serde_json::to_string(text).map_err(|cause| StoreError::Unstorable {
        kind: KIND,
        cause: cause.to_string(),
    })?;
    Ok(Item::from([(TEXT.to_owned(), s(text))]))
}

/// Sets what the text of an entry lacks. The key contains it.
fn complete(
    opportunity: &mut Opportunity,
    entry: &Item,
    updated: Option<Timestamp>,
) -> Result<(), StoreError> {
    let listed = EntryKey::of(entry).ok_or_else(|| item::corrupt(KIND, "its key is not that of an entry"))?;
    opportunity.id = listed.id;
    opportunity.crm_id = listed.funnel;
    opportunity.crm_column = listed.column;
    opportunity.archived = listed.archived;
    opportunity.create_date = listed.create_date;
    opportunity.update_date = updated.unwrap_or(listed.create_date);
    Ok(())
}

#[cfg(test)]
mod tests;
