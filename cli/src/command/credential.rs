//! `funil key` and `funil token`: credentials of an instance's users (C-3).

use clap::{Args, Subcommand};
use serde_json::{Value, json};
use shared::ambient::Ambient;
use shared::credential::Kind;
use shared::id::UserId;
use shared::instance::InstanceName;
use shared::number::plain;
use shared::settings::Rate;
use shared::store::operator::{CredentialEntry, Issued};
use shared::time::Timestamp;

use super::{Answer, Failure, Global};

pub const KEY_AFTER_HELP: &str = "\
Examples:
  funil key issue --instance acme --user 7 --label erp
  funil key list --instance acme
  funil key set --instance acme 1f0c2b9a77de --requests-per-minute 600
  funil key revoke --instance acme 1f0c2b9a77de";

pub const TOKEN_AFTER_HELP: &str = "\
Examples:
  funil token issue --instance acme --user 7 --days 30
  funil token list --instance acme
  funil token revoke --instance acme 1f0c2b9a77de";

const LIST_EXAMPLE: &str = "Example:\n  funil key list --instance acme --json";
const REVOKE_EXAMPLE: &str = "\
Example:
  funil key revoke --instance acme 1f0c2b9a77de

A revoked credential is refused from the next request on.";

const SET_EXAMPLES: &str = "\
Examples:
  funil key set --instance acme 1f0c2b9a77de --requests-per-minute 600
  funil key set --instance acme 1f0c2b9a77de --requests-per-minute none

A key with a limit of its own has that one; all others share the instance's. It holds from the next request.";

/// The most characters of a label.
const LABEL: usize = 64;

#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Issue an API key; it is shown once
    #[command(
        after_help = "Example:\n  funil key issue --instance acme --user 7 --label erp --days 365 --json"
    )]
    Issue {
        #[command(flatten)]
        whose: Whose,
        /// For how many days it is valid; always where absent
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=36500))]
        days: Option<u32>,
        /// How many requests a minute it may make; as all keys of the instance together where absent
        #[arg(long, value_name = "N", value_parser = rate)]
        requests_per_minute: Option<Rate>,
    },
    /// Give an API key a limit of its own, or take it away
    #[command(after_help = SET_EXAMPLES)]
    Set {
        #[command(flatten)]
        which: Which,
        /// How many requests a minute it may make; none: as all keys of the instance together
        #[arg(long, value_name = "N|none", value_parser = limit)]
        requests_per_minute: Limit,
    },
    /// List the API keys, revoked and expired ones too
    #[command(after_help = LIST_EXAMPLE)]
    List(Where),
    /// Revoke an API key
    #[command(after_help = REVOKE_EXAMPLE)]
    Revoke(Which),
}

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Issue an access token; it is shown once
    #[command(after_help = "Example:\n  funil token issue --instance acme --user 7 --days 90 --json")]
    Issue {
        #[command(flatten)]
        whose: Whose,
        /// For how many days it is valid
        #[arg(long, default_value_t = 90, value_parser = clap::value_parser!(u32).range(1..=36500))]
        days: u32,
    },
    /// List the access tokens, revoked and expired ones too
    #[command(after_help = "Example:\n  funil token list --instance acme --json")]
    List(Where),
    /// Revoke an access token
    #[command(after_help = "Example:\n  funil token revoke --instance acme 1f0c2b9a77de")]
    Revoke(Which),
}

#[derive(Debug, Args)]
pub struct Where {
    /// The instance
    #[arg(long, value_name = "NAME")]
    instance: InstanceName,
}

#[derive(Debug, Args)]
pub struct Whose {
    #[command(flatten)]
    place: Where,
    /// The user as whom its requests act
    #[arg(long, value_name = "ID", value_parser = user)]
    user: UserId,
    /// What to call it in lists
    #[arg(long, value_name = "TEXT", value_parser = label)]
    label: Option<String>,
}

#[derive(Debug, Args)]
pub struct Which {
    #[command(flatten)]
    place: Where,
    /// Its id, as `list` shows it
    id: String,
}

/// A key's limit, or that it has none of its own.
#[derive(Debug, Clone, Copy)]
pub struct Limit(Option<Rate>);

