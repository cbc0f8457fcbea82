//! Which lists are read for whom.

use super::*;
use crate::id::FunnelId;
use crate::opportunity::Narrowing;
use crate::store::board::totals::Sum;
use crate::store::opportunities::BoardClass;

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
        page: 1,
        limit: 25,
        walker: String::new(),
        client: String::new(),
        query: String::new(),
    }
}

fn guess(seen: Option<&[u64]>, won_lost: bool) -> Guess {
    let seen = seen.map(|users| users.iter().copied().map(user).collect());
    Guess {
        opportunities: seen.map_or(Coverage::All, Coverage::Users),
        won_lost,
        ..Guess::default()
    }
}

fn total(id: u64, status: Status, count: i64) -> BoardTotal {
    BoardTotal {
        class: BoardClass {
            column: column(),
            user: user(id),
            status,
            narrowing: Narrowing::Open,
        },
        open: Sum { count, cents: 0 },
        restricted: Sum::default(),
    }
}

/// The lists as `user status share`, after what the plan is.
fn plan(guess: &Guess, request: &BoardRequest, totals: &[BoardTotal]) -> (String, Vec<String>) {
    let shown = |part: &Part| {
        let user = part
            .list
            .user
            .map_or_else(|| "-".to_owned(), |user| user.to_string());
        let status = part.list.status.map_or("-", Status::as_str);
        format!("{user} {status} {:.2}", part.share)
    };
    let Some(sight) = Sight::of(guess, request) else {
        return ("nothing".to_owned(), Vec::new());
    };
    match sight.plan(request, column(), totals) {
        Plan::Nothing => ("nothing".to_owned(), Vec::new()),
        Plan::Merge(parts) => ("merge".to_owned(), parts.iter().map(shown).collect()),
        Plan::Sift(wide, parts) => (
            format!("sift {}", shown(&wide)),
            parts.iter().map(shown).collect(),
        ),
    }
}

/// C-46, C-82: what is asked for is cut down to what is seen.
#[test]
fn a_sight_is_what_is_asked_for_and_seen() {
    let lists = |guess: &Guess, request: &BoardRequest| Sight::of(guess, request).map(|sight| sight.lists());
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
    let sight = Sight::of(&open_only, &request(None, &[])).unwrap();
    assert!(sight.covers(user(8), Status::Open) && !sight.covers(user(8), Status::Gain));
    let nothing = Guess {
        opportunities: Coverage::Nothing,
        ..Guess::default()
    };
    assert_eq!(lists(&nothing, &request(None, &[])), None);
}

#[test]
fn lists_that_hold_nothing_are_not_read() {
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

/// Many users are sifted out of a wider list while they make up much of it, else their lists are merged.
#[test]
fn many_users_are_sifted_where_they_are_dense() {
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
