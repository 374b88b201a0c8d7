use std::sync::Arc;

use serde_json::json;

use super::subject::{Subject, X, alice, at, bob};
use crate::{IndexKey, Memory, MemoryId, MemoryKind, Metadata, Scope, Source, Timestamp, Trust, VectorStore};

/// Stores the memory and reads it back by every road; each gives exactly what was stored.
async fn comes_back(subject: &Subject, memory: &Memory) {
    let key = IndexKey::new("a key", X.to_vec());
    subject.store_all(vec![(memory.clone(), vec![key])]).await;
    let scope = &memory.scope;
    let id = memory.id;
    let got = subject.get(scope, id).await.expect("a stored memory");
    assert_eq!(&got, memory, "get");
    // Equality of numbers is laxer than equality of their text: -0.0 equals 0.0.
    assert_eq!(json!(got).to_string(), json!(memory).to_string(), "get, as JSON");
    assert!(subject.all(scope).await.contains(memory), "list");
    let mut query = super::subject::query(scope).near(X.to_vec()).limit(10_000);
    query.validity = crate::Validity::Any;
    let candidates = subject.search(query).await;
    assert!(candidates.iter().any(|candidate| &candidate.memory == memory), "search");
}

/// Texts come back byte for byte, however odd.
pub async fn texts_come_back_byte_for_byte(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let odd = [
        "",
        " ",
        "  leading, trailing and \t inner blanks \r\n\n",
        "👨‍👩‍👧‍👦🇧🇷 cafe\u{301}",
        "café",
        "شكراً\u{200f}",
        "می\u{200c}خواهم",
        "\u{feff}mark\u{2028}line",
        "\u{1}\u{1b}[31m\u{7f}\u{85}",
        "\u{fffd}\u{ffff}\u{10ffff}",
        r#"{name} {{x}} %s $1 \n {"a":1} \u0041 \"#,
        "'; DROP TABLE memories;-- \" ` ?1 :a @b",
    ];
    for text in odd {
        comes_back(&subject, &subject.memory(&alice(), text)).await;
    }
}

/// A text of a megabyte comes back whole.
pub async fn a_megabyte_of_text_comes_back(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let text = "Wörter über Wörter, 茶馆 ".repeat(36_000);
    assert!(text.len() > 1 << 20);
    let memory = subject.memory(&alice(), &text);
    subject.store_all(vec![(memory.clone(), vec![IndexKey::new(text, X.to_vec())])]).await;
    assert!(subject.get(&alice(), memory.id).await.is_some_and(|got| got.text == memory.text));
    assert_eq!(subject.words(&alice(), "Wörter", 10).await.len(), 1, "a long key is searched like any other");
}

/// Every field of a memory comes back as it was stored.
pub async fn every_field_comes_back(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let scope = Scope::user("Зоя").with_agent("concierge").with_session("2025-02-10");
    let evidence = subject.memory(&scope, "an episode").id;
    let mut memory = subject.memory(&scope, "Prefers window seats");
    memory.kind = MemoryKind::Preference;
    memory.categories = vec!["travel".into(), String::new(), "旅行".into(), "travel".into()];
    memory.metadata = object(json!({"priority": 3, "tags": ["vip", null, true], "nested": {"a.b": {"": []}}}));
    memory.importance = 0.1;
    memory.pinned = true;
    memory.speaker = Some(String::new());
    memory.trust = Trust::Assistant;
    memory.slot = Some("user.home".into());
    memory.sources = vec![Source::Message("m-1".into()), Source::Memory(evidence), Source::Message(String::new())];
    memory.ordinal = Some(7);
    memory.observed_at = at(1);
    memory.valid_at = at(2);
    memory.invalid_at = Some(at(3));
    memory.superseded_by = Some(evidence);
    memory.expires_at = Some(at(4));
    memory.created_at = at(5);
    memory.updated_at = at(6);
    memory.access_count = 8;
    memory.accessed_at = Some(at(9));
    memory.revision = 10;
    comes_back(&subject, &memory).await;
}

/// Every kind, the application's own ones included, and every level of trust come back.
pub async fn kinds_and_trust_come_back(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let kinds =
        ["episode", "summary", "fact", "preference", "procedure", "observation", "block", "own kind", "Fact", "事"];
    let trusts = [Trust::User, Trust::Assistant, Trust::Tool, Trust::Imported];
    for (kind, trust) in kinds.into_iter().zip(trusts.into_iter().cycle()) {
        let mut memory = subject.memory(&alice(), kind);
        memory.kind = MemoryKind::from(kind);
        memory.trust = trust;
        memory.ordinal = Some(7);
        comes_back(&subject, &memory).await;
    }
}

