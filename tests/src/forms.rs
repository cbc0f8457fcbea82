//! Forms of `acme`.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot be set up must fail, and say where"
)]

use operator::kinds::{Hooks, RecordKind as _};
use operator::{Operator, Outcome};
use serde_json::{Value, json};
use shared::form::Form;

use crate::World;
use crate::world::{Answer, Request};

/// The token of the forms.
pub const TOKEN: &str = "tok-4b1d9e";

/// A line of form `contact` with changes.
#[must_use]
pub fn line(changes: &Value) -> Value {
    let mut line = json!({ "id": 1, "name": "contact", "token": TOKEN, "unique": ["phone", "email"], "fields": [
        { "name": "nome", "to": "firstname", "required": true }, { "name": "email" }, { "name": "whatsapp" },
        { "name": "cidade", "to": "city" }, { "name": "cargo" }] });
    for (name, value) in changes.as_object().into_iter().flatten() {
        line[name] = value.clone();
    }
    line
}

/// The form of a line.
#[must_use]
pub fn form(changes: &Value) -> Form {
    let line = line(changes);
    Hooks::parse(line.as_object().expect("a line").clone()).expect("a form")
}

/// Adds a form.
pub async fn add_form(operator: &Operator, changes: &Value) {
    let outcomes = operator.import::<Hooks>(&[form(changes)], true).await;
    assert_eq!(outcomes.expect("the form is stored"), [Outcome::Written]);
}

/// The address of form `contact`, with further parameters that begin with `&`.
#[must_use]
pub fn address(more: &str) -> String {
    format!("/api/hook/contact?i=acme&access_token={TOKEN}{more}")
}

/// Begins a submission of JSON.
#[must_use]
pub fn submission<'w>(world: &'w World, body: &Value) -> Request<'w> {
    world.call("POST", &address("")).json(body)
}

/// Submits JSON.
pub async fn submit(world: &World, body: &Value) -> Answer {
    submission(world, body).send().await
}

/// The response to a received submission.
#[must_use]
pub fn received(lead: u64) -> Value {
    json!({ "msg": "received", "data": { "lead": lead } })
}
