//! An automation's line (C-76, C-81). Whether what it names is there is judged later.

use serde_json::{Map, Value};
use shared::automation::{Action, Automation};

use super::record::Record;
use super::{Chunk, Error, Import};
use super::{limits, line};

/// Reads an automation's fields.
pub fn read(fields: Map<String, Value>) -> Result<Automation, String> {
    let automation: Automation = line::read(fields)?;
    automation.judge()?;
    limits::size(&automation)?;
    Ok(automation)
}

impl Import<'_> {
    pub(super) async fn automations(&mut self, chunk: Chunk) -> Result<(), Error> {
        let (lines, automations) = self.checked(chunk, Record::automation, |import, automation| {
            for (at, action) in automation.actions.iter().enumerate() {
                import
                    .action_refers(action)
                    .map_err(|reason| format!("actions[{at}].{reason}"))?;
            }
            Ok(())
        });
        let outcomes = self.operator.import_automations(&automations).await?;
        self.note(lines, outcomes);
        Ok(())
    }

    /// Checks the users, departments, funnels and columns that an action names.
    fn action_refers(&self, action: &Action) -> Result<(), String> {
        match action {
            Action::SetOwner { user } => self.user_exists("user", *user),
            Action::AddAccess { users, departments } => {
                users
                    .iter()
                    .try_for_each(|user| self.user_exists("users", *user))?;
                departments
                    .iter()
                    .try_for_each(|department| self.department_exists("departments", *department))
            }
            Action::CreateOpportunity { funnel, column, .. } => {
                let known = self.funnels.get(funnel);
                let known = known.ok_or_else(|| format!("funnel: funnel {funnel} does not exist"))?;
                let has = known.has_column(*column);
                has.then_some(())
                    .ok_or_else(|| format!("column: column {column} is not one of funnel {funnel}"))
            }
            Action::AddPoints { .. } | Action::Notify { .. } => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read_with(rest: &Value) -> Result<Automation, String> {
        let mut line = json!({ "id": 3, "name": "Ligou", "trigger": "leadPhoneCall", "event": "received",
            "actions": [{ "type": "addPoints", "points": 5 }] });
        for (name, value) in rest.as_object().unwrap() {
            line[name] = value.clone();
        }
        match line {
            Value::Object(fields) => read(fields),
            _ => Err("no object".to_owned()),
        }
    }

    fn with_action(action: &Value) -> Result<Automation, String> {
        read_with(&json!({ "actions": [action] }))
    }

    #[test]
    fn what_a_line_leaves_out_has_its_default() {
        let short = read_with(&json!({})).unwrap();
        assert_eq!(
            read_with(&json!({ "filters": {}, "active": true })).unwrap(),
            short
        );
        assert_eq!(
            json!(short),
            json!({ "id": 3, "name": "Ligou", "trigger": "leadPhoneCall", "event": "received",
                "actions": [{ "type": "addPoints", "points": 5 }], "active": true })
        );
        let number = read_with(&json!({ "filters": { "operatorNumber": "11" } })).unwrap();
        assert_eq!(number.filters.operator_number, Some(json!("11")));
    }

    #[test]
    fn every_action_is_written_as_it_was_read() {
        for action in [
            json!({ "type": "addPoints", "points": -5 }),
            json!({ "type": "setOwner", "user": 8 }),
            json!({ "type": "addAccess", "users": [9], "departments": [2] }),
            json!({ "type": "addAccess", "departments": [2] }),
            json!({ "type": "createOpportunity", "funnel": 3, "column": 31, "title": "Ligou", "value": "12.50" }),
            json!({ "type": "createOpportunity", "funnel": 3, "column": 31, "title": "Ligou" }),
            json!({ "type": "notify", "url": "https://erp.example/h", "secret": "s" }),
        ] {
            let read = with_action(&action).unwrap();
            assert_eq!(json!(read.actions), json!([action]));
        }
        let read =
            with_action(&json!({ "type": "notify", "url": "https://erp.example/h", "secret": "s3cr3t" }));
        assert!(!format!("{read:?}").contains("s3cr3t"));
    }

    #[test]
    fn bad_fields_are_named() {
        let long = "é".repeat(256);
        for (fields, reason) in [
            (json!({ "id": null }), "id: is missing"),
            (json!({ "name": "" }), "name: must have 1 to 255 characters"),
            (json!({ "name": long }), "name: must have 1 to 255 characters"),
            (
                json!({ "trigger": "leadEmail" }),
                "trigger: must be leadPhoneCall",
            ),
            (json!({ "event": "missed" }), "event: must be received"),
            (
                json!({ "filters": { "queue": 1 } }),
                "filters.queue: unknown field",
            ),
            (json!({ "actions": null }), "actions: is missing"),
            (json!({ "actions": [] }), "actions: must have 1 to 20 elements"),
            (
                json!({ "actions": vec![json!({ "type": "addPoints", "points": 1 }); 21] }),
                "actions: must have 1 to 20 elements",
            ),
            (json!({ "color": 1 }), "color: unknown field"),
        ] {
            assert_eq!(read_with(&fields).unwrap_err(), reason, "{fields}");
        }
    }

    #[test]
    fn bad_actions_are_named() {
        for (action, reason) in [
            (
                json!({ "type": "addPoints", "points": 2_000_000_000_000_000_i64 }),
                "actions[0].points: must be from -1e15 to 1e15",
            ),
            (
                json!({ "type": "addAccess" }),
                "actions[0].users: must name somebody where departments do not",
            ),
            (
                json!({ "type": "createOpportunity", "funnel": 3, "column": 31, "title": "" }),
                "actions[0].title: must have 1 to 255 characters",
            ),
            (
                json!({ "type": "notify", "url": "https://erp.example/h", "secret": "" }),
                "actions[0].secret: must have 1 to 255 characters",
            ),
            (
                json!({ "type": "notify", "url": "http://erp.example/h", "secret": "s" }),
                "actions[0]: must be an https URL such as https://example.com/hook",
            ),
            (
                json!({ "type": "notify", "url": "https://10.0.0.1/h", "secret": "s" }),
                "actions[0]: must not lead to a private address",
            ),
            (json!({ "type": "setOwner" }), "actions[0].user: is missing"),
            (
                json!({ "type": "setOwner", "user": 8, "team": 1 }),
                "actions[0].team: unknown field",
            ),
            (
                json!({ "type": "sendMail" }),
                "actions[0].type: must be addPoints or setOwner or addAccess or createOpportunity or notify",
            ),
        ] {
            assert_eq!(with_action(&action).unwrap_err(), reason, "{action}");
        }
    }
}
