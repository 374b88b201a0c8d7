//! Which paths a source names: read without a parser, comments and texts left out.

/// The names after `use`, with whether they are exported to everybody.
pub fn uses(source: &str) -> Vec<(bool, Vec<String>)> {
    let tokens = tokens(source);
    let mut found = Vec::new();
    for (place, token) in tokens.iter().enumerate() {
        if token != "use" || place == 0 {
            continue;
        }
        let exported = match tokens[place - 1].as_str() {
            "pub" => true,
            // `pub(crate) use`
            ")" => false,
            _ => continue,
        };
        let mut at = place + 1;
        let mut names = Vec::new();
        tree(&tokens, &mut at, &[], &mut names);
        found.extend(names.into_iter().map(|name| (exported, name)));
    }
    found
}

pub fn public_modules(source: &str) -> Vec<String> {
    let tokens = tokens(source);
    let named = tokens.windows(3).filter(|three| three[0] == "pub" && three[1] == "mod");
    named.map(|three| three[2].clone()).collect()
}

/// Every path of the source that begins at the root of the crate or above the module, from the root on.
pub fn paths(source: &str, module: &[String]) -> Vec<Vec<String>> {
    let tokens = tokens(source);
    let mut inner: Vec<(String, usize)> = Vec::new();
    let mut depth = 0;
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(token) = tokens.get(at) {
        match token.as_str() {
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                inner.retain(|(_, opened)| *opened <= depth);
            }
            "mod" if tokens.get(at + 2).is_some_and(|next| next == "{") => {
                inner.push((tokens[at + 1].clone(), depth + 1));
            }
            "crate" | "super" if tokens.get(at + 1).is_some_and(|next| next == "::") && !continues(&tokens, at) => {
                let mut here: Vec<String> = if token == "crate" {
                    Vec::new()
                } else {
                    module.iter().chain(inner.iter().map(|(name, _)| name)).cloned().collect()
                };
                while tokens[at] == "super" && tokens.get(at + 1).is_some_and(|next| next == "::") {
                    here.pop();
                    at += 2;
                }
                if tokens[at] == "crate" {
                    at += 2;
                }
                let mut names = Vec::new();
                tree(&tokens, &mut at, &here, &mut names);
                found.extend(names.into_iter().filter(|name| !matches!(name[0].as_str(), "self" | "*")));
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    found
}

/// Whether the token goes on a path that began before it, as in `$crate::x` or `a::super`.
fn continues(tokens: &[String], at: usize) -> bool {
    at > 0 && matches!(tokens[at - 1].as_str(), "::" | "$")
}

/// Reads `a::b::{c, d::e}` into `a::b::c` and `a::b::d::e`.
fn tree(tokens: &[String], at: &mut usize, before: &[String], found: &mut Vec<Vec<String>>) {
    let mut path = before.to_vec();
    loop {
        match tokens.get(*at).map(String::as_str) {
            Some("{") => {
                *at += 1;
                while tokens.get(*at).is_some_and(|token| token != "}") {
                    if tokens[*at] == "," {
                        *at += 1;
                    } else if tokens[*at] == "as" {
                        *at += 2;
                    } else {
                        tree(tokens, at, &path, found);
                    }
                }
                *at += 1;
                return;
            }
            Some(name) => {
                path.push(name.to_owned());
                *at += 1;
            }
            None => return,
        }
        if tokens.get(*at).is_some_and(|token| token == "::") && tokens.get(*at + 1).is_some_and(|next| next != "<") {
            *at += 1;
        } else {
            found.push(path);
            return;
        }
    }
}

/// Names, `::` and single signs; comments, texts and characters left out.
fn tokens(source: &str) -> Vec<String> {
    let characters: Vec<char> = source.chars().collect();
    let at = |place: usize| characters.get(place).copied().unwrap_or('\0');
    let named = |character: char| character.is_alphanumeric() || character == '_';
    let mut tokens = Vec::new();
    let mut place = 0;
    while place < characters.len() {
        let raw_hashes = (place + 1..).take_while(|next| at(*next) == '#').count();
        match at(place) {
            '/' if at(place + 1) == '/' => {
                while place < characters.len() && at(place) != '\n' {
                    place += 1;
                }
            }
            '/' if at(place + 1) == '*' => {
                let mut depth = 0;
                loop {
                    match (at(place), at(place + 1)) {
                        ('/', '*') => (depth, place) = (depth + 1, place + 2),
                        ('*', '/') => (depth, place) = (depth - 1, place + 2),
                        _ => place += 1,
                    }
                    if depth == 0 || place >= characters.len() {
                        break;
                    }
                }
            }
            'r' if at(place + 1 + raw_hashes) == '"'
                && (place == 0 || !named(at(place - 1)) || at(place - 1) == 'b') =>
            {
                let end: Vec<char> = format!("\"{}", "#".repeat(raw_hashes)).chars().collect();
                place += raw_hashes + 2;
                while place < characters.len() && !characters[place..].starts_with(&end) {
                    place += 1;
                }
                place += end.len();
            }
            '"' => {
                place += 1;
                while place < characters.len() && at(place) != '"' {
                    place += if at(place) == '\\' { 2 } else { 1 };
                }
                place += 1;
            }
            // A character, unless it is a lifetime.
            '\'' if at(place + 1) == '\\' || at(place + 2) == '\'' => {
                place += if at(place + 1) == '\\' { 3 } else { 2 };
                while place < characters.len() && at(place) != '\'' {
                    place += 1;
                }
                place += 1;
            }
            ':' if at(place + 1) == ':' => {
                tokens.push("::".to_owned());
                place += 2;
            }
            first if named(first) => {
                let end = (place..).find(|next| !named(at(*next))).unwrap();
                tokens.push(characters[place..end].iter().collect());
                place = end;
            }
            blank if blank.is_whitespace() => place += 1,
            sign => {
                tokens.push(sign.to_string());
                place += 1;
            }
        }
    }
    tokens
}
