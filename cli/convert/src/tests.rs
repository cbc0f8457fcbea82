//! Whole conversions (C-105).

use super::*;

mod rows;
mod tables;

/// A conversion.
pub struct Whole {
    pub report: String,
    pub questions: Vec<String>,
    pub doubts: Vec<String>,
    pub lines: String,
    pub ids: IdMap,
}

/// Converts sheets.
pub fn whole(
    sheets: Vec<input::Sheet>,
    product: Product,
    map: &MapFile,
    currency: Option<&str>,
    ids: IdMap,
) -> Whole {
    let products = products(&sheets, product);
    let files = sheets.into_iter().zip(products);
    let files: Vec<_> = files
        .map(|(sheet, product)| MappedFile::new(sheet, product, map).unwrap())
        .collect();
    let options = ConvertOptions {
        zone: Some(Zone::UTC),
        sets_zone: false,
        map,
        admin: Some("ana@example.com"),
        known: &[],
        currency,
        advanced: &|_, _| {},
    };
    let mut converted = convert(&files, ids, &options).unwrap();
    let mut out = Vec::new();
    converted.write(&mut out).unwrap();
    Whole {
        report: std::mem::take(&mut converted.report),
        questions: std::mem::take(&mut converted.questions),
        doubts: std::mem::take(&mut converted.doubts),
        lines: String::from_utf8(out).unwrap(),
        ids: converted.ids().clone(),
    }
}

fn sheet(name: &str, text: &str) -> input::Sheet {
    let bytes = text.as_bytes().to_vec();
    read(name.to_owned(), bytes, ReadOptions::default()).unwrap()
}

