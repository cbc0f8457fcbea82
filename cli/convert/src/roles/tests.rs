//! Tables of which the values decide about the columns, and the printed lines with which they become the right records.

use crate::input::Sheet;
use crate::tests::whole;
use crate::{IdMap, MapFile, Product, ReadOptions, read};

struct Case {
    text: &'static str,
    /// Lines of the questions; none if the table is converted without.
    asked: &'static [&'static str],
    /// Lines of the doubts.
    judged: &'static [&'static str],
    /// `title|value|status|person` by the printed lines.
    deals: &'static [&'static str],
}

const CASES: &[Case] = &[
    Case {
        text: "Negócio;Cliente;Valor;Etapa;Conclusão\nA;Lia;1,50;Proposta;Vendida\nB;Rui;2,00;Proposta;Perdida\n\
               C;Zé;3,00;Proposta;\n",
        asked: &["files.\"p.csv\".\"Conclusão\" = \"opportunity.status\""],
        judged: &[],
        deals: &["A|1.50|gain|Lia", "B|2.00|lost|Rui", "C|3.00|open|Zé"],
    },
    Case {
        text: "Negócio;Cliente;Valor;Etapa;Ganho\nA;Lia;1,50;Proposta;Sim\nB;Rui;2,00;Proposta;Não\n",
        asked: &["closed.\"p.csv\".\"Ganho\" = \"gain\"  # or \"open\""],
        judged: &[],
        deals: &["A|1.50|gain|Lia", "B|2.00|open|Rui"],
    },
    Case {
        text: "Negócio;Cliente;Valor;Etapa;Ganho?;Motivo da perda\nA;Lia;1,50;X;Sim;Não se aplica\nB;Rui;2,00;X;Pendente;\n\
               C;Zé;3,00;X;Não;#REF!\nD;Bia;4,00;X;Não;Aguardando retorno\nE;Eva;5,00;X;Ainda não;Preço\n",
        asked: &[
            "closed.\"p.csv\".\"Ganho?\" = \"gain\"  # or \"open\"",
            "closed.\"p.csv\".\"Motivo da perda\" = \"lost\"  # or \"open\"",
        ],
        judged: &[],
        deals: &[
            "A|1.50|gain|Lia",
            "B|2.00|open|Rui",
            "C|3.00|open|Zé",
            "D|4.00|open|Bia",
            "E|5.00|lost|Eva",
        ],
    },
    Case {
        text: "Deal Name,Contact,Amount,Stage,Closed,Won\nA,Lia,1.50,X,1,1\nB,Rui,2.00,X,1,0\nC,Zé,3.00,X,0,0\n",
        asked: &[
            "closed.\"p.csv\".\"Closed\" = \"lost\"  # or \"open\"",
            "closed.\"p.csv\".\"Won\" = \"gain\"  # or \"open\"",
        ],
        judged: &[],
        deals: &["A|1.50|gain|Lia", "B|2.00|lost|Rui", "C|3.00|open|Zé"],
    },
    Case {
        text: "Negócio;Cliente;Valor;Etapa;Ganho em;Motivo da perda\nA;Lia;1,50;X;2026-03-15;\nB;Rui;2,00;X;;Preço\n",
        asked: &[
            "closed.\"p.csv\".\"Ganho em\" = \"gain\"  # or \"open\"",
            "closed.\"p.csv\".\"Motivo da perda\" = \"lost\"  # or \"open\"",
        ],
        judged: &[],
        deals: &["A|1.50|gain|Lia", "B|2.00|lost|Rui"],
    },
    Case {
        text: "Negócio;Cliente;Valor;Etapa;Situação;Motivo da perda\nA;Lia;1,50;X;Aberta;Preço\n",
        asked: &[],
        judged: &["closed.\"p.csv\".\"Motivo da perda\" = \"lost\"  # or \"open\""],
        deals: &["A|1.50|lost|Lia"],
    },
    Case {
        text: "Negócio;Cliente;Valor;Etapa\nA;Lia;1,50;X\nB;Rui;2,00;Sem interesse\n",
        asked: &[],
        judged: &["status.\"Sem interesse\" = \"lost\""],
        deals: &["A|1.50|open|Lia", "B|2.00|lost|Rui"],
    },
    Case {
        text: "Negócio;Cliente;Valor;Status\nA;Lia;1,50;Vendemos\nB;Rui;2,00;Desistiu\nC;Zé;3,00;Em análise\n",
        asked: &[],
        judged: &[
            "status.\"Desistiu\" = \"lost\"",
            "status.\"Em análise\" = \"open\"  # or \"gain\", \"lost\"",
            "status.\"Vendemos\" = \"gain\"",
        ],
        deals: &["A|1.50|gain|Lia", "B|2.00|lost|Rui", "C|3.00|open|Zé"],
    },
    Case {
        text: "Negócio;Cliente;Contato;Valor;Etapa\nA;Sol;Maria Luz;1,50;X\nB;Sol;Rui Sá;2,00;X\n",
        asked: &[],
        judged: &["files.\"p.csv\".\"Cliente\" = \"company.companyname\""],
        deals: &["A|1.50|open|Maria Luz", "B|2.00|open|Rui Sá"],
    },
    Case {
        text: "Name,Primary Contact Name,Primary Contact Email,Value,Stage\nA,Lia,l@x.com,1.50,X\nB,Lia,m@x.com,2.00,X\n",
        asked: &[],
        judged: &[],
        deals: &["A|1.50|open|Lia", "B|2.00|open|Lia"],
    },
    Case {
        text: "Negócio;Cliente;Endereço digital;Valor;Etapa\nA;Lia;l@x.com;1,50;X\nB;Lia;m@x.com;2,00;X\n",
        asked: &[],
        judged: &["files.\"p.csv\".\"Endereço digital\" = \"lead.email\""],
        deals: &["A|1.50|open|Lia", "B|2.00|open|Lia"],
    },
    Case {
        text: "Deal Name,Contact,Amount,Paid in,Stage\nA,Lia,1.50,USD,X\nB,Rui,2.00,USD,X\n",
        asked: &[],
        judged: &["files.\"p.csv\".\"Paid in\" = \"opportunity.currency\""],
        deals: &["A|1.50|open|Lia", "B|2.00|open|Rui"],
    },
    Case {
        text: "Negócio;Cliente;Valor único;Valor mensal;Etapa\nA;Lia;0,00;1,50;X\nB;Rui;2,00;9,00;X\n",
        asked: &[
            "files.\"p.csv\".\"Valor mensal\" = \"opportunity.value\"",
            "files.\"p.csv\".\"Valor único\" = \"opportunity.value\"",
        ],
        judged: &[],
        deals: &["A|1.50|open|Lia", "B|2.00|open|Rui"],
    },
    Case {
        text: "Negócio;Cliente;Valor proposta;Valor fechado;Etapa\nA;Lia;R$ 9,00;R$ 8,00;X\nB;Rui;R$ 2,00;;X\n",
        asked: &[
            "files.\"p.csv\".\"Valor fechado\" = \"opportunity.value\"",
            "files.\"p.csv\".\"Valor proposta\" = \"opportunity.value\"",
        ],
        judged: &[],
        deals: &["A|9.00|open|Lia", "B|2.00|open|Rui"],
    },
    Case {
        text: "Deal Name;Contact;Total;Lineitem price;Parcela nº;Valor pago;Stage\nA;Lia;9.00;7.00;3;0.00;X\n\
               B;Rui;2.00;1.00;4;2.00;X\n",
        asked: &[],
        judged: &[],
        deals: &["A|9.00|open|Lia", "B|2.00|open|Rui"],
    },
    Case {
        text: "Negócio;Cliente;Lineitem price;N.º de venda;Faturamento;Etapa\nA;Lia;7.00;1001;9.00;X\n",
        asked: &["files.\"p.csv\".\"Faturamento\" = \"opportunity.value\""],
        judged: &[],
        deals: &["A|9.00|open|Lia"],
    },
    Case {
        text: "Negócio;Cliente;Combinado;Etapa\nA;Lia;R$ 9,00;X\n",
        asked: &["files.\"p.csv\".\"Combinado\" = \"opportunity.value\""],
        judged: &[],
        deals: &["A|9.00|open|Lia"],
    },
    Case {
        text: "Negócio;Cliente;Valor;Status;Dia em que fechou;Data de nascimento;Motivação\n\
               A;Lia;1,50;Ganho;2026-03-15;2000-01-01;\nB;Rui;2,00;Perdido;2026-03-16;2000-01-01;Preço\n",
        asked: &[],
        judged: &[
            "files.\"p.csv\".\"Dia em que fechou\" = \"opportunity.closeDate\"",
            "files.\"p.csv\".\"Motivação\" = \"opportunity.loss_reason\"",
        ],
        deals: &["A|1.50|gain|Lia", "B|2.00|lost|Rui"],
    },
    Case {
        text: "Negócio;Fonte do contato;Código do vendedor;Comprador;Valor;Etapa\nA;Site;7;Lia;1,50;X\n",
        asked: &["files.\"p.csv\".\"Comprador\" = \"lead.name\""],
        judged: &[],
        deals: &["A|1.50|open|Lia"],
    },
];

