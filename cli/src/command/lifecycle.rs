//! `funil instance suspend`, `resume` and `delete` (C-104).

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use clap::Args;
use operator::{Operator, progress};
use serde_json::json;
use shared::instance::InstanceName;

use super::{Answer, Failure, Global};

pub const SUSPEND_AFTER_HELP: &str = "\
From the next request on, the instance's credentials are refused like revoked ones, and its public paths like those of an
instance that does not exist. Automations, notifications and reports wait within a minute. Records stay, erasures of
deleted leads go on, and the operator's commands work.

Example:
  funil instance suspend acme";

pub const DELETE_AFTER_HELP: &str = "\
Credentials are void from the next request on; then every item of the instance is deleted. Rerun a stopped deletion to
resume it. Scans the whole table, including other instances' items. Waits 30 seconds for requests that began before,
unless --alone is given. Copies of the table, such as backups and exports, keep what they have.

Examples:
  funil instance delete acme
  funil instance delete acme --yes acme
  funil instance delete acme --yes acme --json

Exit codes: 0 the instance is erased, 1 it was stopped or the table failed, 2 wrong usage.";

#[derive(Debug, Args)]
pub struct DeleteArgs {
    /// Instance name
    name: InstanceName,
    /// The name again, instead of a question on the terminal
    #[arg(long, value_name = "NAME")]
    yes: Option<String>,
    /// No wait for other processes, because none uses the table
    #[arg(long)]
    alone: bool,
}

pub async fn set_suspended(name: InstanceName, suspended: bool, global: &Global) -> Result<Answer, Failure> {
    let operator = Operator::new(&global.store().await?, name);
    let (since, changed) = operator.set_suspended(suspended).await?;
    let name = operator.instance();
    let text = match (since, changed) {
        (Some(since), true) => format!("instance {name} is suspended, since {since}"),
        (Some(since), false) => format!("instance {name} was suspended already, since {since}"),
        (None, true) => format!("instance {name} is served again"),
        (None, false) => format!("instance {name} is not suspended"),
    };
    let document = json!({ "instance": name, "suspended": since, "changed": changed });
    Ok(Answer::new(text, document))
}

pub async fn delete(delete: DeleteArgs, global: &Global) -> Result<Answer, Failure> {
    let operator = Operator::new(&global.store().await?, delete.name);
    let name = operator.instance();
    operator.entry().await?;
    confirm(name, delete.yes)?;
    let bar = global.progress();
    progress::uncounted(&bar, "items erased");
    let erased = operator
        .delete_instance(delete.alone, &|items| bar.inc(items))
        .await;
    bar.finish_and_clear();
    let erased = erased.map_err(|error| {
        Failure::from(error)
            .map(|reason| reason + &format!("; the same command again goes on: funil instance delete {name}"))
    })?;
    let text = format!("instance {name} is erased: {} items", erased.erased);
    Ok(Answer::new(text, json!(erased)))
}

/// Requires the name again, as an option or typed on the terminal.
fn confirm(name: &InstanceName, typed: Option<String>) -> Result<(), Failure> {
    let again = match typed {
        Some(again) => again,
        None if io::stdin().is_terminal() => ask(name)?,
        None => {
            return Err(Failure::Usage(format!(
                "this erases every record of instance {name} for good; give its name once more: --yes {name}"
            )));
        }
    };
    if again == name.as_str() {
        return Ok(());
    }
    Err(Failure::Usage(format!(
        "{again:?} is not {name}, so nothing is erased; type the name of the instance to erase"
    )))
}

fn ask(name: &InstanceName) -> Result<String, Failure> {
    let mut stderr = io::stderr();
    let question =
        format!("This erases every record and credential of instance {name} for good. Its name again: ");
    stderr.write_all(question.as_bytes())?;
    stderr.flush()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}
