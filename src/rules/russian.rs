//! The Russian table.
//!
//! Values keep the case the sentence gave them ("Живёт в Казани"), verbs the gender ("Переехала"). In the present and
//! future a verb says by its form that it is the first person; in the past it does not, so there a pattern asks for "я".

mod allergens;
mod names;
mod words;

use super::{
    language::{Language, Words},
    pattern::Pattern,
    row::{Row, Value, row},
    topic::Topic::{
        Allergy, Contact, Diet, Education, Family, Health, Home, Identity, Name, Pets, Plans, Preference, Speech, Work,
    },
};

/// The table, compiled.
pub(super) fn language() -> Language {
    let rows = [PERSON, PLACE_AND_WORK, TASTE, HEALTH, OTHERS].into_iter().flatten();
    Language {
        rows: rows.map(|row| (Pattern::new(row.pattern), row)).collect(),
        mentions: MENTIONS.iter().map(|row| (Pattern::new(row.pattern), row)).collect(),
        words: Words::new(&words::LISTS),
        calendar: &words::CALENDAR,
        inflects: true,
        from_genitive: names::from_genitive,
        classes: words::CLASSES,
        inherits: words::INHERITS,
        omitted: &[],
    }
}

const PERSON: &[Row] = &[
    row("меня зовут {v}", "Зовут {v}", Name, "user.name", Value::Person),
    row("мое имя —|–|-? {v}", "Зовут {v}", Name, "user.name", Value::Person),
    row("я {v}", "Зовут {v}", Name, "user.name", Value::Introduced),
    row("зови|зовите|называй|называйте меня {v} $", "Прозвище {v}", Name, "user.nickname", Value::Called),
    row("мне {v} год|года|лет", "Возраст: {v}", Identity, "user.age", Value::Age),
    row("мне исполнилось {v} год|года|лет", "Возраст: {v}", Identity, "user.age", Value::Age).once(),
    row("мне исполнилось {v} $", "Возраст: {v}", Identity, "user.age", Value::Age).once(),
    row("я @hand $", "{C}", Identity, "user.handedness", Value::None),
    row("мой|у день рождения {v}", "День рождения {v}", Identity, "user.birthday", Value::Date),
    row("у меня день рождения {v}", "День рождения {v}", Identity, "user.birthday", Value::Date),
    row("я родился {v}", "Родился {v}", Identity, "user.birthday", Value::Date),
    row("я родилась {v}", "Родилась {v}", Identity, "user.birthday", Value::Date),
    row("я родился в|во|на {v}", "Родился в {v}", Identity, "user.birthplace", Value::Place).once(),
    row("я родилась в|во|на {v}", "Родилась в {v}", Identity, "user.birthplace", Value::Place).once(),
    row("я вырос в {v}", "Вырос в {v}", Identity, "", Value::Place),
    row("я выросла в {v}", "Выросла в {v}", Identity, "", Value::Place),
    row("я родом? из {v}", "Родом из {v}", Identity, "user.origin", Value::Place),
    row("я? говорю на {v} языке|языках", "Говорит на {v}", Speech, "", Value::Languages),
    row("я? говорю на {v}", "Говорит на {v}", Speech, "", Value::Languages),
    row("я? говорю {v}", "Говорит {v}", Speech, "", Value::Languages),
    row("я? больше не учу|изучаю {v} язык?", "Больше не учит {v}", Speech, "user.learning.{v}", Value::Languages),
    row("я? учу|изучаю {v} язык", "Учит {v} язык", Speech, "user.learning.{v}", Value::Languages),
    row("я? учу|изучаю {v}", "Учит {v}", Speech, "user.learning.{v}", Value::Languages),
    row("мой новый? номер телефона? —|–|-? {v}", "Номер телефона {v}", Contact, "user.phone", Value::Digits),
    row("мой новый? телефон —|–|-? {v}", "Номер телефона {v}", Contact, "user.phone", Value::Digits),
    row("у меня новый номер телефона? :|—|–|-? {v}", "Номер телефона {v}", Contact, "user.phone", Value::Digits),
    row("мой родной язык —|–|-? {v}", "Родной язык — {v}", Speech, "user.native_language", Value::Languages),
];

