//! Values of an entry's text: when they are absent, and how they are written.

use serde_json::value::Number;

use crate::ids::{ColumnId, FunnelId, LeadId, OpportunityId};
use crate::lead;
use crate::money::Cents;
use crate::time::Timestamp;

pub fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

pub fn is_zero(number: &Number) -> bool {
    *number == lead::zero()
}

pub fn is_usual_locale(locale: &str) -> bool {
    locale == lead::preferred_locale()
}

pub fn is_active(active: &str) -> bool {
    active == lead::instance_active()
}

pub fn is_offline(online: &str) -> bool {
    online == lead::lead_online()
}

/// The values of fields that are not in the text, until they are set.
pub mod unset {
    use super::{ColumnId, FunnelId, LeadId, OpportunityId, Timestamp};

    pub fn opportunity() -> OpportunityId {
        OpportunityId::MAX
    }

    pub fn funnel() -> FunnelId {
        FunnelId::MAX
    }

    pub fn column() -> ColumnId {
        ColumnId::MAX
    }

    pub fn lead() -> LeadId {
        LeadId::MAX
    }

    pub fn time() -> Timestamp {
        Timestamp::EPOCH
    }
}

/// A time as milliseconds since 1970.
pub mod time {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::Timestamp;

    pub fn serialize<S: Serializer>(time: &Timestamp, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i64(time.unix_millis())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Timestamp, D::Error> {
        let time = Timestamp::from_unix_millis(i64::deserialize(deserializer)?);
        time.ok_or_else(|| D::Error::custom("must be a time"))
    }
}

/// A time that may be absent.
pub mod optional_time {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::{Timestamp, time};

    #[derive(Serialize, Deserialize)]
    struct Time(#[serde(with = "time")] Timestamp);

    #[expect(clippy::ref_option, reason = "serde passes a reference")]
    pub fn serialize<S: Serializer>(time: &Option<Timestamp>, serializer: S) -> Result<S::Ok, S::Error> {
        time.map(Time).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Timestamp>, D::Error> {
        let time = Option::<Time>::deserialize(deserializer)?;
        Ok(time.map(|Time(time)| time))
    }
}

/// An amount as cents.
pub mod cents {
    use serde::de::Error as _;
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::Cents;

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub fn serialize<S: Serializer>(amount: &Cents, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(amount.get())
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Cents, D::Error> {
        Cents::new(u64::deserialize(deserializer)?).ok_or_else(|| D::Error::custom("must be cents"))
    }
}

/// Companies in their short form.
pub mod companies {
    use serde::{Deserialize as _, Deserializer, Serializer};

    use super::super::CompanyText;
    use crate::people::Company;

    pub fn serialize<S: Serializer>(list: &[Company], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(list.iter().cloned().map(CompanyText))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Company>, D::Error> {
        let list = Vec::<CompanyText>::deserialize(deserializer)?;
        Ok(list.into_iter().map(|CompanyText(company)| company).collect())
    }
}
