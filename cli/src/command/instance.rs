//! `funil instance`: the instances and their settings.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::Read as _;

use clap::Subcommand;
use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};
use operator::{InstanceEntry, Operator, progress};
use serde_json::{Map, Value, json};
use shared::instance::InstanceName;
use shared::settings::NAMES;

use super::{Answer, Failure, Global, lifecycle, text};

pub const AFTER_HELP: &str = "\
Examples:
  funil instance create acme
  funil instance list
  funil instance show acme
  funil instance set acme timezone America/Sao_Paulo
  funil instance set acme voip_webhook_secret - < secret.txt
  funil instance suspend acme
  funil instance delete acme";

const SET_AFTER_HELP: &str = "\
page_base is 0 or 1, credential_placement strict or anywhere, timezone an IANA name; the others are numbers. A change applies from the next request.

Examples:
  funil instance set acme timezone America/Sao_Paulo
  funil instance set acme requests_per_minute --unset
  funil instance set acme voip_webhook_secret - < secret.txt";

/// The setting with a secret value.
const SECRET: &str = "voip_webhook_secret";
/// Maximum bytes of a value from standard input.
const MAX_BYTES: u64 = 4096;

#[derive(Debug, Subcommand)]
pub enum InstanceCommand {
    /// Create an instance
    #[command(after_help = "Example:\n  funil instance create acme")]
    Create {
        /// Instance name: 1 to 63 of a-z, 0-9, - and _
        name: InstanceName,
    },
    /// List all instances
    #[command(after_help = "Example:\n  funil instance list --json")]
    List,
    /// Show the settings of an instance and the number of its records of each kind
    #[command(after_help = "Example:\n  funil instance show acme")]
    Show {
        /// Instance name
        name: InstanceName,
    },
    /// Refuse the requests to an instance, and pause its automations and reports
    #[command(after_help = lifecycle::SUSPEND_AFTER_HELP)]
    Suspend {
        /// Instance name
        name: InstanceName,
    },
    /// Serve a suspended instance again
    #[command(after_help = "Example:\n  funil instance resume acme")]
    Resume {
        /// Instance name
        name: InstanceName,
    },
    /// Erase an instance with all its records and credentials
    #[command(after_help = lifecycle::DELETE_AFTER_HELP)]
    Delete(lifecycle::DeleteArgs),
    /// Change a setting
    #[command(after_help = SET_AFTER_HELP)]
    Set {
        /// Instance name
        name: InstanceName,
        /// Setting name
        #[arg(value_parser = SettingName)]
        setting: String,
        /// New value, or - for standard input, the only way to set a secret
        #[arg(required_unless_present = "unset", conflicts_with = "unset")]
        value: Option<String>,
        /// Restore the default
        #[arg(long)]
        unset: bool,
    },
}

/// Offers the names of settings to shell completion and accepts every text. The operator refuses unknown names like bad
/// values.
#[derive(Debug, Clone)]
struct SettingName;

impl TypedValueParser for SettingName {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(NAMES.iter().map(|name| PossibleValue::new(*name))))
    }
}

pub async fn run(command: InstanceCommand, global: &Global) -> Result<Answer, Failure> {
    match command {
        InstanceCommand::Create { name } => create(name, global).await,
        InstanceCommand::List => list(global).await,
        InstanceCommand::Show { name } => show(name, global).await,
        InstanceCommand::Suspend { name } => lifecycle::set_suspended(name, true, global).await,
        InstanceCommand::Resume { name } => lifecycle::set_suspended(name, false, global).await,
        InstanceCommand::Delete(delete) => lifecycle::delete(delete, global).await,
        InstanceCommand::Set {
            name, setting, value, ..
        } => set(name, &setting, value, global).await,
    }
}

/// The warning about a secret that is easy to guess (C-83).
const WEAK: &str = "a secret of fewer than 16 characters can be guessed; use a longer one";

async fn create(name: InstanceName, global: &Global) -> Result<Answer, Failure> {
    let store = global.store_or_new().await?;
    let entry = Operator::new(&store, name).create_instance().await?;
    let text = format!("created instance {}", entry.name);
    let next = format!(
        "bring its users in with: funil import --instance {} FILE",
        entry.name
    );
    Ok(Answer::new(text, json!(entry)).noting(next))
}

