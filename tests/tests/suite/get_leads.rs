//! `GET /leads`: endpoint 1.

mod far;
mod walks;

use serde_json::json;
use shared::ids::TagId;
use tests::people::{add_leads, leads, plain_lead};
use tests::{Answer, Wallet, World};

async fn list(world: &World, wallet: &Wallet, rest: &str) -> Answer {
    world.read(wallet, &format!("/leads?i=acme{rest}")).await
}

fn ids(answer: &Answer) -> Vec<u64> {
    let leads = answer.body["data"]["leads"].as_array().expect("a list of leads");
    leads
        .iter()
        .map(|lead| lead["id"].as_u64().expect("an id"))
        .collect()
}

/// spec.md, endpoint 1; C-20.
#[tokio::test]
async fn the_list_in_summary() {
    let world = World::new().await;
    let answer = list(&world, &world.wallet(8).await, "").await;
    let leads = json!([
        { "id": 1001, "fullname": "Maria Silva", "email": "lead1001@example.com" },
        { "id": 1006, "fullname": "Márcia Nóbrega", "email": "lead1006@example.com" },
    ]);
    answer.is(200, &json!({ "data": { "total": 2, "leads": leads } }));
}

/// C-20, C-82: list and total for every permission, archived or not.
#[tokio::test]
async fn lists_contain_only_visible_leads() {
    let world = World::new().await;
    for (user, current, archived) in [
        (7, &[1001, 1002, 1004, 1005, 1006, 1007][..], &[1003, 1012][..]),
        (8, &[1001, 1006], &[]),
        (9, &[1002], &[1012]),
        (10, &[1001, 1002, 1005, 1006], &[1003, 1012]),
        (11, &[1004], &[]),
        (13, &[], &[]),
        (14, &[1001, 1002, 1006, 1007], &[1003, 1012]),
    ] {
        let wallet = world.wallet(user).await;
        for (parameter, seen) in [
            ("", current),
            ("&archived=false", current),
            ("&archived=true", archived),
        ] {
            let answer = list(&world, &wallet, parameter).await;
            assert_eq!(ids(&answer), seen, "user {user}{parameter}");
            assert_eq!(answer.body["data"]["total"], seen.len(), "user {user}{parameter}");
        }
    }
}

/// C-20, C-40.
#[tokio::test]
async fn pages() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    for (parameters, page) in [
        ("&limit=4", &[1001, 1002, 1004, 1005][..]),
        ("&limit=4&page=0", &[1001, 1002, 1004, 1005]),
        ("&limit=4&page=1", &[1001, 1002, 1004, 1005]),
        ("&limit=4&page=2", &[1006, 1007]),
        ("&limit=4&page=3", &[]),
        ("&limit=200&page=99999999999999999999999", &[]),
    ] {
        let answer = list(&world, &wallet, parameters).await;
        assert_eq!(
            (answer.status.as_u16(), ids(&answer).as_slice()),
            (200, page),
            "{parameters}"
        );
        assert_eq!(answer.body["data"]["total"], 6, "{parameters}");
    }
    tests::people::set(&world.operator("acme"), "page_base", &json!(0)).await;
    assert_eq!(
        ids(&list(&world, &wallet, "&limit=4&page=1").await),
        [1006, 1007],
        "page_base 0"
    );
}