const PLACE_AND_WORK: &[Row] = &[
    row("я жил в|во {v}", "Жил в {v}{t}", Home, "", Value::Place).ended(),
    row("я жила в|во {v}", "Жила в {v}{t}", Home, "", Value::Place).ended(),
    row("я работал в|во {v}", "Работал в {v}{t}", Work, "", Value::Named).ended(),
    row("я работала в|во {v}", "Работала в {v}{t}", Work, "", Value::Named).ended(),
    row("я? больше не живу в|во {v}", "Больше не живёт в {v}", Home, "user.home", Value::Place),
    row("я? не живу больше в|во {v}", "Больше не живёт в {v}", Home, "user.home", Value::Place),
    row("я? не живу в|во {v}", "Не живёт в {v}", Home, "user.home", Value::Place),
    row("я? живу во {v}", "Живёт во {v}", Home, "user.home", Value::Place),
    row("я? живу в {v}", "Живёт в {v}", Home, "user.home", Value::Place),
    row("я? живу на @na", "Живёт на {c}", Home, "user.home", Value::None),
    row("я переехал на @na-to", "Переехал на {c}{t}, живёт там", Home, "user.home", Value::None),
    row("я переехала на @na-to", "Переехала на {c}{t}, живёт там", Home, "user.home", Value::None),
    row("мы живем в {v}", "Живёт в {v}", Home, "user.home", Value::Place),
    row("я? живу под {v}", "Живёт под {v}", Home, "", Value::Place),
    row("я переехал из {w} в|во {v}", "Переехал в {v}{t}, живёт там", Home, "user.home", Value::Place),
    row("я переехала из {w} в|во {v}", "Переехала в {v}{t}, живёт там", Home, "user.home", Value::Place),
    row("я переехал обратно? в|во {v}", "Переехал в {v}{t}, живёт там", Home, "user.home", Value::Place),
    row("я переехала обратно? в|во {v}", "Переехала в {v}{t}, живёт там", Home, "user.home", Value::Place),
    row("мы переехали в|во {v}", "Переехали в {v}{t}, живут там", Home, "user.home", Value::Place),
    row("я? больше не работаю в|на {v}", "Больше не работает в {v}", Work, "user.employer", Value::Organisation),
    row("я? не работаю больше в {v}", "Больше не работает в {v}", Work, "user.employer", Value::Organisation),
    row("я? больше не работаю $", "Больше не работает", Work, "user.employer", Value::None),
    row("я уволился из {v}", "Уволился из {v}{t}", Work, "user.employer", Value::Organisation),
    row("я уволилась из {v}", "Уволилась из {v}{t}", Work, "user.employer", Value::Organisation),
    row("я уволился", "Уволился", Work, "user.employer", Value::None).once(),
    row("я уволилась", "Уволилась", Work, "user.employer", Value::None).once(),
    row("меня уволили", "Уволен с работы", Work, "user.employer", Value::None).once(),
    row("я? работаю в|во {v} @trade", "Работает в {v}", Work, "user.employer", Value::Organisation)
        .also("Работает {c}", "user.occupation"),
    row("я? устроился в|во {v}", "Работает в {v}", Work, "user.employer", Value::Named).once(),
    row("я? устроилась в|во {v}", "Работает в {v}", Work, "user.employer", Value::Named).once(),
    row("я? работаю на {v}", "Работает на {v}", Work, "user.employer", Value::Organisation),
    row("я? работаю в|во {v}", "Работает в {v}", Work, "user.employer", Value::Organisation),
    row("я? устроился на работу? в {v}", "Работает в {v}", Work, "user.employer", Value::Organisation).once(),
    row("я устроилась на работу? в {v}", "Работает в {v}", Work, "user.employer", Value::Organisation).once(),
    row("я? работаю из дома", "Работает из дома", Work, "", Value::None),
    row("я? работаю удаленно", "Работает удалённо", Work, "", Value::None),
    row("я? работаю {v}", "Работает {v}", Work, "user.occupation", Value::Occupation).resume(AT_WORK),
    row("я по профессии —|–|-? {v}", "По профессии {v}", Work, "user.occupation", Value::Occupation),
    row("я на пенсии", "На пенсии", Work, "user.occupation", Value::None),
    row("я безработный|безработная", "Без работы", Work, "user.occupation", Value::None),
    row("я —|–|-? @teacher @subject", "По профессии {c} {d}", Work, "user.occupation", Value::None),
    row("я —|–|-? {v}", "По профессии {v}", Work, "user.occupation", Value::Occupation).resume(AT_WORK),
    row("я? учусь в {v}", "Учится в {v}", Education, "user.school", Value::Organisation),
    row("я? учусь на {v}", "Учится на {v}", Education, "", Value::Organisation),
    row("я? изучаю {v}", "Изучает {v}", Education, "", Value::Thing),
    row("я окончил|закончил {v}", "Окончил {v}{t}", Education, "", Value::Named),
    row("я окончила|закончила {v}", "Окончила {v}{t}", Education, "", Value::Named),
];

