//! The forms, as a table. A first group is the secret, and what stands around it stays.

// Only ASCII letters are the same in any case.
/// The words for a password or a key of which the next word is one.
macro_rules! password {
    () => {
        concat!(
            r"(?:(?i:password|passwd|passphrase|passcode|pwd|api[ _-]?key|secret[ _-]?key|access[ _-]?key|",
            r"access[ _-]?token|auth[ _-]?token|client[ _-]?secret|contrase[ñÑ]a|senha|passwort|kennwort|mot de passe|",
            r"parola d'ordine)|(?:[Пп]арол|ПАРОЛ)[А-Яа-я]{1,2}|[Кк]одовое слово|密码)"
        )
    };
}

macro_rules! pin {
    () => {
        r"(?:(?i:\bpin)(?:[ -]?code)?|[Пп]ин-?код|ПИН-?КОД)"
    };
}

/// The words between a word for something and what it is.
macro_rules! is {
    () => {
        "(?i:is|was|lautet|ist|es|est|é|è|это)"
    };
}

/// The beginning of a quotation.
macro_rules! quote {
    () => {
        r#"["'«“„]?"#
    };
}

macro_rules! secret {
    () => {
        r#"([^\s"',;«»“”„\[\]]{4,})"#
    };
}

/// A number as it is written: digits in groups.
macro_rules! number {
    () => {
        r"\(?\d+\)?(?:[ .,/:–-]\(?\d+\)?)*\b"
    };
}

/// What something looks like that is to be taken out.
pub(super) struct Form {
    /// What it is; the placeholder is this in brackets.
    pub(super) name: &'static str,
    /// One of these is in every match; none given says nothing.
    pub(super) hints: &'static [&'static str],
    pub(super) pattern: &'static str,
    pub(super) check: fn(&str) -> bool,
}