/// What is done to keys and tokens.
pub enum Command {
    Issue {
        kind: Kind,
        whose: Whose,
        days: Option<u32>,
        limit: Option<Rate>,
    },
    Limit(Which, Limit),
    List(Kind, Where),
    Revoke(Kind, Which),
}

impl From<KeyCommand> for Command {
    fn from(command: KeyCommand) -> Self {
        match command {
            KeyCommand::Issue {
                whose,
                days,
                requests_per_minute,
            } => Self::Issue {
                kind: Kind::Key,
                whose,
                days,
                limit: requests_per_minute,
            },
            KeyCommand::Set {
                which,
                requests_per_minute,
            } => Self::Limit(which, requests_per_minute),
            KeyCommand::List(place) => Self::List(Kind::Key, place),
            KeyCommand::Revoke(which) => Self::Revoke(Kind::Key, which),
        }
    }
}

impl From<TokenCommand> for Command {
    fn from(command: TokenCommand) -> Self {
        match command {
            TokenCommand::Issue { whose, days } => Self::Issue {
                kind: Kind::Token,
                whose,
                days: Some(days),
                limit: None,
            },
            TokenCommand::List(place) => Self::List(Kind::Token, place),
            TokenCommand::Revoke(which) => Self::Revoke(Kind::Token, which),
        }
    }
}

pub async fn run(command: Command, global: &Global) -> Result<Answer, Failure> {
    match command {
        Command::Issue {
            kind,
            whose,
            days,
            limit,
        } => {
            let Whose { place, user, label } = whose;
            let operator = global.store().await?.operator(place.instance.clone());
            let issued = match kind {
                Kind::Key => operator.issue_key(user, label, days, limit).await?,
                Kind::Token => operator.issue(kind, user, label, days).await?,
            };
            Ok(issued_answer(&place.instance, issued))
        }
        Command::Limit(which, limit) => set_limit(which, limit, global).await,
        Command::List(kind, Where { instance }) => list(kind, instance, global).await,
        Command::Revoke(kind, which) => revoke(kind, which, global).await,
    }
}

/// The credential, shown this once.
fn issued_answer(instance: &InstanceName, issued: Issued) -> Answer {
    let (entry, name) = (issued.entry, issued.secret.kind().name());
    let mut document = json!({ "id": entry.id, name: issued.secret.reveal() });
    if let Some(expires) = entry.expires {
        document["expires"] = json!(expires);
    }
    let until = entry
        .expires
        .map_or(String::new(), |expires| format!(", valid until {expires}"));
    let note = format!(
        "{name} {id} of user {user}{until}. It is shown this once; \
         revoke it with: funil {name} revoke --instance {instance} {id}",
        id = entry.id,
        user = entry.user,
    );
    Answer::new(issued.secret.reveal(), document).noting(note)
}

async fn set_limit(which: Which, Limit(limit): Limit, global: &Global) -> Result<Answer, Failure> {
    let operator = global.store().await?.operator(which.place.instance);
    let entry = operator.limit_key(&which.id, limit).await?;
    let text = match limit {
        Some(limit) => format!("key {} may make {} requests a minute", entry.id, limit.get()),
        None => format!("key {} has no limit of its own", entry.id),
    };
    Ok(Answer::new(text, document(&entry)))
}

async fn list(kind: Kind, instance: InstanceName, global: &Global) -> Result<Answer, Failure> {
    let store = global.store().await?;
    let entries = store.operator(instance.clone()).credentials(kind).await?;
    let now = Ambient::system().now();
    let lines: Vec<_> = entries.iter().map(|entry| line(entry, now)).collect();
    let documents = entries.iter().map(document).collect();
    let answer = Answer::new(lines.join("\n"), Value::Array(documents));
    let name = kind.name();
    Ok(if entries.is_empty() {
        answer.noting(format!(
            "instance {instance} has no {name}; issue one with: funil {name} issue --instance {instance} --user ID"
        ))
    } else {
        answer
    })
}

