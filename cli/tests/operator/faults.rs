//! Lines with several faults, misspelt fields, and custom fields (C-105).

use serde_json::json;

use crate::import::{bench, lead, refused};

#[test]
fn all_faults_of_a_line_are_named() {
    let bench = bench();
    let lines = [
        lead(1, r#","owner":98,"company":5,"tags":[4],"userAccess":[99]"#),
        lead(2, r#","points":"many","archived":"sim","email":true"#),
        r#"{"kind":"user","id":"x","name":true,"emial":"a"}"#.to_owned() + "\n",
        r#"{"kind":"opportunity","id":1,"title":"","value":-1,"status":"won"}"#.to_owned() + "\n",
        r#"{"kind":"opportunity","id":2,"title":"A","crm_id":9,"crm_column":1,"user":98,"lead_id":77}"#
            .to_owned()
            + "\n",
    ];
    let answer = bench.import(&lines.concat());
    assert_eq!(answer.code, 1);
    assert_eq!(
        refused(&answer.document()),
        [
            "line 1: owner: user 98 does not exist; company: company 5 does not exist; userAccess: user 99 does not exist; \
             tags: tag 4 does not exist",
            "line 2: points: must be a number; archived: must be true or false; email: must be text",
            "line 3: id: must be a whole number that is not negative; name: must be text; emial: unknown field, did you mean \
             email?",
            "line 4: value: must be an amount from 0 to 9999999999999.99 with at most two decimals; status: must be open or gain \
             or lost; crm_column: is missing; crm_id: is missing; user: is missing; title: must not be empty",
            "line 5: crm_id: funnel 9 does not exist; user: user 98 does not exist; lead_id: lead 77 does not exist",
        ]
    );
}

#[test]
fn the_custom_fields_that_were_found_are_listed() {
    let bench = bench();
    let funnel = r#"{"kind":"funnel","id":3,"name":"A","columns":[{"id":31,"name":"B"}]}"#;
    let opportunity = r#"{"kind":"opportunity","id":1,"title":"A","crm_id":3,"crm_column":31,"user":7,"fields":{"Ori\u202egem":"x"}}"#;
    let lines = [
        lead(1, r#","fistname":"Ana","cpf":"1""#),
        lead(2, r#","cpf":"2""#),
        lead(3, r#","cpf":"3","owner":99"#),
        format!("{funnel}\n{opportunity}\n"),
    ]
    .concat();
    let document = bench.import(&lines).document();
    assert_eq!(
        document["customFields"],
        json!([
            { "kind": "lead", "name": "cpf", "lines": 3 },
            { "kind": "lead", "name": "fistname", "lines": 1, "didYouMean": "firstname" },
            { "kind": "opportunity", "name": "Ori\u{202e}gem", "lines": 1 },
        ])
    );
    let told = bench.funil_reading("import --instance acme -", lines.as_bytes());
    // For people without the direction mark, which could change what a terminal shows.
    let expected = "line 3: owner: user 99 does not exist\ncustom field of lead: cpf (3 lines)\n\
                    custom field of lead: fistname (1 lines); did you mean firstname?\n\
                    custom field of opportunity: Origem (1 lines)\nmend the refused lines and import the file again\n";
    assert_eq!(told.err, expected);
}
