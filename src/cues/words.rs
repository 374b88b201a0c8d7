//! The tables: common words of six languages, in lower case and in the forms they usually take.
//!
//! A text is held against all of them, so a word that is common in another language with another meaning is left out:
//! French "hier" is a German "here", "an" an English article, and "may" mostly no month.

use std::{collections::HashMap, sync::LazyLock};

/// The kinds a word may be of, as bits.
pub(super) const TIME: u8 = 1;
pub(super) const NUMBER: u8 = 2;
pub(super) const CHANGE: u8 = 4;

/// Longest word of the tables in bytes: longer ones need no look.
const LONGEST: usize = 32;

static KINDS: LazyLock<HashMap<&str, u8>> = LazyLock::new(|| {
    let mut kinds = HashMap::new();
    for (list, kind) in [(TIMES, TIME), (NUMBERS, NUMBER), (CHANGES, CHANGE)] {
        for word in list.split_whitespace() {
            *kinds.entry(word).or_default() |= kind;
        }
    }
    kinds
});

#[cfg(feature = "sqlite")]
pub(super) fn lists() -> [&'static str; 3] {
    [TIMES, NUMBERS, CHANGES]
}

/// The kinds of a word, in any case.
pub(super) fn kinds(word: &str) -> u8 {
    if word.len() > LONGEST {
        return 0;
    }
    let known = |word: &str| KINDS.get(word).copied().unwrap_or(0);
    if word.chars().any(char::is_uppercase) { known(&word.to_lowercase()) } else { known(word) }
}

const TIMES: &str = "
    yesterday today tonight tomorrow last next ago week weeks weekend weekends month months year years day days
    monday tuesday wednesday thursday friday saturday sunday january february march april june july august
    september october november december since recently just morning afternoon evening night spring summer autumn
    winter decade christmas easter
    вчера сегодня завтра позавчера послезавтра назад недавно неделя недели неделе неделю недель месяц месяца месяце
    месяцев месяцы год года году годы лет день дня дни дней днём утром вечером ночью весной летом осенью зимой
    понедельник вторник среду четверг пятницу субботу воскресенье выходные выходных прошлый прошлом прошлой прошлую
    прошлым следующий следующем следующей следующую январе январь января феврале февраль февраля марте март марта
    апреле апрель апреля мае май мая июне июнь июня июле июль июля августе август августа сентябре сентябрь сентября
    октябре октябрь октября ноябре ноябрь ноября декабре декабрь декабря
    ayer hoy anoche mañana anteayer hace semana semanas mes meses año años día días pasado pasada próximo próxima lunes
    martes miércoles jueves viernes sábado domingo enero febrero marzo abril mayo junio julio agosto septiembre octubre
    noviembre diciembre desde recientemente tarde noche primavera verano otoño invierno
    gestern heute morgen vorgestern übermorgen woche wochen wochenende monat monate monaten jahr jahre jahren tag tage
    tagen letzte letzten letztes letzter nächste nächsten nächstes nächster montag dienstag mittwoch donnerstag freitag
    samstag sonntag januar februar märz april mai juni juli august september oktober november dezember seit kürzlich
    neulich abend nacht frühling frühjahr sommer herbst winter
    aujourd'hui demain semaine semaines mois ans année années jour jours dernier dernière derniers dernières
    prochain prochaine lundi mardi mercredi jeudi vendredi samedi dimanche janvier février mars avril mai juin juillet
    août septembre octobre novembre décembre depuis récemment matin soir nuit printemps été automne hiver
";

const NUMBERS: &str = "
    one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty hundred thousand million
    twice once couple several few dozen half
    два две три четыре пять шесть семь восемь девять десять двадцать тридцать сорок пятьдесят сто тысяча тысячи тысяч
    дважды трижды несколько пару пара двое трое десяток половина
    dos tres cuatro cinco seis siete ocho nueve diez veinte treinta cien mil millón varios varias docena mitad
    zwei drei vier fünf sechs sieben acht neun zehn zwanzig dreißig hundert tausend zweimal dreimal mehrere paar dutzend
    deux trois quatre cinq sept huit neuf dix vingt trente cent mille plusieurs quelques douzaine moitié
";

const CHANGES: &str = "
    now recently increase increased decrease decreased reduced raised lowered extended shortened rescheduled postponed
    moved changed switched update updated instead anymore reached
    теперь недавно увеличил увеличила увеличили увеличился уменьшил уменьшила уменьшили снизил снизила повысил повысила
    продлили перенёс перенесла перенесли переехал переехала переехали сменил сменила сменили изменил изменила изменили
    изменилось изменился обновил обновила обновили вместо
    ahora recientemente aumenté aumentó aumentado reduje redujo reducido amplié amplió pospuesto aplazado mudé mudó
    cambié cambió cambiado actualicé actualizó actualizado
    jetzt nun kürzlich inzwischen erhöht gesenkt verringert verlängert verkürzt verschoben umgezogen geändert gewechselt
    aktualisiert stattdessen
    maintenant désormais récemment augmenté diminué réduit prolongé raccourci reporté déménagé changé modifié
