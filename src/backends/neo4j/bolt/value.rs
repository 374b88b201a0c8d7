//! PackStream, the form in which Bolt carries values.
//!
//! # Source
//! The PackStream specification, version 1 (<https://neo4j.com/docs/bolt/current/packstream/>). Of its structures only
//! messages are read; nodes and times are asked for as maps and numbers.

use std::collections::BTreeMap;

use super::super::error::{Neo4jError, Result};

/// Deepest nesting that is read; what is asked for is three deep.
const DEPTH: usize = 32;

/// Named values.
pub(in super::super) type Map = BTreeMap<String, Value>;

/// What a parameter or a column holds.
#[derive(Debug, Clone, PartialEq)]
pub(in super::super) enum Value {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(String),
    List(Vec<Value>),
    Map(Map),
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<i64> for Value {
    fn from(number: i64) -> Self {
        Self::Int(number)
    }
}

impl From<usize> for Value {
    /// Counts and limits; one beyond 2⁶³ is as good as the largest.
    fn from(number: usize) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl<T: Into<Self>> From<Option<T>> for Value {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Null, Into::into)
    }
}

impl<T: Into<Self>> FromIterator<T> for Value {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self::List(values.into_iter().map(Into::into).collect())
    }
}

impl From<Map> for Value {
    fn from(map: Map) -> Self {
        Self::Map(map)
    }
}

/// A map of these names and values.
pub(in super::super) fn map<const N: usize>(named: [(&str, Value); N]) -> Map {
    named.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Appends a message: its tag and its fields.
pub(super) fn write_message(out: &mut Vec<u8>, tag: u8, fields: &[Value]) -> Result<()> {
    // No message has more than three fields.
    out.extend([0xb0 | (fields.len() as u8 & 0x0f), tag]);
    fields.iter().try_for_each(|field| write(out, field))
}

fn write(out: &mut Vec<u8>, value: &Value) -> Result<()> {
    match value {
        Value::Null => out.push(0xc0),
        Value::Bool(false) => out.push(0xc2),
        Value::Bool(true) => out.push(0xc3),
        Value::Int(number) => write_int(out, *number),
        Value::Float(number) => {
            out.push(0xc1);
            out.extend(number.to_be_bytes());
        }
        Value::Text(text) => write_text(out, text)?,
        Value::List(values) => {
            write_length(out, values.len(), 0x90, 0xd4)?;
            values.iter().try_for_each(|value| write(out, value))?;
        }
        Value::Map(map) => {
            write_length(out, map.len(), 0xa0, 0xd8)?;
            for (name, value) in map {
                write_text(out, name)?;
                write(out, value)?;
            }
        }
    }
    Ok(())
}

fn write_int(out: &mut Vec<u8>, number: i64) {
    if (-16..=127).contains(&number) {
        out.push(number.to_be_bytes()[7]);
    } else if let Ok(number) = i8::try_from(number) {
        out.push(0xc8);
        out.extend(number.to_be_bytes());
    } else if let Ok(number) = i16::try_from(number) {
        out.push(0xc9);
        out.extend(number.to_be_bytes());
    } else if let Ok(number) = i32::try_from(number) {
        out.push(0xca);
        out.extend(number.to_be_bytes());
    } else {
        out.push(0xcb);
        out.extend(number.to_be_bytes());
    }
}

fn write_text(out: &mut Vec<u8>, text: &str) -> Result<()> {
    write_length(out, text.len(), 0x80, 0xd0)?;
    out.extend(text.as_bytes());
    Ok(())
}

/// A length below 16 shares a byte with its marker; the markers for one, two and four bytes follow each other.
fn write_length(out: &mut Vec<u8>, length: usize, tiny: u8, sized: u8) -> Result<()> {
    if let Some(length) = u8::try_from(length).ok().filter(|length| *length < 16) {
        out.push(tiny | length);
    } else if let Ok(length) = u8::try_from(length) {
        out.extend([sized, length]);
    } else if let Ok(length) = u16::try_from(length) {
        out.push(sized + 1);
        out.extend(length.to_be_bytes());
    } else {
        let length = u32::try_from(length).map_err(|_| Neo4jError::Protocol("a value is longer than 4 GiB"))?;
        out.push(sized + 2);
        out.extend(length.to_be_bytes());
    }
    Ok(())
}

/// Reads a message: its tag and its fields.
pub(super) fn read_message(bytes: &[u8]) -> Result<(u8, Vec<Value>)> {
    let mut reader = Reader { rest: bytes };
    let (marker, tag) = (reader.byte()?, reader.byte()?);
    if marker & 0xf0 != 0xb0 {
        return Err(Neo4jError::Protocol("an answer is no message"));
    }
    let fields = (0..marker & 0x0f).map(|_| reader.value(0)).collect::<Result<_>>()?;
    if !reader.rest.is_empty() {
        return Err(Neo4jError::Protocol("an answer goes on after its end"));
    }
    Ok((tag, fields))
}

struct Reader<'b> {
    rest: &'b [u8],
}

