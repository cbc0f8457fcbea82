//! Three instances with the same ids and different texts: every text of one contains its mark.

use indicatif::ProgressBar;
use operator::export::export;
use operator::import::{Source, import};
use serde_json::{Value, json};
use tests::{Wallet, World};

/// The instances. The run chooses the attacker.
pub const SHOPS: [&str; 3] = ["acme", "bravo", "cobre"];
/// An admin, a user who sees only own records, and one who sees all but is not an admin.
pub const USERS: [u64; 3] = [7, 8, 9];
/// An id that no instance has, with as many digits as the ids that only one instance has.
pub const NOWHERE: u64 = 9_900_001;
/// Leads of every instance that are never deleted, and number of those that may be.
pub const KEPT: u64 = 12;
pub const DOOMED: u64 = 28;

/// One of the instances.
pub struct Shop {
    pub name: &'static str,
    /// A text that no other instance's response may contain. No request contains it.
    pub secret: String,
    pub wallets: Vec<Wallet>,
    /// The key of the last meeting booked before the attack.
    pub proof: String,
    /// That meeting.
    pub booked: u64,
    /// Its export after setup.
    pub export: String,
    index: u64,
}

/// The value of a name among the records that every instance has; `nth` selects one of several.
pub fn common(name: &str, nth: u64) -> String {
    match name {
        "$lead" => (1001 + nth % KEPT).to_string(),
        "$doomed" => (1001 + KEPT + nth % DOOMED).to_string(),
        "$opportunity" => (5 + nth % 3).to_string(),
        "$user" => USERS[usize::try_from(nth % 3).expect("an index")].to_string(),
        "$column" => (5 + nth % 2).to_string(),
        "$public" => "pub_5".to_owned(),
        "$key" => "demo".to_owned(),
        _ => "5".to_owned(),
    }
}

impl Shop {
    /// The mark in every text of it; search terms use the part before the secret.
    pub fn searched(&self) -> String {
        format!("MARK-{}", self.name)
    }

    /// An id of any kind that only this instance has.
    pub fn only(&self) -> u64 {
        7_000_001 + 100_000 * self.index
    }

    /// The value of a name among the records that only this instance has.
    pub fn only_one(&self, name: &str) -> String {
        match name {
            "$public" => format!("pub_{}", self.name),
            "$key" => self.name.to_owned(),
            _ => self.only().to_string(),
        }
    }

    /// The last digits of the telephone numbers of its people.
    pub fn phone(&self) -> String {
        format!("55119{0}{0}{0}{0}0001", 6 + self.index)
    }

    /// The secret of its call webhook.
    pub fn webhook_secret(&self) -> String {
        format!("segredo-{}", self.name)
    }

    /// The token of its form.
    pub fn form_token(&self) -> String {
        format!("token-{}", self.name)
    }

    /// Creates it with its records.
    pub async fn open(world: &World, index: u64, secret: String) -> Self {
        let name = SHOPS[usize::try_from(index).expect("an index")];
        let mut shop = Self {
            name,
            secret,
            wallets: Vec::new(),
            proof: String::new(),
            booked: 0,
            export: String::new(),
            index,
        };
        let operator = world.operator(name);
        operator.create_instance().await.expect("the instance is new");
        let source = Source::spool(shop.lines().as_bytes()).expect("a source");
        let report = import(&operator, &source, false, &ProgressBar::hidden()).await;
        let report = report.expect("an import");
        assert!(report.refused.is_empty(), "{:?}", report.refused);
        for user in USERS {
            shop.wallets.push(world.wallet_of(name, user).await);
        }
        shop
    }

    /// Its complete export.
    pub async fn exported(&self, world: &World) -> String {
        let mut text = Vec::new();
        let done = export(&world.operator(self.name), &mut text, &ProgressBar::hidden()).await;
        done.expect("an export");
        String::from_utf8(text).expect("UTF-8")
    }

    fn lines(&self) -> String {
        let mut lines = self.staff();
        for id in 1..=KEPT + DOOMED {
            lines.push(self.lead(1000 + id));
        }
        lines.push(self.lead(self.only()));
        for (id, key, public) in [
            (5, "demo".to_owned(), "pub_5".to_owned()),
            (self.only(), self.name.to_owned(), format!("pub_{}", self.name)),
        ] {
            lines.extend(self.selling(id));
            lines.extend(self.service(id));
            lines.push(self.calendar(id, &key, &public));
            lines.push(
                json!({ "kind": "meeting", "id": id, "calendarId": id, "leadId": 1001, "userId": 7,
                "date": "2026-12-01T09:00:00Z", "endDate": "2026-12-01T09:30:00Z",
                "formData": { "assunto": self.text("assunto") }, "properties": { "nota": self.text("nota") } }),
            );
        }
        let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
        lines.join("\n")
    }

    fn text(&self, what: &str) -> String {
        format!("{what} MARK-{}-{}", self.name, self.secret)
    }

    fn email(&self, id: u64) -> String {
        format!("p{id}@mark-{}-{}.example", self.name, self.secret)
    }