async fn revoke(kind: Kind, which: Which, global: &Global) -> Result<Answer, Failure> {
    let operator = global.store().await?.operator(which.place.instance);
    let entry = operator.revoke(kind, &which.id).await?;
    let text = format!("revoked {} {}", kind.name(), entry.id);
    Ok(Answer::new(text, document(&entry)))
}

fn line(entry: &CredentialEntry, now: Timestamp) -> String {
    let state = match (entry.revoked, entry.expires) {
        (Some(at), _) => format!("revoked {at}"),
        (None, Some(at)) if at <= now => format!("expired {at}"),
        (None, Some(at)) => format!("valid until {at}"),
        (None, None) => "valid".to_owned(),
    };
    let label = entry.label.as_deref().unwrap_or("-");
    let limit = entry.requests_per_minute;
    let limit = limit.map_or(String::new(), |limit| format!("{} a minute  ", limit.get()));
    format!(
        "{}  user {}  {label}  issued {}  {limit}{state}",
        entry.id, entry.user, entry.create_date
    )
}

fn document(entry: &CredentialEntry) -> Value {
    let mut document = json!({
        "id": entry.id,
        "user": entry.user,
        "label": entry.label,
        "createDate": entry.create_date,
        "expires": entry.expires,
        "revoked": entry.revoked,
    });
    if entry.kind == Kind::Key {
        document["requestsPerMinute"] = json!(entry.requests_per_minute);
    }
    document
}

fn rate(text: &str) -> Result<Rate, &'static str> {
    let requests = plain(text).and_then(|requests| requests.try_into().ok());
    requests.and_then(Rate::new).ok_or(Rate::MUST)
}

fn limit(text: &str) -> Result<Limit, String> {
    if text == "none" {
        return Ok(Limit(None));
    }
    let limit = rate(text).map_err(|must| format!("{must}, or none"))?;
    Ok(Limit(Some(limit)))
}

fn user(text: &str) -> Result<UserId, &'static str> {
    UserId::parse(text).ok_or("a user's id is a positive whole number")
}

fn label(text: &str) -> Result<String, &'static str> {
    let fits = (1..=LABEL).contains(&text.chars().count()) && !text.chars().any(char::is_control);
    fits.then(|| text.to_owned())
        .ok_or("a label is 1 to 64 characters on one line")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Timestamp {
        Timestamp::parse(text).unwrap()
    }

    fn token() -> CredentialEntry {
        CredentialEntry {
            id: "1f0c2b9a77de".to_owned(),
            kind: Kind::Token,
            user: UserId::new(7).unwrap(),
            label: None,
            create_date: at("2026-01-01T00:00:00Z"),
            expires: Some(at("2026-04-01T00:00:00Z")),
            revoked: None,
            requests_per_minute: None,
        }
    }

    #[test]
    fn a_line_says_whether_the_credential_still_opens() {
        let entry = token();
        let revoked = CredentialEntry {
            revoked: Some(at("2026-02-01T00:00:00Z")),
            ..token()
        };
        let eternal = CredentialEntry {
            expires: None,
            ..token()
        };
        for (entry, now, state) in [
            (
                &entry,
                "2026-03-31T23:59:59Z",
                "valid until 2026-04-01T00:00:00.000Z",
            ),
            (&entry, "2026-04-01T00:00:00Z", "expired 2026-04-01T00:00:00.000Z"),
            (
                &revoked,
                "2026-04-01T00:00:00Z",
                "revoked 2026-02-01T00:00:00.000Z",
            ),
            (&eternal, "2036-01-01T00:00:00Z", "valid"),
        ] {
            let shown = line(entry, at(now));
            assert!(shown.ends_with(&format!("  {state}")), "{shown}");
        }
    }

    #[test]
    fn a_line_says_the_limit_of_a_key() {
        let limited = CredentialEntry {
            kind: Kind::Key,
            expires: None,
            requests_per_minute: Rate::new(600),
            ..token()
        };
        let shown = line(&limited, at("2036-01-01T00:00:00Z"));
        let state = "issued 2026-01-01T00:00:00.000Z  600 a minute  valid";
        assert!(shown.ends_with(&format!("  {state}")), "{shown}");
    }
}
