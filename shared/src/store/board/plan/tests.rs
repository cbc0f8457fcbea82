//! Selection of lists by request and permissions.

use super::*;
use crate::ids::{FunnelId, UserId};
use crate::opportunity::Status;
use crate::store::prefetch_cache::PrefetchHint;
use crate::viewer::OwnerScope;

fn user(id: u64) -> UserId {
    UserId::new(id).unwrap()
}

fn column() -> ColumnId {
    ColumnId::new(31).unwrap()
}

fn request(users: Option<&[u64]>, statuses: &[Status]) -> BoardRequest {
    BoardRequest {
        funnel: FunnelId::new(3).unwrap(),
        column: None,
        users: users.map(|users| users.iter().copied().map(user).collect()),
        statuses: statuses.iter().copied().collect(),
        archived: false,
        filtered: false,
        searched: false,
        page: 1,
        limit: 25,
        query: String::new(),
    }
}

fn guess(seen: Option<&[u64]>, won_lost: bool) -> PrefetchHint {
    let seen = seen.map(|users| users.iter().copied().map(user).collect());
    PrefetchHint {
        opportunities: seen.map_or(OwnerScope::All, OwnerScope::Users),
        won_lost,
        ..PrefetchHint::default()
    }
}

fn total(id: u64, status: Status, count: i64) -> (UserId, Status, i64) {
    (user(id), status, count)
}

/// The kind of plan, and its lists as `user status share`.
fn plan(
    guess: &PrefetchHint,
    request: &BoardRequest,
    totals: &[(UserId, Status, i64)],
) -> (String, Vec<String>) {
    let shown = |part: &ListPart| {
        let user = part
            .list
            .user
            .map_or_else(|| "-".to_owned(), |user| user.to_string());
        let status = part.list.status.map_or("-", Status::as_str);
        format!("{user} {status} {:.2}", part.share)
    };
    let Some(sight) = VisibleLists::of(guess, request) else {
        return ("nothing".to_owned(), Vec::new());
    };
    match sight.plan(request, column(), &Totals::of(column(), totals)) {
        QueryPlan::Nothing => ("nothing".to_owned(), Vec::new()),
        QueryPlan::Merge(parts) => ("merge".to_owned(), parts.iter().map(shown).collect()),
        QueryPlan::Filter(wide, parts) => (
            format!("sift {}", shown(&wide)),
            parts.iter().map(shown).collect(),
        ),
    }
}

/// C-46, C-82.
#[test]
fn visible_lists_are_both_requested_and_permitted() {
    let lists = |guess: &PrefetchHint, request: &BoardRequest| {
        VisibleLists::of(guess, request).map(|sight| sight.lists())
    };
    let (all, some) = (guess(None, true), guess(Some(&[8, 9]), true));
    assert_eq!(lists(&all, &request(None, &[])), Some(1));
    assert_eq!(lists(&all, &request(None, &Status::ALL)), Some(1));
    assert_eq!(
        lists(&all, &request(Some(&[7, 8]), &[Status::Gain, Status::Lost])),
        Some(4)
    );
    assert_eq!(lists(&all, &request(Some(&[]), &[])), None);
    assert_eq!(lists(&some, &request(None, &[])), Some(2));
    assert_eq!(lists(&some, &request(Some(&[9, 10]), &[])), Some(1));
    assert_eq!(lists(&some, &request(Some(&[10]), &[])), None);
    let open_only = guess(None, false);
    assert_eq!(lists(&open_only, &request(None, &[Status::Gain])), None);
    let sight = VisibleLists::of(&open_only, &request(None, &[])).unwrap();
    assert!(sight.covers(user(8), Status::Open) && !sight.covers(user(8), Status::Gain));
    let nothing = PrefetchHint {
        opportunities: OwnerScope::Nothing,
        ..PrefetchHint::default()
    };
    assert_eq!(lists(&nothing, &request(None, &[])), None);
}

#[test]
fn empty_lists_are_not_read() {
    let totals = [
        total(8, Status::Open, 3),
        total(9, Status::Open, 1),
        total(10, Status::Gain, 0),
    ];
    let of = |request: &BoardRequest| plan(&guess(None, true), request, &totals);
    let merge = |lists: &[&str]| {
        (
            "merge".to_owned(),
            lists.iter().map(|list| (*list).to_owned()).collect::<Vec<_>>(),
        )
    };
    assert_eq!(of(&request(None, &[])), merge(&["- - 1.00"]));
    assert_eq!(
        of(&request(Some(&[8, 9, 10, 11]), &[])),
        merge(&["8 - 0.75", "9 - 0.25"])
    );
    assert_eq!(
        of(&request(Some(&[8]), &[Status::Open, Status::Gain])),
        merge(&["8 open 1.00"])
    );
    assert_eq!(of(&request(None, &[Status::Gain])).0, "nothing");
    assert_eq!(of(&request(Some(&[10]), &[])).0, "nothing");
}

/// A wider list is filtered if many users own much of it; otherwise the users' lists are merged.
#[test]
fn dense_users_are_filtered_from_a_wider_list() {
    let ids: Vec<_> = (101..=109).collect();
    let mut totals: Vec<_> = ids.iter().map(|id| total(*id, Status::Open, 10)).collect();
    totals.push(total(7, Status::Gain, 1_000));
    let department = guess(Some(&ids), true);
    assert_eq!(
        plan(&department, &request(None, &[Status::Open]), &totals).0,
        "sift - open 1.00"
    );
    let (way, lists) = plan(&department, &request(None, &[]), &totals);
    assert_eq!((way.as_str(), lists.len()), ("merge", 9));
    totals.push(total(108, Status::Lost, 400));
    assert_eq!(plan(&department, &request(None, &[]), &totals).0, "sift - - 0.33");
}
