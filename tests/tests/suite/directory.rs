//! Memberships: they apply from the next request (C-2, C-12, C-82), and cost the same for any number of users (C-89).

use serde_json::json;
use shared::directory::{Department, Directory};
use shared::ids::{DepartmentId, GroupId};
use shared::people::User;
use shared::permissions::AccessLevel;
use tests::people::{add_leads, add_users, department, plain_lead, user, users};
use tests::{Wallet, World};

/// One of `acme`'s users, changed.
fn changed(id: u64, change: impl Fn(&mut User)) -> User {
    let mut changed = users()
        .into_iter()
        .find(|one| one.id == user(id))
        .expect("a user");
    change(&mut changed);
    changed
}

/// Lead 1001 belongs to user 8, who works in department 2 below department 1 of user 10; lead 1007 has no
/// owner. Both are requested from the same process as before and from another.
async fn assert_sees(world: &World, wallet: &Wallet, what: &str, expected: [u16; 2]) {
    for world in [&world.beside(), &world.elsewhere()] {
        let mut seen = Vec::new();
        for lead in [1001, 1007] {
            let answer = world.read(wallet, &format!("/leads/{lead}?i=acme")).await;
            seen.push(answer.status.as_u16());
        }
        assert_eq!(seen, expected, "{what}");
    }
}

/// Each change, and which of both leads user 10 sees from the next request on.
#[tokio::test]
async fn changes_apply_from_the_next_request() {
    let world = World::new().await;
    let (operator, wallet) = (world.operator("acme"), world.wallet(10).await);
    let edit = async |edit: fn(&mut Directory)| {
        let edited = operator.put_directory(edit).await;
        assert!(edited.expect("a directory"));
    };
    let put = async |user: User| add_users(&operator, &[user]).await;
    let group = |id: u64| GroupId::new(id);
    let sees = async |what: &str, expected| {
        assert_sees(&world, &wallet, what, expected).await;
    };
    sees("as it was", [200, 404]).await;
    put(changed(8, |user| user.department = Some(department(3)))).await;
    sees("the owner went to another department", [404, 404]).await;
    put(changed(8, |_| ())).await;
    put(changed(10, |user| user.department = Some(department(3)))).await;
    sees("the viewer went to another department", [404, 404]).await;
    put(changed(10, |user| user.department = Some(department(2)))).await;
    sees("the viewer went below", [200, 404]).await;
    put(changed(10, |user| user.group = group(1))).await;
    sees("the viewer's group reaches all", [200, 200]).await;
    put(changed(10, |user| user.group = None)).await;
    sees("the viewer has no group", [404, 404]).await;
    put(changed(10, |user| user.active = false)).await;
    sees("the viewer is inactive", [401, 401]).await;
    put(changed(10, |_| ())).await;
    sees("the viewer is as it was", [200, 404]).await;
    edit(|directory| reach(directory, AccessLevel::Own)).await;
    sees("the group reaches its own", [404, 404]).await;
    edit(|directory| reach(directory, AccessLevel::Department)).await;
    edit(|directory| hang(directory, None)).await;
    sees("the owner's department is below no other", [404, 404]).await;
    edit(|directory| hang(directory, Some(department(1)))).await;
    sees("the directory is as it was", [200, 404]).await;
    world.is_sound().await;
}

/// Sets the access level of group 3.
fn reach(directory: &mut Directory, leads: AccessLevel) {
    let group = GroupId::new(3).and_then(|id| directory.groups.get_mut(&id));
    group.expect("a group").permissions.leads = leads;
}

/// Sets the parent of department 2.
fn hang(directory: &mut Directory, parent: Option<DepartmentId>) {
    directory
        .departments
        .insert(department(2), Department::new("Inside Sales", parent));
}

/// C-89: an instance has at most 1,000 departments. A full one refuses additions only.
#[tokio::test]
async fn a_full_directory_refuses_additions() {
    let world = World::new().await;
    let operator = world.operator("acme");
    let put = async |ids: std::ops::Range<u64>, name: &str| {
        let edit = |directory: &mut Directory| {
            let added = ids
                .clone()
                .map(|id| (department(id), Department::new(name, None)));
            directory.departments.extend(added);
        };
        operator
            .put_directory(edit)
            .await
            .map_err(|cause| cause.to_string())
    };
    let number = operator.directory().await.expect("a directory").departments.len() as u64;
    assert_eq!(put(100..1_100 - number, "Loja").await, Ok(true));
    assert_eq!(put(100..101, "Filial").await, Ok(true));
    let setting = operator.set_setting("page_base", &json!(0)).await;
    assert!(setting.expect("a setting"));
    let full = put(5_000..5_001, "Nova").await.expect_err("it is full");
    assert!(
        full.starts_with("an instance has at most 1000 departments"),
        "{full}"
    );
    world.is_sound().await;
}

