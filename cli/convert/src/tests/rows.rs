//! Rows that are no records, and names that are one.

use super::*;

/// A whole name and its parts are one name, under which the deals of the person are found.
#[test]
fn names_and_their_parts_are_one_name() {
    const HEAD: &str = "First Name;Middle Name;Last Name";
    for (head, row, name) in [
        (
            "Name;",
            "Maria Clara;Maria Clara;;",
            r#""firstname":"Maria Clara"}"#,
        ),
        ("Name;", "Braga;;;Braga", r#""lastname":"Braga"}"#),
        (
            "Name;",
            "Lia Prado;;;Prado",
            r#""firstname":"Lia","lastname":"Prado"}"#,
        ),
        (
            "Name;",
            "Souza, Ana de;Ana;de;Souza",
            r#""firstname":"Ana","lastname":"de Souza"}"#,
        ),
        (
            "Name;",
            "Dr. Ana de Sá;Ana;de;Sá",
            r#""firstname":"Dr.","lastname":"Ana de Sá"}"#,
        ),
        ("Name;", "Lia;;;Prado", r#""firstname":"Lia","lastname":"Prado"}"#),
        (
            "Name;",
            "Sol;Lia;;Prado",
            r#""firstname":"Lia","lastname":"Prado"}"#,
        ),
        ("", "Lia Prado;;Prado", r#""firstname":"Lia","lastname":"Prado"}"#),
        (
            "",
            "Maria Clara;;Souza",
            r#""firstname":"Maria Clara","lastname":"Souza"}"#,
        ),
    ] {
        let read = converted(&format!("{head}{HEAD};Email\n{row};l@x.com\n"), "");
        assert!(read.contains(name), "{row}: {name}\n{read}");
    }
}

/// Lines of totals between the rows are no deals, and rows that resemble them are.
#[test]
fn lines_of_totals_between_rows() {
    for (rows, count) in [
        (
            "P;Lia;A;1,00\nP;Bia;B;2,00\nTotal P;;2 negócios;3,00\nQ;Rui;C;1,00\nTotal Q;;;1,00\n;;TOTAL;4,00",
            3,
        ),
        (
            "P;Lia;A;1,00\nSubtotal;;Sum;1,00\n;;Count;1\nQ;Rui;C;2,00\nTotal;;Sum;3,00\n;;Count;2",
            2,
        ),
        (
            "P;Lia;A;1,00\nTotal Energies;;B;1,00\nTotal Sol;;Z;5,00\nQ;Rui;Total;2,00",
            4,
        ),
    ] {
        let read = converted(&format!("Etapa;Cliente;Negócio;Valor\n{rows}\n"), "");
        assert_eq!(
            read.matches(r#""kind":"opportunity""#).count(),
            count,
            "{rows}\n{read}"
        );
    }
}

/// A renamed deal with a number is the same one, and names that differ in case, accents or spaces are one.
#[test]
#[expect(clippy::too_many_lines, reason = "it is as long as it has cases")]
fn spellings_and_numbers() {
    let map = MapFile::default();
    let run = |rows: &str, ids: IdMap| {
        let text = format!("Código;Negócio;Cliente;Empresa;Valor;Funil;Etapa;Responsável\n{rows}\n");
        whole(vec![sheet("d.csv", &text)], Product::Auto, &map, None, ids)
    };
    let first = run(
        "31;A;Lia;Sol  Ltda;1,00;Vendas;Proposta;Rui Sá (inativo)\n32;B;Zé;Sol Ltda;1,00;vendas;PROPOSTA ;Rui Sá\n\
         33;C;;;1,00;VENDAS;próposta;Sem responsável",
        IdMap::default(),
    );
    let lines = &first.lines;
    for (text, count) in [
        (r#""kind":"funnel""#, 1),
        (r#""sequence":"#, 1),
        (r#""kind":"company""#, 1),
        (r#""kind":"user""#, 2),
        (r#""name":"Proposta""#, 1),
    ] {
        assert_eq!(lines.matches(text).count(), count, "{text}\n{lines}");
    }
    assert!(
        first.report.contains("d.csv: opportunities without a person (1)"),
        "{}",
        first.report
    );
    let second = run(
        "31;A2;Lia;;1,00;VENDAS;PROPOSTA;Ivo Reis (inativo)",
        first.ids.clone(),
    );
    assert!(
        second.lines.contains(r#""id":31,"title":"A2""#),
        "{}",
        second.lines
    );
    assert!(
        second.lines.contains(r#"[{"id":1,"name":"Proposta""#),
        "{}",
        second.lines
    );
    assert!(
        second.lines.contains(r#""lastName":"Reis (inativo)""#),
        "{}",
        second.lines
    );
    // It numbers no deals.
    let repeated = run("31;A;Lia;;1,00;X;P;\n31;B;Zé;;1,00;X;P;", IdMap::default());
    assert!(
        repeated.lines.contains(r#"{"Código":"31"}"#),
        "{}",
        repeated.lines
    );
}

/// C-105: rows in another order, and more of them, are the same persons and deals.
#[test]
#[expect(clippy::too_many_lines, reason = "it is as long as it has cases")]
fn persons_depend_on_no_order() {
    const HEAD: &str = "Cliente;E-mail;Telefone;Empresa";
    let map = MapFile::default();
    let run = |head: &str, rows: &[&str], ids: IdMap| {
        let text = format!("{head};Negócio;Valor;Status\n{}\n", rows.join("\n"));
        whole(vec![sheet("d.csv", &text)], Product::Auto, &map, None, ids)
    };
    let deals = |whole: &Whole| {
        let lines = whole.lines.lines().filter(|line| line.contains(r#""kind":"opp"#));
        let fields = lines.map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        let mut deals: Vec<_> = fields
            .map(|deal| format!("{}:{}:{}", deal["title"], deal["id"], deal["lead_id"]))
            .collect();
        deals.sort();
        deals
    };
    for (rows, leads) in [
        (
            &[
                "Lia Prado;;;;A;1,00;Aberto",
                "Lia Prado;;11 98765-4321;;B;2,00;Aberto",
            ][..],
            1,
        ),
        (
            &[
                "Lia Prado;l@x.com;;;A;1,00;Aberto",
                "Lia Prado;;11 98765-4321;;B;2,00;Aberto",
                "lia prado;l@x.com;11 98765-4321;;C;3,00;Aberto",
            ],
            1,
        ),
        (
            &[
                ";;;Sol;A;1,00;Aberto",
                "Lia;;11 98765-4321;Sol;B;1,00;Aberto",
                "Lia;;;;C;1,00;Aberto",
                ";;11 98765-4321;;D;1,00;Aberto",
            ],
            1,
        ),
        (
            &[
                "Lia;;11 98765-4321;;A;1,00;Aberto",
                "Lia;;21 98765-4321;;B;1,00;Aberto",
                "Rui;;;;C;1,00;Aberto",
            ],
            3,
        ),
    ] {
        let first = run(HEAD, rows, IdMap::default());
        assert_eq!(
            first.lines.matches(r#""kind":"lead""#).count(),
            leads,
            "{rows:?}\n{}",
            first.lines
        );
        let mut reversed = rows.to_vec();
        reversed.reverse();
        let again = run(HEAD, &reversed, first.ids.clone());
        assert_eq!(deals(&again), deals(&first), "{rows:?}\n{}", again.lines);
        // Each row alone, then all of them.
        let mut ids = IdMap::default();
        let mut known = Vec::new();
        for row in rows {
            let one = run(HEAD, &[row], ids);
            known.extend(deals(&one));
            ids = one.ids;
        }
        let all = run(HEAD, &reversed, ids);
        let titles = |deals: Vec<String>| {
            deals
                .into_iter()
                .map(|deal| deal.rsplit_once(':').unwrap().0.to_owned())
                .collect::<Vec<_>>()
        };
        known.sort();
        assert_eq!(titles(deals(&all)), titles(known), "{rows:?}\n{}", all.lines);
    }
    let several = [
        "Lia;;;;A;1,00;Aberto",
        "Lia;;11 98765-4321;;B;1,00;Aberto",
        "Lia;;21 98765-4321;;C;1,00;Aberto",
    ];
    for rows in [several, [several[2], several[1], several[0]]] {
        let whole = run(HEAD, &rows, IdMap::default());
        assert!(
            whole.report.contains("several leads are named \"Lia\""),
            "{}",
            whole.report
        );
        assert_eq!(deals(&whole).len(), 2);
    }
}
