//! Cells and headings of `funil convert`: what is read, asked for, said and refused (C-105).

use serde_json::{Value, json};

use crate::convert::{Home, of_kind};

/// A style that the values leave open is asked for, and an answer gives the right records.
#[test]
fn open_decisions_are_asked_for() {
    let head = "Cliente;E-mail;Oportunidade;Valor;Etapa;Criado em\nLia;lia@x.com;Cestas;";
    for (row, zone, question, answer, value, created) in [
        (
            "1500,50;Novo;03/04/2026",
            true,
            "the order of dates is open: a.csv:2: \"03/04/2026\"",
            "--dates dmy",
            "1500.50",
            "2026-04-03T03:00:00.000Z",
        ),
        (
            "1500,50;Novo;03/04/2026",
            true,
            "the order of dates is open",
            "--dates mdy",
            "1500.50",
            "2026-03-04T03:00:00.000Z",
        ),
        (
            "1.500;Novo;13/02/2026\nCaio;c@x.com;Vitrine;2,000;Novo;13/02/2026",
            true,
            "the decimal mark is open: a.csv:2: \"1.500\"",
            "--decimal comma",
            "1500.00",
            "2026-02-13T03:00:00.000Z",
        ),
        (
            "10;Novo;13/02/2026",
            false,
            "the time zone is open: a.csv:2: \"13/02/2026\" is a local date",
            "--zone America/Sao_Paulo",
            "10.00",
            "2026-02-13T03:00:00.000Z",
        ),
    ] {
        let home = Home::new();
        home.write("a.csv", &format!("{head}{row}\n"));
        let zone = if zone { "--zone America/Sao_Paulo" } else { "" };
        let options = format!("--admin ana@example.com {zone} a.csv");
        let asked = home.convert(&options);
        assert_eq!((asked.code, asked.out.as_str()), (1, ""), "{asked:?}");
        assert!(asked.err.contains(question), "{question}\n{}", asked.err);
        let ended = home.convert(&format!("{options} {answer}"));
        let deal = &of_kind(&ended.out, "opportunity")[0];
        assert_eq!(
            (&deal["value"], &deal["createDate"]),
            (&json!(value), &json!(created)),
            "{}",
            ended.err
        );
    }
}

/// A cell is an amount as a whole, or its row is refused with file, line, column and text.
#[test]
fn amounts_are_whole_tokens() {
    let home = Home::new();
    let amounts = [
        "1E+06",
        "2E+05",
        "=1+1",
        "#DIV/0!",
        "−50,00",
        "R$ 1.500",
        "R$ 12.750",
        "R$ 980",
        "10%",
    ];
    let rows = amounts.map(|amount| format!("Lia,lia@x.com,\"{amount}\",\"{amount}\",Novo\n"));
    home.write(
        "a.csv",
        &format!("Cliente,E-mail,Oportunidade,Valor,Etapa\n{}", rows.concat()),
    );
    let ended = home.convert("--admin ana@example.com a.csv");
    assert_eq!(ended.code, 1);
    let deals = of_kind(&ended.out, "opportunity");
    let values: Vec<_> = deals.iter().map(|deal| deal["value"].as_str().unwrap()).collect();
    assert_eq!(
        values,
        ["1000000.00", "200000.00", "1500.00", "12750.00", "980.00"]
    );
    for bad in [
        "a.csv:4: \"Valor\": \"=1+1\" is no amount",
        "a.csv:5: \"Valor\": \"#DIV/0!\" is an error value of a spreadsheet",
        "a.csv:6: \"Valor\": \"−50,00\" is negative; an amount is 0 or more",
        "a.csv:10: \"Valor\": \"10%\" is no amount",
    ] {
        assert!(ended.err.contains(bad), "{bad}\n{}", ended.err);
    }
}

