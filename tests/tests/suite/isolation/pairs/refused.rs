//! Requests that every instance rejects: malformed ones, credentials of another instance, and records of
//! another instance only.

use serde_json::json;

use super::asking::{nowhere, parsed};
use super::shapes::AIMED;
use super::shops::{SHOPS, USERS, common};
use super::{Arena, Asker};
use tests::catalogue::Place;

impl Arena {
    /// A request that is rejected before any read.
    pub async fn malformed(&mut self, of: usize) {
        let shape = self.guarded_shape();
        let user = self.user();
        let (shop, other) = (&self.shops[of], &self.shops[(of + 1) % 3]);
        let (mut key, token) = (shop.wallets[user].key.clone(), &shop.wallets[user].token);
        let asker = Asker {
            of,
            user,
            i: shop.name,
        };
        let text = self.filled(&shape, asker, &|name| common(name, 0));
        let both = format!("i={}&i={}", shop.name, other.name);
        let own = format!("i={}", shop.name);
        let wrong = self.dice.below(5);
        if wrong == 1 {
            key.replace_range(8..9, if key[8..9] == *"a" { "b" } else { "a" });
        }
        let (method, path, i, expected) = match wrong {
            0 | 1 => (shape.method, text.path, own, 401),
            2 => (shape.method, text.path, both, 400),
            3 => ("PATCH", text.path, own, 405),
            _ => (shape.method, format!("/x{}", text.path), own, 404),
        };
        let in_query = shape.place() == Some(Place::Query);
        let key_param = if in_query && wrong != 0 {
            format!("&apitoken={key}")
        } else {
            String::new()
        };
        let mut call = self.world.call(method, &format!("{path}?{i}{key_param}"));
        if wrong != 0 && !in_query {
            call = call
                .header("apitoken", &key)
                .header("authorization", &format!("Bearer {token}"));
        }
        let answer = call.send_raw().await;
        self.last = format!(
            "{} of {}: {method} {path}?{i}, wrong in way {wrong}",
            USERS[user], SHOPS[of]
        );
        let answer = self.read(answer, of);
        assert_eq!(answer.status, expected, "{}: {answer:?}", self.last);
        assert!(answer.cost.calls.is_empty(), "{}: {answer:?}", self.last);
    }

    /// A valid credential used for another instance, or combined with half of another's: unauthorized (C-1).
    pub async fn stranger(&mut self, of: usize) {
        let shape = self.guarded_shape();
        let other = (of + 1 + usize::try_from(self.dice.below(2)).expect("small")) % 3;
        let user = self.user();
        let i = *self
            .dice
            .one(&[SHOPS[other], SHOPS[other], SHOPS[other], "nowhere"]);
        let asker = Asker { of, user, i };
        // Records of the other, of both, of neither: the response is the same.
        let whose = self.dice.below(3);
        let text = self.filled(&shape, asker, &|name| match whose {
            0 => self.shops[other].only_one(name),
            1 => common(name, 0),
            _ => nowhere(name),
        });
        self.last = format!(
            "{} of {} as {i}: {} {text:?}",
            USERS[user], SHOPS[of], shape.method
        );
        // Half of the time the own instance, but with a token of the other.
        let call = match shape.place() {
            Some(Place::Headers) if self.dice.chance(50) => {
                self.call_with_token_of(other, &shape, asker, &text)
            }
            _ => self.call(&shape, asker, &text),
        };
        // The response does not even contain data of the caller's instance.
        let answer = self.read(call.send_raw().await, SHOPS.len());
        let unauthorized = json!({ shape.text(): "Unauthorized" });
        assert_eq!(
            (answer.status.as_u16(), parsed(&answer)),
            (401, unauthorized),
            "{}",
            self.last
        );
    }

    /// A public request to an instance with data that only the attacker has.
    pub async fn aimed(&mut self) {
        let shape = *self.dice.one(&AIMED);
        let at = (self.attacker + 1 + usize::try_from(self.dice.below(2)).expect("small")) % 3;
        let asker = Asker {
            of: self.attacker,
            user: 0,
            i: SHOPS[at],
        };
        let text = self.filled(&shape, asker, &|name| common(name, 0));
        self.last = format!("{} aims at {}: {text:?}", SHOPS[self.attacker], SHOPS[at]);
        let answer = self.call(&shape, asker, &text).send_raw().await;
        let answer = self.read(answer, self.attacker);
        let refused = match shape.route {
            "/voip/webhook" => 401,
            "/api/hook/{name}" => 404,
            _ => 400,
        };
        assert_eq!(answer.status, refused, "{}: {answer:?}", self.last);
        self.reached += 1;
    }
}
