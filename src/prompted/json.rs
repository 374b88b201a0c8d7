//! A reader of JSON as models write it: bounded in depth and in steps, so that no reply can hurt.

use serde_json::{Map, Number, Value};

/// Deepest nesting that is read. What is asked for is four levels deep.
const DEPTH: usize = 64;

/// Why a text is no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// It is something else.
    Invalid,
    /// It ends inside a value.
    End,
}

/// Reads one value from a place in a text.
///
/// Beyond JSON it takes what models send: a comma before the closing bracket, raw line breaks in strings, escapes that
/// are none (`\'`), half a surrogate pair (becomes U+FFFD), strings in single quotation marks, Python's `None`, `True` and
/// `False`. Of two members with one name the last counts.
#[derive(Debug)]
pub(super) struct Reader<'t> {
    text: &'t str,
    /// The byte it has come to.
    pub(super) at: usize,
    /// Bytes looked at so far.
    pub(super) steps: usize,
}

impl<'t> Reader<'t> {
    pub(super) fn new(text: &'t str, at: usize) -> Self {
        Self { text, at, steps: 0 }
    }

    pub(super) fn value(&mut self) -> Result<Value, Stop> {
        self.nested(0)
    }

    // Recursive, but never deeper than `DEPTH`.
    fn nested(&mut self, depth: usize) -> Result<Value, Stop> {
        if depth > DEPTH {
            return Err(Stop::Invalid);
        }
        self.space();
        match self.peek().ok_or(Stop::End)? {
            b'{' => self.object(depth),
            b'[' => self.array(depth),
            b'"' | b'\'' => self.string().map(Value::String),
            b'-' | b'0'..=b'9' => self.number(),
            letter if letter.is_ascii_alphabetic() => self.word(),
            _ => Err(Stop::Invalid),
        }
    }

    fn object(&mut self, depth: usize) -> Result<Value, Stop> {
        let mut members = Map::new();
        self.bump();
        loop {
            self.space();
            match self.peek().ok_or(Stop::End)? {
                b'}' => {
                    self.bump();
                    return Ok(Value::Object(members));
                }
                b'"' | b'\'' => {}
                _ => return Err(Stop::Invalid),
            }
            let name = self.string()?;
            self.space();
            if self.peek().ok_or(Stop::End)? != b':' {
                return Err(Stop::Invalid);
            }
            self.bump();
            let value = self.nested(depth + 1)?;
            members.insert(name, value);
            self.separator(b'}')?;
        }
    }

    /// The items of the list that begins here, up to the first that is not whole.
    pub(super) fn leading_items(&mut self) -> Vec<Value> {
        let mut items = Vec::new();
        self.bump();
        while let Ok(item) = self.nested(1) {
            items.push(item);
            if self.separator(b']').is_err() {
                break;
            }
        }
        items
    }

    fn array(&mut self, depth: usize) -> Result<Value, Stop> {
        let mut items = Vec::new();
        self.bump();
        loop {
            self.space();
            if self.peek().ok_or(Stop::End)? == b']' {
                self.bump();
                return Ok(Value::Array(items));
            }
            items.push(self.nested(depth + 1)?);
            self.separator(b']')?;
        }
    }

    /// A comma, or the bracket that closes, which is left to be read.
    fn separator(&mut self, close: u8) -> Result<(), Stop> {
        self.space();
        match self.peek().ok_or(Stop::End)? {
            b',' => {
                self.bump();
                Ok(())
            }
            found if found == close => Ok(()),
            _ => Err(Stop::Invalid),
        }
    }

    /// A string, which ends with the mark it began with.
    pub(super) fn string(&mut self) -> Result<String, Stop> {
        let mut out = String::new();
        let mark = self.peek().ok_or(Stop::End)?;
        self.bump();
        let mut plain = self.at;
        loop {
            let byte = self.peek().ok_or(Stop::End)?;
            if byte == mark || byte == b'\\' {
                out.push_str(self.text.get(plain..self.at).ok_or(Stop::Invalid)?);
            }
            self.bump();
            if byte == mark {
                return Ok(out);
            }
            if byte == b'\\' {
                self.escape(&mut out)?;
                plain = self.at;
            }
        }
    }

    fn escape(&mut self, out: &mut String) -> Result<(), Stop> {
        let escaped = self.text.get(self.at..).and_then(|rest| rest.chars().next()).ok_or(Stop::End)?;
        self.at += escaped.len_utf8();
        self.steps += 1;
        match escaped {
            'n' => out.push('\n'),
            't' => out.push('\t'),
            'r' => out.push('\r'),
            'b' => out.push('\u{8}'),
            'f' => out.push('\u{c}'),
            'u' => {
                let unit = self.unit()?;
                out.push(self.scalar(unit));
            }
            other => out.push(other),
        }
        Ok(())
    }

