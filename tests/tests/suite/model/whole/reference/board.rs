use std::collections::BTreeMap;

use serde_json::{Value, json};
use shared::text::fold;
use tests::world::at;

use super::clock::seconds;
use super::filters::{conditions_hold, covers, is_good};
use super::leads::{begins_words, is_found};
use super::{Asked, Record, Reference, Said, error, number, page, text};

/// Lifetime of a cursor in seconds.
const REST: i64 = 3600;

/// Creation time and id of an opportunity: its position in the order, newest first.
type Place = (String, u64);

/// A sequence of pages, identified by user, credentials, user agent and query.
type Walk = (u64, u64, String, String);

/// The beginning of a page.
#[derive(Debug, Clone, Default)]
struct Begin {
    /// After this position.
    older_than: Option<Place>,
    /// The shown part ends here.
    newer_than: Option<Place>,
    /// The newest position shown since the sequence last began at the front.
    newest: Option<Place>,
    /// Whether it began at an offset.
    is_part: bool,
}

/// Beginnings of the pages of each sequence, if known, with their expiry.
#[derive(Debug, Clone, Default)]
pub struct Walks(BTreeMap<Walk, BTreeMap<u64, (Option<Begin>, i64)>>);

impl Walks {
    /// The last page that can be read next in each sequence: user, query and number.
    pub fn next(&self) -> Vec<(u64, String, Value, u64)> {
        let walks = self.0.iter().filter_map(|((by, _, path, body), pages)| {
            let body = serde_json::from_str(body).expect("a body");
            Some((*by, path.clone(), body, *pages.keys().next_back()?))
        });
        walks.collect()
    }
}

impl Reference {
    /// The columns of a funnel in order.
    pub fn columns(&self, funnel: u64) -> Vec<Value> {
        let mut columns = self.funnels[&funnel]["columns"]
            .as_array()
            .expect("columns")
            .clone();
        columns.sort_by_key(|column| column["sequence"].as_u64());
        for column in &mut columns {
            column["crm"] = json!(funnel);
        }
        columns
    }

    pub fn list_funnels(&self, asked: &Asked<'_>) -> Said {
        let seen = self
            .funnels
            .iter()
            .filter(|(_, one)| self.people.sees_funnel(asked.by, one));
        let shown = seen.map(|(id, one)| {
            json!({ "id": id, "name": one["name"], "columns": self.columns(*id), "fields": one["fields"] })
        });
        (200, shown.collect())
    }

    pub fn list_opportunities(&mut self, asked: &Asked<'_>, funnel: u64) -> Said {
        let Some(known) = self.funnels.get(&funnel) else {
            return error(400);
        };
        if !self.people.sees_funnel(asked.by, known) {
            return error(401);
        }
        let limit = asked.body["limit"].as_u64().expect("a limit");
        let conditions = asked.body["filters"].as_array().map_or(&[][..], Vec::as_slice);
        let ignored = conditions.iter().filter(|one| !is_good(one)).count();
        if let Some(column) = asked.body["columnId"].as_u64() {
            if !self.column_of(funnel, &json!(column)) {
                return error(400);
            }
            self.ignored = Some(ignored);
            let shown = self.column_page(asked, funnel, column, limit).into_iter();
            return (200, shown.map(|one| self.shown(asked.by, one, false)).collect());
        }
        self.ignored = Some(ignored);
        let board = self.columns(funnel).into_iter().map(|mut column| {
            let found = self.found(asked, funnel, column["id"].as_u64().expect("an id"));
            let cents: u64 = found.iter().map(cents).sum();
            column["total"] = json!(found.len());
            column["totalValue"] = match found.len() {
                0 => json!(0),
                _ => json!(format!("{}.{:02}", cents / 100, cents % 100)),
            };
            let items = page(found, 0, limit).into_iter();
            column["items"] = items.map(|one| self.shown(asked.by, one, false)).collect();
            column
        });
        (200, board.collect())
    }

