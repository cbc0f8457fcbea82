//! `funil convert` on exports of many products and programs, in `tests/vectors/moving-in` (C-105).

use std::path::Path;
use std::{fs, io};

use serde_json::{Value, json};

use crate::support::{Bench, Ended};

/// An export, with the lines of the map that its conversion asks for, and the records that it becomes.
struct Case {
    folder: &'static str,
    /// Its files in the order in which they are named.
    files: &'static str,
    map: &'static [&'static str],
    /// The exit code with the map.
    code: i32,
    /// `title|value|status|column|person|created`.
    deals: &'static [&'static str],
    /// `name|email|phone|mobile`.
    leads: &'static [&'static str],
    shown: &'static [&'static str],
}

const NONE: Case = Case {
    folder: "",
    files: "p.csv",
    map: &[],
    code: 0,
    deals: &[],
    leads: &[],
    shown: &[],
};

/// Two deals that many of the files have.
const TWO: &[&str] = &[
    "Cestas|1234.56|open|Proposta|Lia Prado|2026-02-13T03:00:00.000Z",
    "Vitrine|980.00|gain|Fechamento|Caio Braga|2026-02-14T03:00:00.000Z",
];

const CASES: &[Case] = &[
    Case {
        folder: "amocrm-ru-cp1251",
        files: "amocrm_export_leads.csv",
        deals: &["Корзины|1234.00|open|Предложение|Лия|2026-02-13T13:00:00.000Z"],
        shown: &["windows-1251", "columns of kommo"],
        ..NONE
    },
    Case {
        folder: "bad-cell-cascade",
        files: "deals.csv contacts.csv",
        code: 1,
        deals: &[
            "A|10.00|open|Novo|Lia|2026-01-01T03:00:00.000Z",
            "B|10.00|open|Novo|Caio|2026-01-01T03:00:00.000Z",
            "C|10.00|open|Novo|Ines|2026-01-01T03:00:00.000Z",
        ],
        leads: &[
            "Lia|lia@example.com||",
            "Caio||5541998765432|",
            "Ines|ines@example.com|5511987654321|",
        ],
        shown: &[
            "contacts.csv:2: \"Phone Number\": \"ramal 12\" is no telephone number; it is kept as custom field phone_as_written",
            "contacts.csv:3: \"Email\": \"sem email\" is no e-mail address; it is kept as custom field email_as_written",
            "deals.csv has no column for the owner of an opportunity, so the user of --admin gets them",
        ],
        ..NONE
    },
    Case {
        folder: "erp-totals-a",
        map: &["absent.\"p.csv\" = [\"status\"]"],
        deals: &["1|100.00|open|Entrada|Lia|", "2|50.00|open|Entrada|Caio|"],
        shown: &[
            "p.csv:4: \"Total (2 pedidos)\" is a line of totals and is left out",
            "rows.\"p.csv\" = [4]",
        ],
        ..NONE
    },
    Case {
        folder: "erp-customer-called-total",
        map: &["absent.\"p.csv\" = [\"status\"]"],
        deals: &["1|100.00|open|Entrada|Total|", "2|50.00|open|Entrada|Caio|"],
        ..NONE
    },
    Case {
        folder: "excel-cp1252-sep-line",
        deals: &[
            "Cestas\r\n\"G\" ; P|1234.56|open|Proposta|Lia Prado|2026-02-13T03:00:00.000Z",
            "Vitrine|980.00|gain|Fechamento|Caio Braga|2026-02-14T03:00:00.000Z",
        ],
        shown: &["windows-1252, separated by ;"],
        ..NONE
    },
    Case {
        folder: "excel-cr-only",
        deals: TWO,
        ..NONE
    },
    Case {
        folder: "excel-utf16-tabs",
        files: "p.txt",
        deals: TWO,
        shown: &["UTF-16LE, separated by tabs"],
        ..NONE
    },
    Case {
        folder: "excel-one-bad-byte",
        code: 1,
        deals: &[
            "Cestas|1234.56|open|Proposta|Lia Prado|2026-02-13T03:00:00.000Z",
            "Vitrine|980.00|gain|Fechamento|Caio Braga|2026-02-14T03:00:00.000Z",
            "Açaí|10.00|open|Proposta|João Sá|2026-02-14T03:00:00.000Z",
            "Placa|1.00|open|Proposta|Ana\u{fffd}|2026-02-14T03:00:00.000Z",
        ],
        shown: &[
            "p.csv:5: \"Cliente\": \"Ana\u{fffd}\" has bytes that its encoding does not have",
            "--encoding",
        ],
        ..NONE
    },
    Case {
        folder: "excel-text-marks",
        files: "l.csv",
        leads: &[
            "Lia Prado|lia@example.com|5511987654321|",
            "Caio Braga|caio@example.com|5541998765432|",
        ],
        shown: &["8 values have a spreadsheet's mark of a text"],
        ..NONE
    },
    Case {
        folder: "excel-title-rows",
        deals: TWO,
        shown: &[
            "p.csv: lines 1 to 2, above the heading, are left out: \"Relatório de oportunidades - fevereiro\"",
        ],
        ..NONE
    },
    Case {
        folder: "google-contacts",
        files: "contacts.csv",
        leads: &[
            "Lia Prado|lia@example.com|5511987654321|551132221111",
            "Caio da Braga|caio@example.com|5541998765432|554133221100",
            "|zeca@example.com||",
        ],
        shown: &["columns of google"],
        ..NONE
    },
    Case {
        folder: "hubspot-record-id-contact",
        files: "contacts.csv companies.csv deals.csv",
        deals: &[
            "Cestas|1234.56|open|Presentation Scheduled|Lia Prado|2025-03-01T13:00:00.000Z",
            "Vitrine|980.00|gain|Closed Won|Caio Braga (Sample Contact)|2025-03-22T13:00:00.000Z",
        ],
        shown: &["columns of hubspot"],
        ..NONE
    },
    Case {
        folder: "hubspot-stage-suffix",
        files: "deals.csv",
        map: &["absent.\"deals.csv\" = [\"person\"]"],
        deals: &[
            "Cestas|1234.56|open|Presentation Scheduled (Sales Pipeline)||2025-03-01T13:00:00.000Z",
            "Vitrine|980.00|gain|Closed Won (Sales Pipeline)||2025-03-02T13:00:00.000Z",
            "Letreiro|500.00|lost|Closed Lost (Sales Pipeline)||2025-03-13T13:00:00.000Z",
            "Site|12000.00|gain|5. Closed Won (Sales Pipeline)||2025-03-13T13:00:00.000Z",
        ],
        ..NONE
    },
    Case {
        folder: "kommo-pt",
        files: "kommo_export_leads.csv",
        deals: &[
            "Cestas|1234.56|open|Proposta|Lia Prado|2026-02-01T13:00:00.000Z",
            "Vitrine|980.00|gain|Venda ganha|Caio Braga|2026-02-02T13:00:00.000Z",
            "Letreiro|0.00|lost|Venda perdida|Inês Nóbrega|2026-02-03T13:00:00.000Z",
        ],
        ..NONE
    },
    Case {
        folder: "outlook",
        files: "contacts.csv",
        leads: &["Lia Prado|lia@example.com|551132221111|5511987654321"],
        ..NONE
    },
    Case {
        folder: "outlook-pt",
        files: "contatos.csv",
        leads: &["Inês Prado|lia@example.com|551132221111|5511987654321"],
        shown: &["windows-1252"],
        ..NONE
    },
    Case {
        folder: "pipedrive-es",
        files: "deals-1.csv",
        deals: &[
            "Cestas|1234.56|open|Propuesta|Lia Prado|2026-02-01T13:00:00.000Z",
            "Escaparate|980.00|gain|Negociación|Caio Braga|2026-02-02T13:00:00.000Z",
        ],
        ..NONE
    },
    Case {
        folder: "pipedrive-unprefixed-pt",
        files: "deals-1-45.csv organizations-1-46.csv people-1-47.csv",
        deals: &[
            "Cestas de café|1234.56|open|Proposta|Lia Prado|2026-02-01T13:00:00.000Z",
            "Vitrine|980.00|gain|Negociação|Caio Braga|2026-02-02T13:00:00.000Z",
            "Letreiro|0.00|lost|Contato||2026-02-03T13:00:00.000Z",
        ],
        leads: &[
            "Lia Prado|lia@example.com|551132221111|5511987654321",
            "Caio Braga|caio@example.com||5541998765432",
        ],
        ..NONE
    },
    Case {
        folder: "piperun",
        files: "oportunidades.csv",
        deals: &[
            "Cestas|1234.56|open|Proposta|Lia Prado|2026-02-13T17:30:00.000Z",
            "Vitrine|980.00|gain|Negociação|Caio Braga|2026-02-14T12:00:00.000Z",
        ],
        ..NONE
    },
    Case {
        folder: "ploomes",
        files: "negocios.csv",
        deals: &[
            "Cestas|1234.56|open|Proposta|Lia Prado|2026-02-13T17:30:00.000Z",
            "Vitrine|980.00|gain|Negociação|Caio Braga|2026-02-14T12:00:00.000Z",
        ],
        ..NONE
    },
    Case {
        folder: "rd-crm",
        files: "negociacoes.csv",
        deals: &[
            "Cestas|1234.56|open|Proposta|Lia Prado|2026-02-13T17:30:00.000Z",
            "Vitrine|980.00|gain|Negociação|Caio Braga|2026-02-14T12:00:00.000Z",
            "Letreiro|0.00|lost|Contato||2026-02-14T12:00:00.000Z",
        ],
        ..NONE
    },
    Case {
        folder: "rd-marketing",
        files: "leads.csv",
        leads: &["Lia Prado|lia@example.com||5511987654321", "|caio@example.com||"],
        ..NONE
    },
    Case {
        folder: "rounded-phone",
        files: "l.csv",
        code: 1,
        leads: &["Lia|lia@example.com||"],
        shown: &["\"5,51199E+12\" is a number that a spreadsheet has rounded"],
        ..NONE
    },
    Case {
        folder: "salesforce-report",
        files: "report1699999999999.csv",
        map: &["absent.\"report1699999999999.csv\" = [\"person\"]"],
        deals: &[
            "Cestas|1234.56|open|Proposal/Price Quote||2026-02-01T03:00:00.000Z",
            "Vitrine|980.00|gain|Closed Won||2026-02-02T03:00:00.000Z",
        ],
        shown: &["lines 6 to 10, below the rows, are left out"],
        ..NONE
    },
    Case {
        folder: "xlsx",
        files: "deals.xlsx",
        deals: TWO,
        leads: &[
            "Lia Prado|lia@example.com|5511987654321|",
            "Caio Braga|caio@example.com||",
        ],
        ..NONE
    },
];

