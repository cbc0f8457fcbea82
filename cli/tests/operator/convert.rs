//! `funil convert` on the files of `examples/moving-in` (C-105).

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Bench, Ended};

/// A folder with the samples and the id map, and an instance.
struct Home {
    folder: TempDir,
    bench: Bench,
}

impl Home {
    fn new() -> Self {
        let (folder, bench) = (tempfile::tempdir().unwrap(), Bench::with_instance());
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/moving-in");
        for entry in fs::read_dir(samples).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
        }
        Self { folder, bench }
    }

    fn convert(&self, arguments: &str) -> Ended {
        let mut command = self.bench.command(&format!("convert {arguments}"));
        command.current_dir(self.folder.path()).output().unwrap().into()
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }
}

fn of_kind(lines: &str, kind: &str) -> Vec<Value> {
    let lines = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    lines.filter(|line| line["kind"] == kind).collect()
}

const CSV: &str = "--from csv --zone America/Sao_Paulo --admin ana@example.com";

#[test]
fn the_samples_are_converted() {
    for (arguments, code, summary) in [
        (
            "--from csv --zone UTC --admin Ana leads.csv",
            1,
            "converted: 3 user, 2 company, 3 lead, 1 funnel, 3 opportunity; 1 rows left out",
        ),
        (
            "--from hubspot --zone UTC hubspot-deals.csv hubspot-companies.csv hubspot-contacts.csv",
            0,
            "converted: 2 user, 2 company, 2 lead, 1 funnel, 2 opportunity",
        ),
        (
            "--from pipedrive --zone UTC pipedrive-deals.csv",
            0,
            "converted: 1 lossReason, 2 user, 2 company, 3 lead, 1 funnel, 3 opportunity",
        ),
        (
            "--from rdstation --zone UTC rdstation-negociacoes.csv",
            0,
            "converted: 1 lossReason, 2 user, 2 company, 3 lead, 1 funnel, 3 opportunity",
        ),
    ] {
        let home = Home::new();
        let ended = home.convert(arguments);
        assert_eq!(ended.code, code, "{ended:?}");
        assert!(
            ended.err.contains(&format!("{summary};")),
            "{summary}\n{}",
            ended.err
        );
        let imported = home.bench.import(&ended.out).document();
        assert_eq!(imported["refused"], json!([]), "{imported}");
    }
}

#[test]
fn values_of_a_table() {
    let home = Home::new();
    let ended = home.convert(&format!("{CSV} leads.csv"));
    let bad = "leads.csv:5: value: \"a combinar\" is no amount from 0 to 9999999999999.99 with at most two decimals and a \
               decimal comma\n";
    assert!(ended.err.contains(bad), "{}", ended.err);
    let leads = of_kind(&ended.out, "lead");
    assert_eq!(
        leads[0],
        json!({
            "kind": "lead", "id": 1, "email": "maria@example.com", "phone": "5511987654321", "firstname": "Maria",
            "lastname": "da Silva", "createDate": "2026-02-13T17:30:00.000Z", "company": 1, "owner": 1,
        })
    );
    assert_eq!(leads[2]["phone"], "551132221111");
    let opportunities = of_kind(&ended.out, "opportunity");
    assert_eq!(
        opportunities[0],
        json!({
            "kind": "opportunity", "id": 1, "title": "Cestas de café", "value": "1234.56", "status": "open",
            "createDate": "2026-02-13T17:30:00.000Z", "user": 1, "lead_id": 1, "crm_id": 1, "crm_column": 1,
            "fields": { "Placa": "ABC1D23" },
        })
    );
    let statuses: Vec<_> = opportunities.iter().map(|line| line["status"].clone()).collect();
    assert_eq!(statuses, ["open", "gain", "lost"]);
    let users = of_kind(&ended.out, "user");
    assert_eq!(
        users,
        [
            json!({
                "kind": "user", "id": 1, "name": "Ana", "lastName": "Souza", "email": "ana@example.com", "admin": true
            }),
            json!({ "kind": "user", "id": 2, "name": "Bruno", "lastName": "Lima" }),
        ]
    );
}

