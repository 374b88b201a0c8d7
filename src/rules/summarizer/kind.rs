//! What a sentence is to a summary: a statement, a question or small talk, and what it weighs by its own words.
//!
//! Read by tables of common words of English, Russian, German, French, Spanish and Chinese; in any other language by
//! question marks, digits, capitals and who speaks. A cue that is missed costs a little weight and nothing else.

use unicode_segmentation::UnicodeSegmentation;

use crate::{cues::Cues, index::content_terms};

// What is added to the weight of a statement, which is 1. Chosen by reading summaries of chats, not tuned by a measure.
const FIRST_PERSON: f32 = 0.5;
const CONSTRAINT: f32 = 0.5;
const NUMBER: f32 = 0.5;
const TIME: f32 = 0.25;
const NAME: f32 = 0.25;
const CHANGE: f32 = 0.25;
/// What the weight of a statement by somebody other than the user is multiplied by: of two of like weight the user's
/// comes first, and what he tells of himself always.
const OTHERS: f32 = 0.4;
/// Of two sentences with one weight the shorter is worth more: so many words halve it.
const HALVING_WORDS: f32 = 40.0;
/// With fewer content words it says nothing by itself.
const LEAST_TERMS: usize = 2;

/// Who speaks, as far as it matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Speaker {
    /// The user, or whoever wrote a summary in prose, which stands for what many said.
    User,
    /// The assistant or a tool.
    Other,
}

/// What a sentence is, in the order in which sentences are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    /// What the user tells of himself, or with a name, a number, a preference or a constraint.
    Telling,
    /// Any other statement.
    Statement,
    /// A question of the user, or a request.
    Question,
    /// Greetings, thanks, offers, what the assistant asks, and what holds next to no word that tells anything.
    Talk,
}

/// The kind of a sentence, its weight (0 or more), and the content words that are left of it without small talk.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Reading {
    pub(super) kind: Kind,
    pub(super) weight: f32,
    pub(super) terms: Vec<String>,
}

/// Reads one sentence.
#[expect(clippy::cast_precision_loss, reason = "numbers of words")]
pub(super) fn read(text: &str, speaker: Speaker) -> Reading {
    let folded = text.to_lowercase().replace('’', "'");
    let words: Vec<&str> = folded.unicode_words().collect();
    let padded = format!(" {} ", words.join(" "));
    let is_user = speaker == Speaker::User;
    let cues = Cues::of(text);
    let first_person = is_user && (words.iter().any(|word| is_of(FIRST_PERSONS, head(word))) || folded.contains('我'));
    let constraint = words.iter().any(|word| is_of(CONSTRAINTS, word) || word.ends_with("n't"))
        || CONSTRAINT_SIGNS.iter().any(|sign| folded.contains(sign));
    let has_digit = folded.chars().any(char::is_numeric);
    let name = names_somebody(text);
    let terms = terms(&folded, &padded);
    let asks = asks(&padded, &cues) && !(is_user && tells_before_it_asks(&folded, &words));
    let offers = !is_user && OFFERS.iter().any(|offer| padded.contains(offer));
    let greets = !is_user && words.first().is_some_and(|word| is_of(TALK, word)) && !has_digit;
    let tells = has_digit || constraint || (name && !terms.is_empty());
    let kind = if terms.is_empty() && !has_digit {
        Kind::Talk
    } else if asks {
        if is_user && terms.len() >= LEAST_TERMS { Kind::Question } else { Kind::Talk }
    } else if offers || greets {
        Kind::Talk
    } else if is_user && (tells || (first_person && terms.len() >= LEAST_TERMS)) {
        Kind::Telling
    } else if terms.len() >= LEAST_TERMS || tells || cues.tells_number || cues.tells_time || cues.tells_change {
        Kind::Statement
    } else {
        Kind::Talk
    };
    let cue = |found: bool, weight: f32| if found { weight } else { 0.0 };
    let weight = 1.0
        + cue(first_person, FIRST_PERSON)
        + cue(constraint, CONSTRAINT)
        + cue(has_digit || cues.tells_number, NUMBER)
        + cue(cues.tells_time, TIME)
        + cue(name, NAME)
        + cue(cues.tells_change, CHANGE);
    let weight = weight * if is_user { 1.0 } else { OTHERS } / (1.0 + cues.words as f32 / HALVING_WORDS);
    Reading { kind, weight, terms }
}

/// The content words without those of small talk, in one order.
fn terms(folded: &str, padded: &str) -> Vec<String> {
    let mut left = folded.to_owned();
    for offer in OFFERS.iter().filter(|offer| padded.contains(*offer)) {
        left = left.replace(offer.trim(), " ");
    }
    for sign in TALK_SIGNS {
        left = left.replace(sign, " ");
    }
    // The pieces between words stay, since what is written without spaces is read in runs.
    let left: String = left.split_word_bounds().filter(|word| !is_of(TALK, word)).collect();
    let mut terms: Vec<String> = content_terms(&left).into_iter().collect();
    terms.sort_unstable();
    terms
}

fn asks(padded: &str, cues: &Cues) -> bool {
    let mut rest = padded.trim_start();
    while let Some((_, after)) = rest.split_once(' ').filter(|(word, _)| is_of(LEADS, word)) {
        rest = after;
    }
    cues.asks > 0.5 || REQUESTS.iter().any(|request| rest.starts_with(request))
}

/// Whether a question begins with a statement: "I'm vegetarian, where can I eat?"
fn tells_before_it_asks(folded: &str, words: &[&str]) -> bool {
    let first = words.iter().find(|word| !is_of(LEADS, word));
    first.is_some_and(|word| is_of(FIRST_PERSONS, head(word))) && folded.contains([',', ';', '—', '–'])
}

