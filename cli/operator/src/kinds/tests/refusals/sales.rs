//! Lines of leads, funnels and opportunities.

use super::*;

#[test]
fn leads() {
    let access = format!("userAccess[1]: {NUMBER}");
    let time = format!("lastActive: {TIME}");
    assert_refused(
        Kind::Leads,
        [
            (json!({ "id": null }), "id: is missing"),
            (json!({ "points": "4" }), "points: must be a number"),
            (json!({ "points": 1e16 }), "points: must be from -1e15 to 1e15"),
            (json!({ "utmTags": {} }), "utmTags: must be a list"),
            (json!({ "userAccess": [8, "9"] }), &access),
            (
                json!({ "chatapp": "1", "whatsapp": "2" }),
                "whatsapp: must be the same as chatapp",
            ),
            (json!({ "lastActive": 5 }), &time),
            (
                json!({ "channelRestrictions": { "email": { "disabled": 1 } } }),
                "channelRestrictions.email.disabled: must be true or false",
            ),
        ],
    );
}

#[test]
fn funnels() {
    let user = format!("access.users[0]: {NUMBER}");
    assert_refused(
        Kind::Funnels,
        [
            (json!({ "id": null }), "id: is missing"),
            (json!({ "name": null }), "name: is missing"),
            (json!({ "name": 5 }), "name: must be text"),
            (
                json!({ "fields": [{ "type": "text" }] }),
                "fields[0].name: is missing",
            ),
            (
                json!({ "fields": [{ "name": "" }] }),
                "fields[0].name: must not be empty",
            ),
            (
                json!({ "fields": [{ "name": "é" }, { "name": "e" }, { "name": "é" }] }),
                "fields[2].name: \"é\" is there twice",
            ),
            (json!({ "access": { "users": ["7"] } }), &user),
            (
                json!({ "access": { "roles": [] } }),
                "access.roles: unknown field",
            ),
        ],
    );
}

#[test]
fn columns_of_funnels() {
    let sequence = format!("columns[0].sequence: {NUMBER}");
    let column = json!({ "id": 31, "name": "A" });
    let columns = |rest: &Value| {
        let mut column = column.clone();
        column
            .as_object_mut()
            .unwrap()
            .extend(rest.as_object().unwrap().clone());
        json!({ "columns": [column] })
    };
    assert_refused(
        Kind::Funnels,
        [
            (json!({ "columns": null }), "columns: is missing"),
            (json!({ "columns": {} }), "columns: must be a list"),
            (
                json!({ "columns": [{ "name": "A" }] }),
                "columns[0].id: is missing",
            ),
            (
                json!({ "columns": [{ "id": 31 }] }),
                "columns[0].name: is missing",
            ),
            (columns(&json!({ "color": 3 })), "columns[0].color: unknown field"),
            (columns(&json!({ "sequence": -1 })), &sequence),
            (
                json!({ "columns": [column, column] }),
                "columns: column 31 is there twice",
            ),
        ],
    );
}

#[test]
fn opportunities() {
    let amount = "value: must be an amount from 0 to 9999999999999.99 with at most two decimals";
    let (date, number) = (format!("updateDate: {TIME}"), format!("crm_column: {NUMBER}"));
    assert_refused(
        Kind::Opportunities,
        [
            (json!({ "title": null }), "title: is missing"),
            (json!({ "value": -1 }), amount),
            (json!({ "value": "1,5" }), amount),
            (json!({ "crm_id": null }), "crm_id: is missing"),
            (json!({ "crm_column": "31" }), &number),
            (json!({ "lead_id": 0 }), &format!("lead_{ID}")),
            (json!({ "user": null }), "user: is missing"),
            (json!({ "status": "won" }), "status: must be open or gain or lost"),
            (json!({ "archived": 2 }), "archived: must be 0 or 1"),
            (json!({ "archived": "1" }), "archived: must be 0 or 1"),
            (
                json!({ "service_permission": "groups" }),
                "service_permission: must be all or users or departments",
            ),
            (json!({ "updateDate": "today" }), &date),
            (json!({ "files": {} }), "files: must be a list"),
            (json!({ "dataLeads": {} }), "dataLeads: unknown field"),
            (
                json!({ "dataCompanyExtra": [{ "id": 1 }] }),
                "dataCompanyExtra[0].companyname: is missing",
            ),
        ],
    );
}

#[test]
fn sizes_of_opportunities() {
    // Written out, each of them has 24 fields.
    let companies = vec![json!({ "id": 1, "companyname": "" }); 1000];
    assert_refused(
        Kind::Opportunities,
        [
            (json!({ "title": "" }), "title: must not be empty"),
            (
                json!({ "title": "é".repeat(256) }),
                "title: must have at most 255 characters",
            ),
            (json!({ "fields": [] }), "fields: must be an object"),
            (
                json!({ "fields": { " a b": [1] } }),
                "fields. a b: must be text, a number, true, false or null",
            ),
            (
                json!({ "fields": { "a": "é".repeat(10_001) } }),
                "fields.a: must have at most 10000 characters",
            ),
            (
                json!({ "dataCompanyExtra": companies }),
                "the record is larger than 100 KB",
            ),
        ],
    );
}
