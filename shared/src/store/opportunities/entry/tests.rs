//! The text of entries, and what is read from it.

use proptest::prelude::*;
use serde_json::json;

use super::super::tests::{full, lead};
use super::*;
use crate::instance::InstanceName;
use crate::store::entity::{Entity as _, Stored};
use crate::store::key::{Key, Keys};

/// The entry of a snapshot in the list of all opportunities of its column, with its key.
fn entry(snapshot: &OpportunitySnapshot) -> Item {
    let instance = InstanceName::parse("acme").unwrap();
    let record = Stored::new(snapshot.clone());
    let derived = OpportunitySnapshot::derived(&record, &Item::new(), Keys::of(&instance)).unwrap();
    let (key, entry) = derived.items.into_iter().next().unwrap();
    assert!(key.pk.ends_with("#-#-"), "{key}");
    key.complete(entry)
}

fn text(entry: &Item) -> &str {
    entry[TEXT].as_s().unwrap()
}

/// The snapshot of an entry with this text, of opportunity 30 in column 31.
fn read(text: &str) -> Result<OpportunitySnapshot, StoreError> {
    let key = Key::new("acme#board#3#31#1#8#-", "251613786599999#999999999999969");
    snapshot(&key.complete(Item::from([(TEXT.to_owned(), s(text))])))
}

const LEAD: &str = r#"{ "id": 1001, "firstname": "Antônia", "lastname": "Çelik", "email": "a@example.com", "phone": "1",
    "chatapp": "2", "mobile": "3", "points": 2.5, "owner": 8, "stage": 4, "photoUrl": "p", "company": 1,
    "userAccess": [8], "departmentAccess": [2], "ignoreSubDepartments": true, "address": "Rua", "city": "Curitiba",
    "state": "PR", "country": "Brazil", "zipcode": "80000", "timezone": "America/Sao_Paulo", "archived": true,
    "acquisition_channel": "VoIP", "createDate": "2026-03-11T12:00:01.123Z", "lastActive": "2026-05-01T00:00:00.000Z",
    "createdBy": 7, "createdByName": "Ana", "createdByType": "user", "updatedBy": 8, "updatedByName": "Bia",
    "updatedDate": "2026-04-01T00:00:00.000Z", "ips": ["::1"], "link_instancia": "x", "preferred_locale": "en",
    "initial_password": "s3nh4", "role": 1, "department": 2, "instance_active": "false", "lead_online": "true",
    "partner_instance": 5, "tags": [1, 2] }"#;
const COMPANY: &str = r#"{ "id": 1, "cnpj": "11", "companyaddress": "Rua", "companyannualrevenue": "1M",
    "companycity": "Curitiba", "companycountry": "Brazil", "companyemail": "c@example.com", "companyindustry": "food",
    "companyname": "Padaria", "companynemployees": 12, "companyphone": "1", "companystate": "PR", "companyzipcode": "8",
    "createDate": "2025-01-01T00:00:00.000Z", "createdBy": 7, "createdByName": "Ana", "pain_points": "none",
    "owner": 7, "photoUrl": "p", "points": 1.5, "customer_count": 3, "updatedBy": 8, "updatedByName": "Bia",
    "updatedDate": "2025-02-01T00:00:00.000Z" }"#;

/// An opportunity with a value in every field, and a lead and a company with a value in every field.
fn whole() -> OpportunitySnapshot {
    let mut snapshot = OpportunitySnapshot::of(full(), Some(&lead()));
    let mut lead: Lead = serde_json::from_str(LEAD).unwrap();
    let channel = Channel {
        main_channel: true,
        disabled: true,
        frequency_value: Some(3),
        frequency_units: "WEEK".to_owned(),
    };
    lead.channel_restrictions = ChannelRestrictions {
        social_photo: channel.clone(),
        chatapp: channel.clone(),
        email: channel.clone(),
        social_chat: channel,
    };
    lead.utm_tags = vec![json!({ "utm_source": "ads" })];
    snapshot.lead = Some(lead);
    snapshot.company = Some(serde_json::from_str(COMPANY).unwrap());
    snapshot
}

/// A record with the fields of `whole` that `kept` selects, and the defaults of the others.
fn thinned<T: Serialize + for<'de> Deserialize<'de>>(whole: &T, required: &[&str], mut kept: u64) -> T {
    let Value::Object(mut fields) = json!(whole) else {
        panic!("an object")
    };
    fields.retain(|name, _| {
        kept = kept.rotate_left(1);
        required.contains(&name.as_str()) || kept & 1 == 1
    });
    serde_json::from_value(Value::Object(fields)).unwrap()
}

