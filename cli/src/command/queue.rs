//! `funil queue`: background work that waits, and `funil automation deliveries`, its notifications (C-102).

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use operator::{Operator, Waiting, Work};
use serde_json::json;
use shared::instance::InstanceName;
use shared::time::Timestamp;

use super::{Answer, Failure, Global, text};

pub const AFTER_HELP: &str = "\
Each item is a line: kind, what it concerns, attempts, the time since which it waits (of notifications that of
the last attempt), the time of the next attempt (`set aside` if there is none), and the reason of the last failure. The kinds:

  copies        copies of a changed lead in its opportunities
  erasure       remains of a deleted lead in other records
  trigger       automations of a call or a write
  notification  waits for its next attempt, for 24 hours, and is then set aside, for 30 days
  report        its result is out of date

With --run all of them are due, also those that were set aside, and notifications have new 24 hours. Notifications are
sent within a minute by `funil serve` or, on AWS, by `maintenance`; the command itself does the rest.

Examples:
  funil queue --instance acme
  funil queue --instance acme --kind notification --run
  funil queue --instance acme --json";

pub const DELIVERIES_AFTER_HELP: &str = "\
The same as `funil queue --kind notification`; --retry is its --run.

Examples:
  funil automation deliveries --instance acme
  funil automation deliveries --instance acme --retry";

#[derive(Debug, Args)]
pub struct Queue {
    /// Instance name [default: `FUNIL_INSTANCE`]
    #[arg(long, value_name = "NAME", env = "FUNIL_INSTANCE", hide_env = true)]
    instance: InstanceName,
    /// Only work of this kind
    #[arg(long, value_name = "KIND", value_parser = PossibleValuesParser::new(Work::KINDS))]
    kind: Option<String>,
    /// Do it now
    #[arg(long)]
    run: bool,
}

#[derive(Debug, Subcommand)]
pub enum AutomationCommand {
    /// List the notifications that wait or were set aside, or send them now
    #[command(after_help = DELIVERIES_AFTER_HELP)]
    Deliveries(Deliveries),
}

#[derive(Debug, Args)]
pub struct Deliveries {
    /// Instance name [default: `FUNIL_INSTANCE`]
    #[arg(long, value_name = "NAME", env = "FUNIL_INSTANCE", hide_env = true)]
    instance: InstanceName,
    /// A new attempt for all of them, within a minute; their 24 hours begin again
    #[arg(long)]
    retry: bool,
}

impl From<AutomationCommand> for Queue {
    fn from(AutomationCommand::Deliveries(Deliveries { instance, retry }): AutomationCommand) -> Self {
        Self {
            instance,
            kind: Some("notification".to_owned()),
            run: retry,
        }
    }
}

pub async fn run(Queue { instance, kind, run }: Queue, global: &Global) -> Result<Answer, Failure> {
    let operator = Operator::new(&global.store().await?, instance);
    let (found, note) = if run {
        let found = operator.run_queue(kind.as_deref()).await?;
        let of_receivers = |waiting: &&Waiting| waiting.is_of(Some("notification"));
        let sent = found.iter().filter(of_receivers).count();
        let left = operator.queue(kind.as_deref()).await?;
        let left = left.len() - left.iter().filter(of_receivers).count();
        let is_suspended = operator.directory_head().await?.suspended.is_some();
        let resumed = format!(" after: funil instance resume {}", operator.instance());
        let note = format!(
            "{} tried, {left} left, {sent} will be sent within a minute{}",
            found.len() - sent,
            if is_suspended { &resumed } else { "" }
        );
        (found, note)
    } else {
        let found = operator.queue(kind.as_deref()).await?;
        let hint = if found.is_empty() {
            ""
        } else {
            "; do it now with --run"
        };
        let waits = found.iter().filter(|waiting| waiting.next.is_some()).count();
        let note = format!("{waits} waiting, {} set aside{hint}", found.len() - waits);
        (found, note)
    };
    let rows: Vec<_> = found.iter().map(row).collect();
    let headings = ["KIND", "ITEM", "ATTEMPTS", "SINCE", "NEXT ATTEMPT", "REASON"];
    Ok(Answer::new(text::table(headings, &rows), json!(found)).noting(note))
}

fn row(waiting: &Waiting) -> [String; 6] {
    let time_or =
        |time: &Option<Timestamp>, absent: &str| time.map_or(absent.to_owned(), |time| time.to_string());
    let (kind, item) = waiting.work.named();
    [
        kind.to_owned(),
        item,
        waiting.tries.to_string(),
        time_or(&waiting.since, "-"),
        time_or(&waiting.next, "set aside"),
        waiting.reason.clone(),
    ]
}
