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
    const FIELDS: &'static [Field] = &[
        field(Shape::Person, "number name").needed(),
        field(Shape::Text, "photoUrl"),
    ];

    fn parse(fields: Fields) -> Result<Profile, String> {
        let profile: Profile = read(Self::FIELDS, fields)?;
        match phone::read(&profile.number).len() {
            0 => Err(NO_NUMBER.to_owned()),
            1 => Ok(profile),
            _ => Err("number: must be one telephone number; write a line for each".to_owned()),
        }
    }

    fn identity(profile: &Profile) -> u64 {
        Phone::of(&profile.number).map_or(0, |phone| digest(phone.digits()))
    }
}

const NO_NUMBER: &str = "number: must be a telephone number";

impl StoredKind for Profiles {
    const STORAGE: Storage = Storage::of(
        ["profile", "profiles"],
        |keys| vec![keys.profiles()],
        |keys, number| Some(keys.profile(Phone::of(number)?.digits())),
        |_, profile| nothing(Self::DECODE(profile.clone())),
    );
    const DECODE: fn(Item) -> Result<Profile, StoreError> = |item| item::decode("profile", item);

    async fn write(operator: &Operator, lines: &[&Profile], mode: Mode) -> Written {
        operator.write_each::<Self>(lines, mode).await
    }

    fn label(profile: &Profile) -> String {
        profile.number.clone()
    }
}

impl Decide for Profiles {
    fn reads(keys: Keys<'_>, profile: &Profile, _mode: Mode) -> Vec<Key> {
        Self::key(keys, profile).into_iter().collect()
    }

    fn decide(operator: &Operator, profile: &Profile, found: &FoundItems, _mode: Mode) -> Decision {
        let key = Self::key(operator.keys(), profile).ok_or_else(|| Skip::Refused(NO_NUMBER.to_owned()))?;
        found.replace(Self::KIND, key, profile)
    }
}
