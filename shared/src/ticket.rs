//! Tickets: a lead's conversations with customer service, and the files that came up in them (spec.md, Customer-service
//! ticket, File record of a ticket).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::{FileId, LeadId, OpportunityId, TicketId, UserId};
use crate::time::Timestamp;

/// A value that is carried as it came, because spec.md does not say more of it: text, a number, true or false.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct Scalar(Value);

impl TryFrom<Value> for Scalar {
    type Error = &'static str;

    fn try_from(value: Value) -> Result<Self, Self::Error> {
        match value {
            Value::Null | Value::Array(_) | Value::Object(_) => {
                Err("must be text, a number, true, false or null")
            }
            value => Ok(Self(value)),
        }
    }
}

impl From<Scalar> for Value {
    fn from(scalar: Scalar) -> Self {
        scalar.0
    }
}

/// A ticket. The serialized form is that of an import's line (C-81); answers have three derived fields more.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ticket {
    /// The ticket's id.
    pub id: TicketId,
    /// How it stands.
    pub status: Option<Scalar>,
    /// Who attends to it.
    pub attendant: Option<UserId>,
    /// That user's name.
    #[serde(rename = "attendantName")]
    pub attendant_name: Option<String>,
    /// The user as the channel names it.
    #[serde(rename = "userAttendance")]
    pub user_attendance: Option<String>,
    /// The customer as the channel names it.
    #[serde(rename = "userClient")]
    pub user_client: Option<String>,
    /// The department that attends to it.
    pub department: Option<String>,
    /// The conversation's name; the person's (C-24).
    pub name: Option<String>,
    /// The lead's name; the person's.
    pub lead_name: Option<String>,
    /// The contact's name; the person's.
    pub name_contact: Option<String>,
    /// When it was taken up.
    #[serde(rename = "startDate")]
    pub start_date: Option<Timestamp>,
    /// When it was closed.
    #[serde(rename = "endDate")]
    pub end_date: Option<Timestamp>,
    /// How it was rated.
    pub star: Option<Scalar>,
    /// How it was rated.
    pub evaluation: Option<Scalar>,
    /// Whether several people take part.
    #[serde(rename = "chatGroup")]
    pub chat_group: Option<Scalar>,
    /// Whether several people take part.
    #[serde(rename = "isGroup")]
    pub is_group: Option<Scalar>,
    /// The kind of the channel, such as `chatapp`.
    #[serde(rename = "type")]
    pub channel: Option<String>,
    /// Whom the channel writes to; the person's.
    pub recipientid: Option<String>,
    /// The account that the channel writes from.
    pub accid: Option<String>,
    /// The address of a picture; the person's.
    pub photo: Option<String>,
    /// The same, larger.
    pub photo_larger: Option<String>,
    /// The address of its stored copy.
    pub photo_store: Option<String>,
    /// What was noted.
    pub obs: Option<String>,
    /// Whose ticket it is; `None` once the lead was deleted.
    pub lead_relation: Option<LeadId>,
    /// The post that the conversation began under.
    pub post_id: Option<String>,
    /// The page that the post is on.
    pub page_id: Option<String>,
    /// The comment that it began with.
    pub comment_id: Option<String>,
    /// What the comment says.
    pub comment_txt: Option<String>,
    /// The account of the messaging application.
    pub chatapp_acc: Option<String>,
    /// The number of the messaging application.
    pub chatapp_number: Option<String>,
    /// Whether that number is an official one, as the former system says it.
    pub chatapp_oficial: Option<String>,
    /// Messages that were not read.
    #[serde(default)]
    pub unread: u64,
    /// When the customer last wrote.
    #[serde(rename = "lastMesssageUser")]
    pub last_message_user: Option<Timestamp>,
    /// When the attendant last wrote.
    #[serde(rename = "lastMesssageAttendance")]
    pub last_message_attendance: Option<Timestamp>,
    /// Whether it is kept on top.
    pub pin: Option<Scalar>,
    /// Whether it is put away.
    pub archive: Option<Scalar>,
    /// The opportunity that it is about.
    pub opportunity: Option<OpportunityId>,
    /// Its place among others.
    #[serde(default)]
    pub sequence: u64,
    /// When it was made.
    #[serde(rename = "createDate")]
    pub create_date: Timestamp,
    /// When it was last changed.
    #[serde(rename = "updateDate")]
    pub update_date: Timestamp,
}

impl Ticket {
    /// The same ticket once its lead is gone: nothing of the person is left in it (C-24).
    #[must_use]
    pub fn without_lead(self) -> Self {
        Self {
            name: None,
            lead_name: None,
            name_contact: None,
            recipientid: None,
            photo: None,
            photo_larger: None,
            photo_store: None,
            lead_relation: None,
            ..self
        }
    }

    /// The fields that say something, as they are stored and exported.
    #[must_use]
    pub fn sparse(&self) -> Map<String, Value> {
        let mut fields = said(self);
        fields.retain(|name, value| {
            !(value.as_u64() == Some(0) && ["unread", "sequence"].contains(&name.as_str()))
        });
        fields
    }
}

