//! Tickets: a lead's conversations with customer service, and their files (spec.md, Customer-service ticket, File
//! record of a ticket).

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::ids::{FileId, LeadId, OpportunityId, TicketId, UserId};
use crate::lead::Lead;
use crate::time::Timestamp;

/// A JSON scalar, stored verbatim because spec.md does not define its type.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct JsonScalar(Value);

impl TryFrom<Value> for JsonScalar {
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

impl From<JsonScalar> for Value {
    fn from(scalar: JsonScalar) -> Self {
        scalar.0
    }
}

/// A ticket. Its serialized form is the line of an import (C-81). Responses add three derived fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ticket {
    /// The ticket's id.
    pub id: TicketId,
    /// Status, as the former system writes it.
    pub status: Option<JsonScalar>,
    /// The attending user.
    pub attendant: Option<UserId>,
    /// The attending user's name.
    #[serde(rename = "attendantName")]
    pub attendant_name: Option<String>,
    /// The attending user's name in the channel.
    #[serde(rename = "userAttendance")]
    pub user_attendance: Option<String>,
    /// The customer's name in the channel.
    #[serde(rename = "userClient")]
    pub user_client: Option<String>,
    /// The attending department.
    pub department: Option<String>,
    /// Name of the conversation. Personal (C-24).
    pub name: Option<String>,
    /// The lead's name. Personal.
    pub lead_name: Option<String>,
    /// The contact's name. Personal.
    pub name_contact: Option<String>,
    /// Start of attendance.
    #[serde(rename = "startDate")]
    pub start_date: Option<Timestamp>,
    /// Time of closing.
    #[serde(rename = "endDate")]
    pub end_date: Option<Timestamp>,
    /// Rating.
    pub star: Option<JsonScalar>,
    /// Rating.
    pub evaluation: Option<JsonScalar>,
    /// Whether it is a group conversation.
    #[serde(rename = "chatGroup")]
    pub chat_group: Option<JsonScalar>,
    /// Whether it is a group conversation.
    #[serde(rename = "isGroup")]
    pub is_group: Option<JsonScalar>,
    /// Kind of the channel, such as `chatapp`.
    #[serde(rename = "type")]
    pub channel: Option<String>,
    /// Recipient in the channel. Personal.
    pub recipientid: Option<String>,
    /// Sending account of the channel.
    pub accid: Option<String>,
    /// Address of a picture. Personal.
    pub photo: Option<String>,
    /// Address of the larger picture.
    pub photo_larger: Option<String>,
    /// Address of the stored copy.
    pub photo_store: Option<String>,
    /// Notes.
    pub obs: Option<String>,
    /// The ticket's lead; `None` after the lead was deleted.
    pub lead_relation: Option<LeadId>,
    /// The post that started the conversation.
    pub post_id: Option<String>,
    /// The page of the post.
    pub page_id: Option<String>,
    /// The comment that started the conversation.
    pub comment_id: Option<String>,
    /// Text of the comment.
    pub comment_txt: Option<String>,
    /// Account of the messaging application.
    pub chatapp_acc: Option<String>,
    /// Number of the messaging application.
    pub chatapp_number: Option<String>,
    /// Whether that number is official, as the former system writes it.
    pub chatapp_oficial: Option<String>,
    /// Number of unread messages.
    #[serde(default)]
    pub unread: u64,
    /// Time of the customer's last message.
    #[serde(rename = "lastMesssageUser")]
    pub last_message_user: Option<Timestamp>,
    /// Time of the attendant's last message.
    #[serde(rename = "lastMesssageAttendance")]
    pub last_message_attendance: Option<Timestamp>,
    /// Whether it is pinned.
    pub pin: Option<JsonScalar>,
    /// Whether it is archived.
    pub archive: Option<JsonScalar>,
    /// Related opportunity.
    pub opportunity: Option<OpportunityId>,
    /// Position in lists.
    #[serde(default)]
    pub sequence: u64,
    /// Time of creation.
    #[serde(rename = "createDate")]
    pub create_date: Timestamp,
    /// Time of the last change.
    #[serde(rename = "updateDate")]
    pub update_date: Timestamp,
}

impl Ticket {
    /// The ticket without its lead and personal fields (C-24).
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

    /// The ticket with another lead, changed at `now`. The name of the former lead, if present, is replaced (C-100).
    #[must_use]
    pub fn of_lead(self, lead: &Lead, now: Timestamp) -> Self {
        let name = Some(lead.fullname()).filter(|name| !name.is_empty());
        Self {
            // A ticket without the name of a lead stays without it.
            lead_name: self.lead_name.and(name),
            lead_relation: Some(lead.id),
            update_date: now,
            ..self
        }
    }

    /// The fields that are not null, without `unread` and `sequence` of 0, as stored and exported.
    #[must_use]
    pub fn sparse(&self) -> Map<String, Value> {
        let mut fields = non_null_fields(self);
        fields.retain(|name, value| {
            !(value.as_u64() == Some(0) && ["unread", "sequence"].contains(&name.as_str()))
        });
        fields
    }
}

/// A file of a ticket. Its serialized form is the line of an import (C-81).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TicketFile {
    /// The id, if the former system has one.
    pub id: Option<FileId>,
    /// The ticket of the file.
    pub ticket: TicketId,
    /// Kind, such as `video` or `audio`.
    #[serde(rename = "type")]
    pub kind: Option<String>,
    /// Original address.
    pub url: Option<String>,
    /// Media type.
    pub mimetype: Option<String>,
    /// Address of the stored copy.
    pub store_url: Option<String>,
    /// Short path of the stored copy. Required if there is no id.
    pub store_path: Option<String>,
    /// File extension.
    pub ext: Option<String>,
}

/// The identity of a file within an instance (C-81).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum FileName {
    /// Its id.
    Id(FileId),
    /// Ticket and path, for a file without id.
    Path(TicketId, String),
}

impl TicketFile {
    /// Maximum characters of a path. It keeps sort keys below DynamoDB's 1,024 bytes.
    pub const MAX_PATH: usize = 250;

    /// The file's identity.
    #[must_use]
    pub fn name(&self) -> FileName {
        let path = || FileName::Path(self.ticket, self.store_path.clone().unwrap_or_default());
        self.id.map_or_else(path, FileName::Id)
    }

    /// The fields that are not null, as stored and exported.
    #[must_use]
    pub fn sparse(&self) -> Map<String, Value> {
        non_null_fields(self)
    }
}

/// A record's fields without nulls.
fn non_null_fields(record: &impl Serialize) -> Map<String, Value> {
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
    fn unknown_json_is_kept_verbatim() {
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
    fn empty_fields_are_not_stored() {
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

    #[test]
    fn without_lead_removes_personal_fields() {
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
    fn a_file_is_identified_by_id_or_by_ticket_and_path() {
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