    fn staff(&self) -> Vec<Value> {
        let everything = json!({ "leads": "all", "opportunities": "all", "wonLost": true, "deleteLeads": true,
            "archiveLeads": true, "editOpportunities": true, "calendars": true, "tickets": true, "reports": true });
        let own =
            json!({ "leads": "own", "opportunities": "own", "wonLost": false, "editOpportunities": true });
        let mut lines = vec![
            json!({ "kind": "setting", "name": "voip_webhook_secret", "value": self.webhook_secret() }),
            json!({ "kind": "hook", "id": 1, "name": "site", "token": self.form_token() }),
            json!({ "kind": "department", "id": 1, "name": self.text("Comercial") }),
            json!({ "kind": "group", "id": 1, "name": self.text("Todos"), "permissions": everything }),
            json!({ "kind": "group", "id": 2, "name": self.text("Próprios"), "permissions": own }),
            json!({ "kind": "profile", "number": self.phone().replace("0001", "0002"), "name": self.text("Perfil") }),
        ];
        if self.index == 2 {
            lines.push(json!({ "kind": "setting", "name": "credential_placement", "value": "anywhere" }));
            lines.push(json!({ "kind": "setting", "name": "page_base", "value": 0 }));
        }
        for (id, group, admin) in [
            (7, 1, true),
            (8, 2, false),
            (9, 1, false),
            (self.only(), 1, false),
        ] {
            lines.push(json!({ "kind": "user", "id": id, "name": self.text("Pessoa"), "lastName": self.text("Da Casa"),
                "email": self.email(id), "department": 1, "group": group, "admin": admin }));
        }
        for id in [1, self.only()] {
            lines.push(json!({ "kind": "tag", "id": id, "tag": self.text("Quente") }));
            lines.push(json!({ "kind": "lossReason", "id": id, "name": self.text("Preço") }));
            lines.push(
                json!({ "kind": "company", "id": id, "companyname": self.text("Firma"),
                "companyemail": self.email(id) }),
            );
        }
        lines
    }

    fn lead(&self, id: u64) -> Value {
        json!({ "kind": "lead", "id": id, "firstname": self.text("Maria"), "lastname": self.text("Silva"),
            "email": self.email(id), "mobile": if id == 1001 { json!(self.phone()) } else { Value::Null },
            "owner": 7 + id % 3, "company": 1, "city": self.text("Curitiba"), "filial": self.text("filial"),
            "initial_password": self.text("senha"), "utmTags": [self.text("campanha")], "archived": id % 10 == 9,
            "createDate": "2026-03-11T12:00:00Z", "lastActive": "2026-03-11T12:00:00Z" })
    }

    /// A funnel with three opportunities, and a report of it.
    fn selling(&self, id: u64) -> Vec<Value> {
        let field = "Origem do Lead";
        let mut lines = vec![
            json!({ "kind": "funnel", "id": id, "name": self.text("Vendas"),
                "columns": [{ "id": id, "name": self.text("Entrada"), "sequence": 1 },
                    { "id": id + 1, "name": self.text("Fim"), "sequence": 2 }],
                "fields": [{ "name": field, "type": "text" }] }),
            json!({ "kind": "report", "id": id, "name": self.text("Etapas"), "entity": "opportunities",
                "measure": "count", "groupBy": "column" }),
        ];
        for (nth, status) in [(0, "open"), (1, "open"), (2, "gain")] {
            lines.push(
                json!({ "kind": "opportunity", "id": id + nth, "title": self.text("Pedido"), "value": "10.50",
                "crm_id": id, "crm_column": id, "lead_id": 1001 + nth, "user": 7 + nth, "status": status,
                "fields": { field: self.text("Google") }, "campaign": self.text("Inverno"),
                "gain_date": if status == "gain" { json!("2026-11-01T00:00:00Z") } else { Value::Null },
                "createDate": format!("2026-11-0{}T00:00:00Z", nth + 1) }),
            );
        }
        lines
    }

    /// A ticket with a file, and a call with its event.
    fn service(&self, id: u64) -> Vec<Value> {
        vec![
            json!({ "kind": "ticket", "id": id, "lead_relation": 1001, "attendant": 8, "name": self.text("Atendimento"),
                "attendantName": self.text("Bruno"), "name_contact": self.text("Contato"), "type": "chatapp",
                "obs": self.text("obs"), "recipientid": self.phone(), "createDate": "2026-05-01T10:00:00Z" }),
            json!({ "kind": "file", "ticket": id, "type": "audio", "url": self.text("https://media.example/"),
                "mimetype": "audio/ogg", "store_url": self.text("https://files.example/"),
                "store_path": format!("s/{id}/{}", self.secret), "ext": "ogg" }),
            json!({ "kind": "call", "id": id, "user": 8, "leadPhone": self.phone(), "type": "INCOMING",
                "status": "COMPLETE", "duration": 5, "record": false, "service": "x", "lead": 1001,
                "leadName": self.text("Maria"), "description": self.text("ligou"), "createDate": "2026-06-01T10:00:00Z" }),
        ]
    }

    fn calendar(&self, id: u64, key: &str, public: &str) -> Value {
        let hours = json!([["09:00", "18:00"]]);
        json!({ "kind": "calendar", "id": id, "name": self.text("Agenda"), "keyName": key, "publicId": public,
            "isPublished": true, "userId": 7, "timezone": "UTC", "durationMinutes": 30,
            "hours": { "mon": hours, "tue": hours, "wed": hours, "thu": hours, "fri": hours },
            "createDate": "2026-01-05T12:00:00Z", "updateDate": "2026-01-05T12:00:00Z" })
    }
}
