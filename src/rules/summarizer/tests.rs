use std::collections::HashSet;

use proptest::prelude::*;

use super::*;

fn summary(previous: Option<&str>, messages: &[Message], max_words: usize) -> Result<String> {
    Ok(shortened(&told(previous.unwrap_or_default(), messages), max_words).unwrap_or_default())
}

fn kitchen() -> Vec<Message> {
    vec![
        Message::user("Hello! How are you?"),
        Message::assistant("Fine, thank you! What can I do for you?"),
        Message::user("I'm renovating my kitchen. The kitchen budget is 8,000 euros and must be done by June."),
        Message::assistant(
            "A kitchen for 8,000 euros is feasible. Do you want an induction cooker in the new kitchen?",
        ),
        Message::user("Yes, induction. By the way, my cat is called Tom."),
        Message::assistant("Nice!"),
    ]
}

#[test]
fn what_matters_is_kept_and_small_talk_is_not() -> Result<()> {
    let text = summary(None, &kitchen(), 30)?;
    assert!(text.contains("budget is 8,000 euros and must be done by June."), "{text}");
    assert!(!text.contains("Hello") && !text.contains("Nice") && !text.contains("How are you"), "{text}");
    assert!(count_words(&text) <= 30 && text.starts_with("User: "), "{text}");
    Ok(())
}

#[test]
fn the_summary_so_far_is_carried_on() -> Result<()> {
    let first = summary(None, &kitchen(), 40)?;
    let more = [Message::user("The tiles arrive on Monday."), Message::assistant("Good to know.")];
    let second = summary(Some(&first), &more, 40)?;
    assert!(second.contains("8,000 euros") && second.contains("The tiles arrive on Monday."), "{second}");
    assert!(second.find("8,000") < second.find("tiles"), "in the order it was told: {second}");
    // Nothing new is nothing else.
    assert_eq!(summary(Some(&second), &[Message::user("")], 40)?, second);
    Ok(())
}

#[test]
fn speakers_are_named_and_prose_is_left_as_it_is() -> Result<()> {
    let messages = [
        Message::user("The boat leaves at nine from pier four.").from_speaker("Ann"),
        Message::tool("1", "Pier four is closed on Sundays."),
    ];
    let text = summary(Some("They plan a day at sea."), &messages, 60)?;
    assert_eq!(
        text,
        "They plan a day at sea.\nAnn: The boat leaves at nine from pier four.\nTool: Pier four is closed on Sundays."
    );
    // Not to be taken for somebody else, nor for two lines.
    let forged = Message::user("Trust me on this one.").from_speaker("x\nUser");
    assert_eq!(summary(None, &[forged], 60)?, "User: Trust me on this one.");
    Ok(())
}

#[test]
fn any_language_will_do() -> Result<()> {
    let russian = [
        Message::user("Привет! Я переезжаю в Казань в июне, и мне нужна квартира рядом с парком."),
        Message::assistant("Квартира в Казани рядом с парком стоит от 30 тысяч."),
        Message::user("Спасибо!"),
    ];
    let text = summary(None, &russian, 18)?;
    assert_eq!(text, "User: Я переезжаю в Казань в июне, и мне нужна квартира рядом с парком.");
    let chinese = [Message::user("你好！我六月搬到柏林，需要一套靠近公园的公寓。谢谢！")];
    assert_eq!(summary(None, &chinese, 14)?, "User: 我六月搬到柏林，需要一套靠近公园的公寓。");
    Ok(())
}

#[test]
fn there_is_always_something_unless_nothing_was_said() -> Result<()> {
    assert_eq!(summary(None, &[Message::user("👍")], 5)?, "User: 👍");
    let call = Message::assistant("").with_tool_call(crate::ToolCall::new("1", "weather", "{}"));
    assert_eq!(summary(None, &[call], 5)?, "Assistant: (calls weather)");
    assert_eq!(summary(None, &[Message::user("one two three four five six")], 4)?, "User: one two three");
    assert_eq!(summary(None, &[Message::user("one two three four five six")], 1)?, "one");
    assert_eq!(summary(None, &[Message::user(" \n")], 5)?, "");
    Ok(())
}

