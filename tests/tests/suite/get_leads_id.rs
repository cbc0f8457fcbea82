//! `GET /leads/{id}`: endpoints 2, 3 and 4.

use serde_json::{Value, json};
use tests::people::{add_leads, add_users, plain_lead, users};
use tests::{Answer, World};

async fn get(world: &World, user: u64, rest: &str) -> Answer {
    let wallet = world.wallet(user).await;
    world.get(&format!("/leads/{rest}")).with(&wallet).send().await
}

/// spec.md, endpoint 2.
#[tokio::test]
async fn a_lead_in_summary() {
    let world = World::new().await;
    let lead = json!({ "id": 1001, "fullname": "Maria Silva", "email": "lead1001@example.com" });
    get(&world, 7, "1001?i=acme")
        .await
        .is(200, &json!({ "data": { "lead": lead } }));
    let nameless = json!({ "id": 1007, "fullname": "Pedro Henrique Sá", "email": null });
    get(&world, 7, "1007?i=acme")
        .await
        .is(200, &json!({ "data": { "lead": nameless } }));
}

/// spec.md, endpoint 3; C-21.
#[tokio::test]
async fn all_fields_of_a_lead() {
    let world = World::new().await;
    let channel =
        json!({ "mainChannel": false, "disabled": false, "frequencyValue": null, "frequencyUnits": "DAY" });
    let lead = json!({
        "_id": "lead-1001", "fullname": "Maria Silva", "id": 1001, "firstname": "Maria", "lastname": "Silva",
        "email": "lead1001@example.com", "phone": null, "chatapp": null, "whatsapp": null, "tags": [], "mobile": "+55 11 97326-3471", "points": 0,
        "owner": 8, "stage": null, "photoUrl": null, "company": null, "userAccess": [], "departmentAccess": [],
        "ignoreSubDepartments": false, "address": null, "city": "Curitiba", "state": null, "country": null,
        "zipcode": null, "timezone": null, "archived": false, "acquisition_channel": null,
        "channelRestrictions": { "social_photo": channel, "chatapp": channel, "email": channel, "social_chat": channel },
        "createDate": "2026-03-11T12:00:01.123Z", "lastActive": "2026-03-11T12:00:01.123Z", "createdBy": null,
        "createdByName": null, "createdByType": null, "updatedBy": null, "updatedByName": null, "updatedDate": null,
        "ips": [], "link_instancia": null, "preferred_locale": "pt-BR", "initial_password": "s3nh4-inicial",
        "role": null, "department": null, "instance_active": "true", "lead_online": "false", "partner_instance": null,
        "instancedomain": "acme", "utmTags": [{ "utm_source": "ads" }],
        "filial": "Apucarana", " Número do pedido ": { "n": 1e300, "": [null, 0.1] },
    });
    get(&world, 7, "1001?i=acme&allFields=1")
        .await
        .is(200, &json!({ "data": { "lead": lead.clone() } }));
    let mut shown_to_others = lead;
    shown_to_others["initial_password"] = Value::Null;
    get(&world, 8, "1001?i=acme&allFields=1")
        .await
        .is(200, &json!({ "data": { "lead": shown_to_others } }));
}

