//! An opportunity: fields of spec.md, states (C-32), and restrictions.

mod filter;
mod view;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::{ColumnId, DepartmentId, FunnelId, LeadId, OpportunityId, UserId};
use crate::money::Cents;
use crate::people::{Company, text_or_number};
use crate::time::Timestamp;
use crate::visibility::Restriction;

pub use filter::{BadDate, Conditions, CustomFieldCondition, DateRange, Filter, Search, SearchBy, TimeRange};
pub use view::{CompanyView, OpportunityView, total_value};

/// Status of an opportunity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Neither won nor lost.
    #[default]
    Open,
    /// Won.
    Gain,
    /// Lost.
    Lost,
}

impl Status {
    /// All statuses.
    pub const ALL: [Self; 3] = [Self::Open, Self::Gain, Self::Lost];

    /// The serialized text.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Gain => "gain",
            Self::Lost => "lost",
        }
    }

    /// Parses the serialized text.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.as_str() == text)
    }
}

/// The access lists that apply to an opportunity (C-82).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ServicePermission {
    /// None.
    #[default]
    All,
    /// `service_permission_users`.
    Users,
    /// `service_permission_departments`.
    Departments,
}

/// An opportunity. The serialized form has spec.md's fields without the embedded lead and company, and is the
/// line of an import (C-81).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "the fields are named and explained in spec.md, Opportunity"
)]
pub struct Opportunity {
    pub id: OpportunityId,
    pub title: String,
    #[serde(default)]
    pub value: Cents,
    pub crm_column: ColumnId,
    pub crm_id: FunnelId,
    /// Null after the lead was deleted (C-24).
    #[serde(default)]
    pub lead_id: Option<LeadId>,
    #[serde(default)]
    pub sequence: u64,
    #[serde(default)]
    pub status: Status,
    #[serde(default, deserialize_with = "text_or_number")]
    pub loss_reason: Option<String>,
    #[serde(default, deserialize_with = "text_or_number")]
    pub gain_reason: Option<String>,
    #[serde(rename = "expectedCloseDate", default)]
    pub expected_close_date: Option<Timestamp>,
    #[serde(default)]
    pub sale_channel: Option<String>,
    #[serde(default)]
    pub campaign: Option<String>,
    pub user: UserId,
    #[serde(default)]
    pub last_column_change: Option<Timestamp>,
    #[serde(default)]
    pub last_status_change: Option<Timestamp>,
    #[serde(default)]
    pub gain_date: Option<Timestamp>,
    #[serde(default)]
    pub lost_date: Option<Timestamp>,
    #[serde(default)]
    pub reopen_date: Option<Timestamp>,
    #[serde(default)]
    pub await_column_approved: Value,
    #[serde(default)]
    pub await_column_approved_user: Value,
    #[serde(default)]
    pub reject_appro: Value,
    #[serde(default)]
    pub reject_appro_desc: Value,
    #[serde(rename = "createDate")]
    pub create_date: Timestamp,
    #[serde(rename = "updateDate")]
    pub update_date: Timestamp,
    #[serde(default, with = "crate::integer::zero_or_one")]
    pub archived: bool,
    #[serde(default)]
    pub service_permission: ServicePermission,
    #[serde(default)]
    pub service_permission_user: Option<UserId>,
    #[serde(default)]
    pub service_permission_department: Option<DepartmentId>,
    #[serde(default)]
    pub service_permission_users: Vec<UserId>,
    #[serde(default)]
    pub service_permission_users_select: Vec<Value>,
    #[serde(default)]
    pub service_permission_departments: Vec<DepartmentId>,
    #[serde(default)]
    pub service_permission_departments_select: Vec<Value>,
    #[serde(rename = "dataCompanyExtra", default)]
    pub data_company_extra: Vec<Company>,
    /// Custom fields by name. No value is null.
    #[serde(default)]
    pub fields: Map<String, Value>,
    #[serde(default)]
    pub files: Vec<Value>,
    #[serde(rename = "filesData", default)]
    pub files_data: Vec<Value>,
    #[serde(default)]
    pub conf_installment: Vec<Value>,
}

impl Opportunity {
    /// An open opportunity in a funnel's column, with defaults for all other fields (C-30).
    #[must_use]
    pub fn new(
        id: OpportunityId,
        (crm_id, crm_column): (FunnelId, ColumnId),
        lead_id: LeadId,
        user: UserId,
        create_date: Timestamp,
    ) -> Self {
        Self {
            id,
            title: String::new(),
            value: Cents::default(),
            crm_column,
            crm_id,
            lead_id: Some(lead_id),
            sequence: 0,
            status: Status::Open,
            loss_reason: None,
            gain_reason: None,
            expected_close_date: None,
            sale_channel: None,
            campaign: None,
            user,
            last_column_change: None,
            last_status_change: None,
            gain_date: None,
            lost_date: None,
            reopen_date: None,
            await_column_approved: Value::Null,
            await_column_approved_user: Value::Null,
            reject_appro: Value::Null,
            reject_appro_desc: Value::Null,
            create_date,
            update_date: create_date,
            archived: false,
            service_permission: ServicePermission::All,
            service_permission_user: None,
            service_permission_department: None,
            service_permission_users: Vec::new(),
            service_permission_users_select: Vec::new(),
            service_permission_departments: Vec::new(),
            service_permission_departments_select: Vec::new(),
            data_company_extra: Vec::new(),
            fields: Map::new(),
            files: Vec::new(),
            files_data: Vec::new(),
            conf_installment: Vec::new(),
        }
    }

    /// Sets the initial status, with the date of a won or lost one (C-30).
    pub fn begin_as(&mut self, status: Status) {
        self.status = status;
        match status {
            Status::Open => {}
            Status::Gain => self.gain_date = Some(self.create_date),
            Status::Lost => self.lost_date = Some(self.create_date),
        }
    }

    /// Changes the status and its dates. The same status changes nothing (C-32).
    pub fn change_status(&mut self, status: Status, now: Timestamp) {
        if self.status == status {
            return;
        }
        self.status = status;
        self.last_status_change = Some(now);
        self.gain_date = (status == Status::Gain).then_some(now);
        self.lost_date = (status == Status::Lost).then_some(now);
        if status == Status::Open {
            self.reopen_date = Some(now);
        }
    }

    /// Moves it to a column. The same column changes nothing (C-32).
    pub fn move_to(&mut self, column: ColumnId, now: Timestamp) {
        if self.crm_column != column {
            self.crm_column = column;
            self.last_column_change = Some(now);
        }
    }

    /// The restriction by its service permissions.
    #[must_use]
    pub fn restriction(&self) -> Restriction {
        match self.service_permission {
            ServicePermission::All => Restriction::Open,
            ServicePermission::Users => Restriction::Users(self.service_permission_users.clone()),
            ServicePermission::Departments => {
                Restriction::Departments(self.service_permission_departments.clone())
            }
        }
    }

    /// The fields that differ from their defaults, as stored and exported.
    #[must_use]
    pub fn sparse(&self) -> Map<String, Value> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(self) else {
            return Map::new();
        };
        fields.retain(|name, value| match value {
            Value::Null => false,
            Value::Array(list) => !list.is_empty(),
            Value::Object(map) => !map.is_empty(),
            Value::String(text) => name != "service_permission" || text != "all",
            // 0 is the default of these two only.
            Value::Number(number) => {
                number.as_u64() != Some(0) || !["sequence", "archived"].contains(&name.as_str())
            }
            Value::Bool(_) => true,
        });
        fields
    }
}
