//! The terms of a text in bytes, so that a store can keep them beside it and does not analyse it again for every index.

use std::sync::LazyLock;

use super::{analyzer::Analysis, language::Language, stopwords};
use crate::{
    WriteBatch,
    score::stable_hash::{StableHash, halves},
};

/// Raise it when terms come out otherwise for texts that [`SAMPLES`] does not have.
const ANALYZER: u64 = 1;

/// Texts that meet every rule of the analyser. What they give is part of the fingerprint, so that most changes of the
/// analyser, the stemmers or Unicode's tables are noticed by themselves.
pub(super) const SAMPLES: [&str; 12] = [
    "She isn't painting the sunrises; running, quickly, generously skied organizations don't",
    "Reviews C++ and C# code at example.com/docs, see INC-90312, read_file, 3.11 and 30 km/h",
    "Le gustaban los libros viejos y las canciones de los niños",
    "Ich mochte alte Häuser und die größten Straßen nicht",
    "J'aime l'eau et les chevaux heureusement",
    "Gostamos muito de praias e das canções",
    "Mi piacciono gli amici dell'università italiana",
    "Я переехала в Казань, завёл йогурт и работаю врачами",
    "تعمل ممرضة في مستشفى الأطفال الكبير",
    "土曜日は折り紙教室に行く 最喜欢河边的茶馆 茶",
    "서울에서 살아요 ฉันชอบชา שָׁלוֹם Ωμέγα naïve ﬁne Ⅷ",
    "👩\u{200d}🚀 x² İstanbul 'quoted' d’Or a_b:c.d",
];

/// What the terms of this build are told by: those of another analyser are of no use to it.
static FINGERPRINT: LazyLock<u32> = LazyLock::new(|| {
    let mut hash = StableHash::new(ANALYZER).text(if cfg!(feature = "stemmers") { "stems" } else { "words" });
    hash = stopwords::lists().fold(hash, StableHash::text);
    for sample in SAMPLES {
        for (term, count) in Analysis::of(sample).terms {
            hash = hash.text(&term).text(&count.to_string());
        }
    }
    halves(hash.finish()).0
});

const NO_LANGUAGE: u8 = u8::MAX;
/// Where the terms begin.
const HEADER: usize = 13;

/// The terms of a text.
///
/// ```text
/// fingerprint: u32 · language: u8 · length: u32 · terms: u32 · (bytes: u8 · term · occurrences: u8, or 255 and a u32)*
/// ```
///
/// Numbers are little-endian.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Terms(Box<[u8]>);

impl Terms {
    /// Analyses a text.
    pub(crate) fn of(text: &str) -> Self {
        let Analysis { terms, length, language } = Analysis::of(text);
        let size: usize = terms.iter().map(|(term, _)| term.len() + 2).sum();
        let mut bytes = Vec::with_capacity(HEADER + size);
        bytes.extend(FINGERPRINT.to_le_bytes());
        bytes.push(language.map_or(NO_LANGUAGE, |language| language as u8));
        bytes.extend(length.to_le_bytes());
        bytes.extend(u32::try_from(terms.len()).unwrap_or(u32::MAX).to_le_bytes());
        for (term, count) in terms {
            // Terms are cut far below this length.
            bytes.push(u8::try_from(term.len()).unwrap_or(u8::MAX));
            bytes.extend(term.as_bytes());
            match u8::try_from(count) {
                Ok(count) if count < u8::MAX => bytes.push(count),
                _ => {
                    bytes.push(u8::MAX);
                    bytes.extend(count.to_le_bytes());
                }
            }
        }
        Self(bytes.into_boxed_slice())
    }

    /// The terms of all keys of a batch, in order: for stores to make before they take their locks.
    pub(crate) fn of_batch(batch: &WriteBatch) -> Vec<Self> {
        batch.puts.iter().filter_map(|put| put.keys.as_deref()).flatten().map(|key| Self::of(&key.text)).collect()
    }

    #[cfg_attr(not(feature = "sqlite"), allow(dead_code, reason = "only durable stores keep terms"))]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// As [`TermList::kept`], copied.
    #[cfg(feature = "sqlite")]
    pub(crate) fn kept(bytes: &[u8]) -> Option<Self> {
        TermList::kept(bytes).map(|terms| Self(terms.0.into()))
    }

    pub(crate) fn list(&self) -> TermList<'_> {
        TermList(&self.0)
    }
}

/// What became of something that was made of a text and kept beside it.
#[cfg(feature = "sqlite")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kept {
    Same,
    /// Something else made it, and it is not looked at.
    Outdated,
    /// It is not what the text gives.
    Other,
}

