//! Which parts of a message are the user's own prose.

use std::ops::Range;

/// A part of a message, in order.
#[derive(Debug, PartialEq)]
pub(super) enum Piece {
    /// Running text.
    Prose(Range<usize>),
    /// A quotation or code inside a line: nothing is read from it, and no clause runs across it.
    Masked,
    /// The end of a line.
    Break,
}

/// Closing marks of quotations whose opening mark is another character, so that they may span lines.
const PAIRS: [(char, char); 3] = [('“', '”'), ('«', '»'), ('„', '“')];

/// Openings of lines that are no prose: quotations, tables, markup and data.
const FOREIGN: [char; 9] = ['>', '|', '<', '{', '[', '}', '#', '%', ';'];

/// Headers of a mail.
const HEADERS: [&str; 9] = ["from:", "to:", "subject:", "cc:", "bcc:", "от:", "от кого:", "кому:", "тема:"];

/// Ends of the line before a list that is about the author after all.
const OWN_LISTS: [&str; 4] = ["about me:", "about myself:", "обо мне:", "о себе:"];

/// How much of a line is looked at for a mail header, in bytes.
const LONGEST_HEADER: usize = 80;

/// How far the end of a quotation is looked for, in bytes.
const LONGEST_QUOTE: usize = 4_000;

/// Splits a message. A document (something with headings) and everything from a mail header or a list on give nothing:
/// a list of statements is material more often than a self-portrait.
pub(super) fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut fence: Option<&str> = None;
    // Where a quotation that began on an earlier line ends.
    let mut quoted_until = 0;
    let mut at = 0;
    let is_list = text.lines().filter(|line| is_item(line.trim())).count() > 1;
    let mut is_own = false;
    for line in text.split_inclusive(['\n', '\r', '\u{2028}', '\u{2029}']) {
        let start = at;
        at += line.len();
        let bare = line.trim();
        let mark = ["```", "~~~"].into_iter().find(|mark| bare.starts_with(mark));
        if let Some(mark) = mark {
            match fence {
                None => fence = Some(mark),
                Some(open) if open == mark => fence = None,
                Some(_) => {}
            }
            continue;
        }
        if fence.is_some() || at <= quoted_until {
            continue;
        }
        if is_heading(bare) {
            return Vec::new();
        }
        let item = is_list && is_item(bare);
        if opens_foreign_mail(bare) || (item && !is_own) {
            break;
        }
        if !bare.is_empty() && !item {
            let line = bare.to_lowercase();
            is_own = OWN_LISTS.iter().any(|end| line.ends_with(end));
        }
        // Four spaces or a tab make a code block in Markdown.
        if bare.is_empty()
            || bare.starts_with(FOREIGN)
            || bare.starts_with("--")
            || line.starts_with("    ")
            || line.starts_with('\t')
        {
            pieces.push(Piece::Break);
            continue;
        }
        quoted_until = line_pieces(text, start.max(quoted_until)..at, &mut pieces);
        pieces.push(Piece::Break);
    }
    pieces
}

fn is_heading(line: &str) -> bool {
    let rest = line.trim_start_matches('#');
    rest.len() < line.len() && rest.starts_with(' ')
}

fn opens_foreign_mail(line: &str) -> bool {
    let start = beginning(line, LONGEST_HEADER).to_lowercase();
    line.starts_with("-----Original")
        || start.contains("forwarded message")
        || start.contains("пересланное сообщение")
        || line.ends_with(" wrote:")
        || HEADERS.iter().any(|header| start.starts_with(header))
}