/// A file that came up in a ticket. The serialized form is that of an import's line (C-81).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketFile {
    /// Its id, where the former system has one.
    pub id: Option<FileId>,
    /// The ticket that it came up in.
    pub ticket: TicketId,
    /// What it is, such as `video` or `audio`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// The address of the origin.
    pub url: Option<String>,
    /// Its media type.
    pub mimetype: Option<String>,
    /// The address of the stored copy.
    pub store_url: Option<String>,
    /// The short path of the stored copy. What has no id has a path.
    pub store_path: Option<String>,
    /// Its extension.
    pub ext: Option<String>,
}

/// What tells a file from all others of an instance (C-81).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileName {
    /// Its id.
    Id(FileId),
    /// Its ticket and its path, where it has no id.
    Path(TicketId, String),
}

impl TicketFile {
    /// The most characters of a path: with it the sort keys stay below DynamoDB's 1,024 bytes.
    pub const MOST_PATH: usize = 250;

    /// What tells it from all others.
    #[must_use]
    pub fn name(&self) -> FileName {
        let path = || FileName::Path(self.ticket, self.store_path.clone().unwrap_or_default());
        self.id.map_or_else(path, FileName::Id)
    }

    /// The fields that say something, as they are stored and exported.
    #[must_use]
    pub fn sparse(&self) -> Map<String, Value> {
        said(self)
    }
}

/// A record's fields without nulls.
fn said(record: &impl Serialize) -> Map<String, Value> {
    let Ok(Value::Object(mut fields)) = serde_json::to_value(record) else {
        return Map::new();
    };
    fields.retain(|_, value| !value.is_null());
    fields
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ticket(rest: &Value) -> Result<Ticket, String> {
        let mut line = json!({
            "id": 501, "createDate": "2026-05-01T10:00:00.000Z", "updateDate": "2026-05-01T10:40:00.000Z",
        });
        for (name, value) in rest.as_object().unwrap() {
            line[name] = value.clone();
        }
        serde_json::from_value(line).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_not_known_is_carried_as_it_came() {
        for value in [
            json!("5"),
            json!(5),
            json!(4.0),
            json!(-0.5),
            json!(true),
            json!(""),
        ] {
            for name in [
                "status",
                "star",
                "evaluation",
                "chatGroup",
                "isGroup",
                "pin",
                "archive",
            ] {
                let kept = ticket(&json!({ name: value })).unwrap().sparse();
                assert_eq!(
                    kept.get(name).map(Value::to_string),
                    Some(value.to_string()),
                    "{name}"
                );
            }
        }
        for value in [json!([1]), json!({ "a": 1 })] {
            let reason = ticket(&json!({ "star": value })).unwrap_err();
            assert_eq!(reason, "must be text, a number, true, false or null");
        }
        assert_eq!(ticket(&json!({ "star": null })).unwrap().star, None);
    }

    #[test]
    fn what_says_nothing_is_not_stored() {
        let empty = json!({ "unread": 0, "sequence": 0, "obs": null, "attendant": null });
        let bare = json!({
            "id": 501, "createDate": "2026-05-01T10:00:00.000Z", "updateDate": "2026-05-01T10:40:00.000Z",
        });
        assert_eq!(Value::from(ticket(&empty).unwrap().sparse()), bare);
        let full = json!({ "unread": 1, "sequence": 2, "obs": "" });
        let kept = Value::from(ticket(&full).unwrap().sparse());
        assert_eq!(
            [&kept["unread"], &kept["sequence"], &kept["obs"]],
            [&json!(1), &json!(2), &json!("")]
        );
    }

    /// C-24.
    #[test]
    fn nothing_of_the_person_is_left_without_the_lead() {
        let kept = json!({
            "attendantName": "Bruno", "userClient": "c", "accid": "acc1", "obs": "o", "comment_txt": "t", "unread": 3,
        });
        let mut full = kept.clone();
        for name in [
            "name",
            "lead_name",
            "name_contact",
            "recipientid",
            "photo",
            "photo_larger",
            "photo_store",
        ] {
            full[name] = json!("Maria");
        }
        full["lead_relation"] = json!(1001);
        assert_eq!(ticket(&full).unwrap().without_lead(), ticket(&kept).unwrap());
    }

    #[test]
    fn a_file_is_told_by_its_id_or_else_by_ticket_and_path() {
        let name = |line: Value| serde_json::from_value::<TicketFile>(line).unwrap().name();
        let ticket = TicketId::new(501).unwrap();
        assert_eq!(
            name(json!({ "ticket": 501, "store_path": "s/10" })),
            FileName::Path(ticket, "s/10".to_owned())
        );
        assert_eq!(
            name(json!({ "id": 7, "ticket": 501, "store_path": "s/10" })),
            FileName::Id(FileId::new(7).unwrap())
        );
    }
}