/// Episodes without an ordinal are counted on in their own scope, wherever the last one left off; nothing else is.
pub async fn turns_get_their_place(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let turn = |scope: &Scope, kind: MemoryKind, ordinal: Option<u64>| {
        let mut memory = subject.memory(scope, "turn");
        memory.kind = kind;
        memory.ordinal = ordinal;
        memory
    };
    let (wide, narrow) = (alice(), alice().with_session("1"));
    let memories = [
        turn(&narrow, MemoryKind::Episode, None),
        turn(&wide, MemoryKind::Episode, None),
        turn(&narrow, MemoryKind::Fact, None),
        turn(&narrow, MemoryKind::Episode, None),
        turn(&narrow, MemoryKind::Episode, Some(9)),
        turn(&bob(), MemoryKind::Episode, None),
        turn(&narrow, MemoryKind::Episode, None),
        turn(&wide, MemoryKind::Episode, None),
    ];
    for pair in memories.chunks(2) {
        let with_keys = |memory: &Memory| (memory.clone(), vec![IndexKey::new("turn", X.to_vec())]);
        subject.store_all(pair.iter().map(with_keys).collect()).await;
    }
    let mut places = Vec::new();
    for memory in &memories {
        let kept = subject.store.get(&memory.scope, &[memory.id]).await.unwrap();
        places.push(kept[0].ordinal);
    }
    assert_eq!(places, [Some(0), Some(0), None, Some(1), Some(9), Some(0), Some(10), Some(1)]);
}

/// Metadata comes back with every number exact, whole or not, and every key and text byte for byte.
pub async fn metadata_comes_back_exactly(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let odd = [
        json!({"big": u64::MAX, "beyond a float": 9_007_199_254_740_993_u64, "small": i64::MIN, "zero": 0}),
        json!({"sum": 0.1 + 0.2, "tiny": 5e-324, "huge": f64::MAX, "whole": 3.0, "minus zero": -0.0}),
        // A reader that is off by the last bit gets some of these wrong.
        json!({"numbers": [1.1, 2.2250738585072014e-308, 8.41e21, 123456789.12345679, 9.5367431640625e-7, 6.02214076e23]}),
        json!({"": "", "key with \"quotes\" and \\": "\u{0} \u{1f} \u{2028} 👩‍🚀", "a.b": {"c": [{}, [], [[1]]]}}),
        json!({"null": null, "false": false, "text": "null", "number in text": "3"}),
        json!({}),
    ];
    for metadata in odd {
        let mut memory = subject.memory(&alice(), "x");
        memory.metadata = object(metadata);
        comes_back(&subject, &memory).await;
    }
}

/// Times come back to the microsecond: long past, before 1970, and far ahead.
pub async fn times_come_back_to_the_microsecond(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    for text in [
        "1969-12-31T23:59:59.999999Z",
        "1970-01-01T00:00:00Z",
        "0001-01-01T00:00:00.000001Z",
        "1900-02-28T12:30:00.123456Z",
        "2024-02-29T23:59:59.000007Z",
        "9000-12-31T23:59:59.999999Z",
    ] {
        let instant: Timestamp = text.parse().expect("a time");
        let mut memory = subject.memory(&alice(), text);
        memory.observed_at = instant;
        memory.valid_at = instant;
        memory.invalid_at = Some(instant);
        memory.expires_at = Some(instant);
        memory.created_at = instant;
        memory.updated_at = instant;
        memory.accessed_at = Some(instant);
        comes_back(&subject, &memory).await;
    }
}

/// Numbers at the ends of their ranges come back.
pub async fn numbers_at_the_ends_come_back(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    for importance in [0.0, f32::MIN_POSITIVE, 0.1, 0.999_999_94, 1.0] {
        let mut memory = subject.memory(&alice(), "x");
        memory.importance = importance;
        memory.ordinal = Some(u64::try_from(i64::MAX / 2).unwrap_or_default());
        memory.access_count = 1 << 53;
        memory.revision = (1 << 53) + 1;
        comes_back(&subject, &memory).await;
    }
}

/// Ids of any making are kept, first and last of all included, and lists go by them.
pub async fn any_id_is_kept(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let ids = [[0_u8; 16], [0x7F; 16], [0x80; 16], [0xFF; 16]].map(MemoryId::from_bytes);
    for id in ids {
        let mut memory = subject.memory(&alice(), "imported");
        memory.id = id;
        comes_back(&subject, &memory).await;
    }
    let listed: Vec<MemoryId> = subject.all(&alice()).await.iter().map(|memory| memory.id).collect();
    assert_eq!(listed, ids);
}

/// Memories come in the order asked for; ids that are unknown, or a stranger's, are left out.
pub async fn get_keeps_the_order_and_leaves_out_the_unknown(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let first = subject.add(&alice(), "first", X).await;
    let second = subject.add(&alice(), "second", X).await;
    let third = subject.add(&alice(), "third", X).await;
    let strange = subject.add(&bob(), "strange", X).await;
    let unknown = subject.memory(&alice(), "never stored").id;
    let asked = [third.id, unknown, first.id, strange.id, second.id];
    let got = subject.store.get(&alice(), &asked).await.expect("getting by id");
    assert_eq!(got, [third, first, second]);
    assert_eq!(subject.store.get(&alice(), &[]).await.expect("getting nothing"), []);
}

/// A get of a thousand ids is one call like any other.
pub async fn get_takes_many_ids(store: Arc<dyn VectorStore>) {
    let subject = Subject::bound(store).await;
    let mut memories = subject.add_many(&alice(), "note", 1_200, X).await;
    memories.reverse();
    let ids: Vec<MemoryId> = memories.iter().map(|memory| memory.id).collect();
    let got = subject.store.get(&alice(), &ids).await.expect("getting many");
    assert!(got == memories, "all of them, in the order asked for");
}

fn object(value: serde_json::Value) -> Metadata {
    value.as_object().cloned().expect("a JSON object")
}