impl Reader<'_> {
    fn take(&mut self, length: usize) -> Result<&[u8]> {
        let cut = self.rest.split_at_checked(length);
        let (taken, rest) = cut.ok_or(Neo4jError::Protocol("an answer ends too early"))?;
        self.rest = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn byte(&mut self) -> Result<u8> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    /// A length of one, two or four bytes.
    fn length(&mut self, size: u8) -> Result<usize> {
        Ok(match size {
            0 => usize::from(self.byte()?),
            1 => usize::from(u16::from_be_bytes(self.array()?)),
            _ => u32::from_be_bytes(self.array()?) as usize,
        })
    }

    fn value(&mut self, depth: usize) -> Result<Value> {
        if depth > DEPTH {
            return Err(Neo4jError::Protocol("an answer is nested too deep"));
        }
        let marker = self.byte()?;
        Ok(match marker {
            0x00..=0x7f | 0xf0..=0xff => Value::Int(i64::from(i8::from_be_bytes([marker]))),
            0x80..=0x8f => Value::Text(self.text(usize::from(marker & 0x0f))?),
            0xd0..=0xd2 => {
                let length = self.length(marker - 0xd0)?;
                Value::Text(self.text(length)?)
            }
            0x90..=0x9f => self.list(usize::from(marker & 0x0f), depth)?,
            0xd4..=0xd6 => {
                let length = self.length(marker - 0xd4)?;
                self.list(length, depth)?
            }
            0xa0..=0xaf => self.map(usize::from(marker & 0x0f), depth)?,
            0xd8..=0xda => {
                let length = self.length(marker - 0xd8)?;
                self.map(length, depth)?
            }
            0xc0 => Value::Null,
            0xc1 => Value::Float(f64::from_be_bytes(self.array()?)),
            0xc2 => Value::Bool(false),
            0xc3 => Value::Bool(true),
            0xc8 => Value::Int(i64::from(i8::from_be_bytes(self.array()?))),
            0xc9 => Value::Int(i64::from(i16::from_be_bytes(self.array()?))),
            0xca => Value::Int(i64::from(i32::from_be_bytes(self.array()?))),
            0xcb => Value::Int(i64::from_be_bytes(self.array()?)),
            _ => return Err(Neo4jError::Protocol("an answer holds a value of another type")),
        })
    }

    fn text(&mut self, length: usize) -> Result<String> {
        let bytes = self.take(length)?.to_vec();
        String::from_utf8(bytes).map_err(|_| Neo4jError::Protocol("an answer holds text that is not UTF-8"))
    }

    /// Grows with what is read, and not with what is announced.
    fn list(&mut self, length: usize, depth: usize) -> Result<Value> {
        let mut values = Vec::new();
        for _ in 0..length {
            values.push(self.value(depth + 1)?);
        }
        Ok(Value::List(values))
    }

    fn map(&mut self, length: usize, depth: usize) -> Result<Value> {
        let mut map = Map::new();
        for _ in 0..length {
            let Value::Text(name) = self.value(depth + 1)? else {
                return Err(Neo4jError::Protocol("a name in an answer is no text"));
            };
            map.insert(name, self.value(depth + 1)?);
        }
        Ok(Value::Map(map))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test says what is wrong by panicking")]
mod tests {
    use super::*;

    fn through(value: Value) -> Value {
        let mut bytes = Vec::new();
        write_message(&mut bytes, 0x10, &[value]).unwrap();
        let (tag, mut fields) = read_message(&bytes).unwrap();
        assert_eq!(tag, 0x10);
        fields.pop().unwrap()
    }

    #[test]
    fn numbers_take_the_least_room_and_come_back() {
        for (number, bytes) in [(-17_i64, 2), (-16, 1), (127, 1), (128, 3), (-129, 3), (40_000, 5), (1 << 40, 9)] {
            let mut out = Vec::new();
            write_int(&mut out, number);
            assert_eq!(out.len(), bytes, "{number}");
        }
        for number in [i64::MIN, -32_769, -32_768, -128, 0, 1, 32_767, 32_768, i64::MAX] {
            assert_eq!(through(Value::Int(number)), Value::Int(number));
        }
        assert_eq!(through(Value::Float(0.1)), Value::Float(0.1));
    }

    #[test]
    fn texts_lists_and_maps_come_back_at_every_length() {
        for length in [0, 1, 15, 16, 255, 256, 65_535, 65_536] {
            let text = "\0".repeat(length);
            assert_eq!(through(Value::Text(text.clone())), Value::Text(text));
            let list: Value = (0..length).collect();
            assert_eq!(through(list.clone()), list);
            let map: Map = (0..length.min(300)).map(|n| (format!("e\u{301}{n}"), Value::Bool(n % 2 == 0))).collect();
            assert_eq!(through(Value::Map(map.clone())), Value::Map(map));
        }
    }

    #[test]
    fn what_is_no_message_is_an_error() {
        // Cut short, a length that is not there, a structure, no text as a name, nested without end, more than announced.
        let nested = [vec![0xb1, 0x71], vec![0x91; 1_000]].concat();
        let bad: [&[u8]; 8] = [
            b"",
            b"HTTP/1.1",
            &[0xb1, 0x71],
            &[0xb1, 0x71, 0xd6, 0xff, 0xff, 0xff, 0xff],
            &[0xb1, 0x71, 0xb1, 0x4e, 0x01],
            &[0xb1, 0x70, 0xa1, 0x01, 0x01],
            &nested,
            &[0xb0, 0x7e, 0x00],
        ];
        for bytes in bad {
            assert!(matches!(read_message(bytes), Err(Neo4jError::Protocol(_))), "{:?}", bytes.get(..8));
        }
        assert!(matches!(read_message(&[0xb1, 0x71, 0x81, 0xff]), Err(Neo4jError::Protocol(_))));
    }
}
