//! The file format of a token table, read without trusting a byte of it.

use std::borrow::Cow;
use std::fmt;

use super::wordpiece::WordPiece;

const MAGIC: [u8; 8] = *b"INGRSTBL";
const VERSION: u32 = 1;
/// More than any model in use has; it keeps a forged header from asking for much memory.
const MOST_DIMENSIONS: usize = 4096;
/// How many rows the typical length is taken from: all of them would delay the start.
const SAMPLED_ROWS: usize = 1024;

/// Why bytes are not a token table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TableError {
    /// The bytes end before the header does or do not start with the magic bytes.
    NotATable,
    /// The format version is one this release cannot read.
    UnknownVersion(u32),
    /// The number of dimensions is zero or absurdly large.
    BadDimensions(u32),
    /// The size is not the one that follows from the header.
    WrongSize {
        /// Bytes that the header asks for.
        expected: u64,
        /// Bytes that there are.
        found: u64,
    },
    /// The vocabulary is not UTF-8, repeats a token or does not have one token a row.
    BadVocabulary,
    /// The scale of this row is negative, infinite or not a number.
    BadScale(u32),
}

impl fmt::Display for TableError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotATable => formatter.write_str("the bytes are not a token table"),
            Self::UnknownVersion(version) => {
                write!(formatter, "token table version {version} is not supported")
            }
            Self::BadDimensions(dimensions) => {
                write!(formatter, "a token table cannot have {dimensions} dimensions")
            }
            Self::WrongSize { expected, found } => {
                write!(formatter, "the token table should have {expected} bytes, but has {found}")
            }
            Self::BadVocabulary => formatter.write_str("the vocabulary of the token table is damaged"),
            Self::BadScale(row) => write!(formatter, "row {row} of the token table is damaged"),
        }
    }
}

impl std::error::Error for TableError {}

/// A token table whose every part has been checked.
#[derive(Clone, Debug)]
pub(crate) struct RawTable {
    pub(crate) wordpiece: WordPiece,
    pub(crate) dimensions: usize,
    scales: Vec<f32>,
    bytes: Cow<'static, [u8]>,
    rows_start: usize,
}

impl RawTable {
    pub(crate) fn parse(bytes: Cow<'static, [u8]>) -> Result<Self, TableError> {
        let mut rest = bytes.as_ref();
        let magic = rest.split_off(..MAGIC.len()).ok_or(TableError::NotATable)?;
        if magic != MAGIC {
            return Err(TableError::NotATable);
        }
        let version = number(&mut rest)?;
        if version != VERSION {
            return Err(TableError::UnknownVersion(version));
        }
        let (rows, dims, letters) = (number(&mut rest)?, number(&mut rest)?, number(&mut rest)?);
        let dimensions = usize::try_from(dims)
            .ok()
            .filter(|dimensions| (1..=MOST_DIMENSIONS).contains(dimensions))
            .ok_or(TableError::BadDimensions(dims))?;
        // Four thousand million rows of 4096 dimensions stay far below the limit of u64.
        let expected = u64::from(letters) + u64::from(rows) * (4 + u64::from(dims));
        let found = rest.len() as u64;
        let wrong = TableError::WrongSize { expected, found };
        if expected != found {
            return Err(wrong);
        }
        let take = |length: u64| usize::try_from(length).map_err(|_| wrong);
        let vocabulary = rest.split_off(..take(letters.into())?).ok_or(wrong)?;
        let scales = rest.split_off(..take(u64::from(rows) * 4)?).ok_or(wrong)?;
        let rows_start = bytes.len() - rest.len();

        let start = MAGIC.len() + 4 * 4;
        let kept = match &bytes {
            // In a table that is part of the program the vocabulary is not copied.
            Cow::Borrowed(all) => utf8(all.get(start..start + vocabulary.len())).map(Cow::Borrowed),
            Cow::Owned(_) => utf8(Some(vocabulary)).map(|text| Cow::Owned(text.to_owned())),
        };
        let wordpiece = kept
            .and_then(WordPiece::new)
            .filter(|wordpiece| wordpiece.row_count() as u64 == u64::from(rows))
            .ok_or(TableError::BadVocabulary)?;
        let scales = read_scales(scales)?;
        Ok(Self { wordpiece, dimensions, scales, bytes, rows_start })
    }

    /// Scale and values of a row.
    fn row(&self, row: u32) -> Option<(f32, &[u8])> {
        let row = usize::try_from(row).ok()?;
        let start = self.rows_start + row.checked_mul(self.dimensions)?;
        let values = self.bytes.get(start..start + self.dimensions)?;
        Some((*self.scales.get(row)?, values))
    }

    /// Adds a row times `weight` to `sum`.
    pub(crate) fn add_row(&self, sum: &mut [f32], row: u32, weight: f32) {
        if let Some((scale, values)) = self.row(row) {
            let factor = scale * weight;
            for (sum, value) in sum.iter_mut().zip(values) {
                *sum += factor * f32::from(value.cast_signed());
            }
        }
    }

    /// Mean length of the rows, from a sample of them.
    pub(crate) fn typical_length(&self) -> f32 {
        let rows = u32::try_from(self.wordpiece.row_count()).unwrap_or(u32::MAX);
        let step = (self.wordpiece.row_count() / SAMPLED_ROWS).max(1);
        let (mut total, mut count) = (0.0, 0.0);
        for (scale, values) in (0..rows).step_by(step).filter_map(|row| self.row(row)) {
            let square: f32 = values.iter().map(|value| f32::from(value.cast_signed()).powi(2)).sum();
            total += scale * square.sqrt();
            count += 1.0;
        }
        if total > 0.0 { total / count } else { 1.0 }
    }
}

fn number(rest: &mut &[u8]) -> Result<u32, TableError> {
    let bytes = rest.split_off(..4).ok_or(TableError::NotATable)?;
    let bytes = bytes.try_into().map_err(|_| TableError::NotATable)?;
    Ok(u32::from_le_bytes(bytes))
}

fn utf8(bytes: Option<&[u8]>) -> Option<&str> {
    std::str::from_utf8(bytes?).ok()
}

fn read_scales(bytes: &[u8]) -> Result<Vec<f32>, TableError> {
    let (words, _) = bytes.as_chunks::<4>();
    (0_u32..)
        .zip(words)
        .map(|(row, &word)| {
            Some(f32::from_le_bytes(word)).filter(|scale| (0.0..=1e6).contains(scale)).ok_or(TableError::BadScale(row))
        })
        .collect()
}
