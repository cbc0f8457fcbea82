//! The settings of an instance (C-83): names, accepted values and defaults.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use subtle::ConstantTimeEq as _;

use crate::integer::plain;
use crate::time::Zone;
use sha2::{Digest, Sha256};

/// Where endpoints accept credentials (C-2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CredentialPlacement {
    /// The API key in header, query or as Bearer. The access token is optional.
    Anywhere,
    /// Exactly as in spec.md's Authentication table. Unknown values of later versions are also read as this
    /// (C-88).
    #[default]
    #[serde(other)]
    Strict,
}

impl CredentialPlacement {
    /// All values.
    pub const ALL: [Self; 2] = [Self::Strict, Self::Anywhere];
}

/// Requests per minute (C-9): 1 to 1,000,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Rate(u32);

impl Rate {
    /// Message for an invalid rate.
    pub const MUST: &str = "must be a whole number from 1 to 1000000";

    /// A rate; `None` if out of range.
    #[must_use]
    pub fn new(requests: u32) -> Option<Self> {
        (1..=1_000_000).contains(&requests).then_some(Self(requests))
    }

    /// Requests per minute.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

/// Read units that a search, a filter or a far page may consume (C-86): 1 to 1,000,000 [default: 20,000].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ReadUnits(u32);

impl ReadUnits {
    /// Message for an invalid number.
    pub const MUST: &str = "must be a whole number from 1 to 1000000";

    /// A number of units; `None` if out of range.
    #[must_use]
    pub fn new(units: u32) -> Option<Self> {
        (1..=1_000_000).contains(&units).then_some(Self(units))
    }

    /// Number of read units.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

impl Default for ReadUnits {
    fn default() -> Self {
        Self(20_000)
    }
}

/// All settings of an instance. Absent settings have defaults.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    #[serde(skip_serializing_if = "Option::is_none")]
    voip_webhook_secret: Option<WebhookSecret>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timezone: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    currency: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page_base: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    credential_placement: Option<CredentialPlacement>,
    #[serde(skip_serializing_if = "Option::is_none")]
    requests_per_minute: Option<Rate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    public_requests_per_minute: Option<Rate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    webhook_requests_per_minute: Option<Rate>,
    #[serde(skip_serializing_if = "Option::is_none")]
    read_budget: Option<ReadUnits>,
}

/// A rejected setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// Unknown name.
    #[error("unknown setting; the settings are {}", NAMES.join(", "))]
    Unknown,
    /// Invalid value for the setting.
    #[error("{0} {1}")]
    Value(&'static str, &'static str),
}

const MUST_BE_CURRENCY: &str = "must be a code of ISO 4217 such as BRL, USD or EUR";

/// Names of all settings, in display order.
pub const NAMES: [&str; 9] = [
    "voip_webhook_secret",
    "timezone",
    "currency",
    "page_base",
    "credential_placement",
    "requests_per_minute",
    "public_requests_per_minute",
    "webhook_requests_per_minute",
    "read_budget",
];

/// The currencies of ISO 4217 in use, without funds, metals and codes for tests.
const CURRENCIES: &str = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD CAD CDF \
    CHF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD HKD HNL HTG HUF IDR \
    ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD MAD MDL MGA MKD MMK MNT MOP MRU \
    MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD \
    SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS UAH UGX USD UYU UZS VES VND VUV WST XAF XCD XCG XOF \
    XPF YER ZAR ZMW ZWG";

impl Settings {
    /// Sets one setting from JSON, or from text if the value is a number. `null` restores the default.
    ///
    /// # Errors
    /// [`SettingError`] for an unknown name or an invalid value.
    pub fn set(&mut self, name: &str, value: &Value) -> Result<(), SettingError> {
        match name {
            "voip_webhook_secret" => {
                self.voip_webhook_secret = optional(
                    value,
                    WebhookSecret::read,
                    "voip_webhook_secret",
                    WebhookSecret::MUST,
                )?;
            }
            "timezone" => self.timezone = optional(value, zone_name, "timezone", Zone::MUST)?,
            "currency" => self.currency = optional(value, currency_code, "currency", MUST_BE_CURRENCY)?,
            "page_base" => self.page_base = optional(value, page_base, "page_base", "must be 0 or 1")?,
            "credential_placement" => {
                let rule = "must be strict or anywhere";
                self.credential_placement = optional(value, placement, "credential_placement", rule)?;
            }
            "requests_per_minute" => {
                self.requests_per_minute = optional(value, rate, "requests_per_minute", Rate::MUST)?;
            }
            "public_requests_per_minute" => {
                self.public_requests_per_minute =
                    optional(value, rate, "public_requests_per_minute", Rate::MUST)?;
            }
            "webhook_requests_per_minute" => {
                self.webhook_requests_per_minute =
                    optional(value, rate, "webhook_requests_per_minute", Rate::MUST)?;
            }
            "read_budget" => {
                self.read_budget = optional(value, read_units, "read_budget", ReadUnits::MUST)?;
            }
            _ => return Err(SettingError::Unknown),
        }
        Ok(())
    }

    /// The settings that are set, by name. Contains the webhook's secret in clear text, so use it only for exports and
    /// for the operator.
    #[must_use]
    pub fn entries(&self) -> Vec<(&'static str, Value)> {
        let values = [
            self.voip_webhook_secret
                .as_ref()
                .map(|secret| Value::from(secret.0.as_str())),
            self.timezone.as_deref().map(Value::from),
            self.currency.as_deref().map(Value::from),
            self.page_base.map(Value::from),
            self.credential_placement.map(|placement| match placement {
                CredentialPlacement::Strict => Value::from("strict"),
                CredentialPlacement::Anywhere => Value::from("anywhere"),
            }),
            self.requests_per_minute.map(|rate| rate.get().into()),
            self.public_requests_per_minute.map(|rate| rate.get().into()),
            self.webhook_requests_per_minute.map(|rate| rate.get().into()),
            self.read_budget.map(|units| units.get().into()),
        ];
        NAMES
            .into_iter()
            .zip(values)
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    }

