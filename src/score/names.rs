//! How alike two names are.
//!
//! # Source
//! The measure of PostgreSQL's `pg_trgm`: each word of a name is padded with two blanks in front and one behind and cut
//! into runs of three characters; the likeness of two names is the share of these that they have in common, |A ∩ B| /
//! |A ∪ B| (Jaccard), and its default threshold, 0.3, is [`LIKE`]. Unlike there, words are parted by white space only
//! ("C++" is not "C"), and marks above and below letters (U+0300 to U+036F) are passed over, so that "Müller" is like
//! "Muller".

use unicode_normalization::UnicodeNormalization;

/// Names less alike than this are not alike at all.
pub const LIKE: f32 = 0.3;

/// The likeness of names that have all trigrams in common and are not equal, such as "Ana Lima" and "Lima Ana".
const MOST: f32 = 0.99;

/// How many characters of a name its trigrams are made of; equality looks at all of them.
const CHARACTERS: usize = 256;

/// A name, made ready for comparing.
///
/// ```
/// use ingrain::score::names::Name;
/// let likeness = |left, right| Name::of(left).likeness(&Name::of(right));
/// assert_eq!(likeness(" ktra ", "KTRA"), 1.0);
/// assert!(likeness("Müller", "Muller GmbH") > 0.5 && likeness("KTRA", "KTRB") < 0.5);
/// assert_eq!(likeness("Lisbon", "Porto"), 0.0);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    folded: String,
    /// Sorted, each once.
    trigrams: Vec<u64>,
}

impl Name {
    /// Makes a name ready.
    #[must_use]
    pub fn of(name: &str) -> Self {
        Self::of_folded(folded(name))
    }

    /// Makes a name ready that went through [`folded`].
    pub(crate) fn of_folded(folded: String) -> Self {
        let mut trigrams = trigrams(&folded);
        trigrams.sort_unstable();
        trigrams.dedup();
        Self { folded, trigrams }
    }

    /// The name as [`folded`] gives it; empty for a blank one.
    #[must_use]
    pub fn folded(&self) -> &str {
        &self.folded
    }

    /// Its trigrams, each as a number below 2⁶³, in order.
    #[must_use]
    pub fn trigrams(&self) -> &[u64] {
        &self.trigrams
    }

    /// How alike the two are: 1 if they are equal, at most 0.99 otherwise, 0 if they are less alike than [`LIKE`].
    #[must_use]
    pub fn likeness(&self, other: &Self) -> f32 {
        if self.folded == other.folded {
            return 1.0;
        }
        let mut rest = other.trigrams.iter().peekable();
        let shared = self.trigrams.iter().filter(|own| {
            while rest.next_if(|theirs| theirs < own).is_some() {}
            rest.next_if_eq(own).is_some()
        });
        let likeness = likeness_of_unequal(shared.count(), self.trigrams.len(), other.trigrams.len());
        if likeness < LIKE { 0.0 } else { likeness }
    }
}

/// The likeness of names that are not equal, which have this many trigrams, `shared` of them in common.
pub(crate) fn likeness_of_unequal(shared: usize, left: usize, right: usize) -> f32 {
    let all = (left + right).saturating_sub(shared);
    // Counts of a few hundred are exact in f32.
    if all == 0 { 0.0 } else { (shared as f32 / all as f32).min(MOST) }
}

/// The name as names are compared: NFKC, case folded, every run of white space one blank and none at the ends.
///
/// Case folding is Unicode's default one but for rare letters: through upper case to lower case, so "ß" is "ss" and "ς"
/// is "σ". The dotless "ı" stays, since its upper case is that of another letter.
///
/// ```
/// use ingrain::score::names::folded;
/// assert_eq!(folded("  ＳＴＲＡＳＳＥ\t7"), folded("Straße 7"));
/// ```
#[must_use]
pub fn folded(name: &str) -> String {
    let fold = |character: char| {
        let kept = (character == 'ı').then_some(character);
        let through = (character != 'ı').then(|| character.to_uppercase().flat_map(char::to_lowercase));
        kept.into_iter().chain(through.into_iter().flatten())
    };
    // Composed again afterwards: a capital may have no composed small letter.
    let folded: String = name.nfkc().flat_map(fold).nfkc().collect();
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn trigrams(folded: &str) -> Vec<u64> {
    let is_mark = |character: &char| ('\u{300}'..='\u{36f}').contains(character);
    let bare: String = folded.nfd().filter(|character| !is_mark(character)).take(CHARACTERS).collect();
    let mut trigrams = Vec::new();
    for word in bare.split_whitespace() {
        let mut last = [' ', ' '];
        for character in word.chars().chain([' ']) {
            let [first, second] = last;
            // 21 bits hold any character.
            let number = [first, second, character].iter().fold(0, |number, part| number << 21 | u64::from(*part));
            trigrams.push(number);
            last = [second, character];
        }
    }
    trigrams
}

#[cfg(test)]
mod tests {
    use super::*;

    fn likeness(left: &str, right: &str) -> f32 {
        let (left, right) = (Name::of(left), Name::of(right));
        assert_eq!(left.likeness(&right).to_bits(), right.likeness(&left).to_bits(), "the same both ways");
        left.likeness(&right)
    }

    #[test]
    fn equal_after_folding_is_one() {
        for (left, right) in
            [(" ktra ", "KTRA"), ("Straße", "STRASSE"), ("ΣΊΣΥΦΟΣ", "Σίσυφος"), ("ﬁn", "Fin"), ("e\u{301}", "É")]
        {
            assert!((likeness(left, right) - 1.0).abs() < f32::EPSILON, "{left} {right}");
        }
        assert!(likeness("ısı", "isi") < 1.0);
    }

    #[test]
    fn likeness_is_the_share_of_trigrams() {
        // "  l", " li", "lis", "isb", "sbo" of the two times 7.
        assert!((likeness("Lisbon", "Lisboa") - 5.0 / 9.0).abs() < 1e-6);
        assert!((likeness("Lima Ana", "Ana Lima") - 0.99).abs() < 1e-6);
        assert!((likeness("Łódź", "Łodz") - 0.99).abs() < 1e-6);
        // "  报" and " 报告" of 3 and 4.
        assert!((likeness("报告", "报告书") - 0.4).abs() < 1e-6);
        assert!(likeness("C", "C++") < 0.6 && likeness("x", "y").abs() < f32::EPSILON);
    }

    #[test]
    fn odd_names_have_a_likeness_too() {
        let odd = ["", " ", "\0", "👩‍👩‍👧‍👦", "\u{301}", "…", "a\0b", "'; --"];
        for left in odd {
            for right in odd {
                assert!((0.0..=1.0).contains(&likeness(left, right)), "{left:?} {right:?}");
            }
        }
        let long = "x".repeat(100_000);
        assert!(Name::of(&long).trigrams().len() < 10 && likeness(&long, &format!("{long}y")) < 1.0);
    }
}
