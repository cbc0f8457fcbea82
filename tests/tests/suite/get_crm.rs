//! `GET /crm`: endpoint 9.

use serde_json::{Value, json};
use shared::funnel::{Column, CustomField, Funnel, FunnelAccess};
use shared::ids::GroupId;
use tests::people::{add_users, department, user, users};
use tests::sales::{add_funnels, columns, funnel, open_shop};
use tests::world::Answer;
use tests::{Wallet, World};

async fn get(world: &World, wallet: &Wallet) -> Answer {
    world
        .get(&format!("/crm?i=acme&apitoken={}", wallet.key))
        .send()
        .await
}

async fn ids(world: &World, wallet: &Wallet) -> Value {
    let answer = get(world, wallet).await;
    assert_eq!(answer.status, 200, "{}", answer.body);
    let funnels = answer.body.as_array().expect("a bare array").iter();
    json!(funnels.map(|funnel| &funnel["id"]).collect::<Vec<_>>())
}

/// The funnels of the shop, by id.
fn shown(id: u64) -> Value {
    let field = |name: &str| json!({ "name": name, "type": "text" });
    let column = |id: u64, name: &str, sequence: u64, crm: u64| json!({ "id": id, "name": name, "sequence": sequence, "crm": crm });
    match id {
        3 => json!({
            "id": 3, "name": "Vendas",
            "columns": [column(31, "Entrada", 1, 3), column(32, "Proposta", 2, 3), column(33, "Fechamento", 3, 3)],
            "fields": [field("Origem do Lead"), field(" Número do pedido "), field("Data da visita")],
        }),
        4 => json!({ "id": 4, "name": "Pós-venda", "columns": [column(41, "Ativação", 1, 4)], "fields": [] }),
        _ => json!({ "id": 5, "name": "Parcerias", "columns": [column(51, "Conversa", 1, 5)], "fields": [] }),
    }
}

fn bare(id: u64, columns: Vec<Column>, access: FunnelAccess) -> Funnel {
    Funnel {
        id: funnel(id),
        name: format!("Funil {id}"),
        columns,
        fields: Vec::new(),
        access,
    }
}

/// C-34, C-82: complete bodies; a funnel's lists restrict it, and `opportunities: none` sees no funnel.
#[tokio::test]
async fn each_key_sees_its_funnels() {
    let world = World::new().await;
    open_shop(&world.operator("acme")).await;
    for (who, expected) in [
        (7, &[3, 4, 5][..]),
        (8, &[3, 4, 5]),
        (9, &[3, 4]),
        (10, &[3, 4]),
        (11, &[3, 5]),
        (13, &[]),
        (14, &[3]),
        (15, &[3, 4]),
    ] {
        let answer = get(&world, &world.known(who).await).await;
        let expected: Vec<_> = expected.iter().map(|id| shown(*id)).collect();
        assert_eq!(
            (answer.status.as_u16(), &answer.body),
            (200, &json!(expected)),
            "user {who}"
        );
        assert_eq!(answer.headers["content-type"], "application/json; charset=utf-8");
        assert_eq!(answer.cost.round_trips, 1);
    }
}

#[tokio::test]
async fn an_instance_without_funnels_has_an_empty_list() {
    let world = World::new().await;
    get(&world, &world.wallet(7).await).await.is(200, &json!([]));
}

/// C-34: funnels ordered numerically by id, columns by sequence and id; fields in the operator's order.
#[tokio::test]
async fn funnels_columns_and_fields_are_ordered() {
    let world = World::new().await;
    let operator = world.operator("acme");
    let field = |name: &str, kind: &str| CustomField {
        name: name.to_owned(),
        kind: kind.to_owned(),
    };
    let odd = Funnel {
        fields: vec![field("z", "number"), field("", "date"), field("A\u{0}", "text")],
        ..bare(
            100,
            columns(&[
                (9, "d", 7),
                (100, "c", 0),
                (20, "b", 7),
                (3, "", 999_999_999_999_999),
            ]),
            FunnelAccess::default(),
        )
    };
    let others =
        [11, 2, 999_999_999_999_999, 1, 10, 20].map(|id| bare(id, Vec::new(), FunnelAccess::default()));
    add_funnels(&operator, &others).await;
    add_funnels(&operator, &[odd]).await;
    let answer = get(&world, &world.wallet(8).await).await;
    let empty = |id: u64| json!({ "id": id, "name": format!("Funil {id}"), "columns": [], "fields": [] });
    let odd = json!({
        "id": 100, "name": "Funil 100",
        "columns": [
            { "id": 100, "name": "c", "sequence": 0, "crm": 100 },
            { "id": 9, "name": "d", "sequence": 7, "crm": 100 },
            { "id": 20, "name": "b", "sequence": 7, "crm": 100 },
            { "id": 3, "name": "", "sequence": 999_999_999_999_999_u64, "crm": 100 },
        ],
        "fields": [
            { "name": "z", "type": "number" }, { "name": "", "type": "date" }, { "name": "A\u{0}", "type": "text" },
        ],
    });
    let expected = json!([
        empty(1),
        empty(2),
        empty(10),
        empty(11),
        empty(20),
        odd,
        empty(999_999_999_999_999)
    ]);
    answer.is(200, &expected);
}

