//! The compact text of the directory's head, which every request reads: at most two read units (C-86).
//!
//! - Departments are one text of numbers, two for each department, by id. The first is the difference of its id from
//!   the previous id. The second is its parent: 0 for none; the parent's position among these departments, counted from 1;
//!   or the number of departments plus the parent's id, if the parent does not exist. A digit has five bits, the lowest
//!   first; all but the last digit of a number have 32 added.
//! - The permissions of a group are one number: four bits for each access level, and one for each flag. A permission
//!   that this build does not know is a further bit.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::directory::{DirectoryHead, by_id};
use crate::ids::{DepartmentId, GroupId};
use crate::permissions::{AccessLevel, Permissions};
use crate::settings::Settings;
use crate::time::Timestamp;

/// Maximum departments of an instance.
pub const MAX_DEPARTMENTS: usize = 1_000;
/// Maximum groups of an instance.
pub const MAX_GROUPS: usize = 100;
/// Maximum bytes of departments and groups in the text. Together with the longest settings an item is below 8 KB.
const MAX_BYTES: usize = 6_800;

/// Permissions of later builds, as they are stored.
pub type LaterPermissions = BTreeMap<GroupId, u64>;

#[derive(Serialize, Deserialize, Default)]
#[serde(default)]
struct Compact {
    settings: Settings,
    departments: String,
    #[serde(with = "by_id")]
    groups: BTreeMap<GroupId, u64>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    triggers: bool,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    events: BTreeSet<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    suspended: Option<Timestamp>,
}

/// Whether a directory keeps the limits of the numbers of departments and groups and of their bytes.
pub fn has_room(head: &DirectoryHead) -> bool {
    let groups = head.groups.iter();
    let groups = groups.map(|(id, permissions)| (*id, pack_permissions(*permissions)));
    let groups = serde_json::json!(groups.collect::<BTreeMap<_, _>>());
    let bytes = pack_departments(&head.departments).len() + groups.to_string().len();
    head.departments.len() <= MAX_DEPARTMENTS && head.groups.len() <= MAX_GROUPS && bytes <= MAX_BYTES
}

/// The text of a head, with the permissions of later builds.
pub fn write(head: &DirectoryHead, later: &LaterPermissions) -> String {
    let groups = head.groups.iter();
    let groups = groups.map(|(id, permissions)| (*id, rewritten(later.get(id).copied(), *permissions)));
    let compact = Compact {
        settings: head.settings.clone(),
        departments: pack_departments(&head.departments),
        groups: groups.collect(),
        triggers: head.triggers,
        events: head.events.clone(),
        suspended: head.suspended,
    };
    serde_json::json!(compact).to_string()
}

/// Reads a text from [`write`]. The second part contains the groups whose stored permissions this build would write
/// otherwise, because a later build wrote them.
pub fn read(text: &str) -> Result<(DirectoryHead, LaterPermissions), String> {
    let compact: Compact = serde_json::from_str(text).map_err(|cause| cause.to_string())?;
    let (mut groups, mut later) = (BTreeMap::new(), LaterPermissions::new());
    for (id, stored) in compact.groups {
        let permissions = unpack_permissions(stored);
        groups.insert(id, permissions);
        if stored != pack_permissions(permissions) {
            later.insert(id, stored);
        }
    }
    let departments = unpack_departments(&compact.departments).ok_or("its departments are unreadable")?;
    let head = DirectoryHead {
        settings: compact.settings,
        departments,
        groups,
        triggers: compact.triggers,
        events: compact.events,
        suspended: compact.suspended,
    };
    Ok((head, later))
}

/// Permissions to store. Those that this build does not know are kept from `later`, the stored ones of a later build.
fn rewritten(later: Option<u64>, permissions: Permissions) -> u64 {
    let packed = pack_permissions(permissions);
    match later {
        Some(stored) if unpack_permissions(stored) == permissions => stored,
        Some(stored) => packed | (stored >> BITS << BITS),
        None => packed,
    }
}

/// The access levels by their numbers.
const LEVELS: [AccessLevel; 4] = [
    AccessLevel::None,
    AccessLevel::Own,
    AccessLevel::Department,
    AccessLevel::All,
];

/// Number of the low bits that this build knows.
const BITS: u32 = 16;

