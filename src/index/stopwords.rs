//! The words that carry grammar rather than matter. They also tell the language of a text.
//!
//! Written for this crate: articles, pronouns, prepositions, conjunctions, auxiliary verbs and question words, in
//! lower case and with diacritics as they are spelled. Negations are left out: they carry matter.

use std::{collections::HashMap, sync::LazyLock};

use super::language::Language;

const ENGLISH: &str = "a about above after again all also am an and any are as at be been before being below between \
both but by can could did do does doing done down during each few for from further get got had has have having he \
he'd he'll he's her here hers herself him himself his how i i'd i'll i'm i've if in into is it it's its itself just \
let let's like may me might more most much must my myself of off on once only or other our ours ourselves out over own \
same shall she she'd she'll she's should so some such than that that's the their theirs them themselves then there \
there's these they they'd they'll they're they've this those through to too under until up upon us very was we we'd \
we'll we're we've were what what's when where which while who who's whom whose why will with would you you'd you'll \
you're you've your yours yourself yourselves";

const SPANISH: &str = "a al algo algunos algunas ante antes aunque cada como con contra cual cuales cuál cuáles cuando \
cuándo cuanto cuánto de del desde donde dónde dos durante e el él ella ellas ellos en entre era eran eres es esa esas \
ese eso esos esta está están estas este esto estos estoy estaba fue fueron ha había han has hasta hay he hemos la las le \
les lo los más me mi mí mis mucho muy nos nosotros nuestra nuestro o os otra otro otros para pero poco por porque pues \
que qué quien quién quiénes se sea ser si sí sido sin sobre son soy su sus también tan tanto te tengo tiene tienen todo \
todos tu tú tus un una unas uno unos usted ustedes y ya yo";

const GERMAN: &str = "aber alle allem allen aller alles als also am an ander andere anderen auch auf aus bei beim bin bis \
bist da damit dann das dass dein deine dem den denn der des dich die dies diese diesem diesen dieser dieses dir doch \
dort du durch ein eine einem einen einer eines er es etwas euch euer eure für gegen gewesen hab habe haben hat hatte \
hatten hier hin hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer im in ins ist ja jede jedem jeden jeder jedes jetzt \
kann können machen man manche mein meine meinem meinen meiner mich mir mit muss nach noch nun nur ob oder ohne sehr sein \
seine seinem seinen seiner seit sich sie sind so solche soll sollte sondern sonst über um und uns unser unsere unter vom \
von vor während war waren warum was weil welche welchem welchen welcher welches wenn wer werde werden wie wieder will wir \
wird wo wurde zu zum zur zwar zwischen";

const FRENCH: &str = "à ai au aux avec avait avez avoir avons c ce ceci cela celle celles celui ces cet cette ceux chaque \
comme d dans de des donc dont du elle elles en entre est et étaient était été être eu eux fait il ils j je l la là le les \
leur leurs lui m ma mais me même mes moi mon n nos notre nous on ont ou où par parce plus pour pourquoi qu quand que quel \
quelle quelles quels qui quoi s sa sans se ses si soit sommes son sont suis sur t ta te tes toi ton tous tout toute \
toutes tu un une vos votre vous y";

const PORTUGUESE: &str = "a ao aos às as até através com como cada da das de dela delas dele deles depois do dos e é ela \
elas ele eles em entre era eram essa essas esse esses esta está estão estas estava este estes estou eu foi foram há isso \
isto já la lhe lhes lo mais mas me mesmo meu meus minha minhas muito na nas no nos nós nossa nosso o os ou para pela pelas \
pelo pelos por porque qual quais quando que quem se seja sem ser seu seus só sobre somos são sou sua suas também te tem \
têm temos tenho ter teu teus tinha tu tua tuas um uma umas uns você vocês vos";

const ITALIAN: &str = "a abbiamo agli ai al all alla alle allo anche avere aveva c che chi ci ciò coi col come con cui d da dagli \
dai dal dall dalla dalle dallo degli dei del dell della delle dello di dov dove e è ed era erano essere fa fra gli ha hai hanno \
ho i il in io l la le lei li lo loro lui ma me mi mia mie miei mio molto ne negli nei nel nell nella nelle nello noi nostra \
nostro o per perché più poi quale quali quando quanto quell quella quelle quelli quello questa queste questi questo qui se sei \
si sia siamo sono sta stato su sua sue sugli sui sul sull sulla sulle suo suoi te ti tra tu tua tuo tutti tutto un una uno vi \
voi";

const RUSSIAN: &str = "а бы был была были было быть в вам вами вас весь во вот все всё всего всех вы где да даже для до его \
ее её если есть еще ещё же за здесь и из или им ими их к как какая какие какой когда кого кому кто куда ли либо между меня \
мне много мной мог может мой моя моё мои мы на над надо нам нами нас наш наша наши него нее неё ней нём нему них но ну о об \
один она они оно от очень по под после потом потому почему при про раз с сам сама себе себя сейчас со свой своя свои так \
такая такие такой там тебе тебя тем теперь то тобой тогда того тоже той только том тот тут ты у уже хотя чего чей чем что \
чтобы чья эта эти это этого этой этом этот эту я";

const ARABIC: &str = "من في على الى إلى عن مع هذا هذه ذلك تلك التي الذي الذين هو هي هم هن انا أنا أنت انت نحن كان كانت يكون \
تكون قد كل بعض بين عند عندي بعد قبل ثم او أو و ان أن إن إذا اذا ما ماذا متى أين اين كيف لماذا هل كم أي اي لي له لها لهم لك \
لنا به بها فيه فيها عليه عليها منه منها حتى لكن كما ايضا أيضا";

const LISTS: [(Language, &str); 8] = [
    (Language::English, ENGLISH),
    (Language::Spanish, SPANISH),
    (Language::German, GERMAN),
    (Language::French, FRENCH),
    (Language::Portuguese, PORTUGUESE),
    (Language::Italian, ITALIAN),
    (Language::Russian, RUSSIAN),
    (Language::Arabic, ARABIC),
];

/// Every stop word with the languages it belongs to, as bits.
static WORDS: LazyLock<HashMap<&'static str, u8>> = LazyLock::new(|| {
    let mut words = HashMap::new();
    for (language, list) in LISTS {
        for word in list.split_whitespace() {
            *words.entry(word).or_insert(0) |= language.bit();
        }
    }
    words
});

/// The lists, one after the other.
pub(super) fn lists() -> impl Iterator<Item = &'static str> {
    LISTS.into_iter().map(|(_, list)| list)
}

/// The languages, as bits, in which the lower-case word is a stop word.
pub(super) fn languages_of(word: &str) -> u8 {
    WORDS.get(word).copied().unwrap_or(0)
}
