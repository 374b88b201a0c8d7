/// A language with stop words and a stemmer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    Spanish,
    German,
    French,
    Portuguese,
    Italian,
    Russian,
    Arabic,
}

impl Language {
    /// Those written in Latin letters, which the letters alone do not tell apart.
    pub(super) const LATIN: [Self; 6] =
        [Self::English, Self::Spanish, Self::German, Self::French, Self::Portuguese, Self::Italian];

    /// Each at its own number.
    pub(super) const ALL: [Self; 8] = [
        Self::English,
        Self::Spanish,
        Self::German,
        Self::French,
        Self::Portuguese,
        Self::Italian,
        Self::Russian,
        Self::Arabic,
    ];

    pub(super) const fn bit(self) -> u8 {
        1 << self as u8
    }
}
