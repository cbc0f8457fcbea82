//! Settings, departments and groups, which an import writes together.

use serde::Deserialize;
use serde_json::{Value, json};
use shared::directory::{Department, Group};
use shared::ids::{DepartmentId, GroupId};
use shared::integer::zero_or_one;
use shared::permissions::Permissions;
use shared::settings::{SettingError, Settings as Values};
use shared::time::Timestamp;

use super::prelude::*;

/// Maximum characters of a name, so that a response can contain all departments.
const MAX_NAME: usize = 255;

/// The instance's settings (C-83), each with its value.
#[derive(Debug)]
pub struct Settings;

impl RecordKind for Settings {
    type Record = (String, Value);
    type Line = (String, Value);
    const KIND: Kind = Kind::Settings;
    const MERGES: bool = true;
    const FIELDS: &'static [Field] = &[
        field(Shape::Text, "name").needed(),
        field(Shape::Any, "value")
            .needed()
            .note("see the [settings](../README.md#operate-it)"),
    ];

    fn parse(mut fields: Fields) -> Result<Self::Line, String> {
        let name = fields.shift_remove("name");
        let value = fields.shift_remove("value");
        line::only(&fields, &[])?;
        match (name, value) {
            (Some(Value::String(name)), Some(value)) => {
                let checked = Values::default().set(&name, &value);
                checked.map_err(|error| match error {
                    SettingError::Unknown => format!("name: {error}"),
                    SettingError::Value(..) => format!("value: {error}"),
                })?;
                Ok((name, value))
            }
            (None, _) => Err("name: is missing".to_owned()),
            (Some(_), None) => Err("value: is missing".to_owned()),
            (Some(_), Some(_)) => Err("name: must be text".to_owned()),
        }
    }

    fn identity((name, _): &Self::Record) -> u64 {
        digest(name)
    }

    fn export((name, value): &Self::Record) -> serde_json::Result<Fields> {
        sparse(&json!({ "name": name, "value": value }))
    }

    #[cfg(feature = "fuzzing")]
    fn kept((name, value): Self::Line) -> Option<Self::Line> {
        let mut values = Values::default();
        values.set(&name, &value).ok()?;
        let kept = values.entries().into_iter().find(|(set, _)| *set == name)?;
        Some((name, kept.1))
    }
}

/// The departments.
#[derive(Debug)]
pub struct Departments;

#[derive(Deserialize)]
struct DepartmentLine {
    id: DepartmentId,
    name: String,
    #[serde(default)]
    parent: Option<DepartmentId>,
    #[serde(
        default = "shared::json::default_true",
        deserialize_with = "zero_or_one::deserialize"
    )]
    show_crm: bool,
    #[serde(
        default = "shared::json::default_true",
        deserialize_with = "zero_or_one::deserialize"
    )]
    show_sac360: bool,
    #[serde(rename = "createDate")]
    create_date: Option<Timestamp>,
    #[serde(rename = "updateDate")]
    update_date: Option<Timestamp>,
}

impl RecordKind for Departments {
    type Record = (DepartmentId, Department);
    type Line = (DepartmentId, Department);
    const KIND: Kind = Kind::Departments;
    const FIELDS: &'static [Field] = &[
        ID,
        field(Shape::Text, "name").needed().up_to(MAX_NAME),
        field(Shape::Id, "parent"),
        field(Shape::ZeroOrOne, "show_crm show_sac360").or("1"),
        field(Shape::Time, "createDate updateDate"),
        field(Shape::ReadOnly, "users subs"),
    ];

    fn parse(fields: Fields) -> Result<Self::Line, String> {
        let line: DepartmentLine = read(Self::FIELDS, fields)?;
        let department = Department {
            show_crm: line.show_crm,
            show_sac360: line.show_sac360,
            create_date: line.create_date,
            update_date: line.update_date,
            ..Department::new(line.name, line.parent)
        };
        Ok((line.id, department))
    }

    fn identity((id, _): &Self::Record) -> u64 {
        id.get()
    }

    fn export((id, department): &Self::Record) -> serde_json::Result<Fields> {
        let mut fields = Fields::from_iter([("id".to_owned(), json!(id))]);
        fields.extend(sparse(department)?);
        Ok(fields)
    }
}

/// The groups.
#[derive(Debug)]
pub struct Groups;

#[derive(Deserialize)]
struct GroupLine {
    id: GroupId,
    name: String,
    permissions: Permissions,
}

const LEVELS: [&str; 4] = ["all", "department", "own", "none"];

impl RecordKind for Groups {
    type Record = (GroupId, Group);
    type Line = (GroupId, Group);
    const KIND: Kind = Kind::Groups;
    const FIELDS: &'static [Field] = &[
        ID,
        field(Shape::Text, "name").needed().up_to(MAX_NAME),
        field(Shape::Object, "permissions")
            .needed()
            .such_as(r#"{"leads": "all", "opportunities": "own"}"#)
            .note("see [below](#permissions-of-a-group)"),
    ];

    fn parse(fields: Fields) -> Result<Self::Line, String> {
        let permissions = fields.get("permissions");
        for name in ["leads", "opportunities"] {
            let level = permissions.and_then(|permissions| permissions.get(name)?.as_str());
            // Stored permissions read an unknown level as `none`, but a line must not have one.
            if level.is_some_and(|level| !LEVELS.contains(&level)) {
                return Err(format!("permissions.{name}: must be {}", LEVELS.join(" or ")));
            }
        }
        let GroupLine {
            id,
            name,
            permissions,
        } = read(Self::FIELDS, fields)?;
        Ok((id, Group { name, permissions }))
    }

    fn identity((id, _): &Self::Record) -> u64 {
        id.get()
    }

    fn export((id, Group { name, permissions }): &Self::Record) -> serde_json::Result<Fields> {
        sparse(&json!({ "id": id, "name": name, "permissions": permissions }))
    }
}
