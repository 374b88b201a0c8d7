//! Secrets and personal data, known by their form.

mod forms;

use std::{borrow::Cow, sync::Arc};

use forms::{Form, PERSONAL, SECRETS};
use regex_lite::Regex;

use crate::{Error, Redactor, Result};

/// Takes secrets and, if asked, personal data out of texts, by their form: each becomes a placeholder such as
/// `[api key]`.
///
/// What has no form of its own, such as a name or a home address, is not found; and what merely looks like a key is taken
/// out as well. Patterns are tried in order: secrets, personal data, one's own. Numbers with a check digit, such as those of
/// cards and accounts, are checked. An engine that has one: `MemoryEngine::builder().redactor(PatternRedactor::default())`.
///
/// ```
/// use ingrain::{Redactor, rules::PatternRedactor};
/// let redactor = PatternRedactor::secrets().with_personal_data().pattern("ticket", r"\bINT-\d{6}\b")?;
/// let text = "Key sk-live0123456789abcdef, mail ann@example.com, ticket INT-004711.";
/// assert_eq!(redactor.redact(text), "Key [api key], mail [email address], ticket [ticket].");
/// assert_eq!(redactor.redact("I like tea."), "I like tea.");
/// # Ok::<(), ingrain::Error>(())
/// ```
#[derive(Debug, Clone)]
pub struct PatternRedactor(Vec<Arc<Pattern>>);

#[derive(Debug)]
struct Pattern {
    placeholder: String,
    /// One of these is in every match, if there are any: looking for them is much quicker.
    hints: &'static [&'static str],
    regex: Regex,
    /// Whether a match is one indeed.
    check: fn(&str) -> bool,
}

impl PatternRedactor {
    /// Finds keys and tokens of well-known services, JSON web tokens, private keys, passwords in URLs, bearer tokens, and
    /// what is told to be a password, passphrase, PIN, key or token ("my password is …", "AccountKey=…", «пароль …»), in
    /// English, German, French, Spanish, Portuguese, Italian, Russian and Chinese. The default.
    #[must_use]
    pub fn secrets() -> Self {
        Self::nothing().and(SECRETS)
    }

    /// Finds nothing yet: for patterns of one's own alone.
    #[must_use]
    pub const fn nothing() -> Self {
        Self(Vec::new())
    }

    /// Also finds e-mail addresses, telephone numbers, card and account numbers (IBAN), social security numbers of the US
    /// and IP addresses. Default: not, since a user may want exactly these remembered. A telephone number is what begins
    /// with a plus or a trunk zero, has the form of one of North America or Russia, or is said to be one.
    #[must_use]
    pub fn with_personal_data(self) -> Self {
        self.and(PERSONAL)
    }

    /// Also finds what matches a pattern of one's own, and puts `[name]` in its place: the first group if there is one, else
    /// the whole match. In the syntax of the crate `regex-lite`: no look-around, classes such as `\d` are ASCII.
    ///
    /// # Errors
    /// [`InvalidArgument`](crate::ErrorKind::InvalidArgument) for a pattern that is none, that matches the empty text or its
    /// own placeholder, or for a blank name or one with brackets.
    pub fn pattern(mut self, name: &str, pattern: &str) -> Result<Self> {
        if name.trim().is_empty() || name.contains(['[', ']']) {
            return Err(Error::invalid("the name of a pattern is blank or has brackets"));
        }
        let regex = Regex::new(pattern)
            .map_err(|cause| Error::invalid(format!("the pattern `{name}` cannot be read")).with_source(cause))?;
        let placeholder = format!("[{name}]");
        if regex.is_match("") || regex.is_match(&placeholder) {
            return Err(Error::invalid(format!("the pattern `{name}` matches the empty text, or its own placeholder")));
        }
        self.0.push(Arc::new(Pattern { placeholder, hints: &[], regex, check: |_| true }));
        Ok(self)
    }

    fn and(mut self, forms: &[Form]) -> Self {
        // A test reads all of them.
        let patterns = forms.iter().filter_map(|Form { name, hints, pattern, check }| {
            let regex = Regex::new(pattern).ok()?;
            Some(Arc::new(Pattern { placeholder: format!("[{name}]"), hints, regex, check: *check }))
        });
        self.0.extend(patterns);
        self
    }
}

impl Pattern {
    /// The text without what looks like this; `None` if nothing does.
    fn redacted(&self, text: &str) -> Option<String> {
        if !(self.hints.is_empty() || self.hints.iter().any(|hint| text.contains(hint))) {
            return None;
        }
        let mut redacted = String::new();
        let mut at = 0;
        for groups in self.regex.captures_iter(text) {
            let part = groups.iter().skip(1).flatten().next().or_else(|| groups.get(0));
            if let Some(part) = part.filter(|part| !part.is_empty() && (self.check)(part.as_str())) {
                redacted.push_str(text.get(at..part.start()).unwrap_or_default());
                redacted.push_str(&self.placeholder);
                at = part.end();
            }
        }
        if at == 0 {
            return None;
        }
        redacted.push_str(text.get(at..).unwrap_or_default());
        Some(redacted)
    }
}

impl Default for PatternRedactor {
    /// [Secrets](Self::secrets), and no personal data.
    fn default() -> Self {
        Self::secrets()
    }
}

impl Redactor for PatternRedactor {
    fn redact<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut text = Cow::Borrowed(text);
        // What stands around a placeholder may be a form again; a few rounds, for each takes some away.
        for _ in 0..4 {
            let mut changed = false;
            for pattern in &self.0 {
                if let Some(redacted) = pattern.redacted(&text).filter(|redacted| *redacted != *text) {
                    (text, changed) = (Cow::Owned(redacted), true);
                }
            }
            if !changed {
                break;
            }
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_can_be_read_and_passes_over_placeholders() {
        let all = PatternRedactor::secrets().with_personal_data();
        assert_eq!(all.0.len(), SECRETS.len() + PERSONAL.len());
        for pattern in &all.0 {
            for other in &all.0 {
                assert_eq!(pattern.redacted(&other.placeholder), None, "{pattern:?}");
            }
        }
    }
}
