//! Contents of records and entries, and derived items.

#![expect(clippy::too_many_lines, reason = "an opportunity has as many fields")]

use serde_json::json;

use super::*;
use crate::ids::{ColumnId, CompanyId, DepartmentId, FunnelId, LeadId, UserId};
use crate::instance::InstanceName;
use crate::money::Cents;
use crate::opportunity::{ServicePermission, Status};
use crate::store::leads::{Details, LeadRecord, LeadState};
use crate::time::Timestamp;
use serde_json::Map;

fn time(text: &str) -> Timestamp {
    Timestamp::parse(text).unwrap()
}

/// An opportunity with something in every field.
pub fn full() -> Opportunity {
    let text = |text: &str| Some(text.to_owned());
    let place = (FunnelId::new(3).unwrap(), ColumnId::new(31).unwrap());
    let mut fields = Map::new();
    fields.insert(
        " Número do pedido ".to_owned(),
        serde_json::from_str("1e300").unwrap(),
    );
    fields.insert(String::new(), json!("\u{0}\"😀"));
    let company = json!({ "id": 2, "companyname": "Ótica Horizonte", "points": 2.5 });
    let mut opportunity = Opportunity {
        title: "Pedido".to_owned(),
        value: Cents::new(999_999_999_999_999).unwrap(),
        sequence: 7,
        loss_reason: text("Preço"),
        gain_reason: text(""),
        expected_close_date: Some(time("2026-12-04T21:00:00Z")),
        sale_channel: text("loja"),
        campaign: text("natal"),
        last_column_change: Some(time("2026-09-05T00:00:00Z")),
        await_column_approved: json!(true),
        await_column_approved_user: json!(7),
        reject_appro: json!({ "by": [7] }),
        reject_appro_desc: json!("não"),
        archived: true,
        service_permission: ServicePermission::Departments,
        service_permission_user: UserId::new(8),
        service_permission_department: DepartmentId::new(2),
        service_permission_users: vec![UserId::new(8).unwrap()],
        service_permission_users_select: vec![json!({ "id": 8 })],
        service_permission_departments: vec![DepartmentId::new(1).unwrap()],
        service_permission_departments_select: vec![json!(1)],
        data_company_extra: vec![serde_json::from_value(company).unwrap()],
        fields,
        files: vec![json!("a.pdf")],
        files_data: vec![json!({ "url": "https://files.example/a.pdf" })],
        conf_installment: vec![json!(1)],
        ..Opportunity::new(
            OpportunityId::new(30).unwrap(),
            place,
            LeadId::new(1001).unwrap(),
            UserId::new(8).unwrap(),
            time("2026-09-04T09:30:00Z"),
        )
    };
    opportunity.change_status(Status::Gain, time("2026-09-06T00:00:00Z"));
    opportunity.change_status(Status::Open, time("2026-09-07T00:00:00Z"));
    opportunity
}

pub fn lead() -> LeadRecord {
    let company = json!({ "id": 1, "companyname": "Padaria Estrela", "companynemployees": "10-50" });
    let mut custom = Map::new();
    custom.insert("filial".to_owned(), json!("Apucarana"));
    LeadRecord::new(LeadState {
        lead: Lead {
            firstname: Some("Antônia".to_owned()),
            company: CompanyId::new(1),
            initial_password: Some("s3nh4".to_owned()),
            last_active: time("2026-05-01T00:00:00Z"),
            utm_tags: vec![json!({ "utm_source": "ads" })],
            custom,
            ..Lead::new(LeadId::new(1001).unwrap(), time("2026-03-11T12:00:01.123Z"))
        },
        company: Some(serde_json::from_value(company).unwrap()),
        unlinked: false,
        details: Details::default(),
    })
}

#[test]
fn records_round_trip() {
    let card = OpportunitySnapshot::of(full(), Some(&lead()));
    let bare = OpportunitySnapshot::of(
        Opportunity {
            lead_id: None,
            ..full()
        },
        None,
    );
    for (card, edited, nonce) in [(card, true, Some("n".to_owned())), (bare, false, None)] {
        let record = OpportunityRecord {
            version: 3,
            edited,
            nonce,
            ..Stored::new(card)
        };
        let item = record.encode().unwrap();
        assert_eq!(OpportunityRecord::decode(item).unwrap(), record);
    }
}

