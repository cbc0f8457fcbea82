//! Whole conversions (C-105).

use super::*;

/// The report, the questions, the doubts and the lines of a conversion of one file.
fn converted(text: &str, map: &str) -> String {
    let map = MapFile::read(map).unwrap();
    let sheet = read(
        "a.csv".to_owned(),
        text.as_bytes().to_vec(),
        ReadOptions::default(),
    )
    .unwrap();
    let files = [MappedFile::new(sheet, Product::Auto, &map).unwrap()];
    let options = ConvertOptions {
        zone: Some(Zone::UTC),
        sets_zone: false,
        map: &map,
        admin: Some("ana@example.com"),
        known: &[],
        currency: None,
        advanced: &|_, _| {},
    };
    let mut converted = convert(&files, IdMap::default(), &options).unwrap();
    let mut out = Vec::new();
    converted.write(&mut out).unwrap();
    let lines = String::from_utf8(out).unwrap();
    let (questions, doubts) = (converted.questions.join("\n?"), converted.doubts.join("\n!"));
    format!("{}\n?{questions}\n!{doubts}\n{lines}", converted.report)
}

const DEALS: &str = "Negócio;Cliente;E-mail;Valor;Status";

#[test]
#[expect(clippy::too_many_lines, reason = "it is as long as it has cases")]
fn values_are_kept_or_asked_about() {
    for (text, map, shown) in [
        // Persons.
        (
            "N;Bia Luz bia@x.com;;1,00;Aberto",
            "",
            r#""email":"bia@x.com","firstname":"Bia","lastname":"Luz""#,
        ),
        (
            "N;Salão @bela;;1,00;Aberto",
            "",
            r#""firstname":"Salão","lastname":"@bela""#,
        ),
        (
            "N;Bia (b@x.com);B@x.com;1,00;Aberto",
            "",
            r#""email":"B@x.com","firstname":"Bia"}"#,
        ),
        (
            "N;Bia b@x.com;c@x.com;1,00;Aberto",
            "",
            r#""email":"c@x.com","firstname":"Bia","lastname":"b@x.com"}"#,
        ),
        (
            "N;Bia;(não tem);1,00;Aberto",
            "",
            r#""email_as_written":"(não tem)""#,
        ),
        // Currencies.
        (
            "N;Bia;;R$ 1,00;Aberto\nM;Rui;;$ 2,00;Aberto",
            "",
            "    currency = \"BRL\"",
        ),
        (
            "N;Bia;;R$ 1,00;Aberto\nM;Rui;;$ 2,00;Aberto",
            "currency = \"BRL\"",
            "a.csv:3: \"Valor\": \"$ 2,00\" is in $ and not in BRL; it is kept as custom field Valor",
        ),
        (
            "N;Bia;;R$ 1,00;Aberto\nM;Rui;;$ 2,00;Aberto",
            "currency = \"USD\"",
            r#""title":"M","value":"2.00""#,
        ),
        ("N;Bia;;$ 2,00;Aberto", "currency = \"BRL\"", r#""value":"2.00""#),
        ("N;Bia;;R$ -;Aberto", "", r#""value":"0.00""#),
    ] {
        let read = converted(&format!("{DEALS}\n{text}\n"), map);
        assert!(read.contains(shown), "{text}: {shown}\n{read}");
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is as long as it has cases")]
fn columns_are_asked_about() {
    let head = "Negócio;Cliente;Valor;Status";
    for (text, map, shown, is_shown) in [
        (
            "Negócio;Cliente;Valor mil R$;Status\nN;Bia;1,5;Aberto",
            "",
            "?a.csv: the amounts of column \"Valor mil R$\" are thousands, millions or cents by its name",
            true,
        ),
        (
            "Negócio;Cliente;Valor mil R$;Status\nN;Bia;1,5;Aberto",
            "",
            "\"Valor mil R$\" = ",
            false,
        ),
        (
            "Negócio;Cliente;Valor (em milhões);Status\nN;Bia;1,5;Aberto",
            "columns.\"Valor (em milhões)\" = \"opportunity.value\"",
            "write the whole amounts",
            true,
        ),
        (
            &format!("{head};Valor mil\nN;Bia;1,5;Aberto;1"),
            "",
            "write the whole amounts",
            false,
        ),
        (
            &format!("{head};Fechado?\nN;Bia;1,5;Aberto;Sim"),
            "",
            "\"Fechado?\" = \"opportunity.createDate\"",
            false,
        ),
        (
            &format!("{head};Fecha prometida\nN;Bia;1,5;Aberto;2026-02-13"),
            "",
            "\"Fecha prometida\" = \"opportunity.createDate\"",
            true,
        ),
        (
            &format!("{head};Data\nN;Bia;1,5;Aberto;00/00/0000\nM;Rui;1,5;Aberto;  /  /    "),
            "",
            "\"title\":\"M\"",
            true,
        ),
        (
            "Razão Social;CNPJ\nSol;1,23457E+13",
            "",
            "a.csv:2: \"CNPJ\": \"1,23457E+13\" is a number that a spreadsheet has rounded",
            true,
        ),
    ] {
        let read = converted(&format!("{text}\n"), map);
        assert_eq!(read.contains(shown), is_shown, "{text}: {shown}\n{read}");
    }
}