/// The stored form. A change of it requires a new format of the table.
#[test]
fn the_text_of_an_entry() {
    let plain = OpportunitySnapshot {
        opportunity: Opportunity {
            value: Cents::new(123_450).unwrap(),
            title: "Reforma".to_owned(),
            ..Opportunity::new(
                OpportunityId::new(30).unwrap(),
                (FunnelId::new(3).unwrap(), ColumnId::new(31).unwrap()),
                LeadId::new(1001).unwrap(),
                UserId::new(8).unwrap(),
                Timestamp::parse("2026-09-04T09:30:00Z").unwrap(),
            )
        },
        lead: Some(Lead {
            firstname: Some("Maria".to_owned()),
            owner: UserId::new(8),
            ..Lead::new(
                LeadId::new(1001).unwrap(),
                Timestamp::parse("2026-03-11T12:00:01.123Z").unwrap(),
            )
        }),
        company: None,
    };
    let plain = entry(&plain);
    assert_eq!(
        text(&plain),
        r#"{"o":{"u":8,"v":123450,"t":"Reforma","l":1001},"l":{"d":1773230401123,"f":"Maria","o":8}}"#
    );
    assert_eq!(
        plain["pk"].as_s().map(String::as_str),
        Ok("acme#board#3#31#0#-#-")
    );
    assert_eq!(text(&entry(&whole())), WHOLE);
}

const WHOLE: &str = concat!(
    r#"{"o":{"u":8,"v":999999999999999,"ce":[{"i":2,"n":"Ótica Horizonte","q":2.5}],"t":"Pedido","l":1001,"n":7,"#,
    r#""lr":"Preço","gr":"","ch":"loja","ca":"natal","aa":true,"au":7,"ra":{"by":[7]},"rd":"não","p":"departments","#,
    r#""pu":8,"pd":2,"us":[8],"ul":[{"id":8}],"ds":[1],"dl":[1],"#,
    r#""f":{" Número do pedido ":1e+300,"":"\u0000\"😀"},"fi":["a.pdf"],"#,
    r#""fd":[{"url":"https://files.example/a.pdf"}],"ci":[1],"#,
    r#""x":1796418000000,"cd":1788566400000,"sd":1788739200000,"r":1788739200000},"#,
    r#""l":{"d":1773230401123,"q":2.5,"r":{"p":{"u":"WEEK","m":true,"d":true,"v":3},"#,
    r#""w":{"u":"WEEK","m":true,"d":true,"v":3},"e":{"u":"WEEK","m":true,"d":true,"v":3},"#,
    r#""c":{"u":"WEEK","m":true,"d":true,"v":3}},"pl":"en","ia":"false","on":"true","f":"Antônia","l":"Çelik","#,
    r#""e":"a@example.com","p":"1","w":"2","m":"3","o":8,"sg":4,"ph":"p","c":1,"ua":[8],"da":[2],"is":true,"#,
    r#""a":"Rua","y":"Curitiba","s":"PR","n":"Brazil","z":"80000","tz":"America/Sao_Paulo","ar":true,"ac":"VoIP","#,
    r#""cb":7,"cn":"Ana","ct":"user","ub":8,"un":"Bia","ip":["::1"],"li":"x","pw":"s3nh4","ro":1,"dp":2,"pi":5,"#,
    r#""t":[1,2],"ut":[{"utm_source":"ads"}],"u":1775001600000},"a":1777593600000,"#,
    r#""c":{"i":1,"n":"Padaria","cj":"11","a":"Rua","ar":"1M","y":"Curitiba","c":"Brazil","e":"c@example.com","#,
    r#""in":"food","ne":12,"p":"1","s":"PR","z":"8","cb":7,"cn":"Ana","pp":"none","o":7,"ph":"p","q":1.5,"cc":3,"#,
    r#""ub":8,"un":"Bia","d":1735689600000,"u":1738368000000}}"#,
);