/// All pages of 1,300 leads show each lead once, in order, for viewers of all, some and their own; with
/// cursors where skipping would be expensive.
#[tokio::test]
async fn pages_show_every_lead_once() {
    let world = World::new().await;
    let operator = world.operator("acme");
    let owners = [None, Some(8), Some(9), Some(11)];
    let made = (2001..3301).map(|id| {
        let owner = owners[usize::try_from(id % 4).expect("a small number")];
        let mut lead = plain_lead(id, "Pessoa", &id.to_string(), owner);
        lead.user_access = if id % 10 == 0 {
            vec![tests::people::user(14)]
        } else {
            Vec::new()
        };
        lead
    });
    add_leads(&operator, made.collect()).await;
    let mut expected = leads();
    expected.retain(|lead| !lead.archived);
    for user in [7, 8, 10, 14] {
        let wallet = world.wallet(user).await;
        let mut walked = Vec::new();
        for page in 1.. {
            let answer = list(&world, &wallet, &format!("&limit=90&page={page}")).await;
            let page = ids(&answer);
            walked.extend_from_slice(&page);
            if page.len() < 90 {
                assert_eq!(answer.body["data"]["total"], walked.len(), "user {user}");
                break;
            }
        }
        assert!(
            walked.is_sorted() && walked.windows(2).all(|pair| pair[0] != pair[1]),
            "user {user}"
        );
        let searched = list(&world, &wallet, "&search=pessoa&limit=1").await;
        let found = walked.iter().filter(|id| **id > 2000).count();
        assert_eq!(
            searched.body["data"]["total"], found,
            "the search of user {user} agrees with the walk"
        );
        let alone = list(&world, &wallet, "&limit=7&page=30").await;
        assert_eq!(
            ids(&alone),
            walked.iter().copied().skip(29 * 7).take(7).collect::<Vec<_>>(),
            "a page of its own"
        );
    }
}

/// C-20: beginnings of words of full name and e-mail, numbers and ids; regardless of case and accents.
#[tokio::test]
async fn searching() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    for (term, found) in [
        ("maria", &[1001][..]),
        ("MÁRCIA", &[1006]),
        ("nobre", &[1006]),
        ("joao+pe", &[1002]),
        ("%20jos%C3%A9%20", &[1004]),
        // Latin-1.
        ("jos%E9", &[1004]),
        ("lead100", &[1001, 1002, 1005, 1006]),
        ("silva+MAR", &[1001]),
        ("silva+pedro", &[]),
        ("ilva", &[]),
        ("hen+s%C3%A1+ped", &[1007]),
        ("da+jos", &[1004]),
        ("97326-3471", &[1001]),
        ("%2B55+(11)+97326-3471", &[1001]),
        ("11+7326.3471", &[1001]),
        ("3471", &[1001]),
        ("471", &[]),
        ("7326", &[]),
        ("%2B55+(11)", &[]),
        ("1171629072", &[1005]),
        ("lead1001%40", &[1001]),
        ("@example", &[1001, 1002, 1005, 1006]),
        ("com+lead1005", &[1005]),
        ("1007", &[1007]),
        ("1003", &[]),
        ("a3471", &[]),
        ("((", &[]),
        ("nobody", &[]),
        ("%20", &[1001, 1002, 1004, 1005, 1006, 1007]),
    ] {
        let answer = list(&world, &wallet, &format!("&search={term}")).await;
        assert_eq!(
            (ids(&answer).as_slice(), &answer.body["data"]["total"]),
            (found, &json!(found.len())),
            "{term}"
        );
    }
    let archived = list(&world, &wallet, "&search=goncalves&archived=true").await;
    assert_eq!(ids(&archived), [1003]);
    let own = list(&world, &world.wallet(8).await, "&search=lead&limit=1&page=2").await;
    assert_eq!((ids(&own), &own.body["data"]["total"]), (vec![1006], &json!(2)));
    let full = list(&world, &wallet, "&search=nobre&allFields=1").await;
    assert_eq!(full.body["data"]["leads"][0]["firstname"], "Márcia");
}

