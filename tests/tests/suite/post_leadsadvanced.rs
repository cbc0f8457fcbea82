//! `POST /leadsadvanced` (C-93), and the selections and the filter that it shares with endpoints 1 to 4 (C-93, C-98).

use operator::kinds::{Companies, Tags};
use serde_json::{Value, json};
use shared::ids::{CompanyId, TagId};
use shared::labels::Tag;
use shared::lead::Lead;
use tests::people::{add_leads, plain_lead};
use tests::records::full_company;
use tests::{ACME, Answer, Wallet, World};

const MARIA: &str = "Maria Silva";

async fn post(world: &World, wallet: &Wallet, params: &str, body: &Value) -> Answer {
    let call = world.call("POST", &format!("/leadsadvanced?i=acme{params}"));
    call.with(wallet).json(body).send().await
}

async fn list(world: &World, wallet: &Wallet, params: &str) -> Answer {
    world.read(wallet, &format!("/leads?i=acme{params}")).await
}

fn ids(answer: &Answer) -> Vec<u64> {
    let leads = answer.body["data"]["leads"].as_array().expect("leads");
    leads
        .iter()
        .map(|lead| lead["id"].as_u64().expect("an id"))
        .collect()
}

fn tag(id: u64) -> TagId {
    TagId::new(id).expect("an id")
}

/// Tags 1 and 2, and lead 2001 of company 5 with both, 2002 with tag 2, and 2003, archived, with tag 1.
async fn tagged() -> World {
    let world = World::new().await;
    let operator = world.operator(ACME);
    let named = |id, name: &str, color: Option<&str>| Tag {
        id: tag(id),
        tag: name.to_owned(),
        color: color.map(str::to_owned),
    };
    let tags = [named(1, "Quente", Some("#ff0000")), named(2, "Frio", None)];
    operator.import::<Tags>(&tags, false).await.expect("the tags");
    let company = serde_json::from_value::<shared::people::Company>(full_company()).expect("a company");
    operator
        .import::<Companies>(&[company], false)
        .await
        .expect("the company");
    let leads = vec![
        Lead {
            company: CompanyId::new(5),
            tags: vec![tag(2), tag(1)],
            ..plain_lead(2001, "Zoé", "Lima", Some(8))
        },
        Lead {
            tags: vec![tag(2)],
            ..plain_lead(2002, "Zeca", "Lima", Some(9))
        },
        Lead {
            tags: vec![tag(1)],
            archived: true,
            ..plain_lead(2003, "Zélia", "Lima", None)
        },
    ];
    add_leads(&operator, leads).await;
    world
}

/// Absent parameters have the defaults of endpoint 1; pages count from 0, whatever the instance's setting.
#[tokio::test]
async fn it_lists_as_endpoint_1_with_pages_from_0() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    for base in [1, 0] {
        let set = world.operator(ACME);
        set.set_setting("page_base", &json!(base))
            .await
            .expect("a setting");
        for (body, params, same, shown) in [
            (json!({}), "", "", &[1001, 1002, 1004, 1005, 1006, 1007][..]),
            (
                json!({ "page": null, "limit": null, "search": null, "query": null, "showArchived": null }),
                "",
                "",
                &[1001, 1002, 1004, 1005, 1006, 1007],
            ),
            (json!({ "limit": 4 }), "", "&limit=4", &[1001, 1002, 1004, 1005]),
            (
                json!({ "limit": "4", "page": "0" }),
                "",
                "&limit=4",
                &[1001, 1002, 1004, 1005],
            ),
            (
                json!({ "search": "lead100", "limit": 500 }),
                "",
                "&search=lead100",
                &[1001, 1002, 1005, 1006],
            ),
            (
                json!({ "search": "goncalves", "showArchived": true }),
                "",
                "&search=goncalves&archived=true",
                &[1003],
            ),
            (
                json!({ "limit": 2, "unknown": [] }),
                "&allFields=1",
                "&allFields=1&limit=2",
                &[1001, 1002],
            ),
        ] {
            let answer = post(&world, &wallet, params, &body).await;
            assert_eq!(ids(&answer), shown, "{body}");
            answer.is(200, &list(&world, &wallet, same).await.body);
        }
        let pages = [
            (0, &[1001, 1002, 1004, 1005][..]),
            (1, &[1006, 1007]),
            (2, &[]),
            (u64::MAX, &[]),
        ];
        for (page, shown) in pages {
            let answer = post(&world, &wallet, "", &json!({ "limit": 4, "page": page })).await;
            assert_eq!(
                (ids(&answer).as_slice(), &answer.body["data"]["total"]),
                (shown, &json!(6))
            );
            let searched = json!({ "limit": 4, "page": page, "search": "%" });
            assert_eq!(ids(&post(&world, &wallet, "", &searched).await), [0; 0]);
        }
    }
    let call = world.call("POST", "/leadsadvanced?i=acme").with(&wallet);
    assert_eq!(ids(&call.send().await).len(), 6, "the body is optional");
}