/// C-88: a later build may write further names. Names that are absent have their defaults.
#[test]
fn unknown_names_are_ignored() {
    let plain = read(r#"{"o":{"u":8}}"#).unwrap();
    let known =
        r#"{"o":{"u":8,"t":"Pedido","l":9},"u":1788600000000,"l":{"d":1,"o":7},"c":{"i":4,"n":"Padaria"}}"#;
    let later = r#"{"z":[1],"o":{"zz":{"u":1},"u":8,"t":"Pedido","l":9},"u":1788600000000,
        "l":{"d":1,"o":7,"zz":null},"c":{"i":4,"zz":"","n":"Padaria"}}"#;
    assert_eq!(read(later).unwrap(), read(known).unwrap());
    let item = |text: &str| Item::from([(TEXT.to_owned(), s(text))]);
    assert_eq!(super::known(&item(later)), Some(item(known)));
    assert_eq!(
        plain.opportunity,
        Opportunity {
            lead_id: None,
            archived: true,
            ..Opportunity::new(
                OpportunityId::new(30).unwrap(),
                (FunnelId::new(3).unwrap(), ColumnId::new(31).unwrap()),
                LeadId::new(1).unwrap(),
                UserId::new(8).unwrap(),
                Timestamp::parse("2026-09-04T09:30:00Z").unwrap(),
            )
        }
    );
    assert_eq!((plain.lead, plain.company), (None, None));
}

#[test]
fn other_texts_and_keys_are_corrupt() {
    for bad in [
        "",
        "{}",
        r#"{"o":{}}"#,
        r#"{"o":{"u":0}}"#,
        r#"{"o":{"u":8,"v":"1.00"}}"#,
        r#"{"o":{"u":8,"v":1000000000000000}}"#,
        r#"{"o":{"u":8},"u":999999999999999}"#,
        r#"{"o":{"u":8,"l":9},"l":{"f":"Maria"}}"#,
        r#"{"o":{"u":8},"c":{"n":"Padaria"}}"#,
    ] {
        assert!(read(bad).is_err(), "{bad}");
    }
    let entry = entry(&whole());
    for (name, bad) in [
        ("pk", "acme#opportunity"),
        ("pk", "acme#board#3#0#0#-#-"),
        ("sk", "000000000000030"),
        ("sk", "251613786599999#x"),
        ("sk", "0#-999999999999999"),
    ] {
        let mut entry = entry.clone();
        entry.insert(name.to_owned(), s(bad));
        assert!(snapshot(&entry).is_err() && opportunity(&entry).is_err(), "{bad}");
    }
}

fn times() -> impl Strategy<Value = Timestamp> {
    let any = Timestamp::FIRST_MILLIS..=Timestamp::LAST_MILLIS;
    prop_oneof![Just(0), any].prop_map(|millis| Timestamp::from_unix_millis(millis).unwrap())
}

proptest! {
    /// Boards and pages show what the record contains.
    #[test]
    fn entries_round_trip(
        kept in any::<[u64; 3]>(),
        texts in any::<[String; 3]>(),
        cents in 0..=999_999_999_999_999_u64,
        at in [times(), times(), times(), times(), times()],
        has in any::<[bool; 2]>(),
    ) {
        let whole = whole();
        let required = ["id", "title", "crm_column", "crm_id", "user", "createDate", "updateDate", "lead_id"];
        let mut snapshot = OpportunitySnapshot {
            opportunity: thinned(&whole.opportunity, &required, kept[0]),
            lead: whole.lead.map(|lead| thinned(&lead, &["id", "createDate", "lastActive"], kept[1])),
            company: whole.company.map(|company| thinned(&company, &["id", "companyname"], kept[2])),
        };
        let [title, name, field] = texts;
        let opportunity = &mut snapshot.opportunity;
        opportunity.title = title;
        opportunity.value = Cents::new(cents).unwrap();
        opportunity.fields.insert(field.clone(), json!(field));
        [opportunity.create_date, opportunity.update_date] = [at[0], at[1]];
        opportunity.gain_date = Some(at[2]);
        if let Some(lead) = &mut snapshot.lead {
            lead.firstname = Some(name);
            [lead.create_date, lead.last_active] = [at[3], at[4]];
        }
        if !has[0] {
            snapshot.lead = None;
            snapshot.opportunity.lead_id = None;
        }
        if !has[1] {
            snapshot.company = None;
        }
        let entry = entry(&snapshot);
        prop_assert_eq!(super::opportunity(&entry).unwrap(), snapshot.opportunity.clone());
        prop_assert_eq!(super::snapshot(&entry).unwrap(), snapshot);
    }
}