/// The sheets of tables, between which is an empty line.
fn sheets(text: &str) -> Vec<Sheet> {
    let names = ["p.csv", "q.csv"].into_iter().zip(text.split("\n\n"));
    let sheets = names.map(|(name, text)| {
        let bytes = text.as_bytes().to_vec();
        read(name.to_owned(), bytes, ReadOptions::default()).unwrap()
    });
    sheets.collect()
}

/// The questions, the doubts and the lines of tables.
fn converted(text: &str, map: &str) -> (Vec<String>, Vec<String>, String) {
    let map = MapFile::read(map).unwrap();
    let sheets = sheets(text);
    map.check(&sheets).unwrap();
    let whole = whole(sheets, Product::Csv, &map, None, IdMap::default());
    (whole.questions, whole.doubts, whole.lines)
}

/// The lines of a map in texts, without remarks and those for files of another kind or without a role.
fn lines(texts: &[String]) -> Vec<&str> {
    let lines = texts
        .iter()
        .flat_map(|text| text.lines())
        .filter_map(|line| line.strip_prefix("    "));
    let mut lines: Vec<_> = lines
        .filter(|line| {
            !["#", "kinds.", "absent."]
                .iter()
                .any(|start| line.starts_with(start))
        })
        .collect();
    lines.sort_unstable();
    lines
}

