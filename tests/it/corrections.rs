//! What the user corrects or tells to be over: the outdated fact does not hold any more, and nothing else ends.

mod by_the_way;

use ingrain::{Scope, SkipReason};

use crate::worlds::{World, texts};

/// What still holds after the messages, each told by itself.
async fn held(world: &World, user: &str, messages: &[&str]) -> Vec<String> {
    let scope = Scope::user(user);
    for message in messages {
        world.engine.add(&scope, *message).await.unwrap();
    }
    world.list(&scope).await.into_iter().map(|memory| memory.text).collect()
}

/// Messages, and what holds after them.
type Story<'a> = (&'a [&'a str], &'a [&'a str]);

async fn check(stories: &[Story<'_>]) {
    let mut wrong = Vec::new();
    for world in World::all().await {
        for (number, (messages, expected)) in stories.iter().enumerate() {
            let found = held(&world, &format!("user-{number}"), messages).await;
            if found != *expected {
                wrong.push(format!("{}: {messages:?}\n  expected {expected:?}\n  found    {found:?}", world.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[tokio::test]
async fn a_correction_ends_what_it_corrects() {
    check(&[
        (&["My birthday is 14 May 1986.", "My birthday is 15 May 1986, not 14 May."], &["Birthday is 15 May 1986"]),
        (&["My son's name is Tom.", "My son's name is Tim, not Tom."], &["Son's name is Tim"]),
        (&["My husband's name is Tom.", "My husband's name is Tim, not Tom."], &["Husband's name is Tim"]),
        (&["My phone number is 912345678.", "I have a new phone number: 933333333."], &["Phone number is 933333333"]),
        (&["My phone number is 912345678.", "My new number is 933333333."], &["Phone number is 933333333"]),
        (&["My phone number is 912345678.", "My number has changed to 933333333."], &["Phone number is 933333333"]),
        (&["Мой номер телефона 912345678.", "У меня новый номер: 933333333."], &["Номер телефона 933333333"]),
        (&["My doctor is Dr. Almeida.", "My doctor is Dr. Costa."], &["Doctor is Dr. Costa"]),
        (&["Call me Lala.", "You can call me Lara."], &["Goes by Lara"]),
    ])
    .await;
}

#[tokio::test]
async fn an_end_ends_what_it_names() {
    check(&[
        (&["My husband's name is Rui.", "Rui and I got divorced."], &["Is divorced", "No longer has a husband"]),
        (&["I love sushi.", "I stopped eating sushi."], &["No longer eats sushi"]),
        (&["I love sushi.", "I don't eat sushi any more."], &["No longer eats sushi"]),
        (&["I love coffee.", "I no longer drink coffee."], &["No longer drinks coffee"]),
        (&["Я люблю суши.", "Я больше не ем суши."], &["Больше не ест суши"]),
        (&["I have a dog named Bruno.", "Bruno died last week."], &["Bruno died"]),
        (&["I have a dog named Bruno.", "Sadly, Bruno passed away."], &["Bruno died"]),
        (&["I have a dog named Bruno. Bruno died last week."], &["Bruno died"]),
        (&["У меня есть кот Барсик.", "Барсик умер."], &["Больше нет: Барсик"]),
        (&["У меня есть кот Барсик.", "У меня больше нет кота Барсика."], &["Больше нет: кот Барсик"]),
        (&["Моего попугая зовут Кеша.", "Кеша умер."], &["Больше нет: Кеша"]),
        (&["У нас есть кролик Пушок.", "Нашего кролика Пушка больше нет."], &["Больше нет: кролик Пушок"]),
        (
            &["У меня есть собака Рекс.", "У меня есть кошка Мурка.", "Не стало моей собаки Рекса."],
            &["Есть кошка Мурка", "Больше нет: собака Рекс"],
        ),
        (&["I drive a Renault Clio.", "I sold my car."], &["Sold the car"]),
        (&["My car is a Renault Clio.", "I sold my car and bought a Tesla."], &["Drives a Tesla"]),
        (&["I drive a Renault Clio.", "I sold my Renault last week."], &["No longer drives a Renault"]),
        (&["I'm planning a trip to Japan.", "I cancelled my trip to Japan."], &["Cancelled the trip to Japan"]),
        (&["I'm planning a trip to Japan in June.", "I cancelled my trip to Japan."], &["Cancelled the trip to Japan"]),
        (&["We're planning a wedding.", "We called off the wedding."], &["Cancelled the wedding"]),
        (&["I'm pregnant.", "My baby was born on Tuesday."], &["Baby was born", "Is no longer pregnant"]),
        (&["I take 20 mg of ramipril every morning.", "I stopped taking ramipril."], &["No longer takes ramipril"]),
        (
            &["Please remember: the gate code is 4711.", "Please remember that the gate code is 4712."],
            &["The gate code is 4712"],
        ),
    ])
    .await;
}

#[tokio::test]
async fn any_more_ends_whatever_it_stands_by() {
    check(&[
        (&["I'm allergic to peanuts.", "I'm not allergic to peanuts any more."], &["Is no longer allergic to peanuts"]),
        (&["I work at Acme.", "I'm not at Acme any more."], &["No longer works at Acme"]),
        (&["I'm a nurse.", "I'm not a nurse any longer."], &["Is no longer a nurse"]),
        (&["I live in Rome.", "We're not living in Rome any more."], &["No longer lives in Rome"]),
        (&["I have a dog named Rex.", "We don't have Rex any more."], &["No longer has Rex"]),
        (&["I have a dog named Rex.", "I don't have a dog any more."], &["No longer has a dog"]),
        (&["I hate olives.", "I don't hate olives any more."], &["No longer hates olives"]),
        (&["I work from home.", "I don't work from home any more."], &["No longer works from home"]),
        (&["I'm diabetic.", "I'm not diabetic any more."], &["Is no longer diabetic"]),
        (
            &["I plan to visit Peru in June.", "I don't plan to visit Peru any more."],
            &["No longer plans to visit Peru"],
        ),
        (
            &["My sister works at Acme.", "My sister doesn't work at Acme any more."],
            &["Sister no longer works at Acme"],
        ),
        (&["I drive a Renault Clio.", "I don't have a car any more."], &["No longer has a car"]),
        (&["Я работаю в Яндексе.", "Я уже не работаю в Яндексе."], &["Больше не работает в Яндексе"]),
        (&["Я люблю джаз.", "Я не люблю джаз больше."], &["Больше не любит джаз"]),
    ])
    .await;
    check(&[
        (&["I like jazz.", "I'm not sure any more whether I like jazz."], &["Likes jazz"]),
        (&["I'm a nurse.", "I'm not just a nurse any more."], &["Is a nurse"]),
        (&["I live in Rome.", "I don't live in Rome with my parents any more."], &["Lives in Rome"]),
        (&["I work at Acme.", "I'm not with Tom any more."], &["Works at Acme"]),
        (&["I have a dog named Rex.", "I don't have Time any more."], &["Has a dog named Rex"]),
        (&["I have a dog named Rex.", "I don't walk my dog Rex any more."], &["Has a dog named Rex"]),
        (&["I have a dog named Rex.", "I don't have a cat any more."], &["Has a dog named Rex", "No longer has a cat"]),
    ])
    .await;
}

#[tokio::test]
async fn each_of_a_list_ends_by_itself() {
    check(&[
        (
            &["I'm allergic to penicillin and to peanuts.", "I'm not allergic to peanuts any more."],
            &["Is allergic to penicillin", "Is no longer allergic to peanuts"],
        ),
        (&["I like both cats and dogs.", "I don't like dogs any more."], &["Likes cats", "No longer likes dogs"]),
        (
            &["I have two dogs, Rex and Bruno, and a cat named Tom.", "Bruno died."],
            &["Has a dog named Rex", "Has two dogs", "Has a cat named Tom", "Bruno died"],
        ),
        (&["Я люблю и чай, и кофе.", "Я не люблю чай больше."], &["Любит кофе", "Больше не любит чай"]),
    ])
    .await;
}

#[tokio::test]
async fn what_is_put_right_in_the_same_breath_is_never_held() {
    check(&[
        (&["I live in Rome, no wait, I mean Milan."], &["Lives in Milan"]),
        (&["I live in Rome. Sorry, I meant Milan."], &["Lives in Milan"]),
        (&["I live in Milan.", "I live in Rome, scratch that."], &["Lives in Milan"]),
        (
            &["I'm allergic to nuts, sorry, I meant eggs.", "I have a cat named Rex, no, Max."],
            &["Is allergic to eggs", "Has a cat named Max"],
        ),
        (&["I'm planning a trip to Peru, no, wait, to Chile."], &["Is planning a trip to Chile"]),
        (&["I like tea, sorry, I mean I like coffee."], &["Likes coffee"]),
        (&["Я живу в Москве, ой, нет, в Казани."], &["Живёт в Казани"]),
        // Nothing is put right here.
        (&["I live in Rome, actually it's lovely.", "I like tea, no sugar."], &["Lives in Rome", "Likes tea"]),
    ])
    .await;
}

#[tokio::test]
async fn news_end_what_they_make_stale() {
    check(&[
        (&["I work at Acme. I'm a teacher.", "I started a new job as a nurse."], &["Works as a nurse", "Left the job"]),
        (&["I work at Acme.", "I started a new job as a nurse at Bolt."], &["Works as a nurse", "Works at Bolt"]),
        (&["I work at Acme.", "I'm retired."], &["Is retired", "Left the job"]),
        (&["I love climbing.", "I gave up climbing."], &["Gave up climbing"]),
        (&["I'm married to Tom.", "I got divorced."], &["Is divorced"]),
        (&["My girlfriend works at Acme.", "I broke up with my girlfriend."], &["No longer has a girlfriend"]),
        (&["My son is 5.", "My son turned 6."], &["Son is 6 years old"]),
        (&["I'm a student at MIT. I study law.", "I graduated."], &["Graduated", "No longer studies there"]),
        (&["I'm a law student.", "I graduated."], &["Graduated", "Is no longer a student"]),
        (
            &["I'm vegetarian.", "I eat meat again."],
            &["Eats meat again", "Is no longer vegetarian, vegan or pescatarian"],
        ),
        (&["I don't eat gluten.", "I can eat gluten again."], &["Eats gluten again"]),
        (&["I no longer smoke.", "I smoke again."], &["Smokes again"]),
        (
            &["My grandmother lives in Rome. My grandmother's name is Ann.", "My grandmother died."],
            &["Grandmother's name is Ann", "Grandmother died"],
        ),
        (&["I have a dog named Rex.", "My dog died."], &["Dog died"]),
        (&["I like jazz.", "Forget that I like jazz."], &["No longer likes jazz"]),
        (&["Моя бабушка живёт в Казани.", "Моя бабушка умерла."], &["Бабушка умерла"]),
        (&["Я люблю джаз.", "Забудь, что я люблю джаз."], &["Больше не любит джаз"]),
    ])
    .await;
}

#[tokio::test]
async fn what_only_sounds_like_such_news_ends_nothing() {
    check(&[
        (&["I work at Acme.", "I got a new job offer.", "I started a new job search."], &["Works at Acme"]),
        (&["I love climbing.", "She gave up climbing.", "I gave up my seat.", "I gave up hope."], &["Loves climbing"]),
        (&["I love climbing.", "I gave up climbing for Lent.", "I quit climbing when it rained."], &["Loves climbing"]),
        (&["My son is 5.", "My son turned 6 pages."], &["Son is 5 years old"]),
        (
            &["I study law.", "I graduated to a bigger bike.", "I graduated in 2010."],
            &["Studies law", "Graduated in 2010"],
        ),
        (&["I'm pescatarian.", "I eat fish again."], &["Is pescatarian", "Eats fish again"]),
        (&["I'm vegetarian.", "I never eat meat again."], &["Is vegetarian"]),
        (
            &["My mom lives in Rome.", "My phone died.", "My mom died laughing.", "My friend's mom died."],
            &["Mom lives in Rome"],
        ),
        (
            &["I have a dog named Rex. I have a dog named Bruno.", "My dog died."],
            &["Has a dog named Rex", "Has a dog named Bruno", "Dog died"],
        ),
        (
            &["I live in Rome.", "Don't forget that I live in Rome.", "Forget that! I'm vegan."],
            &["Lives in Rome", "Is vegan"],
        ),
        (&["I live in Rome.", "Forget that I live in Rome for a moment."], &["Lives in Rome"]),
        (&["I live in Rome.", "Forget that I live in Milan."], &["Lives in Rome"]),
    ])
    .await;
}

#[tokio::test]
async fn an_end_ends_nothing_else() {
    check(&[
        // Who is not known is not worth a memory.
        (&["Dumbledore died last week."], &[]),
        (&["I have a dog named Bruno.", "Rex died."], &["Has a dog named Bruno"]),
        (&["У меня есть кот Барсик.", "У меня больше нет кота Тома."], &["Есть кот Барсик"]),
        (&["My baby was born on Tuesday."], &["Baby was born"]),
        (&["I got divorced last month."], &["Is divorced"]),
        (&["My husband's name is Rui.", "I got divorced in 2010."], &["Husband's name is Rui"]),
        (&["My son's name is Tom.", "My son's name is Tim."], &["Son's name is Tom", "Son's name is Tim"]),
        (&["My son's name is Tom.", "My son's name is Tim, not Jim."], &["Son's name is Tom", "Son's name is Tim"]),
        (&["I stopped taking photos."], &[]),
        (&["I sold my Renault."], &[]),
        (
            &["I love sushi.", "I'm allergic to sesame.", "I stopped eating sesame."],
            &["Loves sushi", "Is allergic to sesame", "No longer eats sesame"],
        ),
        (&["I hate olives.", "I stopped eating olives."], &["Hates olives", "No longer eats olives"]),
        (&["I drive a Renault Clio.", "I sold my Gibson guitar."], &["Drives a Renault Clio"]),
        (&["I sold my car and bought a Rolex."], &["Sold the car"]),
        (
            &["I'm planning a trip to Japan.", "I cancelled my trip to Peru."],
            &["Is planning a trip to Japan", "Cancelled the trip to Peru"],
        ),
        (
            &["Remember that my flight is on 3 March.", "Remember that my flight is on 9 April."],
            &["Flight is on 3 March", "Flight is on 9 April"],
        ),
    ])
    .await;
}

#[tokio::test]
async fn an_end_of_nothing_known_says_so() {
    for world in World::all().await {
        let leo = Scope::user("leo");
        let report = world.engine.add(&leo, "Sadly, Bruno passed away.").await.unwrap();
        let told = (report.reason(), report.skipped[0].reason, report.skipped[0].known);
        assert_eq!(told, (Some("nothing to end"), SkipReason::NothingToEnd, None), "{}", world.name);
    }
}

#[tokio::test]
async fn what_ended_is_history() {
    for world in World::all().await {
        let ana = Scope::user("ana");
        world.engine.add(&ana, "I have a dog named Bruno.").await.unwrap();
        let report = world.engine.add(&ana, "Bruno died last week.").await.unwrap();
        assert_eq!(texts(&report.superseded), ["Has a dog named Bruno"], "{}", world.name);
        // What only ends something is told to be left out, and not lost in silence.
        let report = world.engine.add(&ana, "Gandalf died.").await.unwrap();
        assert_eq!((report.added.len(), report.skipped.len()), (0, 1), "{}", world.name);
        assert_eq!(report.skipped[0].text, "Gandalf died");
    }
}