async fn list(global: &Global) -> Result<Answer, Failure> {
    let instances = operator::instances(&global.store().await?).await?;
    let row = |entry: &InstanceEntry| {
        [
            entry.create_date.to_string(),
            format!("{}{}", entry.name, state(entry)),
        ]
    };
    let rows: Vec<_> = instances.iter().map(row).collect();
    let answer = Answer::new(text::table(["CREATED", "NAME"], &rows), json!(instances));
    Ok(answer.noting_none(|| "there is no instance; create one with: funil instance create NAME".to_owned()))
}

async fn show(name: InstanceName, global: &Global) -> Result<Answer, Failure> {
    let operator = Operator::new(&global.store().await?, name);
    let (entry, directory) = (operator.entry().await?, operator.directory_head().await?);
    let bar = global.progress();
    progress::uncounted(&bar, "records");
    let records = operator.counts(&|counted| bar.inc(counted)).await;
    bar.finish_and_clear();
    let records = records?;
    let users = operator.user_ids().await?.len();
    let entries = directory.settings.entries();
    let settings: Map<_, _> = entries
        .into_iter()
        .map(|(name, value)| (name.to_owned(), shown(name, value)))
        .collect();
    let mut lines = vec![format!(
        "instance {}, created {}{}",
        entry.name,
        entry.create_date,
        state(&entry)
    )];
    lines.push(held(&records));
    lines.extend(
        settings
            .iter()
            .map(|(name, value)| format!("{name} = {}", plain(value))),
    );
    let mut document = json!({
        "name": entry.name,
        "createDate": entry.create_date,
        "settings": settings,
        "departments": directory.departments.len(),
        "groups": directory.groups.len(),
        "users": users,
        "records": records.into_iter().collect::<BTreeMap<_, _>>(),
    });
    if let Some(since) = entry.suspended {
        document["suspended"] = json!(since);
    }
    Ok(Answer::new(lines.join("\n"), document))
}

/// The numbers of records of the kinds that the instance has.
fn held(records: &[(&str, u64)]) -> String {
    let held = records.iter().filter(|(_, count)| *count > 0);
    let held: Vec<_> = held.map(|(kind, count)| format!("{count} {kind}")).collect();
    if held.is_empty() {
        return "no records".to_owned();
    }
    held.join(", ")
}

/// Text about an instance that is suspended or being deleted; empty for others.
fn state(entry: &InstanceEntry) -> String {
    match (entry.deleting, entry.suspended) {
        (Some(since), _) => format!(", being deleted since {since}"),
        (None, Some(since)) => format!(", suspended since {since}"),
        (None, None) => String::new(),
    }
}

async fn set(
    name: InstanceName,
    setting: &str,
    value: Option<String>,
    global: &Global,
) -> Result<Answer, Failure> {
    let value = match value.as_deref() {
        None => Value::Null,
        Some("-") => Value::from(standard_input()?),
        // An argument would be visible in the process list and the shell's history.
        Some(_) if setting == SECRET => {
            return Err(Failure::Usage(format!(
                "a secret is never an argument; give it on standard input: funil instance set {name} {SECRET} - < FILE"
            )));
        }
        Some(text) => Value::from(text),
    };
    let operator = Operator::new(&global.store().await?, name);
    let changed = operator.set_setting(setting, &value).await?;
    let directory = operator.directory_head().await?;
    let current = directory
        .settings
        .entries()
        .into_iter()
        .find(|(name, _)| *name == setting);
    let current = current.map_or(Value::Null, |(name, value)| shown(name, value));
    let text = match &current {
        Value::Null => format!("{setting} has its default"),
        _ if setting == SECRET => format!("{setting} is set"),
        value => format!("{setting} = {}", plain(value)),
    };
    let mut document =
        json!({ "instance": operator.instance(), "setting": setting, "value": current, "changed": changed });
    if setting == SECRET && directory.settings.has_weak_secret() {
        document["warning"] = WEAK.into();
        return Ok(Answer::new(text, document).noting(format!("warning: {WEAK}")));
    }
    Ok(Answer::new(text, document))
}

/// The text of a setting's value.
fn plain(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The value of a setting, with secrets hidden.
fn shown(name: &str, value: Value) -> Value {
    if name == SECRET { Value::from("set") } else { value }
}

/// Standard input without its final line break.
pub fn standard_input() -> Result<String, Failure> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Failure::Refused(
            "standard input is longer than any setting; is it the right file?".to_owned(),
        ));
    }
    let mut text = String::from_utf8(bytes).map_err(|_| {
        Failure::Refused("standard input is not UTF-8 text; save the file as UTF-8".to_owned())
    })?;
    if text.ends_with('\n') {
        text.pop();
        if text.ends_with('\r') {
            text.pop();
        }
    }
    Ok(text)
}