fn deals(lines: &str) -> Vec<String> {
    let lines = lines.lines().map(|line| serde_json::from_str(line).unwrap());
    let records: Vec<serde_json::Value> = lines.collect();
    let of = |kind: &'static str| records.iter().filter(move |record| record["kind"] == kind);
    let text = |value: &serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let shown = |deal: &serde_json::Value| {
        let lead = of("lead").find(|lead| lead["id"] == deal["lead_id"]);
        let name =
            |lead: &serde_json::Value| format!("{} {}", text(&lead["firstname"]), text(&lead["lastname"]));
        let person = lead.map(name).unwrap_or_default();
        let texts = ["title", "value", "status"].map(|field| text(&deal[field]));
        format!("{}|{}", texts.join("|"), person.trim())
    };
    of("opportunity").map(shown).collect()
}

/// The printed lines answer what the values leave open, and give the right records.
#[test]
fn printed_lines_give_the_right_records() {
    for case in CASES {
        let (asked, judged, _) = converted(case.text, "");
        assert_eq!(lines(&asked), case.asked, "{}", case.text);
        assert_eq!(lines(&judged), case.judged, "{}", case.text);
        let map = [lines(&asked), lines(&judged)].concat().join("\n");
        let (asked, _, out) = converted(case.text, &map);
        assert_eq!(asked, Vec::<String>::new(), "{}", case.text);
        assert_eq!(deals(&out), case.deals, "{}", case.text);
    }
}