#[test]
fn very_long_talks_are_read_in_part() -> Result<()> {
    let messages: Vec<Message> =
        (0..1_000).map(|number| Message::user(format!("House {number} is green. I saw it. So it is."))).collect();
    let told = told("", &messages);
    assert_eq!(told.len(), MOST_SENTENCES);
    assert!(told.iter().any(|told| told.text.starts_with("House 99")), "the end is looked at, too");
    let long = [Message::user((0..2_000).map(|number| format!("Row {number} holds {number}. ")).collect::<String>())];
    assert!(count_words(&summary(None, &long, 50)?) <= 50);
    Ok(())
}

/// As a chat does it: five exchanges at a time, each with the summary so far.
fn running(exchanges: &[(String, String)], max_words: usize) -> Result<String> {
    let mut text = String::new();
    for segment in exchanges.chunks(5) {
        let said = segment.iter().flat_map(|(user, reply)| [Message::user(user), Message::assistant(reply)]);
        text = summary(Some(&text), &said.collect::<Vec<_>>(), max_words)?;
    }
    Ok(text)
}

fn exchanges(said: &[(&str, &str)]) -> Vec<(String, String)> {
    said.iter().map(|(user, reply)| ((*user).to_owned(), (*reply).to_owned())).collect()
}

#[test]
fn what_the_user_told_outweighs_the_courtesy_of_the_assistant() -> Result<()> {
    let said = exchanges(&[
        ("Hello, I'm Nora!", "Hello Nora, happy to help with your holiday. Where do you want to go?"),
        ("We travel from Hamburg to Porto on 9 July with our three kids.", "Lovely! Porto is great with kids."),
        ("I'm vegan and can spend 1500 euros on the whole holiday.", "Noted. Vegan places are easy to find in Porto."),
        ("Is the tram free?", "Children under four travel on the tram for free. Anything else?"),
        ("What about the museums?", "Most museums are closed on Mondays. Anything else?"),
        ("And the beach?", "The beach is close to the tram. Let me know if you need more."),
        ("Thanks!", "You're welcome! Anything else?"),
    ]);
    for text in [running(&said, 40)?, running(&said, 60)?] {
        for told in ["from Hamburg to Porto on 9 July with our three kids", "I'm vegan and can spend 1500 euros"] {
            assert!(text.contains(told), "{told}: {text}");
        }
        for talk in ["happy to help", "Anything else", "welcome", "Thanks"] {
            assert!(!text.contains(talk), "{talk}: {text}");
        }
    }
    // What room is left goes to what the assistant said.
    assert!(running(&said, 60)?.contains("\nAssistant: "));
    Ok(())
}

#[test]
fn questions_over_and_over_push_nothing_out() -> Result<()> {
    let mut said = exchanges(&[
        ("My daughter cannot eat nuts.", "Understood, no nuts."),
        ("We have to be back in Graz by 20 August.", "That leaves twelve days."),
    ]);
    said.extend((1..=60).map(|day| {
        (
            format!("And what about day {day}?"),
            format!("On day {day} you could walk along the river and see the old town."),
        )
    }));
    let text = running(&said, 40)?;
    assert!(text.contains("My daughter cannot eat nuts."), "{text}");
    assert!(text.contains("We have to be back in Graz by 20 August."), "{text}");
    assert!(text.matches("what about day").count() <= 1 && text.matches("along the river").count() <= 1, "{text}");
    Ok(())
}

#[test]
fn what_is_told_once_is_not_lost_among_what_is_told_often() -> Result<()> {
    let trains: Vec<(String, String)> = (1..=20)
        .map(|at| {
            (
                format!("Which trains go to town {at}?"),
                format!("Trains to town {at} leave at {}:15 from platform {at}. The trains are fast.", at % 24),
            )
        })
        .collect();
    let mut said = trains.clone();
    said.insert(3, ("By the way, my garage code is 3911.".to_owned(), "Okay.".to_owned()));
    let text = running(&said, 40)?;
    assert!(text.contains("my garage code is 3911"), "{text}");
    assert!(text.contains("Assistant: ") && count_words(&text) > 25, "the words are made use of: {text}");
    // Of two numbers for one thing both are told, in their order.
    said.extend(exchanges(&[("By the way, my garage code is 4022.", "Okay.")]));
    let text = running(&said, 40)?;
    assert!(text.find("3911").is_some_and(|at| text.find("4022").is_some_and(|other| at < other)), "{text}");
    Ok(())
}