/// C-82: any of the three lists permits; departments include those below them; admins see everything.
#[tokio::test]
async fn any_access_list_permits() {
    let world = World::new().await;
    let operator = world.operator("acme");
    open_shop(&operator).await;
    let group = |id| GroupId::new(id).expect("a group id");
    let access = |users: &[u64], departments: &[u64], groups: &[u64]| FunnelAccess {
        users: users.iter().copied().map(user).collect(),
        departments: departments.iter().copied().map(department).collect(),
        groups: groups.iter().copied().map(group).collect(),
    };
    let funnels = [
        (11, access(&[9], &[], &[])),
        (12, access(&[], &[2], &[])),
        (13, access(&[], &[], &[23])),
        (14, access(&[11], &[2], &[23])),
        (15, access(&[99], &[99], &[99])),
        (16, access(&[13], &[], &[25])),
    ];
    add_funnels(
        &operator,
        &funnels.map(|(id, access)| bare(id, Vec::new(), access)),
    )
    .await;
    for (who, expected) in [
        (7, json!([3, 4, 5, 11, 12, 13, 14, 15, 16])),
        (8, json!([3, 4, 5, 12, 14])),
        (9, json!([3, 4, 11, 12, 14])),
        (10, json!([3, 4, 13, 14])),
        (11, json!([3, 5, 14])),
        (13, json!([])),
        (14, json!([3, 13, 14])),
    ] {
        assert_eq!(
            ids(&world, &world.wallet(who).await).await,
            expected,
            "user {who}"
        );
    }
}

/// More than one query returns: about 2 MB of funnels.
#[tokio::test]
async fn many_funnels_are_listed_completely() {
    let world = World::new().await;
    let field = |at: u64| CustomField {
        name: format!("{at:060}"),
        kind: "text".to_owned(),
    };
    let wide = |id| Funnel {
        fields: (0..300).map(field).collect(),
        ..bare(id, Vec::new(), FunnelAccess::default())
    };
    let funnels: Vec<_> = (1..=60).map(wide).collect();
    for some in funnels.chunks(10) {
        add_funnels(&world.operator("acme"), some).await;
    }
    let answer = get(&world, &world.wallet(7).await).await;
    let fields: Vec<_> = (0..300)
        .map(|at: u64| json!({ "name": format!("{at:060}"), "type": "text" }))
        .collect();
    let expected = (1..=60)
        .map(|id| json!({ "id": id, "name": format!("Funil {id}"), "columns": [], "fields": fields }));
    assert!(answer.body == expected.collect::<Value>());
}

/// C-12, C-2.
#[tokio::test]
async fn changes_apply_from_the_next_request() {
    let world = World::new().await;
    let (operator, wallet) = (world.operator("acme"), world.wallet(8).await);
    open_shop(&operator).await;
    assert_eq!(ids(&world, &wallet).await, json!([3, 4, 5]));
    let closed = FunnelAccess {
        users: vec![user(9)],
        ..FunnelAccess::default()
    };
    add_funnels(&operator, &[bare(3, columns(&[(31, "Nova", 1)]), closed)]).await;
    assert_eq!(ids(&world, &wallet).await, json!([4, 5]));
    let columns = json!([{ "id": 31, "name": "Nova", "sequence": 1, "crm": 3 }]);
    let renamed = json!({ "id": 3, "name": "Funil 3", "columns": columns, "fields": [] });
    assert_eq!(get(&world, &world.wallet(7).await).await.body[0], renamed);
    let mut bruno = users().remove(1);
    bruno.group = None;
    add_users(&operator, &[bruno.clone()]).await;
    assert_eq!(ids(&world, &wallet).await, json!([]));
    bruno.active = false;
    add_users(&operator, &[bruno]).await;
    get(&world, &wallet)
        .await
        .is(401, &json!({ "error": "Unauthorized" }));
}

/// C-62: a page has `limit` funnels that the key sees, in order and requested alone.
#[tokio::test]
async fn pages_contain_the_visible_funnels() {
    let world = World::new().await;
    let operator = world.operator("acme");
    let access = |id: u64| FunnelAccess {
        users: (!id.is_multiple_of(4)).then(|| user(9)).into_iter().collect(),
        ..FunnelAccess::default()
    };
    let funnels: Vec<_> = (1..=300).map(|id| bare(id, Vec::new(), access(id))).collect();
    add_funnels(&operator, &funnels).await;
    for (who, count) in [(7, 300), (8, 75)] {
        let wallet = world.known(who).await;
        let all = ids(&world, &wallet).await;
        assert_eq!(all.as_array().map(Vec::len), Some(count));
        let mut walked = Vec::new();
        for page in 1..=count / 20 + 1 {
            let page = async |world: &World, wallet: &Wallet| {
                let uri = format!("/crm?i=acme&apitoken={}&limit=20&page={page}", wallet.key);
                world.get(&uri).send().await.body
            };
            let shown = page(&world, &wallet).await;
            assert_eq!(shown, page(&world.elsewhere(), &world.wallet(who).await).await);
            let shown = shown.as_array().expect("a bare array");
            assert_eq!(shown.len(), 20.min(count - walked.len()));
            walked.extend(shown.iter().map(|funnel| funnel["id"].clone()));
        }
        assert_eq!(json!(walked), all);
    }
    let uri = format!("/crm?i=acme&apitoken={}&limit=1001", world.wallet(7).await.key);
    let details = "limit: must be a whole number from 1 to 1000";
    let refused = world.get(&uri).send().await;
    refused.is(400, &json!({ "error": "Invalid request", "details": details }));
}
