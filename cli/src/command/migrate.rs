//! `funil migrate`: the table in the format of this build (C-88).

use clap::Args;
use serde_json::json;

use super::{Answer, Failure, Global};
use crate::progress;

pub const AFTER_HELP: &str = "\
Deploy this build first: it reads the former format too. Requests may go on. It may be stopped and run again, and
afterwards the former build can no longer be used. Before it changes anything it waits until every process writes the
new format, 90 seconds; with --alone it does not.

Examples:
  funil migrate
  funil --endpoint http://127.0.0.1:8000 migrate

Exit codes: 0 the table has this build's format, 1 this build cannot migrate it or was stopped, 2 wrong usage.";

#[derive(Debug, Args)]
pub struct Migrate {
    /// No other process uses the table: do not wait
    #[arg(long)]
    alone: bool,
}

pub async fn run(migrate: &Migrate, global: &Global) -> Result<Answer, Failure> {
    let store = global.store().await?;
    let bar = global.progress();
    progress::uncounted(&bar, "steps");
    let migrated = store
        .migrate(migrate.alone, &|instance, step| {
            bar.set_message(format!("{instance}: {step}"));
            bar.inc(1);
        })
        .await;
    bar.finish_and_clear();
    let migrated = migrated?;
    let text = if migrated.from == migrated.to {
        format!("the table has format {} already", migrated.to)
    } else {
        format!(
            "format {} became {}: {} items of {} instances changed",
            migrated.from, migrated.to, migrated.changed, migrated.instances
        )
    };
    Ok(Answer::new(text, json!(migrated)))
}
