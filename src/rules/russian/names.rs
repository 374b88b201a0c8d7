//! What a name may be in its first case.

/// A letter that is no vowel and no sign.
fn is_consonant(letter: char) -> bool {
    letter.is_alphabetic() && !"аеёиоуыэюяьъй".contains(letter)
}

/// The names that may stand behind one in the genitive, likeliest first: Барсика is Барсик, Мурки is Мурка, Пушка is Пушок.
/// Names that do not decline (Коко) are among them as they are.
///
/// By the endings of the three declensions; which of the names is meant, only who knows them can say.
pub(in crate::rules) fn from_genitive(name: &str) -> Vec<String> {
    let mut names = Vec::new();
    let mut letters = name.chars();
    let last = letters.next_back();
    let stem = letters.as_str();
    let with = |ending: &str| format!("{stem}{ending}");
    match last {
        Some('а') => {
            names.push(stem.to_owned());
            // The vowel before a "к" flees: Пушок, Пушка; Уголёк, Уголька.
            if let Some(root) = stem.strip_suffix('к') {
                match root.strip_suffix('ь').or_else(|| root.strip_suffix('й')) {
                    Some(soft) => names.extend(["ёк", "ек"].map(|ending| format!("{soft}{ending}"))),
                    None if root.ends_with(is_consonant) => {
                        names.extend(["ок", "ек", "ёк"].map(|ending| format!("{root}{ending}")));
                    }
                    None => {}
                }
            }
        }
        Some('я') => names.extend(["ь", "й"].map(with)),
        Some('ы') => names.push(with("а")),
        // What the letter before takes: Мурка, Кеша, but Дуся.
        Some('и') if stem.ends_with(['г', 'к', 'х']) => names.push(with("а")),
        Some('и') if stem.ends_with(['ж', 'ш', 'ч', 'щ']) => names.extend(["а", "ь"].map(with)),
        Some('и') => names.extend(["я", "ь"].map(with)),
        _ => {}
    }
    names.push(name.to_owned());
    names.retain(|name| name.chars().count() > 1);
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_among_them() {
        for (said, meant) in [
            ("Барсика", "Барсик"),
            ("Рекса", "Рекс"),
            ("Мурки", "Мурка"),
            ("Кеши", "Кеша"),
            ("Пушка", "Пушок"),
            ("Дружка", "Дружок"),
            ("Уголька", "Уголёк"),
            ("Мурзы", "Мурза"),
            ("Дуси", "Дуся"),
            ("Тени", "Тень"),
            ("Гарфилда", "Гарфилд"),
            ("Персея", "Персей"),
            ("Коко", "Коко"),
        ] {
            assert!(from_genitive(said).contains(&meant.to_owned()), "{said}: {:?}", from_genitive(said));
        }
        assert_eq!(from_genitive("Я"), ["Я"; 0]);
    }
}
