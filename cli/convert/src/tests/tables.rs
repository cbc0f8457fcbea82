//! Tables as people and programs write them.

use super::*;

/// The text, a part of report and lines, and whether it is there.
type Case = (&'static str, &'static str, bool);

fn check(cases: &[Case]) {
    for (text, shown, is_shown) in cases {
        let read = converted(&format!("{text}\n"), "");
        assert_eq!(read.contains(shown), *is_shown, "{text}: {shown}\n{read}");
    }
}

/// An area code may have a column of its own.
#[test]
fn area_codes() {
    check(&[
        (
            "Cliente;DDD;Telefone;Pedido;Valor;Status\nMaria;11;98765-4321;A;1,00;Ganho\nMaria;21;98765-4321;B;2,00;Ganho",
            r#""phone":"5521987654321""#,
            true,
        ),
        (
            "Nome;DDD;Telefone\nLia;(041);3222-1111",
            r#""phone":"554132221111""#,
            true,
        ),
        (
            "Nome;DDD;Telefone\nLia;41;(11) 3222-1111",
            r#""phone":"551132221111""#,
            true,
        ),
        (
            "Nome;DDD;Celular;DDD 2;Telefone\nLia;11;98765-4321;41;3222-1111 / 98888-7777",
            r#""phone":"554132221111","phone_2":"5541988887777","mobile":"5511987654321""#,
            true,
        ),
        ("Nome;E-mail;DDD\nLia;l@x.com;11", r#""ddd":"11""#, true),
        (
            "Nome;DDD Celular;Celular\nLia;48;99123-4567",
            r#""mobile":"5548991234567""#,
            true,
        ),
    ]);
}

/// Ids and tax numbers that nobody has.
#[test]
fn numbers_that_identify_nobody() {
    const GUESTS: &str = "ID;Cliente ID;Cliente;E-mail;Pedido;Valor;Status\n1;0;Lia;l@x.com;A;1,00;Ganho\n\
                          2;-;Rui;r@x.com;B;1,00;Ganho\n3;;Zé;z@x.com;C;1,00;Ganho";
    const SHOPS: &str = "Empresa;CNPJ;Contato;Negócio;Valor;Status\nSol;00.000.000/0000-00;Lia;A;1,00;Ganho\n\
                         Lua;00.000.000/0000-00;Rui;B;1,00;Ganho\nMar;0;Zé;C;1,00;Ganho\nRio;0;Bia;D;1,00;Ganho";
    const BRANCH: &str = "Empresa;CNPJ;Cliente;Negócio;Valor;Status\nSol;12.345.678/0001-95;Lia;A;1,00;Ganho\n\
                          Sol Filial;12.345.678/0001-95;Rui;B;1,00;Ganho";
    check(&[
        (GUESTS, r#""lead_id":3"#, true),
        (SHOPS, r#""companyname":"Rio""#, true),
        (
            BRANCH,
            "a.csv: company \"Sol Filial\" has the CNPJ of another name, which is used (1)",
            true,
        ),
        (BRANCH, r#""companyname":"Sol Filial""#, false),
    ]);
}

#[test]
fn dates_and_reasons_of_sales() {
    const SALE: &str =
        "Cliente;Negócio;Valor;Status;Data;Data da venda\nLia;A;1,00;Ganho;13/02/2026;20/02/2026";
    const ENTRY: &str =
        "Data de entrada;Cliente;Negócio;Valor;Etapa;Data da venda\n13/02/2026;Lia;A;1,00;Ganho;20/02/2026";
    const REASON: &str =
        "Cliente;Negócio;Valor;Status;Motivo\nLia;A;1,00;Ganho;Preço bom\nRui;B;1,00;Perdido;Preço";
    const BLANK: &str = "Cliente;Negócio;Valor;Status;Data de fechamento\nLia;A;1,00;Aberto;não fechado\n\
                         Rui;B;1,00;Aberto;no cerrado\nZé;C;1,00;Aberto;Não ganho";
    check(&[
        (SALE, r#""gain_date":"2026-02-20"#, true),
        (ENTRY, r#""gain_date":"2026-02-20"#, true),
        (ENTRY, r#""createDate":"2026-02-13"#, true),
        (ENTRY, "\"Data da venda\" = \"opportunity.createDate\"", false),
        (REASON, r#""gain_reason":"Preço bom""#, true),
        (REASON, r#""name":"Preço bom""#, false),
        (REASON, r#""name":"Preço""#, true),
        (BLANK, r#""title":"C""#, true),
    ]);
}

/// Titles between rows, further rows of an order, and rows that nobody filled in.
#[test]
fn rows_that_are_no_records() {
    const SECTIONS: &str = "Cliente;Telefone;Negócio;Valor;Status\nEM ANDAMENTO;;;;\nLia;11 98765-4321;A;1,00;Aberto\n\
                            FECHADOS - FEVEREIRO/2026;;;;\nRui;21 98765-4321;B;2,00;Ganho\nTotal fechados: 1;;;2,00;";
    const ORDERS: &str =
        "Pedido;Cliente;Valor;Status;Produto\n101;Lia;1,00;Aberto;Bolo\n101;;;;Vela\n102;Rui;;;Bolo";
    const UNUSED: &str =
        "Cliente;Negócio;Valor;Status;Pago\nLia;A;1,00;Aberto;FALSO\n;;R$ 0,00;;FALSO\n;;;;FALSO";
    const NUMBERED: &str = "Nº;Cliente;Negócio;Valor;Status\n1;Lia;A;1,00;Aberto\n2;;;;\n3;;;;";
    check(&[
        (
            SECTIONS,
            "2: \"EM ANDAMENTO\" is the row's only value, so it is left out as a title",
            true,
        ),
        (SECTIONS, "rows.\"a.csv\" = [4]", true),
        (SECTIONS, "7: \"Total fechados: 1\" is a line of totals", false),
        (SECTIONS, "6: \"Total fechados: 1\" is a line of totals", true),
        (SECTIONS, "status.\"\"", false),
        (
            ORDERS,
            "a.csv:3: status: is missing, as is the amount; the row before has the same title",
            true,
        ),
        (ORDERS, "a.csv:4: status: is missing; add to the map", true),
        (UNUSED, "a.csv: rows without values are left out (2)", true),
        (UNUSED, "is missing", false),
        (NUMBERED, "a.csv: rows without values are left out (2)", true),
        ("Telefone;Nome\n11987654321;", r#""phone":"5511987654321""#, true),
    ]);
}

/// A word after a "no" is the contrary.
#[test]
fn words_after_a_no() {
    const HEAD: &str = "Cliente;Negócio;Valor;Status;Perdeu?;Ganhou?\nLia;A;1,00;";
    for (status, statuses) in [
        ("Sem sucesso", "\"lost\"  # or \"gain\""),
        ("Não fechou", "\"lost\"  # or \"gain\""),
        ("Não vendido", "\"lost\"  # or \"gain\""),
        ("Não aprovado", "\"lost\"  # or \"gain\""),
        ("Venda não concluída", "\"lost\"  # or \"gain\""),
        ("Não perdido", "\"gain\"  # or \"lost\""),
    ] {
        let read = converted(&format!("{HEAD}{status};;\n"), "");
        assert!(
            read.contains(&format!("status.\"{status}\" = {statuses}")),
            "{status}\n{read}"
        );
    }
    for heading in [
        "Perdeu?",
        "Perda",
        "Perdido por",
        "Por que perdeu",
        "Cancelado em",
        "Motivo da não venda",
    ] {
        let text = format!("Cliente;Negócio;Valor;{heading};Ganhou?\nLia;A;1,00;;Sim\nRui;B;1,00;caro;Não\n");
        let read = converted(&text, "");
        assert!(
            read.contains(&format!("closed.\"a.csv\".\"{heading}\" = \"lost\"")),
            "{heading}\n{read}"
        );
    }
}

/// Columns that are proposed for no role that they cannot have, and names of programs.
#[test]
fn columns_of_programs() {
    const AMOUNTS: &str = "Cliente;Total produtos;Valor total dos produtos;VLR. PROPOSTA;ID;ID (Empresa);Status\n\
                           Lia;10;20;30;1;7;Aberto";
    const API: &str = "title,value,currency,status,stage,person_name,person_email,org_name,owner_name,add_time,won_time,lost_time\n\
                       A,1234.5,BRL,won,X,Lia Prado,l@x.com,Sol,Ana,2026-02-13T22:30:00Z,2026-02-21T01:00:00Z,";
    const ORDER: &str = "Name,Email,Financial Status,Total,Billing Name,Created at\n#1001,l@x.com,paid,1.50,Lia Prado,2026-02-13";
    const COMPANY: &str = "ID;Nome da empresa;Tipo de empresa;Setor;Telefone comercial;E-mail comercial\n\
                           31;Sol;Cliente;Pães;1132221111;nfe@sol.com";
    check(&[
        (
            AMOUNTS,
            "    files.\"a.csv\".\"Total produtos\" = \"opportunity.title\"",
            false,
        ),
        (AMOUNTS, "VLR. PROPOSTA             opportunity.value", true),
        (AMOUNTS, "produtos\" = \"opportunity.title\"", false),
        (AMOUNTS, "\"ID (Empresa)\" = \"opportunity", false),
        (API, "columns of pipedrive", true),
        (API, r#""gain_date":"2026-02-21T01:00:00.000Z""#, true),
        (API, r#""firstname":"Lia""#, true),
        (ORDER, r##""title":"#1001""##, true),
        (ORDER, r#""firstname":"Lia","lastname":"Prado""#, true),
        (
            COMPANY,
            r#""companyemail":"nfe@sol.com","companyphone":"551132221111""#,
            true,
        ),
    ]);
}

/// Files of one product with names that other products have too are of one product.
#[test]
#[expect(clippy::too_many_lines, reason = "it is as long as it has cases")]
fn files_of_one_run() {
    let map = MapFile::default();
    let run = |files: &[(&str, &str)]| {
        let sheets = files.iter().map(|(name, text)| sheet(name, text)).collect();
        whole(sheets, Product::Auto, &map, None, IdMap::default())
    };
    let zoho = run(&[
        (
            "Contacts.csv",
            "Record Id,First Name,Last Name,Email\n1,Lia,Prado,l@x.com\n",
        ),
        (
            "Deals.csv",
            "Record Id,Deal Owner,Amount,Deal Name,Closing Date,Stage,Contact Name.id,Contact Name,Created Time\n\
             11,Ana Souza,1234.56,Cestas,2026-06-30,Proposal,1,Lia Prado,2026-02-13 22:30:00\n",
        ),
    ]);
    assert_eq!(
        zoho.report.matches("columns of zoho").count(),
        2,
        "{}",
        zoho.report
    );
    assert!(zoho.lines.contains(r#""id":11,"title":"Cestas""#) && zoho.lines.contains(r#""lead_id":1"#));
    let bitrix = run(&[
        (
            "CONTACT.csv",
            "ID;Nome;Sobrenome;E-mail de trabalho;Pessoa responsável\n7;Lia;Prado;l@x.com;Ana\n",
        ),
        (
            "DEAL.csv",
            "ID;Pipeline;Fase;Nome do negócio;Contato;ID do contato;Moeda;Total\n9;Geral;X;Cestas;Lia Prado;7;BRL;1.50\n",
        ),
    ]);
    assert_eq!(
        bitrix.report.matches("columns of bitrix24").count(),
        2,
        "{}",
        bitrix.report
    );
    let own = run(&[
        (
            "contacts.csv",
            "First Name,Last Name,E-mail 1 - Value,Phone 1 - Value\nLia,Prado,l@x.com,\n",
        ),
        (
            "deals.csv",
            "Deal - ID,Deal - Title,Deal - Status,Deal - Value\n9,Cestas,Open,1.50\n",
        ),
        ("mine.csv", "Negócio;Cliente;Valor;Status\nB;Rui;1,50;Aberto\n"),
    ]);
    for product in ["google", "pipedrive", "csv"] {
        assert!(
            own.report.contains(&format!("columns of {product}\n")),
            "{}",
            own.report
        );
    }
    let monthly = "ID;Cliente;Negócio;Valor;Status\n1;Lia;A;1,00;Ganho\n";
    let whole = run(&[("jan.csv", monthly), ("fev.csv", monthly)]);
    let question = "fev.csv and jan.csv number their rows alike, so the ids of fev.csv are those of other records; to read its \
                    rows without ids:\n    files.\"fev.csv\".\"ID\" = \"\"";
    assert_eq!(whole.questions, [question]);
    let api = run(&[
        (
            "Account.csv",
            "Id,IsDeleted,Name,BillingCity,Phone,OwnerId\n001A,false,Sol,Curitiba,4133221100,005A\n",
        ),
        (
            "Contact.csv",
            "Id,AccountId,LastName,FirstName,Name,Email\n003A,001A,Prado,Lia,Lia Prado,l@x.com\n",
        ),
        (
            "Opportunity.csv",
            "Id,AccountId,Name,StageName,Amount,CloseDate,OwnerId,CreatedDate,ContactId\n\
             006A,001A,Cestas,Closed Won,1.50,2026-02-20,005A,2026-02-14T01:30:00.000Z,003A\n",
        ),
    ]);
    assert_eq!(api.questions, Vec::<String>::new());
    for line in [
        r#""kind":"company","id":1,"companyname":"Sol""#,
        r#""lead_id":1"#,
        r#""company":1"#,
    ] {
        assert!(api.lines.contains(line), "{line}\n{}", api.lines);
    }
}
