//! What lives are made of: values and the sentences that tell them, in English and Russian.

/// One thing that may be true of somebody, in the forms that sentences need.
pub struct Topic {
    /// Its name in a claim; where several values may hold at once (tastes, pets), each is a matter of its own.
    pub key: &'static str,
    /// How many days pass between two changes, on average.
    pub every: u64,
    pub kind: Kind,
    pub values: &'static [Value],
    /// Sentences that tell a new value. `{}` is a value's first form, `{2}` its second.
    pub news: &'static [&'static str],
    /// Sentences that tell a value again.
    pub again: &'static [&'static str],
    /// Sentences that tell the end of a value.
    pub over: &'static [&'static str],
    pub question: &'static str,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// One value at a time: a new one replaces the old.
    One,
    /// Each value by itself is so or not; what is not is told as well.
    Each,
    /// Each value by itself is so or not; that it is not so any more is told once.
    Some,
}

/// A value: how news spell it, how repetitions do, and the part that all forms share, in small letters.
pub type Value = (&'static str, &'static str, &'static str);

macro_rules! same {
    ($($word:literal),* $(,)?) => { &[$(($word, $word, $word)),*] };
}

pub const ENGLISH: &[Topic] = &[
    Topic {
        key: "home",
        every: 400,
        kind: Kind::One,
        values: same![
            "Lisbon", "Porto", "Berlin", "Oslo", "Madrid", "Dublin", "Vienna", "Prague", "Warsaw", "Athens", "Helsinki",
            "Toronto", "Seattle", "Denver", "Boston", "Melbourne", "Kyoto", "Cape Town",
        ],
        news: &["I moved to {}.", "We moved to {} last week.", "I just relocated to {}.", "I've moved to {}!"],
        again: &["I live in {}.", "I'm living in {} now.", "I'm based in {}.", "We live in {}."],
        over: &[],
        question: "Which city do I live in?",
    },
    Topic {
        key: "employer",
        every: 450,
        kind: Kind::One,
        values: same![
            "Bolt", "Siemens", "Acme", "Globex", "Initech", "Umbrella Labs", "Northwind", "Contoso", "Stark Foods",
            "Wayne Shipping", "Hooli", "Vandelay",
        ],
        news: &["I started working at {}.", "I got a new job at {}.", "I work at {} now.", "I'm now working for {}."],
        again: &["I work at {}.", "I'm working at {}.", "I work for {}."],
        over: &[],
        question: "Where do I work?",
    },
    Topic {
        key: "occupation",
        every: 900,
        kind: Kind::One,
        values: same!["nurse", "teacher", "data analyst", "baker", "journalist", "carpenter", "translator", "pharmacist"],
        news: &["I became a {}.", "I work as a {} now.", "I'm a {} now."],
        again: &["I work as a {}.", "I'm a {}.", "My job is a {}."],
        over: &[],
        question: "What is my occupation?",
    },
    Topic {
        key: "taste",
        every: 40,
        kind: Kind::Each,
        values: same![
            "coffee", "jazz", "hiking", "sushi", "opera", "football", "gardening", "chess", "spicy food", "horror movies",
        ],
        news: &["I love {}.", "I like {} now.", "I really enjoy {}.", "I'm a big fan of {}."],
        again: &["I like {}.", "I love {}.", "As I said, I enjoy {}."],
        over: &["I don't like {} anymore.", "I hate {}.", "I can't stand {}.", "I no longer enjoy {}."],
        question: "Do I like {}?",
    },
    Topic {
        key: "allergy",
        every: 400,
        kind: Kind::Each,
        values: same!["peanuts", "shellfish", "penicillin", "cats", "strawberries"],
        news: &["I'm allergic to {}.", "Turns out I'm allergic to {}.", "I have an allergy to {}."],
        again: &["I'm allergic to {}.", "I have an allergy to {}."],
        over: &["I'm not allergic to {} anymore.", "I'm no longer allergic to {}."],
        question: "Am I allergic to {}?",
    },
    Topic {
        key: "diet",
        every: 700,
        kind: Kind::One,
        values: same!["vegetarian", "vegan", "pescatarian"],
        news: &["I became {}.", "I'm {} now.", "I went {} this year."],
        again: &["I'm {}.", "I am a {}."],
        over: &[],
        question: "What is my diet?",
    },
    Topic {
        key: "status",
        every: 900,
        kind: Kind::One,
        values: same!["married", "divorced", "engaged", "single"],
        news: &["I'm {} now.", "I'm {}."],
        again: &["I'm {}."],
        over: &[],
        question: "Am I married or single?",
    },
    Topic {
        key: "sister",
        every: 700,
        kind: Kind::One,
        values: same!["Naples", "Ghent", "Bergen", "Leeds", "Turin", "Malaga"],
        news: &["My sister moved to {}.", "My sister lives in {} now."],
        again: &["My sister lives in {}."],
        over: &[],
        question: "Where does my sister live?",
    },
    Topic {
        key: "color",
        every: 600,
        kind: Kind::One,
        values: same!["green", "teal", "crimson", "yellow", "violet"],
        news: &["My favorite color is {}.", "My favourite color is {} now."],
        again: &["My favorite color is {}."],
        over: &[],
        question: "What is my favorite color?",
    },
    Topic {
        key: "phone",
        every: 700,
        kind: Kind::One,
        values: same!["555-0134", "555-0177", "555-0112", "555-0165", "555-0191"],
        news: &["My new phone number is {}.", "My phone number is {} now."],
        again: &["My phone number is {}."],
        over: &[],
        question: "What is my phone number?",
    },
    Topic {
        key: "pet",
        every: 450,
        kind: Kind::Some,
        values: &[
            ("dog named Rex", "dog Rex", "rex"),
            ("cat named Luna", "cat Luna", "luna"),
            ("parrot named Coco", "parrot Coco", "coco"),
            ("rabbit named Biscuit", "rabbit Biscuit", "biscuit"),
        ],
        news: &["I adopted a {}.", "I have a {}.", "I got a {}!"],
        again: &["I have a {}.", "My {2} is asleep next to me."],
        over: &["My {2} died.", "My {2} passed away last night.", "I no longer have my {2}."],
        question: "What pets do I have? Is there a {}?",
    },
    Topic {
        key: "hobby",
        every: 250,
        kind: Kind::Some,
        values: same!["guitar", "piano", "tennis", "badminton", "violin"],
        news: &["I play {}.", "I play the {} now."],
        again: &["I play {}."],
        over: &["I stopped playing {}.", "I don't play {} anymore.", "I no longer play {}."],
        question: "Do I play {}?",
    },
    Topic {
        key: "learning",
        every: 500,
        kind: Kind::Some,
        values: same!["Spanish", "Japanese", "Swedish", "Arabic"],
        news: &["I'm learning {}."],
        again: &["I'm learning {}."],
        over: &["I stopped learning {}.", "I'm no longer learning {}.", "I'm not learning {} anymore."],
        question: "Am I learning {}?",
    },
];

pub const RUSSIAN: &[Topic] = &[
    Topic {
        key: "home",
        every: 400,
        kind: Kind::One,
        values: &[
            ("Казань", "Казани", "казан"),
            ("Тверь", "Твери", "твер"),
            ("Самару", "Самаре", "самар"),
            ("Пермь", "Перми", "перм"),
            ("Тулу", "Туле", "тул"),
            ("Омск", "Омске", "омск"),
            ("Калугу", "Калуге", "калуг"),
        ],
        news: &["Я переехала в {}.", "Мы переехали в {}.", "Я переехала обратно в {}."],
        again: &["Я живу в {2}.", "Сейчас живу в {2}."],
        over: &[],
        question: "В каком городе я живу?",
    },
    Topic {
        key: "employer",
        every: 450,
        kind: Kind::One,
        values: &[
            ("Яндекс", "Яндексе", "яндекс"),
            ("Сбер", "Сбере", "сбер"),
            ("Магнит", "Магните", "магнит"),
            ("Ростелеком", "Ростелекоме", "ростелеком"),
        ],
        news: &["Я устроилась в {}.", "Теперь я работаю в {2}."],
        again: &["Я работаю в {2}."],
        over: &[],
        question: "Где я работаю?",
    },
    Topic {
        key: "occupation",
        every: 900,
        kind: Kind::One,
        values: &[
            ("врачом", "врач", "врач"),
            ("переводчицей", "переводчица", "переводчиц"),
            ("юристом", "юрист", "юрист"),
            ("поваром", "повар", "повар"),
        ],
        news: &["Теперь я работаю {}.", "Я работаю {}."],
        again: &["Я работаю {}.", "Я {2}."],
        over: &[],
        question: "Кем я работаю?",
    },
    Topic {
        key: "taste",
        every: 40,
        kind: Kind::Each,
        values: same!["кофе", "чай", "джаз", "футбол", "балет", "шоколад", "кино", "теннис"],
        news: &["Я люблю {}.", "Мне нравится {}.", "Я обожаю {}."],
        again: &["Я люблю {}.", "Я очень люблю {}."],
        over: &["Я больше не люблю {}.", "Я не люблю {}.", "Мне больше не нравится {}."],
        question: "Люблю ли я {}?",
    },
    Topic {
        key: "allergy",
        every: 400,
        kind: Kind::Each,
        values: same!["орехи", "мёд", "рыбу", "пенициллин"],
        news: &["У меня аллергия на {}.", "У меня сильная аллергия на {}."],
        again: &["У меня аллергия на {}."],
        over: &["У меня больше нет аллергии на {}."],
        question: "Есть ли у меня аллергия на {}?",
    },
    Topic {
        key: "status",
        every: 900,
        kind: Kind::One,
        values: &[("замужем", "замужем", "замужем"), ("в разводе", "в разводе", "в разводе")],
        news: &["Я теперь {}.", "Я {}."],
        again: &["Я {}."],
        over: &[],
        question: "Я замужем или в разводе?",
    },
    Topic {
        key: "sister",
        every: 700,
        kind: Kind::One,
        values: &[
            ("Минск", "Минске", "минск"),
            ("Сочи", "Сочи", "сочи"),
            ("Уфу", "Уфе", "уф"),
            ("Псков", "Пскове", "псков"),
        ],
        news: &["Моя сестра переехала в {}.", "Моя сестра теперь живёт в {2}."],
        again: &["Моя сестра живёт в {2}."],
        over: &[],
        question: "Где живёт моя сестра?",
    },
    Topic {
        key: "pet",
        every: 450,
        kind: Kind::Some,
        values: &[
            ("кот Барсик", "кота Барсика", "барсик"),
            ("попугай Кеша", "попугая Кеши", "кеш"),
            ("кролик Пушок", "кролика Пушка", "пуш"),
        ],
        news: &["У меня есть {}.", "У нас появился {}."],
        again: &["У меня есть {}."],
        over: &["Мой {} умер.", "Наш {} умер.", "У меня больше нет {2}."],
        question: "Есть ли у меня {}?",
    },
];

/// Trips to come: told with their month, and over when it is.
pub const TRIPS: (&[&str], &[&str]) = (
    &["I'm planning a trip to {} in {2}.", "I plan to visit {} in {2}.", "I'm going to visit {} in {2}."],
    &["Iceland", "Morocco", "Vietnam", "Peru", "Georgia", "Scotland", "Sicily", "Nepal"],
);

/// Talk that tells nothing of who talks: questions, suppositions, of others, quotations, moods of a day.
pub const SMALL_TALK: [&[&str]; 2] = [
    &[
        "What should I cook tonight?",
        "It rained all day here and the bus was late.",
        "My colleague moved to Berlin and never writes.",
        "If I lived in Rome, I would eat pasta every day.",
        "Do you think I should move to Oslo?",
        "I wish I worked at Google.",
        "A friend of mine is allergic to peanuts, poor thing.",
        "Can you explain how a heat pump works?",
        "Tom said \"I love coffee\" three times in one meeting.",
        "Thanks, that helped a lot!",
        "I had a strange dream that I was vegan.",
        "Give me three ideas for a rainy Sunday.",
        "The meeting about the budget took four hours.",
        "In the novel the hero lives in Vienna and hates chess.",
        "Maybe I will buy a bicycle one day.",
        "How long does a letter to Canada take?",
        "I slept badly and the neighbours were loud.",
        "Is jazz older than blues?",
        "Write a short poem about a cat named Luna who lives in Porto.",
        "Please translate: I'm allergic to penicillin.",
        "Would you say I work too much?",
        "My boss says everybody should learn Spanish.",
        "What a long day. Tell me a joke.",
        "Who won the football match yesterday?",
        "Let's say I moved to Toronto: what would rent cost?",
        "I read that hiking is good for the heart.",
        "What goes well with {}?",
        "How do I clean a {} after {2} days?",
        "The {} broke again, for the {2}th time.",
        "Which {} would you buy for under {2} euros?",
        "They talked about {} for {2} minutes on the radio.",
        "Can a {} be repaired at home?",
        "Explain {} as if I were five.",
        "I spent {2} minutes looking for the {}.",
        "Where does the word {} come from?",
        "Sum up what is known of {} in {2} words.",
        "There was a {} in front of the door this morning.",
        "Is it true that a {} lasts {2} years?",
        "My neighbour lent me a {} until Friday.",
        "Help me name a {} for a school play.",
    ],
    &[
        "Что приготовить на ужин?",
        "Сегодня весь день шёл дождь, автобус опоздал.",
        "Моя коллега переехала в Берлин и не пишет.",
        "Если бы я жила в Риме, я бы ела пасту каждый день.",
        "Как думаешь, стоит ли мне переехать в Омск?",
        "Спасибо, это очень помогло!",
        "Подруга сказала: «Я люблю кофе».",
        "Объясни, как работает тепловой насос.",
        "Приснилось, что я вегетарианка.",
        "Расскажи шутку.",
        "Кто вчера выиграл матч?",
        "Напиши стихи про кота Барсика, который живёт в Твери.",
        "Переведи: у меня аллергия на мёд.",
        "Плохо спала, соседи шумели.",
        "Сколько идёт письмо в Канаду?",
        "Может быть, когда-нибудь куплю велосипед.",
        "Сколько стоит {}?",
        "Откуда взялось слово {}?",
        "Опять сломался {}, уже {2}-й раз.",
        "По радио {2} минут говорили про {}.",
        "Как выбрать {} дешевле {2} евро?",
        "Объясни, что такое {}, за {2} слов.",
        "Утром у двери стоял чей-то {}.",
        "Правда ли, что {} служит {2} лет?",
    ],
];

/// What talk is about.
pub const THINGS: [&[&str]; 2] = [
    &[
        "kettle", "lamp", "drill", "rice", "carpet", "bicycle pump", "tent", "radiator", "spreadsheet", "umbrella",
        "zipper", "blender", "compass", "ladder", "candle", "keyboard", "suitcase", "telescope", "lentil soup", "map",
        "hammock", "printer", "router", "sofa", "thermometer", "balcony door", "violin case", "cake tin", "snow shovel",
        "clay pot",
    ],
    &[
        "чайник", "светильник", "ковёр", "насос", "зонт", "термометр", "чемодан", "миксер", "телескоп", "диван",
        "принтер", "компас", "роутер", "фонарь", "шкаф",
    ],
];

/// Answers of the assistant, which may be wrong about the user: nothing is read from them. `{}` is some value or other.
pub const ANSWERS: [&[&str]; 2] = [
    &[
        "Good to know!",
        "Since you live in {}, the weather may help.",
        "I love {} too. Shall I look something up?",
        "You work at {}, right? Then I would ask there first.",
        "Here is an idea: start with the simplest step, then see.",
        "As you are allergic to {}, I left it out.",
    ],
    &[
        "Понятно!",
        "Раз вы живёте в городе {}, погода поможет.",
        "Вы любите {}, верно?",
        "Вот идея: начните с самого простого.",
    ],
];

/// Text of the application, which is no word of the user's.
pub const SYSTEM: &[&str] = &[
    "You are a helpful assistant. The user lives in Atlantis and works at Nowhere Inc.",
    "Today's weather: rain. The user likes brussels sprouts.",
];

/// What the application notes down with a date after which it is of no use.
pub const APPOINTMENTS: &[&str] = &["Dentist", "Haircut", "Parents' evening", "Car inspection", "Eye test", "Dinner with Sam"];
