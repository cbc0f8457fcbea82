//! Lines of leads, funnels and opportunities.

use super::*;

#[test]
fn leads() {
    assert_refused(
        Kind::Leads,
        r#"
{ "points": 1e16 } | points: must be from -1e15 to 1e15
{ "userAccess": [8, "9a"] } | userAccess[1]: <NUMBER>
{ "chatapp": "1", "whatsapp": "2" } | whatsapp: must be the same as chatapp
{ "channelRestrictions": { "email": { "disabled": 2 } } } | channelRestrictions.email.disabled: must be true or false
"#,
    );
}

#[test]
fn funnels() {
    assert_refused(
        Kind::Funnels,
        r#"
{ "fields": [{ "type": "text" }] } | fields[0].name: is missing
{ "fields": [{ "name": "" }] } | fields[0].name: must not be empty
{ "fields": [{ "name": "é" }, { "name": "e" }, { "name": "é" }] } | fields[2].name: "é" is there twice
{ "access": { "users": ["7a"] } } | access.users[0]: <NUMBER>, such as access: {"users": [7], "groups": [1]}
{ "access": { "roles": [] } } | access.roles: unknown field
"#,
    );
}

#[test]
fn columns_of_funnels() {
    assert_refused(
        Kind::Funnels,
        r#"
{ "columns": null } | columns: is missing
{ "columns": [] } | columns: must be a list with at least one column, such as columns: ["Entrada", "Proposta"] or [{"id": 1, "name": "Entrada", "sequence": 1}]
{ "columns": {} } | columns: must be a list, such as columns: ["Entrada", "Proposta"] or [{"id": 1, "name": "Entrada", "sequence": 1}]
{ "columns": [{ "name": "A" }] } | columns[0].id: is missing
{ "columns": [{ "id": 31 }] } | columns[0].name: is missing
{ "columns": [{ "id": 31, "name": "A", "color": 3 }] } | columns[0].color: unknown field
{ "columns": [{ "id": 31, "name": "A", "sequence": -1 }] } | columns[0].sequence: <NUMBER>, such as columns: ["Entrada", "Proposta"] or [{"id": 1, "name": "Entrada", "sequence": 1}]
{ "columns": [{ "id": 31, "name": "A" }, { "id": 31, "name": "A" }] } | columns: column 31 is there twice
"#,
    );
}

#[test]
fn opportunities() {
    assert_refused(
        Kind::Opportunities,
        r#"
{ "value": -1 } | value: must be an amount from 0 to 9999999999999.99 with at most two decimals
{ "value": "1,5" } | value: must be an amount from 0 to 9999999999999.99 with at most two decimals
{ "lead_id": 0 } | lead_<ID>
{ "dataLeads": {} } | dataLeads: unknown field
{ "dataCompanyExtra": [{ "id": 1 }] } | dataCompanyExtra[0].companyname: is missing
"#,
    );
}

#[test]
fn sizes_of_opportunities() {
    // In its complete form, each of them has 24 fields.
    let companies = vec![json!({ "id": 1, "companyname": "" }); 1000];
    assert_refused(
        Kind::Opportunities,
        r#"
{ "fields": { " a b": [1] } } | fields. a b: must be text, a number, true, false or null
{ "fields": { "a": "<é*10001>" } } | fields.a: must have at most 10000 characters
"#,
    );
    assert_eq!(
        refused(&with(
            Kind::Opportunities,
            &json!({ "dataCompanyExtra": companies })
        )),
        "the record is larger than 100 KB"
    );
}
