//! `funil remove`: removes a record on which no other depends (C-104).

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use operator::{Operator, Removable, Removal, Removed, progress};
use serde_json::json;
use shared::http::InvalidField;
use shared::ids::FunnelId;
use shared::instance::InstanceName;

use super::{Answer, Failure, Global};

pub const AFTER_HELP: &str = "\
Lists, totals and look-ups follow. If other records depend on the record, they are listed and nothing is removed. A file
without an id is named by its ticket and path: 501:path. Leads are deleted through the interface: DELETE /leads/{id}.
Waits 30 seconds for requests that had read the record, unless --alone is given.

Examples:
  funil remove --instance acme --kind tag 5
  funil remove --instance acme --kind column --funnel 3 31
  funil remove --instance acme --kind user 8 --json

Exit codes: 0 it is removed, 1 other records depend on it or it does not exist, 2 wrong usage.";

#[derive(Debug, Args)]
pub struct RemoveArgs {
    /// Instance name [default: `FUNIL_INSTANCE`]
    #[arg(long, value_name = "NAME", env = "FUNIL_INSTANCE", hide_env = true)]
    instance: InstanceName,
    /// Kind of the record
    #[arg(long, value_parser = kinds())]
    kind: Removable,
    /// Funnel of the column, if several funnels have one with this id
    #[arg(long, value_name = "ID", value_parser = funnel)]
    funnel: Option<FunnelId>,
    /// No wait for other processes, because none uses the table
    #[arg(long)]
    alone: bool,
    /// Id of the record
    id: String,
}

/// The kinds, which shells complete.
fn kinds() -> impl TypedValueParser<Value = Removable> {
    let names = Removable::all().map(Removable::name);
    PossibleValuesParser::new(names).try_map(|name| {
        Removable::all()
            .find(|kind| kind.name() == name)
            .ok_or("an unknown kind")
    })
}

fn funnel(text: &str) -> Result<FunnelId, &'static str> {
    FunnelId::parse(text).ok_or(InvalidField::MUST_BE_ID)
}

pub async fn run(remove: RemoveArgs, global: &Global) -> Result<Answer, Failure> {
    if remove.funnel.is_some() && remove.kind != Removable::Column {
        return Err(Failure::Usage("--funnel goes with --kind column only".to_owned()));
    }
    let operator = Operator::new(&global.store().await?, remove.instance);
    let removal = Removal {
        kind: remove.kind,
        id: remove.id,
        funnel: remove.funnel,
    };
    let bar = global.progress();
    progress::uncounted(&bar, "records looked at");
    let removed = operator
        .remove(&removal, remove.alone, &|records| bar.inc(records))
        .await;
    bar.finish_and_clear();
    Ok(answer(&removed?))
}

fn answer(removed: &Removed) -> Answer {
    let Removed { kind, id, .. } = removed;
    if removed.removed {
        return Answer::new(format!("{kind} {id} is removed"), json!(removed));
    }
    let line =
        |dependent: &operator::Dependent| format!("{} {}: {}", dependent.kind, dependent.id, dependent.field);
    let mut lines: Vec<_> = removed.dependents.iter().map(line).collect();
    if removed.unlisted > 0 {
        lines.push(format!("and {} more", removed.unlisted));
    }
    let note = format!("{kind} {id} is not removed: these records depend on it; change or remove them first");
    Answer {
        partly: true,
        ..Answer::new(lines.join("\n"), json!(removed)).noting(note)
    }
}
