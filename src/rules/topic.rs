//! What facts are about.

use crate::MemoryKind;

/// What a fact is about: its kind, category and weight follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    Name,
    Identity,
    Contact,
    Home,
    Work,
    Education,
    Preference,
    Diet,
    Allergy,
    Health,
    Family,
    Pets,
    Plans,
    Speech,
    /// What the user asked to have remembered, in their words.
    Note,
}

impl Topic {
    pub(super) const fn kind(self) -> MemoryKind {
        match self {
            Self::Preference => MemoryKind::Preference,
            _ => MemoryKind::Fact,
        }
    }

    pub(super) const fn category(self) -> &'static str {
        match self {
            Self::Name | Self::Identity => "identity",
            Self::Contact => "contact",
            Self::Home => "home",
            Self::Work => "work",
            Self::Education => "education",
            Self::Preference => "preference",
            Self::Diet => "diet",
            Self::Allergy | Self::Health => "health",
            Self::Family => "family",
            Self::Pets => "pets",
            Self::Plans => "plans",
            Self::Speech => "language",
            Self::Note => "notes",
        }
    }

    /// What is dangerous to forget comes first, what describes a taste last. Chosen, not measured.
    pub(super) const fn importance(self) -> f32 {
        match self {
            Self::Allergy => 0.9,
            Self::Name | Self::Health | Self::Note => 0.8,
            Self::Home | Self::Work | Self::Diet | Self::Family => 0.7,
            Self::Identity | Self::Contact | Self::Education | Self::Pets | Self::Plans | Self::Speech => 0.6,
            Self::Preference => 0.5,
        }
    }
}