/// Doubts are said in one block, each with the line of the map to write.
#[test]
fn doubts_are_said_with_the_line_to_write() {
    let home = Home::new();
    let rows =
        "Cestas;Lia;10,00;R$ 5,00;Fechado;Ana;2026-01-01;x\nVasos;Bia;R$ 7,00;1,00;Novo;Ana;2026-01-02;x\n";
    home.write(
        "a.csv",
        &format!("Oportunidade;Cliente;Valor;Valor total;Etapa;Vendedor;Data;Título\n{rows}"),
    );
    let asked = home.convert("--zone UTC a.csv");
    let question = "a.csv has several columns that may be the value of an opportunity; write the line of the right one:\n    \
                    files.\"a.csv\".\"Valor\" = \"opportunity.value\"\n    files.\"a.csv\".\"Valor total\" = \"opportunity.value\"\n";
    assert_eq!((asked.code, asked.out.as_str()), (1, ""), "{asked:?}");
    assert!(asked.err.contains(question), "{}", asked.err);
    home.write("value.toml", "files.\"a.csv\".\"Valor\" = \"opportunity.value\"");
    let ended = home.convert("--zone UTC --map value.toml a.csv").done();
    for shown in [
        "to judge, with the lines to write into a file for --map:\n",
        "a.csv: column \"Título\" may be opportunity.title too",
        "    files.\"a.csv\".\"Título\" = \"opportunity.title\"\n",
        "stage \"Fechado\" looks closed and is read as open (1 rows); if it is closed:\n    status.\"Fechado\" = \"gain\"",
    ] {
        assert!(ended.err.contains(shown), "{shown}\n{}", ended.err);
    }
    home.write("map.toml", "status.\"Fechado\" = \"gain\"\nfiles.\"a.csv\".\"Valor total\" = \"opportunity.value\"\nfiles.\"a.csv\".\"Valor\" = \"\"\n");
    let ended = home.convert("--zone UTC --map map.toml a.csv").done();
    let deal = &of_kind(&ended.out, "opportunity")[0];
    assert_eq!(
        (&deal["value"], &deal["status"]),
        (&json!("5.00"), &json!("gain"))
    );
}

/// A board adds amounts up, so they are in one currency. Others are kept as they are written, and said.
#[test]
fn amounts_are_in_one_currency() {
    let home = Home::new();
    let head = "Deal;Contact;E-mail;Stage;Created;Value;Currency\n";
    let rows = |pairs: &[(&str, &str)]| {
        let rows = pairs
            .iter()
            .zip(1..)
            .map(|((value, code), at)| format!("D{at};Lia;lia@x.com;Novo;2026-01-0{at};{value};{code}\n"));
        head.to_owned() + &rows.collect::<String>()
    };
    let options = "--zone UTC --admin ana@example.com a.csv";
    for (text, question) in [
        (
            rows(&[("5,00", "BRL"), ("R$ 6,00", ""), ("7,00", "usd")]),
            "BRL (2 rows), USD (1 rows)",
        ),
        (
            rows(&[("5,00", "BRL"), ("R$ 6,00", ""), ("7,00", "TRY")]),
            "BRL (2 rows), TRY (1 rows)",
        ),
    ] {
        home.write("a.csv", &text);
        let asked = home.convert(options);
        assert_eq!((asked.code, asked.out.as_str()), (1, ""), "{asked:?}");
        let question = format!("amounts are in several currencies, {question}; write the one of the board");
        let line = "    currency = \"BRL\"\n";
        assert!(
            asked.err.contains(&question) && asked.err.contains(line),
            "{}",
            asked.err
        );
    }
    home.write("map.toml", "currency = \"BRL\"");
    let ended = home.convert(&format!("--map map.toml {options}"));
    let deals = of_kind(&ended.out, "opportunity");
    let values = deals
        .iter()
        .map(|deal| (deal["value"].clone(), deal["fields"].clone()));
    let foreign = json!({ "Value": "TRY 7,00" });
    assert_eq!(
        values.collect::<Vec<_>>(),
        [
            (json!("5.00"), json!({})),
            (json!("6.00"), json!({})),
            (Value::Null, foreign)
        ]
    );
    let said = "a.csv:4: \"Value\": \"7,00\" is in TRY and not in BRL; it is kept as custom field Value";
    assert!(ended.err.contains(said), "{}", ended.err);
    // A heading may name it.
    home.write(
        "a.csv",
        &rows(&[("5,00", ""), ("R$ 6,00", "")]).replace("Value", "Valor USD"),
    );
    let asked = home.convert(options);
    assert!(asked.err.contains("BRL (1 rows), USD (1 rows)"), "{}", asked.err);
    // The board shows the currency of the amounts, unless the instance has another one.
    home.write("a.csv", &rows(&[("5,00", "EUR"), ("0,00", "USD")]));
    let ended = home.convert(options).done();
    let currency = json!({ "kind": "setting", "name": "currency", "value": "EUR", "merge": true });
    assert_eq!(of_kind(&ended.out, "setting")[1], currency);
    home.bench.import(&ended.out).done();
    home.write(
        "a.csv",
        &rows(&[("5,00", "EUR"), ("0,00", "USD"), ("7,00", "USD")]),
    );
    let ended = home.convert("--instance acme --admin ana@example.com a.csv");
    assert!(ended.err.contains("is in USD and not in EUR"), "{}", ended.err);
    assert_eq!(of_kind(&ended.out, "opportunity").len(), 3);
}

