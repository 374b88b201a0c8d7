//! Words for the same relation: "wife" asks for what `married_to` tells, "employer" for `works_at`.
//!
//! A row holds the words, of queries as of predicates and types of entities, that speak of one kind of relation, from
//! either of its ends; a word may be in several. English and Russian, with the forms that a stemmer does not bring
//! together, or that are common where there is none.

use std::{collections::HashMap, sync::LazyLock};

use crate::index::content_words;

/// At most 64 rows.
const CONCEPTS: [&str; 27] = [
    "married marry marries marriage wed wedding spouse spouses husband husbands wife wives partner fiancé fiancée engaged \
     bride groom widow widower divorced муж мужа мужем жена жены жену женой женат замужем супруг супруга супруги брак \
     браке свадьба поженились партнёр невеста жених",
    "partner partners dating date boyfriend girlfriend lover relationship парень девушка встречается отношения партнёр",
    "parent parents mother father mum mom dad mama papa child children kid kids son sons daughter daughters родители \
     родитель мать мама матери отец отца папа ребёнок дети детей сын сына дочь дочери",
    "sibling siblings brother brothers sister sisters twin twins брат брата братья сестра сестры сестру",
    "grandparent grandparents grandmother grandfather grandma grandpa granny grandson granddaughter grandchild \
     grandchildren бабушка бабушки дедушка дедушки внук внука внучка внуки",
    "uncle aunt nephew niece cousin cousins дядя дяди тётя тёти племянник племянница кузен кузина",
    "family relative relatives kin related семья семьи родственник родственники родня",
    "friend friends friendship befriended buddy buddies pal pals mate mates bestie companion друг друга друзья друзей \
     подруга подруги приятель дружит дружат",
    "know knows known knew acquaintance acquaintances met meet meets acquainted знает знаком знакома знакомый знакомые",
    "neighbour neighbours neighbor neighbors nextdoor сосед соседа соседка соседи",
    "work works worked working job jobs employer employers employ employs employed employee employees employment company \
     companies firm hire hires hired career workplace workplaces position boss bosses работа работы работу работает \
     работают работал работать работодатель компания компании фирма должность сотрудник трудится устроился начальник",
    "boss bosses manager managers manages managed supervisor supervises lead leads leader head heads chief reports \
     начальник начальника руководитель руководит директор шеф управляет",
    "colleague colleagues coworker coworkers teammate teammates team teams коллега коллеги коллег команда команды",
    "profession occupation job title role career trade профессия профессии специальность роль",
    "founded founder founders owner owners own owns owned business businesses основал основатель владеет владелец бизнес",
    "office offices headquarters headquarter headquartered branch branches based base located location site seat situated \
     офис офиса офисы филиал находится расположен расположена штаб адрес",
    "organization organizations organisation organisations company companies firm firms employer business организация \
     организации компания фирма предприятие",
    "study studies studied studying student students university college school schools graduated graduate attends attended \
     degree course учится учился учёба студент студентка университет школа окончил курс",
    "teach teaches taught teacher teachers professor tutor mentor mentors coach trainer учит учитель преподаёт \
     преподаватель наставник тренер",
    "live lives lived living reside resides resided residence resident home house address dwell dwells dwelling apartment \
     flat move moved moves relocated settled живёт живут жил жила жить проживает дом дома адрес квартира переехал \
     переехала поселился",
    "city cities town towns place places village villages country countries location region area город города городе \
     деревня место места страна страны регион",
    "born birth birthplace birthday native origin originally hometown родился родилась рождения родом родина",
    "visit visits visited trip trips travel travels travelled traveled vacation holiday went поездка поездки ездил \
     путешествие отпуск посетил",
    "pet pets animal animals dog dogs puppy cat cats kitten hamster parrot rabbit horse питомец питомца животное собака \
     собаки собаку собак пёс щенок кошка кошки кошку кот кота котёнок",
    "vet vets veterinarian veterinarians veterinary doctor doctors physician dentist therapist nurse patient treat treats \
     treated treatment clinic hospital ветеринар ветеринара ветеринару ветеринаром врач врача врачу доктор лечит лечат \
     лечится пациент клиника больница стоматолог",
    "like likes liked love loves loved enjoy enjoys favourite favorite fond hobby hobbies prefer prefers interest interests \
     interested любит нравится любимый любимая хобби увлекается предпочитает интерес",
    "member members membership belong belongs club clubs group groups plays participates joined состоит член клуб группа \
     вступил участвует",
];

static ROWS_OF: LazyLock<HashMap<String, u64>> = LazyLock::new(|| {
    let mut rows_of: HashMap<String, u64> = HashMap::new();
    for (row, words) in CONCEPTS.iter().enumerate() {
        for term in content_words(words) {
            *rows_of.entry(term).or_default() |= 1 << row;
        }
    }
    rows_of
});

/// The rows that hold a term, as bits; 0 for most words.
pub(super) fn concepts(term: &str) -> u64 {
    ROWS_OF.get(term).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn are_alike(one: &str, other: &str) -> bool {
        let of = |word: &str| content_words(word).iter().fold(0, |all, term| all | concepts(term));
        of(one) & of(other) != 0
    }

    #[test]
    fn words_of_one_relation_are_alike() {
        for (one, other) in [("wife", "married to"), ("employer", "works at"), ("town", "city"), ("жена", "spouse")]
        {
            assert!(are_alike(one, other), "{one} {other}");
        }
        for (one, other) in [("wife", "sister"), ("vet", "pet"), ("friend", "works"), ("Lisbon", "city")] {
            assert!(!are_alike(one, other), "{one} {other}");
        }
    }

    #[test]
    fn every_row_has_its_bit() {
        assert!(CONCEPTS.len() <= 64);
        assert!(CONCEPTS.iter().all(|row| !row.is_empty()));
    }
}