/// Pages of 500, with cursors where skipping would be expensive, beside a walk through endpoint 1.
#[tokio::test]
async fn pages_show_every_lead_once() {
    let world = World::new().await;
    let made = (2001..3801).map(|id| plain_lead(id, "Pessoa", "X", Some(8 + id % 2)));
    add_leads(&world.operator(ACME), made.collect()).await;
    for user in [7, 8] {
        let wallet = world.wallet(user).await;
        let (mut walked, mut beside) = (Vec::new(), Vec::new());
        for page in 0..=4 {
            walked.extend(ids(&post(
                &world,
                &wallet,
                "",
                &json!({ "limit": 500, "page": page }),
            )
            .await));
        }
        for page in 1..=20 {
            beside.extend(ids(
                &list(&world, &wallet, &format!("&limit=100&page={page}")).await
            ));
        }
        assert!(walked.len() > 900 && walked == beside, "{user}: {}", walked.len());
    }
    let wallet = world.wallet(7).await;
    let mut mixed = Vec::new();
    for page in 0..=9 {
        mixed.extend(ids(&post(
            &world,
            &wallet,
            "",
            &json!({ "limit": 200, "page": page }),
        )
        .await));
        list(&world, &wallet, &format!("&limit=200&page={page}")).await;
    }
    assert!(mixed.is_sorted() && mixed.windows(2).all(|pair| pair[0] != pair[1]));
    assert_eq!(mixed.len(), 1806);
}

#[tokio::test]
async fn invalid_fields_are_named() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let id = "must be a whole number from 1 to 999999999999999";
    for (body, details) in [
        (
            json!({ "limit": 0 }),
            "limit: must be a whole number from 1 to 500".to_owned(),
        ),
        (
            json!({ "limit": 501 }),
            "limit: must be a whole number from 1 to 500".to_owned(),
        ),
        (json!({ "page": -1 }), "page: must be a whole number".to_owned()),
        (json!({ "search": 7 }), "search: must be text".to_owned()),
        (json!({ "query": {} }), "query: must be text".to_owned()),
        (
            json!({ "query": "{lead{id}}" }),
            "query: unknown root \"lead\"".to_owned(),
        ),
        (
            json!({ "query": "{leads{companyData}}" }),
            "query: \"companyData\" needs a selection of fields".to_owned(),
        ),
        (
            json!({ "query": "{leads{tags{name}}}" }),
            "query: unknown field \"name\" in \"tags\"".to_owned(),
        ),
        (
            json!({ "showArchived": "yes" }),
            "showArchived: must be true or false".to_owned(),
        ),
        (json!({ "tag": "x" }), format!("tag: {id}")),
        (json!([]), "body: must be a JSON object".to_owned()),
    ] {
        let answer = post(&world, &wallet, "", &body).await;
        answer.is(400, &json!({ "error": "Invalid request", "details": details }));
    }
    let answer = post(&world, &wallet, "&tag=0", &json!({})).await;
    answer.is(
        400,
        &json!({ "error": "Invalid request", "details": format!("tag: {id}") }),
    );
}

