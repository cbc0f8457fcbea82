//! Takes two files of Swagger UI out of the archive that a crate contains, so that no program contains the rest. Completes
//! openapi.yaml.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::{env, fs, io};

use rawzip::ZipArchive;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;

/// An empty gzip header, without time and system.
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

/// openapi.yaml as it is written.
const INTERFACE: &str = "../../openapi.yaml";
/// The headers of every response, and their names in `components`.
const OF_ALL: [(&str, &str); 4] = [
    ("x-request-id", "RequestId"),
    ("access-control-allow-origin", "AllowOrigin"),
    ("access-control-expose-headers", "ExposeHeaders"),
    ("vary", "Vary"),
];
/// The headers of a response under a limit.
const OF_LIMIT: [(&str, &str); 3] = [
    ("ratelimit-limit", "RateLimitLimit"),
    ("ratelimit-remaining", "RateLimitRemaining"),
    ("ratelimit-reset", "RateLimitReset"),
];
/// The responses of an operation that does not have its own.
const ERRORS: [(&str, &str); 5] = [
    ("413", "PayloadTooLarge"),
    ("415", "UnsupportedMediaType"),
    ("429", "TooManyRequests"),
    ("500", "InternalError"),
    ("503", "Unavailable"),
];
/// The responses of [`ERRORS`] that an operation without limit does not have.
const OF_LIMITED: [&str; 2] = ["429", "503"];
const UNLIMITED: &str = "x-unlimited: true";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={INTERFACE}");
    let directory = env::var_os("OUT_DIR").ok_or("Cargo sets OUT_DIR")?;
    for name in ["swagger-ui.css", "swagger-ui-bundle.js"] {
        let file = Path::new(&directory).join(format!("{name}.gz"));
        fs::write(file, gzip(name)?)?;
    }
    let text = fs::read_to_string(INTERFACE)?;
    let lines: Vec<_> = text.lines().collect();
    fs::write(Path::new(&directory).join("openapi.yaml"), completed(&lines))?;
    Ok(())
}

/// A file of Swagger UI, compressed. The archive contains it deflated, so adding a header and a trailer makes it gzip
/// without decompressing.
fn gzip(name: &str) -> Result<Vec<u8>, rawzip::Error> {
    let path = format!("/dist/{name}");
    let archive = ZipArchive::from_slice(SWAGGER_UI_VENDORED)?;
    let mut entries = archive.entries();
    while let Some(entry) = entries.next_entry()? {
        if entry.file_path().as_ref().ends_with(path.as_bytes()) {
            let mut bytes = GZIP_HEADER.to_vec();
            bytes.extend(archive.get_entry(entry.wayfinder())?.data());
            bytes.extend(entry.crc32().to_le_bytes());
            bytes.extend(&entry.uncompressed_size_hint().to_le_bytes()[..4]);
            return Ok(bytes);
        }
    }
    Err(io::Error::from(io::ErrorKind::NotFound).into())
}

/// The document with the headers and responses that nearly all operations have. Works on lines, because a document that is
/// parsed and written again loses its comments and layout.
fn completed(lines: &[&str]) -> String {
    let (mut text, mut at) = (String::new(), 0);
    let (mut section, mut part, mut is_limited) = ("", "", true);
    while let Some(line) = lines.get(at) {
        at += 1;
        match depth(line) {
            0 if !line.is_empty() => (section, part) = (line, ""),
            2 => part = line.trim(),
            4 => is_limited = true,
            _ => {}
        }
        if section == "paths:" && *line == format!("      {UNLIMITED}") {
            is_limited = false;
            continue;
        }
        push(&mut text, line);
        let end = at + block(&lines[at..], depth(line));
        if section == "paths:" && *line == "      responses:" {
            responses(&mut text, &lines[at..end], is_limited);
            at = end;
        } else if section == "components:" && part == "responses:" && depth(line) == 4 {
            response(&mut text, &lines[at..end], 6, true);
            at = end;
        }
    }
    text
}

/// Adds the responses of an operation, by status.
fn responses(text: &mut String, lines: &[&str], is_limited: bool) {
    let (mut of_status, mut at) = (BTreeMap::new(), 0);
    while let Some(line) = lines.get(at) {
        let end = at + 1 + block(&lines[at + 1..], depth(line));
        let mut own = format!("{line}\n");
        if end > at + 1 {
            response(&mut own, &lines[at + 1..end], 10, is_limited);
        }
        let status = line.split_once(':').map_or(*line, |(status, _)| status);
        of_status.insert(status.to_owned(), own);
        at = end;
    }
    for (status, name) in ERRORS {
        if is_limited || !OF_LIMITED.contains(&status) {
            let status = format!("        \"{status}\"");
            let common = format!("{status}: {{ $ref: \"#/components/responses/{name}\" }}\n");
            of_status.entry(status).or_insert(common);
        }
    }
    text.extend(of_status.into_values());
}

/// Adds a response, given by the lines of its members, with the headers of all.
fn response(text: &mut String, lines: &[&str], indent: usize, is_limited: bool) {
    let indent = " ".repeat(indent);
    let (own, unlimited) = (format!("{indent}headers:"), format!("{indent}{UNLIMITED}"));
    let is_limited = is_limited && !lines.contains(&unlimited.as_str());
    let of_limit = OF_LIMIT.iter().filter(|_| is_limited);
    let common = |text: &mut String| {
        for (header, name) in OF_ALL.iter().chain(of_limit.clone()) {
            push(
                text,
                &format!("{indent}  {header}: {{ $ref: \"#/components/headers/{name}\" }}"),
            );
        }
    };
    for line in lines.iter().filter(|line| **line != unlimited) {
        push(text, line);
        if **line == own {
            common(text);
        }
    }
    if !lines.contains(&own.as_str()) {
        push(text, &own);
        common(text);
    }
}

/// The number of lines that belong to a line of this depth.
fn block(lines: &[&str], parent: usize) -> usize {
    let ends = |line: &&str| line.is_empty() || depth(line) <= parent;
    lines.iter().position(ends).unwrap_or(lines.len())
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn push(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}