/// C-21, C-33: an opportunity embeds the lead's fixed fields, and the password for admins alone.
#[test]
fn a_card_has_no_custom_fields_of_the_lead() {
    let card = OpportunitySnapshot::of(full(), Some(&lead()));
    let embedded = card.lead.clone().unwrap();
    assert!(embedded.custom.is_empty());
    assert_eq!(embedded.initial_password.as_deref(), Some("s3nh4"));
    assert_eq!(card.company, lead().company);
    let mut plain = card;
    plain.hide_secrets();
    assert_eq!(plain.lead.unwrap().initial_password, None);
}

#[test]
fn derived_items() {
    let instance = InstanceName::parse("acme").unwrap();
    let keys = Keys::of(&instance);
    let card = OpportunitySnapshot::of(full(), Some(&lead()));
    let derived = Stored::new(card.clone()).derived(keys).unwrap();
    let places: Vec<_> = derived.items.keys().map(ToString::to_string).collect();
    let place = "251613786599999#999999999999969";
    assert_eq!(
        places,
        [
            format!("acme#board#3#31#1#-#- {place}"),
            format!("acme#board#3#31#1#-#open {place}"),
            format!("acme#board#3#31#1#8#- {place}"),
            format!("acme#board#3#31#1#8#open {place}"),
            "acme#lead-opportunity#1001 000000000000030".to_owned(),
            "acme#title#3#p pedido#000000000000030".to_owned(),
        ]
    );
    for (key, entry) in derived.items.iter().take(4) {
        let entry = key.complete(entry.clone());
        assert_eq!(OpportunitySnapshot::read(&entry).unwrap(), card);
        let alone = OpportunitySnapshot::read_opportunity(&entry).unwrap();
        assert_eq!(alone, card.opportunity);
    }
    let class = BoardClass::of(&card.opportunity).name();
    assert!(class.starts_with("8#open#"), "{class}");
    let totals: Vec<_> = derived
        .totals
        .iter()
        .map(|(key, share)| (key.to_string(), share.numbers.clone()))
        .collect();
    let numbers = |numbers: &[(&str, i64)]| {
        numbers
            .iter()
            .map(|(name, by)| ((*name).to_owned(), *by))
            .collect()
    };
    let worth = 999_999_999_999_999;
    assert_eq!(
        totals,
        [
            (
                "acme#board-rank#3#31#1 2912196#0".to_owned(),
                numbers(&[("c.8#open#restricted", worth), ("n.8#open#restricted", 1)])
            ),
            (
                format!("acme#board-rank-restricted#3#31#1 2912196#{class}"),
                numbers(&[("c", worth), ("n", 1)])
            ),
            (
                "acme#board-total#3#1 column#31#-".to_owned(),
                numbers(&[("c.open#restricted", worth), ("n.open#restricted", 1)])
            ),
            (
                "acme#board-total#3#1 user#8#3#-".to_owned(),
                numbers(&[("c.31#open#restricted", worth), ("n.31#open#restricted", 1)])
            ),
            (
                format!("acme#board-total-restricted#3#1 31#{class}"),
                numbers(&[("c", worth), ("n", 1)])
            ),
        ]
    );
}

/// C-82: opportunities with different service permissions are in different classes.
#[test]
fn classes_differ_by_visibility() {
    let class = |change: fn(&mut Opportunity)| {
        let mut opportunity = full();
        change(&mut opportunity);
        BoardClass::of(&opportunity).name()
    };
    let narrowed = class(|_| {});
    assert_eq!(
        class(|one| one.service_permission = ServicePermission::All),
        "8#open"
    );
    assert_eq!(class(|one| one.service_permission_users.clear()), narrowed);
    assert_ne!(class(|one| one.service_permission_departments.clear()), narrowed);
    assert_ne!(
        class(|one| one.service_permission = ServicePermission::Users),
        narrowed
    );
}
