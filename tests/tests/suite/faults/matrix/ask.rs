//! A use of a route, and its request.

use serde_json::{Value, json};
use tests::World;
use tests::world::Request;

use super::stage::Cast;
use tests::catalogue::Place;

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
    pub method: String,
    /// The route in the template.
    pub route: String,
    pub what: String,
    pub path: String,
    /// Placement of its credentials.
    pub place: Place,
    pub params: String,
    pub body: Value,
    pub who: fn(&Cast) -> &tests::Wallet,
    /// An earlier request that fills the process's caches.
    pub before: String,
    pub again: Again,
    /// Whether `UpdateItem` may fail without changing the response, as long as the others succeed.
    pub spares_counters: bool,
    /// Items whose content does not matter, by prefix of the key: partition key, space, sort key.
    pub spare_items: Vec<String>,
    /// Works without a lead if it can neither find nor create one (C-74).
    pub may_lack_lead: bool,
}

impl Ask {
    /// The body of the response when the table fails.
    pub fn failed(&self, text: &str) -> Value {
        match self.route.as_str() {
            "/voip/webhook" => json!({ "msg": "failed_voip_webhook", "err": "storage" }),
            "/crmopportunity" => json!({ "msg": text }),
            _ => json!({ "error": text }),
        }
    }

    pub fn request<'w>(&self, world: &'w World, cast: &Cast) -> Request<'w> {
        let (wallet, mut params) = ((self.who)(cast), self.params.clone());
        if self.place == Place::Query {
            params = format!("{params}&apitoken={}", wallet.key);
        }
        let mut call = world.call(&self.method, &format!("{}?{params}", self.path));
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
