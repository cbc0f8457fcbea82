use super::*;

fn sheet(bytes: &[u8]) -> Sheet {
    read("a.csv".to_owned(), bytes.to_vec(), ReadOptions::default()).unwrap()
}

fn refused(bytes: &[u8]) -> String {
    read("a.csv".to_owned(), bytes.to_vec(), ReadOptions::default()).unwrap_err()
}

fn rows(sheet: &Sheet) -> Vec<(u64, String)> {
    let text = |row: Row<'_>| row.cells().map(|cell| cell.text).collect::<Vec<_>>().join("|");
    sheet.grid.rows().map(|row| (row.line(), text(row))).collect()
}

#[test]
fn separators_lines_and_lengths() {
    let read = sheet(b"sep=;\r\na,b;c;d\r\n1;2;x\r\n\r\n;;;\r\n1;2;x;\r\n1;2;x;3\r\n\"x\ny\";2;x\r\n4;5\r\n");
    assert_eq!(read.headings, ["a,b", "c", "d"]);
    let lines: Vec<_> = read.grid.rows().map(Row::line).collect();
    assert_eq!(lines, [3, 6, 8]);
    let faults: Vec<_> = read.faults.iter().map(|(line, _)| *line).collect();
    assert_eq!(faults, [7, 10]);
    assert!(sheet(b"a\tb\n1\t2\n").form.contains("tabs"));
    assert_eq!(sheet(b"\"a;b;c;d\",e\n1,2\n").headings, ["a;b;c;d", "e"]);
    assert_eq!(sheet(b"a|b\n1,5|2\n").headings, ["a", "b"]);
    assert_eq!(
        sheet(b"a,a,,a\n1,2,3,4\n").headings,
        ["a", "a (2)", "column 3", "a (3)"]
    );
    assert_eq!(
        sheet(b"Nome,Email,,\nAna,a@x.com,,\n").headings,
        ["Nome", "Email"]
    );
    assert_eq!(
        rows(&sheet(b"a;b\r1;2\r3;4\r")),
        [(2, "1|2".to_owned()), (3, "3|4".to_owned())]
    );
    assert!(refused(b"").contains("no heading"));
}

#[test]
fn titles_notes_and_marks() {
    let read = sheet(
        "Relatório;;\nGerado em 1/2/2026\n\nNome;E-mail;Valor\n=\"Ana\";'a@x.com;1\n't Hart;h@x.com;2\n\n\nFim\nConfidencial;;\n"
            .as_bytes(),
    );
    assert_eq!(
        rows(&read),
        [
            (5, "Ana|a@x.com|1".to_owned()),
            (6, "'t Hart|h@x.com|2".to_owned())
        ]
    );
    assert_eq!(
        read.notes,
        [
            "lines 1 to 2, above the heading, are left out: \"Relatório\"",
            "lines 9 to 10, below the rows, are left out: \"Confidencial\"; if they are rows, remove the blank line above",
            "2 values have a spreadsheet's mark of a text (=\"…\" or '…), which is left out",
        ]
    );
    assert_eq!(read.faults, []);
}

#[test]
fn other_contents_are_named() {
    for (bytes, reason) in [
        (&b"\xD0\xCF\x11\xE0\xA1"[..], "old Excel"),
        (b"PK\x03\x04abc", "damaged zip"),
        (b"<html><table><tr>", "web page"),
        (b"<?xml version=\"1.0\"?>\n<Workbook><Table>", "workbook in XML"),
        (b"<?xml version=\"1.0\"?><feed>", "XML"),
        (b"{\"kind\":\"lead\"}", "funil import"),
        (b"[{\"a\":1}]", "JSON"),
        (b"%PDF-1.4", "PDF"),
        (b"a\0b,c\n", "no text"),
    ] {
        assert!(refused(bytes).contains(reason), "{reason}: {}", refused(bytes));
    }
}

/// 16 KB of equal headings are numbered in linear time.
#[test]
fn equal_headings() {
    let text = "a,".repeat(8000) + "b\n" + &"1,".repeat(8000) + "2\n";
    let read = sheet(text.as_bytes());
    assert_eq!(read.headings.last().map(String::as_str), Some("b"));
    assert_eq!(read.headings[7999], "a (8000)");
}

/// C-105: a small file needs little memory.
#[test]
fn columns_and_texts_have_a_bound() {
    let wide = format!("a{}\n1\n", ",".repeat(16_384));
    assert!(refused(wide.as_bytes()).starts_with("has 16385 columns on line 1, and at most 16384"));
    // One text in all cells.
    let mut builder = super::sheet::SheetBuilder::new("a.xlsx".to_owned(), String::new(), Some(false));
    builder.limit = 90_000;
    let text = "x".repeat(30_000);
    let cell = |text| Cell {
        text,
        kind: CellType::Text,
    };
    let rows = (1..).map(|line| builder.row(line, &[cell(if line == 1 { "Nome" } else { &text })]));
    let reason = rows.take(50).find_map(Result::err);
    assert!(reason.is_some_and(|reason| reason.contains("of text; split it")));
}

#[test]
fn serial_numbers_of_both_epochs() {
    assert_eq!(
        serial_date("46066.604166666664", false).as_deref(),
        Some("2026-02-13 14:30:00")
    );
    assert_eq!(serial_date("46066", false).as_deref(), Some("2026-02-13"));
    assert_eq!(serial_date("44604", true).as_deref(), Some("2026-02-13"));
    assert_eq!(serial_date("12", false), None);
}

