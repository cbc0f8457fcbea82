//! A use of a route, and its request.

use serde_json::{Value, json};
use tests::World;
use tests::world::Request;

use super::stage::Cast;
use tests::catalogue::{self, Place};

/// The expected result of a repeated request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Again {
    /// The same response.
    Same,
    /// With an `Idempotency-Key`: the same response, and no second effect (C-10).
    Replayed,
    /// Not found, if the first one had its effect.
    Gone,
    /// Several targets, of which some may be done: the rest is done.
    Each,
    /// It has another effect.
    Another,
}

/// A use of a route.
#[derive(Debug, Clone)]
pub struct Ask {
    pub method: &'static str,
    /// The route in the template.
    pub route: &'static str,
    pub what: &'static str,
    path: String,
    /// Placement of its credentials; `None` for public routes.
    place: Place,
    params: &'static str,
    body: Value,
    who: fn(&Cast) -> &tests::Wallet,
    /// Earlier requests that fill the process's caches.
    pub before: &'static str,
    pub again: Again,
    /// Operations that may fail without changing the response, as long as the others succeed.
    pub spare: &'static [&'static str],
    /// Items whose content does not matter, by prefix of the key: partition key, space, sort key.
    pub spare_items: &'static [&'static str],
    /// Works without a lead if it can neither find nor create one (C-74).
    pub may_lack_lead: bool,
}

impl Ask {
    pub fn of(method: &'static str, route: &'static str, id: &str, what: &'static str) -> Self {
        Self {
            method,
            route,
            what,
            path: route
                .replace("{id}", id)
                .replace("{instance}/{keyName}", id)
                .replace("{name}", id),
            place: catalogue::place(method, route),
            params: "i=acme",
            body: Value::Null,
            who: |cast| &cast.admin,
            before: "",
            again: Again::Same,
            spare: &[],
            spare_items: &[],
            may_lack_lead: false,
        }
    }

    pub fn params(self, params: &'static str) -> Self {
        Self { params, ..self }
    }

    pub fn body(self, body: Value) -> Self {
        Self { body, ..self }
    }

    pub fn by(self, who: fn(&Cast) -> &tests::Wallet) -> Self {
        Self { who, ..self }
    }

    pub fn knowing(self, before: &'static str) -> Self {
        Self { before, ..self }
    }

    pub fn again(self, again: Again) -> Self {
        Self { again, ..self }
    }

    pub fn sparing_items(self, spare_items: &'static [&'static str]) -> Self {
        Self { spare_items, ..self }
    }

    pub fn sparing(self, spare: &'static [&'static str]) -> Self {
        Self { spare, ..self }
    }

    pub fn may_lack_lead(self) -> Self {
        Self {
            may_lack_lead: true,
            ..self
        }
    }

    /// The body of the response when the table fails.
    pub fn failed(&self, text: &str) -> Value {
        match self.route {
            "/voip/webhook" => json!({ "msg": "failed_voip_webhook", "err": "storage" }),
            "/crmopportunity" => json!({ "msg": text }),
            _ => json!({ "error": text }),
        }
    }

    pub fn request<'w>(&self, world: &'w World, cast: &Cast) -> Request<'w> {
        let (wallet, mut params) = ((self.who)(cast), self.params.to_owned());
        if self.place == Place::Query {
            params = format!("{params}&apitoken={}", wallet.key);
        }
        let mut call = world.call(self.method, &format!("{}?{params}", self.path));
        call = match self.place {
            Place::Headers => call.with(wallet),
            Place::Header | Place::Either => call.header("apitoken", &wallet.key),
            Place::Query | Place::None => call,
        };
        if self.again == Again::Replayed {
            call = call.header("idempotency-key", "k");
        }
        if self.body.is_null() {
            call
        } else {
            call.json(&self.body)
        }
    }
}
