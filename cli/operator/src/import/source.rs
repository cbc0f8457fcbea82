//! The lines of an import. They are read several times, so input that can be read only once is copied to a temporary
//! file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek as _, SeekFrom};
use std::path::Path;

/// Maximum bytes of a line.
const MAX_BYTES: usize = 1 << 20;

/// The lines of an import.
#[derive(Debug)]
pub struct Source(Content);

#[derive(Debug)]
enum Content {
    File(File),
    Text(String),
}

impl Source {
    /// Opens a file of lines. Other input, such as a pipe, is copied to a temporary file.
    ///
    /// # Errors
    /// The system's error if the file cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if file.metadata()?.is_file() {
            return Ok(Self(Content::File(file)));
        }
        Self::spool(file)
    }

    /// The lines of a text in memory.
    #[must_use]
    pub fn of(text: String) -> Self {
        Self(Content::Text(text))
    }

    /// A copy of `input`, in a file that no other process can open.
    ///
    /// # Errors
    /// The system's error if it cannot be read or written.
    pub fn spool(mut input: impl Read) -> io::Result<Self> {
        let mut file = tempfile::tempfile()?;
        io::copy(&mut input, &mut file)?;
        Ok(Self(Content::File(file)))
    }

    /// The size in bytes.
    ///
    /// # Errors
    /// The system's error.
    pub(super) fn bytes(&self) -> io::Result<u64> {
        match &self.0 {
            Content::File(file) => Ok(file.metadata()?.len()),
            Content::Text(text) => Ok(text.len() as u64),
        }
    }

    /// The lines beginning with `from`.
    pub(super) fn lines(&self, from: LineStart) -> io::Result<Lines<'_>> {
        let reader: Box<dyn BufRead + Send + '_> = match &self.0 {
            Content::File(file) => {
                let mut file = file;
                file.seek(SeekFrom::Start(from.offset))?;
                Box::new(BufReader::with_capacity(1 << 16, file))
            }
            Content::Text(text) => {
                let offset = usize::try_from(from.offset).unwrap_or(usize::MAX);
                Box::new(text.as_bytes().get(offset..).unwrap_or_default())
            }
        };
        Ok(Lines {
            reader,
            buffer: Vec::new(),
            next: from,
            last: from,
        })
    }
}

/// The start of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LineStart {
    /// Its number, from 1.
    pub number: u64,
    /// The bytes before it.
    pub offset: u64,
}

impl LineStart {
    /// The first line's.
    pub const START: Self = Self { number: 1, offset: 0 };
}

/// A reader of lines, which keeps one in memory.
pub(super) struct Lines<'a> {
    reader: Box<dyn BufRead + Send + 'a>,
    buffer: Vec<u8>,
    next: LineStart,
    last: LineStart,
}

impl Lines<'_> {
    /// The next line that is not blank: its number, and its text or the reason why it cannot be read.
    pub fn next(&mut self) -> io::Result<Option<(u64, Result<&str, &'static str>)>> {
        let is_whole = loop {
            self.buffer.clear();
            // One byte above the maximum shows that the line is too long.
            let mut reader = self.reader.by_ref().take(MAX_BYTES as u64 + 1);
            let mut length = reader.read_until(b'\n', &mut self.buffer)? as u64;
            if length == 0 {
                return Ok(None);
            }
            let is_whole = self.buffer.ends_with(b"\n") || self.buffer.len() <= MAX_BYTES;
            if !is_whole {
                length += self.skip_rest()?;
            }
            self.last = self.next;
            self.next = LineStart {
                number: self.last.number + 1,
                offset: self.last.offset + length,
            };
            let is_blank = self.buffer.trim_ascii().is_empty();
            if !is_whole || !is_blank {
                break is_whole;
            }
        };
        let number = self.last.number;
        if !is_whole {
            return Ok(Some((
                number,
                Err("longer than 1 MB; a record has at most 100 KB"),
            )));
        }
        let text = std::str::from_utf8(&self.buffer).map_err(|_| "not UTF-8 text; save the file as UTF-8");
        Ok(Some((number, text)))
    }

    /// The start of the line that was read last.
    pub fn last_start(&self) -> LineStart {
        self.last
    }

    /// Skips the rest of a line with its line break, and returns the number of its bytes.
    fn skip_rest(&mut self) -> io::Result<u64> {
        let mut skipped = 0;
        loop {
            let buffered = self.reader.fill_buf()?;
            let end = buffered.iter().position(|byte| *byte == b'\n');
            let (used, done) = match end {
                Some(at) => (at + 1, true),
                None => (buffered.len(), buffered.is_empty()),
            };
            self.reader.consume(used);
            skipped += used as u64;
            if done {
                return Ok(skipped);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8]) -> Vec<(u64, Result<String, &'static str>)> {
        let source = Source::spool(input).unwrap();
        let mut lines = source.lines(LineStart::START).unwrap();
        let mut seen = Vec::new();
        while let Some((number, line)) = lines.next().unwrap() {
            seen.push((number, line.map(|text| text.trim_end().to_owned())));
        }
        seen
    }

    #[test]
    fn blank_lines_count_and_are_skipped() {
        assert_eq!(
            lines(b"{}\r\n\n  \n[]"),
            [(1, Ok("{}".to_owned())), (4, Ok("[]".to_owned()))]
        );
    }

    /// The JSON reader removes a byte order mark; the reader of lines does not.
    #[test]
    fn a_line_is_given_as_it_is() {
        let marked = "\u{feff}{}";
        assert_eq!(
            lines(format!("{marked}\n{marked}").as_bytes()),
            [(1, Ok(marked.to_owned())), (2, Ok(marked.to_owned()))]
        );
    }

    #[test]
    fn a_line_that_is_too_long_or_no_text_does_not_hide_the_next() {
        let long = [vec![b'a'; 3 * MAX_BYTES], b"\n\xff\n{}\n".to_vec()].concat();
        assert_eq!(
            lines(&long),
            [
                (1, Err("longer than 1 MB; a record has at most 100 KB")),
                (2, Err("not UTF-8 text; save the file as UTF-8")),
                (3, Ok("{}".to_owned()))
            ]
        );
        let longest = vec![b'a'; MAX_BYTES];
        assert!(lines(&longest)[0].1.is_ok());
    }

    #[test]
    fn lines_can_be_read_again() {
        for source in [
            Source::spool(&b"1\n2\n"[..]).unwrap(),
            Source::of("1\n2\n".to_owned()),
        ] {
            for _ in 0..2 {
                let mut lines = source.lines(LineStart::START).unwrap();
                assert_eq!(lines.next().unwrap(), Some((1, Ok("1\n"))));
            }
        }
    }

    #[test]
    fn lines_can_be_read_from_one_of_them() {
        let long = [
            b"\n1\n".to_vec(),
            vec![b'a'; 3 * MAX_BYTES],
            b"\n \n4\n5".to_vec(),
        ]
        .concat();
        let source = Source::spool(&long[..]).unwrap();
        let mut lines = source.lines(LineStart::START).unwrap();
        let mut places = Vec::new();
        while let Some((number, line)) = lines.next().unwrap() {
            let line = line.map(str::to_owned);
            places.push((number, line, lines.last_start()));
        }
        assert_eq!(
            places.iter().map(|(number, ..)| *number).collect::<Vec<_>>(),
            [2, 3, 5, 6]
        );
        for (number, line, place) in places {
            assert_eq!(place.number, number);
            let mut lines = source.lines(place).unwrap();
            let (found, text) = lines.next().unwrap().unwrap();
            assert_eq!((found, text.map(str::to_owned)), (number, line));
        }
    }
}