/// Headings made to be slow are read in time that grows with their length alone.
#[test]
#[expect(
    clippy::disallowed_methods,
    reason = "the time of a command is that of the machine"
)]
fn hostile_headings() {
    let home = Home::new();
    let signs = ["!", "?", "*", "+", "~", "^", "%", "&"];
    let marks = signs
        .iter()
        .flat_map(|one| signs.iter().map(move |two| format!("{one}{two}")));
    let marks: Vec<_> = marks
        .clone()
        .flat_map(|one| marks.clone().map(move |two| one.clone() + &two))
        .collect();
    for heading in [
        "Nome;".repeat(3_200),
        ";".repeat(16_000),
        "Valor;".repeat(2_600) + "Nome",
        "Tel (2);Tel;".repeat(1_300),
        marks[..3_000].join(";"),
        "Nome (".repeat(2_600) + ";Email",
        "Person - ".repeat(1_800) + ";Email",
    ] {
        let row = "x;".repeat(heading.matches(';').count());
        home.write("a.csv", &format!("{heading}\n{row}x\n"));
        let began = std::time::Instant::now();
        let ended = home.convert("--from csv --zone UTC --admin ana@example.com a.csv");
        let (length, took) = (heading.len(), began.elapsed());
        assert!(ended.code < 2 && length <= 16_400, "{length}: {}", ended.err);
        // A release build takes less than a second. A debug build of a cubic reader takes minutes, also on a quiet machine.
        assert!(took.as_secs() < 20, "{took:?} for {}…", &heading[..40]);
    }
}

