use super::*;
use crate::funnel::Funnel;

fn known() -> Known {
    let funnel = |fields: Value| serde_json::from_value::<Funnel>(fields).unwrap();
    Known {
        users: [(7, "Ana"), (8, "Bruno")]
            .map(|(id, name)| (UserId::new(id).unwrap(), name.to_owned()))
            .into(),
        funnels: vec![
            funnel(json!({ "id": 3, "name": "Vendas", "columns": [
                { "id": 33, "name": "Fim", "sequence": 3 }, { "id": 31, "name": "Entrada", "sequence": 1 } ] })),
            funnel(json!({ "id": 4, "name": "Recompra", "columns": [{ "id": 31, "name": "Contato" }] })),
        ],
    }
}

fn cube(facts: &[(&str, &str, u64)]) -> Cube {
    let mut cube = Cube::default();
    for (on, group, amount) in facts {
        cube.add(Fact {
            day: day(on),
            group: (*group).to_owned(),
            amount: *amount,
        });
    }
    cube
}

/// The plot of these facts from 30 December 2026 to 5 January 2027.
fn plot(fields: &Value, facts: &[(&str, &str, u64)]) -> Value {
    let plot = question(fields).plot(&cube(facts), range("2026-12-30", "2027-01-05"), &known());
    json!([plot.labels, plot.data, plot.total])
}

/// Including empty days, weeks and months; an ISO week may span two years.
#[test]
fn times_are_in_order_and_complete() {
    let by = |time: &str| json!({ "entity": "calls", "measure": "count", "groupBy": time });
    let facts = [
        ("2026-12-29", "", 0),
        ("2026-12-31", "", 0),
        ("2027-01-03", "", 0),
        ("2027-01-05", "", 0),
        ("2027-01-06", "", 0),
    ];
    assert_eq!(
        plot(&by("day"), &facts),
        json!([
            [
                "2026-12-30",
                "2026-12-31",
                "2027-01-01",
                "2027-01-02",
                "2027-01-03",
                "2027-01-04",
                "2027-01-05"
            ],
            [0, 1, 0, 0, 1, 0, 1],
            3
        ])
    );
    assert_eq!(
        plot(&by("week"), &facts),
        json!([["2026-W53", "2027-W01"], [2, 1], 3])
    );
    assert_eq!(
        plot(&by("month"), &facts),
        json!([["2026-12", "2027-01"], [1, 2], 3])
    );
    assert_eq!(
        plot(&by("month"), &[]),
        json!([["2026-12", "2027-01"], [0, 0], 0])
    );
}

#[test]
fn groups_are_in_order_and_complete() {
    let by = |group: &str, filters: Value| json!({ "entity": "opportunities", "measure": "count", "groupBy": group, "filters": filters });
    let on = "2027-01-01";
    let columns = [(on, "4/31", 0), (on, "3/33", 0), (on, "4/31", 0)];
    assert_eq!(
        plot(&by("column", json!({})), &columns),
        json!([["Entrada", "Fim", "Contato"], [0, 1, 2], 3])
    );
    assert_eq!(
        plot(&by("column", json!({ "funnel": 4 })), &columns[..1]),
        json!([["Contato"], [1], 1])
    );
    assert_eq!(
        plot(&by("column", json!({ "column": 31 })), &columns[..1]),
        json!([["Entrada", "Contato"], [0, 1], 1])
    );
    assert_eq!(
        plot(&by("funnel", json!({})), &[(on, "4", 0)]),
        json!([["Vendas", "Recompra"], [0, 1], 1])
    );
    assert_eq!(
        plot(&by("funnel", json!({ "funnel": 3 })), &[]),
        json!([["Vendas"], [0], 0])
    );
    assert_eq!(
        plot(&by("status", json!({})), &[(on, "lost", 0)]),
        json!([["open", "gain", "lost"], [0, 0, 1], 1])
    );
    assert_eq!(
        plot(&by("status", json!({ "status": ["lost", "gain"] })), &[]),
        json!([["gain", "lost"], [0, 0], 0])
    );
    // Users by id, then unknown users, then records without one.
    assert_eq!(
        plot(&by("user", json!({})), &[(on, "", 0), (on, "9", 0), (on, "8", 0)]),
        json!([["Ana", "Bruno", "9", "-"], [0, 1, 1, 1], 3])
    );
    assert_eq!(
        plot(
            &by("channel", json!({})),
            &[(on, "Site", 0), (on, "", 0), (on, "Ads", 0), (on, "Site", 0)]
        ),
        json!([["Ads", "Site", "-"], [1, 2, 1], 4])
    );
    assert_eq!(
        plot(
            &by("channel", json!({ "channel": ["Zap", "Ads"] })),
            &[(on, "Zap", 0)]
        ),
        json!([["Ads", "Zap"], [0, 1], 1])
    );
}