/// Permissions as a number: bits 0 to 3 are the access level of leads, 4 to 7 that of opportunities, and each of 8 to
/// 15 a flag.
fn pack_permissions(permissions: Permissions) -> u64 {
    let number_of = |level| {
        let mut numbered = LEVELS.iter().zip(0_u64..);
        let found = numbered.find(|(known, _)| **known == level);
        found.map_or(0, |(_, number)| number)
    };
    let flags = [
        permissions.won_lost,
        permissions.delete_leads,
        permissions.archive_leads,
        permissions.edit_leads,
        permissions.edit_opportunities,
        permissions.calendars,
        permissions.tickets,
        permissions.reports,
    ];
    let flag_bits = flags
        .into_iter()
        .zip(8_u32..)
        .map(|(is_set, bit)| u64::from(is_set) << bit);
    let levels = number_of(permissions.leads) | (number_of(permissions.opportunities) << 4);
    levels | flag_bits.sum::<u64>()
}

/// The inverse of [`pack_permissions`]. An unknown access level becomes the default.
fn unpack_permissions(bits: u64) -> Permissions {
    let level = |bits: u64| {
        let number = usize::try_from(bits & 15).ok();
        let level = number.and_then(|number| LEVELS.get(number));
        level.copied().unwrap_or_default()
    };
    let flag = |bit: u32| (bits >> bit) & 1 == 1;
    Permissions {
        leads: level(bits),
        opportunities: level(bits >> 4),
        won_lost: flag(8),
        delete_leads: flag(9),
        archive_leads: flag(10),
        edit_leads: flag(11),
        edit_opportunities: flag(12),
        calendars: flag(13),
        tickets: flag(14),
        reports: flag(15),
    }
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Departments with their parents as the text that the module describes.
fn pack_departments(departments: &BTreeMap<DepartmentId, Option<DepartmentId>>) -> String {
    let positions: BTreeMap<_, _> = departments.keys().copied().zip(1_u64..).collect();
    let encode_parent = |parent: DepartmentId| match positions.get(&parent) {
        Some(position) => *position,
        None => positions.len() as u64 + parent.get(),
    };
    let (mut text, mut previous) = (String::new(), 0);
    for (id, parent) in departments {
        write_number(&mut text, id.get() - previous);
        write_number(&mut text, parent.map_or(0, encode_parent));
        previous = id.get();
    }
    text
}

/// The inverse of [`pack_departments`]; `None` if the text is malformed.
fn unpack_departments(text: &str) -> Option<BTreeMap<DepartmentId, Option<DepartmentId>>> {
    let (mut digits, mut ids, mut encoded_parents) = (text.bytes(), Vec::new(), Vec::new());
    let mut id = 0_u64;
    while digits.len() > 0 {
        id = id.checked_add(read_number(&mut digits)?)?;
        ids.push(DepartmentId::new(id)?);
        encoded_parents.push(read_number(&mut digits)?);
    }
    let decode_parent = |encoded: u64| {
        let index = usize::try_from(encoded).ok()?.checked_sub(1)?;
        match ids.get(index) {
            Some(id) => Some(*id),
            None => DepartmentId::new(encoded - ids.len() as u64),
        }
    };
    let parents = encoded_parents.into_iter().map(decode_parent);
    Some(ids.iter().copied().zip(parents).collect())
}

/// Appends a number in digits of five bits, the lowest first. A digit above 31 is followed by another.
fn write_number(text: &mut String, mut number: u64) {
    loop {
        let continuation = if number > 31 { 32 } else { 0 };
        let digit = usize::try_from((number & 31) | continuation).unwrap_or_default();
        text.push(char::from(DIGITS[digit]));
        number >>= 5;
        if number == 0 {
            return;
        }
    }
}

/// Reads a number from [`write_number`]; `None` if it is incomplete or too large.
fn read_number(digits: &mut impl Iterator<Item = u8>) -> Option<u64> {
    let (mut number, mut shift) = (0_u64, 0);
    loop {
        let digit = digits.next()?;
        let value = DIGITS.iter().zip(0_u64..).find(|(known, _)| **known == digit)?.1;
        number |= (value & 31).checked_shl(shift)?;
        if value < 32 {
            return Some(number);
        }
        shift += 5;
    }
}

#[cfg(test)]
mod tests;