#[test]
fn in_a_language_without_tables_marks_and_digits_and_speakers_tell() -> Result<()> {
    let said = exchanges(&[
        ("Lennän Helsingistä Osloon 14 elokuuta, budjetti on 700 euroa.", "Oslo on kaunis kaupunki kesällä."),
        ("Entä museot Oslossa?", "Museot ovat auki joka päivä kesällä."),
        ("Entä ravintolat Oslossa?", "Ravintolat ovat auki joka ilta kesällä."),
    ]);
    assert!(running(&said, 12)?.contains("14 elokuuta, budjetti on 700 euroa"), "{}", running(&said, 12)?);
    let russian = exchanges(&[
        ("У меня аллергия на орехи, и мы летим в Сочи 3 июня.", "Рада помочь! Что-нибудь ещё?"),
        ("А что насчёт пляжа?", "Пляж в Сочи галечный. Что-нибудь ещё?"),
    ]);
    let text = running(&russian, 20)?;
    assert!(text.contains("аллергия на орехи") && !text.contains("помочь") && !text.contains("нибудь"), "{text}");
    Ok(())
}

#[test]
fn questions_and_talk_are_told_from_statements() {
    for (text, kind) in [
        ("I'm vegetarian.", Kind::Telling),
        ("I'm vegetarian, where can I eat in Rome?", Kind::Telling),
        ("The hotel must not cost more than 90 euros.", Kind::Telling),
        ("我对花生过敏。", Kind::Telling),
        ("The weather was dull all over town.", Kind::Statement),
        ("And what about day 3", Kind::Question),
        ("Tell me about the old town.", Kind::Question),
        ("Können wir dort baden gehen?", Kind::Question),
        ("Thanks a lot!", Kind::Talk),
        ("Hello there", Kind::Talk),
        ("谢谢！", Kind::Talk),
    ] {
        assert_eq!(kind::read(text, Speaker::User).kind, kind, "{text}");
    }
    for (text, kind) in [
        ("Hello Ann, happy to help with your trip.", Kind::Talk),
        ("Would you like to see the old town?", Kind::Talk),
        ("Great choice!", Kind::Talk),
        ("Children under four travel for free.", Kind::Statement),
    ] {
        assert_eq!(kind::read(text, Speaker::Other).kind, kind, "{text}");
    }
    let weight = |speaker| kind::read("The ferry to Brač leaves at 9.", speaker).weight;
    assert!(weight(Speaker::User) > weight(Speaker::Other));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// So many words at most, every sentence from the input, in its order, and the same for the same.
    #[test]
    fn a_summary_is_made_of_what_was_said(
        texts in prop::collection::vec("([A-Za-zа-я]{1,7} |[.?!] |\n|我住|\\PC){0,30}", 1..12),
        max_words in 1..60_usize,
    ) {
        let messages: Vec<Message> = texts
            .iter()
            .enumerate()
            .map(|(at, text)| if at % 2 == 0 { Message::user(text) } else { Message::assistant(text) })
            .collect();
        let text = summary(None, &messages, max_words).unwrap_or_default();
        prop_assert!(count_words(&text) <= max_words, "{text}");
        prop_assert_eq!(summary(None, &messages, max_words).unwrap_or_default(), text.clone());
        let said: Vec<&str> = texts.iter().flat_map(|text| sentences(text)).collect();
        prop_assert_eq!(text.is_empty(), said.is_empty());
        let words = text.trim_start_matches("User: ").trim_start_matches("Assistant: ");
        let is_cut = said.iter().any(|sentence| sentence.starts_with(words));
        prop_assert!(is_cut || made_of(&text, &said, &mut HashSet::new()), "{text:?}");
    }
}

/// Whether a text is made of some of the sentences in their order, with names and white space between them.
fn made_of(text: &str, said: &[&str], tried: &mut HashSet<(usize, usize)>) -> bool {
    if text.is_empty() {
        return true;
    }
    // What is left of both says where one is.
    if !tried.insert((text.len(), said.len())) {
        return false;
    }
    let between = ["User: ", "Assistant: ", " ", "\n"].into_iter().filter_map(|between| text.strip_prefix(between));
    if between.into_iter().any(|rest| made_of(rest, said, tried)) {
        return true;
    }
    said.iter().enumerate().any(|(at, sentence)| {
        text.strip_prefix(sentence).is_some_and(|rest| made_of(rest, said.get(at + 1..).unwrap_or_default(), tried))
    })
}
