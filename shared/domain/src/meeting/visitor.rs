//! A person who books a meeting and may not be a lead yet (C-54).

use serde::Deserialize;

use crate::ids::LeadId;
use crate::lead::Lead;
use crate::time::Timestamp;

/// The person's data in a booking: the only fields of a lead that a booking can set.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[expect(missing_docs, reason = "the fields are those of a lead")]
pub struct NewContact {
    pub firstname: Option<String>,
    pub lastname: Option<String>,
    pub email: Option<String>,
    pub phone: Option<String>,
    pub mobile: Option<String>,
    pub chatapp: Option<String>,
    pub address: Option<String>,
    pub city: Option<String>,
    pub state: Option<String>,
    pub country: Option<String>,
    pub zipcode: Option<String>,
    pub timezone: Option<String>,
    pub preferred_locale: Option<String>,
}

impl NewContact {
    /// Names of the fields.
    pub const FIELDS: [&'static str; 13] = [
        "firstname",
        "lastname",
        "email",
        "phone",
        "mobile",
        "chatapp",
        "address",
        "city",
        "state",
        "country",
        "zipcode",
        "timezone",
        "preferred_locale",
    ];

    /// Whether the first name or the e-mail address is not blank.
    #[must_use]
    pub fn is_named(&self) -> bool {
        let mut names = [&self.firstname, &self.email].into_iter().flatten();
        names.any(|text| !text.trim().is_empty())
    }

    /// The lead that the booking creates (C-73).
    #[must_use]
    pub fn lead(&self, id: LeadId, now: Timestamp) -> Lead {
        let contact = self.clone();
        let defaults = Lead::new(id, now);
        Lead {
            firstname: contact.firstname,
            lastname: contact.lastname,
            email: contact.email,
            phone: contact.phone,
            mobile: contact.mobile,
            chatapp: contact.chatapp,
            address: contact.address,
            city: contact.city,
            state: contact.state,
            country: contact.country,
            zipcode: contact.zipcode,
            timezone: contact.timezone,
            preferred_locale: contact.preferred_locale.unwrap_or(defaults.preferred_locale),
            created_by_type: Some("booking".to_owned()),
            ..defaults
        }
    }
}
