//! Forms. Only imports change them.
//!
//! A line contains the token of its form. Only its hash is stored and exported, which restores the form without
//! revealing the token.

use serde_json::Value;
use shared::form::{Form, TokenHash};
use shared::funnel::Funnel;
use shared::ids::FormId;
use shared::store::unscoped::forms::{self, FormRecord};

use super::prelude::*;

/// The forms.
#[derive(Debug)]
pub struct Hooks;

impl RecordKind for Hooks {
    type Record = Form;
    type Line = Form;
    const KIND: Kind = Kind::Hooks;
    const FIELDS: &'static [Field] = &[
        ID,
        field(Shape::Text, "name").needed(),
        field(Shape::Text, "token").needed(),
        field(Shape::Text, "tokenHash").note("in place of `token`"),
        field(Shape::Id, "owner").refers(Kind::Users),
        field(Shape::Flag, "active").or("true"),
        field(Shape::Ids, "tags").refers(Kind::Tags).note("at most 50"),
        field(Shape::Texts, "unique").note("`phone`, `email`"),
        field(Shape::Objects, "fields")
            .such_as(r#"[{"name": "telefone", "to": "phone"}]"#)
            .note("at most 50 `{name, to, required}`, `required` [default: `false`]"),
        field(Shape::Object, "opportunity")
            .such_as(r#"{"column": 1, "title": "Contato pelo site"}"#)
            .note("`{column, title, value, funnel}`, `value` [default: 0]"),
        field(Shape::Id, "opportunity.funnel").refers(Kind::Funnels),
        field(Shape::Id, "opportunity.column").column_of("funnel"),
    ];

    fn parse(mut fields: Fields) -> Result<Form, String> {
        match fields.shift_remove("token") {
            None | Some(Value::Null) => {}
            Some(token) => {
                let hash = token.as_str().and_then(TokenHash::of);
                let hash = hash.ok_or("token: must be 1 to 256 visible ASCII characters")?;
                fields.insert("tokenHash".to_owned(), String::from(hash).into());
            }
        }
        if fields.get("tokenHash").is_none_or(Value::is_null) {
            return Err("token: is missing".to_owned());
        }
        let form: Form = read(Self::FIELDS, fields)?;
        form.validate()?;
        Ok(form)
    }

    /// Names that a field of the lead probably means, because a form's field without `to` becomes a custom field.
    fn warnings(form: &Form) -> Vec<String> {
        let fields = form
            .fields
            .iter()
            .enumerate()
            .filter(|(_, field)| field.to.is_none());
        let meant = fields.filter_map(|(at, field)| Some((at, &field.name, meant_field(&field.name)?)));
        let warning = |(at, name, meant): (usize, &String, &str)| {
            format!("fields[{at}]: {name} becomes a custom field; for the lead's own field write to: {meant}")
        };
        meant.map(warning).collect()
    }

    fn identity(form: &Form) -> u64 {
        form.id.get()
    }
}

impl StoredKind for Hooks {
    const STORAGE: Storage = Storage {
        unchanged: version,
        removal: Some(Removal::Unlinked),
        ..Storage::of(
            ["hook", "hooks"],
            |keys| vec![keys.forms()],
            |keys, id| Some(keys.form(FormId::parse(id)?)),
            |keys, item| FormRecord::decode(item)?.derived_as_read(keys),
        )
    };
    const DECODE: fn(Item) -> Result<Form, StoreError> = |item| forms::form(&item);

    async fn write(operator: &Operator, lines: &[&Form], mode: Mode) -> Written {
        let funnels = operator.reader().funnels().await?;
        let lines: Vec<_> = lines.iter().map(|form| with_funnel(form, &funnels)).collect();
        operator
            .write_each::<Self>(&lines.iter().collect::<Vec<_>>(), mode)
            .await
    }
}

/// The field of a lead that a usual name of a form's field means in Portuguese or English.
fn meant_field(name: &str) -> Option<&'static str> {
    const MEANT: [(&str, &[&str]); 8] = [
        ("firstname", &["nome", "name", "nome completo"]),
        ("lastname", &["sobrenome", "surname"]),
        ("email", &["e-mail", "mail", "correio"]),
        ("phone", &["telefone", "fone", "tel", "telephone"]),
        ("mobile", &["celular", "cel", "cellphone"]),
        ("chatapp", &["zap", "wpp"]),
        ("city", &["cidade"]),
        ("state", &["estado", "uf"]),
    ];
    let name = name.trim().to_lowercase();
    let mut meant = MEANT.iter();
    meant
        .find(|(_, names)| names.contains(&name.as_str()))
        .map(|(field, _)| *field)
}

/// The form with the funnel of its opportunity. If the line omits the funnel, it is the first one with the column.
fn with_funnel(form: &Form, funnels: &[Funnel]) -> Form {
    let mut form = form.clone();
    if let Some(opportunity) = &mut form.opportunity {
        let mut with_column = funnels
            .iter()
            .filter(|funnel| funnel.has_column(opportunity.column));
        opportunity.funnel = opportunity
            .funnel
            .or_else(|| with_column.next().map(|funnel| funnel.id));
    }
    form
}

impl Decide for Hooks {
    fn reads(keys: Keys<'_>, form: &Form, _mode: Mode) -> Vec<Key> {
        vec![keys.form(form.id), keys.form_link(&form.name, &form.token_hash)]
    }

    fn decide(operator: &Operator, form: &Form, found: &FoundItems, _mode: Mode) -> Decision {
        let keys = operator.keys();
        let stored = found.get(&keys.form(form.id));
        let stored = stored.map(FormRecord::decode).transpose()?;
        if stored.as_ref().is_some_and(|stored| stored.value == *form) {
            return Err(Skip::Unchanged);
        }
        let link = keys.form_link(&form.name, &form.token_hash);
        let other = found
            .get(&link)
            .and_then(forms::linked)
            .filter(|id| *id != form.id);
        if let Some(other) = other {
            return Err(Skip::Refused(format!(
                "name: hook {other} has it already, with this token"
            )));
        }
        let record = FormRecord::imported(stored.as_ref(), form.clone());
        let mut transaction = record.put(keys, stored.as_ref())?;
        let value = form.id.to_string();
        transaction.require(link, Condition::AbsentOrText { name: "id", value });
        Ok(transaction)
    }
}
