//! `funil key` and `funil token`: credentials of an instance's users (C-3).

use clap::{Args, Subcommand};
use operator::{CredentialEntry, Issued, Operator};
use serde_json::{Value, json};
use shared::credential::CredentialKind;
use shared::environment::Environment;
use shared::ids::UserId;
use shared::instance::InstanceName;
use shared::integer::plain;
use shared::settings::Rate;
use shared::time::Timestamp;

use super::{Answer, Failure, Global, text};

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

Requests with a revoked credential are refused from the next one on.";

const SET_EXAMPLES: &str = "\
Examples:
  funil key set --instance acme 1f0c2b9a77de --requests-per-minute 600
  funil key set --instance acme 1f0c2b9a77de --requests-per-minute none

A key with its own limit uses that; all other keys share the instance's limit. A change applies from the next request.";

/// The columns of a list.
const HEADINGS: [&str; 6] = ["ID", "USER", "LABEL", "ISSUED", "LIMIT", "STATE"];
/// Maximum characters of a label.
const MAX_LABEL: usize = 64;

#[derive(Debug, Subcommand)]
pub enum KeyCommand {
    /// Issue an API key; it is shown once
    #[command(
        after_help = "Example:\n  funil key issue --instance acme --user 7 --label erp --days 365 --json"
    )]
    Issue {
        #[command(flatten)]
        new: NewCredential,
        /// Validity in days [default: no expiry]
        #[arg(long, value_parser = clap::value_parser!(u32).range(1..=36500))]
        days: Option<u32>,
        /// Requests per minute [default: the instance's shared limit]
        #[arg(long, value_name = "N", value_parser = rate)]
        requests_per_minute: Option<Rate>,
    },
    /// Set or remove the rate limit of an API key
    #[command(after_help = SET_EXAMPLES)]
    Set {
        #[command(flatten)]
        which: CredentialArg,
        /// Requests per minute, or none for the instance's shared limit
        #[arg(long, value_name = "N|none", value_parser = limit)]
        requests_per_minute: Limit,
    },
    /// List the API keys, including revoked and expired ones
    #[command(after_help = LIST_EXAMPLE)]
    List(InstanceArg),
    /// Revoke an API key
    #[command(after_help = REVOKE_EXAMPLE)]
    Revoke(CredentialArg),
}

#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Issue an access token; it is shown once
    #[command(after_help = "Example:\n  funil token issue --instance acme --user 7 --days 90 --json")]
    Issue {
        #[command(flatten)]
        new: NewCredential,
        /// Validity in days
        #[arg(long, default_value_t = 90, value_parser = clap::value_parser!(u32).range(1..=36500))]
        days: u32,
    },
    /// List the access tokens, including revoked and expired ones
    #[command(after_help = "Example:\n  funil token list --instance acme --json")]
    List(InstanceArg),
    /// Revoke an access token
    #[command(after_help = "Example:\n  funil token revoke --instance acme 1f0c2b9a77de")]
    Revoke(CredentialArg),
}

#[derive(Debug, Args)]
pub struct InstanceArg {
    /// Instance name [default: `FUNIL_INSTANCE`]
    #[arg(long, value_name = "NAME", env = "FUNIL_INSTANCE", hide_env = true)]
    pub instance: InstanceName,
}

#[derive(Debug, Args)]
pub struct NewCredential {
    #[command(flatten)]
    place: InstanceArg,
    /// ID of the user that its requests act as
    #[arg(long, value_name = "ID", value_parser = user)]
    user: UserId,
    /// Label for lists [default: none]
    #[arg(long, value_name = "TEXT", value_parser = label)]
    label: Option<String>,
}

#[derive(Debug, Args)]
pub struct CredentialArg {
    #[command(flatten)]
    place: InstanceArg,
    /// Credential ID, as `list` shows it
    id: String,
}

/// A key's own limit, if it has one.
#[derive(Debug, Clone, Copy)]
pub struct Limit(Option<Rate>);

pub async fn key(command: KeyCommand, global: &Global) -> Result<Answer, Failure> {
    match command {
        KeyCommand::Issue {
            new,
            days,
            requests_per_minute,
        } => {
            new.run(CredentialKind::Key, days, requests_per_minute, global)
                .await
        }
        KeyCommand::Set {
            which,
            requests_per_minute,
        } => set_limit(which, requests_per_minute, global).await,
        KeyCommand::List(place) => list(CredentialKind::Key, place, global).await,
        KeyCommand::Revoke(which) => revoke(CredentialKind::Key, which, global).await,
    }
}

