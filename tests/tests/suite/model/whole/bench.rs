//! The service and the reference: executes operations in both and compares the responses.

use std::collections::BTreeMap;
use std::fmt;

use http::HeaderValue;
use indicatif::ProgressBar;
use operator::OperatorError;
use operator::import::{Source, import};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shared::credential::CredentialKind;
use shared::ids::CallId;
use shared::jobs::webhook_client::WebhookClient;
use tests::client::{self, Connection, Reply};
use tests::world::at;
use tests::{ACME, NOW, World};

use super::op::{Ask, Op};
use super::reference::{self, Asked, Reference};
use super::setup::{self, USERS};

/// The service of an instance, and its reference.
pub struct Bench {
    pub link: Link,
    pub instance: String,
    /// The states that the instance may have: one, unless a response was lost.
    pub references: Vec<Reference>,
    wallets: BTreeMap<u64, Value>,
    /// The keys of meetings.
    proofs: BTreeMap<u64, String>,
}

/// Where the service is.
pub enum Link {
    Here(Box<World>),
    There(Option<Connection>),
}

/// An operation that failed.
#[derive(Debug)]
pub enum Fault {
    /// The response, and the expected one.
    Differs(String),
    /// The service died before the response.
    Lost,
}

/// An operator's command, executed in the process of the service.
#[derive(Debug, Serialize, Deserialize)]
pub enum Command {
    /// Creates the instance.
    Create,
    Issue(u64),
    /// The id of a key.
    Revoke(String),
    Pass(String),
    /// Runs the automations of these calls in their order; otherwise the ids of their opportunities would be ambiguous.
    Raise(Vec<u64>),
    /// Runs automations that were raised by mistake, which become visible, and maintenance.
    Tend,
    /// The doctor.
    Examine,
}

/// Executes a command. The result of `Issue` are the credentials.
pub async fn execute(world: &World, instance: &str, command: Command) -> Value {
    let operator = world.operator(instance);
    match command {
        Command::Create => {
            operator.create_instance().await.expect("the instance is new");
            let lines: Vec<_> = setup::lines().iter().map(Value::to_string).collect();
            let source = Source::spool(lines.join("\n").as_bytes()).expect("a source");
            let report = import(&operator, &source, false, &ProgressBar::hidden()).await;
            let report = report.expect("an import");
            assert!(report.refused.is_empty(), "{:?}", report.refused);
        }
        Command::Issue(user) => {
            let wallet = world.wallet_of(instance, user).await;
            return json!({ "key": wallet.key, "token": wallet.token, "id": wallet.key_id });
        }
        Command::Revoke(key) => {
            let revoked = operator.revoke(CredentialKind::Key, &key).await;
            // A key revoked before remains revoked.
            let is_done = matches!(revoked, Ok(_) | Err(OperatorError::RevokedAlready { .. }));
            assert!(is_done, "{revoked:?}");
        }
        Command::Pass(now) => world.clock.set(at(&now)),
        Command::Raise(calls) => {
            for call in calls {
                let call = CallId::new(call).expect("an id");
                let run = world.store.run_trigger(operator.instance(), call).await;
                run.expect("the automations are run");
            }
        }
        Command::Tend => {
            let client = WebhookClient::plain(|_, _| Vec::new(), |_| false);
            let rest = maintenance::automate(&world.store, &client).await;
            rest.expect("the automations are run");
            maintenance::tend(&world.store).await.expect("it is tended");
        }
        Command::Examine => {
            let found = operator.doctor(false, &|_| {}).await.expect("a diagnosis");
            let mut differences = found.differences;
            differences.retain(|one| !one.reason.starts_with("was raised more than an hour ago"));
            assert!(differences.is_empty(), "{differences:?}");
        }
    }
    Value::Null
}

/// The message of a response.
#[derive(PartialEq)]
struct Heard {
    status: u16,
    body: Value,
    /// Whether it was given before (C-10).
    replayed: bool,
    /// Number of conditions that it ignored (C-44).
    ignored: Option<usize>,
}

impl fmt::Display for Heard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            status,
            body,
            replayed,
            ignored,
        } = self;
        write!(f, "{status} {body} replayed: {replayed}, ignored: {ignored:?}")
    }
}

impl Bench {
    /// An instance that is not created.
    pub fn new(link: Link, instance: &str) -> Self {
        Self {
            link,
            instance: instance.to_owned(),
            references: vec![Reference::load(&setup::lines(), NOW)],
            wallets: BTreeMap::new(),
            proofs: BTreeMap::new(),
        }
    }

    /// Creates the instance and the users' credentials.
    pub async fn create(&mut self) -> Result<(), Fault> {
        self.command(Command::Create).await?;
        for issue in USERS {
            self.apply(&Op::Issue { issue }).await?;
        }
        Ok(())
    }

    /// Executes an operation in both.
    ///
    /// # Errors
    /// [`Fault`].
    pub async fn apply(&mut self, op: &Op) -> Result<(), Fault> {
        match op {
            Op::Pass { seconds } => {
                let now = at(&self.references[0].now).plus_seconds(*seconds).to_string();
                self.command(Command::Pass(now.clone())).await?;
                self.set_time(&now);
            }
            Op::Tend { .. } => {
                self.raise().await?;
                self.command(Command::Tend).await?;
                self.tended();
            }
            Op::Issue { issue } => {
                let wallet = self.command(Command::Issue(*issue)).await?;
                self.wallets.insert(*issue, wallet);
                self.references
                    .iter_mut()
                    .for_each(|reference| reference.issue(*issue));
            }
            Op::Revoke { revoke } => {
                let key = self.wallets[revoke]["id"].as_str().expect("an id").to_owned();
                self.command(Command::Revoke(key)).await?;
                self.references
                    .iter_mut()
                    .for_each(|reference| reference.revoke(*revoke));
            }
            Op::Ask(ask) => {
                let said = self.send(ask).await?;
                self.compare(ask, &said)?;
            }
        }
        Ok(())
    }