/// C-12, C-20: items of words follow every change of a lead, of one with very many words too.
#[tokio::test]
async fn words_follow_their_lead() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let named: Vec<_> = (0..40).map(|n| format!("p{n}")).collect();
    let body = json!({ "firstname": named.join(" "), "email": "a@b.c", "phone": "41 98888-0001" });
    let call = world.call("POST", "/leads?i=acme").with(&wallet);
    let id = call.json(&body).send().await.body["id"].as_u64().expect("an id");
    let found = async |term: &str| ids(&list(&world, &wallet, &format!("&search={term}")).await);
    for term in ["p0", "p39", "p39+p7", "b.c", "88880001", "554198888000"] {
        let expected = if term == "554198888000" { vec![] } else { vec![id] };
        assert_eq!(found(term).await, expected, "{term}");
    }
    let uri = format!("/leads/{id}?i=acme");
    for (body, gone, there) in [
        (json!({ "firstname": "Zulmira Ávila" }), "p39", "avil"),
        (json!({ "email": "zu@vila.org" }), "a@b", "org"),
        (json!({ "phone": "41 98888-0002" }), "0001", "88880002"),
        (json!({ "owner": 8 }), "p0", "zulm"),
    ] {
        let answer = world.call("PUT", &uri).with(&wallet).json(&body).send().await;
        assert_eq!(answer.status, 200, "{body}");
        assert_eq!(
            (found(gone).await, found(there).await),
            (vec![], vec![id]),
            "{body}"
        );
    }
    let seller = world.wallet(8).await;
    assert_eq!(ids(&list(&world, &seller, "&search=vila").await), [id]);
    let body = json!({ "archived": true, "id": id });
    let archive = world.call("POST", &format!("/lead/archive?i=acme&apitoken={}", wallet.key));
    assert_eq!(archive.json(&body).send().await.status, 200);
    assert_eq!(found("zulmira").await, [0; 0]);
    assert_eq!(found("zulmira&archived=true").await, [id]);
    let uri = format!("{uri}&apitoken={}", wallet.key);
    assert_eq!(world.call("DELETE", &uri).send().await.status, 200);
    assert_eq!(found("zulmira&archived=true").await, [0; 0]);
    world.is_sound().await;
}

/// C-98: with the other filters and permissions, by pages with their total; an unknown tag has no leads.
#[tokio::test]
async fn leads_with_a_tag() {
    let world = World::new().await;
    let tags = |ids: &[u64]| {
        ids.iter()
            .map(|id| TagId::new(*id).expect("an id"))
            .collect::<Vec<_>>()
    };
    let mut tagged = leads();
    for lead in &mut tagged {
        lead.tags = match lead.id.get() {
            1001 | 1006 => tags(&[2, 1]),
            1003 | 1007 => tags(&[1]),
            1005 => tags(&[2]),
            _ => Vec::new(),
        };
    }
    add_leads(&world.operator("acme"), tagged).await;
    let (admin, seller) = (world.wallet(7).await, world.wallet(8).await);
    for (wallet, params, found, total) in [
        (&admin, "&tag=1", &[1001, 1006, 1007][..], 3),
        (&admin, "&tag=2", &[1001, 1005, 1006], 3),
        (&admin, "&tag=1&archived=true", &[1003], 1),
        (&admin, "&tag=1&search=maria", &[1001], 1),
        (&admin, "&tag=1&limit=2&page=2", &[1007], 3),
        (&admin, "&tag=1&allFields=1", &[1001, 1006, 1007], 3),
        (&admin, "&tag=3", &[], 0),
        (&seller, "&tag=1", &[1001, 1006], 2),
    ] {
        let answer = list(&world, wallet, params).await;
        let shown = (ids(&answer), answer.body["data"]["total"].clone());
        assert_eq!(shown, (found.to_vec(), json!(total)), "{params}");
    }
    world.is_sound().await;
}

/// The items of a word are read by word, and shown by id.
#[tokio::test]
async fn searches_of_a_long_list_keep_the_order() {
    let world = World::new().await;
    let made =
        (10_001..13_501).map(|id| plain_lead(id, if id % 7 == 0 { "Sétimo" } else { "Outro" }, "X", None));
    add_leads(&world.operator("acme"), made.collect()).await;
    let wallet = world.wallet(7).await;
    let expected: Vec<_> = (10_001..13_501).filter(|id| id % 7 == 0).collect();
    let answer = list(&world, &wallet, "&search=setimo&limit=200&page=3").await;
    assert_eq!(answer.body["data"]["total"], expected.len());
    assert_eq!(ids(&answer), expected[400..]);
    let answer = list(&world, &wallet, "&search=x&limit=200&page=3").await;
    assert_eq!(answer.body["data"]["total"], 3500);
    assert_eq!(ids(&answer), (10_401..10_601).collect::<Vec<_>>());
}

