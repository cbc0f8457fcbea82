//! The template is the list of routes: each is answered, and by no more methods than it says.

use tests::World;
use tests::template::{Route, routes};

#[tokio::test]
async fn routers_and_template_agree() {
    let world = World::empty().await;
    let routes: Vec<_> = routes()
        .into_iter()
        .filter(|route| route.method != "ANY")
        .collect();
    assert!(!routes.is_empty());
    for Route { path, .. } in &routes {
        let concrete = path.replace("{id}", "7");
        for method in ["GET", "POST", "PUT", "DELETE", "PATCH"] {
            let listed = routes
                .iter()
                .any(|route| route.path == *path && route.method == method);
            let status = world.call(method, &concrete).send().await.status.as_u16();
            assert_ne!(status, 404, "{method} {path} has no router");
            assert_eq!(status != 405, listed, "{method} {path}: {status}");
        }
    }
}

/// What a function may do to the table is what its code does; nobody may `Scan`.
#[test]
fn functions_have_the_rights_they_need() {
    for route in routes() {
        let actions = tests::template::actions(&route.function);
        assert!(
            actions
                .iter()
                .all(|action| !action.contains("Scan") && !action.contains('*')),
            "{route:?}"
        );
    }
}
