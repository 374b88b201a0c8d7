//! The words of the English table.

use crate::rules::{language::Lists, when::Calendar};

pub(super) const LISTS: Lists = Lists {
    leads: "well oh ok okay yes yeah yep btw also now then currently actually honestly anyway plus fyi ps update so \
        because since though personally luckily recently by the way",
    greetings: "hi hello hey hiya greetings",
    fillers: "now currently also just really actually still recently both do always absolutely truly already \
        presently totally definitely only finally officially very",
    joints: "and but so because or yet plus why",
    subjects: "i we he she they you it my our his her their your there this that these those",
    heads: "live work love hate enjoy adore prefer dislike have moved am allergic vegetarian vegan do don't \
        study speak plan got adopted joined quit graduated own run recently just now still no cannot can single married divorced retired",
    bare_heads: "live work love hate enjoy adore prefer dislike have do study speak plan own run can",
    infinitive: "to would could should will can might must let",
    voids: "wish wished imagine imagining pretend pretending suppose supposedly hypothetically dreamed dreamt \
        nightmare joking kidding sarcasm say said says saying told tells lyrics",
    hedges: "if maybe perhaps probably possibly apparently might guess whether otherwise unless assume assuming",
    reports: "think thinks thought believe believes heard asked asks wrote claims claim mean means swear story \
        character",
    subordinate: "when whenever once until before after while although as where who which whose",
    questions: "what which where when who how why can could should would do does did is are will any got",
    about: "me myself fyi note ps update btw context background info thing",
    pastes: "translate proofread paraphrase summarize summarise rephrase rewrite transcribe roleplay pretend imagine \
        suppose act",
    losses: "died dead passed lost late gone buried deceased ex former missing",
    jests: "/_s just_kidding jk i'm_kidding just_joking",
    stops: "because but so since when while although though as then after before until till except even whenever \
        however cause cuz 'cause despite due",
    breakers: "who whom whose which that where if than without and/or i am is are was were will would can could should \
        do does did has have had not 's",
    name_stops: "with for from on at in to since by about near during right next last this here there every \
        until now currently too also",
    trailing: "too also now currently anymore though lot a_lot lots as_well right_now at_the_moment these_days \
        very_much so_much haha lol again together already really recently still honestly actually today tbh at_all in_general in_particular especially overall please thanks btw",
    pointers: "i me my mine myself we us our ours ourselves you your yours yourself it its itself this that these \
        those him her hers them their theirs his he she they here there such something someone somewhere anything \
        everything nothing one ones stuff things thing what how why",
    bad_starts: "neither nor never every each hard alone abroad online when where who some any no not all both another same \
        being able sure just only more less too so very for with at in on up out of about from by into over \
        good great well better best",
    vague: "class management bed tears few safe poverty misery luxury sin part memory moment aspect idea look way sound smell vibe fun way lot bit thing home work night night day job school life team \
        company place time moment everyone people myself house apartment town city village country dorm fear peace \
        hope pain it good great fine ok okay sure here there long common rare weird unusual hard easy important \
        secret different present free least last first once change living future world",
    passing: "part thing things memory memories moment time way bit aspect one",
    articles: "a an the",
    name_links: "of the de la le da do dos das del di du von van der den el al y and upon saint",
    occupations: "teacher nurse engineer developer programmer designer doctor lawyer accountant architect chef cook \
        baker waiter waitress barista plumber electrician carpenter mechanic driver pilot journalist editor \
        translator interpreter librarian professor lecturer researcher scientist analyst manager consultant \
        recruiter salesperson cashier receptionist secretary dentist surgeon pharmacist veterinarian vet therapist \
        psychologist counselor counsellor paramedic firefighter soldier farmer gardener hairdresser barber tailor \
        entrepreneur freelancer contractor administrator technician statistician economist banker auditor \
        marketer realtor bartender butcher fisherman electrician welder coach physicist chemist biologist \
        mathematician geologist data-scientist physiotherapist optometrist paralegal judge diplomat tutor \
        photographer videographer animator illustrator copywriter cto ceo cfo",
    occupation_endings: "ologist",
    no_names: "american british english irish scottish welsh canadian mexican brazilian argentinian chilean french \
        german italian spanish portuguese dutch belgian swiss austrian polish czech russian ukrainian turkish greek \
        indian pakistani chinese japanese korean vietnamese thai filipino indonesian australian egyptian nigerian \
        kenyan swedish norwegian danish finnish israeli iranian iraqi arab asian african european latino latina \
        hispanic christian catholic muslim jewish buddhist hindu atheist mormon protestant orthodox virgo leo aries \
        linux windows mac macos android ios ubuntu debian vim emacs postgres postgresql python rust java javascript \
        typescript react aws azure gcp github gitlab notion slack kubernetes docker chrome firefox ok okay back here happy good fine great sorry glad new sure bilingual",
    no_employers: "",
    ambitions: "attend join visit travel become move retire adopt climb volunteer backpack publish graduate marry",
};

