//! Limits in exchanges, tokens and words; and what has no room.

use std::sync::{Arc, Mutex};

use ingrain::{ChatRequest, ConversationEvent, ConversationOptions, Message, Role, ToolCall};

use super::{Clerk, Place, ada, builder, complete, covering, exchange, message, number, sound};

fn options() -> ConversationOptions {
    ConversationOptions::new().max_tokens(300)
}

#[tokio::test]
async fn exchanges_beyond_the_limit_are_dropped_once_the_summary_covers_them() {
    for place in Place::all() {
        let clerk = Clerk::held(|asked, _| Ok(covering(asked)));
        let events = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&events);
        let engine = builder(place.open().await, options().max_exchanges(12))
            .summarizer(clerk.clone())
            .on_conversation(move |_, event| seen.lock().unwrap().push(event.clone()))
            .build()
            .await
            .unwrap();
        let chat = engine.conversation(&ada()).unwrap();
        for number in 0..40 {
            chat.append(exchange(number, 2)).await.unwrap();
            let view = chat.view().await.unwrap();
            sound(&view, 300, 2 * number + 2);
            assert!(view.shown.len() <= 24, "no more exchanges are shown than the limit");
        }
        complete(&chat, 80).await;
        clerk.let_go();
        chat.settle().await.unwrap();
        let view = chat.view().await.unwrap();
        sound(&view, 300, 80);
        assert_eq!(view.left_out, 0);
        let kept = chat.messages(0, 100).await.unwrap();
        assert_eq!((kept.len(), kept[0].sequence), (24, 56));
        assert!(view.summary.unwrap().covers_before >= 56);
        assert_eq!(chat.exchanges().await.unwrap().len(), 12);
        let dropped = |event: &ConversationEvent| match event {
            ConversationEvent::Dropped { messages, covered: true, .. } => *messages,
            ConversationEvent::Dropped { .. } => panic!("dropped and not covered: {event:?}"),
            _ => 0,
        };
        assert_eq!(events.lock().unwrap().iter().map(dropped).sum::<u64>(), 56);
    }
}

#[tokio::test]
async fn without_summaries_the_oldest_go_with_a_report() {
    for place in Place::all() {
        let events = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&events);
        let engine = builder(place.open().await, options().max_exchanges(3).summaries(false))
            .on_conversation(move |_, event| seen.lock().unwrap().push(event.clone()))
            .build()
            .await
            .unwrap();
        let chat = engine.conversation(&ada()).unwrap();
        for number in 0..10 {
            let appended = chat.append(exchange(number, 2)).await.unwrap();
            assert_eq!(appended.dropped, if number < 3 { 0 } else { 2 });
        }
        let view = chat.view().await.unwrap();
        assert_eq!((view.shown.as_slice(), view.left_out), (&[14, 15, 16, 17, 18, 19][..], 0));
        assert_eq!(view.messages.len(), 6, "there is no summary, and nothing of it");
        assert_eq!(chat.messages(0, 100).await.unwrap().len(), 6);
        assert_eq!(events.lock().unwrap().len(), 7);
        chat.settle().await.unwrap();
        // A tool call is not parted from its result, nor a question from its answer.
        let call = Message::assistant("m21").with_tool_call(ToolCall::new("t", "look", "{}"));
        chat.append([message(Role::User, 20, 1), call]).await.unwrap();
        chat.append([Message::tool("t", "m22"), message(Role::Assistant, 23, 1)]).await.unwrap();
        assert_eq!(chat.view().await.unwrap().shown, [16, 17, 18, 19, 20, 21, 22, 23]);
    }
}

#[tokio::test]
async fn without_summaries_what_has_no_room_is_left_out_of_the_view_alone() {
    for place in Place::all() {
        let engine = builder(place.open().await, options().summaries(false)).build().await.unwrap();
        let chat = engine.conversation(&ada()).unwrap();
        for number in 0..200 {
            chat.append(exchange(number, 20)).await.unwrap();
            sound(&chat.view().await.unwrap(), 300, 2 * number + 2);
        }
        complete(&chat, 400).await;
        // A handle that knows nothing of it yet finds the end as well.
        let engine = builder(place.open().await, options().summaries(false)).build().await.unwrap();
        assert_eq!(engine.conversation(&ada()).unwrap().view().await.unwrap(), chat.view().await.unwrap());
    }
}

