//! The initial instance: lines that the service imports and the reference reads.

use serde_json::{Value, json};

/// The users, with different permissions.
pub const USERS: [u64; 7] = [7, 8, 9, 10, 11, 12, 13];
/// The columns by funnel.
pub const FUNNELS: [(u64, &[u64]); 2] = [(3, &[31, 32]), (4, &[41])];

/// The custom fields of funnel 3.
pub const FIELDS: [&str; 2] = ["Origem", " Número do pedido "];

/// The lines. Department 2 is below 1; group `n` is that of user `n`.
pub fn lines() -> Vec<Value> {
    let mut lines = vec![
        json!({ "kind": "setting", "name": "credential_placement", "value": "anywhere" }),
        json!({ "kind": "setting", "name": "timezone", "value": "America/Sao_Paulo" }),
        json!({ "kind": "department", "id": 1, "name": "Comercial" }),
        json!({ "kind": "department", "id": 2, "name": "Vendas", "parent": 1 }),
        json!({ "kind": "department", "id": 3, "name": "Suporte" }),
        json!({ "kind": "funnel", "id": 3, "name": "Vendas", "fields": FIELDS.map(|name| json!({ "name": name, "type": "text" })),
            "columns": [{ "id": 32, "name": "Fim", "sequence": 2 }, { "id": 31, "name": "Entrada", "sequence": 1 }] }),
        json!({ "kind": "funnel", "id": 4, "name": "Recompra", "fields": [],
            "columns": [{ "id": 41, "name": "Contato", "sequence": 1 }],
            "access": { "users": [12], "departments": [1], "groups": [] } }),
        json!({ "kind": "tag", "id": 10, "tag": "Quente", "color": "#e53935" }),
        json!({ "kind": "tag", "id": 9, "tag": "Parceiro" }),
        json!({ "kind": "lossReason", "id": 2, "name": "Preço" }),
        json!({ "kind": "hook", "id": 1, "name": "contato", "token": "tok-contato", "unique": ["phone", "email"], "owner": 8,
            "tags": [9], "fields": [{ "name": "nome", "to": "firstname", "required": true }, { "name": "email" },
            { "name": "fone", "to": "phone" }, { "name": "whatsapp" }, { "name": "cidade", "to": "city" },
            { "name": "cor" }] }),
        json!({ "kind": "hook", "id": 2, "name": "leve", "token": "tok-leve", "unique": ["email"], "fields": [],
            "opportunity": { "column": 31, "title": "Pedido do site", "value": "12.50" } }),
        json!({ "kind": "hook", "id": 3, "name": "fechado", "token": "tok-fechado", "active": false, "fields": [] }),
        json!({ "kind": "profile", "number": "551187650001", "name": "Zé Ribeiro",
            "photoUrl": "https://photos.example/ze.jpg" }),
        json!({ "kind": "automation", "id": 1, "name": "Ligou", "trigger": "leadPhoneCall", "event": "received",
            "filters": {}, "active": true, "actions": [{ "type": "addPoints", "points": 5 },
            { "type": "createOpportunity", "funnel": 4, "column": 41, "title": "Ligou" }] }),
    ];
    lines.extend(people());
    lines.extend(leads());
    lines.extend(restricted_opportunities());
    lines.extend(calendars());
    lines.extend(reports());
    lines.extend(service());
    lines
}

