use std::time::Duration;

/// The most that a view of a conversation may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConversationSize {
    /// Tokens, by the engine's [`TokenCounter`](crate::TokenCounter).
    Tokens(usize),
    /// Words, by Unicode's rules; two characters are one where a script is written without spaces.
    Words(usize),
}

/// How long conversations may be, and how they are shortened.
///
/// ```
/// use ingrain::ConversationOptions;
/// let options = ConversationOptions::new().max_tokens(2_000).keep_last(6).max_exchanges(500);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct ConversationOptions {
    /// Most exchanges that are kept and shown.
    pub max_exchanges: Option<usize>,
    /// The most that a view may hold.
    pub max_size: ConversationSize,
    /// How many of the last messages are not summarised.
    pub keep_last: usize,
    /// How many exchanges are summarised at a time.
    pub segment: usize,
    /// Most words of the running summary.
    pub summary_words: Option<usize>,
    /// The language of summaries, by its English name.
    pub language: Option<String>,
    /// How many segments are summarised at once.
    pub parallel: usize,
    /// Whether anything is summarised.
    pub summaries: bool,
    /// The wait before a summary is tried again.
    pub first_wait: Duration,
    /// The longest wait between two tries.
    pub longest_wait: Duration,
}

impl ConversationOptions {
    /// Views of at most 4,000 tokens, the last 4 messages word for word; segments of 5 exchanges; nothing is dropped.
    pub fn new() -> Self {
        Self {
            max_exchanges: None,
            max_size: ConversationSize::Tokens(4_000),
            keep_last: 4,
            segment: 5,
            summary_words: None,
            language: None,
            parallel: 4,
            summaries: true,
            first_wait: Duration::from_secs(2),
            longest_wait: Duration::from_secs(900),
        }
    }

    /// Most exchanges; 1 or more. A view shows no more of them. In the store the oldest beyond it are dropped as soon as
    /// the summary covers them, and where nothing is summarised at once. Default: no limit.
    pub fn max_exchanges(mut self, exchanges: usize) -> Self {
        self.max_exchanges = Some(exchanges);
        self
    }

    /// Most tokens of a view, by the engine's counter, summary and frame included. It must be twice the frame or more,
    /// which has some 80 tokens. Default 4,000.
    pub fn max_tokens(mut self, tokens: usize) -> Self {
        self.max_size = ConversationSize::Tokens(tokens);
        self
    }

    /// Most words of a view, in place of a limit in tokens. Default: none, for tokens are counted.
    pub fn max_words(mut self, words: usize) -> Self {
        self.max_size = ConversationSize::Words(words);
        self
    }

    /// How many of the last messages are not summarised as long as they fit beside the summary; nor is the last exchange.
    /// A tool call and its results count as one. Default 4.
    pub fn keep_last(mut self, messages: usize) -> Self {
        self.keep_last = messages;
        self
    }

    /// How many exchanges are summarised at a time; 1 or more. Default 5.
    pub fn segment(mut self, exchanges: usize) -> Self {
        self.segment = exchanges;
        self
    }

    /// Most words of the running summary; 1 or more. What is longer is cut after a sentence. Default: an eighth of a limit in
    /// words, three thirty-seconds of one in tokens.
    pub fn summary_words(mut self, words: usize) -> Self {
        self.summary_words = Some(words);
        self
    }

    /// The language that summaries are to be written in, by its English name; rules cannot translate. Default: that of
    /// the messages.
    pub fn language(mut self, language: impl Into<String>) -> Self {
        self.language = Some(language.into());
        self
    }

    /// How many segments are summarised at once where several are due, as when a long conversation was imported; 1 or more.
    /// Default 4.
    pub fn parallel(mut self, segments: usize) -> Self {
        self.parallel = segments;
        self
    }

    /// Whether conversations are summarised. If not, what has no room in a view is left out of it, and
    /// [`max_exchanges`](Self::max_exchanges) drops the oldest for good. Default: yes.
    pub fn summaries(mut self, wanted: bool) -> Self {
        self.summaries = wanted;
        self
    }

    /// The wait before a summary that failed is tried again, and the longest: each is four times as long as the one before,
    /// and as long as the provider asked for if that is longer. It is tried for as long as it fails, and nothing is
    /// dropped meanwhile. Default 2 seconds and 15 minutes.
    pub fn waits(mut self, first: Duration, longest: Duration) -> Self {
        (self.first_wait, self.longest_wait) = (first, longest);
        self
    }

    /// The wait after so many failures in a row: `first_wait · 4^(failures − 1)`, at most `longest_wait`.
    pub(super) fn wait(&self, failures: u32) -> Duration {
        let grown = self.first_wait.saturating_mul(4_u32.saturating_pow(failures.saturating_sub(1)));
        grown.min(self.longest_wait)
    }
}

impl Default for ConversationOptions {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_grow_up_to_the_longest() {
        let options = ConversationOptions::new();
        for (failures, seconds) in [(1, 2), (2, 8), (3, 32), (6, 900), (u32::MAX, 900)] {
            assert_eq!(options.wait(failures), Duration::from_secs(seconds));
        }
    }
}
