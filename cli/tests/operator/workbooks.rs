//! `funil convert` on workbooks: sheets, both systems of dates, formulas, error values, hidden rows (C-105).

use std::fs;
use std::io::Write as _;

use serde_json::{Value, json};
use zip::write::SimpleFileOptions;

use crate::support::{Bench, Ended};

/// A sheet: its name, its state and its rows as XML.
type Sheet<'a> = (&'a str, &'a str, String);

const VISIBLE: &str = "visible";
const MAIN: &str = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";
const PACKAGE: &str = "http://schemas.openxmlformats.org/package/2006";

/// The parts of a workbook with these sheets.
fn parts(is_1904: bool, sheets: &[Sheet<'_>]) -> Vec<(String, String)> {
    let (mut list, mut relations, mut types, mut parts) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (id, (name, state, rows)) in (1..).zip(sheets) {
        list.push(format!(
            r#"<sheet name="{name}" sheetId="{id}" state="{state}" r:id="r{id}"/>"#
        ));
        relations.push(format!(
            r#"<Relationship Id="r{id}" Type="{RELATIONS}/worksheet" Target="worksheets/sheet{id}.xml"/>"#
        ));
        let kind = "application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml";
        types.push(format!(
            r#"<Override PartName="/xl/worksheets/sheet{id}.xml" ContentType="{kind}"/>"#
        ));
        let sheet = format!(r#"<worksheet xmlns="{MAIN}"><sheetData>{rows}</sheetData></worksheet>"#);
        parts.push((format!("xl/worksheets/sheet{id}.xml"), sheet));
    }
    relations.push(format!(
        r#"<Relationship Id="s" Type="{RELATIONS}/styles" Target="styles.xml"/>"#
    ));
    let (list, relations, types) = (list.concat(), relations.concat(), types.concat());
    let epoch = u8::from(is_1904);
    // Style 1 is a date, 2 one with a time.
    let styles = format!(
        r#"<styleSheet xmlns="{MAIN}"><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/></cellXfs></styleSheet>"#
    );
    let main = "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml";
    let relation = |target: &str| {
        format!(
            r#"<Relationships xmlns="{PACKAGE}/relationships"><Relationship Id="w" Type="{RELATIONS}/officeDocument" Target="{target}"/></Relationships>"#
        )
    };
    for (name, text) in [
        (
            "[Content_Types].xml",
            format!(
                r#"<Types xmlns="{PACKAGE}/content-types"><Override PartName="/xl/workbook.xml" ContentType="{main}"/>{types}</Types>"#
            ),
        ),
        ("_rels/.rels", relation("xl/workbook.xml")),
        (
            "xl/workbook.xml",
            format!(
                r#"<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><workbookPr date1904="{epoch}"/><sheets>{list}</sheets></workbook>"#
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            format!(r#"<Relationships xmlns="{PACKAGE}/relationships">{relations}</Relationships>"#),
        ),
        ("xl/styles.xml", styles),
    ] {
        parts.push((name.to_owned(), text));
    }
    parts
}

fn row(line: u32, cells: &[&str]) -> String {
    let cells = ('A'..)
        .zip(cells)
        .map(|(column, cell)| cell.replacen("<c", &format!(r#"<c r="{column}{line}""#), 1));
    format!(r#"<row r="{line}">{}</row>"#, cells.collect::<String>())
}

fn text(value: &str) -> String {
    format!(r#"<c t="inlineStr"><is><t>{value}</t></is></c>"#)
}

fn heading() -> String {
    let names = ["Oportunidade", "Cliente", "Valor", "Etapa", "Data"].map(text);
    row(1, &names.each_ref().map(String::as_str))
}

fn deal(line: u32, title: &str, value: &str, date: &str) -> String {
    let [title, person, stage] = [title, "Lia", "Proposta"].map(text);
    row(line, &[&title, &person, value, &stage, date])
}

struct Home {
    folder: tempfile::TempDir,
    bench: Bench,
}

impl Home {
    fn new(is_1904: bool, sheets: &[Sheet<'_>]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let mut book = zip::ZipWriter::new(fs::File::create(folder.path().join("a.xlsx")).unwrap());
        let stored = SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
        for (name, text) in parts(is_1904, sheets) {
            book.start_file(name, stored).unwrap();
            book.write_all(text.as_bytes()).unwrap();
        }
        book.finish().unwrap();
        let bench = Bench::with_instance();
        Self { folder, bench }
    }

    fn convert(&self, options: &str) -> Ended {
        let line = format!("convert --zone America/Sao_Paulo --admin ana@example.com {options} a.xlsx");
        let mut command = self.bench.command(&line);
        command.current_dir(self.folder.path()).output().unwrap().into()
    }
}

/// `title value created` of each opportunity.
fn deals(ended: &Ended) -> Vec<String> {
    let lines = ended
        .out
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).unwrap());
    let deals = lines.filter(|line| line["kind"] == "opportunity");
    let shown = |deal: Value| {
        let fields =
            ["title", "value", "createDate"].map(|field| deal[field].as_str().unwrap_or("-").to_owned());
        fields.join(" ")
    };
    deals.map(shown).collect()
}

/// The one visible sheet with rows is read, or the one that is named.
#[test]
fn one_sheet_is_read() {
    let sheet = |title: &str| heading() + &deal(2, title, "<c><v>10</v></c>", r#"<c s="1"><v>46066</v></c>"#);
    let (one, other) = (sheet("Um"), sheet("Outro"));
    let one_visible = Home::new(
        false,
        &[
            ("Capa", VISIBLE, String::new()),
            ("Velho", "hidden", other.clone()),
            ("Dados", VISIBLE, one.clone()),
        ],
    );
    let ended = one_visible.convert("").done();
    assert_eq!(deals(&ended), ["Um 10.00 2026-02-13T03:00:00.000Z"]);
    assert!(ended.err.contains("sheet \"Dados\""), "{}", ended.err);
    let hidden = one_visible.convert("--sheet Velho").done();
    assert_eq!(deals(&hidden), ["Outro 10.00 2026-02-13T03:00:00.000Z"]);
    let two = Home::new(false, &[("A", VISIBLE, one), ("B", VISIBLE, other)]);
    for (options, reason) in [
        (
            "",
            "a.xlsx has the sheets \"A\", \"B\"; name one with --sheet NAME",
        ),
        ("--sheet C", "a.xlsx has no sheet \"C\", but \"A\", \"B\""),
    ] {
        let ended = two.convert(options);
        assert_eq!((ended.code, ended.out.as_str()), (1, ""));
        assert!(ended.err.contains(reason), "{}", ended.err);
    }
    assert_eq!(
        deals(&two.convert("--sheet B").done()),
        ["Outro 10.00 2026-02-13T03:00:00.000Z"]
    );
}

/// Dates are those of the workbook's system, formatted or not, and formulas have their values.
#[test]
fn dates_of_both_systems_and_formulas() {
    for (is_1904, day) in [(false, 46_066), (true, 44_604)] {
        let rows = heading()
            + &deal(
                2,
                "Dia",
                "<c><f>5*2</f><v>10.5</v></c>",
                &format!(r#"<c s="1"><v>{day}</v></c>"#),
            )
            + &deal(
                3,
                "Hora",
                "<c><v>0.30000000000000004</v></c>",
                &format!(r#"<c s="2"><v>{day}.604166666664</v></c>"#),
            )
            + &deal(
                4,
                "Número",
                r#"<c t="str"><f>A1</f><v>1.234,50</v></c>"#,
                &format!("<c><v>{day}</v></c>"),
            )
            .replacen("<row ", r#"<row hidden="1" "#, 1);
        let ended = Home::new(is_1904, &[("A", VISIBLE, rows)]).convert("").done();
        assert_eq!(
            deals(&ended),
            [
                "Dia 10.50 2026-02-13T03:00:00.000Z",
                "Hora 0.30 2026-02-13T17:30:00.000Z",
                "Número 1234.50 2026-02-13T03:00:00.000Z",
            ],
            "{}",
            ended.err
        );
    }
}

/// An error value and a formula without a value are refused with line, column and text.
#[test]
fn error_values_are_refused() {
    let date = r#"<c s="1"><v>46066</v></c>"#;
    let rows = heading()
        + &deal(2, "A", r#"<c t="e"><v>#DIV/0!</v></c>"#, date)
        + &deal(3, "B", "<c><f>1+1</f></c>", date)
        + &deal(4, "C", "<c><v>-5</v></c>", date)
        + &deal(5, "D", "<c><v>1</v></c>", r#"<c t="e"><v>#N/A</v></c>"#)
        + &deal(6, "E", "<c><v>2</v></c>", "<c><v>7</v></c>");
    let ended = Home::new(false, &[("A", VISIBLE, rows)]).convert("");
    assert_eq!(ended.code, 1);
    for reason in [
        "a.xlsx:2: \"Valor\": \"#DIV/0!\" is an error value of a spreadsheet",
        "a.xlsx:3: \"Valor\" is a formula without its value; save the workbook in a spreadsheet",
        "a.xlsx:4: \"Valor\": \"-5\" is negative",
        "a.xlsx:6: \"Data\": \"7\" is no date",
    ] {
        assert!(ended.err.contains(reason), "{reason}\n{}", ended.err);
    }
    assert_eq!(deals(&ended), ["D 1.00 -"]);
}

/// A sheet has at most the rows of a workbook, however its cells are numbered.
#[test]
fn rows_have_a_bound() {
    let rows = heading() + &deal(1_048_577, "A", "<c><v>1</v></c>", "<c/>");
    let ended = Home::new(false, &[("A", VISIBLE, rows)]).convert("");
    assert_eq!((ended.code, json!(ended.out)), (1, json!("")));
    assert!(
        ended.err.contains("has more than 1048576 rows or 16384 columns"),
        "{}",
        ended.err
    );
}