/// Texts that are too long are cut and said, and a value that no spreadsheet has stops the file.
#[test]
fn long_texts_are_cut_and_said() {
    let home = Home::new();
    let head = "Oportunidade;Cliente;Valor;Etapa;Obs\n";
    let (title, note) = ("t".repeat(256), "n".repeat(10_001));
    home.write("a.csv", &format!("{head}{title};Lia;1,00;Novo;{note}\n"));
    let ended = home.convert("--zone UTC --admin ana@example.com a.csv");
    assert_eq!(ended.code, 1);
    let deal = &of_kind(&ended.out, "opportunity")[0];
    let length = |value: &Value| value.as_str().unwrap().len();
    assert_eq!(
        (length(&deal["title"]), length(&deal["fields"]["Obs"])),
        (255, 10_000)
    );
    for said in [
        "is longer than 255 characters; the rest is cut",
        "a.csv:2: \"Obs\": the text is longer than 10000 characters; the rest is cut",
    ] {
        assert!(ended.err.contains(said), "{said}");
    }
    home.write(
        "a.csv",
        &format!("{head}A;Lia;1,00;Novo;{}\n", "n".repeat(100_001)),
    );
    let ended = home.convert("--zone UTC --admin ana@example.com a.csv");
    assert!(
        ended.err.contains("a.csv:2: value 5 has more than 100000 bytes"),
        "{}",
        ended.err
    );
    home.write(
        "a.csv",
        &format!("{head}A;Lia;1,00;Novo;\"{}\"\n", "n".repeat(10_000_001)),
    );
    let ended = home.convert("--zone UTC --admin ana@example.com a.csv");
    let reason = "a.csv has a value of more than 10000000 bytes on line 2; is a quotation mark not closed?";
    assert_eq!((ended.code, ended.out.as_str()), (1, ""));
    assert!(ended.err.contains(reason), "{}", ended.err);
}

/// A row that refers to an omitted or unknown one says which.
#[test]
fn references_have_their_true_reason() {
    let home = Home::new();
    home.write(
        "c.csv",
        "Record ID,Company name,Company owner\n8,Sol,Ana\n9,,Ana\n",
    );
    let people = "Record ID,First Name,Last Name,Email,Associated Company IDs\n";
    home.write(
        "p.csv",
        &format!("{people}1,Lia,,lia@x.com,9\n2,Caio,,caio@x.com,7\n"),
    );
    let deals = "Record ID,Deal Name,Deal Stage,Amount,Deal owner,Create Date,Associated Contact IDs\n";
    let rows = "7,A,Novo,1,Ana,2026-01-01,1\n7,B,Novo,1,Ana,2026-01-01,2\n8,C,Novo,1,Ana,2026-01-01,3\n";
    home.write("d.csv", &format!("{deals}{rows}"));
    let ended = home.convert("--zone UTC p.csv d.csv c.csv");
    let counts = ["lead", "opportunity"].map(|kind| of_kind(&ended.out, kind).len());
    assert_eq!((ended.code, counts), (1, [2, 1]));
    for said in [
        "c.csv:3: companyname: is missing",
        "p.csv:2: company 9 is left out itself, see c.csv:3",
        "p.csv:3: company 7 is in no file; convert its file too",
        "d.csv:3: id: opportunity 7 occurs twice",
        "d.csv:4: lead 3 is in no file; convert its file too",
    ] {
        assert!(ended.err.contains(said), "{said}\n{}", ended.err);
    }
}

/// Nothing is written and reserved without a record, or in a dry run.
#[test]
fn nothing_is_reserved_for_nothing() {
    let home = Home::new();
    home.bench.funil("instance set acme timezone UTC").done();
    home.write(
        "a.csv",
        "Oportunidade;Cliente;Valor;Etapa\nA;Lia;a combinar;Novo\n",
    );
    let ended = home.convert("--instance acme --admin ana@example.com a.csv");
    assert_eq!((ended.code, ended.out.as_str()), (1, ""));
    let said = "no row of a.csv became a record of kind opportunity; mend the rows, or if it has another kind:\n    kinds.\"a.csv\" = \"lead\"";
    assert!(ended.err.contains(said), "{}", ended.err);
    home.write("a.csv", "Oportunidade;Cliente;Valor;Etapa\nA;Lia;1,00;Novo\n");
    home.convert("--instance acme --admin ana@example.com --dry-run a.csv")
        .done();
    for kind in ["lead", "opportunity"] {
        assert_eq!(home.bench.item("acme#counter", kind), None, "{kind}");
    }
    assert!(!home.folder.path().join("funil-ids.json").exists());
    home.convert("--instance acme --admin ana@example.com a.csv")
        .done();
    let counter = home.bench.item("acme#counter", "lead").unwrap();
    assert_eq!(counter["lead"]["N"], "1");
}
