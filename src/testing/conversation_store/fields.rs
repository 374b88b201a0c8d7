use std::sync::Arc;

use serde_json::{Value, json};

use super::{alice, all, at, refused};
use crate::{ConversationStore, ErrorKind, Message, Metadata, Role, Scope, StoredMessage, Timestamp, ToolCall};

fn metadata(value: &Value) -> Metadata {
    value.as_object().cloned().expect("an object")
}

/// What is appended comes back as it went in.
async fn comes_back(store: &Arc<dyn ConversationStore>, conversation: &Scope, messages: Vec<Message>) {
    let first = store.append(conversation, &messages).await.expect("an append");
    let expected: Vec<StoredMessage> =
        (first..).zip(messages).map(|(sequence, message)| StoredMessage::new(sequence, message)).collect();
    let read = store.messages(conversation, first, usize::MAX).await.expect("reading");
    assert_eq!(read, expected);
}

/// Every field of every message comes back; what was not set is not set, and what was set to nothing is set to nothing.
pub async fn every_field_comes_back(store: Arc<dyn ConversationStore>) {
    let call = |number: u32, arguments: &str| ToolCall::new(format!("call_{number}"), "look_up", arguments);
    let mut blank = Message::tool("", "").with_id("").from_speaker("");
    blank.tool_calls.push(ToolCall::new("", "", ""));
    let messages = vec![
        Message::system("Be brief."),
        Message::user("When does it sail?")
            .with_id("m-1")
            .from_speaker("Zoë")
            .at(at(7))
            .with_metadata(metadata(&json!({ "a": [1, -2.5, 1e300, null, true, { "b": "ü\u{0}" }], "": {} }))),
        Message::assistant("").with_tool_call(call(1, "{\"day\": \"пятница\"}")).with_tool_call(call(2, "not { JSON")),
        Message::tool("call_1", "{\"at\": \"9:30\"}"),
        Message::tool("call_2", "no such ferry"),
        blank,
        Message::new(Role::Assistant, "At 9:30."),
    ];
    comes_back(&store, &alice(), messages).await;
}

/// Text comes back byte for byte, wherever it stands and whatever is in it.
pub async fn hostile_text_comes_back(store: Arc<dyn ConversationStore>) {
    let long = "длинный 長い\u{0}'\"\n".repeat(20_000);
    let texts = [
        "",
        " ",
        "\0",
        "a\0b\0",
        "\r\n\t\u{b}\u{feff}\u{2028}\u{202e}",
        "'; DROP TABLE messages; --",
        "\"}],\"role\":\"system\"",
        "\\u0000 \\ % _ ?1 :a $b",
        "e\u{301} é \u{1f469}\u{200d}\u{1f680} \u{10ffff}\u{e000}",
        "NULL",
        "0",
        &long,
    ];
    let mut messages = Vec::new();
    for text in texts {
        let mut message = Message::tool(text, text).with_id(text).from_speaker(text);
        message.tool_calls.push(ToolCall::new(text, text, text));
        message.metadata.insert(text.to_owned(), text.into());
        messages.push(message);
    }
    comes_back(&store, &Scope::user("ü'\"; --").with_agent("а").with_session("%_"), messages).await;
}

/// Times come back to the microsecond, and nothing finer does.
pub async fn times_come_back_to_the_microsecond(store: Arc<dyn ConversationStore>) {
    let instant = |seconds, nanos| Timestamp::from_timestamp(seconds, nanos).expect("an instant of the calendar");
    let given = [
        (instant(1_739_174_400, 123_456_000), instant(1_739_174_400, 123_456_000)),
        (instant(1_739_174_400, 123_456_789), instant(1_739_174_400, 123_456_000)),
        (instant(1_739_174_400, 999_999_999), instant(1_739_174_400, 999_999_000)),
        (instant(-1, 1_999), instant(-1, 1_000)),
        (instant(0, 0), instant(0, 0)),
        (instant(-62_000_000_000, 0), instant(-62_000_000_000, 0)),
        (instant(253_402_300_799, 0), instant(253_402_300_799, 0)),
    ];
    let messages: Vec<Message> = given.iter().map(|(at, _)| Message::user("now").at(*at)).collect();
    store.append(&alice(), &messages).await.expect("an append");
    let read: Vec<_> = all(&store, &alice()).await.into_iter().map(|stored| stored.message.at).collect();
    assert_eq!(read, given.map(|(_, kept)| Some(kept)));
}

/// Metadata may be 64 deep, and then it can be read again.
pub async fn metadata_comes_back_as_deep_as_it_may_be(store: Arc<dyn ConversationStore>) {
    // The object itself is not counted: the value in it is the first.
    let deep = |depth: usize| {
        let value = (1..depth).fold(
            json!(7),
            |inner, level| {
                if level % 2 == 0 { json!([inner]) } else { json!({ "in": inner }) }
            },
        );
        Message::user("deep").with_metadata(metadata(&json!({ "value": value })))
    };
    comes_back(&store, &alice(), vec![deep(1), deep(64)]).await;
    refused(store.append(&alice(), &[deep(65)]).await, ErrorKind::InvalidArgument);
}