pub async fn token(command: TokenCommand, global: &Global) -> Result<Answer, Failure> {
    match command {
        TokenCommand::Issue { new, days } => new.run(CredentialKind::Token, Some(days), None, global).await,
        TokenCommand::List(place) => list(CredentialKind::Token, place, global).await,
        TokenCommand::Revoke(which) => revoke(CredentialKind::Token, which, global).await,
    }
}

impl NewCredential {
    async fn run(
        self,
        kind: CredentialKind,
        days: Option<u32>,
        limit: Option<Rate>,
        global: &Global,
    ) -> Result<Answer, Failure> {
        let Self { place, user, label } = self;
        let operator = Operator::new(&global.store().await?, place.instance.clone());
        let issued = match kind {
            CredentialKind::Key => operator.issue_key(user, label, days, limit).await?,
            CredentialKind::Token => operator.issue(kind, user, label, days).await?,
        };
        Ok(issued_answer(&place.instance, issued))
    }
}

/// The credential, shown only this once.
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

async fn set_limit(which: CredentialArg, Limit(limit): Limit, global: &Global) -> Result<Answer, Failure> {
    let operator = Operator::new(&global.store().await?, which.place.instance);
    let entry = operator.limit_key(&which.id, limit).await?;
    let text = match limit {
        Some(limit) => format!("key {} may make {} requests a minute", entry.id, limit.get()),
        None => format!("key {} has no limit of its own", entry.id),
    };
    Ok(Answer::new(text, document(&entry)))
}

async fn list(
    kind: CredentialKind,
    InstanceArg { instance }: InstanceArg,
    global: &Global,
) -> Result<Answer, Failure> {
    let store = global.store().await?;
    let entries = Operator::new(&store, instance.clone()).credentials(kind).await?;
    let now = Environment::system().now();
    let rows: Vec<_> = entries.iter().map(|entry| row(entry, now)).collect();
    let documents = entries.iter().map(document).collect();
    let answer = Answer::new(text::table(HEADINGS, &rows), Value::Array(documents));
    let name = kind.name();
    Ok(answer.noting_none(|| {
        format!(
            "instance {instance} has no {name}; issue one with: funil {name} issue --instance {instance} --user ID"
        )
    }))
}

async fn revoke(kind: CredentialKind, which: CredentialArg, global: &Global) -> Result<Answer, Failure> {
    let operator = Operator::new(&global.store().await?, which.place.instance);
    let entry = operator.revoke(kind, &which.id).await?;
    let text = format!("revoked {} {}", kind.name(), entry.id);
    Ok(Answer::new(text, document(&entry)))
}

fn row(entry: &CredentialEntry, now: Timestamp) -> [String; 6] {
    let state = match (entry.revoked, entry.expires) {
        (Some(at), _) => format!("revoked {at}"),
        (None, Some(at)) if at <= now => format!("expired {at}"),
        (None, Some(at)) => format!("valid until {at}"),
        (None, None) => "valid".to_owned(),
    };
    let limit = entry.requests_per_minute;
    [
        entry.id.clone(),
        entry.user.to_string(),
        entry.label.clone().unwrap_or_else(|| "-".to_owned()),
        entry.create_date.to_string(),
        limit.map_or_else(|| "-".to_owned(), |limit| format!("{} a minute", limit.get())),
        state,
    ]
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
    if entry.kind == CredentialKind::Key {
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

pub(super) fn user(text: &str) -> Result<UserId, &'static str> {
    UserId::parse(text).ok_or("a user's id is a positive whole number")
}

fn label(text: &str) -> Result<String, &'static str> {
    let fits = (1..=MAX_LABEL).contains(&text.chars().count()) && !text.chars().any(char::is_control);
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
            kind: CredentialKind::Token,
            user: UserId::new(7).unwrap(),
            label: None,
            create_date: at("2026-01-01T00:00:00Z"),
            expires: Some(at("2026-04-01T00:00:00Z")),
            revoked: None,
            requests_per_minute: None,
        }
    }

    #[test]
    fn lines_show_whether_a_credential_is_valid() {
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
            assert_eq!(row(entry, at(now))[5], state);
        }
    }

    #[test]
    fn lines_show_the_limit_of_a_key() {
        let limited = CredentialEntry {
            kind: CredentialKind::Key,
            expires: None,
            requests_per_minute: Rate::new(600),
            ..token()
        };
        let shown = row(&limited, at("2036-01-01T00:00:00Z"));
        let expected = [
            "1f0c2b9a77de",
            "7",
            "-",
            "2026-01-01T00:00:00.000Z",
            "600 a minute",
            "valid",
        ];
        assert_eq!(shown, expected);
    }
}
