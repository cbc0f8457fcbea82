//! `POST /crm/opportunities/{id}`: endpoint 10. `model` compares random requests with a model; here is one
//! exact case for each sentence of the contract.

mod board;
mod conditions;
mod dates;
mod far;
mod filters;
mod funnels;
mod merging;
mod modified;
mod offsets;
mod order;
mod permissions;
mod ranges;
mod records;
mod refusals;
mod search;
mod walks;

use serde_json::{Value, json};
use shared::money::Cents;
use shared::opportunity::Opportunity;
use tests::sales::{add_opportunities, column, open_shop, page, plain_opportunity};
use tests::world::Answer;
use tests::{Wallet, World};

const IGNORED: &str = "x-filters-ignored";

/// The funnels and users of `tests::sales`, without opportunities.
async fn shop() -> World {
    let world = World::new().await;
    open_shop(&world.operator("acme")).await;
    world
}

/// A shop with opportunities.
async fn stocked(opportunities: impl IntoIterator<Item = Opportunity>) -> World {
    let world = shop().await;
    add_opportunities(&world.operator("acme"), opportunities.into_iter().collect()).await;
    world
}

/// Opportunities 1 to 3 in column 31 and 4 in column 33 of funnel 3, one second apart.
async fn four() -> World {
    let moved = Opportunity {
        crm_column: column(33),
        value: Cents::new(21320).expect("an amount"),
        ..plain_opportunity(4, 8, 4)
    };
    let others = (1..=3).map(|id| plain_opportunity(id, 7, u32::try_from(id).expect("small")));
    stocked(others.chain([moved])).await
}

/// A client with a user's credentials.
struct Client<'w> {
    world: &'w World,
    wallet: Wallet,
    agent: String,
    address: [u8; 4],
}

impl<'w> Client<'w> {
    async fn of(world: &'w World, user: u64) -> Self {
        Self {
            world,
            wallet: world.wallet(user).await,
            agent: "erp/1.0".to_owned(),
            address: [192, 0, 2, 1],
        }
    }

    /// Another client with the same credentials.
    fn program(&self, agent: &str) -> Self {
        Self {
            world: self.world,
            wallet: self.wallet.clone(),
            agent: agent.to_owned(),
            address: self.address,
        }
    }

    /// The same client at another address.
    fn machine(&self, last: u8) -> Self {
        Self {
            address: [192, 0, 2, last],
            ..self.program(&self.agent)
        }
    }

    /// Requests opportunities of a funnel.
    async fn ask(&self, funnel: impl std::fmt::Display, body: &Value) -> Answer {
        let uri = format!("/crm/opportunities/{funnel}?i=acme&apitoken={}", self.wallet.key);
        let call = self.world.call("POST", &uri).header("user-agent", &self.agent);
        let call = call.from(self.address);
        call.json(body).send().await
    }

    /// The ids on a page of column 31 of funnel 3.
    async fn ids(&self, number: u64, limit: u64, more: &Value) -> Vec<u64> {
        let mut body = page(number, limit, more);
        if body.get("columnId").is_none() {
            body["columnId"] = json!(31);
        }
        let answer = self.ask(3, &body).await;
        assert_eq!(answer.status, 200, "{body} {}", answer.body);
        ids(&answer.body)
    }

    /// The matches in column 31 of funnel 3; requires that list and board agree, with totals.
    async fn found(&self, more: &Value) -> Vec<u64> {
        let mut body = page(1, 100, more);
        let board = self.ask(3, &body).await;
        body["columnId"] = json!(31);
        let list = self.ask(3, &body).await;
        assert_eq!(
            (list.status.as_u16(), board.status.as_u16()),
            (200, 200),
            "{body}"
        );
        let column = &board.body[0];
        assert_eq!(column["items"], list.body, "{body}");
        let found = ids(&list.body);
        assert_eq!(
            (&column["total"], &column["totalValue"]),
            (&json!(found.len()), &sum(&list.body)),
            "{body}"
        );
        found
    }

    /// Reads column 31 of funnel 3 page by page until one is not full.
    async fn walk(&self, limit: u64, more: &Value) -> Vec<u64> {
        let mut walked = Vec::new();
        for number in 1.. {
            let page = self.ids(number, limit, more).await;
            let full = page.len() as u64 == limit;
            walked.extend(page);
            if !full {
                break;
            }
        }
        walked
    }

    /// Changes an opportunity of funnel 3 through endpoint 8.
    async fn change(&self, id: u64, body: &Value) -> Answer {
        let call = self
            .world
            .call("PUT", &format!("/crmopportunity/{id}?id=3&i=acme"));
        call.with(&self.wallet).json(body).send().await
    }

    /// Requires a successful change.
    async fn must_change(&self, id: u64, body: &Value) {
        let answer = self.change(id, body).await;
        assert_eq!(answer.status, 200, "{id}: {}", answer.body);
    }
}

fn ids(list: &Value) -> Vec<u64> {
    let list = list.as_array().expect("a list");
    let ids = list.iter().map(|one| one["id"].as_u64());
    ids.map(|id| id.expect("an id")).collect()
}

/// The value of a column with these records.
fn sum(list: &Value) -> Value {
    let values = list.as_array().expect("a list").iter().map(|one| &one["value"]);
    let cents = values.map(|value| {
        let digits = value.as_str().expect("text").replace('.', "");
        digits.parse::<u64>().expect("digits")
    });
    let cents: Vec<_> = cents.collect();
    match cents.iter().sum::<u64>() {
        _ if cents.is_empty() => json!(0),
        cents => json!(format!("{}.{:02}", cents / 100, cents % 100)),
    }
}

/// Requires a rejection with this reason in a header.
#[track_caller]
fn refused(answer: &Answer, details: &str) {
    answer.is(400, &json!({ "error": "Invalid request" }));
    assert_eq!(answer.headers["x-error-details"], details);
}
