//! The lines of an import. They are read several times, so what cannot be read twice is kept in a temporary file.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek as _};
use std::path::Path;

/// The most bytes of a line.
const MOST_BYTES: usize = 1 << 20;
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// The lines of an import.
#[derive(Debug)]
pub struct Source(File);

impl Source {
    /// The lines of a file; of a pipe or the like, a copy.
    ///
    /// # Errors
    /// What the system says where it cannot be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        if file.metadata()?.is_file() {
            return Ok(Self(file));
        }
        Self::spool(file)
    }

    /// A copy of what `input` gives, in a file that nobody else can open.
    ///
    /// # Errors
    /// What the system says where it cannot be read or kept.
    pub fn spool(mut input: impl Read) -> io::Result<Self> {
        let mut file = tempfile::tempfile()?;
        io::copy(&mut input, &mut file)?;
        Ok(Self(file))
    }

    /// All lines from the first on.
    pub(super) fn lines(&self) -> io::Result<Lines<'_>> {
        let mut file = &self.0;
        file.rewind()?;
        Ok(Lines {
            reader: BufReader::with_capacity(1 << 16, file),
            buffer: Vec::new(),
            number: 0,
        })
    }
}

/// A walk through the lines, which keeps one in memory.
pub(super) struct Lines<'a> {
    reader: BufReader<&'a File>,
    buffer: Vec<u8>,
    number: u64,
}

impl Lines<'_> {
    /// The next line that is not blank, with its number from 1; text, or why it is none.
    pub fn next(&mut self) -> io::Result<Option<(u64, Result<&str, &'static str>)>> {
        let whole = loop {
            self.buffer.clear();
            let most = MOST_BYTES as u64 + 1;
            if self
                .reader
                .by_ref()
                .take(most)
                .read_until(b'\n', &mut self.buffer)?
                == 0
            {
                return Ok(None);
            }
            self.number += 1;
            let whole = self.buffer.ends_with(b"\n") || self.buffer.len() <= MOST_BYTES;
            if !whole {
                self.skip_rest()?;
            }
            if !self.buffer.trim_ascii().is_empty() {
                break whole;
            }
        };
        if !whole {
            return Ok(Some((self.number, Err("longer than 1 MB"))));
        }
        let bytes = if self.number == 1 {
            self.buffer.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&self.buffer)
        } else {
            &self.buffer
        };
        let text = std::str::from_utf8(bytes).map_err(|_| "not UTF-8 text");
        Ok(Some((self.number, text)))
    }

    fn skip_rest(&mut self) -> io::Result<()> {
        loop {
            let buffered = self.reader.fill_buf()?;
            let end = buffered.iter().position(|byte| *byte == b'\n');
            let (used, done) = match end {
                Some(at) => (at + 1, true),
                None => (buffered.len(), buffered.is_empty()),
            };
            self.reader.consume(used);
            if done {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8]) -> Vec<(u64, Result<String, &'static str>)> {
        let source = Source::spool(input).unwrap();
        let mut lines = source.lines().unwrap();
        let mut seen = Vec::new();
        while let Some((number, line)) = lines.next().unwrap() {
            seen.push((number, line.map(|text| text.trim_end().to_owned())));
        }
        seen
    }

    #[test]
    fn blank_lines_count_and_are_skipped() {
        assert_eq!(
            lines(b"\xef\xbb\xbf{}\r\n\n  \n[]"),
            [(1, Ok("{}".to_owned())), (4, Ok("[]".to_owned()))]
        );
    }

    #[test]
    fn a_line_that_is_too_long_or_no_text_does_not_hide_the_next() {
        let long = [vec![b'a'; 3 * MOST_BYTES], b"\n\xff\n{}\n".to_vec()].concat();
        assert_eq!(
            lines(&long),
            [
                (1, Err("longer than 1 MB")),
                (2, Err("not UTF-8 text")),
                (3, Ok("{}".to_owned()))
            ]
        );
        let longest = vec![b'a'; MOST_BYTES];
        assert!(lines(&longest)[0].1.is_ok());
    }

    #[test]
    fn lines_can_be_read_again() {
        let source = Source::spool(&b"1\n2\n"[..]).unwrap();
        for _ in 0..2 {
            let mut lines = source.lines().unwrap();
            assert_eq!(lines.next().unwrap(), Some((1, Ok("1\n"))));
        }
    }
}