    /// A page without a sequence is an offset; one that follows another begins where that ended, and after
    /// the last page new records follow (C-42).
    fn column_page(&mut self, asked: &Asked<'_>, funnel: u64, column: u64, limit: u64) -> Vec<Record> {
        let found = self.found(asked, funnel, column);
        // Page 0 is the first too (C-40).
        let nth = asked.body["page"].as_u64().expect("a page").max(1);
        let skipped = (nth - 1) * limit;
        if !asked.walks {
            return page(found, skipped, limit);
        }
        let mut rest = asked.body.clone();
        rest.as_object_mut().expect("a body").shift_remove("page");
        let number = self.credential_number(asked.by);
        let walk = (asked.by, number, asked.uri.to_owned(), rest.to_string());
        let now = seconds(&self.now);
        self.walks.0.retain(|_, pages| {
            pages.retain(|_, (_, until)| *until > now);
            !pages.is_empty()
        });
        let pages = self.walks.0.entry(walk).or_default();
        let known = pages.get(&nth).filter(|_| nth > 1);
        let (shown, begin) = match known.and_then(|(begin, _)| begin.clone()) {
            None => {
                let is_part = skipped > 0;
                let begin = Begin {
                    is_part,
                    ..Begin::default()
                };
                (page(found, skipped, limit), begin)
            }
            Some(begin) => {
                let left = found.into_iter().filter(|one| {
                    begin.older_than.as_ref().is_none_or(|end| place(one) < *end)
                        && begin.newer_than.as_ref().is_none_or(|end| place(one) > *end)
                });
                (page(left.collect(), 0, limit), begin)
            }
        };
        let first = shown.first().filter(|_| !begin.is_part).map(place);
        let newest = begin.newest.or(first);
        let next = if u64::try_from(shown.len()) == Ok(limit) {
            let older_than = shown.last().map(place);
            Some(Begin {
                older_than,
                newest,
                ..begin
            })
        } else {
            newest.or(begin.newer_than).map(|newest| Begin {
                newer_than: Some(newest),
                ..Begin::default()
            })
        };
        pages.insert(nth + 1, (next, now + REST));
        shown
    }

    /// The matches of a request in a column, newest first (C-42, C-43).
    fn found(&self, asked: &Asked<'_>, funnel: u64, column: u64) -> Vec<Record> {
        let body = asked.body;
        let holds = |name: &str, value: &Value| {
            let wanted = body[name].as_array().filter(|wanted| !wanted.is_empty());
            wanted.is_none_or(|wanted| wanted.contains(value))
        };
        let fields = &self.funnels[&funnel]["fields"];
        let mut found: Vec<_> = self
            .opportunities
            .values()
            .filter(|one| number(one, "crm_id") == funnel && number(one, "crm_column") == column)
            .filter(|one| self.people.sees_opportunity(asked.by, one))
            .filter(|one| (one["archived"] == json!(1)) == (body["onlyArchived"] == json!(true)))
            .filter(|one| holds("filterByUsers", &one["user"]) && holds("filterByStatus", &one["status"]))
            .filter(|one| covers(&body["filterByCreateDate"], &one["createDate"]))
            .filter(|one| covers(&body["filterByExpectedCloseDate"], &one["expectedCloseDate"]))
            .filter(|one| {
                let since = body["modifiedSince"].as_str();
                since.is_none_or(|since| at(since) <= at(text(one, "updateDate")))
            })
            .filter(|one| conditions_hold(&body["filters"], fields, &one["fields"]))
            .filter(|one| self.matches(one, body))
            .cloned()
            .collect();
        found.sort_by_key(|one| std::cmp::Reverse(place(one)));
        found
    }

    fn matches(&self, one: &Record, body: &Value) -> bool {
        let term = body["search"].as_str().unwrap_or_default().trim();
        if term.is_empty() {
            return true;
        }
        if body["searchBy"] == json!("opportunity") {
            return begins_words(text(one, "title"), term)
                || one["id"].as_u64().is_some_and(|id| id.to_string() == fold(term));
        }
        let lead = one["lead_id"].as_u64();
        lead.is_some_and(|lead| is_found(&self.leads[&lead], term))
    }
}

pub fn place(one: &Record) -> Place {
    (text(one, "createDate").to_owned(), number(one, "id"))
}

pub fn cents(one: &Record) -> u64 {
    text(one, "value").replace('.', "").parse().expect("cents")
}