/// A message that is larger than all the room there is shown in part, and kept whole.
#[tokio::test]
async fn a_message_without_room_is_cut_in_the_view() {
    for place in Place::all() {
        let clerk = Clerk::new();
        let engine = place.engine(options(), &clerk).await;
        let chat = engine.conversation(&ada()).unwrap();
        chat.append(exchange(0, 20)).await.unwrap();
        let long = message(Role::User, 2, 5_000);
        chat.append([long.clone()]).await.unwrap();
        chat.settle().await.unwrap();
        let view = chat.view().await.unwrap();
        assert!(view.size <= 300 && view.size > 280, "{}", view.size);
        assert_eq!((view.shown.as_slice(), view.cut.as_slice(), view.left_out), (&[2][..], &[2][..], 0));
        let shown = view.messages.last().unwrap().text.strip_suffix(" (cut)").unwrap();
        assert!(long.text.starts_with(shown));
        assert_eq!(chat.messages(2, 1).await.unwrap()[0].message.text, long.text);
        // With its call, that may not go.
        let call = Message::assistant("m3").with_tool_call(ToolCall::new("t", "read", "{}"));
        chat.append([call, Message::tool("t", long.text.replacen("m2", "m4", 1))]).await.unwrap();
        chat.settle().await.unwrap();
        let view = chat.view().await.unwrap();
        assert_eq!((view.shown.as_slice(), view.cut.as_slice(), view.left_out), (&[3, 4][..], &[4][..], 0));
        ChatRequest::new(view.messages).check().unwrap();
        // And once it is over, it is summarised as any other.
        chat.append([message(Role::Assistant, 5, 5), message(Role::User, 6, 5)]).await.unwrap();
        chat.settle().await.unwrap();
        sound(&chat.view().await.unwrap(), 300, 7);
        let asked = clerk.asked();
        assert!(asked.iter().flat_map(|one| &one.messages).any(|message| message.text == long.text));
        // Arguments are not cut: then there is nothing to show.
        let call = ToolCall::new("u", "write", "word ".repeat(500));
        chat.append([message(Role::Assistant, 7, 1).with_tool_call(call)]).await.unwrap();
        chat.settle().await.unwrap();
        let view = chat.view().await.unwrap();
        assert_eq!((view.shown.len(), view.messages.len(), view.left_out), (0, 1, 1));
        assert!(view.messages[0].text.contains("left out here"));
    }
}

#[tokio::test]
async fn words_are_counted_as_well_as_tokens() {
    for place in Place::all() {
        let engine = builder(place.open().await, ConversationOptions::new().max_words(200)).build().await.unwrap();
        let chat = engine.conversation(&ada()).unwrap();
        for number in 0..30 {
            // 13 words: two characters are one.
            let question = format!("第{number:02}天我在柏林的公园里走了很久很久，天气很好。");
            chat.append([Message::user(question), Message::assistant("So it was a fine day in the park, wasn't it?")])
                .await
                .unwrap();
            assert!(chat.view().await.unwrap().size <= 200);
        }
        chat.settle().await.unwrap();
        let view = chat.view().await.unwrap();
        assert!(view.size <= 200 && view.left_out == 0 && view.shown.len() >= 4);
        let summary = view.summary.unwrap();
        assert!(summary.text.starts_with("User: 第"), "{}", summary.text);
    }
}

#[tokio::test]
async fn the_last_messages_are_kept_as_long_as_they_have_room() {
    let place = Place::Memory(ingrain::InMemoryStore::new());
    let clerk = Clerk::new();
    let engine = place.engine(options().keep_last(20), &clerk).await;
    let chat = engine.conversation(&ada()).unwrap();
    for at in 0..40 {
        chat.append(exchange(at, 4)).await.unwrap();
        chat.settle().await.unwrap();
    }
    let view = chat.view().await.unwrap();
    assert!(view.shown.len() >= 20, "{:?}", view.shown);
    // Twenty of these do not fit; then fewer are kept, and nothing is left out.
    for at in 40..80 {
        chat.append(exchange(at, 30)).await.unwrap();
        chat.settle().await.unwrap();
        let view = chat.view().await.unwrap();
        sound(&view, 300, 2 * at + 2);
        assert_eq!(view.left_out, 0);
    }
    assert!(clerk.asked().iter().flat_map(|one| &one.messages).map(number).is_sorted());
}
