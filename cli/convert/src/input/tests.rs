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
        (b"<?xml version=\"1.0\"?><Workbook>", "XML"),
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