/// The nested fields, here and on endpoints 1 to 4; the tags beside a lead.
#[tokio::test]
async fn selections_nest_owner_company_and_tags() {
    let world = tagged().await;
    let wallet = world.wallet(7).await;
    let fields = "id,owner{id,name,completName},companyData{id,companyname},tags{id,tag,color}";
    let (hot, cold) = (
        json!({ "id": 1, "tag": "Quente", "color": "#ff0000" }),
        json!({ "id": 2, "tag": "Frio", "color": null }),
    );
    let zoe = json!({ "id": 2001, "owner": { "id": 8, "name": "Bruno Lima", "completName": "Bruno Lima" },
        "companyData": { "id": 5, "companyname": "Obra & Cia" }, "tags": [cold, hot] });
    let zeca = json!({ "id": 2002, "owner": { "id": 9, "name": "Carla Mendes", "completName": "Carla Mendes" },
        "companyData": null, "tags": [cold] });
    let both = json!({ "data": { "total": 2, "leads": [zoe, zeca] } });
    let query = format!("{{total,leads{{{fields}}}}}");
    let body = json!({ "query": query, "search": "lima" });
    post(&world, &wallet, "", &body).await.is(200, &both);
    list(&world, &wallet, &format!("&search=lima&query={query}"))
        .await
        .is(200, &both);
    let get = async |query: &str| {
        let uri = format!("/leads/2001?i=acme&query={query}");
        world.get(&uri).with(&wallet).send().await
    };
    get(&format!("{{lead{{{fields}}}}}"))
        .await
        .is(200, &json!({ "data": { "lead": zoe } }));
    for (query, data) in [
        ("{lead{tags}}", json!({ "lead": { "tags": [2, 1] } })),
        (
            "{lead{owner{completName}}}",
            json!({ "lead": { "owner": { "completName": "Bruno Lima" } } }),
        ),
        (
            "{lead{id},tags{tag}}",
            json!({ "lead": { "id": 2001 }, "tags": [{ "tag": "Frio" }, { "tag": "Quente" }] }),
        ),
        ("{tags{id}}", json!({ "tags": [{ "id": 2 }, { "id": 1 }] })),
    ] {
        get(query).await.is(200, &json!({ "data": data }));
    }
    let summary = world.get("/leads/2001?i=acme").with(&wallet).send().await;
    assert_eq!(
        summary.body["data"].as_object().map(serde_json::Map::len),
        Some(1)
    );
}

/// C-98: in the query of endpoint 1, and in query or body of this one; together with search, archive and what the key sees.
#[tokio::test]
async fn leads_are_filtered_by_tag() {
    let world = tagged().await;
    let (admin, own) = (world.wallet(7).await, world.wallet(8).await);
    for (wallet, tag, more, expected) in [
        (&admin, 2, json!({}), &[2001, 2002][..]),
        (&admin, 1, json!({}), &[2001]),
        (&admin, 3, json!({}), &[]),
        (&admin, 1, json!({ "archived": true }), &[2003]),
        (&admin, 2, json!({ "search": "zeca" }), &[2002]),
        (&admin, 2, json!({ "search": MARIA }), &[]),
        (&own, 2, json!({}), &[2001]),
    ] {
        let (search, archived) = (
            more["search"].as_str().unwrap_or_default(),
            more["archived"] == true,
        );
        let search = search.replace(' ', "+");
        let params = format!("&tag={tag}&search={search}&archived={archived}");
        let mut body = json!({ "tag": tag.to_string(), "search": more["search"], "showArchived": archived });
        let by_body = post(&world, wallet, "", &body).await;
        body["tag"] = Value::Null;
        let by_query = post(&world, wallet, &format!("&tag={tag}"), &body).await;
        for answer in [list(&world, wallet, &params).await, by_body, by_query] {
            assert_eq!(
                (ids(&answer).as_slice(), &answer.body["data"]["total"]),
                (expected, &json!(expected.len())),
                "{tag} {more}"
            );
        }
    }
    let page = list(&world, &admin, "&tag=2&limit=1&page=2").await;
    assert_eq!(ids(&page), [2002]);
    world.is_sound().await;
}
