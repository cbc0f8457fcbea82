//! Bodies of type `multipart/form-data`, which browsers send for a form with files (C-101). The fields are kept, and
//! files are dropped while they are read.

use axum::body::{Body, Bytes};
use futures_util::TryStreamExt as _;
use http_body_util::BodyStream;
use multer::{Multipart, parse_boundary};
use percent_encoding::{NON_ALPHANUMERIC, percent_encode};

use super::Problem;

/// The route that accepts such a body.
pub const ROUTE: &str = "/api/hook/{name}";
/// Maximum bytes of a body, with its files.
pub const LIMIT: usize = 4 * 1024 * 1024;
/// Maximum bytes of the fields as they are kept. It is above every limit of a form.
const FIELDS_LIMIT: usize = 512 * 1024;

/// The number of files of a request that were dropped.
#[derive(Debug, Clone, Copy, Default)]
pub struct FilesIgnored(pub u32);

/// The fields of a body in the form of `application/x-www-form-urlencoded`, and the number of its files.
pub async fn read(content_type: &str, body: Body) -> Result<(Bytes, FilesIgnored), Problem> {
    let broken = |_| Problem::Invalid("body: must be multipart/form-data with a boundary".to_owned());
    let boundary = parse_boundary(content_type).map_err(broken)?;
    let frames = BodyStream::new(body).map_ok(|frame| frame.into_data().unwrap_or_default());
    let mut length = 0;
    let chunks = frames.map_err(|_| Broken::Off).and_then(move |chunk| {
        length += chunk.len();
        std::future::ready(if length > LIMIT {
            Err(Broken::TooLarge)
        } else {
            Ok(chunk)
        })
    });
    let mut parts = Multipart::new(chunks, boundary);
    let (mut fields, mut files) = (String::new(), FilesIgnored(0));
    while let Some(mut part) = parts.next_field().await.map_err(|error| problem(&error))? {
        // A browser sends an input without a chosen file as a file without a name.
        if let Some(file) = part.file_name() {
            files.0 += u32::from(!file.is_empty());
            continue;
        }
        let separator = if fields.is_empty() { "" } else { "&" };
        let name = percent_encode(part.name().unwrap_or_default().as_bytes(), NON_ALPHANUMERIC);
        fields.extend([separator, &name.to_string(), "="]);
        while let Some(chunk) = part.chunk().await.map_err(|error| problem(&error))? {
            fields.extend(percent_encode(&chunk, NON_ALPHANUMERIC));
            if fields.len() > FIELDS_LIMIT {
                return Err(Problem::TooLarge);
            }
        }
    }
    Ok((fields.into(), files))
}

/// Why a body could not be read.
#[derive(Debug, thiserror::Error)]
enum Broken {
    #[error("broke off")]
    Off,
    #[error("is too large")]
    TooLarge,
}

fn problem(error: &multer::Error) -> Problem {
    if let multer::Error::StreamReadFailed(cause) = error
        && matches!(cause.downcast_ref(), Some(Broken::TooLarge))
    {
        return Problem::TooLarge;
    }
    Problem::Invalid("body: must be a whole multipart/form-data".to_owned())
}
