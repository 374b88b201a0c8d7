/// Parts a stream of bytes into lines, wherever the network cut it: inside of a character, or between `\r` and `\n`.
///
/// A line ends with `\n`, `\r\n` or `\r`, as in the event streams of the HTML standard; JSON holds neither raw.
#[derive(Debug, Default)]
pub(super) struct Lines {
    buffer: Vec<u8>,
    /// Where the next line begins: what is before was given out, and is thrown away with the next bytes that come, not
    /// line by line, which would move the rest each time.
    start: usize,
    /// Up to where the buffer is known to hold no end of a line.
    searched: usize,
    /// The last line ended with `\r`: a `\n` right after it belongs to that end.
    after_return: bool,
}

impl Lines {
    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next whole line, without its end.
    pub(super) fn next(&mut self) -> Option<Vec<u8>> {
        if let Some(first) = self.buffer.get(self.start).filter(|_| self.after_return) {
            self.after_return = false;
            if *first == b'\n' {
                self.start += 1;
                self.searched = self.searched.max(self.start);
            }
        }
        let rest = self.buffer.get(self.searched..).unwrap_or_default();
        let Some(at) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) else {
            self.searched = self.buffer.len();
            return None;
        };
        let end = self.searched + at;
        let line = self.buffer.get(self.start..end).map(<[u8]>::to_vec);
        self.after_return = self.buffer.get(end) == Some(&b'\r');
        (self.start, self.searched) = (end + 1, end + 1);
        line
    }

    /// What is left when the stream has ended.
    pub(super) fn rest(&mut self) -> Option<Vec<u8>> {
        let rest = self.buffer.split_off(self.start);
        *self = Self::default();
        Some(rest).filter(|rest| !rest.is_empty())
    }
}

/// One server-sent event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg(any(feature = "openai", feature = "anthropic"))]
pub(crate) struct Event {
    /// Its name; empty where none is given.
    pub name: String,
    /// Its data, lines joined by `\n`.
    pub data: String,
}

/// Puts lines together to events.
///
/// # Source
/// HTML standard, "Server-sent events", 9.2.6, but for one thing: what is pending when the stream ends is an event too,
/// since servers leave the last blank line away; and a field `error` is data of an event of that name.
#[derive(Debug, Default)]
#[cfg(any(feature = "openai", feature = "anthropic"))]
pub(crate) struct Events {
    pending: Event,
    has_data: bool,
}

#[cfg(any(feature = "openai", feature = "anthropic"))]
impl Events {
    /// Takes a line; `None` is the end of the stream. Gives the event that is complete with it.
    pub(crate) fn take(&mut self, line: Option<&str>) -> Option<Event> {
        let Some(line) = line.filter(|line| !line.is_empty()) else {
            let event = std::mem::take(&mut self.pending);
            return std::mem::take(&mut self.has_data).then_some(event);
        };
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field.trim_start_matches('\u{feff}') {
            // llama.cpp's servers send a failure in a field of its own.
            name @ ("data" | "error") => {
                if name == "error" {
                    name.clone_into(&mut self.pending.name);
                }
                if std::mem::replace(&mut self.has_data, true) {
                    self.pending.data.push('\n');
                }
                self.pending.data.push_str(value);
            }
            "event" => value.clone_into(&mut self.pending.name),
            // Comments begin with a colon; `id` and `retry` are for streams that are taken up again.
            _ => {}
        }
        None
    }
}

#[cfg(all(test, feature = "openai"))]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn lines(pieces: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::default();
        let mut found = Vec::new();
        for piece in pieces {
            lines.push(piece);
            while let Some(line) = lines.next() {
                found.push(line);
            }
        }
        found.extend(lines.rest());
        found.into_iter().map(|line| String::from_utf8_lossy(&line).into_owned()).collect()
    }

    /// A line that moved the rest of the buffer would make this take hours.
    #[test]
    fn many_lines_in_one_piece_take_time_in_proportion_to_it() {
        for ends in ["\n", "\r\n", "\r"] {
            let text = ends.repeat(4 << 20);
            assert_eq!(lines(&[text.as_bytes()]).len(), 4 << 20, "{ends:?}");
        }
    }

    proptest! {
        #[test]
        fn lines_do_not_depend_on_where_the_bytes_were_cut(
            parts in prop::collection::vec(("[aя🦀]{0,5}", prop::sample::select(vec!["\n", "\r\n", "\r"])), 0..6),
            cuts in prop::collection::vec(0_usize..60, 0..8),
        ) {
            // An empty line after `\r` that ends with `\n` would be part of that end.
            let mut expected = Vec::new();
            let mut text = String::new();
            for (line, end) in &parts {
                let line = format!("x{line}");
                text.push_str(&line);
                text.push_str(end);
                expected.push(line);
            }
            let bytes = text.as_bytes();
            let mut places: Vec<usize> = cuts.into_iter().map(|cut| cut.min(bytes.len())).collect();
            places.extend([0, bytes.len()]);
            places.sort_unstable();
            let pieces: Vec<&[u8]> = places.windows(2).filter_map(|pair| match pair {
                [from, to] => bytes.get(*from..*to),
                _ => None,
            }).collect();
            prop_assert_eq!(lines(&pieces), expected);
        }
    }

    fn events(text: &str) -> Vec<Event> {
        let mut events = Events::default();
        let text = lines(&[text.as_bytes()]);
        let mut found: Vec<Event> = text.iter().filter_map(|line| events.take(Some(line))).collect();
        found.extend(events.take(None));
        found
    }

    #[test]
    fn events_are_put_together() {
        let event = |name: &str, data: &str| Event { name: name.into(), data: data.into() };
        assert_eq!(events("data: a\n\ndata:b\r\n\r\n"), [event("", "a"), event("", "b")]);
        assert_eq!(events(": ping\n\n: ping\nevent: x\ndata: a\ndata: b\nid: 3\n\n"), [event("x", "a\nb")]);
        assert_eq!(events("\u{feff}data: a\n\ndata: [DONE]"), [event("", "a"), event("", "[DONE]")]);
        assert_eq!(events("event: x\n\ndata\n\n"), [event("", "")], "a name without data is no event");
        assert_eq!(events("data: \n\n"), [event("", "")]);
        assert_eq!(events("error: {}\n\n"), [event("error", "{}")]);
        assert_eq!(events("data:  a: b\n\n"), [event("", " a: b")]);
    }
}
