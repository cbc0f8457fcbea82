//! `funil convert` on the files of `examples/moving-in` (C-105).

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::{Bench, Ended};

/// A folder with the samples and the id map, and an instance.
pub struct Home {
    pub folder: TempDir,
    pub bench: Bench,
}

impl Home {
    pub fn new() -> Self {
        let (folder, bench) = (tempfile::tempdir().unwrap(), Bench::with_instance());
        let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/moving-in");
        for entry in fs::read_dir(samples).unwrap() {
            let path = entry.unwrap().path();
            fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
        }
        Self { folder, bench }
    }

    pub fn convert(&self, arguments: &str) -> Ended {
        let mut command = self.bench.command(&format!("convert {arguments}"));
        command.current_dir(self.folder.path()).output().unwrap().into()
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.folder.path().join(name), text).unwrap();
    }
}

pub fn of_kind(lines: &str, kind: &str) -> Vec<Value> {
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
    let bad = "leads.csv:5: \"Valor\": \"a combinar\" is no amount\n";
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
                "kind": "user", "id": 1, "name": "Ana", "lastName": "Souza", "email": "ana@example.com", "admin": true,
                "merge": true
            }),
            json!({ "kind": "user", "id": 2, "name": "Bruno", "lastName": "Lima", "merge": true }),
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
            "Funil = [\"Fechamento\", \"Proposta\"]\nfunnels.Funnil = []",
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