/// What is kept, held against what is made of the text now. Both begin with a fingerprint.
#[cfg(feature = "sqlite")]
pub(crate) fn kept_as(kept: &[u8], made: &[u8]) -> Kept {
    match (kept == made, kept.first_chunk::<4>() == made.first_chunk()) {
        (true, _) => Kept::Same,
        (false, true) => Kept::Other,
        (false, false) => Kept::Outdated,
    }
}

/// The terms of a text where they lie.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TermList<'t>(&'t [u8]);

impl<'t> TermList<'t> {
    /// Takes terms over that were kept, unless they are of another analyser, or damaged: then they are to be made anew
    /// from the text.
    #[cfg_attr(not(feature = "sqlite"), allow(dead_code, reason = "only durable stores keep terms"))]
    pub(crate) fn kept(bytes: &'t [u8]) -> Option<Self> {
        let own = bytes.strip_prefix(&FINGERPRINT.to_le_bytes()).is_some();
        Some(Self(bytes)).filter(|kept| own && kept.is_sound())
    }

    pub(super) fn language(self) -> Option<Language> {
        self.0.get(4).and_then(|number| Language::ALL.get(usize::from(*number)).copied())
    }

    /// Terms that are not stop words, each counted as often as it occurs.
    pub(super) fn length(self) -> u32 {
        self.number(5)
    }

    fn number(self, at: usize) -> u32 {
        self.0.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |bytes| u32::from_le_bytes(*bytes))
    }

    /// Each term once, in UTF-8, with the number of its occurrences.
    pub(super) fn bytes(self) -> Iter<'t> {
        Iter(self.0.get(HEADER..).unwrap_or_default())
    }

    fn is_sound(self) -> bool {
        let known = |number: &u8| *number == NO_LANGUAGE || usize::from(*number) < Language::ALL.len();
        let mut terms = self.bytes();
        let count = terms.by_ref().take_while(|(_, occurrences)| *occurrences > 0).count();
        self.0.len() >= HEADER
            && self.0.get(4).is_some_and(known)
            && u32::try_from(count) == Ok(self.number(9))
            && terms.0.is_empty()
    }
}

pub(super) struct Iter<'t>(&'t [u8]);

impl<'t> Iterator for Iter<'t> {
    type Item = (&'t [u8], u32);

    /// Leaves what cannot be read, and ends there.
    fn next(&mut self) -> Option<Self::Item> {
        let (length, rest) = self.0.split_first()?;
        let (term, rest) = rest.split_at_checked(usize::from(*length))?;
        let (count, mut rest) = rest.split_first()?;
        let mut count = u32::from(*count);
        if count == u32::from(u8::MAX) {
            let (bytes, after) = rest.split_first_chunk()?;
            (count, rest) = (u32::from_le_bytes(*bytes), after);
        }
        self.0 = rest;
        Some((term, count))
    }
}

#[cfg(test)]
#[expect(clippy::indexing_slicing, clippy::expect_used, reason = "a failing look-up is a failing test")]
mod tests {
    use super::*;

    #[test]
    fn terms_come_back_as_they_were() {
        for text in SAMPLES.into_iter().chain(["", "the", &"tea ".repeat(700)]) {
            let (terms, analysis) = (Terms::of(text), Analysis::of(text));
            let back = TermList::kept(terms.as_bytes()).expect("sound terms");
            assert_eq!((back.language(), back.length()), (analysis.language, analysis.length));
            let found: Vec<(String, u32)> =
                back.bytes().map(|(term, count)| (String::from_utf8(term.to_vec()).expect("a text"), count)).collect();
            assert_eq!(found, analysis.terms, "{text}");
        }
    }

    #[test]
    fn terms_of_another_analyser_and_damaged_ones_are_refused() {
        let whole = Terms::of("Owns two kayaks, and a canoe");
        let mut other = whole.as_bytes().to_vec();
        other[0] ^= 1;
        let refused = |bytes: &[u8]| TermList::kept(bytes).is_none();
        assert!(refused(&other) && !refused(whole.as_bytes()));
        assert!((0..whole.as_bytes().len()).all(|end| refused(&whole.as_bytes()[..end])));
        let mut language = whole.as_bytes().to_vec();
        language[4] = 77;
        assert!(refused(&language));
        let mut none = whole.as_bytes().to_vec();
        let count = HEADER + 1 + usize::from(none[HEADER]);
        none[count] = 0;
        assert!(refused(&none));
    }
}