/// The values are shown by which a column closes opportunities, and these are not shown as open.
#[test]
fn closed_by_a_column() {
    let text = "Negócio;Cliente;Valor;Etapa;Ganho?\nA;Lia;1,50;X;Sim\nB;Rui;2,00;X;Pendente\n";
    let (asked, _, _) = converted(text, "");
    assert!(asked[0].contains("    # by \"Sim\":\n    closed."), "{asked:?}");
    let map = MapFile::read("closed.\"p.csv\".\"Ganho?\" = \"gain\"").unwrap();
    let report = whole(sheets(text), Product::Csv, &map, None, IdMap::default()).report;
    assert!(report.contains("status \"X\": open (1)\n"), "{report}");
    assert!(
        report.contains("status \"X\": gain by a column under closed (1)\n"),
        "{report}"
    );
}

/// Values of a second column of a field are kept.
#[test]
fn further_values_are_custom_fields() {
    let text = "Negócio;Cliente;Contato;Valor;Etapa;Origem;Canal\nA;Sol;Maria;1,50;X;Site;Google\nB;Rui;rui;2,00;X;Site;\n";
    let (_, _, out) = converted(text, "");
    assert!(
        out.contains("\"fields\":{\"Contato\":\"Maria\",\"Canal\":\"Google\"}"),
        "{out}"
    );
    assert!(
        out.contains("\"title\":\"B\",\"value\":\"2.00\",\"status\":\"open\""),
        "{out}"
    );
    assert_eq!(out.matches("Contato").count(), 2, "{out}");
    // That of a map is the first.
    let (_, _, out) = converted(text, "columns.\"Canal\" = \"opportunity.sale_channel\"");
    assert!(out.contains("\"sale_channel\":\"Google\""), "{out}");
    assert!(out.contains("\"Origem\":\"Site\""), "{out}");
}

/// Two persons of one name with ids are two.
#[test]
fn ids_of_persons() {
    let text = "Name,Primary Contact,Primary Contact Id,Value,Stage\nA,Caio,7,1.50,X\nB,Caio,8,2.00,X\n";
    let (_, _, out) = converted(text, "");
    assert_eq!(out.matches("\"kind\":\"lead\"").count(), 2, "{out}");
    // Persons of a file without ids are found by name.
    let text = format!("{text}\nName,Email\nCaio,c@x.com");
    let (_, judged, _) = converted(&text, "");
    let line = "files.\"p.csv\".\"Primary Contact Id\" = \"opportunity:Primary Contact Id\"";
    assert_eq!(lines(&judged), [line]);
    let (_, judged, out) = converted(&text, line);
    assert_eq!(
        (lines(&judged), out.matches("\"kind\":\"lead\"").count()),
        (vec![], 1)
    );
}

/// Amounts in several currencies are not added up, and a table without a heading is none.
#[test]
fn questions_without_a_line_that_is_right() {
    for (text, question) in [
        (
            "Deal Name,Contact,Amount,Paid in,Stage\nA,Lia,1.50,USD,X\nB,Rui,2.00,BRL,X\n",
            "column \"Paid in\" has codes of currencies",
        ),
        (
            "Deal Name,Contact,Value,Value Currency,Stage\nA,Lia,1.50,USD,X\nB,Rui,2.00,BRL,X\n",
            "amounts are in several currencies",
        ),
        (
            "Ana Souza;11987654321;ana@x.com\nBia Luz;11987654322;bia@x.com\n",
            "has no heading, because \"11987654321\" is no name",
        ),
        (
            "Nome;Pedido;Grupo\nLia;7;Clientes\n",
            "kinds.\"p.csv\" = \"lead\"  # if its rows are persons",
        ),
        (
            "Cliente;Orçamento;Etapa\nLia;R$ 9,00;X\n",
            "files.\"p.csv\".\"Orçamento\" = \"opportunity.value\"",
        ),
        (
            "Intitulé;Montant;Étape;Acheteur\nA;10,00;X;Lia\n",
            "kinds.\"p.csv\" = \"opportunity\"  # or \"company\", \"lead\"",
        ),
        (
            "Prénom usuel;Courriel\nLia;l@x.com\n",
            "kinds.\"p.csv\" = \"lead\"  # or \"company\", \"opportunity\"",
        ),
    ] {
        let (asked, _, _) = converted(text, "");
        assert!(
            asked.iter().any(|asked| asked.contains(question)),
            "{text}\n{asked:?}"
        );
    }
}