/// Whether the line is an item of a list.
fn is_item(line: &str) -> bool {
    let rest = line.trim_start_matches(|mark: char| mark.is_ascii_digit());
    let mark = if rest.len() < line.len() {
        rest.strip_prefix(['.', ')'])
    } else {
        line.strip_prefix(['-', '*', '•', '–', '—'])
    };
    mark.is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

/// Cuts quotations and code out of a line; returns where the last quotation ends, which may be lines further on.
fn line_pieces(text: &str, line: Range<usize>, pieces: &mut Vec<Piece>) -> usize {
    let end = line.end;
    let mut from = line.start;
    let mut skip_until = line.start;
    let mut before = ' ';
    let Some(content) = text.get(line) else { return end };
    for (offset, mark) in content.char_indices() {
        let here = end - content.len() + offset;
        let previous = std::mem::replace(&mut before, mark);
        if here < skip_until {
            continue;
        }
        let after = here + mark.len_utf8();
        let Some(close) = closing(text, mark, previous, after, end) else { continue };
        push(pieces, from..here);
        pieces.push(Piece::Masked);
        from = close;
        skip_until = close;
        if close >= end {
            return close;
        }
    }
    push(pieces, from..end);
    end
}

/// The end of the quotation that `mark` opens, if it opens one.
fn closing(text: &str, mark: char, previous: char, after: usize, line_end: usize) -> Option<usize> {
    let rest = text.get(after..)?;
    let line = text.get(after..line_end)?;
    let to = |haystack: &str, close: char| haystack.find(close).map(|found| after + found + close.len_utf8());
    match mark {
        // One without its partner still opens a quotation: what follows is not safe to read.
        '"' | '`' | '\u{201f}' => Some(to(line, mark).unwrap_or(line_end)),
        // A comment, or the rest of an address.
        '/' if rest.starts_with('/') && !(previous.is_alphanumeric() || previous == ':') => Some(line_end),
        '#' if rest.starts_with(' ') && previous.is_whitespace() => Some(line_end),
        '/' if rest.starts_with('*') => {
            Some(beginning(rest, LONGEST_QUOTE).find("*/").map_or(line_end, |found| after + found + 2))
        }
        ':' if rest.starts_with("//") => Some(line.find(char::is_whitespace).map_or(line_end, |found| after + found)),
        // As an apostrophe it follows a letter.
        '‘' if !previous.is_alphanumeric() => Some(to(line, '’').unwrap_or(line_end)),
        '\'' if !previous.is_alphanumeric() && line.starts_with(char::is_alphabetic) => {
            single(beginning(line, LONGEST_QUOTE), after)
        }
        _ => {
            let close = PAIRS.into_iter().find(|(open, _)| *open == mark)?.1;
            // Looked for in a bounded stretch, so that a run of opening marks costs no more than its length.
            let stretch = beginning(rest, LONGEST_QUOTE);
            Some(to(stretch, close).unwrap_or(line_end))
        }
    }
}

/// At most the first `bytes` of a text.
fn beginning(text: &str, bytes: usize) -> &str {
    (0..4).filter_map(|less| text.get(..bytes.checked_sub(less)?)).next().unwrap_or(text)
}

/// The end of a quotation in straight single marks: the first mark with no letter after it.
fn single(line: &str, after: usize) -> Option<usize> {
    let mut chars = line.char_indices().peekable();
    while let Some((offset, mark)) = chars.next() {
        if mark == '\'' && !chars.peek().is_some_and(|(_, next)| next.is_alphanumeric()) {
            return Some(after + offset + 1);
        }
    }
    None
}

fn push(pieces: &mut Vec<Piece>, range: Range<usize>) {
    if !range.is_empty() {
        pieces.push(Piece::Prose(range));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> String {
        let parts = pieces(text).into_iter().map(|piece| match piece {
            Piece::Prose(range) => text.get(range).unwrap_or("?").to_owned(),
            Piece::Masked => "#".to_owned(),
            Piece::Break => "/".to_owned(),
        });
        parts.collect()
    }

    #[test]
    fn quotations_and_code_are_cut_out() {
        assert_eq!(read("She said \"I am\" and `x` ok"), "She said # and # ok/");
        assert_eq!(read("a «b\nc» d"), "a #/ d/");
        assert_eq!(read("an open \" quote"), "an open #/");
        assert_eq!(read("it's the dogs' 'I live in Rome' sign"), "it's the dogs' # sign/");
        assert_eq!(read("x\n```\nI am\n```\ny"), "x\n/y/");
        assert_eq!(read("x\n> I am\ny"), "x\n//y/");
    }

    #[test]
    fn documents_and_forwarded_mail_give_nothing() {
        assert_eq!(read("# Title\nI am"), "");
        assert_eq!(read("see\nOn Monday Bob wrote:\nI am"), "see\n/");
    }
}
