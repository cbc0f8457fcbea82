//! Building a request: fills the names of its shape, and adds the credentials in their place.

use serde_json::Value;
use tests::NOW;
use tests::world::{Raw, Request, at};

use super::shapes::{LISTS, READS, Shape, WRITES};
use super::shops::{NOWHERE, SHOPS};
use super::{Arena, Asker};
use tests::catalogue::Place;

/// A filled shape.
#[derive(Debug, Clone)]
pub struct Text {
    pub path: String,
    pub params: String,
    pub body: String,
}

impl Text {
    /// The same with this value for a name.
    pub fn with(&self, name: &str, id: &str) -> Self {
        Self {
            path: self.path.replace(name, id),
            params: self.params.replace(name, id),
            body: self.body.replace(name, id),
        }
    }
}

impl Arena {
    /// A shape of a protected route.
    pub fn guarded_shape(&self) -> Shape {
        loop {
            let lists: [&[Shape]; 3] = [&READS, &LISTS, &WRITES];
            let shape = *self.dice.one(self.dice.one::<&[Shape]>(&lists));
            if shape.place().is_some() {
                return shape;
            }
        }
    }

    /// Index of a random user.
    pub fn user(&self) -> usize {
        usize::try_from(self.dice.below(3)).expect("an index")
    }

    /// A shape with a value for every name: ids as given, others random.
    pub fn filled(&self, shape: &Shape, asker: Asker<'_>, ids: &dyn Fn(&str) -> String) -> Text {
        let dice = &self.dice;
        let (own, any) = (
            &self.shops[asker.of],
            &self.shops[usize::try_from(dice.below(3)).expect("an index")],
        );
        let day = at(NOW)
            .plus_days(u32::try_from(2 + dice.below(60)).expect("small"))
            .to_string();
        let slot = dice.below(18);
        let date = format!("{}T{:02}:{:02}:00.000Z", &day[..10], 9 + slot / 2, slot % 2 * 30);
        let digit = dice.one(&["0001", "0002"]);
        let mut text = Text {
            path: shape.path.to_owned(),
            params: shape.params.to_owned(),
            body: shape.body.to_owned(),
        };
        for (name, value) in [
            ("$only_key", own.name.to_owned()),
            ("$only", own.only().to_string()),
            ("$own_proof", own.proof.clone()),
            ("$proof", any.proof.clone()),
            ("$form_token", own.form_token()),
            ("$moved", own.booked.to_string()),
            ("$mark", any.searched()),
            ("$phone", any.phone().replace("0001", digit)),
            ("$page", dice.below(5).to_string()),
            ("$date", date),
            (
                "$i",
                if asker.i.is_empty() { own.name } else { asker.i }.to_owned(),
            ),
        ] {
            text = text.with(name, &value);
        }
        for name in shape.names() {
            text = text.with(name, &ids(name));
        }
        text
    }

    /// A request with the asker's credentials in their place.
    pub fn call(&self, shape: &Shape, asker: Asker<'_>, text: &Text) -> Request<'_> {
        let wallet = &self.shops[asker.of].wallets[asker.user];
        let place = shape.place();
        let in_query = place == Some(Place::Query) || place == Some(Place::Either) && self.dice.chance(50);
        let key = if in_query { wallet.key.as_str() } else { "" };
        let call = self.world.call(shape.method, &uri(asker.i, text, key));
        let call = match place {
            _ if in_query => call,
            Some(Place::Headers) => call.with(wallet),
            Some(_) => call.header("apitoken", &wallet.key),
            None => call.header("x-voip-signature", &self.shops[asker.of].webhook_secret()),
        };
        with_body(call, text)
    }

    /// The same with the access token of another instance's user.
    pub fn call_with_token_of(
        &self,
        other: usize,
        shape: &Shape,
        asker: Asker<'_>,
        text: &Text,
    ) -> Request<'_> {
        let key = &self.shops[asker.of].wallets[asker.user].key;
        let token = &self.shops[other].wallets[asker.user].token;
        let call = self.world.call(shape.method, &uri(SHOPS[asker.of], text, ""));
        let call = call
            .header("apitoken", key)
            .header("authorization", &format!("Bearer {token}"));
        with_body(call, text)
    }
}

/// A URI with its parameters.
pub fn uri(i: &str, text: &Text, key: &str) -> String {
    let named = |name: &str, value: &str| match value {
        "" => String::new(),
        _ => format!("{name}{value}"),
    };
    let params = [named("i=", i), named("apitoken=", key), text.params.clone()];
    let params: Vec<_> = params.into_iter().filter(|one| !one.is_empty()).collect();
    format!("{}?{}", text.path, params.join("&"))
}

pub fn with_body<'w>(call: Request<'w>, text: &Text) -> Request<'w> {
    if text.body.is_empty() {
        return call;
    }
    call.header("content-type", "application/json")
        .bytes(text.body.clone())
}

/// A value that no instance has.
pub fn nowhere(name: &str) -> String {
    match name {
        "$key" => "nenhuma".to_owned(),
        "$public" => "pub_nenhuma".to_owned(),
        _ => NOWHERE.to_string(),
    }
}

/// A response as JSON.
pub fn parsed(answer: &Raw) -> Value {
    serde_json::from_slice(&answer.text).expect("the answer is JSON")
}

/// A response with the reason of its header, and with the unknown id replaced by the requested one. A call is
/// stored anyway (C-74), with the next id.
pub fn said(answer: &Raw, name: &str, asked: &str) -> String {
    let reason = answer
        .headers
        .get("x-error-details")
        .and_then(|value| value.to_str().ok());
    let mut text = String::from_utf8_lossy(&answer.text).into_owned();
    if answer.status == 201 {
        let mut body = parsed(answer);
        body.as_object_mut().expect("an object").shift_remove("id");
        text = body.to_string();
    }
    format!("{text} {}", reason.unwrap_or_default()).replace(asked, &nowhere(name))
}
