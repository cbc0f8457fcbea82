//! A lead: fields of spec.md, defaults and full view (C-21).

mod view;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value};

use unicode_normalization::UnicodeNormalization as _;

use crate::ids::{CompanyId, DepartmentId, LeadId, TagId, UserId};
use crate::input::person_text;
use crate::phone::{self, Phone, ReadPhone};
use crate::text::is_invisible;
use crate::time::Timestamp;
use crate::visibility::AccessLists;

pub use view::LeadView;

/// Maximum numbers of a lead. Each has two items of its own.
const MAX_PHONES: usize = 6;

/// Restrictions of one channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Channel {
    /// Whether the lead prefers this channel.
    pub main_channel: bool,
    /// Whether the channel is closed.
    pub disabled: bool,
    /// At most one message in this number of [units](Self::frequency_units).
    pub frequency_value: Option<i64>,
    /// Unit of the frequency.
    pub frequency_units: String,
}

impl Default for Channel {
    fn default() -> Self {
        Self {
            main_channel: false,
            disabled: false,
            frequency_value: None,
            frequency_units: "DAY".to_owned(),
        }
    }
}

/// The four channels of spec.md.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[expect(missing_docs, reason = "the channels are named as spec.md names them")]
pub struct ChannelRestrictions {
    pub social_photo: Channel,
    pub chatapp: Channel,
    pub email: Channel,
    pub social_chat: Channel,
}

/// A lead. The serialized form is spec.md's full view without derived fields (`_id`, `fullname`,
/// `instancedomain`) and without the free-form `utmTags` and [`custom`](Self::custom), which callers add.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(missing_docs, reason = "the fields are named and explained in spec.md, Lead")]
pub struct Lead {
    pub id: LeadId,
    #[serde(default)]
    pub firstname: Option<String>,
    #[serde(default)]
    pub lastname: Option<String>,
    #[serde(default)]
    pub email: Option<String>,
    #[serde(default)]
    pub phone: Option<String>,
    #[serde(default)]
    pub chatapp: Option<String>,
    #[serde(default)]
    pub mobile: Option<String>,
    #[serde(default = "zero")]
    pub points: Number,
    #[serde(default)]
    pub owner: Option<UserId>,
    #[serde(default)]
    pub stage: Option<u64>,
    #[serde(default)]
    pub photo_url: Option<String>,
    #[serde(default)]
    pub company: Option<CompanyId>,
    #[serde(default)]
    pub user_access: Vec<UserId>,
    #[serde(default)]
    pub department_access: Vec<DepartmentId>,
    #[serde(default)]
    pub ignore_sub_departments: bool,
    #[serde(default)]
    pub address: Option<String>,
    #[serde(default)]
    pub city: Option<String>,
    #[serde(default)]
    pub state: Option<String>,
    #[serde(default)]
    pub country: Option<String>,
    #[serde(default)]
    pub zipcode: Option<String>,
    #[serde(default)]
    pub timezone: Option<String>,
    #[serde(default)]
    pub archived: bool,
    #[serde(rename = "acquisition_channel", default)]
    pub acquisition_channel: Option<String>,
    #[serde(default)]
    pub channel_restrictions: ChannelRestrictions,
    pub create_date: Timestamp,
    pub last_active: Timestamp,
    #[serde(default)]
    pub created_by: Option<u64>,
    #[serde(default)]
    pub created_by_name: Option<String>,
    #[serde(default)]
    pub created_by_type: Option<String>,
    #[serde(default)]
    pub updated_by: Option<u64>,
    #[serde(default)]
    pub updated_by_name: Option<String>,
    #[serde(default)]
    pub updated_date: Option<Timestamp>,
    #[serde(default)]
    pub ips: Vec<String>,
    #[serde(rename = "link_instancia", default)]
    pub link_instancia: Option<String>,
    #[serde(rename = "preferred_locale", default = "preferred_locale")]
    pub preferred_locale: String,
    /// A secret: visible to admins and in the operator's export, never selected, searched or logged (C-21).
    #[serde(rename = "initial_password", default)]
    pub initial_password: Option<String>,
    #[serde(default)]
    pub role: Option<u64>,
    #[serde(default)]
    pub department: Option<DepartmentId>,
    #[serde(rename = "instance_active", default = "instance_active")]
    pub instance_active: String,
    #[serde(rename = "lead_online", default = "lead_online")]
    pub lead_online: String,
    #[serde(rename = "partner_instance", default)]
    pub partner_instance: Option<u64>,
    #[serde(default)]
    pub tags: Vec<TagId>,
    #[serde(skip)]
    pub utm_tags: Vec<Value>,
    /// The custom fields by alias.
    #[serde(skip)]
    pub custom: Map<String, Value>,
}