/// C-20: `allFields=1` and `query`.
#[tokio::test]
async fn views_of_the_list() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    let full = list(&world, &wallet, "&allFields=1&limit=2").await;
    let single = world.read(&wallet, "/leads/1001?i=acme&allFields=1").await;
    assert_eq!(full.body["data"]["leads"][0], single.body["data"]["lead"]);
    assert_eq!(
        (ids(&full), &full.body["data"]["total"]),
        (vec![1001, 1002], &json!(6))
    );
    for (query, data) in [
        ("{total}", json!({ "total": 6 })),
        (
            "{leads{id}}",
            json!({ "leads": [{ "id": 1001 }, { "id": 1002 }] }),
        ),
        (
            "{leads{email,owner{name},city}total}",
            json!({ "leads": [
                { "email": "lead1001@example.com", "owner": { "name": "Bruno Lima" }, "city": "Curitiba" },
                { "email": "lead1002@example.com", "owner": { "name": "Carla Mendes" }, "city": null },
            ], "total": 6 }),
        ),
    ] {
        list(&world, &wallet, &format!("&limit=2&query={query}"))
            .await
            .is(200, &json!({ "data": data }));
    }
    let sparse = (1..=3).map(|n| plain_lead(n * 1_000_000, "Longe", "X", None));
    add_leads(&world.operator("acme"), sparse.collect()).await;
    let answer = list(&world, &wallet, "&search=longe&query={leads{id,createdByType}}").await;
    assert_eq!(ids(&answer), [1_000_000, 2_000_000, 3_000_000]);
}

/// C-4.
#[tokio::test]
async fn invalid_parameters_are_named() {
    let world = World::new().await;
    let wallet = world.wallet(7).await;
    for (parameters, details) in [
        ("&limit=0", "limit: must be a whole number from 1 to 200"),
        ("&limit=201", "limit: must be a whole number from 1 to 200"),
        ("&limit=05", "limit: must be a whole number"),
        ("&page=01", "page: must be a whole number"),
        ("&page=-1", "page: must be a whole number"),
        ("&page=x", "page: must be a whole number"),
        ("&archived=maybe", "archived: must be true or false"),
        ("&search=a&search=b", "search: must not be repeated"),
        ("&query={lead{id}}", "query: unknown root \"lead\""),
    ] {
        let answer = list(&world, &wallet, parameters).await;
        answer.is(400, &json!({ "error": "Invalid request", "details": details }));
    }
    let unknown = list(&world, &wallet, "&foo=bar&foo=bar&limit=1").await;
    assert_eq!(ids(&unknown), [1001], "unknown parameters are ignored");
}

/// Responses above the platform's limit are rejected with advice.
#[tokio::test]
async fn too_large_responses_are_rejected() {
    let world = World::new().await;
    let bulky = (2001..2101).map(|id| {
        let mut lead = plain_lead(id, "P", "Q", None);
        lead.custom.insert("notas".to_owned(), json!("x".repeat(60_000)));
        lead
    });
    add_leads(&world.operator("acme"), bulky.collect()).await;
    let wallet = world.wallet(7).await;
    let details = "limit: this exceeds 5 MB; ask for less at a time";
    let refused = list(&world, &wallet, "&allFields=1&limit=200").await;
    refused.is(400, &json!({ "error": "Invalid request", "details": details }));
    let listed = list(&world, &wallet, "&query={leads{id}}&limit=200").await;
    let more = refused.cost.read_units() - listed.cost.read_units();
    assert!(more < 100.0, "the custom fields are not read: {more}");
    let fewer = list(&world, &wallet, "&allFields=1&limit=80").await;
    assert_eq!((fewer.status.as_u16(), ids(&fewer).len()), (200, 80));
}
