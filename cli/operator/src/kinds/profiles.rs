//! The profiles of messaging accounts.

use shared::people::Profile;
use shared::phone::{self, Phone};

use super::prelude::*;

/// The profiles, each of a telephone number.
#[derive(Debug)]
pub struct Profiles;

impl RecordKind for Profiles {
    type Record = Profile;
    type Line = Profile;
    const KIND: Kind = Kind::Profiles;

    fn parse(mut fields: Fields) -> Result<Profile, String> {
        line::read_people(&mut fields, &["name", "number"]);
        let profile: Profile = line::read(fields)?;
        match phone::read(&profile.number).len() {
            0 => return Err(NO_NUMBER.to_owned()),
            1 => {}
            _ => return Err("number: must be one telephone number; write a line for each".to_owned()),
        }
        Ok(profile)
    }

    fn field_names() -> &'static [&'static str] {
        faults::names_of::<Profile>()
    }

    fn identity(profile: &Profile) -> u64 {
        Phone::of(&profile.number).map_or(0, |phone| digest(phone.digits()))
    }

    fn export(profile: &Profile) -> serde_json::Result<Fields> {
        sparse(profile)
    }
}

const NO_NUMBER: &str = "number: must be a telephone number";

impl ImportKind for Profiles {
    async fn write(operator: &Operator, lines: &[&Profile], mode: Mode) -> Written {
        operator.write_each::<Self>(lines, mode).await
    }
}

impl Decide for Profiles {
    fn reads(keys: Keys<'_>, profile: &Profile, _mode: Mode) -> Vec<Key> {
        let phone = Phone::of(&profile.number);
        phone
            .map(|phone| keys.profile(phone.digits()))
            .into_iter()
            .collect()
    }

    fn decide(operator: &Operator, profile: &Profile, found: &FoundItems, mode: Mode) -> Decision {
        let mut keys = Self::reads(operator.keys(), profile, mode);
        let key = keys.pop().ok_or_else(|| Skip::Refused(NO_NUMBER.to_owned()))?;
        found.replace(Self::KIND, key, profile)
    }
}

impl ExportKind for Profiles {
    fn partitions(keys: Keys<'_>) -> Vec<String> {
        vec![keys.profiles()]
    }

    fn decode(item: Item) -> Result<Profile, StoreError> {
        item::decode("profile", item)
    }
}