const AT_WORK: &[(&str, &[&str])] = &[("в", &["я", "работаю", "в"]), ("на", &["я", "работаю", "на"])];

const TASTE: &[Row] = &[
    row("я? больше не люблю {v}", "Больше не любит {v}", Preference, "user.preference.{v}", Value::Thing),
    row("я? уже не люблю {v}", "Больше не любит {v}", Preference, "user.preference.{v}", Value::Thing),
    row("я? разлюбил|разлюбила {v}", "Больше не любит {v}", Preference, "user.preference.{v}", Value::Thing),
    row("я? не люблю {v}", "Не любит {v}", Preference, "user.preference.{v}", Value::Thing),
    row("мне не нравится {v}", "Не нравится {v}", Preference, "user.preference.{v}", Value::Thing),
    row("мне не нравятся {v}", "Не нравятся {v}", Preference, "user.preference.{v}", Value::Thing),
    row("мне больше не нравится {v}", "Больше не нравится {v}", Preference, "user.preference.{v}", Value::Thing),
    row("мне больше не нравятся {v}", "Больше не нравятся {v}", Preference, "user.preference.{v}", Value::Thing),
    row("я? ненавижу {v}", "Ненавидит {v}", Preference, "user.preference.{v}", Value::Thing),
    row("я? терпеть не могу {v}", "Терпеть не может {v}", Preference, "user.preference.{v}", Value::Thing),
    row("я? люблю {v}", "Любит {v}", Preference, "user.preference.{v}", Value::Thing),
    row("я? обожаю {v}", "Обожает {v}", Preference, "user.preference.{v}", Value::Thing),
    row("я? предпочитаю {v}", "Предпочитает {v}", Preference, "user.preference.{v}", Value::Thing).whole(),
    row("мне нравится {v}", "Нравится {v}", Preference, "user.preference.{v}", Value::Thing),
    row("мне нравятся {v}", "Нравятся {v}", Preference, "user.preference.{v}", Value::Thing),
    row("я? увлекаюсь {v}", "Увлекается {v}", Preference, "user.preference.{v}", Value::Thing),
    row("я? больше не играю на {v}", "Больше не играет на {v}", Preference, "user.plays.{v}", Value::Pastime),
    row("я? больше не играю в {v}", "Больше не играет в {v}", Preference, "user.plays.{v}", Value::Pastime),
    row("я бросил|бросила играть на {v}", "Больше не играет на {v}", Preference, "user.plays.{v}", Value::Pastime)
        .once(),
    row("я бросил|бросила играть в {v}", "Больше не играет в {v}", Preference, "user.plays.{v}", Value::Pastime).once(),
    row("я? играю на {v}", "Играет на {v}", Preference, "user.plays.{v}", Value::Pastime),
    row("я? играю в {v}", "Играет в {v}", Preference, "user.plays.{v}", Value::Pastime),
    row("мой любимый {w} —|–|-? это? {v}", "Любимый {w} — {v}", Preference, "user.favorite.{w}", Value::Thing),
    row("моя любимая {w} —|–|-? это? {v}", "Любимая {w} — {v}", Preference, "user.favorite.{w}", Value::Thing),
    row("мое любимое {w} —|–|-? это? {v}", "Любимое {w} — {v}", Preference, "user.favorite.{w}", Value::Thing),
];

