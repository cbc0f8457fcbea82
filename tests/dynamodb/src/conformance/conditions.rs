//! Each condition on each state of an item.

use table::item::{n, s};
use table::{AttributeValue, Condition, Item, Transaction};

use super::{Cases, Outcome, texts};

/// The states of an item: absent, without the attribute, and with a value of it.
const STATES: [&str; 6] = ["absent", "without", "equal", "less", "greater", "of another type"];

/// A condition on an attribute, its values in the states from `equal` on, and the states that fulfil it.
struct Row {
    name: &'static str,
    condition: Condition,
    attribute: &'static str,
    values: [AttributeValue; 4],
    fulfilled: [bool; 6],
}

/// Values around a number.
fn around(number: i64) -> [AttributeValue; 4] {
    [n(number), n(number - 1), n(number + 1), s(number.to_string())]
}

fn row(name: &'static str, condition: Condition, fulfilled: [u8; 6]) -> Row {
    Row {
        name,
        condition,
        attribute: "n",
        values: around(5),
        fulfilled: fulfilled.map(|flag| flag == 1),
    }
}

/// Conditions on the presence of an item and on one of its attributes.
fn rows() -> Vec<Row> {
    let number = |value| Condition::Number { name: "n", value };
    vec![
        row("always", Condition::Always, [1, 1, 1, 1, 1, 1]),
        row("absent", Condition::Absent, [1, 0, 0, 0, 0, 0]),
        row("present", Condition::Present, [0, 1, 1, 1, 1, 1]),
        Row {
            attribute: "v",
            ..row("version", Condition::Version(5), [0, 0, 1, 0, 0, 0])
        },
        row("number", number(5), [0, 0, 1, 0, 0, 0]),
        Row {
            values: around(0),
            ..row("number 0", number(0), [1, 1, 1, 0, 0, 0])
        },
        Row {
            values: [n("5.0"), n("4.99"), n("5.000001"), AttributeValue::Bool(true)],
            ..row("number, with decimals", number(5), [0, 0, 1, 0, 0, 0])
        },
        Row {
            values: [s("m"), s("l"), s("n"), n(5)],
            ..row(
                "absent or text",
                Condition::AbsentOrText {
                    name: "n",
                    value: "m".to_owned(),
                },
                [1, 0, 1, 0, 0, 0],
            )
        },
        row(
            "absent or up to",
            Condition::AbsentOrUpTo { name: "n", value: 5 },
            [1, 0, 1, 1, 0, 0],
        ),
    ]
}

/// Conditions on several attributes, some of them absent.
fn exact_rows() -> Vec<Row> {
    let exactly = |has: Item, lacks| Condition::Exactly { has, lacks };
    let five = Item::from([("n".to_owned(), n(5))]);
    vec![
        row("exactly: has", exactly(five.clone(), vec![]), [0, 0, 1, 0, 0, 0]),
        row(
            "exactly: lacks",
            exactly(Item::new(), vec!["n"]),
            [1, 1, 0, 0, 0, 0],
        ),
        row(
            "exactly: has and lacks",
            exactly(texts([("x", "x")]), vec!["n"]),
            [0, 1, 0, 0, 0, 0],
        ),
        row("exactly: has another", exactly(five, vec!["x"]), [0; 6]),
    ]
}

/// Each condition on a put, and on a check beside a put of another item.
pub async fn check(cases: &mut Cases<'_>) {
    for row in rows().into_iter().chain(exact_rows()) {
        let values = row.values.iter().cloned().map(Some);
        let states = [None, None].into_iter().chain(values).zip(STATES);
        for (at, (value, state)) in states.enumerate() {
            let (key, other) = (cases.key(), cases.key());
            let mut before = (at > 0).then(|| texts([("x", "x")]));
            if let (Some(item), Some(value)) = (&mut before, value) {
                item.insert(row.attribute.to_owned(), value);
            }
            if let Some(item) = &before {
                cases.store(&key, item.clone()).await;
            }
            // As stored, where numbers have one form.
            let before = cases.stored(&key).await;
            let case = format!("condition: {}, {state}", row.name);
            let (is_fulfilled, new) = (row.fulfilled[at], texts([("new", "1")]));
            let refused = Outcome::refused(&key, before.clone());
            let expected = if is_fulfilled { Outcome::Done } else { refused };
            let mut checked = Transaction::default();
            checked.check(key.clone(), row.condition.clone());
            checked.put(other.clone(), new.clone(), Condition::Always);
            // DynamoDB has no check without a condition.
            if row.condition != Condition::Always {
                let outcome = cases.commit(checked).await;
                cases.expect(&format!("{case}, checked"), outcome, expected.clone());
                let stored = cases.stored(&other).await;
                cases.expect(
                    &format!("{case}, checked"),
                    stored,
                    is_fulfilled.then(|| new.clone()),
                );
            }
            let outcome = cases
                .commit(super::put(&key, new.clone(), row.condition.clone()))
                .await;
            cases.expect(&case, outcome, expected);
            let after = if is_fulfilled { Some(new) } else { before };
            let stored = cases.stored(&key).await;
            cases.expect(&case, stored, after);
        }
    }
}