/// An ERP's orders without persons and stages, and a CRM's file with several contacts.
#[test]
fn files_of_other_programs() {
    let rows = (1..=12).map(|row| format!("P-{row};1/2/2026;Loja {row}, Ltda;Em análise;R$ {row},50\n"));
    let orders = "Nº Pedido;Data Emissão;Razão Social;Situação;Vlr. Total\n".to_owned()
        + &rows.collect::<String>()
        + ";20/2/2026;Loja 1, Ltda;Cancelado;1,00\nTOTAL GERAL;;;;85,00\n";
    let deals = "Nome;Etapa;Estado;Contatos;Email;Responsável\n\
                 Cestas;Fechado perdido;Perdida;Ana Sá, Bia Lima;a@x.com, b@x.com;Caio Reis\nVasos;Novo;Vendida;;;Caio Reis\n";
    for (product, text, absent, summary, shown) in [
        (
            "csv",
            orders.clone(),
            "[\"person\"]",
            "converted: 1 user, 12 company, 1 funnel, 13 opportunity;",
            "status \"Em análise\": open (12)\n\
             funnel \"Funil\" has the columns Em análise, Cancelado (in the order of the rows, closed ones last; change it in the \
             map's [funnels])\namounts in BRL: 12\nnew user 1: ana@example.com, with all permissions\n\
             a.csv has no column of stages; the status is the stage, else \"Entrada\" (13)\n",
        ),
        (
            "csv",
            orders.replace("Nº Pedido", "Etapa"),
            "[\"title\", \"person\"]",
            "nothing is converted; answer the questions and convert all files again (1 user; 13 rows left out)",
            "a.csv:2: status: \"Em análise\" is unknown; add to the map: status.\"Em análise\" = \"open\", \"gain\" or \
             \"lost\" (and 11 more rows)\na.csv:14: column: the stage is missing\n",
        ),
        (
            "rdstation",
            deals.to_owned(),
            "[\"value\"]",
            "converted: 2 user, 1 lead, 1 funnel, 2 opportunity;",
            "has the columns Novo, Fechado perdido (in the order of the rows, closed ones last; change it in the map's [funnels])\n\
             new user 1: ana@example.com, with all permissions\nnew user 2: Caio Reis\n\
             if ana@example.com is the address of another of these users, convert again with --admin \"NAME (ana@example.com)\"\n\
             a.csv: opportunities without a person (1)\na.csv: the first one of several contacts is used (1)\n",
        ),
    ] {
        let home = Home::new();
        home.write("a.csv", &text);
        home.write("map.toml", &format!("absent.\"a.csv\" = {absent}"));
        let arguments = CSV.replace("csv", product);
        let ended = home.convert(&format!("{arguments} --map map.toml a.csv"));
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
        ("book.csv", "book.csv is a damaged zip archive"),
        (
            "--map other.toml leads.csv",
            "--map: no file has a column \"Nome\"; copy the name from the heading of the file",
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

/// Existing users and funnels are used, and new records get ids that are reserved in the instance.
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
        r#"{"kind":"funnel","id":5,"name":"Funil","columns":[{"id":51,"name":"Proposta"}],"access":{"users":[40]}}"#,
        "\n",
    );
    home.bench.import(lines).done();
    let ended = home.convert("--instance acme --zone UTC --admin Ana leads.csv");
    for shown in [
        "local dates are in America/Recife",
        "the instance is in America/Recife, so local dates are too, and not in UTC of --zone",
        "there is no funil-ids.json, and the instance has leads or opportunities",
    ] {
        assert!(ended.err.contains(shown), "{}", ended.err);
    }
    let users = of_kind(&ended.out, "user");
    assert!(users.iter().all(|user| user["name"] != "Bruno"));
    let opportunities = of_kind(&ended.out, "opportunity");
    assert_eq!(
        (&opportunities[1]["user"], &opportunities[1]["lead_id"]),
        (&json!(40), &json!(72))
    );
    assert_eq!(
        (&opportunities[0]["crm_id"], &opportunities[0]["crm_column"]),
        (&json!(5), &json!(51))
    );
    // A record of the instance made since has a later id.
    let counter = home.bench.item("acme#counter", "lead").unwrap();
    assert_eq!(counter["lead"]["N"], "73");
    let imported = home.bench.import(&ended.out).document();
    assert_eq!(
        (&imported["refused"], &imported["unchanged"]),
        (&json!([]), &json!(0))
    );
    let funnel = of_kind(&home.bench.export(), "funnel");
    let names: Vec<_> = funnel[0]["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| column["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        (names, &funnel[0]["access"]),
        (
            vec!["Proposta", "Fechamento", "Contato"],
            &json!({ "users": [40], "departments": [], "groups": [] })
        )
    );
    // Nothing is new, so nothing is reserved.
    let again = home.convert("--instance acme --admin Ana leads.csv");
    assert!(!again.err.contains("there is no funil-ids.json"), "{}", again.err);
    assert_eq!(of_kind(&again.out, "opportunity"), opportunities);
    assert_eq!(home.bench.item("acme#counter", "lead"), Some(counter));
    assert_eq!(home.bench.import(&again.out).document()["imported"], 0);
}

/// What the operator changed stays: names, access, groups. A stage of a newer export is added.
#[test]
fn a_newer_export_adds_what_is_missing() {
    let home = Home::new();
    let first = home.convert(&format!("{CSV} leads.csv"));
    home.bench.import(&first.out).done();
    let changed = concat!(
        r#"{"kind":"funnel","id":1,"name":"Vendas SP","columns":[{"id":1,"name":"Oferta"},{"id":2,"name":"Fim"},{"id":3,"name":"C"},{"id":9,"name":"Extra"}],"access":{"users":[1]}}"#,
        "\n",
        r#"{"kind":"user","id":2,"name":"Bruno","lastName":"Lima","email":"bruno@example.com"}"#,
        "\n",
        r#"{"kind":"setting","name":"timezone","value":"America/Recife"}"#,
        "\n",
    );
    home.bench.import(changed).done();
    let newer = "Cliente;E-mail;Telefone;Empresa;Oportunidade;Valor;Etapa;Situação;Vendedor;Criado em;Placa\n\
                 Maria da Silva;maria@example.com;(11) 98765-4321;Padaria Estrela;Cestas de café;R$ 2.000,00;Assinatura;Aberta;\
                 Ana Souza (ana@example.com);13/02/2026 14:30;ABC1D23\n";
    home.write("leads.csv", newer);
    let ended = home.convert(&format!("{CSV} leads.csv")).done();
    let imported = home.bench.import(&ended.out).document();
    assert_eq!(
        (&imported["imported"], &imported["refused"]),
        (&json!(2), &json!([])),
        "{imported}"
    );
    assert_eq!(
        imported["warnings"],
        json!([
            "line 1: setting timezone is \"America/Recife\" and stays so, and the line has \"America/Sao_Paulo\""
        ])
    );
    let export = home.bench.export();
    let funnel = &of_kind(&export, "funnel")[0];
    let names: Vec<_> = funnel["columns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|column| column["name"].as_str().unwrap())
        .collect();
    assert_eq!(
        (&funnel["name"], names),
        (
            &json!("Vendas SP"),
            vec!["Oferta", "Fim", "C", "Extra", "Assinatura"]
        )
    );
    assert_eq!(
        funnel["access"],
        json!({ "users": [1], "departments": [], "groups": [] })
    );
    assert_eq!(of_kind(&export, "user")[1]["email"], "bruno@example.com");
    let deal = of_kind(&export, "opportunity")
        .into_iter()
        .find(|deal| deal["title"] == "Cestas de café")
        .unwrap();
    assert_eq!((&deal["id"], &deal["value"]), (&json!(1), &json!("2000.00")));
    // The dates of these files are in one zone.
    let moved = home.convert("--zone UTC --admin ana@example.com leads.csv");
    assert!(
        moved.err.contains("were converted in America/Sao_Paulo before"),
        "{}",
        moved.err
    );
}

/// An id that an import refuses is replaced by another one.
#[test]
fn ids_that_are_too_high() {
    let home = Home::new();
    home.write(
        "p.csv",
        "ID;Nome;E-mail\n999999999999999;Lia;lia@x.com\n7;Caio;caio@x.com\n8.0;Bia;bia@x.com\n",
    );
    let ended = home.convert("--zone UTC p.csv").done();
    let ids: Vec<_> = of_kind(&ended.out, "lead")
        .iter()
        .map(|lead| lead["id"].clone())
        .collect();
    assert_eq!(ids, [1, 7, 8]);
    let refused = home
        .bench
        .import("{\"kind\":\"lead\",\"id\":999999999999999}\n")
        .document();
    let reason = "id: must be at most 899999999999999, because later records get higher ids";
    assert_eq!(refused["refused"], json!([{ "line": 1, "reason": reason }]));
}

/// A file without rows does not stop the others.
#[test]
fn files_without_rows() {
    let home = Home::new();
    home.write("a.csv", "Nome,Email\nLia,lia@x.com\n");
    home.write("b.csv", "Nome,Email\n");
    let ended = home.convert("--zone UTC a.csv b.csv").done();
    assert_eq!(of_kind(&ended.out, "lead").len(), 1);
    let ended = home.convert("--zone UTC b.csv");
    assert_eq!((ended.code, ended.out.as_str()), (1, ""));
    assert!(ended.err.contains("have headings and no rows"), "{}", ended.err);
}

/// A file that is no NDJSON is told to be converted.
#[test]
fn an_export_is_no_import() {
    let home = Home::new();
    let text = fs::read(home.folder.path().join("leads.csv")).unwrap();
    let ended = home.bench.funil_reading("import --instance acme -", &text);
    assert_eq!(ended.code, 1);
    assert!(
        ended.err.contains("the file is no NDJSON") && ended.err.contains("funil convert FILE"),
        "{}",
        ended.err
    );
}