/// A folder with the files of a case, and the instance.
struct Walk {
    folder: tempfile::TempDir,
    bench: Bench,
}

impl Walk {
    fn of(case: &Case) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let vectors = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/vectors/moving-in");
        for entry in fs::read_dir(vectors.join(case.folder)).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
        }
        let bench = Bench::with_instance();
        Self { folder, bench }
    }

    fn convert(&self, arguments: &str) -> Ended {
        let mut command = self.bench.command(&format!("convert {arguments}"));
        command.current_dir(self.folder.path()).output().unwrap().into()
    }
}

fn records(lines: &str, kind: &str) -> Vec<Value> {
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["kind"] == kind).collect()
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

fn name_of(lead: &Value) -> String {
    format!("{} {}", text(&lead["firstname"]), text(&lead["lastname"]))
        .trim()
        .to_owned()
}

fn deals(lines: &str) -> Vec<String> {
    let (leads, funnels) = (records(lines, "lead"), records(lines, "funnel"));
    let shown = |deal: &Value| {
        let person = leads
            .iter()
            .find(|lead| lead["id"] == deal["lead_id"])
            .map(name_of);
        let columns = funnels
            .iter()
            .flat_map(|funnel| funnel["columns"].as_array().unwrap());
        let column = columns
            .clone()
            .find(|column| column["id"] == deal["crm_column"])
            .unwrap();
        let texts = ["title", "value", "status"].map(|field| text(&deal[field]));
        format!(
            "{}|{}|{}|{}",
            texts.join("|"),
            text(&column["name"]),
            person.unwrap_or_default(),
            text(&deal["createDate"])
        )
    };
    records(lines, "opportunity").iter().map(shown).collect()
}