fn people() -> impl Iterator<Item = Value> {
    // leads, opportunities, wonLost, deleteLeads, archiveLeads, editOpportunities, calendars, tickets
    [
        (7, 1, "all", "all", [true; 6]),
        (8, 2, "own", "own", [false, false, true, true, true, true]),
        (9, 2, "department", "department", [true, true, false, true, true, false]),
        (10, 1, "department", "all", [false, true, true, true, true, true]),
        (11, 3, "all", "none", [true, true, true, true, false, true]),
        (12, 3, "none", "all", [true, true, true, false, true, true]),
        (13, 1, "all", "all", [true; 6]),
    ]
    .into_iter()
    .flat_map(|(id, department, leads, opportunities, flags)| {
        let [won, delete, archive, edit, calendars, tickets] = flags;
        let permissions = json!({ "leads": leads, "opportunities": opportunities, "wonLost": won, "deleteLeads": delete,
            "archiveLeads": archive, "editLeads": id != 10, "editOpportunities": edit, "calendars": calendars, "tickets": tickets,
            "reports": id != 11 });
        [
            json!({ "kind": "group", "id": id, "name": format!("Grupo {id}"), "permissions": permissions }),
            json!({ "kind": "user", "id": id, "name": format!("Pessoa{id}"), "lastName": "Lima", "email": null,
                "department": department, "group": id, "admin": id == 7, "active": true }),
        ]
    })
}

fn leads() -> impl Iterator<Item = Value> {
    let names = [
        ("Maria", "Silva"),
        ("João", "Pereira"),
        ("Antônia", "Gonçalves"),
        ("José", "da Conceição"),
        ("Luiz", "Araújo"),
        ("Márcia", "Nóbrega"),
        ("Pedro", "Sá"),
        ("Bia", "Çelik"),
        ("Rui", "Müller"),
        ("Tiago", "Peçanha"),
    ];
    (1001..).zip(names).map(|(id, (firstname, lastname))| {
        let owner = if id % 5 == 0 { Value::Null } else { json!(7 + id % 6) };
        let mut line = json!({ "kind": "lead", "id": id, "firstname": firstname, "lastname": lastname,
            "email": format!("lead{id}@example.com"), "owner": owner, "archived": id == 1010, "filial": "Apucarana",
            "initial_password": "s3nh4", "createDate": "2026-03-11T12:00:00.000Z",
            "lastActive": "2026-03-11T12:00:00.000Z" });
        match id {
            1001 => line["mobile"] = json!("+55 11 97326-3471"),
            1002 => line["phone"] = json!("554136782554"),
            1003 => line["userAccess"] = json!([8, 10]),
            1004 => {
                line["departmentAccess"] = json!([1]);
                line["tags"] = json!([9, 10]);
            }
            1005 => {
                line["departmentAccess"] = json!([1]);
                line["ignoreSubDepartments"] = json!(true);
            }
            // The same line twice, once without its ninth digit; and one number of two leads.
            1006 => line["chatapp"] = json!("551171629072"),
            1007 => line["phone"] = json!("(11) 97162-9072"),
            1008 => line["tags"] = json!([9]),
            1009 => line["mobile"] = json!("41 3678-2554"),
            _ => {}
        }
        line
    })
}

/// Service permissions come only with an import: every third is for some users, every fourth for a department (C-82).
fn restricted_opportunities() -> impl Iterator<Item = Value> {
    (1..=24).map(|id| {
        let (column, user) = (31 + id % 2, 7 + id % 7);
        let day = format!("2026-01-{:02}T12:00:00.000Z", 1 + id / 2);
        let mut line = json!({ "kind": "opportunity", "id": id, "title": format!("Pedido {id:03}"), "value": "10.01",
            "crm_id": 3, "crm_column": column, "lead_id": 1001 + id % 9, "user": user, "createDate": day,
            "updateDate": day });
        if id % 3 == 0 {
            line["service_permission"] = json!("users");
            line["service_permission_users"] = json!([8, 11, 13]);
        } else if id % 4 == 0 {
            line["service_permission"] = json!("departments");
            line["service_permission_departments"] = json!([1 + id % 3]);
        }
        line
    })
}