/// Each with its key.
const RELATIVES: &str = "mom=mother mum=mother mother dad=father father sister brother son daughter wife husband partner girlfriend \
         boyfriend fiancé=fiance fiancée=fiance fiance fiancee=fiance spouse grandmother grandma=grandmother \
         grandfather grandpa=grandfather aunt uncle cousin niece nephew mother-in-law father-in-law sister-in-law \
         brother-in-law stepson stepdaughter stepmother stepfather";

pub(super) const CLASSES: &[(&str, &str)] = &[
    ("rel", RELATIVES),
    ("relative", RELATIVES),
    ("only-one", "mother father wife husband partner girlfriend boyfriend fiance spouse"),
    ("kin-modifier", "older younger big little elder eldest oldest youngest twin"),
    (
        "pet",
        "dog cat puppy kitten parrot hamster rabbit bunny turtle tortoise horse pony bird snake goldfish ferret lizard",
    ),
    ("pets", "dogs cats puppies kittens parrots hamsters rabbits turtles horses birds snakes"),
    ("number", "two three four five six 2 3 4 5 6"),
    (
        "business",
        "business company shop store bakery cafe café restaurant studio startup farm blog gym agency clinic salon",
    ),
    ("kin", "sons daughters kids children brothers sisters child kid twins siblings"),
    ("parents", "parents grandparents in-laws"),
    (
        "lang",
        "english spanish french german italian portuguese russian ukrainian polish czech dutch swedish norwegian danish \
         finnish greek turkish arabic hebrew persian farsi hindi urdu bengali tamil chinese mandarin cantonese japanese \
         korean vietnamese thai indonesian swahili catalan romanian hungarian bulgarian serbian croatian georgian \
         armenian kazakh latin esperanto irish welsh",
    ),
    ("lang-quality", "bit little of some fluent fluently basic good well also"),
    ("diet", "vegetarian vegan pescatarian flexitarian"),
    ("regime", "keto ketogenic low-carb vegan vegetarian gluten-free dairy-free paleo mediterranean halal kosher"),
    (
        "pastime",
        "guitar piano violin cello drums bass flute clarinet saxophone trumpet ukulele harp accordion harmonica banjo \
         tennis football soccer basketball baseball volleyball hockey rugby cricket golf badminton chess poker bridge",
    ),
    ("condition", "diabetic asthmatic coeliac celiac epileptic pregnant colorblind colourblind dyslexic"),
    ("disease", "diabetes asthma epilepsy adhd migraines arthritis hypertension"),
    ("status", "married single divorced engaged widowed"),
    ("workless", "retired unemployed self-employed"),
    (
        "field",
        "marketing finance it tech healthcare education sales hr logistics construction retail hospitality advertising \
         insurance publishing journalism accounting law medicine engineering agriculture",
    ),
];

pub(super) const INHERITS: &[(&str, &[&[&str]])] = &[("i", &[&["i"], &["i", "am"], &["i", "do"]]), ("we", &[&["we"]])];

pub(super) const CALENDAR: Calendar = Calendar {
    months: "january=1 february=2 march=3 april=4 may=5 june=6 july=7 august=8 september=9 october=10 november=11 \
        december=12 feb=2 apr=4 jul=7 aug=8 sep=9 sept=9 oct=10 nov=11",
    units: "day=d days=d week=w weeks=w month=m months=m year=y years=y",
    numbers: "a=1 an=1 one=1 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 twelve=12",
    days: "yesterday=-1 tomorrow=1 today=0 tonight=0",
    shifts: "last=-1 next=1 this=0 past=-1",
    before: "in on by from for early late back around mid the",
    since: "since",
    ago: "ago",
    lasting: "for",
    loose: "weekend summer winter spring autumn fall monday tuesday wednesday thursday friday saturday sunday \
        morning evening afternoon night semester term moment",
    on_day: "on {}",
    in_month: "in {}",
    in_year: "in {}",
    of_month: MONTHS,
    month_names: MONTHS,
};

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];