/// Twenty thousand users in forty departments: checking a key costs 2 units, key and token 3, and a viewer of
/// its department reads its members in addition.
#[tokio::test]
async fn checking_costs_the_same_with_twenty_thousand_users() {
    let world = World::new().await;
    let operator = world.operator("acme");
    operator
        .put_directory(|directory| {
            for id in 10..50 {
                directory
                    .departments
                    .insert(department(id), Department::new(format!("D{id}"), None));
            }
        })
        .await
        .expect("the directory can be written");
    let many = (1000..21_000).map(|id| User {
        id: user(id),
        department: Some(department(10 + id / 500 % 40)),
        ..changed(8, |_| ())
    });
    add_users(&operator, &many.collect::<Vec<_>>()).await;
    assert_eq!(operator.user_ids().await.expect("ids").len(), 20_008);
    add_leads(&operator, vec![plain_lead(5000, "Eva", "Luz", Some(20_999))]).await;

    let checking = async |wallet: &Wallet, uri: &str, token: bool| {
        let world = world.elsewhere();
        let asked = world.get(uri).header("apitoken", &wallet.key);
        let bearer = format!("Bearer {}", wallet.token);
        let asked = if token {
            asked.header("authorization", &bearer)
        } else {
            asked
        };
        let answer = asked.send().await;
        assert_eq!(answer.status, 200, "{answer:?}");
        let checks = answer
            .cost
            .calls
            .iter()
            .filter(|call| call.operation == "BatchGetItem");
        checks.map(|call| call.read_units).sum::<f64>()
    };
    let admin = world.wallet(7).await;
    let newest = world.wallet(20_999).await;
    for wallet in [&admin, &newest] {
        let (key, both) = (
            checking(wallet, "/pcalendar?i=acme", false).await,
            checking(wallet, "/leads?i=acme", true).await,
        );
        println!("checking a key: {key}, with a token: {both}");
        assert!(key <= 2.0 && both <= 3.0, "{key} {both}");
    }
    // Its own department has 500 members: 2.5 KB.
    add_users(
        &operator,
        &[User {
            group: GroupId::new(3),
            ..changed(8, |user| user.department = Some(department(11)))
        }],
    )
    .await;
    let viewer = world.wallet(8).await;
    // The check, the members, the lead; afterwards all in parallel.
    for round_trips in [3, 1] {
        let answer = world.get("/leads/1001?i=acme").with(&viewer).send().await;
        assert_eq!(answer.status, 200);
        println!("a viewer of 500 members: {:?}", answer.cost);
        assert_eq!(answer.cost.round_trips, round_trips);
        assert!(answer.cost.read_units() <= 6.0, "{:?}", answer.cost);
    }
    world.meet(&admin).await;
    let named = "/leads/5000?i=acme&query={lead{owner{name}}}";
    let answer = world.get(named).with(&admin).send().await;
    let owner = &answer.body["data"]["lead"]["owner"]["name"];
    assert_eq!((owner, answer.cost.round_trips), (&json!("Bruno Lima"), 2));
    println!("an owner's name: {:?}", answer.cost);
    assert!(answer.cost.read_units() <= 7.0, "{:?}", answer.cost);
}

/// C-89, C-97: 20,008 users are listed by pages, completely; without `limit` the response would exceed 5 MB.
#[tokio::test]
async fn twenty_thousand_users_are_listed() {
    let world = World::new().await;
    let operator = world.operator("acme");
    let photo = format!("https://photos.example/{}.jpg", "a".repeat(60));
    let many = (1001..21_001).map(|id| User {
        photo: Some(photo.clone()),
        department: Some(department(3)),
        ..User::new(user(id), "Equipe")
    });
    add_users(&operator, &many.collect::<Vec<_>>()).await;
    let wallet = world.known(14).await;
    let ask = async |uri: &str| world.get(uri).with(&wallet).send().await;
    let whole = ask("/user?i=acme").await;
    let details = whole.body["details"].as_str().unwrap_or_default();
    assert!(
        whole.status == 400 && details.starts_with("limit: "),
        "{}",
        whole.body
    );
    let mut count = 0;
    for page in 1..=21 {
        let answer = ask(&format!("/user?i=acme&limit=1000&page={page}")).await;
        count += answer.body.as_array().map_or(0, Vec::len);
        assert!(answer.cost.round_trips <= 3, "{:?}", answer.cost);
    }
    assert_eq!(count, 20_008);
    let departments = ask("/departament?i=acme").await;
    println!("departments: {:?}", departments.cost);
    assert_eq!(
        departments.body[1]["users"].as_array().map(Vec::len),
        Some(20_002)
    );
    assert!(departments.cost.round_trips <= 2 && departments.cost.read_units() <= 40.0);
}