/// spec.md, endpoint 4; C-22.
#[tokio::test]
async fn selected_fields_of_a_lead() {
    let world = World::new().await;
    for (query, lead) in [
        (
            "{lead{id,fullname}}",
            json!({ "id": 1001, "fullname": "Maria Silva" }),
        ),
        (
            "%7Blead%7Bemail%7D%7D",
            json!({ "email": "lead1001@example.com" }),
        ),
        (
            "%7B%20lead%20%7B%0A%20id%20,,%20id%20city%20%7D%20%7D",
            json!({ "id": 1001, "city": "Curitiba" }),
        ),
        ("{lead{owner}}", json!({ "owner": 8 })),
        (
            "{lead{owner{id,name}}}",
            json!({ "owner": { "id": 8, "name": "Bruno Lima" } }),
        ),
        (
            "{lead{owner{name}}}",
            json!({ "owner": { "name": "Bruno Lima" } }),
        ),
        ("{lead{id}}&allFields=1", json!({ "id": 1001 })),
    ] {
        get(&world, 7, &format!("1001?i=acme&query={query}"))
            .await
            .is(200, &json!({ "data": { "lead": lead } }));
    }
    // C-90.
    let number = json!({ "chatapp": "551171629072", "whatsapp": "551171629072", "tags": [] });
    get(&world, 7, "1005?i=acme&query={lead{chatapp,whatsapp,tags}}")
        .await
        .is(200, &json!({ "data": { "lead": number } }));
    let ownerless = json!({ "data": { "lead": { "owner": null } } });
    get(&world, 7, "1007?i=acme&query={lead{owner{id,name}}}")
        .await
        .is(200, &ownerless);
    let summary = json!({ "id": 1001, "fullname": "Maria Silva", "email": "lead1001@example.com" });
    get(&world, 7, "1001?i=acme&query=")
        .await
        .is(200, &json!({ "data": { "lead": summary } }));
}

/// C-22.
#[tokio::test]
async fn invalid_selections_are_rejected_by_name() {
    let world = World::new().await;
    let (braces, deep) = ("{".repeat(5000), "{lead".repeat(5000));
    let repeated = format!("{{lead{{{}}}}}", "id,".repeat(201));
    for (query, named) in [
        ("{lead}", "lead"),
        ("{lead{}}", "lead"),
        ("{leads{id}}", "leads"),
        ("{lead{id,fooBar}}", "fooBar"),
        ("{lead{filial}}", "filial"),
        ("{lead{initial_password}}", "initial_password"),
        ("{lead{id{x}}}", "id"),
        ("{lead(id:1){id}}", "lead"),
        ("{lead{nome:fullname}}", "nome"),
        ("{...F}", "F"),
        ("query%20Q{lead{id}}", "Q"),
        ("{lead{id}", "selection"),
        ("lead", "lead"),
        (&repeated, "200"),
        (&braces, "selection"),
        (&deep, "levels"),
    ] {
        let answer = get(&world, 7, &format!("1001?i=acme&query={query}")).await;
        let details = answer.body["details"].as_str().unwrap_or_default().to_owned();
        assert!(
            details.starts_with("query: ") && details.contains(named),
            "{query:.60}: {details}"
        );
        assert!(details.len() < 300);
        answer.is(400, &json!({ "error": "Invalid request", "details": details }));
    }
}

/// C-23: 404 for a lead that is unknown or not visible, 400 for a malformed id.
#[tokio::test]
async fn unknown_and_invisible_ids() {
    let world = World::new().await;
    let not_found = json!({ "error": "Not found" });
    get(&world, 7, "4711?i=acme").await.is(404, &not_found);
    get(&world, 7, "999999999999999?i=acme&allFields=1")
        .await
        .is(404, &not_found);
    get(&world, 8, "1002?i=acme&query={lead{id}}")
        .await
        .is(404, &not_found);
}

/// C-2, C-12.
#[tokio::test]
async fn changes_apply_from_the_next_request() {
    let world = World::new().await;
    let (operator, wallet) = (world.operator("acme"), world.wallet(8).await);
    let status = async |id: u64| {
        world
            .read(&wallet, &format!("/leads/{id}?i=acme"))
            .await
            .status
            .as_u16()
    };
    assert_eq!(status(1002).await, 404);
    let mut bruno = users().remove(1);
    bruno.group = shared::ids::GroupId::new(1);
    add_users(&operator, &[bruno.clone()]).await;
    assert_eq!(status(1002).await, 200, "a new group");
    add_leads(&operator, vec![plain_lead(2000, "Nova", "Pessoa", None)]).await;
    assert_eq!(status(2000).await, 200, "a new lead");
    bruno.active = false;
    add_users(&operator, &[bruno]).await;
    assert_eq!(status(1002).await, 401, "an inactive user");
}