    /// Four hexadecimal digits.
    fn unit(&mut self) -> Result<u32, Stop> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = char::from(self.peek().ok_or(Stop::End)?).to_digit(16).ok_or(Stop::Invalid)?;
            unit = unit * 16 + digit;
            self.bump();
        }
        Ok(unit)
    }

    /// The character of a UTF-16 unit, with the second half of its pair if that follows.
    fn scalar(&mut self, unit: u32) -> char {
        if (0xD800..0xDC00).contains(&unit) && self.text.get(self.at..).is_some_and(|rest| rest.starts_with("\\u")) {
            let back = self.at;
            self.at += 2;
            match self.unit() {
                Ok(low) if (0xDC00..0xE000).contains(&low) => {
                    let scalar = 0x1_0000 + ((unit - 0xD800) << 10) + (low - 0xDC00);
                    return char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER);
                }
                _ => self.at = back,
            }
        }
        char::from_u32(unit).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    fn number(&mut self) -> Result<Value, Stop> {
        let digits = self.run(|byte| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E'));
        let whole = digits.parse::<i64>().map(Number::from).ok();
        let number = whole.or_else(|| digits.parse::<f64>().ok().and_then(Number::from_f64));
        number.map(Value::Number).ok_or(Stop::Invalid)
    }

    fn word(&mut self) -> Result<Value, Stop> {
        match self.run(|byte| byte.is_ascii_alphabetic()) {
            "null" | "None" => Ok(Value::Null),
            "true" | "True" => Ok(Value::Bool(true)),
            "false" | "False" => Ok(Value::Bool(false)),
            // A cut may fall inside a word.
            start if self.peek().is_none() && ["null", "true", "false"].iter().any(|word| word.starts_with(start)) => {
                Err(Stop::End)
            }
            _ => Err(Stop::Invalid),
        }
    }

    fn run(&mut self, belongs: impl Fn(u8) -> bool) -> &'t str {
        let start = self.at;
        while self.peek().is_some_and(&belongs) {
            self.bump();
        }
        self.text.get(start..self.at).unwrap_or_default()
    }

    fn space(&mut self) {
        self.run(|byte| byte.is_ascii_whitespace());
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn bump(&mut self) {
        self.at += 1;
        self.steps += 1;
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> Result<Value, Stop> {
        Reader::new(text, 0).value()
    }

    #[test]
    fn what_models_send_is_read() {
        for (text, expected) in [
            (r#"{"a": [1, -2.5, "x",], "b": null,}"#, json!({"a": [1, -2.5, "x"], "b": null})),
            ("[\"two\nlines\"]", json!(["two\nlines"])),
            (r#"["it\'s", "\u00e9\ud83c\udf75\ud83c"]"#, json!(["it's", "é🍵\u{fffd}"])),
            ("[None, True, False]", json!([null, true, false])),
            (r#"{'a': ['x', "it's", 'it\'s', '"y"']}"#, json!({"a": ["x", "it's", "it's", "\"y\""]})),
            (r#"{"a": 1, "a": 2}"#, json!({"a": 2})),
        ] {
            assert_eq!(read(text), Ok(expected), "{text}");
        }
    }

    #[test]
    fn cut_and_broken_are_told_apart() {
        for cut in ["", "[", "[\"a", "{\"a\"", "{\"a\": tr", "[1,", "[\"\\", "[\"\\u00"] {
            assert_eq!(read(cut), Err(Stop::End), "{cut}");
        }
        for broken in ["[a]", "{a: 1}", "[1 2]", "[1}", "['it's']", "{\"a\" 1}", "[\"\\uzzzz\"]", "[1.2.3]", "[1e999]"]
        {
            assert_eq!(read(broken), Err(Stop::Invalid), "{broken}");
        }
        assert_eq!(read(&"[".repeat(1_000_000)), Err(Stop::Invalid));
        assert_eq!(read(&"{\"a\":".repeat(1_000_000)), Err(Stop::Invalid));
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_filter("JSON has no others", |number| number.is_finite()).prop_map(Value::from),
            "\\PC{0,12}|\\p{Any}{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                proptest::collection::vec(("\\PC{0,6}", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn json_is_read_as_it_is(value in json_value(), pretty: bool) {
            let text = if pretty { serde_json::to_string_pretty(&value) } else { serde_json::to_string(&value) };
            prop_assert_eq!(read(&text.unwrap_or_default()), Ok(value));
        }
    }
}
