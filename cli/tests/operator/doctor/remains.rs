//! Calls and events of forms contain data of their lead.

use std::collections::BTreeSet;

use serde_json::json;

use super::{assert_clean, bench, doctor, found, id, repair};
use crate::support::{call, event};

/// C-24, C-84: what is left of a lead that does not exist is found. A person decides, because the lead may be the fault.
#[test]
fn remains_of_a_missing_lead_are_reported() {
    let bench = bench();
    let form = r#"{"kind":"hook","id":1,"name":"site","token":"t"}
{"kind":"event","id":6,"lead":4,"name":"form.received","form":1,"values":{"email":"ana@x.example"},"createDate":"2026-06-01T10:00:00.000Z"}
"#;
    bench
        .import(&(form.to_owned() + &call(5, Some(4)) + &event(5, 4, 5)))
        .done();
    assert_clean(&bench);
    let of_lead = |lead: u64| {
        [
            ("acme#call#1".to_owned(), id(5)),
            (format!("acme#timeline#{lead}"), format!("event#{}", id(5))),
            ("acme#form-event".to_owned(), format!("{}#{}", id(lead), id(6))),
        ]
    };
    for ((pk, sk), (missing_pk, missing_sk)) in of_lead(4).iter().zip(of_lead(99)) {
        let mut item = bench.item(pk, sk).unwrap();
        bench.delete(pk, sk);
        item["lead"] = json!({ "N": "99" });
        bench.put(&missing_pk, &missing_sk, &item);
    }
    let [call, _, form_event] = of_lead(99);
    let gone = "belongs to lead 99, which does not exist".to_owned();
    let expected = BTreeSet::from([call, form_event].map(|(pk, sk)| (format!("{pk} {sk}"), gone.clone())));
    let before = bench.items();
    for seen in [doctor(&bench), repair(&bench)] {
        assert_eq!((seen.code, found(&seen, false)), (1, expected.clone()));
    }
    assert_eq!(bench.items(), before);
}

/// C-11: an event of a form has a number of the sequence of events.
#[test]
fn numbers_of_events_of_forms_are_not_assigned_again() {
    let bench = bench();
    let item = json!({ "id": { "N": "900" }, "lead": { "N": "4" }, "form": { "N": "1" }, "values": { "S": "{}" },
        "createDate": { "S": "2026-06-01T10:00:00.000Z" } });
    bench.put("acme#form-event", &format!("{}#{}", id(4), id(900)), &item);
    let reason = "the last event is number 2, but there is number 900".to_owned();
    let seen = doctor(&bench);
    assert_eq!(
        found(&seen, false),
        BTreeSet::from([("acme#counter call".to_owned(), reason)])
    );
    repair(&bench).done();
    assert_clean(&bench);
}
