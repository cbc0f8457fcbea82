//! Instance, service and recorder for uses of endpoints, and the steps between them.

#![expect(
    clippy::expect_used,
    clippy::missing_panics_doc,
    clippy::panic,
    reason = "a measurement that cannot be set up must stop, and say where"
)]

use std::collections::BTreeMap;
use std::sync::Arc;

use database::Database;
use dynamodb::Emulator;
use indicatif::ProgressBar;
use operator::Operator;
use operator::import::{Source, import};
use serde_json::Value;
use shared::credential::{CredentialKind, Secret};
use shared::environment::Environment;
use shared::store::{Cost, Meter, Store};

use super::stock;
use super::wire::{Exchange, Wire};
use crate::catalogue::{self, Place, route_of};
use crate::people::{ACME, NOW, settle};
use crate::world::{Answer, Request, TABLE, Wallet, World, at, jitter};

/// An instance that is set up directly on the table and called through the recorder.
pub struct Desk {
    arranged: World,
    service: World,
    other: World,
    wire: Option<Arc<Wire>>,
    wallets: BTreeMap<u64, Wallet>,
    last: Value,
    size: u64,
}

/// A request that was sent, or the largest cost of several.
#[derive(Debug)]
pub struct Sent {
    /// The response's status; 0 for a job.
    pub status: u16,
    /// The last response's body.
    pub body: Value,
    /// The last cost.
    pub cost: Cost,
    /// Sequential round trips, calls, read units and write units.
    pub figures: [f64; 4],
    /// The calls of the last request.
    pub exchanges: Option<Vec<Exchange>>,
}

impl Desk {
    /// The instance `acme` with its people and leads: on an emulator with a recorder, or on SQLite.
    pub async fn open(size: u64, is_recorded: bool) -> Self {
        let (arranged, wire) = if is_recorded {
            let emulator = Emulator::new();
            let arranged = World::emulated(&emulator, Arc::new(emulator.clone())).await;
            (arranged, Some(Wire::before(&emulator)))
        } else {
            let database = Database::temporary().expect("an engine starts");
            (World::on(database).await, None)
        };
        settle(&arranged.operator(ACME)).await;
        let process = || match &wire {
            Some(wire) => {
                let (environment, _) = Environment::frozen(at(NOW));
                let engine = dynamodb::engine(wire.clone(), TABLE.to_owned(), jitter(&environment));
                arranged.through(Store::on(Arc::new(engine), environment))
            }
            None => arranged.elsewhere(),
        };
        let (service, other) = (process(), process());
        service.meet_public().await;
        Self {
            arranged,
            service,
            other,
            wire,
            wallets: BTreeMap::new(),
            last: Value::Null,
            size,
        }
    }

    /// Prepares the next uses: a word of this list, a request, or a stock with its numbers.
    ///
    /// `set NAME VALUE`: a setting; `import LINE`: a record; `revoke USER`: the user's credentials; `switch`: another process;
    /// `refresh copies`, `refresh reports`: a job.
    pub async fn step(&mut self, text: &str) {
        let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
        let operator = self.operator();
        match word {
            "set" => {
                let (name, value) = rest.split_once(' ').expect("a name and a value");
                let value = serde_json::from_str(value).expect("JSON");
                operator.set_setting(name, &value).await.expect("a setting");
            }
            "import" => {
                let source = Source::spool(self.filled(rest).as_bytes()).expect("a line");
                let report = import(&operator, &source, false, &ProgressBar::hidden()).await;
                assert_eq!(report.expect("a report").imported, 1, "{rest}");
            }
            "revoke" => {
                let wallet = self.wallet(rest.parse().expect("a user")).await;
                for (kind, id) in [
                    (CredentialKind::Key, &wallet.key_id),
                    (CredentialKind::Token, &wallet.token_id),
                ] {
                    operator.revoke(kind, id).await.expect("it is revoked");
                }
            }
            "switch" => std::mem::swap(&mut self.service, &mut self.other),
            "refresh" => drop(self.job(rest).await),
            _ if word.starts_with(|first: char| first.is_ascii_lowercase()) => {
                let numbers = rest.split_whitespace().map(|number| self.number(number));
                stock::add(&operator, word, &numbers.collect::<Vec<_>>()).await;
            }
            _ => drop(self.send(text).await),
        }
    }

    /// Sends a request, `[CALLER] METHOD PATH [@HEADER:VALUE] [BODY]`, or does a job. `<2..40>` in it stands for one request with
    /// each number.
    pub async fn send(&mut self, text: &str) -> Sent {
        if let Some(job) = text.strip_prefix("refresh ") {
            return self.job(job).await;
        }
        let range = text.split_once("..").and_then(|(before, after)| {
            let (before, first) = before.rsplit_once('<')?;
            let (last, after) = after.split_once('>')?;
            Some((before, self.number(first)..=self.number(last), after))
        });
        let Some((before, numbers, after)) = range else {
            return self.send_one(text).await;
        };
        let mut largest = [0.0_f64; 4];
        let mut last = None;
        for number in numbers {
            let sent = self.send_one(&format!("{before}{number}{after}")).await;
            for (largest, figure) in largest.iter_mut().zip(sent.figures) {
                *largest = largest.max(figure);
            }
            last = Some(sent);
        }
        let last = last.expect("a range is not empty");
        Sent {
            figures: largest,
            ..last
        }
    }

