use super::*;
use crate::reference::PHONE;

fn lead(name: &str, values: &[(&'static str, &str)]) -> RowReference {
    RowReference {
        product: "csv",
        values: values
            .iter()
            .map(|(space, value)| (*space, (*value).to_owned()))
            .collect(),
        name: name.to_owned(),
        ..RowReference::default()
    }
}

#[test]
fn a_value_of_many_leads_is_listed_with_few() {
    let (mut index, mut ids) = (RecordIndex::new("lead"), IdMap::default());
    for line in 2..17 {
        let reference = lead(&format!("Maria {line}"), &[(PHONE, "551132221111")]);
        index.add(&reference, (0, line), &mut ids).unwrap();
    }
    let shared = &index.shared["phone 551132221111"];
    assert_eq!(shared.places, (2..12).map(|line| (0, line)).collect::<Vec<_>>());
    assert_eq!(shared.more, 5);
}

/// C-105: who a person is is never assumed.
#[test]
fn persons_who_share_a_value_are_told_apart_by_name() {
    let (mut index, mut ids) = (RecordIndex::new("lead"), IdMap::default());
    let (shop, phone) = ((EMAIL, "contato@loja.com"), (PHONE, "5511987654321"));
    for (line, reference) in [
        (2, lead("João Melo", &[shop])),
        (3, lead("Maria Reis", &[phone])),
        (4, lead("Rui Sá", &[phone])),
    ] {
        index.add(&reference, (0, line), &mut ids).unwrap();
    }
    for (reference, found) in [
        (lead("Maria Reis", &[shop, phone]), Some(1)),
        (lead("Rui Sá", &[phone]), Some(2)),
        (lead("Joao", &[shop]), Some(0)),
        (lead("Maria", &[phone]), None),
        (lead("Ana", &[shop]), Some(0)),
        (lead("Ana", &[phone]), None),
        (lead("", &[shop]), Some(0)),
        (lead("rui sa", &[]), Some(2)),
    ] {
        assert_eq!(index.find(&reference), Ok(found), "{reference:?}");
    }
    assert!(index.find(&lead("", &[phone])).is_err());
}

/// C-105: a newer export gives no record to somebody else.
#[test]
fn later_runs_know_records_without_ids() {
    let (mut ids, phone) = (IdMap::default(), [(PHONE, "551132221111")]);
    let mut run = |names: &[&str]| {
        let mut index = RecordIndex::new("lead");
        let add = |name: &&str| {
            let at = index.add(&lead(name, &phone), (0, 2), &mut ids).unwrap();
            index.id(at)
        };
        names.iter().map(add).collect::<Vec<_>>()
    };
    assert_eq!(run(&["João Melo", "Maria Reis", "Maria Reis"]), [1, 2, 3]);
    assert_eq!(run(&["Maria Reis"]), [2]);
    assert_eq!(run(&["Maria Reis", "Rui Sá", "João de Melo"]), [2, 4, 1]);
    assert_eq!(run(&["Maria Reis", "Maria Reis", "João Melo"]), [2, 3, 1]);
    let with_address = lead("Rui Sá", &[(EMAIL, "rui@x.com"), phone[0]]);
    let mut index = RecordIndex::new("lead");
    let at = index.add(&with_address, (0, 2), &mut ids).unwrap();
    assert_eq!(index.id(at), 4);
    let numbered = |name: &str| RowReference {
        id: "1".to_owned(),
        ..lead(name, &[])
    };
    let mut add = |name: &str| RecordIndex::new("lead").add(&numbered(name), (0, 2), &mut ids);
    assert!(add("Ana Souza").is_ok() && add("Ana L. Reis").is_ok());
    assert!(add("Rui Sá").unwrap_err().starts_with("lead 1 was \"ana"));
}