#[test]
fn a_map_changes_the_mapping() {
    let home = Home::new();
    let map = home.convert(&format!("{CSV} --dry-run leads.csv"));
    assert!(!home.folder.path().join("funil-ids.json").exists());
    assert!(map.out.contains("\"Telefone\" = \"lead.phone\"\n"), "{map:?}");
    home.write("map.toml", &map.out);
    let plain = home.convert(&format!("{CSV} leads.csv"));
    let mapped = home.convert(&format!("{CSV} --map map.toml leads.csv"));
    assert_eq!(plain.out, mapped.out);
    let changed = map
        .out
        .replace("\"lead.phone\"", "\"lead.mobile\"")
        .replace("\"opportunity:Placa\"", "\"lead:placa\"")
        .replace("\"Aberta\" = \"open\"", "\"Aberta\" = \"lost\"")
        .replace(
            "\"Funil\" = [\"Proposta\",\"Fechamento\",\"Contato\"]",
            "Funil = [\"Fechamento\", \"Proposta\"]\nFunnil = []",
        );
    home.write("map.toml", &changed);
    let mapped = home.convert(&format!("{CSV} --map map.toml leads.csv"));
    for shown in [
        "no row has the funnel \"Funnil\" of the map\n",
        "funnel \"Funil\" has the columns Fechamento, Proposta, Contato (in the order of the map)\n",
    ] {
        assert!(mapped.err.contains(shown), "{}", mapped.err);
    }
    let lead = &of_kind(&mapped.out, "lead")[0];
    assert_eq!(
        (&lead["mobile"], &lead["placa"]),
        (&json!("5511987654321"), &json!("ABC1D23"))
    );
    assert_eq!(of_kind(&mapped.out, "opportunity")[0]["status"], "lost");
    let columns = of_kind(&mapped.out, "funnel")[0]["columns"].clone();
    let names: Vec<_> = columns
        .as_array()
        .unwrap()
        .iter()
        .map(|column| column["name"].clone())
        .collect();
    assert_eq!(names, ["Fechamento", "Proposta", "Contato"]);
}

/// Files that share a name are named by their paths, so that each has its own mapping.
#[test]
fn files_with_one_name() {
    let home = Home::new();
    for (folder, name) in [("a", "Ana"), ("b", "Bia")] {
        fs::create_dir(home.folder.path().join(folder)).unwrap();
        let row = format!("Nome,E-mail,Obs\n{name},{folder}@example.com,x\n");
        home.write(&format!("{folder}/leads.csv"), &row);
    }
    let files = "a/leads.csv b/leads.csv";
    let map = home.convert(&format!("{CSV} --dry-run {files}"));
    home.write("map.toml", &map.out);
    let mapped = home.convert(&format!("{CSV} --map map.toml {files}"));
    assert_eq!(mapped.code, 0, "{mapped:?}");
    home.write("map.toml", "[files.\"a/leads.csv\"]\n\"Obs\" = \"\"\n");
    let mapped = home.convert(&format!("{CSV} --map map.toml {files}"));
    let leads = of_kind(&mapped.out, "lead");
    assert_eq!((&leads[0]["obs"], &leads[1]["obs"]), (&Value::Null, &json!("x")));
}

/// Files with fewer columns than those of a CRM, lines of totals, and many rows with one fault.
#[test]
fn files_of_other_programs() {
    let rows = (1..=12).map(|row| format!("P-{row};1/2/2026;Loja {row}, Ltda;Em análise;R$ {row},50\n"));
    let orders = "Nº Pedido;Data Emissão;Razão Social;Situação;Vlr. Total\n".to_owned()
        + &rows.collect::<String>()
        + ";2/2/2026;Loja 1, Ltda;Cancelado;1,00\nTOTAL GERAL;;;;79,00\n";
    let deals = "Nome;Etapa;Estado;Contatos;Email;Responsável\n\
                 Cestas;Fechado perdido;Perdida;Ana Sá, Bia Lima;a@x.com, b@x.com;Caio Reis\nVasos;Novo;Vendida;;;Caio Reis\n";
    for (product, text, summary, shown) in [
        (
            "csv",
            orders.clone(),
            "converted: 1 user, 12 company, 1 funnel, 13 opportunity",
            "status \"Em análise\": open (12)\n\
             funnel \"Funil\" has the columns Em análise, Cancelado (in the order of the rows, closed ones last; change it in the \
             map's [funnels])\nnew user 1: ana@example.com, with all permissions\n\
             a.csv has no column of stages; the status is the stage, else \"Entrada\" (13)\n\
             a.csv: a line of totals is left out (1)\n",
        ),
        (
            "csv",
            orders.replace("Nº Pedido", "Etapa"),
            "converted: 1 user; 13 rows left out",
            "a.csv:2: status: \"Em análise\" is unknown; add it to the map: [status] \"Em análise\" = \"open\", \"gain\" or \
             \"lost\" (and 11 more rows)\na.csv:14: column: the stage is missing\n",
        ),
        // The omitted row adds no lead either.
        (
            "csv",
            "Cliente;Telefone;Oportunidade;Etapa;Valor\nDora;abc;Cestas;Novo;10,00\n".to_owned(),
            "converted: 1 user; 1 rows left out",
            "a.csv:2: phone: \"abc\" is no telephone number\n",
        ),
        (
            "rdstation",
            deals.to_owned(),
            "converted: 2 user, 1 lead, 1 funnel, 2 opportunity",
            "has the columns Novo, Fechado perdido (in the order of the rows, closed ones last; change it in the map's [funnels])\n\
             new user 1: ana@example.com, with all permissions\nnew user 2: Caio Reis\n\
             if ana@example.com is the address of another of these users, convert again with --admin \"NAME (ana@example.com)\"\n\
             a.csv: the first one of several contacts is used (1)\n",
        ),
    ] {
        let home = Home::new();
        home.write("a.csv", &text);
        let arguments = CSV.replace("csv", product);
        let ended = home.convert(&format!("{arguments} a.csv"));
        assert!(ended.err.contains(shown), "{shown}\n{}", ended.err);
        assert!(ended.err.contains(summary), "{summary}\n{}", ended.err);
        for lead in of_kind(&ended.out, "lead") {
            let names = (&lead["lastname"], &lead["email"], &lead["email_2"]);
            assert_eq!(names, (&json!("Sá"), &json!("a@x.com"), &Value::Null));
        }
    }
}

