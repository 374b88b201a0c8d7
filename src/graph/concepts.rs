//! Words for the same relation: "wife" asks for what `married_to` tells, "employer" for `works_at`.
//!
//! A row holds the words, of queries as of predicates and types of entities, that speak of one kind of relation, from
//! either of its ends; a word may be in several. English and Russian, with the forms that a stemmer does not bring
//! together, or that are common where there is none; of Spanish, German, French, Chinese, Japanese and Korean the commonest
//! words of the commonest rows, those of two characters where two make a term.

use std::{collections::HashMap, sync::LazyLock};

use crate::index::content_words;

/// At most 64 rows.
const CONCEPTS: [&str; 27] = [
    "married marry marries marriage wed wedding spouse spouses husband husbands wife wives partner fiancé fiancée \
     engaged bride groom widow widower divorced муж мужа мужем жена жены жену женой женат замужем супруг супруга \
     супруги брак браке свадьба поженились партнёр невеста жених esposa esposo marido mujer casada casado boda \
     pareja frau mann ehefrau ehemann verheiratet hochzeit femme mari épouse époux mariée marié 妻子 丈夫 老婆 老公 \
     结婚 爱人 奥さん 結婚 아내 남편 결혼 부인",
    "partner partners dating date boyfriend girlfriend lover relationship парень девушка встречается отношения \
     партнёр",
    "parent parents mother father mum mom dad mama papa child children kid kids son sons daughter daughters родители \
     родитель мать мама матери отец отца папа ребёнок дети детей сын сына дочь дочери padre madre padres hijo hija \
     hijos vater mutter eltern sohn tochter kind kinder père mère parents fils fille enfants 父亲 母亲 爸爸 妈妈 \
     父母 儿子 女儿 孩子 子供 息子 부모 아들 아이 자녀",
    "sibling siblings brother brothers sister sisters twin twins брат брата братья сестра сестры сестру hermano \
     hermana hermanos bruder schwester geschwister frère sœur 哥哥 弟弟 姐姐 妹妹 兄弟 姐妹 형제 자매",
    "grandparent grandparents grandmother grandfather grandma grandpa granny grandson granddaughter grandchild \
     grandchildren бабушка бабушки дедушка дедушки внук внука внучка внуки",
    "uncle aunt nephew niece cousin cousins дядя дяди тётя тёти племянник племянница кузен кузина",
    "family relative relatives kin related семья семьи родственник родственники родня",
    "friend friends friendship befriended buddy buddies pal pals mate mates bestie companion друг друга друзья \
     друзей подруга подруги приятель дружит дружат amigo amiga amigos freund freundin freunde ami amie amis 朋友 \
     友達 友人 친구",
    "know knows known knew acquaintance acquaintances met meet meets acquainted знает знаком знакома знакомый \
     знакомые",
    "neighbour neighbours neighbor neighbors nextdoor сосед соседа соседка соседи",
    "work works worked working job jobs employer employers employ employs employed employee employees employment \
     company companies firm hire hires hired career workplace workplaces position boss bosses работа работы работу \
     работает работают работал работать работодатель компания компании фирма должность сотрудник трудится устроился \
     начальник trabaja trabajo empresa empleo arbeitet arbeit arbeitgeber firma travaille travail entreprise emploi \
     工作 公司 上班 职业 雇主 仕事 会社 회사 직장",
    "boss bosses manager managers manages managed supervisor supervises lead leads leader head heads chief reports \
     начальник начальника руководитель руководит директор шеф управляет jefe jefa chef chefin patron 老板 上司 经理",
    "colleague colleagues coworker coworkers teammate teammates team teams коллега коллеги коллег команда команды \
     colega colegas kollege kollegin kollegen collègue collègues 同事 同僚 동료",
    "profession occupation job title role career trade профессия профессии специальность роль",
    "founded founder founders owner owners own owns owned business businesses основал основатель владеет владелец \
     бизнес",
    "office offices headquarters headquarter headquartered branch branches based base located location site seat \
     situated офис офиса офисы филиал находится расположен расположена штаб адрес",
    "organization organizations organisation organisations company companies firm firms employer business \
     организация организации компания фирма предприятие",
    "study studies studied studying student students university college school schools graduated graduate attends \
     attended degree course учится учился учёба студент студентка университет школа окончил курс estudia estudió \
     universidad escuela studiert studium universität schule étudie université école 学习 大学 学校 毕业 대학 학교",
    "teach teaches taught teacher teachers professor tutor mentor mentors coach trainer учит учитель преподаёт \
     преподаватель наставник тренер",
    "live lives lived living reside resides resided residence resident home house address dwell dwells dwelling \
     apartment flat move moved moves relocated settled живёт живут жил жила жить проживает дом дома адрес квартира \
     переехал переехала поселился vive vivir casa reside mudó wohnt lebt wohnung zog habite vit maison déménagé 住在 \
     居住 搬到 地址 住所 거주 주소 살아 산다 살고",
    "city cities town towns place places village villages country countries location region area город города городе \
     деревня место места страна страны регион ciudad pueblo país stadt dorf land ville village pays 城市 国家 地方 \
     都市 도시",
    "born birth birthplace birthday native origin originally hometown родился родилась рождения родом родина",
    "visit visits visited trip trips travel travels travelled traveled vacation holiday went поездка поездки ездил \
     путешествие отпуск посетил",
    "pet pets animal animals dog dogs puppy cat cats kitten hamster parrot rabbit horse питомец питомца животное \
     собака собаки собаку собак пёс щенок кошка кошки кошку кот кота котёнок mascota perro perra gato gata haustier \
     hund hündin katze kater chien chienne chat chatte 宠物 小狗 小猫 养了 ペット 강아지",
    "vet vets veterinarian veterinarians veterinary doctor doctors physician dentist therapist nurse patient treat \
     treats treated treatment clinic hospital ветеринар ветеринара ветеринару ветеринаром врач врача врачу доктор \
     лечит лечат лечится пациент клиника больница стоматолог veterinario veterinaria médico médica tierarzt arzt \
     ärztin vétérinaire médecin 兽医 医生 医院 看病 의사 병원",
    "like likes liked love loves loved enjoy enjoys favourite favorite fond hobby hobbies prefer prefers interest \
     interests interested любит нравится любимый любимая хобби увлекается предпочитает интерес gusta gustan encanta \
     favorito favorita mag liebt gern lieblings aime adore préféré préférée 喜欢 爱好 喜爱 最爱",
    "member members membership belong belongs club clubs group groups plays participates joined состоит член клуб \
     группа вступил участвует",
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
        for (one, other) in [
            ("wife", "married to"),
            ("employer", "works at"),
            ("town", "city"),
            ("жена", "spouse"),
            ("esposa", "married_to"),
            ("arbeitet", "works at"),
            ("妻子", "married_to"),
            ("工作", "employer"),
        ] {
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
