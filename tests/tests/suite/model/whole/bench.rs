//! The service and the reference: executes operations in both and compares the responses.

use std::collections::BTreeMap;
use std::fmt;

use indicatif::ProgressBar;
use operator::OperatorError;
use operator::import::{Source, import};
use serde_json::Value;
use shared::credential::CredentialKind;
use shared::ids::CallId;
use shared::jobs::webhook_client::WebhookClient;
use tests::{ACME, NOW, Wallet, World};

use super::op::{Ask, Op};
use super::reference::{self, Asked, Reference};
use super::setup::{self, USERS};

/// The service and the reference.
pub struct Bench {
    pub world: World,
    pub reference: Reference,
    wallets: BTreeMap<u64, Wallet>,
    /// The keys of meetings.
    proofs: BTreeMap<u64, String>,
}

/// The message of a response.
#[derive(PartialEq)]
struct Heard {
    status: u16,
    body: Value,
    /// Whether it was given before (C-10).
    replayed: bool,
    /// How many conditions it ignored (C-44).
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
    pub async fn new() -> Self {
        let world = World::empty().await;
        let operator = world.operator(ACME);
        operator.create_instance().await.expect("the instance is new");
        let lines = setup::lines();
        let text: Vec<_> = lines.iter().map(Value::to_string).collect();
        let text = text.join("\n");
        let source = Source::spool(text.as_bytes()).expect("a source");
        let report = import(&operator, &source, false, &ProgressBar::hidden()).await;
        let report = report.expect("an import");
        assert!(report.refused.is_empty(), "{:?}", report.refused);
        let mut bench = Self {
            world,
            reference: Reference::load(&lines, NOW),
            wallets: BTreeMap::new(),
            proofs: BTreeMap::new(),
        };
        for user in USERS {
            bench.issue(user).await;
        }
        bench
    }

    /// Executes an operation in both.
    ///
    /// # Errors
    /// The difference: response and expectation.
    pub async fn apply(&mut self, op: &Op) -> Result<(), String> {
        match op {
            Op::Pass { seconds } => {
                let now = self.world.clock.get().plus_seconds(*seconds);
                self.world.clock.set(now);
                self.reference.now = now.to_string();
            }
            Op::Tend { .. } => self.tend().await,
            Op::Issue { issue } => self.issue(*issue).await,
            Op::Revoke { revoke } => self.revoke(*revoke).await,
            Op::Ask(ask) => {
                let said = self.send(ask).await;
                let expected = self.reference.answer(&Asked::read(ask));
                let expected = Heard {
                    status: expected.0,
                    body: expected.1,
                    replayed: self.reference.replayed,
                    ignored: self.reference.ignored,
                };
                if said != expected {
                    return Err(format!("{ask:?}\nsaid     {said}\nexpected {expected}"));
                }
            }
        }
        Ok(())
    }

    async fn issue(&mut self, user: u64) {
        self.wallets.insert(user, self.world.wallet(user).await);
        self.reference.issue(user);
    }

    async fn revoke(&mut self, user: u64) {
        let operator = self.world.operator(ACME);
        let revoked = operator
            .revoke(CredentialKind::Key, &self.wallets[&user].key_id)
            .await;
        // A key revoked before remains revoked.
        assert!(
            matches!(revoked, Ok(_) | Err(OperatorError::RevokedAlready { .. })),
            "{revoked:?}"
        );
        self.reference.revoke(user);
    }

    /// Runs automations call by call, in the order of the table's stream; otherwise the ids of their
    /// opportunities would be ambiguous.
    async fn tend(&mut self) {
        let (store, webhook_client) = (
            &self.world.store,
            WebhookClient::plain(|_, _| Vec::new(), |_| false),
        );
        let operator = self.world.operator(ACME);
        for call in self.reference.raised() {
            let call = CallId::new(call).expect("an id");
            let run = store.run_trigger(operator.instance(), call).await;
            run.expect("the automations are run");
        }
        // Triggers written by mistake run too, and become visible.
        let rest = maintenance::automate(store, &webhook_client).await;
        rest.expect("the automations are run");
        maintenance::tend(store).await.expect("it is tended");
        self.reference.tend();
    }

    async fn send(&mut self, ask: &Ask) -> Heard {
        let Ask { by, path, body, .. } = ask;
        let joint = if path.contains('?') { '&' } else { '?' };
        let program = if ask.walks {
            "walker".to_owned()
        } else {
            format!("{by} {path} {body}")
        };
        let call = self.world.call(&ask.method, &format!("{path}{joint}i={ACME}"));
        let mut call = call.with(&self.wallets[by]).header("user-agent", &program);
        if let Some(key) = &ask.key {
            call = call.header("idempotency-key", key);
        }
        let answer = match body {
            Value::Null => call.send().await,
            body => call.json(&self.proved(body)).send().await,
        };
        let replayed = answer.headers.contains_key("idempotent-replayed");
        let ignored = answer.headers.get("x-filters-ignored");
        let ignored = ignored.map(|count| count.to_str().expect("text").parse().expect("a count"));
        let mut said = answer.body;
        self.keep_proof(&mut said);
        Heard {
            status: answer.status.as_u16(),
            body: reference::without_words(&ask.method, path, body, said),
            replayed,
            ignored,
        }
    }

    /// Removes the key of a meeting from a response. A meeting keeps its key (C-55).
    fn keep_proof(&mut self, said: &mut Value) {
        let data = said.get_mut("data").and_then(Value::as_object_mut);
        let taken = data.and_then(|data| Some((data.shift_remove("rescheduleKey")?, data["id"].as_u64()?)));
        let Some((key, id)) = taken else { return };
        let key = key.as_str().expect("a key").to_owned();
        assert_eq!(*self.proofs.entry(id).or_insert_with(|| key.clone()), key);
    }

    /// Replaces the name of a key in a body by the key; an unknown key becomes a wrong one.
    fn proved(&self, body: &Value) -> Value {
        let mut body = body.clone();
        let named = body["properties"]["rescheduleKey"]
            .as_str()
            .and_then(|key| key.strip_prefix("$key:"));
        if let Some(id) = named.map(|id| id.parse::<u64>().expect("an id")) {
            let key = self.proofs.get(&id).cloned().unwrap_or_else(|| "0".repeat(64));
            body["properties"]["rescheduleKey"] = Value::String(key);
        }
        body
    }
}
