//! `funil tail`: the new records of an instance as they are made (C-106).

use std::io::{self, Write as _};
use std::time::Duration;

use clap::Args;
use operator::{NewRecord, Operator, Tail};
use serde_json::{Value, json};
use shared::instance::InstanceName;

use super::text::Colours;
use super::{Answer, Failure, Global, interrupt};

pub const AFTER_HELP: &str = "\
New leads, opportunities, meetings, tickets and calls are printed, one line each, until Ctrl-C. Changes of records are not.
With --json each line is the record as funil export writes it. A look at the table without a new record costs 5 read units.

Examples:
  funil tail --instance acme
  funil --endpoint http://127.0.0.1:8000 tail --instance demo --every 10
  funil tail --instance acme --json | jq -r 'select(.kind == \"lead\") | .firstname'";

/// Fields that a line shows, in this order.
const SHOWN: [&str; 15] = [
    "firstname",
    "lastname",
    "title",
    "name",
    "name_contact",
    "value",
    "type",
    "status",
    "date",
    "duration",
    "lead",
    "lead_id",
    "leadId",
    "lead_relation",
    "owner",
];

#[derive(Debug, Args)]
pub struct TailArgs {
    /// Instance name
    #[arg(long, value_name = "NAME")]
    instance: InstanceName,
    /// Seconds between two looks at the table
    #[arg(long, value_name = "SECONDS", default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=3600))]
    every: u64,
}

pub async fn run(tail: TailArgs, global: &Global) -> Result<Answer, Failure> {
    let operator = Operator::new(&global.store().await?, tail.instance);
    let mut records = Tail::new(operator).await?;
    let _ = writeln!(io::stderr(), "waiting for new records; Ctrl-C ends it");
    let follow = async {
        loop {
            let found = records.next().await?;
            print(&found, global.json)?;
            if found.is_empty() {
                tokio::time::sleep(Duration::from_secs(tail.every)).await;
            }
        }
    };
    tokio::select! {
        ended = follow => ended,
        () = interrupt::asked() => Ok(Answer::default()),
    }
}

fn print(found: &[NewRecord], as_json: bool) -> Result<(), Failure> {
    let mut out = io::stdout().lock();
    let colours = Colours::of(&out);
    let mut print = |record: &NewRecord| {
        if as_json {
            writeln!(out, "{}", document(record))
        } else {
            writeln!(out, "{}", line(record, colours))
        }
    };
    let printed = found.iter().try_for_each(&mut print).and_then(|()| out.flush());
    printed.map_err(|cause| match cause.kind() {
        io::ErrorKind::BrokenPipe => Failure::Unread,
        _ => cause.into(),
    })
}

/// The record as `funil export` writes it, for `--json`.
fn document(record: &NewRecord) -> Value {
    let mut document = json!({ "kind": record.kind });
    if let Value::Object(fields) = &mut document {
        fields.extend(record.fields.clone());
    }
    document
}

/// The time, the kind, the id and the fields of [`SHOWN`].
fn line(record: &NewRecord, colours: Colours) -> String {
    let text = |name: &str| match record.fields.get(name)? {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        value => Some(value.to_string()),
    };
    let time = text("createDate").unwrap_or_default();
    let mut parts = vec![time, colours.bold(&format!("{} {}", record.kind, record.id))];
    parts.retain(|part| !part.is_empty());
    for name in SHOWN {
        let value = text(name).filter(|value| !value.is_empty());
        parts.extend(value.map(|value| format!("{name}={value}")));
    }
    // A value may have line breaks or control characters of a terminal.
    parts.join("  ").replace(char::is_control, " ")
}