    /// The name of the time zone, if it is set.
    #[must_use]
    pub fn timezone(&self) -> Option<&str> {
        self.timezone.as_deref()
    }

    /// The currency of amounts, a code of ISO 4217 (C-83) [default: BRL].
    #[must_use]
    pub fn currency(&self) -> &str {
        self.currency.as_deref().unwrap_or("BRL")
    }

    /// The time zone of date filters' days (C-8).
    #[must_use]
    pub fn zone(&self) -> Zone {
        self.timezone
            .as_deref()
            .and_then(Zone::parse)
            .unwrap_or(Zone::UTC)
    }

    /// The number of the first page (C-40).
    #[must_use]
    pub fn page_base(&self) -> u64 {
        u64::from(self.page_base.unwrap_or(1))
    }

    /// Accepted places of credentials (C-2).
    #[must_use]
    pub fn credential_placement(&self) -> CredentialPlacement {
        self.credential_placement.unwrap_or_default()
    }

    /// Requests per minute of all keys without a limit of their own (C-9).
    #[must_use]
    pub fn requests_per_minute(&self) -> Option<Rate> {
        self.requests_per_minute
    }

    /// Requests per minute of each public route (C-9).
    #[must_use]
    pub fn public_requests_per_minute(&self) -> Option<Rate> {
        self.public_requests_per_minute
    }

    /// Calls per minute of a call webhook with a secret (C-9). Without a secret, the limit of public routes applies.
    #[must_use]
    pub fn webhook_requests_per_minute(&self) -> Option<Rate> {
        self.webhook_requests_per_minute
    }

    /// Read units for a search, a filter or a far page (C-86).
    #[must_use]
    pub fn read_budget(&self) -> ReadUnits {
        self.read_budget.unwrap_or_default()
    }

    /// Whether the call webhook requires no secret.
    #[must_use]
    pub fn is_webhook_open(&self) -> bool {
        self.voip_webhook_secret.is_none()
    }

    /// Whether the webhook's secret is short enough to guess (C-83).
    #[must_use]
    pub fn has_weak_secret(&self) -> bool {
        let secret = self.voip_webhook_secret.as_ref();
        secret.is_some_and(|secret| secret.0.len() < 16)
    }

    /// Whether a call webhook with `secret` is accepted. True if no secret is set.
    #[must_use]
    pub fn admits_webhook(&self, secret: Option<&str>) -> bool {
        match (&self.voip_webhook_secret, secret) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(expected), Some(given)) => expected.is(given),
        }
    }
}

/// The secret of the telephony provider. Stored in clear text because the operator's export contains it
/// (C-81); `Debug` never prints it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
struct WebhookSecret(String);

impl WebhookSecret {
    /// Message for an invalid secret.
    const MUST: &str =
        "must be 1 to 256 ASCII characters that a header can carry, without a space at either end";

    /// `None` if the value is not text that a header can contain unchanged.
    fn read(value: &Value) -> Option<Self> {
        let text = value.as_str()?;
        let is_printable = text.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        let fits_header = is_printable && text.trim_matches(' ') == text;
        (fits_header && (1..=256).contains(&text.len())).then(|| Self(text.to_owned()))
    }

    /// Compares digests, so the time reveals neither content nor length (C-75).
    fn is(&self, given: &str) -> bool {
        Sha256::digest(&self.0).ct_eq(&Sha256::digest(given)).into()
    }
}

impl std::fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("WebhookSecret(…)")
    }
}

/// The value of the setting `name`: `None` for null, else the result of `read`.
///
/// # Errors
/// [`SettingError::Value`] with `rule` if `read` rejects the value.
fn optional<T>(
    value: &Value,
    read: impl Fn(&Value) -> Option<T>,
    name: &'static str,
    rule: &'static str,
) -> Result<Option<T>, SettingError> {
    if value.is_null() {
        return Ok(None);
    }
    read(value).map(Some).ok_or(SettingError::Value(name, rule))
}

/// A number, or the text of one, as commands pass it.
fn number(value: &Value) -> Option<u64> {
    value.as_u64().or_else(|| plain(value.as_str()?))
}

fn read_units(value: &Value) -> Option<ReadUnits> {
    ReadUnits::new(u32::try_from(number(value)?).ok()?)
}

fn page_base(value: &Value) -> Option<u8> {
    u8::try_from(number(value)?).ok().filter(|base| *base <= 1)
}

fn rate(value: &Value) -> Option<Rate> {
    Rate::new(u32::try_from(number(value)?).ok()?)
}

fn zone_name(value: &Value) -> Option<String> {
    let name = value.as_str()?;
    Zone::parse(name).map(|_| name.to_owned())
}

/// The code in upper case, if ISO 4217 has it.
fn currency_code(value: &Value) -> Option<String> {
    let code = value.as_str()?.to_ascii_uppercase();
    CURRENCIES
        .split_whitespace()
        .any(|known| known == code)
        .then_some(code)
}

fn placement(value: &Value) -> Option<CredentialPlacement> {
    match value.as_str()? {
        "strict" => Some(CredentialPlacement::Strict),
        "anywhere" => Some(CredentialPlacement::Anywhere),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