    /// Keeps the states that expect this response.
    fn compare(&mut self, ask: &Ask, said: &Heard) -> Result<(), Fault> {
        let mut last = None;
        self.references.retain_mut(|reference| {
            let (status, body) = reference.answer(&Asked::read(ask));
            let (replayed, ignored) = (reference.replayed, reference.ignored);
            let expected = Heard {
                status,
                body,
                replayed,
                ignored,
            };
            let is_expected = *said == expected;
            last = Some(expected);
            is_expected
        });
        if !self.references.is_empty() {
            return Ok(());
        }
        let expected = last.expect("a state");
        Err(Fault::Differs(format!(
            "{ask:?}\nsaid     {said}\nexpected {expected}"
        )))
    }

    /// The time of all states.
    pub fn set_time(&mut self, now: &str) {
        self.references
            .iter_mut()
            .for_each(|reference| now.clone_into(&mut reference.now));
    }

    /// Runs the pending automations.
    pub async fn raise(&mut self) -> Result<(), Fault> {
        self.command(Command::Raise(self.references[0].raised()))
            .await
            .map(drop)
    }

    /// Maintenance was run.
    pub fn tended(&mut self) {
        self.references.iter_mut().for_each(Reference::tend);
    }

    pub async fn command(&mut self, command: Command) -> Result<Value, Fault> {
        match &mut self.link {
            Link::Here(world) => Ok(execute(world, &self.instance, command).await),
            Link::There(connection) => {
                let path = format!("/operate/{}", self.instance);
                let ask = client::Ask::new("POST", path, &json!(command));
                let ask = ask.with("content-type", "application/json");
                let reply = connection
                    .as_mut()
                    .and_then(|connection| connection.send(&ask))
                    .ok_or(Fault::Lost)?;
                assert_eq!(reply.status, 200, "{command:?}: {reply:?}");
                Ok(reply.body)
            }
        }
    }

    async fn send(&mut self, ask: &Ask) -> Result<Heard, Fault> {
        let Ask {
            by,
            method,
            path,
            body,
            ..
        } = ask;
        let joint = if path.contains('?') { '&' } else { '?' };
        let uri = format!("{path}{joint}i={}", self.instance);
        let program = if ask.walks {
            "walker".to_owned()
        } else {
            format!("{by} {path} {body}")
        };
        let wallet = &self.wallets[by];
        let part = |name: &str| wallet[name].as_str().expect("a credential");
        let mut headers = vec![
            ("apitoken", part("key").to_owned()),
            ("authorization", format!("Bearer {}", part("token"))),
            ("user-agent", program),
        ];
        headers.extend(ask.key.clone().map(|key| ("idempotency-key", key)));
        let sent = self.proved(body);
        let reply = match &mut self.link {
            Link::Here(world) => {
                let call = world.call(method, &uri);
                let call = headers
                    .iter()
                    .fold(call, |call, (name, value)| call.header(name, value));
                let answer = if sent.is_null() {
                    call.send().await
                } else {
                    call.json(&sent).send().await
                };
                let number = |value: &HeaderValue| value.to_str().expect("text").parse().expect("a count");
                Reply {
                    status: answer.status.as_u16(),
                    replayed: answer.headers.contains_key("idempotent-replayed"),
                    ignored: answer.headers.get("x-filters-ignored").map(number),
                    body: answer.body,
                }
            }
            Link::There(connection) => {
                let request = client::Ask::new(method, uri, &sent);
                let request = headers
                    .into_iter()
                    .fold(request, |request, (name, value)| request.with(name, value));
                connection
                    .as_mut()
                    .and_then(|connection| connection.send(&request))
                    .ok_or(Fault::Lost)?
            }
        };
        // The reference is that of `acme`.
        let domain = |name: &str| format!(r#""instancedomain":"{name}""#);
        let said = reply
            .body
            .to_string()
            .replace(&domain(&self.instance), &domain(ACME));
        let mut said = serde_json::from_str(&said).expect("JSON");
        self.keep_proof(&mut said);
        Ok(Heard {
            status: reply.status,
            body: reference::without_words(method, path, body, said),
            replayed: reply.replayed,
            ignored: reply.ignored,
        })
    }

    /// Removes the key of a meeting from a response. A meeting keeps its key (C-55).
    fn keep_proof(&mut self, said: &mut Value) {
        let data = said.get_mut("data").and_then(Value::as_object_mut);
        let taken = data.and_then(|data| Some((data.shift_remove("rescheduleKey")?, data["id"].as_u64()?)));
        let Some((key, id)) = taken else { return };
        let key = key.as_str().expect("a key").to_owned();
        assert_eq!(*self.proofs.entry(id).or_insert_with(|| key.clone()), key);
    }

    /// The meeting whose key a body names, if no response had it.
    pub fn lacks_proof(&self, body: &Value) -> Option<u64> {
        named(body).filter(|id| !self.proofs.contains_key(id))
    }

    /// Replaces the name of a key in a body by the key; an unknown key becomes a wrong one.
    fn proved(&self, body: &Value) -> Value {
        let mut body = body.clone();
        if let Some(id) = named(&body) {
            let key = self.proofs.get(&id).cloned().unwrap_or_else(|| "0".repeat(64));
            body["properties"]["rescheduleKey"] = Value::String(key);
        }
        body
    }
}

/// The meeting whose key a body names.
fn named(body: &Value) -> Option<u64> {
    let named = body["properties"]["rescheduleKey"]
        .as_str()?
        .strip_prefix("$key:")?;
    Some(named.parse().expect("an id"))
}