/// Names in the view that are not serialized fields of [`Lead`]. Custom fields cannot have these names or the
/// fields' names as aliases.
pub const DERIVED_FIELDS: [&str; 3] = ["_id", "fullname", "instancedomain"];

/// The other name of `chatapp` (C-90).
pub const WHATSAPP: &str = "whatsapp";

/// Renames `whatsapp` to `chatapp` in the fields of a lead (C-90). If both are present and read as equal, only `chatapp`
/// remains. A blank one counts as absent.
///
/// # Errors
/// The rule that the field [`WHATSAPP`] violates, if both are present and differ.
pub fn unite_whatsapp(fields: &mut Map<String, Value>) -> Result<(), &'static str> {
    let Some(whatsapp) = fields.shift_remove(WHATSAPP) else {
        return Ok(());
    };
    let chatapp = fields.entry("chatapp").or_insert_with(|| whatsapp.clone());
    match (person_text(chatapp), person_text(&whatsapp)) {
        (Ok(None), Ok(_)) => *chatapp = whatsapp,
        (_, Ok(None)) => {}
        (chatapp, whatsapp) if chatapp == whatsapp => {}
        _ => return Err("must be the same as chatapp"),
    }
    Ok(())
}

impl Lead {
    /// A lead with defaults for all other fields.
    #[must_use]
    #[expect(clippy::too_many_lines, reason = "one line for each field")]
    pub fn new(id: LeadId, create_date: Timestamp) -> Self {
        Self {
            id,
            firstname: None,
            lastname: None,
            email: None,
            phone: None,
            chatapp: None,
            mobile: None,
            points: zero(),
            owner: None,
            stage: None,
            photo_url: None,
            company: None,
            user_access: Vec::new(),
            department_access: Vec::new(),
            ignore_sub_departments: false,
            address: None,
            city: None,
            state: None,
            country: None,
            zipcode: None,
            timezone: None,
            archived: false,
            acquisition_channel: None,
            channel_restrictions: ChannelRestrictions::default(),
            create_date,
            last_active: create_date,
            created_by: None,
            created_by_name: None,
            created_by_type: None,
            updated_by: None,
            updated_by_name: None,
            updated_date: None,
            ips: Vec::new(),
            link_instancia: None,
            preferred_locale: preferred_locale(),
            initial_password: None,
            role: None,
            department: None,
            instance_active: instance_active(),
            lead_online: lead_online(),
            partner_instance: None,
            tags: Vec::new(),
            utm_tags: Vec::new(),
            custom: Map::new(),
        }
    }

    /// First and last name joined by a space; absent parts are omitted (C-21).
    #[must_use]
    pub fn fullname(&self) -> String {
        let names = [&self.firstname, &self.lastname].into_iter().flatten();
        let present: Vec<_> = names
            .map(String::as_str)
            .filter(|name| !name.is_empty())
            .collect();
        present.join(" ")
    }

    /// The texts with its telephone numbers, all of equal rank (C-72).
    pub fn number_texts(&self) -> impl Iterator<Item = &str> {
        [&self.phone, &self.mobile, &self.chatapp]
            .into_iter()
            .flatten()
            .map(String::as_str)
    }

    /// Its distinct telephone numbers, at most [`MAX_PHONES`]: the first of each field, then the others (C-108).
    #[must_use]
    pub fn phones(&self) -> Vec<Phone> {
        let read: Vec<_> = self.number_texts().map(phone::read).collect();
        let firsts = read.iter().flat_map(|numbers| numbers.iter().take(1));
        let others = read.iter().flat_map(|numbers| numbers.iter().skip(1));
        let mut phones: Vec<Phone> = Vec::new();
        for ReadPhone { phone, .. } in firsts.chain(others) {
            let is_new = !phones.iter().any(|other| other.digits() == phone.digits());
            if is_new && phones.len() < MAX_PHONES {
                phones.push(phone.clone());
            }
        }
        phones
    }

    /// The lead's access lists.
    #[must_use]
    pub fn lists(&self) -> AccessLists {
        AccessLists {
            user_access: self.user_access.clone(),
            department_access: self.department_access.clone(),
            ignore_sub_departments: self.ignore_sub_departments,
        }
    }

    /// `_id`: text of kind and id (C-21).
    #[must_use]
    pub fn text_id(&self) -> String {
        format!("lead-{}", self.id)
    }