#[test]
fn what_is_wrong_with_a_command_is_named_with_the_next_step() {
    let home = Home::new();
    home.write("empty.csv", "");
    home.write("book.csv", "PK\x03\x04");
    home.write("other.toml", "[columns]\nNome = \"lead.name\"\n");
    home.write("field.toml", "[columns]\nCliente = \"lead.nome\"\n");
    home.write("key.toml", "colums = 1\n");
    for (arguments, reason) in [
        ("leads.csv none.csv", "none.csv cannot be read: "),
        (
            "empty.csv",
            "empty.csv has no heading; the first line must name the columns",
        ),
        ("book.csv", "book.csv is a spreadsheet; save it as CSV first"),
        (
            "--map other.toml leads.csv",
            "--map: no file has a column \"Nome\"; copy the name from the first line of the file",
        ),
        (
            "--map field.toml leads.csv",
            "--map: \"lead.nome\" is no field; use lead:ALIAS or opportunity:NAME",
        ),
        (
            "--map key.toml leads.csv",
            "key.toml cannot be read: TOML parse error",
        ),
    ] {
        let ended = home.convert(&format!("{CSV} {arguments}"));
        assert_eq!((ended.code, ended.out.as_str()), (1, ""), "{arguments}");
        assert!(
            ended.err.starts_with(&format!("error: {reason}")),
            "{}",
            ended.err
        );
    }
    let usage = home.convert(&format!("{CSV} --json leads.csv"));
    assert_eq!(usage.code, 2);
}

/// Existing users are not created again, and assigned ids are above those of the instance.
#[test]
fn an_instance_with_records() {
    let home = Home::new();
    home.bench
        .funil("instance set acme timezone America/Recife")
        .done();
    let lines = concat!(
        r#"{"kind":"user","id":40,"name":"Bruno","lastName":"Lima"}"#,
        "\n",
        r#"{"kind":"lead","id":70}"#,
        "\n",
        r#"{"kind":"funnel","id":5,"name":"A","columns":[{"id":51,"name":"B"}]}"#,
        "\n",
    );
    home.bench.import(lines).done();
    let ended = home.convert("--from csv --instance acme --admin Ana leads.csv");
    assert!(
        ended.err.contains("local dates are in America/Recife"),
        "{}",
        ended.err
    );
    assert!(
        of_kind(&ended.out, "user")
            .iter()
            .all(|user| user["name"] != "Bruno")
    );
    let opportunities = of_kind(&ended.out, "opportunity");
    assert_eq!(
        (&opportunities[1]["user"], &opportunities[1]["lead_id"]),
        (&json!(40), &json!(72))
    );
    assert_eq!(
        (&opportunities[0]["crm_id"], &opportunities[0]["crm_column"]),
        (&json!(6), &json!(52))
    );
    let imported = home.bench.import(&ended.out).document();
    assert_eq!(
        (&imported["refused"], &imported["unchanged"]),
        (&json!([]), &json!(0))
    );
    let again = home.convert("--from csv --instance acme --admin Ana leads.csv");
    assert_eq!(of_kind(&again.out, "opportunity"), opportunities);
}