#[test]
fn sums_are_exact_to_the_cent_and_averages_are_numbers() {
    let facts = [
        ("2026-12-30", "7", 10),
        ("2026-12-31", "7", 20),
        ("2027-01-01", "8", 5),
        ("2027-01-02", "8", 100),
    ];
    let by = |entity: &str, measure: &str| json!({ "entity": entity, "measure": measure, "groupBy": "user" });
    let names = ["Ana", "Bruno"];
    assert_eq!(
        plot(&by("opportunities", "sum"), &facts),
        json!([names, [0.3, 1.05], 1.35])
    );
    assert_eq!(
        plot(&by("opportunities", "average"), &facts),
        json!([names, [0.15, 0.525], 0.3375])
    );
    assert_eq!(plot(&by("calls", "sum"), &facts), json!([names, [30, 105], 135]));
    assert_eq!(
        plot(&by("calls", "average"), &facts),
        json!([names, [15, 52.5], 33.75])
    );
    // The total of an average is over all records, not over groups.
    let uneven = [
        ("2026-12-30", "7", 1),
        ("2026-12-30", "7", 2),
        ("2026-12-30", "8", 9),
    ];
    assert_eq!(
        plot(&by("calls", "average"), &uneven),
        json!([names, [1.5, 9], 4])
    );
    assert_eq!(plot(&by("calls", "average"), &[]), json!([names, [0, 0], 0]));
    let largest = [("2026-12-30", "7", 999_999_999_999_999)];
    assert_eq!(
        plot(&by("opportunities", "sum"), &largest),
        json!([names, [9_999_999_999_999.99, 0], 9_999_999_999_999.99])
    );
}

#[test]
fn averages_of_sums_beyond_64_bits_are_exact() {
    let value = 999_999_999_999_999;
    let mut facts = vec![("2026-12-30", "7", value); 20_000];
    let fields = json!({ "entity": "opportunities", "measure": "average", "groupBy": "user" });
    let names = ["Ana", "Bruno"];
    assert_eq!(
        plot(&fields, &facts),
        json!([names, [9_999_999_999_999.99, 0], 9_999_999_999_999.99])
    );
    facts.push(("2026-12-30", "8", 1));
    let total = json!(9_999_500_024_998.74);
    assert_eq!(
        plot(&fields, &facts),
        json!([names, [9_999_999_999_999.99, 0.01], total])
    );
    let cent = [&[("2026-12-30", "7", 1)][..], &[("2026-12-30", "7", 0); 6]].concat();
    assert_eq!(plot(&fields, &cent)[2], json!(0.01 / 7.0));
}

#[test]
fn filters_match_values_longer_than_a_group() {
    let (one, other) = (format!("{}a", "é".repeat(150)), format!("{}b", "é".repeat(150)));
    let fields = |filter: Value| json!({ "entity": "leads", "measure": "count", "groupBy": "channel", "filters": { "channel": filter } });
    let asked = question(&fields(json!([one, "Ads", other])));
    let (mut cube, mut lead) = (
        Cube::default(),
        crate::lead::Lead::new(LeadId::new(1).unwrap(), at("2027-01-01T12:00:00Z")),
    );
    for channel in [&one, &one, &other] {
        lead.acquisition_channel = Some(channel.clone());
        cube.add(asked.fact(Record::Lead(&lead), Zone::UTC).unwrap());
    }
    let plot = asked.plot(&cube, range("2026-12-30", "2027-01-05"), &known());
    assert_eq!(
        json!([plot.labels, plot.data, plot.total]),
        json!([["Ads", "é".repeat(100)], [0, 3], 3])
    );
}

#[test]
fn a_cube_is_split_by_month_without_loss() {
    let facts = [
        ("2026-12-30", "a", 1),
        ("2026-12-30", "b", 2),
        ("2026-12-31", "a", 3),
        ("2027-01-01", "a", 4),
        ("2027-01-01", "a", 5),
    ];
    let whole = cube(&facts);
    for (most, december) in [(1, 3), (2, 2), (3, 1)] {
        let parts = whole.clone().parts(most);
        assert_eq!(parts["2026-12"].len(), december);
        assert!(
            parts
                .values()
                .flatten()
                .all(|part| (1..=most).contains(&part.len()))
        );
        let mut merged = Cube::default();
        for part in parts.into_values().flatten() {
            merged.merge(serde_json::from_value(json!(part)).unwrap());
        }
        assert_eq!(merged, whole);
    }
}

#[test]
fn amounts_beyond_64_bits_are_kept() {
    let mut sums = Sums {
        count: 1,
        amount: u64::MAX.into(),
    };
    sums.add(sums);
    let text = serde_json::to_string(&sums).unwrap();
    assert_eq!(text, r#"[2,"36893488147419103230"]"#);
    assert_eq!(serde_json::from_str::<Sums>(&text).unwrap(), sums);
}