    /// Removes the secrets, for viewers who are not admins (C-21).
    pub fn hide_secrets(&mut self) {
        self.initial_password = None;
    }
}

/// The form in which e-mail addresses are compared: without case, in NFC and without invisible characters (C-108).
/// `None` for a blank one.
#[must_use]
pub fn same_email(email: &str) -> Option<String> {
    let visible = email.chars().filter(|c| !is_invisible(*c));
    let same: String = visible.nfc().flat_map(char::to_lowercase).nfc().collect();
    let same = same.trim();
    (!same.is_empty()).then(|| same.to_owned())
}

/// The address that identifies a person, in the form in which addresses are compared; `None` for a text that is none, such
/// as `não tenho`.
#[must_use]
pub fn identifying_email(email: &str) -> Option<String> {
    let email = same_email(email)?;
    let (name, host) = email.rsplit_once('@')?;
    let is_whole = !name.is_empty() && !host.is_empty() && !email.contains(char::is_whitespace);
    is_whole.then_some(email)
}

/// The default of `points`.
#[must_use]
pub fn zero() -> Number {
    Number::from(0)
}

/// The default of `preferred_locale`.
#[must_use]
pub fn preferred_locale() -> String {
    "pt-BR".to_owned()
}

/// The default of `instance_active`.
#[must_use]
pub fn instance_active() -> String {
    "true".to_owned()
}

/// The default of `lead_online`.
#[must_use]
pub fn lead_online() -> String {
    "false".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn lead() -> Lead {
        Lead::new(
            LeadId::new(7).unwrap(),
            Timestamp::parse("2026-01-02T03:04:05.678Z").unwrap(),
        )
    }

    #[test]
    fn e_mail_addresses_are_compared_without_case() {
        assert_eq!(
            same_email(" Ção@Example.COM "),
            Some("ção@example.com".to_owned())
        );
        for other in [
            "c\u{327}a\u{303}o@example.com",
            "ção@exam\u{200b}ple.com\u{feff}",
            "\u{feff}ÇÃO@EXAMPLE.COM",
        ] {
            assert_eq!(same_email(other), Some("ção@example.com".to_owned()), "{other:?}");
        }
        assert_eq!(same_email(" \u{200b}"), None);
        assert_eq!(identifying_email(" ANA@x "), Some("ana@x".to_owned()));
        for nobody in [
            "não tenho",
            "-",
            "x",
            "@",
            "nao@",
            "@gmail.com",
            "ana @x.com",
            "sem e-mail",
            "0",
        ] {
            assert_eq!(identifying_email(nobody), None, "{nobody}");
        }
    }

    /// C-90.
    #[test]
    fn whatsapp_is_chatapp() {
        let united = |fields: Value| {
            let mut fields = fields.as_object().unwrap().clone();
            unite_whatsapp(&mut fields).map(|()| Value::Object(fields))
        };
        assert_eq!(united(json!({ "whatsapp": "1" })), Ok(json!({ "chatapp": "1" })));
        assert_eq!(
            united(json!({ "chatapp": null, "whatsapp": null })),
            Ok(json!({ "chatapp": null }))
        );
        assert_eq!(united(json!({ "chatapp": "1" })), Ok(json!({ "chatapp": "1" })));
        for (whatsapp, chatapp) in [
            (json!(null), json!("1")),
            (json!(" "), json!("1")),
            (json!(1), json!("1")),
        ] {
            let both = json!({ "chatapp": chatapp, "whatsapp": whatsapp });
            assert_eq!(united(both), Ok(json!({ "chatapp": "1" })), "{whatsapp}");
        }
        assert_eq!(
            united(json!({ "chatapp": "", "whatsapp": "1" })),
            Ok(json!({ "chatapp": "1" }))
        );
        for other in [json!("2"), json!({}), json!(true)] {
            let both = json!({ "chatapp": "1", "whatsapp": other });
            assert_eq!(united(both), Err("must be the same as chatapp"));
        }
    }

    #[test]
    fn the_full_name_omits_absent_parts() {
        let named = |first: Option<&str>, last: Option<&str>| {
            let (firstname, lastname) = (first.map(str::to_owned), last.map(str::to_owned));
            Lead {
                firstname,
                lastname,
                ..lead()
            }
            .fullname()
        };
        assert_eq!(named(Some("José"), Some("da Conceição")), "José da Conceição");
        assert_eq!(named(Some("José"), None), "José");
        assert_eq!(named(None, Some("Silva")), "Silva");
        assert_eq!(named(Some(""), Some("Silva")), "Silva");
        assert_eq!(named(None, None), "");
    }
}