const fn form(name: &'static str, hints: &'static [&'static str], pattern: &'static str) -> Form {
    Form { name, hints, pattern, check: |_| true }
}

const DIGITS: &[&str] = &["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
/// In the words for a password, key or token, in any case.
const WORDS: &[&str] = &[
    "ass",
    "ASS",
    "pwd",
    "PWD",
    "Pwd",
    "key",
    "KEY",
    "Key",
    "oken",
    "OKEN",
    "ecret",
    "ECRET",
    "PIN",
    "pin",
    "Pin",
    "арол",
    "АРОЛ",
    "слово",
    "ontra",
    "ONTRA",
    "enha",
    "ENHA",
    "ennwort",
    "ENNWORT",
    "mot de",
    "Mot de",
    "arola",
    "密码",
    "люч",
    "окен",
    "код",
    "КОД",
];

pub(super) const SECRETS: &[Form] = &[
    form(
        "private key",
        &["PRIVATE KEY"],
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[A-Za-z0-9+/=\s:,\\-]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
    ),
    form("token", &["eyJ"], r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    // OpenAI, Anthropic and others; Stripe.
    form("api key", &["sk-"], r"\bsk-[A-Za-z0-9_-]{16,}"),
    form("api key", &["k_"], r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,}"),
    // GitHub, GitLab, npm, PyPI, Hugging Face.
    form("token", &["gh"], r"\bgh[pousr]_[A-Za-z0-9]{30,}"),
    form("token", &["github_pat_"], r"\bgithub_pat_[A-Za-z0-9_]{30,}"),
    form("token", &["glpat-"], r"\bglpat-[A-Za-z0-9_-]{20,}"),
    form("token", &["npm_"], r"\bnpm_[A-Za-z0-9]{30,}"),
    form("token", &["pypi-"], r"\bpypi-[A-Za-z0-9_-]{30,}"),
    form("token", &["hf_"], r"\bhf_[A-Za-z0-9]{30,}"),
    // Amazon, Google, Slack, SendGrid, Telegram.
    form("api key", &["AKIA", "ASIA"], r"\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"),
    form("api key", &["AIza"], r"\bAIza[A-Za-z0-9_-]{30,}"),
    form("token", &["xox"], r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    form("api key", &["SG."], r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}"),
    form("token", &[":"], r"\b\d{8,10}:[A-Za-z0-9_-]{35}\b"),
    form("password", &["://"], r"[A-Za-z][A-Za-z0-9+.-]*://[^\s/:@\[\]]*:([^\s/@\[\]]+)@"),
    form("token", &["earer", "EARER"], r"(?i)\bbearer\s+([A-Za-z0-9._~+/=-]{16,})"),
    // What is written behind a sign is taken whatever it is; what is told in words must look like no word.
    form("password", WORDS, concat!(password!(), r#"["']?(?:\s+"#, is!(), r")?\s*[:=：]\s*", quote!(), secret!())),
    Form {
        name: "password",
        hints: WORDS,
        pattern: concat!(
            "(?:",
            password!(),
            "|",
            pin!(),
            ")",
            // "For the router", «от почты».
            r"(?:\s+(?:for|to|of|on|at|für|zum|zur|vom?n?|du|de|del|pour|para|d[oa]|per|от|для|к|на)",
            r"(?:\s+[^\s:=,;.!?]+){1,4}?)?",
            r"(?:\s*[:=：]\s*|\s+(?:",
            is!(),
            r"|to|—|-|–)\s+|\s*[是为]\s*)",
            quote!(),
            secret!()
        ),
        check: looks_like_no_word,
    },
    Form {
        name: "password",
        hints: WORDS,
        pattern: concat!(password!(), r"\s+", quote!(), secret!()),
        check: is_mixed,
    },
    Form { name: "password", hints: WORDS, pattern: concat!(pin!(), r"\s+(\d{4,8})\b"), check: is_mixed },
    Form {
        name: "api key",
        hints: WORDS,
        pattern: concat!(
            r"(?:(?i:key|token|secret)|[Кк]люч|[Тт]окен)",
            r#"["']?(?:\s*[:=：]\s*|\s+"#,
            is!(),
            r"\s+)",
            quote!(),
            r"([A-Za-z0-9+/_=~-]+(?:\.[A-Za-z0-9+/_=~-]+)*)"
        ),
        check: is_random,
    },
];

pub(super) const PERSONAL: &[Form] = &[
    form("email address", &["@"], r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,}"),
    Form { name: "account number", hints: DIGITS, pattern: r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]){11,30}\b", check: is_iban },
    Form { name: "card number", hints: DIGITS, pattern: r"\b\d(?:[ -]?\d){12,18}\b", check: is_card },
    form("social security number", DIGITS, r"\b\d{3}-\d{2}-\d{4}\b"),
    Form {
        name: "phone number",
        hints: DIGITS,
        pattern: concat!(
            r"(?:(?i:phone|mobile|whatsapp|\btel|telefon|handy|m[óo]vil|tel[ée]fono|t[ée]l[ée]phone|portable)|",
            r"[Тт]елефона?|\b[Тт]ел)\.?(?:[ -]?(?i:number|no\.?|nr\.?|nummer)|\s*№)?",
            r"\s*(?:(?i:is|at|on|lautet|ist|es|est|é|è|это)|[:=：—–-])?:?\s+",
            "(",
            number!(),
            ")|(?i:my number is|(?:call|ring|text|phone|message) (?:me|us|him|her|them)(?: at| on| under)?:?) (",
            number!(),
            ")"
        ),
        check: is_told_as_a_phone,
    },
    Form { name: "phone number", hints: DIGITS, pattern: concat!(r"\(?\b", number!()), check: is_national_phone },
    Form { name: "phone number", hints: &["+"], pattern: r"\+\d[\d ().\-]{7,20}\d", check: has_digits_of_a_phone },
    Form {
        name: "phone number",
        hints: DIGITS,
        pattern: r"(?:\(\d{3}\) ?|\b\d{3}[ .-])\d{3}[ .-]\d{4}\b",
        check: has_digits_of_a_phone,
    },
    Form {
        name: "phone number",
        hints: DIGITS,
        pattern: r"\b8[ -]?\(?\d{3}\)?[ -]?\d{3}[ -]?\d{2}[ -]?\d{2}\b",
        check: has_digits_of_a_phone,
    },
    Form { name: "ip address", hints: DIGITS, pattern: r"\b\d{1,3}(?:\.\d{1,3}){3}\b", check: is_ip },
    form("ip address", &[":"], r"\b[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){7}\b"),
];

/// Whether it has a digit or a sign, or capitals inside: "is required" is no password, "is hunter2" is one.
fn looks_like_no_word(text: &str) -> bool {
    let text = text.trim_end_matches(['.', '!', '?', ')']);
    let has_sign = text.chars().any(|char| !char.is_alphabetic() && !matches!(char, '\'' | '’' | '-'));
    let has_capital_inside = text.chars().skip(1).any(char::is_uppercase) && text.chars().any(char::is_lowercase);
    text.chars().count() >= 4 && (has_sign || has_capital_inside)
}

/// Whether a word has letters and digits, or is a number that is no year: "password hunter2", and not "password of 2024".
fn is_mixed(text: &str) -> bool {
    let text = text.trim_end_matches(['.', '!', '?', ')']);
    let has_digit = text.chars().any(|char| char.is_ascii_digit());
    let is_number = text.chars().all(|char| char.is_ascii_digit());
    let is_year = text.len() == 4 && (text.starts_with("19") || text.starts_with("20"));
    text.chars().count() >= 4
        && has_digit
        && !text.contains(['-', '.', '/', ':'])
        && (text.chars().any(char::is_alphabetic) || is_number && !is_year)
}

/// Whether a key is told by its looks: long, with a stretch of letters and digits in no order of a language.
fn is_random(text: &str) -> bool {
    let mixed = |part: &str| {
        let has = |wanted: fn(&char) -> bool| part.chars().any(|char| wanted(&char));
        part.len() >= 12 && has(char::is_ascii_digit) && has(char::is_ascii_alphabetic)
    };
    text.len() >= 16 && text.split(|char: char| !char.is_ascii_alphanumeric()).any(mixed)
}

fn digits(text: &str) -> impl DoubleEndedIterator<Item = u32> {
    text.chars().filter_map(|char| char.to_digit(10))
}

/// The Luhn check of card numbers: every second digit from the right doubled, and the sum of all divisible by ten (ISO/IEC
/// 7812-1).
fn is_card(text: &str) -> bool {
    let doubled = |(place, digit): (usize, u32)| match (place % 2, digit * 2) {
        (1, twice) if twice > 9 => twice - 9,
        (1, twice) => twice,
        _ => digit,
    };
    let sum: u32 = digits(text).rev().enumerate().map(doubled).sum();
    sum.is_multiple_of(10) && digits(text).any(|digit| digit != 0)
}

/// The check of account numbers: the first four characters last, letters as 10 to 35, and the remainder by 97 is 1 (ISO
/// 13616).
fn is_iban(text: &str) -> bool {
    let characters: Vec<u32> = text.chars().filter_map(|char| char.to_digit(36)).collect();
    let Some((head, tail)) = characters.split_at_checked(4) else { return false };
    let remainder = tail.iter().chain(head).fold(0, |remainder, value| {
        let shift = if *value > 9 { 100 } else { 10 };
        (remainder * shift + value) % 97
    });
    remainder == 1
}

fn has_digits_of_a_phone(text: &str) -> bool {
    (9..=15).contains(&digits(text).count())
}

/// The groups of digits, and the signs between them.
fn groups(number: &str) -> (Vec<&str>, Vec<char>) {
    let groups = number.split(|char: char| !char.is_ascii_digit()).filter(|group| !group.is_empty()).collect();
    (groups, number.chars().filter(|char| !char.is_ascii_digit()).collect())
}

/// A day, a time, a fraction or a price: numbers with signs in between that are no phone's.
fn is_other_number(number: &str) -> bool {
    let (groups, signs) = groups(number);
    let is_year = |group: &&str| group.len() == 4 && (group.starts_with("19") || group.starts_with("20"));
    let is_short = |group: &&str| group.len() <= 2;
    let is_day = match groups.as_slice() {
        [year, month, day, ..] if is_year(year) => is_short(month) && is_short(day),
        [day, month, year, ..] if is_year(year) => is_short(month) && is_short(day),
        [day] => day.len() == 8 && (day.starts_with("19") || day.starts_with("20")),
        _ => false,
    };
    let has_dots = signs.contains(&'.');
    let is_price = has_dots && groups.iter().skip(1).all(|group| group.len() == 3);
    let is_fraction = has_dots && groups.len() < 3;
    is_day
        || is_price
        || is_fraction
        || signs.iter().any(|sign| matches!(sign, ':' | ','))
        || has_dots && signs.iter().any(|s| *s != '.')
}

/// What is said to be one.
fn is_told_as_a_phone(number: &str) -> bool {
    (7..=15).contains(&digits(number).count()) && !is_other_number(number)
}

/// What begins with the zero of a trunk call, as in most of Europe, or with the two of a call abroad.
fn is_national_phone(number: &str) -> bool {
    let (groups, signs) = groups(number);
    let longest = if groups.first().is_some_and(|group| group.starts_with("00")) { 15 } else { 12 };
    let first = groups.first().map_or("", |group| group.trim_start_matches('0'));
    let zeros = groups.first().map_or(0, |group| group.len() - first.len());
    // Of New England.
    let is_zip_code = matches!(groups.as_slice(), [five, four] if five.len() == 5 && four.len() == 4);
    (1..=2).contains(&zeros)
        && !first.is_empty()
        && (9..=longest).contains(&digits(number).count())
        && signs.iter().filter(|sign| **sign == '/').count() <= 1
        && !is_zip_code
        && !is_other_number(number)
}

fn is_ip(text: &str) -> bool {
    text.parse::<std::net::Ipv4Addr>().is_ok()
}