const HEALTH: &[Row] = &[
    row("я больше не @diet", "Больше не {c}", Diet, "user.diet", Value::None),
    row("я уже не @diet", "Больше не {c}", Diet, "user.diet", Value::None),
    row("я не @diet", "Не {c}", Diet, "user.diet", Value::None),
    row("я @diet", "{C}", Diet, "user.diet", Value::None),
    row("я стал @diet-into", "Стал {c}", Diet, "user.diet", Value::None).once(),
    row("я стала @diet-into", "Стала {c}", Diet, "user.diet", Value::None).once(),
    row("я? больше не ем {v}", "Больше не ест {v}", Diet, "user.eats.{v}", Value::Thing),
    row("я? не ем {v}", "Не ест {v}", Diet, "user.eats.{v}", Value::Thing),
    row("я? не пью {v}", "Не пьёт {v}", Diet, "user.drinks.{v}", Value::Thing),
    row("я? больше не пью $", "Больше не пьёт алкоголь", Diet, "user.drinks.алкоголь", Value::None),
    row("я? больше не курю $", "Больше не курит", Health, "user.smokes", Value::None),
    row("я? не пью $", "Не пьёт алкоголь", Diet, "user.drinks.алкоголь", Value::None),
    row("я? не курю $", "Не курит", Health, "user.smokes", Value::None),
    row("я? больше не пью {v}", "Больше не пьёт {v}", Diet, "user.drinks.{v}", Value::Thing),
    row("у меня больше? нет больше? аллергии на {v}", "Нет аллергии на {v}", Allergy, "user.allergy.{v}", Value::Thing),
    row("у меня нет аллергии на {v}", "Нет аллергии на {v}", Allergy, "user.allergy.{v}", Value::Thing),
    row("у меня есть? сильная? аллергия на {v}", "Аллергия на {v}", Allergy, "user.allergy.{v}", Value::Thing),
    row("я аллергик", "Аллергик", Allergy, "", Value::None),
    row("я диабетик", "Диабетик", Health, "", Value::None),
    row("у меня @disease", "{C}", Health, "", Value::None),
    row("я? не переношу {v}", "Не переносит {v}", Health, "user.tolerates.{v}", Value::Thing),
];

/// What a divorce ends.
const PARTED: &[(&str, &str)] = &[("Больше нет мужа", "husband.name"), ("Больше нет жены", "wife.name")];