/// The report, the questions, the doubts and the lines of a conversion of one file.
fn converted(text: &str, map: &str) -> String {
    let map = MapFile::read(map).unwrap();
    let whole = whole(
        vec![sheet("a.csv", text)],
        Product::Auto,
        &map,
        None,
        IdMap::default(),
    );
    let (questions, doubts) = (whole.questions.join("\n?"), whole.doubts.join("\n!"));
    format!("{}\n?{questions}\n!{doubts}\n{}", whole.report, whole.lines)
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

/// C-105: who a person is is never assumed in silence, and nothing that a row says is lost.
#[test]
#[expect(clippy::too_many_lines, reason = "it is as long as it has cases")]
fn rows_find_their_records() {
    const HEAD: &str = "Negócio;Cliente;E-mail;Telefone;Celular;Empresa;CNPJ;Valor;Status";
    for (persons, deals, shown, count) in [
        (
            "João Melo;contato@loja.com;\nMaria Reis;;11 98765-4321",
            "A;Maria Reis;contato@loja.com;11 98765-4321;;;;1,00;Aberto",
            r#""lead_id":2"#,
            2,
        ),
        (
            "Lia;l@x.com;",
            "A;Lia;l@x.com;11 98765-4321;;;;1,00;Aberto",
            r#""phone":"5511987654321"}"#,
            1,
        ),
        (
            "Lia;l@x.com;11 3222-1111",
            "A;Lia;l@x.com;11 98765-4321;;;;1,00;Aberto",
            r#""phone_2":"5511987654321"}"#,
            1,
        ),
        (
            "João;l@x.com;",
            "A;Rita;l@x.com;11 98765-4321;21 98765-4321;;;1,00;Aberto",
            r#""name_as_written":"Rita","phone_as_written":"5511987654321","mobile_as_written":"5521987654321""#,
            1,
        ),
        (
            "João;l@x.com;",
            "A;Rita;l@x.com;11 98765-4321/21 98765-4321/31 98765-4321;;;;1,00;Aberto",
            r#""phone_as_written_":"5531987654321""#,
            1,
        ),
        (
            "",
            "A;Lia;l@x.com;;;Sol;;1,00;Aberto\nB;Lia;l@x.com;;;Lua;;1,00;Aberto",
            r#""dataCompanyExtra":[{"id":2,"companyname":"Lua"}]"#,
            1,
        ),
        (
            "",
            "A;Lia;;;;Sol;11.111.111/0001-11;1,00;Aberto\nB;Rui;;;;Sol;22.222.222/0001-22;1,00;Aberto",
            r#""company":2"#,
            2,
        ),
        (
            "",
            "A;Lia;;;;;11.111.111/0001-11;1,00;Aberto",
            r#""cnpj":"11.111.111/0001-11""#,
            1,
        ),
        (
            "",
            "A;Caio Braga, Lia Prado;;;;;;1,00;Aberto",
            r#""firstname":"Caio","lastname":"Braga"}"#,
            1,
        ),
        (
            "",
            "A;Lia;;;;;;1,00;",
            "status: is missing; add to the map: status.\"\" = \"open\"\n",
            0,
        ),
        (
            "",
            "A;Lia;;;;;;1,00;#REF!",
            "is an error value of a spreadsheet",
            0,
        ),
    ] {
        let files = [
            ("p.csv", format!("Nome;E-mail;Telefone\n{persons}\n")),
            ("d.csv", format!("{HEAD}\n{deals}\n")),
        ];
        let sheets = files
            .iter()
            .filter(|(name, _)| *name == "d.csv" || !persons.is_empty());
        let sheets = sheets.map(|(name, text)| sheet(name, text)).collect();
        let whole = whole(sheets, Product::Auto, &MapFile::default(), None, IdMap::default());
        let (lines, leads) = (&whole.lines, whole.lines.matches(r#""kind":"lead""#).count());
        assert_eq!(leads, count, "{deals}: {lines}");
        let all = format!("{}{lines}", whole.report);
        assert!(all.contains(shown), "{deals}: {all}");
    }
    // A spreadsheet drops zeros at the beginning.
    let same = "A;Lia;;;;Sol;00.111.111/0001-11;1,00;Aberto\nB;Rui;;;;Sol;111111000111;1,00;Aberto";
    let lines = converted(&format!("{HEAD}\n{same}\n"), "");
    assert_eq!(lines.matches(r#""kind":"company""#).count(), 1, "{lines}");
}

#[test]
fn a_second_run_changes_no_other_record() {
    let map = MapFile::default();
    let run = |text: &str, currency, ids: &IdMap| {
        whole(
            vec![sheet("d.csv", text)],
            Product::Auto,
            &map,
            currency,
            ids.clone(),
        )
    };
    let head = "Negócio;Cliente;Valor;Status;Moeda;Responsável;Data\n";
    let rows = ["A;Lia;1,00;Aberto", "A;Lia;2,00;Aberto"];
    let end = ";Real Brasileiro (R$);Ana Souza (ana@example.com);13/02/2026\n";
    let both = format!("{head}{}{end}{}{end}", rows[0], rows[1]);
    let first = run(&both, None, &IdMap::default());
    assert_eq!(
        first.lines.matches(r#""kind":"user""#).count(),
        1,
        "{}",
        first.lines
    );
    // A newer export lacks the first row.
    let newer = run(&format!("{head}{}{end}", rows[1]), Some("BRL"), &first.ids);
    assert!(
        newer.lines.contains(r#""id":2,"title":"A","value":"2.00""#),
        "{}",
        newer.lines
    );
    // A text that names no currency is that of the board.
    let unknown = run(
        &both.replace("Real Brasileiro (R$)", "-99"),
        Some("BRL"),
        &first.ids,
    );
    assert!(unknown.lines.contains(r#""value":"1.00""#), "{}", unknown.lines);
}

#[test]
fn users_ids_and_tags_are_those_of_all_files() {
    let map = MapFile::default();
    let sheets = vec![
        sheet(
            "p.csv",
            "Nome;E-mail;Tags;Responsável\nLia;l@x.com;\"VIP, São Paulo\";Ana Souza\n",
        ),
        sheet(
            "d.csv",
            "Negócio;ID Contato;Cliente;Valor;Status;Responsável\n\
             A;1.05284E+11;Lia Prado;1,00;Aberto;Ana Souza (ana@example.com)\n\
             B;1,05284E+11;Caio Braga;1,00;Aberto;Ana Souza\n",
        ),
    ];
    let whole = whole(sheets, Product::Auto, &map, None, IdMap::default());
    let lines = &whole.lines;
    assert_eq!(lines.matches(r#""kind":"user""#).count(), 1, "{lines}");
    assert!(
        lines.contains(r#""tag":"VIP""#) && lines.contains(r#""tag":"São Paulo""#),
        "{lines}"
    );
    assert!(lines.contains(r#""firstname":"Caio""#), "{lines}");
    let rounded = "id: \"1.05284E+11\" is a number that a spreadsheet has rounded";
    assert!(whole.report.contains(rounded), "{}", whole.report);
}