/// One without horizon and notice; one of another zone with both, of the same user; one not published; and one of that user that
/// shares no time.
fn calendars() -> impl Iterator<Item = Value> {
    let calendar = |id: u64, name: &str, changes: Value| {
        let mut line = json!({ "kind": "calendar", "id": id, "name": name, "publicId": format!("pub_{id}"),
            "isPublished": true, "userId": 7, "bufferMinutes": 10, "timezone": "UTC", "durationMinutes": 30,
            "createDate": "2026-01-05T12:00:00.000Z", "updateDate": "2026-02-05T12:00:00.000Z" });
        for (name, value) in changes.as_object().expect("an object") {
            line[name] = value.clone();
        }
        line
    };
    let mornings = json!([["09:00", "12:00"]]);
    let halves = json!([["08:00", "10:00"], ["14:00", "16:30"]]);
    let meeting = |id: u64, from: &str, until: &str, status: &str| {
        json!({ "kind": "meeting", "id": id, "calendarId": 5, "date": from, "endDate": until, "leadId": 1001,
            "userId": 7, "status": status, "formData": { "assunto": "obra" }, "properties": {},
            "createDate": "2026-11-01T12:00:00.000Z", "updateDate": "2026-11-01T12:00:00.000Z" })
    };
    [
        calendar(
            5,
            "Demonstração",
            json!({ "keyName": "demo", "hours": { "mon": mornings, "tue": mornings, "wed": mornings,
                "thu": mornings, "fri": mornings } }),
        ),
        calendar(
            6,
            "Visita",
            json!({ "keyName": "visita", "timezone": "America/Sao_Paulo", "durationMinutes": 45,
                "bufferMinutes": 0, "minimumNoticeMinutes": 120, "horizon": { "type": "days", "days": 6 },
                "hours": { "mon": halves, "wed": mornings, "sat": halves } }),
        ),
        calendar(
            7,
            "Fechada",
            json!({ "keyName": "fechada", "isPublished": false, "hours": { "mon": mornings } }),
        ),
        calendar(
            8,
            "Sala",
            json!({ "keyName": "sala", "sharesTime": false, "bufferMinutes": 0,
                "hours": { "mon": mornings, "tue": mornings } }),
        ),
        // Off the grid, so it takes two starts, one by the buffer alone; and one that takes none.
        meeting(
            1,
            "2026-11-24T09:35:00.000Z",
            "2026-11-24T10:05:00.000Z",
            "scheduled",
        ),
        meeting(
            2,
            "2026-11-24T11:00:00.000Z",
            "2026-11-24T11:30:00.000Z",
            "canceled",
        ),
    ]
    .into_iter()
}

fn reports() -> impl Iterator<Item = Value> {
    [
        json!({ "kind": "report", "id": 1, "name": "Por situação", "entity": "opportunities", "measure": "count",
            "groupBy": "status" }),
        json!({ "kind": "report", "id": 2, "name": "Ganhas", "type": "pie", "entity": "opportunities", "measure": "sum",
            "field": "value", "groupBy": "column", "filters": { "status": "gain" } }),
        json!({ "kind": "report", "id": 3, "name": "Contatos", "type": "line", "entity": "leads", "measure": "count",
            "groupBy": "day" }),
        json!({ "kind": "report", "id": 4, "name": "Ligações", "entity": "calls", "measure": "count",
            "groupBy": "type" }),
    ]
    .into_iter()
    .map(|mut line| {
        line["createDate"] = json!("2026-01-01T00:00:00.000Z");
        line["updateDate"] = json!("2026-02-01T00:00:00.000Z");
        line
    })
}

/// Three tickets, two of one lead, each with a file.
fn service() -> impl Iterator<Item = Value> {
    [(501, 1001), (502, 1002), (503, 1001)].into_iter().flat_map(|(id, lead)| {
        let day = format!("2026-05-{:02}T10:00:00.000Z", id - 500);
        [
            json!({ "kind": "ticket", "id": id, "lead_relation": lead, "attendant": 8, "name": "Atendimento",
                "lead_name": if id == 503 { json!("Maria Silva") } else { Value::Null }, "name_contact": "Contato", "type": "chatapp", "recipientid": "5511", "accid": "acc1",
                "createDate": day, "updateDate": day }),
            json!({ "kind": "file", "ticket": id, "type": "audio", "url": format!("https://media.example/{id}"),
                "mimetype": "audio/ogg", "store_url": format!("https://files.example/{id}"),
                "store_path": format!("s/{id}"), "ext": "ogg" }),
        ]
    })
}
