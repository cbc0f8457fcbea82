//! `funil migrate`: migrates the table to the format of this build (C-88).

use clap::Args;
use serde_json::json;

use super::{Answer, Failure, Global};
use operator::progress;

pub const AFTER_HELP: &str = "\
Deploy this build first: it also reads the former format. Requests are served during the migration, which can be stopped
and rerun. Afterwards the former build can no longer be used. Before the first change the command waits 30 seconds for
requests of the former build to end, unless --alone is given.

Examples:
  funil migrate
  funil --endpoint http://127.0.0.1:8000 migrate

Exit codes: 0 the table has this build's format, 1 this build cannot migrate it or was stopped, 2 wrong usage.";

#[derive(Debug, Args)]
pub struct Migrate {
    /// No wait for other processes, because none uses the table
    #[arg(long)]
    alone: bool,
}

pub async fn run(migrate: &Migrate, global: &Global) -> Result<Answer, Failure> {
    let store = global.store().await?;
    let bar = global.progress();
    progress::uncounted(&bar, "steps");
    let migrated = operator::migrate(&store, migrate.alone, &|instance, step| {
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