";

/// Where there are no spaces, parts of a text stand for words.
pub(super) const TIME_SIGNS: &[&str] = &[
    "昨天",
    "今天",
    "明天",
    "前天",
    "后天",
    "後天",
    "昨晚",
    "今晚",
    "去年",
    "今年",
    "明年",
    "前年",
    "上周",
    "上週",
    "下周",
    "下週",
    "这周",
    "上个月",
    "上個月",
    "下个月",
    "这个月",
    "月前",
    "年前",
    "天前",
    "周前",
    "星期",
    "礼拜",
    "周末",
    "週末",
    "最近",
    "早上",
    "下午",
    "晚上",
    "春天",
    "夏天",
    "秋天",
    "冬天",
    "月",
    "年",
    "号",
];

pub(super) const NUMBER_SIGNS: &[&str] =
    &["两", "兩", "二", "三", "四", "五", "六", "七", "八", "九", "十", "百", "千", "万", "萬", "几次", "一次"];

pub(super) const CHANGE_PHRASES: &[&str] = &[
    "no longer",
    "any more",
    "used to",
    "больше не",
    "больше нет",
    "уже не",
    "ya no",
    "nicht mehr",
    "keine mehr",
    "ne mange plus",
    "n'est plus",
    "现在",
    "不再",
    "最近",
    "搬到",
    "搬去",
    "改成",
    "改为",
    "改到",
    "换成",
    "换了",
    "推迟",
    "增加",
    "减少",
    "更新",
];

/// Phrases of a query that wants a time; whole words.
pub(super) const WANTS_TIME: &[&str] = &[
    "when",
    "what date",
    "what day",
    "what month",
    "what year",
    "what time",
    "which date",
    "which day",
    "which month",
    "which year",
    "how long ago",
    "how long",
    "in which year",
    "когда",
    "какого числа",
    "в каком году",
    "в каком месяце",
    "в какой день",
    "во сколько",
    "как долго",
    "как давно",
    "cuándo",
    "qué día",
    "qué fecha",
    "qué mes",
    "qué año",
    "a qué hora",
    "cuánto tiempo",
    "wann",
    "an welchem tag",
    "in welchem jahr",
    "in welchem monat",
    "um wie viel uhr",
    "wie lange",
    "quand",
    "quel jour",
    "quelle date",
    "quel mois",
    "quelle année",
    "à quelle heure",
    "combien de temps",
    "什么时候",
    "何时",
    "哪天",
    "哪一天",
    "哪年",
    "哪一年",
    "几月",
    "几号",
    "几点",
    "多久",
    "什麼時候",
];

/// Phrases of a query that wants what is so no longer; whole words. "Before" only where nothing follows: "before the
/// summer" names a time, "before I go" none.
pub(super) const WANTS_PAST: &[&str] = &[
    "used to",
    "did i use to",
    "did we use to",
    "did you use to",
    "did he use to",
    "did she use to",
    "did they use to",
    "didn't use to",
    "last job",
    "last employer",
    "last address",
    "old job",
    "old employer",
    "old address",
    "old apartment",
    "old flat",
    "old school",
    "old car",
    "old number",
    "old phone number",
    "former",
    "formerly",
    "previous",
    "previously",
    "in the past",
    "back then",
    "раньше",
    "прежде",
    "старый адрес",
    "старый номер",
    "прошлая работа",
    "прошлой работе",
    "прежний",
    "прежняя",
    "прежнее",
    "прежние",
    "прежнего",
    "прежней",
    "бывший",
    "бывшая",
    "бывшее",
    "бывшие",
    "бывшего",
    "бывшей",
    "до этого",
    "solía",
    "solías",
    "solíamos",
    "anteriormente",
    "früher",
    "früherer",
    "frühere",
    "früheren",
    "ehemaliger",
    "ehemalige",
    "ehemaligen",
    "damals",
    "vorher",
    "auparavant",
    "autrefois",
    "précédemment",
    "ancien",
    "ancienne",
    "以前",
    "从前",
    "曾经",
    "過去",
    "过去",
];

/// The same at the end of the query.
pub(super) const WANTS_PAST_AT_END: &[&str] = &["before", "antes", "avant", "davor", "之前"];

/// Phrases of a query that wants a number; whole words.
pub(super) const WANTS_NUMBER: &[&str] = &[
    "how many",
    "how much",
    "how often",
    "how old",
    "how long",
    "what number",
    "what percentage",
    "сколько",
    "как часто",
    "какой процент",
    "cuántos",
    "cuántas",
    "cuánto",
    "cuánta",
    "con qué frecuencia",
    "qué porcentaje",
    "wie viele",
    "wie viel",
    "wieviel",
    "wie oft",
    "wie alt",
    "wie lange",
    "combien",
    "à quelle fréquence",
    "quel pourcentage",
    "quel âge",
    "多少",
    "几个",
    "几只",
    "几次",
    "几岁",
    "多大",
    "多久",
    "几",
];