const OTHERS: &[Row] = &[
    row("я? женат на {v}", "Женат на {v}", Family, "user.marital_status", Value::Person),
    row("я? замужем за {v}", "Замужем за {v}", Family, "user.marital_status", Value::Person),
    row("я развелся|развелась", "В разводе", Family, "user.marital_status", Value::None).once().ends(PARTED),
    row("я женат", "Женат", Family, "user.marital_status", Value::None),
    row("я замужем", "Замужем", Family, "user.marital_status", Value::None),
    row("я не женат $", "Не женат", Family, "user.marital_status", Value::None),
    row("я не замужем $", "Не замужем", Family, "user.marital_status", Value::None),
    row("я разведен|разведена", "В разводе", Family, "user.marital_status", Value::None),
    row("я в разводе", "В разводе", Family, "user.marital_status", Value::None),
    row("я вышла замуж", "Замужем", Family, "user.marital_status", Value::None).once(),
    row("я женился", "Женат", Family, "user.marital_status", Value::None).once(),
    row("у меня|нас есть? @number детей", "Есть {c} детей", Family, "user.children", Value::None),
    row("у меня|нас есть? @number @offspring $", "Есть {c} {d}", Family, "user.{l}", Value::None),
    row("моей|моему|нашей|нашему @rel-dat {v} год $", "{C} {v} год", Family, "{k}.age", Value::Age),
    row("моей|моему|нашей|нашему @rel-dat {v} года $", "{C} {v} года", Family, "{k}.age", Value::Age),
    row("моей|моему|нашей|нашему @rel-dat {v} лет $", "{C} {v} лет", Family, "{k}.age", Value::Age),
    row("у меня|нас есть? @relative по? имени? {v}", "Есть {c} {v}", Family, "", Value::Person),
    row("у меня|нас есть? {v} $", "Есть {v}", Family, "", Value::Kin),
    row("моего|мою @rel-acc зовут {v}", "{C} зовут {v}", Family, "{k}.name", Value::Person),
    row("мой|моя @rel живет в|во {v}", "{C} живёт в {v}", Family, "{k}.home", Value::Place),
    row("мой|моя @rel переехал в|во {v}", "{C} переехал в {v}{t}", Family, "{k}.home", Value::Place),
    row("мой|моя @rel переехала в|во {v}", "{C} переехала в {v}{t}", Family, "{k}.home", Value::Place),
    row("мой|моя @rel работает в|во {v}", "{C} работает в {v}", Family, "{k}.employer", Value::Organisation),
    row("мой|моя @rel работает {v}", "{C} работает {v}", Family, "{k}.occupation", Value::Occupation),
    row("мой|моя @rel умер", "{C} умер{t}", Family, "{k}.death", Value::None).once(),
    row("мой|моя @rel умерла", "{C} умерла{t}", Family, "{k}.death", Value::None).once(),
    row("мой|моя @rel больше не @diet", "{C} больше не {d}", Diet, "{k}.diet", Value::None),
    row("мой|моя @rel не @diet", "{C} не {d}", Diet, "{k}.diet", Value::None),
    row("мой|моя @rel —|–|-? @diet", "{C} — {d}", Diet, "{k}.diet", Value::None),
    row("@rel-own живет в|во {v}", "{C} живёт в {v}", Family, "{k}.home", Value::Place),
    row("@rel-own работает в|во {v}", "{C} работает в {v}", Family, "{k}.employer", Value::Organisation),
    row("@rel-own работает {v}", "{C} работает {v}", Family, "{k}.occupation", Value::Occupation),
    row("мой|моя @rel —|–|-? {v}", "{C} — {v}", Family, "{k}.occupation", Value::Occupation),
    row("мои родители живут в {v}", "Родители живут в {v}", Family, "parents.home", Value::Place),
    row("мой|наш @pet {v} умер|погиб", "Больше нет: {c} {v}", Pets, "user.pet.{v}", Value::Person).once(),
    row("моя|наша @pet {v} умерла|погибла", "Больше нет: {c} {v}", Pets, "user.pet.{v}", Value::Person).once(),
    row(
        "у|с меня|нас|нами больше нет|не моего|нашего|моей|нашей? @pet-gen {v}",
        "Больше нет: {n} {v}",
        Pets,
        "user.pet.{v}",
        Value::Missed,
    )
    .once()
    .ends_only(),
    row("моего|нашего|моей|нашей? @pet-gen {v} больше нет", "Больше нет: {n} {v}", Pets, "user.pet.{v}", Value::Missed)
        .once()
        .ends_only(),
    row("моего|нашего|моей|нашей? @pet-gen {v} не стало", "Больше нет: {n} {v}", Pets, "user.pet.{v}", Value::Missed)
        .once()
        .ends_only(),
    row("не стало моего|нашего|моей|нашей? @pet-gen {v}", "Больше нет: {n} {v}", Pets, "user.pet.{v}", Value::Missed)
        .once()
        .ends_only(),
    row("{v} умер|умерла|погиб|погибла", "Больше нет: {v}", Pets, "user.pet.{v}", Value::Called).once().ends_only(),
    row("у меня|нас есть? @pet по? кличке? {v}", "Есть {c} {v}", Pets, "user.pet.{v}", Value::Person).resume(AND_PET),
    row("у меня|нас есть? @number @pets $", "Есть {c} {d}", Pets, "user.pets.{l}", Value::None),
    row("у меня|нас появился|появилась @pet по? кличке? {v}", "Есть {c} {v}", Pets, "user.pet.{v}", Value::Person),
    row("у меня|нас появился|появилась|появились {v} $", "Есть {v}", Pets, "", Value::Animals),
    row("у меня|нас есть? {v} $", "Есть {v}", Pets, "", Value::Animals),
    row("моего|мою|нашего|нашу @pet-acc зовут {v}", "Есть {n} {v}", Pets, "user.pet.{v}", Value::Person),
    row("я в|во {v}", "В {v}{t}", Plans, "", Value::Place).ending(),
    row("я? планирую {v}", "Планирует {v}{t}", Plans, "", Value::Doing),
    row("я? собираюсь {v}", "Собирается {v}{t}", Plans, "", Value::Ambition),
    row("я? хочу {v}", "Хочет {v}{t}", Plans, "", Value::Ambition),
    row("я? мечтаю {v}", "Мечтает {v}{t}", Plans, "", Value::Ambition),
    row("моя цель|мечта —|–|-? {v}", "Хочет {v}{t}", Plans, "", Value::Ambition),
    row("я? коплю на {v}", "Копит на {v}{t}", Plans, "", Value::Venture),
    row("я? готовлюсь к {v}", "Готовится к {v}{t}", Plans, "", Value::Venture),
];

const AND_PET: &[(&str, &[&str])] = &[("и", &["у", "меня", "есть"]), (",", &["у", "меня", "есть"])];

/// Not statements but mentions: they are found anywhere in a clause that is safe to read.
const MENTIONS: &[Row] = &[
    row("мой|моя @relative {v}", "{C} — {v}", Family, "{k}.name", Value::Given),
    row("мой|моя|наш|наша @pet {v}", "Есть {c} {v}", Pets, "user.pet.{v}", Value::Given),
];