fn leads(lines: &str) -> Vec<String> {
    let shown = |lead: &Value| {
        let texts = ["email", "phone", "mobile"].map(|field| text(&lead[field]));
        format!("{}|{}", name_of(lead), texts.join("|"))
    };
    records(lines, "lead").iter().map(shown).collect()
}

/// Each export becomes the right records, or asks for lines of a map with which it does. The import takes all records, and a
/// second conversion into the instance changes nothing.
#[test]
fn exports_become_the_right_records() -> io::Result<()> {
    for case in CASES {
        let walk = Walk::of(case);
        let mut options = "--zone America/Sao_Paulo --admin ana@example.com".to_owned();
        if !case.map.is_empty() {
            let asked = walk.convert(&format!("{options} {}", case.files));
            assert_eq!(
                (asked.code, asked.out.as_str()),
                (1, ""),
                "{}: {asked:?}",
                case.folder
            );
            for line in case.map {
                assert!(asked.err.contains(line), "{}: {line}\n{}", case.folder, asked.err);
            }
            fs::write(walk.folder.path().join("map.toml"), case.map.join("\n"))?;
            options += " --map map.toml";
        }
        let ended = walk.convert(&format!("{options} {}", case.files));
        assert_eq!(ended.code, case.code, "{}\n{}", case.folder, ended.err);
        assert_eq!(deals(&ended.out), case.deals, "{}\n{}", case.folder, ended.err);
        if !case.leads.is_empty() {
            assert_eq!(leads(&ended.out), case.leads, "{}\n{}", case.folder, ended.err);
        }
        for shown in case.shown {
            assert!(
                ended.err.contains(shown),
                "{}: {shown}\n{}",
                case.folder,
                ended.err
            );
        }
        let imported = walk.bench.import(&ended.out).document();
        assert_eq!(imported["refused"], json!([]), "{}", case.folder);
        let options = options.replace("--zone America/Sao_Paulo", "--instance acme");
        let again = walk.convert(&format!("{options} {}", case.files));
        assert_eq!(again.code, case.code, "{}\n{}", case.folder, again.err);
        let imported = walk.bench.import(&again.out).document();
        assert_eq!(
            (&imported["imported"], &imported["refused"]),
            (&json!(0), &json!([])),
            "{}",
            case.folder
        );
    }
    Ok(())
}

#[test]
fn an_old_workbook_is_refused_by_its_content() {
    let walk = Walk::of(&Case {
        folder: "old-xls",
        ..NONE
    });
    let ended = walk.convert("--zone UTC deals.xls");
    assert_eq!((ended.code, ended.out.as_str()), (1, ""));
    assert!(
        ended.err.starts_with("error: deals.xls is an old Excel workbook"),
        "{}",
        ended.err
    );
}