/// Whether a word after the first begins with a capital, where a script has them.
fn names_somebody(text: &str) -> bool {
    text.unicode_words().skip(1).any(|word| {
        let name = word.split(['\'', '’']).next().unwrap_or_default();
        name.chars().next().is_some_and(char::is_uppercase)
            && name.chars().count() > 1
            && !is_of(FIRST_PERSONS, &name.to_lowercase())
    })
}

/// What stands before an apostrophe: "I'm", "j'ai".
fn head<'w>(word: &&'w str) -> &'w str {
    word.split('\'').next().unwrap_or_default()
}

fn is_of(list: &str, word: &str) -> bool {
    !word.is_empty() && list.split_ascii_whitespace().any(|listed| listed == word)
}

const FIRST_PERSONS: &str = "
    i me my mine myself we us our ours
    я меня мне мной мой моя моё мое мои моего моей моему мою моих мы нас нам нами наш наша наше наши нашего нашей нашу
    ich mich mir mein meine meinen meinem meiner wir uns unser unsere unseren
    je j moi mon ma mes nous notre nos
    yo mi mis nosotros nosotras nuestro nuestra
    eu meu minha io mio mia
";

/// Negations, and words of what one must, wants, likes or cannot have.
const CONSTRAINTS: &str = "
    no not never cannot without only must need needs least most maximum minimum budget limit limited deadline afford
    prefer prefers preferably rather favorite favourite hate hates dislike dislikes love loves want wants avoid avoids
    allergic allergy vegetarian vegan gluten kosher halal diabetic intolerant afraid wheelchair remember important
    не нет никогда нельзя без только должен должна должны нужен нужна нужно нужны надо максимум минимум бюджет срок
    предпочитаю любимый любимая люблю ненавижу хочу хотим хотел хотела избегаю аллергия аллергик вегетарианец
    вегетарианка веган боюсь запомни важно
    nicht kein keine keinen nie ohne nur muss müssen brauche brauchen höchstens mindestens lieber mag hasse liebe will
    wollen allergisch allergie vegetarier vegetarierin veganer
    pas jamais sans seulement dois devons faut besoin préfère déteste aime veux voulons allergique allergie végétarien
    végétarienne
    nunca sin solo sólo debo debemos necesito necesitamos presupuesto prefiero odio quiero queremos alérgico alérgica
    alergia vegetariano vegetariana
";
const CONSTRAINT_SIGNS: &[&str] =
    &["不", "没有", "沒有", "必须", "必須", "需要", "只能", "喜欢", "喜歡", "过敏", "過敏", "预算", "預算"];

/// Words of greeting, thanks and agreement.
const TALK: &str = "
    hi hello hey hiya greetings welcome thanks thank thx please bye goodbye cheers ok okay yes yeah yep sure nope great
    good nice fine cool perfect awesome wonderful lovely excellent amazing interesting right understood noted course
    absolutely certainly definitely see know think guess agree understand sorry glad happy appreciate sounds lot much
    привет здравствуй здравствуйте спасибо пожалуйста пока ладно хорошо отлично супер класс понятно понял поняла ясно
    конечно да ага ок рад рада прекрасно замечательно интересно думаю знаю вижу
    hallo danke bitte tschüss gut super toll prima schön gerne genau klar
    bonjour salut merci super parfait bien d'accord
    hola gracias adiós vale bueno perfecto genial claro
";
const TALK_SIGNS: &[&str] = &["你好", "您好", "谢谢", "謝謝", "再见", "再見", "好的", "不客气", "不客氣"];

/// What an assistant says to be of service.
const OFFERS: &[&str] = &[
    " happy to help ",
    " glad to help ",
    " here to help ",
    " love to help ",
    " can help you ",
    " i can help ",
    " anything else ",
    " let me know ",
    " feel free ",
    " you're welcome ",
    " no problem ",
    " hope that helps ",
    " hope this helps ",
    " enjoy your ",
    " have a nice ",
    " have a great ",
    " рад помочь ",
    " рада помочь ",
    " могу помочь ",
    " что нибудь ещё ",
    " что нибудь еще ",
    " обращайтесь ",
    " дайте знать ",
    " не за что ",
    " gern geschehen ",
    " helfe gerne ",
    " helfe ich gerne ",
    " noch etwas ",
    " n'hésitez pas ",
    " de rien ",
    " autre chose ",
    " algo más ",
    " de nada ",
    " encantado de ayudar ",
];

/// Words that may stand before a question or a statement.
const LEADS: &str = "and but so or ok okay well also then now since as because given hi hello hey thanks please и а но так ну тогда ещё еще und aber also et mais y pero";

/// How a question or a request begins, with or without its mark.
const REQUESTS: &[&str] = &[
    "what about ",
    "how about ",
    "what is ",
    "what's ",
    "what are ",
    "what should ",
    "what do ",
    "how do ",
    "how can ",
    "how much ",
    "how many ",
    "where is ",
    "where can ",
    "when is ",
    "when does ",
    "can you ",
    "could you ",
    "would you ",
    "will you ",
    "do you ",
    "is there ",
    "are there ",
    "tell me ",
    "show me ",
    "give me ",
    "explain ",
    "что насчёт ",
    "что насчет ",
    "как насчёт ",
    "как насчет ",
    "что такое ",
    "сколько стоит ",
    "можешь ",
    "можете ",
    "расскажи ",
    "расскажите ",
    "покажи ",
    "объясни ",
];