    async fn send_one(&mut self, text: &str) -> Sent {
        let text = self.filled(text);
        let (head, body) = text.split_once(" {").unwrap_or((&text, ""));
        let (caller, rest) = match head.split_once(' ') {
            Some((caller, rest)) if !caller.starts_with(|first: char| first.is_ascii_uppercase()) => {
                (caller, rest)
            }
            _ => ("7", head),
        };
        let mut words = rest.split(" @");
        let (method, path) = words
            .next()
            .and_then(|first| first.split_once(' '))
            .expect("a method and a path");
        let request = self.signed(caller, method, path).await;
        let request = words
            .filter_map(|word| word.split_once(':'))
            .fold(request, |request, (name, value)| request.header(name, value));
        let request = if body.is_empty() {
            request
        } else {
            request
                .header("content-type", "application/json")
                .bytes(format!("{{{body}"))
        };
        let answer = request.send().await;
        let exchanges = self.wire.as_ref().map(|wire| wire.take());
        self.last = answer.body.clone();
        let Answer {
            status, body, cost, ..
        } = answer;
        Sent::of(status.as_u16(), body, cost, exchanges)
    }

    /// A request with credentials in their places: `8` are those of user 8, `8!` new ones, `8k` the key alone, `-` none. A path
    /// that ends with `&` gets no `i`.
    async fn signed(&mut self, caller: &str, method: &str, path: &str) -> Request<'_> {
        let sign = if path.contains('?') { '&' } else { '?' };
        let mut uri = match path.strip_suffix('&') {
            Some(path) => path.to_owned(),
            None if path.contains("?i=") => path.to_owned(),
            None => format!("{path}{sign}i={ACME}"),
        };
        let route = route_of(method, path.split('?').next().unwrap_or_default());
        let place = catalogue::place(method, &route.path);
        if caller == "-" || place == Place::None {
            self.take();
            return self.service.call(method, &uri);
        }
        let user = caller.trim_end_matches(['!', 'k']).parse().expect("a user");
        if caller.ends_with('!') {
            self.wallets.insert(user, self.arranged.wallet(user).await);
        }
        let wallet = self.wallet(user).await;
        self.take();
        if place == Place::Query {
            uri = format!("{uri}&apitoken={}", wallet.key);
            return self.service.call(method, &uri);
        }
        let request = self.service.call(method, &uri).header("apitoken", &wallet.key);
        if place == Place::Headers && !caller.ends_with('k') {
            return request.header("authorization", &format!("Bearer {}", wallet.token));
        }
        request
    }

    /// Credentials that the process has accepted recently.
    async fn wallet(&mut self, user: u64) -> Wallet {
        if let Some(wallet) = self.wallets.get(&user) {
            return wallet.clone();
        }
        let wallet = self.arranged.wallet(user).await;
        self.service.meet(&wallet).await;
        self.wallets.insert(user, wallet.clone());
        wallet
    }

    fn take(&self) {
        self.wire.as_ref().map(|wire| wire.take());
    }

    fn operator(&self) -> Operator {
        self.arranged.operator(ACME)
    }

    async fn job(&self, name: &str) -> Sent {
        let (meter, store) = (Meter::default(), &self.arranged.store);
        let done = match name {
            "copies" => meter.measure(store.refresh_copies()).await.map(drop),
            "reports" => meter.measure(store.refresh_reports()).await.map(drop),
            other => panic!("{other} is no job"),
        };
        done.expect("the job is done");
        Sent::of(0, Value::Null, meter.cost(), None)
    }

    /// The text with the values of its names in angle brackets: `<fk>` and `<fa>` are made-up credentials, `<x9>` is nine times
    /// `x`, `<n/50>` is computed from the size, and other names are members of the last response.
    fn filled(&self, text: &str) -> String {
        let (mut filled, mut rest) = (String::new(), text);
        while let Some((before, after)) = rest.split_once('<') {
            let (name, after) = after.split_once('>').expect("a name ends");
            filled.push_str(before);
            filled.push_str(&self.value(name));
            rest = after;
        }
        filled + rest
    }

    fn value(&self, name: &str) -> String {
        let made_up = |kind| Secret::issue(kind, &Environment::system()).reveal().to_owned();
        match name {
            "fk" => made_up(CredentialKind::Key),
            "fa" => made_up(CredentialKind::Token),
            _ if name.starts_with('n') => self.number(name).to_string(),
            _ => match (name.strip_prefix('x'), &self.last["data"][name]) {
                (Some(count), _) => "x".repeat(usize::try_from(self.number(count)).expect("small")),
                (None, Value::String(text)) => text.clone(),
                (None, value) => value.to_string(),
            },
        }
    }

    /// The value of `n*2/50-1`, from left to right, where `n` is the size.
    #[must_use]
    pub fn number(&self, expression: &str) -> u64 {
        let mut value = 0;
        let mut operation = '+';
        for part in expression.split_inclusive(['+', '-', '*', '/']) {
            let operand = part.trim_end_matches(['+', '-', '*', '/']);
            let operand = if operand == "n" {
                self.size
            } else {
                operand.parse().expect("a number")
            };
            value = match operation {
                '-' => value - operand,
                '*' => value * operand,
                '/' => value / operand,
                _ => value + operand,
            };
            operation = part.chars().last().unwrap_or_default();
        }
        value
    }
}

impl Sent {
    fn of(status: u16, body: Value, cost: Cost, exchanges: Option<Vec<Exchange>>) -> Self {
        let calls = u32::try_from(cost.calls.len()).expect("few");
        let figures = [
            cost.round_trips.into(),
            calls.into(),
            cost.read_units(),
            cost.write_units(),
        ];
        Self {
            status,
            body,
            cost,
            figures,
            exchanges,
        }
    }
}
