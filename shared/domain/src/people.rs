//! Users, companies, and profiles of messaging accounts. Only the operator writes them.

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Number, Value};

use crate::directory::Membership;
use crate::ids::{CompanyId, DepartmentId, GroupId, UserId};
use crate::time::Timestamp;

/// A user of an instance.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// The user's id.
    pub id: UserId,
    /// First name.
    pub name: String,
    /// Last name.
    #[serde(default)]
    pub last_name: Option<String>,
    /// E-mail address.
    #[serde(default)]
    pub email: Option<String>,
    /// The user's department.
    #[serde(default)]
    pub department: Option<DepartmentId>,
    /// The user's permission group. A user without a group has no permissions, unless the user is an admin.
    #[serde(default)]
    pub group: Option<GroupId>,
    /// Whether the user may see and do everything.
    #[serde(default)]
    pub admin: bool,
    /// Whether the user is active. Credentials of an inactive user are invalid.
    #[serde(default = "crate::json::default_true")]
    pub active: bool,
    /// Telephone number.
    #[serde(default, deserialize_with = "text_or_number")]
    pub telephone: Option<String>,
    /// Address of a picture.
    #[serde(default)]
    pub photo: Option<String>,
    /// Number of the user's messaging account.
    #[serde(default, deserialize_with = "text_or_number")]
    pub whatsapp: Option<String>,
    /// Telephone extension.
    #[serde(default, deserialize_with = "text_or_number")]
    pub branch: Option<String>,
    /// Job title.
    #[serde(rename = "position_company", default)]
    pub position_company: Option<String>,
    /// Name under which the user signs in elsewhere.
    #[serde(default)]
    pub username: Option<String>,
    /// Last login, as far as the operator knows.
    #[serde(rename = "last_login", default)]
    pub last_login: Option<Timestamp>,
    /// Last action, as far as the operator knows.
    #[serde(rename = "last_action", default)]
    pub last_action: Option<Timestamp>,
}

impl User {
    /// An active user with defaults for all other fields.
    #[must_use]
    pub fn new(id: UserId, name: impl Into<String>) -> Self {
        Self {
            id,
            name: name.into(),
            last_name: None,
            email: None,
            department: None,
            group: None,
            admin: false,
            active: true,
            telephone: None,
            photo: None,
            whatsapp: None,
            branch: None,
            position_company: None,
            username: None,
            last_login: None,
            last_action: None,
        }
    }

    /// Display name, as in `owner{name}`.
    #[must_use]
    pub fn full_name(&self) -> String {
        match self.last_name.as_deref() {
            None | Some("") => self.name.clone(),
            Some(last) => format!("{} {last}", self.name),
        }
    }
}

impl From<&User> for Membership {
    fn from(user: &User) -> Self {
        Self {
            department: user.department,
            group: user.group,
            admin: user.admin,
            inactive: !user.active,
        }
    }
}

/// Owner of a messaging account, by its number (C-73).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Profile {
    /// The account's number.
    pub number: String,
    /// The name on the account.
    pub name: String,
    /// The account's picture.
    #[serde(default)]
    pub photo_url: Option<String>,
}

/// A company with spec.md's fields. Numbers may also be text, as some providers send them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[expect(
    missing_docs,
    reason = "the fields are named and explained in spec.md, Company"
)]
pub struct Company {
    pub id: CompanyId,
    #[serde(default)]
    pub cnpj: Option<String>,
    #[serde(default)]
    pub companyaddress: Option<String>,
    #[serde(default)]
    pub companyannualrevenue: Option<NumberOrText>,
    #[serde(default)]
    pub companycity: Option<String>,
    #[serde(default)]
    pub companycountry: Option<String>,
    #[serde(default)]
    pub companyemail: Option<String>,
    #[serde(default)]
    pub companyindustry: Option<String>,
    pub companyname: String,
    #[serde(default)]
    pub companynemployees: Option<NumberOrText>,
    #[serde(default)]
    pub companyphone: Option<String>,
    #[serde(default)]
    pub companystate: Option<String>,
    #[serde(default)]
    pub companyzipcode: Option<String>,
    #[serde(rename = "createDate", default)]
    pub create_date: Option<Timestamp>,
    #[serde(rename = "createdBy", default)]
    pub created_by: Option<u64>,
    #[serde(rename = "createdByName", default)]
    pub created_by_name: Option<String>,
    #[serde(default)]
    pub pain_points: Option<String>,
    #[serde(default)]
    pub owner: Option<UserId>,
    #[serde(rename = "photoUrl", default)]
    pub photo_url: Option<String>,
    #[serde(default)]
    pub points: Option<Number>,
    #[serde(default)]
    pub customer_count: Option<Number>,
    #[serde(rename = "updatedBy", default)]
    pub updated_by: Option<u64>,
    #[serde(rename = "updatedByName", default)]
    pub updated_by_name: Option<String>,
    #[serde(rename = "updatedDate", default)]
    pub updated_date: Option<Timestamp>,
}

impl Company {
    /// The fields that are not null, as stored with a lead or an opportunity.
    #[must_use]
    pub fn sparse(&self) -> Map<String, Value> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(self) else {
            return Map::new();
        };
        fields.retain(|_, value| !value.is_null());
        fields
    }
}

/// A number, or text in its place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum NumberOrText {
    /// A number.
    Number(Number),
    /// Text such as `10-50`.
    Text(String),
}

/// Deserializes optional text that other systems send as a number, such as an id or a telephone number.
///
/// # Errors
/// An error if the value is neither text nor a number, and errors of the deserializer.
pub fn text_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let value = Option::<NumberOrText>::deserialize(deserializer)?;
    Ok(value.map(|value| match value {
        NumberOrText::Number(number) => number.to_string(),
        NumberOrText::Text(text) => text,
    }))
}
