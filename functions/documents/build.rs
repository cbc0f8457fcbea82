//! Takes two files of Swagger UI out of the archive that a crate contains, so that no program contains the rest.

use std::error::Error;
use std::path::Path;
use std::{env, fs, io};

use rawzip::ZipArchive;
use utoipa_swagger_ui_vendored::SWAGGER_UI_VENDORED;

/// An empty gzip header, without time and system.
const GZIP_HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255];

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    let directory = env::var_os("OUT_DIR").ok_or("Cargo sets OUT_DIR")?;
    for name in ["swagger-ui.css", "swagger-ui-bundle.js"] {
        let file = Path::new(&directory).join(format!("{name}.gz"));
        fs::write(file, gzip(name)?)?;
    }
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
