//! Sentences that sound like a correction or an end, and are none: a true fact that is lost is worse than one that is stale.

use super::check;

/// Words that may put something right and mostly do not.
#[tokio::test]
async fn what_is_said_by_the_way_puts_nothing_right() {
    check(&[
        (&["I'm allergic to shellfish. I meant to ask, is paella safe?"], &["Is allergic to shellfish"]),
        (&["I'm allergic to nuts, I meant to tell you."], &["Is allergic to nuts"]),
        (&["I live in Rome but I meant to move to Milan."], &["Lives in Rome"]),
        (&["I'm allergic to eggs. Make that recipe without them, please."], &["Is allergic to eggs"]),
        (&["I have a daughter named Mia. Make that story about her."], &["Has a daughter named Mia"]),
        (&["I'm allergic to eggs. Scratch that recipe, I need another."], &["Is allergic to eggs"]),
        (&["I'm allergic to nuts. My bad luck!"], &["Is allergic to nuts"]),
        (&["I'm vegan, my bad habit is cheese."], &["Is vegan"]),
        (&["I'm allergic to nuts and you suggested pesto, that's wrong."], &["Is allergic to nuts"]),
        (&["I live in Rome and my rent doubled. That's wrong."], &["Lives in Rome"]),
        (&["I love restaurants with no wait."], &["Loves restaurants with no wait"]),
        (&["I'm a teacher, correction takes hours."], &["Is a teacher"]),
        (&["I live in Rome. Or rather, guess where?"], &["Lives in Rome"]),
        (&["I live in Rome. Wait, no need to answer that."], &["Lives in Rome"]),
        (&["I was born in Rome. No wait, that's not important."], &["Was born in Rome"]),
        (&["У меня аллергия на орехи. Я хотел сказать это раньше."], &["Аллергия на орехи"]),
        (&["Я живу в Москве. Поправка к закону принята."], &["Живёт в Москве"]),
        (&["Я люблю джаз, так вернее."], &["Любит джаз"]),
        (&["Я люблю чай. Хотел сказать спасибо."], &["Любит чай"]),
        (&["I have a dog named Rex, my bad boy."], &["Has a dog named Rex"]),
        (&["My name is Tom. Sorry, Claude."], &["Name is Tom"]),
        (&["I live in Berlin. Sorry, Munich!"], &["Lives in Berlin"]),
        (&["I'm allergic to cats. Sorry, Milk."], &["Is allergic to cats"]),
        (&["Я живу в Москве. Прости, Маша."], &["Живёт в Москве"]),
        (&["I like jazz. Sorry, typo."], &["Likes jazz"]),
        (&["I love cats. Sorry, gotta go."], &["Loves cats"]),
        (&["Я люблю чай, ой, забыла выключить чайник."], &["Любит чай"]),
        (&["Я люблю чай. Я хотел сказать спасибо за помощь."], &["Любит чай"]),
        (&["I like jazz. I mean, sometimes."], &["Likes jazz"]),
        (&["I love pizza, I mean seriously."], &["Loves pizza"]),
        (&["I work at Acme, I mean remotely."], &["Works at Acme"]),
        (&["I love cats. No, seriously."], &["Loves cats"]),
        (&["I like jazz. Actually, a lot."], &["Likes jazz"]),
        (&["Я работаю в Яндексе, точнее удалённо."], &["Работает в Яндексе"]),
        (&["Я работаю в Яндексе, то есть работала."], &["Работает в Яндексе"]),
        (&["I'm allergic to nuts, I mean severely."], &["Is allergic to nuts"]),
    ])
    .await;
}

/// What ends a part, ended long ago, is yet to end, or is said in jest.
#[tokio::test]
async fn what_does_not_end_all_of_it_today_ends_nothing() {
    check(&[
        (&["I live in Rome.", "I live in Rome. Sorry, Tom!"], &["Lives in Rome"]),
        (&["I'm allergic to nuts.", "Forget that I'm allergic to nuts and I'll die."], &["Is allergic to nuts"]),
        (&["I'm vegan.", "Forget that I'm vegan, recommend a steakhouse."], &["Is vegan"]),
        (&["Я живу в Москве.", "Забудь, что я живу в Москве, и я обижусь."], &["Живёт в Москве"]),
        (&["My mom is called Ann.", "My mom died her hair."], &["Mom's name is Ann"]),
        (&["My dad lives in Rome.", "My dad died in Minecraft."], &["Dad lives in Rome"]),
        (&["My dad lives in Rome.", "My dad is no longer with us in Rome."], &["Dad lives in Rome"]),
        (&["I have a dog named Rex.", "Rex died laughing."], &["Has a dog named Rex"]),
        (&["I have a dog named Rex.", "Rex died of boredom."], &["Has a dog named Rex"]),
        (&["Моя бабушка живёт в Казани.", "Моя бабушка умерла со смеху."], &["Бабушка живёт в Казани"]),
        (&["У меня есть кот Барсик.", "Барсик погиб в игре."], &["Есть кот Барсик"]),
        (&["I'm allergic to nuts.", "I'm no longer severely allergic to nuts."], &["Is allergic to nuts"]),
        (&["I work at Acme.", "I no longer work at Acme from home."], &["Works at Acme"]),
        (&["I'm a nurse.", "I'm no longer a nurse in the ER, I moved to pediatrics."], &["Is a nurse"]),
        (&["I work at Acme.", "I quit my job in 2015."], &["Works at Acme"]),
        (&["I'm 33.", "I turned 18 in 2010."], &["Is 33 years old"]),
        (&["My son is 12.", "My son turned 5 in 2018."], &["Son is 12 years old"]),
        (&["I'm married to Tom.", "I got divorced in 2010."], &["Is married to Tom"]),
        (&["I drive a Tesla.", "I sold my car in 2010."], &["Drives a Tesla"]),
        (&["I have a dog named Rex.", "My dog died in 2010."], &["Has a dog named Rex"]),
        (&["I work at Acme.", "I quit my job tomorrow."], &["Works at Acme"]),
        (&["I work at Acme.", "I have a new job for you: translate this."], &["Works at Acme"]),
        (&["I work at Acme.", "I found a new job for my son."], &["Works at Acme"]),
        (&["I work at Acme.", "I left my job for an hour to see the dentist."], &["Works at Acme"]),
        (&["I'm pregnant.", "I gave birth to an idea."], &["Is pregnant"]),
        (&["I'm married to Tom.", "Надеюсь, я больше не замужем."], &["Is married to Tom"]),
    ])
    .await;
}