const RELATIONS: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// The relations of a part, by their kind, which is the id too.
fn relations(items: &[(&str, &str)]) -> String {
    let item = |(kind, target): &(&str, &str)| {
        format!(r#"<Relationship Id="{kind}" Type="{RELATIONS}/{kind}" Target="{target}"/>"#)
    };
    let items: Vec<_> = items.iter().map(item).collect();
    format!("<Relationships>{}</Relationships>", items.concat())
}

/// A workbook with these number formats, from style 1 on, and these rows.
fn book(formats: &[&str], rows: &str, merges: &[&str]) -> Vec<u8> {
    let ids = 164..164 + formats.len();
    let codes = ids.clone().zip(formats);
    let codes = codes.map(|(id, code)| format!(r#"<numFmt numFmtId="{id}" formatCode="{code}"/>"#));
    let styles: Vec<_> = ids.map(|id| format!(r#"<xf numFmtId="{id}"/>"#)).collect();
    let styles = styles.concat();
    let merges = merges.iter().map(|area| format!(r#"<mergeCell ref="{area}"/>"#));
    let (codes, merges) = (codes.collect::<String>(), merges.collect::<String>());
    let main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main";
    let mut book = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in [
        ("_rels/.rels", relations(&[("officeDocument", "xl/workbook.xml")])),
        (
            "xl/_rels/workbook.xml.rels",
            relations(&[("worksheet", "worksheets/sheet1.xml"), ("styles", "styles.xml")]),
        ),
        (
            "xl/workbook.xml",
            format!(
                r#"<workbook xmlns:r="{RELATIONS}"><sheets><sheet name="A" sheetId="1" r:id="worksheet"/></sheets></workbook>"#
            ),
        ),
        (
            "xl/styles.xml",
            format!(
                r#"<styleSheet xmlns="{main}"><numFmts>{codes}</numFmts><cellXfs><xf numFmtId="0"/>{styles}</cellXfs></styleSheet>"#
            ),
        ),
        (
            "xl/worksheets/sheet1.xml",
            format!(
                r#"<worksheet xmlns="{main}"><sheetData>{rows}</sheetData><mergeCells>{merges}</mergeCells></worksheet>"#
            ),
        ),
    ] {
        let options = zip::write::SimpleFileOptions::default();
        book.start_file(name, options).unwrap();
        std::io::Write::write_all(&mut book, text.as_bytes()).unwrap();
    }
    book.finish().unwrap().into_inner()
}

/// A row of texts, numbers with their style (`1:5`), and `=` for a formula without a value.
fn book_row(line: usize, cells: &[&str]) -> String {
    let cell = |(column, cell): (char, &&str)| {
        let place = format!("{column}{line}");
        match cell.split_once(':') {
            _ if *cell == "=" => format!(r#"<c r="{place}"><f>A1</f></c>"#),
            Some((style, number)) => format!(r#"<c r="{place}" s="{style}"><v>{number}</v></c>"#),
            None if cell.is_empty() => String::new(),
            None => format!(r#"<c r="{place}" t="inlineStr"><is><t>{cell}</t></is></c>"#),
        }
    };
    let cells = ('A'..).zip(cells).map(cell).collect::<String>();
    format!(r#"<row r="{line}">{cells}</row>"#)
}

#[test]
#[expect(clippy::too_many_lines, reason = "it is as long as it has cases")]
fn formats_and_merged_cells_of_workbooks() {
    let formats = [
        "[$US$-409] #,##0.00",
        "000&quot;.&quot;000&quot;.&quot;000-00",
        "0.0%",
        "dd/mm/yyyy",
    ];
    let rows = [
        &["Vendas de 2026", "", "", "", ""][..],
        &["Vendedor", "Valor", "CPF", "Margem", "Data"],
        &["", "", "", "", "Dia"],
        &[
            "Carlos",
            "1:1234.5",
            "2:1234567890",
            "3:0.15",
            "4:46066",
            "",
            "Meta",
        ],
        &["", "0:5", "0:1234567890", "=", "4:46066"],
        &["Outro", "0:5", "", "", ""],
        &["", "", "", "", ""],
        &["", "0:6", "", "", ""],
    ];
    let rows: String = (1..)
        .zip(rows)
        .map(|(line, cells)| book_row(line, cells))
        .collect();
    let merges = ["A1:E1", "A2:A3", "A4:A6", "A4:A8", "E5:E6"];
    let sheet = read(
        "a.xlsx".to_owned(),
        book(&formats, &rows, &merges),
        ReadOptions::default(),
    )
    .unwrap();
    assert_eq!(sheet.headings, ["Vendedor", "Valor", "CPF", "Margem", "Data"]);
    let lines = rows_of(&sheet);
    assert_eq!(
        lines,
        [
            "3: ||||Dia",
            "4: Carlos|US$ 1234.5|012.345.678-90|15.0%|2026-02-13",
            "5: Carlos|5|1234567890|a formula without its value|2026-02-13",
            "6: Outro|5|||2026-02-13",
            "8: Carlos|6|||",
        ]
    );
    assert_eq!(sheet.merged, [0, 4].into());
    assert_eq!(sheet.right, [(4, "Meta".to_owned())]);
    let note = "the value of merged cells is that of each of their rows: \"Vendedor\", \"Data\"";
    assert!(sheet.notes.contains(&note.to_owned()), "{:?}", sheet.notes);
}

fn rows_of(sheet: &Sheet) -> Vec<String> {
    let shown = rows(sheet)
        .into_iter()
        .map(|(line, text)| format!("{line}: {text}"));
    shown.collect()
}

#[test]
fn stray_quotes_are_faults_of_their_row() {
    let read = sheet(b"a;b;c\n1;\"x;2\n3;y\";4\n5;\"z\nz\";6\n7;8;9\n");
    assert_eq!(rows_of(&read), ["4: 5|z\nz|6", "6: 7|8|9"]);
    assert_eq!(read.faults.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2]);
}
